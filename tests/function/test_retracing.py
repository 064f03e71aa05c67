"""Retraces are explained, bounded, and can be forbidden."""

from __future__ import annotations

import gc
import logging
import tracemalloc

import pytest

import weft as tf


def warnings_of(caplog: pytest.LogCaptureFixture, calls: object) -> list[str]:
    with caplog.at_level(logging.WARNING, "weft"):
        calls()  # type: ignore[operator]
    return [r.getMessage() for r in caplog.records]


def test_values_of_python_numbers(caplog: pytest.LogCaptureFixture) -> None:
    @tf.function
    def f(x: object) -> object:
        return tf.abs(x)

    messages = warnings_of(caplog, lambda: [f(i) for i in range(1, 13)])
    assert len(messages) == 2  # at the fifth trace, and again at the tenth
    assert "f (test_retracing.py:" in messages[0]
    assert "traced 5 times in its last 5 calls" in messages[0]
    assert "the value of 'x' was 4 and is now 5" in messages[0]
    assert "tf.constant(5)" in messages[0]
    assert "holds 5 traces" in messages[0]


def test_shapes(caplog: pytest.LogCaptureFixture) -> None:
    f = tf.function(lambda x: x)
    messages = warnings_of(caplog, lambda: [f(tf.zeros([n, 3])) for n in range(1, 6)])
    assert "the shape of 'x' was (4, 3) and is now (5, 3)" in messages[0]
    assert "tf.TensorSpec([None, 3], tf.float32)" in messages[0]
    assert "reduce_retracing=True" in messages[0]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([tf.constant(1), tf.constant(1.0)], "the dtype of 'x' was int32 and is now float32"),
        ([{"a": 1}, {"b": 1}], "'x' has gained the key 'b' and lost 'a'"),
        ([[1, 2], [1, 3]], "the value of 'x[1]' was 2 and is now 3"),
        ([1, tf.constant(1)], "'x' was the int 1 and is now an int32 tensor of shape ()"),
        ([{"k": tf.zeros([1])}, {"k": tf.zeros([2])}], "the shape of \"x['k']\" was (1,)"),
        ([object(), object()], "'x' was <object object at 0x"),
    ],
)
def test_causes(arguments: list[object], text: str) -> None:
    f = tf.function(lambda x: 1)
    for argument in arguments:
        f(argument)
    assert text in tf.explain(f).traces[1]["why"]


def test_the_nearest_trace_is_compared_with() -> None:
    f = tf.function(lambda x, flag: x)
    f(tf.zeros([2]), True)
    f(tf.zeros([9], tf.int32), False)
    f(tf.zeros([2]), False)  # one step from the first, one dtype and shape from the second
    assert tf.explain(f).traces[2]["why"] == "the value of 'flag' was True and is now False"


def test_few_traces_are_not_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    f = tf.function(lambda x: x)
    x = tf.constant(1.0)

    def calls() -> None:
        for n in range(1, 8):
            f(tf.zeros([n]))
            for _ in range(10):
                f(x)

    assert warnings_of(caplog, calls) == []


def test_explain() -> None:
    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        return x + 1

    f(tf.constant(1))
    f(tf.constant(2))
    f(tf.constant([1, 2]))
    account = tf.explain(f)
    assert [t["calls"] for t in account.traces] == [2, 1]
    assert account.traces[0]["why"] == "first call"
    assert account.traces[0]["tier"] in ("numpy", "native")
    assert "test_retracing.py" in account.traces[0]["called from"]
    assert account.traces[1]["nodes"] > 2
    assert "2 traces, 3 calls" in repr(account)
    assert "f(x: TensorSpec(shape=(), dtype=tf.int32" in repr(account)
    page = account._repr_html_()
    assert "<table>" in page
    assert "&#x27;x&#x27;" in page
    with pytest.raises(TypeError, match="tf.function"):
        tf.explain(len)


def test_no_retrace() -> None:
    f = tf.function(lambda x: x)
    with tf.no_retrace():
        f(tf.constant(1))  # a first trace is none again
        f(tf.constant(2))
        with pytest.raises(
            tf.errors.RetraceError, match="dtype of 'x' was int32 and is now float32"
        ):
            f(tf.constant(1.0))
    assert f(tf.constant(1.0)).numpy() == 1


def test_the_remedy_of_a_trace_that_is_refused_fits_it() -> None:
    f = tf.function(lambda x: x * 2.0)
    f(tf.ones([2, 3]))
    line = r"input_signature=\[tf\.TensorSpec\(\[None, 3\], tf\.float32\)\]"
    with tf.no_retrace(), pytest.raises(tf.errors.RetraceError, match=line):
        f(tf.ones([5, 3]))


def test_assert_max_traces() -> None:
    f = tf.function(lambda x: x)
    f(1)
    f(2)
    tf.testing.assert_max_traces(f, 2)
    with pytest.raises(AssertionError, match="'x' was 1 and is now 2"):
        tf.testing.assert_max_traces(f, 1)


def test_the_cache_is_bounded_and_least_recently_used() -> None:
    f = tf.function(lambda x: x, max_traces=3)
    for value in (1, 2, 3):
        f(value)
    f(4)
    info = f.cache_info()
    assert info["traces"] == 3
    assert info["traced"] == 4
    assert info["calls"] == 4
    f(4)
    assert f.experimental_get_tracing_count() == 4
    f.clear_cache()
    assert f.cache_info()["traces"] == 0
    assert f(4).numpy() == 4


def test_many_shapes_do_not_grow_memory() -> None:
    f = tf.function(lambda x: x + 1.0, max_traces=20)

    def run(start: int) -> None:
        for n in range(start, start + 300):
            f(tf.zeros([n]))

    tracemalloc.start()
    used = []
    for start in (1, 1000, 2000, 3000):
        run(start)
        gc.collect()
        used.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert used[3] - used[2] < 100_000  # 300 traces came and went; each is about 20 KB
    assert f.cache_info()["traces"] == 20


def test_at_least_one_trace_is_kept() -> None:
    with pytest.raises(ValueError, match="max_traces must be at least 1, got 0"):
        tf.function(lambda x: x, max_traces=0)
    with pytest.raises(TypeError, match="max_traces must be an integer, got 'many'"):
        tf.function(max_traces="many")
