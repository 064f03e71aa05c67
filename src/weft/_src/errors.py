"""Exceptions: one class per status code, and classes for what goes wrong in traced code.

Kernels and checks raise a status class, `InvalidArgumentError(None, None, "text")`. Where eager
TensorFlow raises one class and tracing another for the same mistake, Weft raises a class that is
both (`ShapeError`, `DTypeError`, ...), so `except` clauses written for either keep working.

Every class carries `.message`, `.op`, `.node_def`, `.error_code` and `.location`, the user's
(file, line); once a location is set, `str(error)` ends with it, or with the whole stack of calls if
the location knows it.
"""

import linecache
from collections.abc import Callable
from typing import Any

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class _ReportedError(Exception):
    """What all classes below share: a message, the op it is about, and the user's line."""

    message: str
    node_def: Any = None
    op: Any = None
    error_code: int = UNKNOWN
    location: tuple[Any, ...] | None = None
    within: str | None = None  # what ran the user's function in which it happened

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        text = self.message
        if self.location is not None:
            text = f"{text}\n{_location_text(self.location)}"
        return text if self.within is None else f"{text}\n  in {self.within}"

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        # Graph operations hold functions and buffers that cannot be pickled, and an error must get
        # from a worker process to its parent whatever it is about.
        state = {name: value for name, value in self.__dict__.items() if name != "op"}
        return _restore, (type(self), self.args, state)

    def __copy__(self) -> "_ReportedError":
        return _restore(type(self), self.args, self.__dict__)


def _location_text(location: tuple[Any, ...]) -> str:
    """The user's line; where all the calls that led to it are known, these."""
    calls = getattr(location, "calls", None)
    stack = () if calls is None else calls.locations
    forward = None if calls is None else calls.forward
    if len(stack) > 1:
        text = _stack_text("The op was traced here", stack)
    else:
        file, line = location[:2]
        source = linecache.getline(file, line).strip()
        text = f"  at {file}:{line}" + (f", in code: {source}" if source else "")
    if forward is None:
        return text
    first = (forward,) if forward.calls is None else forward.calls.locations
    return f"{text}\n{_stack_text('It is part of the gradient of what was traced here', first)}"


def _stack_text(heading: str, stack: tuple[Any, ...]) -> str:
    lines = [f"  {heading} (most recent call last):"]
    for file, line, function, *_ in stack:
        lines.append(f'    File "{file}", line {line}, in {function}')
        source = linecache.getline(file, line).strip()
        if source:
            lines.append(f"      {source}")
    return "\n".join(lines)


def _restore(
    cls: type[_ReportedError], args: tuple[Any, ...], state: dict[str, Any]
) -> _ReportedError:
    # Not through the constructor: those of subclasses take other arguments.
    error = cls.__new__(cls, *args)
    error.__dict__.update(state)
    return error


class OpError(_ReportedError):
    """The base of all errors with a status code.

    >>> tf.errors.OpError(None, None, "no such file", tf.errors.NOT_FOUND).error_code
    5
    """

    experimental_payloads: dict[Any, Any]

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int, *args: Any) -> None:
        super().__init__(message)
        self.node_def = node_def
        self.op = op
        self.error_code = error_code
        self.experimental_payloads = args[0] if args and isinstance(args[0], dict) else {}


class _StatusError(OpError):
    """An OpError whose class says its status code."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, type(self).error_code, *args)


def _worded(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """What an OpError takes: (node_def, op, message, ...); the message may stand alone."""
    return (None, None, *given) if len(given) == 1 else given


class CancelledError(_StatusError):
    """The operation was cancelled by the program or by another step."""

    error_code = CANCELLED


class UnknownError(_StatusError):
    """Something failed for a reason that fits no other class."""

    error_code = UNKNOWN


class InvalidArgumentError(_StatusError):
    """An argument has a wrong value, shape or dtype.

    >>> raise tf.errors.InvalidArgumentError(None, None, "axis 3 is out of range for rank 2")
    Traceback (most recent call last):
    weft.errors.InvalidArgumentError: axis 3 is out of range for rank 2
    """

    error_code = INVALID_ARGUMENT


class DeadlineExceededError(_StatusError):
    """The time allowed ran out before the operation finished."""

    error_code = DEADLINE_EXCEEDED


class NotFoundError(_StatusError):
    """A file, directory, key or other thing asked for does not exist."""

    error_code = NOT_FOUND


class AlreadyExistsError(_StatusError):
    """The thing to be created is already there."""

    error_code = ALREADY_EXISTS


class PermissionDeniedError(_StatusError):
    """The caller may not do this, for instance read that file."""

    error_code = PERMISSION_DENIED


class ResourceExhaustedError(_StatusError):
    """Memory, disk space or another resource has run out."""

    error_code = RESOURCE_EXHAUSTED


class FailedPreconditionError(_StatusError):
    """The system is not in the state the operation needs."""

    error_code = FAILED_PRECONDITION


class AbortedError(_StatusError):
    """The operation was given up, usually because of a concurrent one."""

    error_code = ABORTED


class OutOfRangeError(_StatusError):
    """An iterator has no more elements, or a position lies past the end."""

    error_code = OUT_OF_RANGE


class UnimplementedError(_StatusError):
    """The operation does not exist for these dtypes, shapes or devices."""

    error_code = UNIMPLEMENTED


class InternalError(_StatusError):
    """An invariant of the system is broken; please report it."""

    error_code = INTERNAL


class UnavailableError(_StatusError):
    """A service cannot be reached at the moment."""

    error_code = UNAVAILABLE


class DataLossError(_StatusError):
    """Stored data is corrupt or cut short."""

    error_code = DATA_LOSS


class UnauthenticatedError(_StatusError):
    """The request carries no valid credentials."""

    error_code = UNAUTHENTICATED


class ShapeError(InvalidArgumentError, ValueError):
    """Shapes do not fit: InvalidArgumentError of eager code, ValueError of traced code.

    >>> isinstance(tf.errors.ShapeError("(2,) and (3,)"), ValueError)
    True
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*_worded(given))


class ArgumentError(InvalidArgumentError, ValueError):
    """An argument has a value it may not have: InvalidArgumentError where an op finds it.

    >>> isinstance(tf.errors.ArgumentError("buffer_size must be positive"), ValueError)
    True
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*_worded(given))


class ParseError(InvalidArgumentError, ValueError):
    """Bytes that are not what they should be: no message, no tensor, no number.

    >>> tf.train.Example.FromString(b"???")
    Traceback (most recent call last):
    weft.errors.ParseError: These bytes are no serialized Example.
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*_worded(given))


class AssertionFailedError(InvalidArgumentError, AssertionError):
    """An assertion in a graph does not hold: AssertionError of eager code, and TensorFlow's class.

    >>> isinstance(tf.errors.AssertionFailedError("x must be positive"), AssertionError)
    True
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*_worded(given))


class DTypeError(InvalidArgumentError, TypeError):
    """Dtypes do not fit: InvalidArgumentError of eager code, TypeError of traced code."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*_worded(given))


class FixedDTypeError(DTypeError, ValueError):
    """A tensor where the API has one dtype only: TensorFlow raises now this, now that class.

    >>> tf.one_hot([1], tf.constant(2, tf.int64))
    Traceback (most recent call last):
    weft.errors.FixedDTypeError: one_hot: depth must have dtype int32, got int64. Convert it ...
    """


class UnsupportedError(UnimplementedError, NotImplementedError):
    """Weft does not support this; the message says what to do instead."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*_worded(given))


class SignatureError(_ReportedError, TypeError, ValueError):
    """Arguments do not match the input signature of a function."""

    error_code = INVALID_ARGUMENT


class RetraceError(_ReportedError, AssertionError):
    """A function was about to be traced again inside of `tf.no_retrace()`.

    >>> f = tf.function(lambda x: x)
    >>> with tf.no_retrace():
    ...     print(f(1).numpy())
    ...     f(2)
    Traceback (most recent call last):
    weft.errors.RetraceError: ...
    """

    error_code = FAILED_PRECONDITION


class LoopConversionError(_ReportedError, NotImplementedError, TypeError):
    """A loop over Python values is left or continued on the condition of a tensor."""

    error_code = UNIMPLEMENTED


class OperatorNotAllowedInGraphError(_ReportedError, TypeError):
    """A symbolic tensor is used where Python needs a concrete value, for instance as a bool."""

    error_code = INVALID_ARGUMENT


class InaccessibleTensorError(_ReportedError, TypeError, ValueError):
    """A symbolic tensor is used outside of the function or branch it belongs to."""

    error_code = INVALID_ARGUMENT


_TYPE_OF_CODE: dict[int, type[OpError]] = {
    cls.error_code: cls for cls in _StatusError.__subclasses__()
}


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """Returns the class of a status code.

    Args:
      error_code: a number such as `tf.errors.NOT_FOUND`, from 1 to 16.

    Returns:
      The subclass of `tf.errors.OpError` that has this code.

    Raises:
      ValueError: if no class has the code, as is the case for `tf.errors.OK`.

    >>> tf.errors.exception_type_from_error_code(tf.errors.NOT_FOUND).__name__
    'NotFoundError'
    """
    try:
        return _TYPE_OF_CODE[error_code]
    except KeyError:
        known = f"{min(_TYPE_OF_CODE)} to {max(_TYPE_OF_CODE)}"
        raise ValueError(f"No error has the code {error_code!r}; codes are {known}.") from None


def error_code_from_exception_type(cls: type[BaseException]) -> int:
    """Returns the status code of an exception class, UNKNOWN for classes of other libraries.

    Args:
      cls: an exception class, not an instance.

    Returns:
      The code, an integer: that of the class itself or of the class it inherits it from.

    >>> tf.errors.error_code_from_exception_type(tf.errors.ShapeError)
    3
    """
    return cls.error_code if issubclass(cls, _ReportedError) else UNKNOWN
