"""`tf.autograph`: to_code, to_graph, do_not_convert, verbosity; caching; autograph=False."""

from __future__ import annotations

import ast
import functools
from typing import Any

import pytest

import weft as tf
from weft._src.autograph import conversion


def double_positive(x: Any) -> Any:
    if x > 0:
        x = x * 2
    while x < 10:
        x = x + 3
        if x == 7:
            break
    return x and x > 1


def test_to_code_is_python_and_readable() -> None:
    code = tf.autograph.to_code(double_positive)
    ast.parse(code)
    assert code.startswith("def double_positive(x):")
    for word in ("ag__.if_stmt", "ag__.while_stmt", "ag__.and_", "x = x * 2", "nonlocal x"):
        assert word in code
    assert tf.autograph.to_code(tf.function(double_positive)) == code
    with pytest.raises(TypeError, match="takes a Python function"):
        tf.autograph.to_code(3)


def test_to_code_without_source() -> None:
    with pytest.raises((TypeError, ValueError), match="len|source"):
        tf.autograph.to_code(len)
    namespace: dict[str, Any] = {}
    exec("def f(x):\n    return x", namespace)
    with pytest.raises(ValueError, match="cannot be shown.*source"):
        tf.autograph.to_code(namespace["f"])


def test_to_graph() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            return x * 2
        return x

    made = tf.autograph.to_graph(f)
    assert (made(3), made(-3)) == (6, -3)
    traced = tf.function(made, autograph=False)
    assert [int(traced(tf.constant(x))) for x in (3, -3)] == [6, -3]
    assert [int(tf.function(made)(tf.constant(x))) for x in (3, -3)] == [6, -3]


def test_autograph_false() -> None:
    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        if x > 0:
            return x
        return -x

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        f(tf.constant(1))
    with pytest.raises(TypeError, match="symbolic tensor"):
        f(tf.constant(1))


def test_autograph_false_is_about_called_functions_too() -> None:
    def inner(x: Any) -> Any:
        return 1 if x > 0 else 2

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(lambda x: inner(x), autograph=False)(tf.constant(1))


@tf.autograph.experimental.do_not_convert
def left_alone(x: Any) -> Any:
    return 1 if x > 0 else 2


def test_do_not_convert() -> None:
    assert left_alone(3) == 1
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(lambda x: left_alone(x))(tf.constant(1))
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(left_alone)(tf.constant(1))


def test_do_not_convert_does_not_spread_to_wrappers() -> None:
    def wrap(function: Any) -> Any:
        @functools.wraps(function)
        def wrapper(x: Any) -> Any:
            if x > 0:
                return function(x)
            return x

        return wrapper

    @wrap
    @tf.autograph.experimental.do_not_convert
    def f(x: Any) -> Any:
        return x * 2

    assert [int(tf.function(f)(tf.constant(x))) for x in (3, -3)] == [6, -3]


def test_do_not_convert_of_methods_and_callables() -> None:
    class Thing:
        def choose(self, x: Any) -> Any:
            return 1 if x > 0 else 2

        __call__ = choose

    for function in (Thing().choose, Thing(), functools.partial(Thing.choose, None)):
        marked = tf.autograph.experimental.do_not_convert(function)
        assert marked(3) == 1
        with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
            tf.function(lambda x, marked=marked: marked(x))(tf.constant(1))
    assert int(tf.function(Thing().choose)(tf.constant(1))) == 1


def test_set_loop_options_outside_of_graphs_does_nothing() -> None:
    for _ in range(2):
        tf.autograph.experimental.set_loop_options(swap_memory=True, parallel_iterations=1)


def test_conversion_happens_once(monkeypatch: pytest.MonkeyPatch) -> None:
    converted: list[str] = []
    original = conversion._convert_code

    def counted(function: Any) -> Any:
        converted.append(function.__name__)
        return original(function)

    monkeypatch.setattr(conversion, "_convert_code", counted)

    def inner(x: Any) -> Any:
        return x if x > 0 else -x

    def f(x: Any) -> Any:
        return inner(x) + inner(-x)

    traced = tf.function(f)
    traced(tf.constant(1))
    traced(tf.constant(1.0))
    tf.function(f)(tf.constant([1.0])[0])
    assert sorted(converted) == ["f", "inner"]


def test_closures_share_their_code() -> None:
    def make(k: int) -> Any:
        def f(x: Any) -> Any:
            return x * k if x > 0 else x

        return f

    assert [int(tf.function(make(k))(tf.constant(2))) for k in (3, 4)] == [6, 8]


def test_trace_and_verbosity(capsys: pytest.CaptureFixture[str]) -> None:
    @tf.function
    def f(x: Any) -> Any:
        tf.autograph.trace("tracing")
        return x

    f(tf.constant(1))
    f(tf.constant(2))
    assert capsys.readouterr().out == "tracing\n"
    tf.autograph.set_verbosity(3)
    tf.autograph.set_verbosity(0)


def test_breakpoint_stops_while_tracing(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    stops: list[tuple[str, int]] = []

    def stop() -> None:
        frame = sys._getframe(1)
        while frame.f_code.co_filename != __file__:
            frame = frame.f_back  # type: ignore[assignment]
        stops.append((frame.f_code.co_name, frame.f_lineno))

    monkeypatch.setattr(sys, "breakpointhook", stop)

    def f(x: Any) -> Any:
        breakpoint()  # noqa: T100
        return x

    traced = tf.function(f)
    traced(tf.constant(1))
    traced(tf.constant(2))
    assert stops == [("f", f.__code__.co_firstlineno + 1)]
