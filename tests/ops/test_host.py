"""Printing, assertions and callbacks: effects that happen in every run, in order."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.execution import reference
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.passes import optimize
from weft._src.graph.tracing import trace
from weft._src.ops.host.formatting import format_array

V = tf.TensorSpec([None])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        (0.1, "0.1"),
        (1 / 3, "0.333333343"),
        (1e20, "1e+20"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (np.float64(1 / 3), "0.33333333333333331"),
        (np.float16(0.1), "0.0999755859"),
        (True, "1"),
        (1 + 2j, "(1,2)"),
        ("abc", "abc"),
        (["a", "b"], '["a" "b"]'),
        ([1, 2, 3], "[1 2 3]"),
        ([], "[]"),
        ([[1, 2], [3, 4]], "[[1 2]\n [3 4]]"),
        ([[[1], [2]], [[3], [4]]], "[[[1]\n  [2]]\n\n [[3]\n  [4]]]"),
        (list(range(10)), "[0 1 2 ... 7 8 9]"),
    ],
)
def test_format(value: object, text: str) -> None:
    assert format_array(np.asarray(tf.constant(value))) == text


def test_summarize() -> None:
    assert format_array(np.arange(10), 1) == "[0 ... 9]"
    assert format_array(np.arange(10), -1) == "[0 1 2 3 4 5 6 7 8 9]"


def test_print_goes_to_stderr_unless_told(capfd: pytest.CaptureFixture[str]) -> None:
    tf.print("a", 1, tf.constant([1.5]))
    tf.print("b", tf.constant(2), output_stream=sys.stdout, sep="-", end="!\n")
    out, err = capfd.readouterr()
    assert err == "a 1 [1.5]\n"
    assert out == "b-2!\n"


def test_print_structures(capsys: pytest.CaptureFixture[str]) -> None:
    tf.print({"b": tf.constant(1), "a": [2, tf.constant([3.0])]}, output_stream=sys.stdout)
    tf.print(tf.Variable(4.0), (5, "six"), None, output_stream=sys.stdout)
    assert capsys.readouterr().out == "{'a': [2, [3]], 'b': 1}\n4 (5, 'six') None\n"
    tf.print(np.arange(3), tf.float32, tf.TensorShape([1, None]), output_stream=sys.stdout)
    assert capsys.readouterr().out == "array([0, 1, 2]) tf.float32 TensorShape([1, None])\n"


def test_strings_are_quoted_among_other_things(capsys: pytest.CaptureFixture[str]) -> None:
    tf.print(tf.constant("a"), output_stream=sys.stdout)
    tf.print(tf.constant("a"), "b", tf.constant(["c"]), output_stream=sys.stdout)
    assert capsys.readouterr().out == 'a\n"a" b ["c"]\n'


# Strings, and how TensorFlow 2.21 shows them between quotes.
ESCAPED = {
    b"\xff": b"\xff",
    b"a\x00b": rb"a\000b",
    b'q"q\\': rb"q\"q\\",
    b"\n\r\t": rb"\n\r\t",
    b"\x01\x7f\x1b": rb"\001\177\033",
    b"it's": rb"it\'s",
    "caf\u00e9".encode(): "caf\u00e9".encode(),
}


@pytest.mark.parametrize("text", ESCAPED)
def test_strings_in_quotes(text: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = b'"' + ESCAPED[text] + b'"'
    for run in (tf.strings.format, tf.function(tf.strings.format)):
        assert run("<{}>", tf.constant(text)).numpy() == b"<" + shown + b">"
        assert run("<{}>", tf.constant([text, b"x"])).numpy() == b"<[" + shown + b' "x"]>'
    file = tmp_path / "out.txt"
    tf.print(tf.constant(text), 1, output_stream=f"file://{file}")
    tf.print(tf.constant(text), output_stream=f"file://{file}")  # alone it is no part of a text
    assert file.read_bytes() == shown + b" 1\n" + text + b"\n"
    tf.print([tf.constant(text)], output_stream=sys.stdout)  # a stream of text
    assert capsys.readouterr().out == f"[{shown.decode(errors='backslashreplace')}]\n"
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        tf.debugging.assert_equal(tf.constant([text]), tf.constant([b"x"]))
    assert shown.decode(errors="backslashreplace") in str(raised.value)


def test_texts_with_nul(capsys: pytest.CaptureFixture[str]) -> None:
    class Named:
        def __repr__(self) -> str:
            return "\x000\0"

    tf.print("a\0b", tf.constant(3), "\0", Named(), [Named()], sep="\0", output_stream=sys.stdout)
    assert capsys.readouterr().out == "a\0b\x003\0\0\0\x000\0\0[\x000\0]\n"


def test_print_to_files_and_logs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "out.txt"
    tf.print("one", output_stream=f"file://{file}")
    tf.print("two", output_stream=f"file://{file}")
    assert file.read_text() == "one\ntwo\n"
    with caplog.at_level(logging.INFO, "weft"):
        tf.print("three", output_stream=logging.INFO)
        tf.print("four", output_stream=logging.warning)
    assert [(r.levelname, r.message) for r in caplog.records] == [
        ("INFO", "three"),
        ("WARNING", "four"),
    ]
    with pytest.raises(ValueError, match="output_stream"):
        tf.print("x", output_stream="somewhere")
    with pytest.raises(ValueError, match="'flush'"):
        tf.print("x", flush=True)


def test_print_in_graphs_runs_every_time_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        print("tracing")
        tf.print("first", x, output_stream=sys.stdout)
        tf.print("second", output_stream=sys.stdout)
        return x

    graph = optimize(trace(f, [V]))
    plan = NumpyPlan(graph)
    for n in (1, 2):
        plan(np.ones(n, np.float32))
    reference.run(graph, [np.ones(3, np.float32)])
    assert capsys.readouterr().out.splitlines() == [
        "tracing", "first [1]", "second", "first [1 1]", "second", "first [1 1 1]", "second",
    ]  # fmt: skip


def test_assert() -> None:
    tf.Assert(True, ["fine"])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"assertion failed: x was \[1 2\]"):
        tf.Assert(False, ["x was", tf.constant([1, 2])])

    def f(x: tf.Tensor) -> tf.Tensor:
        tf.Assert(tf.reduce_sum(x) > 0, ["sum of", x])  # checked
        return x

    plan = NumpyPlan(optimize(trace(f, [V])))
    plan(np.ones(2, np.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"sum of \[-1\]") as e:
        plan(-np.ones(1, np.float32))
    assert "# checked" in str(e.value)


def test_py_function() -> None:
    seen = []

    def side_effect(x: tf.Tensor) -> tf.Tensor:
        assert tf.executing_eagerly()
        seen.append(x.numpy().tolist())
        return x * 2.0

    def f(x: tf.Tensor) -> tf.Tensor:
        return tf.py_function(side_effect, [x], tf.float32) + 1.0

    plan = NumpyPlan(optimize(trace(f, [V])))
    for _ in range(3):
        assert plan(np.ones(2, np.float32))[0].tolist() == [3, 3]
    assert seen == [[1, 1]] * 3
    assert f(tf.constant([2.0])).numpy().tolist() == [5]


def test_py_function_forms() -> None:
    two = tf.py_function(lambda x: (x, x + 1), [tf.constant(1)], [tf.int32, tf.int32])
    assert [t.numpy() for t in two] == [1, 2]
    assert tf.py_function(lambda: None, [], []) is None
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 results were declared .* got 1"):
        tf.py_function(lambda: 1, [], [tf.int32, tf.int32])
    with pytest.raises(tf.errors.InvalidArgumentError, match="declared as int32 .* got float32"):
        tf.py_function(lambda: 1.5, [], tf.int32)


def test_callbacks_as_decorators() -> None:
    @tf.numpy_function(Tout=[tf.float32, tf.int32])
    def step(action: Any, scale: Any) -> Any:
        """One step."""
        return np.float32(action * scale), np.int32(action)

    @tf.py_function(Tout=tf.float32)
    def double(x: Any) -> Any:
        return 2 * x

    for wrap in (lambda f: f, tf.function):
        state, action = wrap(lambda a: step(a, 0.5))(tf.constant(3.0))
        assert (state.numpy(), action.numpy()) == (1.5, 3)
        assert wrap(lambda x: double(x))(tf.constant(3.0)).numpy() == 6
    assert step.__doc__ == "One step."
    with pytest.raises(TypeError, match=r"needs the dtypes of the results: @tf.py_function\(Tout"):
        tf.py_function()
    with pytest.raises(TypeError, match="inp must be a list"):
        tf.py_function(lambda x: x, Tout=tf.float32)
    with pytest.raises(TypeError, match="func must be callable, got None"):
        tf.numpy_function(None, [1.0], tf.float32)


def test_callbacks_keep_their_own_exceptions() -> None:
    def fail(x: object) -> object:
        raise KeyError("mine")

    graph = trace(lambda x: tf.py_function(fail, [x], tf.float32), [V])
    with pytest.raises(KeyError, match="mine"):
        NumpyPlan(graph)(np.ones(1, np.float32))


def test_py_function_is_differentiable_eagerly() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.py_function(lambda t: t * t, [x], tf.float32)
    assert tape.gradient(y, x).numpy() == 6


def test_numpy_function() -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        return tf.numpy_function(lambda a: np.sort(a)[::-1].copy(), [x], tf.float32)

    a = np.array([1, 3, 2], np.float32)
    assert f(tf.constant(a)).numpy().tolist() == [3, 2, 1]
    assert NumpyPlan(trace(f, [V]))(a)[0].tolist() == [3, 2, 1]
