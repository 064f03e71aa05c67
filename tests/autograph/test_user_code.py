"""Errors in traced code: their class, the user's frames in their text, original line numbers."""

from __future__ import annotations

import inspect
import sys
import traceback
from typing import Any

import pytest

import weft as tf


def helper(x: Any) -> Any:
    if x > 0:
        for _ in tf.range(3):
            x = tf.reshape(x, [2, 2])  # here
    return x


def failing(x: Any) -> Any:
    y = helper(x)
    return y + 1


def line_of(function: Any, text: str) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def caught(function: Any, *args: Any) -> Exception:
    try:
        function(*args)
    except Exception as e:  # noqa: BLE001
        return e
    raise AssertionError("nothing was raised")


def test_the_text_holds_the_users_frames() -> None:
    error = caught(tf.function(failing), tf.constant(1))
    text = str(error)
    assert isinstance(error, tf.errors.ShapeError)
    assert text.startswith("in user code:\n")
    assert f'"{__file__}", line {line_of(failing, "helper(x)")}, in failing' in text
    assert f'"{__file__}", line {line_of(helper, "# here")}, in helper' in text
    assert "x = tf.reshape(x, [2, 2])  # here" in text
    assert text.count("in user code:") == 1
    assert text.count("File ") == 2


def test_library_and_generated_frames_are_trimmed() -> None:
    text = str(caught(tf.function(failing), tf.constant(1)))
    for word in ("weft/", "operators", "loop_body", "then", "ag_factory"):
        assert word not in text.replace(__file__, "")


def test_wrapped_once_at_the_outermost_trace() -> None:
    inner = tf.function(failing)

    @tf.function
    def outer(x: Any) -> Any:
        return inner(x)

    text = str(caught(outer, tf.constant(1)))
    assert text.count("in user code:") == 1
    assert "in outer" in text
    assert "in helper" in text


def test_exceptions_of_python_keep_class_arguments_and_cause() -> None:
    @tf.function
    def f(x: Any) -> Any:
        try:
            return x + {}["k"]
        except KeyError as e:
            raise ValueError("wrong key") from e

    error = caught(f, tf.constant(1))
    assert type(error) is ValueError
    assert str(error).endswith("wrong key")
    assert "in user code:" in str(error)
    assert isinstance(error.__cause__, KeyError)


def test_exceptions_whose_text_is_not_their_argument_get_a_note() -> None:
    class Code(Exception):
        def __init__(self, code: int) -> None:
            super().__init__(f"code {code}")
            self.code = code

        def __str__(self) -> str:
            return f"<{self.code}>"

    @tf.function
    def own(x: Any) -> Any:
        raise Code(3)

    @tf.function
    def key(x: Any) -> Any:
        return {}["k"]

    error = caught(own, tf.constant(1))
    assert (str(error), error.args) == ("<3>", ("code 3",))
    assert "in own" in error.__notes__[0]
    error = caught(key, tf.constant(1))
    assert error.args == ("k",)
    assert "in user code:" in error.__notes__[0]


def test_exceptions_caught_while_tracing_are_left_alone() -> None:
    seen: list[str] = []

    @tf.function
    def f(x: Any) -> Any:
        try:
            return tf.reshape(x, [2, 2])
        except ValueError as e:
            seen.append(str(e))
            return x

    f(tf.constant(1))
    assert "in user code:" not in seen[0]


def test_eager_errors_are_as_ever() -> None:
    assert "in user code:" not in str(caught(failing, tf.constant(1)))


def test_errors_name_the_users_variable_and_line() -> None:
    @tf.function
    def f(n: Any) -> Any:
        x = tf.constant(1.0)
        for i in tf.range(n):
            x = i
        return x

    text = str(caught(f, tf.constant(1)))
    assert "'x' has dtype float32 before the loop" in text
    assert "for i in tf.range(n):" in text


def test_tracebacks_have_the_original_lines() -> None:
    error = caught(tf.function(failing), tf.constant(1))
    frames = [(f.lineno, f.name) for f in traceback.extract_tb(error.__traceback__)]
    assert frames[1:] == [
        (line_of(failing, "helper(x)"), "failing"),
        (line_of(helper, "# here"), "helper"),
    ]


def test_without_filtering_tracebacks_have_all_original_lines() -> None:
    tf.debugging.disable_traceback_filtering()
    try:
        error = caught(tf.function(failing), tf.constant(1))
    finally:
        tf.debugging.enable_traceback_filtering()
    frames = [(f.lineno, f.name) for f in traceback.extract_tb(error.__traceback__)
              if f.filename == __file__]  # fmt: skip
    assert (line_of(failing, "helper(x)"), "failing") in frames
    assert (line_of(helper, "# here"), "helper") in frames
    assert (line_of(helper, "if x > 0"), "helper") in frames


def test_a_statement_in_other_blocks_is_named_with_its_own_line() -> None:
    def f(n: Any) -> Any:
        count = 0
        for i in tf.range(n):
            for j in tf.range(i):
                if (i + j) % 2:  # no bool
                    continue
                count += 1
        return count

    text = str(caught(tf.function(f), tf.constant(3)))
    assert f"line {line_of(f, '# no bool')}, in f" in text
    assert "if (i + j) % 2:" in text


def test_debuggers_and_coverage_see_the_original_lines() -> None:
    def body(x: Any) -> Any:
        y = x
        if x > 0:
            y = x * 2
        else:
            y = x * 3
        for i in tf.range(2):
            y = y + i
        return y

    seen: set[int] = set()

    def tracer(frame: Any, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename != __file__:
            return None
        if event == "line":
            seen.add(frame.f_lineno)
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        tf.function(body)(tf.constant(1))
    finally:
        sys.settrace(before)
    lines, first = inspect.getsourcelines(body)
    wanted = {first + i for i, line in enumerate(lines) if i and line.strip() != "else:"}
    assert wanted <= seen
    assert {n for n in seen if first <= n < first + len(lines)} <= wanted | {first}


def test_locals_in_a_debugger_have_their_names() -> None:
    found: dict[str, Any] = {}

    def look(x: Any) -> None:
        frame = sys._getframe(1)
        found.update(frame.f_locals)

    look = tf.autograph.experimental.do_not_convert(look)

    @tf.function
    def f(x: Any) -> Any:
        y = x + 1
        look(y)
        return y

    f(tf.constant(1))
    assert {"x", "y"} <= set(found)


def test_run_time_errors_name_the_line() -> None:
    @tf.function
    def f(x: Any, i: Any) -> Any:
        return tf.gather(x, i)

    with pytest.raises(tf.errors.InvalidArgumentError, match="test_user_code.py"):
        f(tf.constant([1, 2]), tf.constant(5))
