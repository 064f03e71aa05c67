"""Sorting as machine code: the order of the NumPy tier, for equal elements and NaN, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.native import check, check_program

rng = np.random.default_rng(77)
DIRECTIONS = ("ASCENDING", "DESCENDING")
DTYPES = (
    "float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32",
    "uint32", "int64", "uint64",
)  # fmt: skip


def _array(dtype: str, *shape: int) -> np.ndarray:
    """Few different numbers, and among them the ends of the range."""
    t = tf.as_dtype(dtype)
    x = rng.integers(0 if t.is_unsigned else -3, 4, shape).astype(t.numpy_dtype)
    flat = x.reshape(-1)
    ends = [np.inf, -np.inf, np.nan, -np.nan] if t.is_floating else [t.min, t.max]
    flat[rng.integers(0, x.size, 2 * len(ends))] = ends * 2
    return x


def _sorted(x: Any) -> dict[str, Any]:
    axes = range(-1, x.shape.rank - 1)
    return {
        f"{f.__name__} {axis} {way}": f(x, axis, direction=way)
        for f in (tf.sort, tf.argsort)
        for axis in axes
        for way in DIRECTIONS
    }


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype: str) -> None:
    check(_sorted, _array(dtype, 5, 37))
    check(lambda x: [tf.math.top_k(x, k) for k in (1, 5, 23)], _array(dtype, 3, 23))


@pytest.mark.parametrize("n", [2, 16, 17, 33, 100, 1000])
def test_lengths(n: int) -> None:
    """Around the sizes of runs, with odd and even numbers of merges."""
    arrays = [
        rng.permutation(n).astype(np.float32),
        rng.permutation(n).astype(np.float64),
        np.arange(n),
        np.arange(n)[::-1].copy(),
        np.zeros(n, np.int32),
    ]
    check(lambda *xs: [[tf.sort(x), tf.argsort(x, direction="DESCENDING")] for x in xs], *arrays)


def test_axes_in_the_middle() -> None:
    check(_sorted, _array("float32", 3, 20, 4))


def test_zeros_of_both_signs_keep_their_order() -> None:
    x = np.float32([0.0, -0.0, 1.0, -0.0, 0.0, -1.0])
    check(lambda x: [tf.argsort(x), tf.argsort(x, direction="DESCENDING"), tf.math.top_k(x, 4)], x)
    check(lambda x: [tf.sort(x)], x, signs=False)


@pytest.mark.parametrize("dtype", ["float32", "int32", "float64"])
def test_the_largest_of_many(dtype: str) -> None:
    x = rng.integers(0, 500, (3, 5000)).astype(dtype)
    check(lambda x: [tf.math.top_k(x, k, index_type=tf.int64) for k in (1, 7, 64, 100, 5000)], x)
    rising = np.arange(3000, dtype=dtype)
    check(lambda x: [tf.math.top_k(x, 10), tf.math.top_k(-x, 10)], rising)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 4), (2, 1)])
def test_nothing_to_sort(shape: tuple[int, ...]) -> None:
    x = np.ones(shape, np.float32)
    check(lambda x: [tf.sort(x), tf.argsort(x), *tf.math.top_k(x, min(1, shape[-1]))], x)
    check(lambda x: [*tf.math.top_k(x, 0)], x)


def test_gradients() -> None:
    def function(x: Any) -> list[Any]:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            ordered = tf.sort(x, 0, direction="DESCENDING")
            largest, _ = tf.math.top_k(x, 3)
        return [
            tape.gradient(ordered, x, output_gradients=x),
            tape.gradient(largest, x, output_gradients=x[:, :3]),
        ]

    check(function, rng.normal(size=(5, 7)).astype(np.float32))


def test_in_loops_and_of_computed_values() -> None:
    def function(x: Any) -> Any:
        for _ in tf.range(3):
            best, places = tf.math.top_k(tf.abs(x) * 2.0, 4)
            x = tf.sort(x + tf.reduce_sum(best) + tf.cast(places[0], tf.float32)) * 0.5
        return x, tf.gather(x, tf.argsort(-x))

    check_program(function, rng.normal(size=20).astype(np.float32), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_nan_is_the_largest_whatever_its_sign(dtype: str) -> None:
    def function(x: Any) -> Any:
        root = tf.sqrt(x)  # of a negative number it is a NaN whose sign is set
        falling = {"direction": "DESCENDING"}
        return tf.sort(root), tf.sort(root, **falling), tf.argsort(root, **falling, stable=True)

    check(function, tf.cast([2.23, -0.54, 2.19, -3.0, 1.0], dtype).numpy())


def test_whether_the_target_is_among_the_best() -> None:
    predictions = rng.normal(size=(6, 9)).astype(np.float32)
    targets = rng.integers(0, 9, 6).astype(np.int32)
    jitted = tf.function(
        lambda p, t: tf.math.reduce_any(tf.math.top_k(p, 3).indices == t[:, None], 1),
        jit_compile=True,
    )
    wanted = [t in np.argsort(-p)[:3] for p, t in zip(predictions, targets, strict=True)]
    assert jitted(predictions, targets).numpy().tolist() == wanted
