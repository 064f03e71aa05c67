"""Temporaries that lie where a result will: one array less. What was compiled is given back."""

from __future__ import annotations

import gc
import resource
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.native import check
from weft._src.core.flags import flags
from weft._src.execution.native.driver import translate_for
from weft._src.execution.native.machine import llvm
from weft._src.graph.tracing import trace

rng = np.random.default_rng(5)
X = rng.normal(size=(30, 70)).astype(np.float32)


@pytest.fixture(autouse=True)
def _as_usual(_guard_pages: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between forbidden pages no memory is shared."""
    monkeypatch.setattr(flags, "guard_pages", "")


def _temporary_bytes(function: Callable[..., Any], *arrays: Any) -> int:
    graph = trace(function, [tf.TensorSpec(a.shape, a.dtype) for a in arrays])
    return int(translate_for(graph, arrays).program.scratch_bytes)


def test_softmax_needs_no_array_beside_its_result() -> None:
    assert _temporary_bytes(tf.nn.softmax, X) < X.nbytes / 4
    check(tf.nn.softmax, X, rtol=1e-6)


def test_a_chain_of_temporaries_shares_the_result() -> None:
    def standardized(x: Any) -> Any:
        centered = tf.exp(x) - tf.reduce_mean(tf.exp(x), 1, keepdims=True)
        scaled = centered * tf.math.rsqrt(tf.reduce_mean(centered * centered, 1, keepdims=True))
        return scaled - tf.reduce_max(scaled, 1, keepdims=True)

    assert _temporary_bytes(standardized, X) < X.nbytes / 4
    check(standardized, X, rtol=2e-5, atol=1e-6)


def _read_afterwards(x: Any) -> Any:
    e = tf.exp(x)
    total = tf.reduce_sum(e, 1, keepdims=True)
    return e * total, tf.reduce_sum(tf.reverse(e, [1]) * total)


def _read_elsewhere_in_the_row(x: Any) -> Any:
    e = tf.exp(x)
    return (e + tf.reverse(e, [1])) * tf.reduce_sum(e, 1, keepdims=True)


def _also_a_result(x: Any) -> Any:
    e = tf.exp(x)
    return e, e * tf.reduce_sum(e, 1, keepdims=True)


def _also_a_later_result(x: Any) -> Any:
    total = tf.reduce_sum(x, 1)
    return total * 2.0, total, tf.reduce_max(x, 1) - total, total


def _of_another_size(x: Any) -> Any:
    e = tf.exp(x)
    return tf.cast(e * tf.reduce_sum(e, 1, keepdims=True), tf.float64)


def _divided(x: Any) -> Any:
    e = tf.exp(x)
    return e / tf.reduce_sum(e, 1, keepdims=True), tf.sin(e) * tf.reduce_max(e)


def _in_a_loop(x: Any) -> Any:
    def step(i: Any, y: Any) -> Any:
        e = tf.exp(y)
        return i + 1, e * tf.math.reciprocal(tf.reduce_sum(e, 1, keepdims=True))

    return tf.while_loop(lambda i, _: i < 3, step, (0, x))[1]


def _in_a_branch(x: Any) -> Any:
    return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.nn.softmax(x), lambda: tf.nn.softmax(-x))


@pytest.mark.parametrize(
    "function",
    [_read_afterwards, _read_elsewhere_in_the_row, _also_a_result, _also_a_later_result,
     _of_another_size, _divided, _in_a_loop, _in_a_branch],
)  # fmt: skip
def test_what_is_still_needed_is_not_overwritten(function: Callable[..., Any]) -> None:
    check(function, X, rtol=2e-5, atol=1e-5)
    check(function, np.tile(X, (40, 3)), rtol=2e-5, atol=1e-5)  # shared by threads


def test_divisors_in_doubt_are_divided_by() -> None:
    """The quick form of division is wrong here, and the exact one finds its operands intact."""
    x = np.float32([[1e-38, 2e-38, 3e-38], [1e38, 2e38, -1e38], [1.0, 2.0, 4.0]])
    check(lambda x: (x * 0.5) / tf.reduce_sum(x * 0.5, 1, keepdims=True), x, rtol=1e-6)
    check(lambda x: tf.exp(x) / (tf.reduce_max(x, 1, keepdims=True) * 1e-3), x, rtol=1e-6)


def test_what_is_kept_later_is_not_taken_from_memory() -> None:
    """A gather that computes the transpose itself, which is kept for another result after it."""

    def both(x: Any) -> Any:
        turned = tf.transpose(x)
        wide = tf.cast(turned, tf.float64)
        first = tf.zeros([3, 2], tf.int32)
        return tf.gather(wide + wide, first, batch_dims=1), tf.reshape(turned, [-1])

    check(both, np.arange(12, dtype=np.float32).reshape(4, 3))


def _megabytes() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def test_what_was_compiled_and_dropped_takes_no_memory() -> None:
    """LLVM's passes once stayed for ever: 16 MB for 300 of the smallest modules."""
    text = "define i64 @number() {\nret i64 %d\n}\n"

    def compile_many(first: int) -> None:
        for number in range(first, first + 300):
            code = llvm.MachineCode(llvm.object_code(text % number))
            assert code.address("number")

    compile_many(0)
    gc.collect()
    before = _megabytes()
    compile_many(300)
    gc.collect()
    assert _megabytes() - before < 4
