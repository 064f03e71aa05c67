"""Tracebacks of exceptions hold the user's frames, and none of Weft or of generated code."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.core.frames import OWN, PACKAGE
from weft._src.core.tracebacks import hide_own_frames, users_part

X = tf.constant([1.0, 2.0, 3.0])


def caught(function: Callable[..., Any], *args: Any) -> Exception:
    try:
        function(*args)
    except Exception as error:  # noqa: BLE001
        return error
    raise AssertionError("nothing was raised")


def names(error: BaseException) -> list[str]:
    """The functions in the traceback, from `caught` inwards."""
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)][1:]


def own_frames(error: BaseException) -> int:
    """How many frames of Weft a printed traceback shows, those of causes included."""
    text = "".join(traceback.format_exception(error))
    return sum(text.count(f'File "{start}') for start in OWN)


@pytest.fixture(autouse=True)
def filtered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the environment shows all frames of tests."""
    monkeypatch.delenv("WEFT_TRACEBACK_FILTERING", raising=False)
    tf.debugging.enable_traceback_filtering()


@pytest.fixture
def unfiltered() -> Iterator[None]:
    tf.debugging.disable_traceback_filtering()
    yield
    tf.debugging.enable_traceback_filtering()


def reshaped(x: Any) -> Any:
    for _ in tf.range(3):
        x = x + tf.reshape(x, [2, 2])
    return x


def picked(x: Any, i: Any) -> Any:
    return tf.gather(x, i)


def divided(x: Any) -> Any:
    return x * (1 / 0)


# --- while tracing, and eagerly -----------------------------------------------------------------


def test_a_shape_error_in_a_helper_in_a_loop_of_a_function() -> None:
    @tf.function
    def model(x: Any) -> Any:
        return reshaped(x) + 1.0

    error = caught(model, X)
    assert isinstance(error, tf.errors.ShapeError)
    assert names(error) == ["model", "reshaped"]
    assert own_frames(error) == 0


def test_eagerly_the_called_function_is_all_that_shows() -> None:
    error = caught(reshaped, X)
    assert isinstance(error, tf.errors.ShapeError)
    assert names(error) == ["reshaped", "reshape"]  # hidden where tracebacks are shown
    assert isinstance(error.__cause__, ValueError)
    assert own_frames(error.__cause__) == 0


@pytest.mark.parametrize(
    "operation",
    [
        lambda: X + tf.ones([2]),
        lambda: tf.ones([2]) - X,
        lambda: np.ones([2], np.float32) * X,
        lambda: X @ tf.ones([2]),
        lambda: X / tf.ones([2]),
        lambda: [1.0, 2.0] / X,
    ],
)
def test_operators_leave_no_frame(operation: Callable[[], Any]) -> None:
    error = caught(operation)
    assert names(error) == ["<lambda>"]
    assert own_frames(error) == 0


def test_blocks_of_statements_show_once_with_their_own_line() -> None:
    @tf.function
    def f(x: Any) -> Any:
        if x[0] > 0:
            while x[1] < 9:
                x = x + tf.reshape(x, [2, 2])  # here
        return x

    error = caught(f, X)
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert names(error) == ["f"]
    assert last.line == "x = x + tf.reshape(x, [2, 2])  # here"


def test_exceptions_of_the_user_keep_class_and_frames() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.cond(x[0] > 0, lambda: divided(x), lambda: x)

    error = caught(f, X)
    assert type(error) is ZeroDivisionError
    assert names(error) == ["f", "divided"]
    assert own_frames(error) == 0


def test_methods_nested_functions_and_concrete_functions() -> None:
    class Model(tf.Module):
        @tf.function
        def __call__(self, x: Any) -> Any:
            return inner(x)

    @tf.function
    def inner(x: Any) -> Any:
        return reshaped(x)

    error = caught(Model(), X)
    assert names(error) == ["__call__", "inner", "reshaped"]
    assert own_frames(error) == 0
    concrete = tf.function(picked).get_concrete_function(X, tf.TensorSpec([], tf.int32))
    assert own_frames(caught(concrete, X, tf.constant(7))) == 0
    error = caught(concrete, X, 1.5)
    assert names(error) == []
    assert own_frames(error) == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda f: tf.data.Dataset.range(3).map(f),
        lambda f: tf.data.Dataset.range(3).filter(f),
        lambda f: tf.data.Dataset.range(3).reduce(X, lambda x, _: f(x)),
        lambda f: tf.map_fn(f, X),
        lambda f: tf.scan(lambda x, _: f(x), X),
        lambda f: tf.while_loop(lambda x: True, lambda x: [f(x)], [X]),
        lambda f: tf.function(f).get_concrete_function(X),
    ],
)
def test_what_calls_functions_leaves_no_frame(call: Callable[[Any], Any]) -> None:
    def own(x: Any) -> Any:
        return 1 / 0

    error = caught(call, own)
    assert type(error) is ZeroDivisionError
    assert {"own", "<lambda>"} >= set(names(error))
    assert names(error)[-1] == "own"


def test_the_function_that_the_user_called_is_named_as_ever() -> None:
    with pytest.raises(TypeError, match=r"^map_fn: "):
        tf.map_fn(3, X)


# --- when graphs run ----------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}])
def test_errors_of_a_run_name_all_lines_of_the_trace(options: dict[str, Any]) -> None:
    @tf.function(**options)
    def model(x: Any, i: Any) -> Any:
        return picked(x, i) + 1.0

    def first_call() -> None:
        model(X, tf.constant(1))

    first_call()
    error = caught(model, X, tf.constant(5))
    assert names(error) == []
    assert own_frames(error) == 0
    lines = str(error).splitlines()
    assert lines[0] == "gather: index 5 is out of range; indices must be in [0, 3)."
    assert lines[1] == "  The op was traced here (most recent call last):"
    functions = [line.rpartition(" in ")[2] for line in lines[2::2]]
    assert functions[-3:] == ["first_call", "model", "picked"]
    assert lines[-3:] == [
        "      return picked(x, i) + 1.0",
        f'    File "{__file__}", line {picked.__code__.co_firstlineno + 1}, in picked',
        "      return tf.gather(x, i)",
    ]


def test_programs_that_run_tests_are_not_part_of_the_stack() -> None:
    text = str(caught(tf.function(picked), X, tf.constant(5)))
    assert f'File "{__file__}"' in text.splitlines()[2]
    assert "pytest" not in text.replace(__file__, "")
    assert "pluggy" not in text


def in_branch(x: Any, i: Any) -> Any:
    return tf.cond(i > 3, lambda: picked(x, i), lambda: x[0])


def in_loop(x: Any, n: Any) -> Any:
    total = 0.0
    for i in tf.range(n):
        if i > 1:
            total += picked(x, i)
    return total


@pytest.mark.parametrize("function", [in_branch, in_loop])
def test_in_branches_and_loops(function: Any) -> None:
    error = caught(tf.function(function), X, tf.constant(5))
    assert own_frames(error) == 0
    functions = [s.rpartition(" in ")[2] for s in str(error).splitlines() if "File" in s]
    assert functions[-2:] == [function.__name__, "picked"]


def test_the_reference_interpreter_says_the_same() -> None:
    from weft._src.execution import reference

    function = tf.function(picked)
    graph = function.get_concrete_function(X, tf.TensorSpec([], tf.int32)).graph
    expected = str(caught(function, X, tf.constant(5)))
    found = str(caught(reference.run, graph, [np.asarray(X), np.asarray(5, np.int32)]))
    assert found == expected


def test_functions_of_datasets() -> None:
    def element(i: Any) -> Any:
        return picked(X, i)

    dataset = tf.data.Dataset.range(5).map(element)
    error = caught(lambda: list(dataset))
    assert names(error) == ["<lambda>"]
    assert own_frames(error) == 0
    functions = [s.rpartition(" in ")[2] for s in str(error).splitlines() if "File" in s]
    assert functions[-3:] == ["test_functions_of_datasets", "element", "picked"]


def forward(x: Any) -> Any:
    return tf.linalg.det(x)  # the gradient needs the inverse


def slope(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = forward(x)
    return tape.gradient(y, x)


def test_ops_of_the_backward_pass_name_the_forward_line() -> None:
    error = caught(tf.function(slope), tf.zeros([2, 2]))
    backward, _, of = str(error).partition("  It is part of the gradient of what was traced here")
    assert "inv: a matrix in input is singular" in backward
    assert "return tape.gradient(y, x)" in backward.splitlines()[-1]
    assert of.splitlines()[-1] == "      return tf.linalg.det(x)  # the gradient needs the inverse"


def test_gradients_of_functions_name_the_forward_line() -> None:
    x, f = tf.zeros([2, 2]), tf.function(forward)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    error = caught(tape.gradient, y, x)
    assert own_frames(error) == 0
    last = str(error).splitlines()[-1]
    assert last == "      return tf.linalg.det(x)  # the gradient needs the inverse"


def test_eager_gradients_show_the_call_of_the_tape() -> None:
    error = caught(slope, tf.zeros([2, 2]))
    assert names(error) == ["slope"]
    assert own_frames(error) == 0


def test_callbacks_keep_their_frames() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.py_function(divided, [x], tf.float32)

    error = caught(f, X)
    assert type(error) is ZeroDivisionError
    assert names(error) == ["divided"]
    assert own_frames(error) == 0


def test_errors_with_stacks_can_be_pickled() -> None:
    error = caught(tf.function(slope), tf.zeros([2, 2]))
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


# --- causes, settings, other filters ------------------------------------------------------------


def test_causes_and_contexts_stay_and_are_filtered() -> None:
    @tf.function
    def f(x: Any) -> Any:
        try:
            return reshaped(x)
        except ValueError as e:
            raise KeyError("outer") from e

    error = caught(f, X)
    assert type(error) is KeyError
    assert isinstance(error.__cause__, tf.errors.ShapeError)
    assert own_frames(error) == 0
    assert [f.name for f in traceback.extract_tb(error.__cause__.__traceback__)] == [
        "f",
        "reshaped",
    ]


def test_groups_and_circles_of_exceptions() -> None:
    first, second = caught(reshaped, X), caught(reshaped, X)
    first.__context__, second.__context__ = second, first
    group = ExceptionGroup("both", [first, second])
    hide_own_frames(group)
    assert own_frames(first) == own_frames(second) == 0


def test_filtering_twice_changes_nothing() -> None:
    error = caught(tf.function(reshaped), X)
    before = error.__traceback__
    hide_own_frames(error)
    assert error.__traceback__ is before


def test_after_a_filter_of_another_library() -> None:
    """Keras builds the traceback anew from the frames it keeps, and raises `from None`."""

    def error_handler(x: Any) -> Any:
        try:
            return tf.function(reshaped)(x)
        except ValueError as e:
            last = None
            for frame, line in reversed(list(traceback.walk_tb(e.__traceback__))):
                last = type(e.__traceback__)(last, frame, frame.f_lasti, line)
            raise e.with_traceback(last) from None

    error = caught(tf.function(lambda x: error_handler(x)), X)
    assert own_frames(error) == 0
    assert names(error)[-1] == "reshaped"


def test_libraries_show_where_the_user_called_them_only() -> None:
    def column(x: Any) -> Any:
        return tf.reshape(x, [7])

    error = caught(lambda: np.apply_along_axis(column, 0, np.ones([2, 3])))
    hide_own_frames(error)
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    assert any(f"{os.sep}numpy{os.sep}" in file for file in files)
    assert names(error)[-1] == "column"


def test_a_traceback_of_weft_alone_has_no_part_of_the_user() -> None:
    error = caught(tf.reshape, X, [2, 2])
    trace = error.__traceback__
    assert trace is not None
    assert trace.tb_next is not None
    assert users_part(trace.tb_next) is None


def test_disabled_all_frames_are_there(unfiltered: None) -> None:
    error = caught(tf.function(reshaped), X)
    assert own_frames(error) > 10


def test_it_is_a_setting_of_the_thread(unfiltered: None) -> None:
    found: list[int] = []
    thread = threading.Thread(
        target=lambda: found.append(own_frames(caught(tf.function(reshaped), X)))
    )
    thread.start()
    thread.join()
    assert found == [0]


# --- where tracebacks are shown -----------------------------------------------------------------

SCRIPT = """
import weft as tf

def helper(x):
    for i in tf.range(3):
        x = x + tf.reshape(x, [2, 2])
    return x

@tf.function
def model(x):
    return helper(x) + 1.0

def main():
    {call}(tf.constant([1.0, 2.0, 3.0]))

{start}
"""


def run(tmp_path: Any, *, env: dict[str, str] | None = None, **parts: str) -> list[str]:
    """The lines that a program prints which fails."""
    file = tmp_path / "script.py"
    file.write_text(SCRIPT.format(**parts))
    done = subprocess.run(
        [sys.executable, str(file)],
        env={**os.environ, "PYTHONPATH": os.path.dirname(PACKAGE[:-1]), **(env or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ShapeError" in done.stderr
    return done.stderr.splitlines()


@pytest.mark.parametrize(
    ("start", "most"),
    [("main()", 20), ("import threading; threading.Thread(target=main).start()", 22)],
)
@pytest.mark.parametrize("call", ["model", "helper"])
def test_scripts_and_threads_show_no_frame_of_weft(
    tmp_path: Any, call: str, start: str, most: int
) -> None:
    lines = run(tmp_path, call=call, start=start)
    shown = [line for line in lines if line.strip(" ~^")]  # versions of Python mark more or less
    assert len(shown) <= most
    assert not any(PACKAGE in line for line in lines)
    assert sum("x = x + tf.reshape(x, [2, 2])" in line for line in lines) >= 1


def test_the_environment_turns_it_off(tmp_path: Any) -> None:
    lines = run(tmp_path, call="model", start="main()", env={"WEFT_TRACEBACK_FILTERING": "0"})
    assert len(lines) > 50
    assert any(PACKAGE in line for line in lines)


def test_a_hook_of_the_user_gets_the_filtered_traceback(tmp_path: Any) -> None:
    hook = """
import sys
shown = sys.excepthook
def mine(*args):
    print("mine", file=sys.stderr)
    shown(*args)
sys.excepthook = mine
"""
    lines = run(tmp_path, call="helper", start=f"{hook}main()")
    assert lines[0] == "mine"
    assert not any(PACKAGE in line for line in lines)


def test_what_has_no_frame_of_the_user_is_shown_as_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from weft._src.core import showing_tracebacks

    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    showing_tracebacks._install_in_python()
    error = caught(tf.reshape, X, [2, 2])
    assert error.__traceback__ is not None
    error.__traceback__ = error.__traceback__.tb_next
    sys.excepthook(type(error), error, error.__traceback__)
    assert f'File "{PACKAGE}' in capsys.readouterr().err


PYTEST = """
import weft as tf

def helper(x):
    return tf.reshape(x, [2, 2])

def test_eager():
    helper(tf.constant([1.0, 2.0, 3.0]))

def test_traced():
    tf.function(helper)(tf.constant([1.0, 2.0, 3.0]))
"""


def test_pytest_shows_no_frame_of_weft(tmp_path: Any) -> None:
    file = tmp_path / "test_some.py"
    file.write_text(PYTEST)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)],
        env={**os.environ, "PYTHONPATH": os.path.dirname(PACKAGE[:-1])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 failed" in done.stdout
    assert done.stdout.count("return tf.reshape(x, [2, 2])") >= 2
    assert "_src" not in done.stdout


IPYTHON = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="nocolor")
shell.run_cell("import weft as tf")
shell.run_cell("def helper(x):\\n    return tf.reshape(x, [2, 2])")
shell.run_cell("helper(tf.constant([1.0, 2.0, 3.0]))")
shell.run_cell("tf.function(helper)(tf.constant([1.0, 2.0, 3.0]))")
"""


def test_ipython_shows_no_frame_of_weft() -> None:
    pytest.importorskip("IPython")
    done = subprocess.run(
        [sys.executable, "-c", IPYTHON],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([os.path.dirname(PACKAGE[:-1]), *sys.path]),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    text = done.stdout + done.stderr
    assert text.count("----> 2     return tf.reshape(x, [2, 2])") == 2
    assert "_src" not in text
