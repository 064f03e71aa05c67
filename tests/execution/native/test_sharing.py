"""Steps that do the same with other buffers are compiled once."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import weft as tf


def llvm_text(function: Any, *args: Any) -> str:
    return str(function.experimental_get_compiler_ir(*args)(stage="llvm"))


def bodies(text: str, stem: str) -> tuple[int, int]:
    """How many shared bodies there are, and how many steps call one."""
    shared = set(re.findall(rf"^define internal \w+ @({stem}_\d+\.shared)\(", text, re.MULTILINE))
    calls = re.findall(rf"call \w+ @({stem}_\d+\.shared)\(", text)
    assert set(calls) == shared
    return len(shared), len(calls)


def rng(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype("float32")


def test_unrolled_steps_share_their_code() -> None:
    w, x = rng(5, 5), rng(3, 5)

    @tf.function(jit_compile=True)
    def unrolled(x: Any) -> Any:
        for _ in range(7):
            x = tf.tanh(x @ w)
        return x

    text = llvm_text(unrolled, tf.constant(x))
    assert bodies(text, "product") == (1, 7)
    assert bodies(text, "nest") == (1, 7)
    expected = x
    for _ in range(7):
        expected = np.tanh(expected @ w)
    np.testing.assert_allclose(unrolled(tf.constant(x)), expected, rtol=1e-5)


def test_updates_of_many_variables_share_their_code() -> None:
    variables = [tf.Variable(rng(i + 1, 7)) for i in range(2) for _ in range(24)]
    before = [v.numpy() for v in variables]

    @tf.function(jit_compile=True)
    def update(scale: Any) -> None:
        for v in variables:
            v.assign_sub(scale * v)

    text = llvm_text(update, tf.constant(0.25))
    assert bodies(text, "nest") == (2, 4)  # twelve roots each, of two shapes
    update(tf.constant(0.25))
    for v, old in zip(variables, before, strict=True):
        np.testing.assert_allclose(v, 0.75 * old, rtol=1e-6)


def test_pieces_of_threads_share_their_code() -> None:
    x = rng(600, 500)
    factors = tf.constant([2.0, 3.0])

    @tf.function(jit_compile=True)
    def sums(x: Any) -> Any:
        first = tf.reduce_sum(tf.exp(x * 0.5), 1)
        second = tf.reduce_sum(tf.exp(first[:, tf.newaxis] * 1e-4 + x * factors[0]), 1)
        return tf.reduce_sum(tf.exp(second[:, tf.newaxis] * 1e-4 + x * factors[0]), 1)

    text = llvm_text(sums, tf.constant(x))
    assert "call void @weft_parallel(" in text
    assert bodies(text, "nest") == (2, 4)  # the sums, and what they are multiplied with before
    wide = x.astype("float64")
    expected = np.exp(wide * 0.5).sum(1)
    for _ in range(2):
        expected = np.exp(expected[:, None] * 1e-4 + wide * 2).sum(1)
    np.testing.assert_allclose(sums(tf.constant(x)), expected, rtol=1e-4)


def test_what_differs_in_a_number_is_not_shared() -> None:
    w, x = rng(4, 4), rng(2, 4)

    @tf.function(jit_compile=True)
    def scaled(x: Any) -> Any:
        return tf.tanh((tf.tanh((x @ w) * 2.0) @ w) * 3.0)

    text = llvm_text(scaled, tf.constant(x))
    assert bodies(text, "product") == (1, 2)
    assert bodies(text, "nest") == (0, 0)
    expected = np.tanh((np.tanh((x @ w) * 2) @ w) * 3)
    np.testing.assert_allclose(scaled(tf.constant(x)), expected, rtol=1e-5)
