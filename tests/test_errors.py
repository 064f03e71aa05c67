"""Classes, codes, texts and transport of exceptions."""

import copy
import pickle
from pathlib import Path

import pytest

from weft import errors

CODES = {
    "CANCELLED": (1, "CancelledError"),
    "UNKNOWN": (2, "UnknownError"),
    "INVALID_ARGUMENT": (3, "InvalidArgumentError"),
    "DEADLINE_EXCEEDED": (4, "DeadlineExceededError"),
    "NOT_FOUND": (5, "NotFoundError"),
    "ALREADY_EXISTS": (6, "AlreadyExistsError"),
    "PERMISSION_DENIED": (7, "PermissionDeniedError"),
    "RESOURCE_EXHAUSTED": (8, "ResourceExhaustedError"),
    "FAILED_PRECONDITION": (9, "FailedPreconditionError"),
    "ABORTED": (10, "AbortedError"),
    "OUT_OF_RANGE": (11, "OutOfRangeError"),
    "UNIMPLEMENTED": (12, "UnimplementedError"),
    "INTERNAL": (13, "InternalError"),
    "UNAVAILABLE": (14, "UnavailableError"),
    "DATA_LOSS": (15, "DataLossError"),
    "UNAUTHENTICATED": (16, "UnauthenticatedError"),
}
STATUS_CLASSES = [getattr(errors, name) for _, name in CODES.values()]

# Class, the classes it must be caught as, its code.
MESSAGE_CLASSES = [
    (errors.ArgumentError, (errors.InvalidArgumentError, ValueError), 3),
    (errors.ShapeError, (errors.InvalidArgumentError, ValueError), 3),
    (errors.ParseError, (errors.InvalidArgumentError, ValueError), 3),
    (errors.AssertionFailedError, (errors.InvalidArgumentError, AssertionError), 3),
    (errors.DTypeError, (errors.InvalidArgumentError, TypeError), 3),
    (errors.FixedDTypeError, (errors.DTypeError, ValueError), 3),
    (errors.SignatureError, (TypeError, ValueError), 3),
    (errors.RetraceError, (AssertionError,), 9),
    (errors.LoopConversionError, (NotImplementedError, TypeError), 12),
    (errors.UnsupportedError, (errors.UnimplementedError, NotImplementedError), 12),
    (errors.OperatorNotAllowedInGraphError, (TypeError,), 3),
    (errors.InaccessibleTensorError, (ValueError,), 3),
]

EXAMPLES = [
    errors.OpError("node", None, "text", 7, {"key": b"payload"}),
    *(cls("node", None, "text", {"key": b"payload"}) for cls in STATUS_CLASSES),
    *(cls("text") for cls, _, _ in MESSAGE_CLASSES),
]


def by_class(error: Exception) -> str:
    return type(error).__name__


@pytest.mark.parametrize("constant", CODES)
def test_codes_and_classes_belong_together(constant: str) -> None:
    code, name = CODES[constant]
    cls = getattr(errors, name)
    assert getattr(errors, constant) == code
    assert issubclass(cls, errors.OpError)
    assert cls(None, None, "text").error_code == code
    assert errors.exception_type_from_error_code(code) is cls
    assert errors.error_code_from_exception_type(cls) == code


@pytest.mark.parametrize("code", [0, 17, -1])
def test_a_code_without_class_is_refused(code: int) -> None:
    with pytest.raises(ValueError, match=rf"No error has the code {code}; codes are 1 to 16\."):
        errors.exception_type_from_error_code(code)


def test_codes_of_other_classes() -> None:
    assert errors.error_code_from_exception_type(errors.ShapeError) == errors.INVALID_ARGUMENT
    assert errors.error_code_from_exception_type(errors.UnsupportedError) == errors.UNIMPLEMENTED
    assert errors.error_code_from_exception_type(errors.OpError) == errors.UNKNOWN
    assert errors.error_code_from_exception_type(KeyError) == errors.UNKNOWN


def test_op_error_keeps_what_it_is_given() -> None:
    error = errors.OpError("node", "op", "text", 42, {"key": "value"})
    assert (error.node_def, error.op, error.message, error.error_code) == ("node", "op", "text", 42)
    assert error.experimental_payloads == {"key": "value"}
    assert errors.NotFoundError(None, None, "text").experimental_payloads == {}
    assert errors.NotFoundError(node_def=None, op=None, message="text").message == "text"


@pytest.mark.parametrize(("cls", "bases", "code"), MESSAGE_CLASSES)
def test_classes_that_take_a_message(
    cls: type[Exception], bases: tuple[type[Exception], ...], code: int
) -> None:
    error = cls("text")
    assert all(isinstance(error, base) for base in bases)
    assert (error.message, error.op, error.node_def, error.error_code) == ("text", None, None, code)
    assert str(error) == "text"


@pytest.mark.parametrize("error", EXAMPLES, ids=by_class)
def test_text_and_repr(error: Exception) -> None:
    assert str(error) == "text"
    assert repr(error) == f"{type(error).__name__}('text')"


def test_all_classes_have_examples() -> None:
    public = {
        value
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception) and not name.startswith("_")
    }
    assert public == {type(error) for error in EXAMPLES}


@pytest.mark.parametrize("error", EXAMPLES, ids=by_class)
@pytest.mark.parametrize(
    "transport", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy]
)
def test_pickling_and_copying_keep_everything(error: Exception, transport: object) -> None:
    original = copy.copy(error)
    original.location = ("/no/such/file.py", 12)
    original.add_note("a note")
    moved = transport(original)
    assert type(moved) is type(original)
    assert moved is not original
    assert (moved.op, moved.node_def) == (original.op, original.node_def)
    # The op is left out of a pickle; here it is None, which is what the class says then.
    assert {"op": None} | vars(moved) == {"op": None} | vars(original)
    assert moved.args == original.args
    assert str(moved) == str(original)


def test_an_error_about_something_unpicklable_can_be_pickled() -> None:
    op = lambda: None  # noqa: E731
    error = errors.InternalError("node", op, "text")
    assert copy.copy(error).op is op
    moved = pickle.loads(pickle.dumps(error))
    assert (moved.op, moved.node_def, moved.message) == (None, "node", "text")


class CustomError(errors.NotFoundError):
    """A user's subclass with a constructor of its own."""

    def __init__(self, path: str, retries: int) -> None:
        super().__init__(None, None, f"{path} not found")
        self.retries = retries


def test_subclasses_with_other_constructors_pickle() -> None:
    moved = pickle.loads(pickle.dumps(CustomError("a.txt", retries=3)))
    assert (type(moved), str(moved), moved.retries) == (CustomError, "a.txt not found", 3)
    assert moved.error_code == errors.NOT_FOUND


@pytest.mark.parametrize("error", EXAMPLES, ids=by_class)
def test_a_location_is_shown_with_its_source(error: Exception, tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text("import weft as tf\n    y = x + 1  # here\n")
    located = copy.copy(error)
    assert located.location is None
    located.location = (str(file), 2)
    assert str(located) == f"text\n  at {file}:2, in code: y = x + 1  # here"
    assert located.message == "text"


def test_a_location_without_source_shows_file_and_line() -> None:
    error = errors.ShapeError("text")
    error.location = ("<stdin>", 3)
    assert str(error) == "text\n  at <stdin>:3"
