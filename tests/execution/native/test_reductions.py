"""Reductions, softmax and its kin, scans and places of extremes as machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.native import check, run_native
from weft._src.ops.reduce.ranking import in_top_k_op

AXES = [None, 0, 1, 2, (0, 1), (0, 2), (1, 2), (0, 1, 2), ()]
rng = np.random.default_rng(11)


def _all(x: Any, functions: dict[str, Callable[..., Any]]) -> dict[str, Any]:
    axes = [a for a in AXES if a is None or a == () or max(np.atleast_1d(a)) < x.shape.rank]
    return {
        f"{name} {axis} {keep}": f(x, axis, keepdims=keep)
        for name, f in functions.items()
        for axis in axes
        for keep in ([False, True] if axis != () else [False])
    }


NUMBERS: dict[str, Callable[..., Any]] = {
    "sum": tf.reduce_sum, "prod": tf.reduce_prod, "max": tf.reduce_max, "min": tf.reduce_min,
}  # fmt: skip
FLOATS: dict[str, Callable[..., Any]] = {
    "mean": tf.reduce_mean, "logsumexp": tf.reduce_logsumexp,
    "variance": tf.math.reduce_variance, "std": tf.math.reduce_std,
    "norm": tf.math.reduce_euclidean_norm,
}  # fmt: skip


@pytest.mark.parametrize("shape", [(2, 3, 5), (3, 1, 4), (2, 67, 3)])
def test_all_axes_of_floats(shape: tuple[int, ...]) -> None:
    x = rng.uniform(0.8, 1.2, shape).astype(np.float32)
    check(lambda x: _all(x, NUMBERS), x, rtol=2e-5, atol=1e-6)


def test_composed_reductions() -> None:
    check(
        lambda x: {
            f"{name} {axis}": f(x, axis) for name, f in FLOATS.items() for axis in (None, 1, (0, 2))
        },
        rng.uniform(0.8, 1.2, (2, 67, 3)).astype(np.float32),
        rtol=2e-5,
        atol=1e-6,
    )


@pytest.mark.parametrize("shape", [(0, 3, 2), (2, 0, 3), (2, 3, 0)])
def test_nothing_to_reduce(shape: tuple[int, ...]) -> None:
    check(lambda x: _all(x, NUMBERS), np.zeros(shape, np.float32))


@pytest.mark.parametrize("name", ["int8", "int64", "uint8"])
def test_integers_are_exact(name: str) -> None:
    x = rng.integers(0, 120, (3, 4, 5)).astype(name)
    check(lambda x: _all(x, NUMBERS), x)


def test_bools() -> None:
    x = rng.uniform(size=(3, 4, 5)) < 0.8
    check(lambda x: _all(x, {"any": tf.reduce_any, "all": tf.reduce_all}), x)
    check(lambda x: _all(x, {"any": tf.reduce_any, "all": tf.reduce_all}), np.zeros((0, 2), bool))


def test_nan_and_infinities() -> None:
    x = rng.normal(size=(4, 9, 3)).astype(np.float32)
    x[0, 0, 0], x[1, 8, 2], x[2, 3, 1] = np.nan, np.inf, -np.inf
    check(lambda x: _all(x, NUMBERS), x, rtol=1e-5, atol=1e-5)
    extremes = run_native(
        lambda x: [tf.reduce_max(x), tf.reduce_min(x), tf.reduce_max(x, 2)[0, 0]], x
    )
    assert np.isnan(extremes).all()
    check(lambda x: [tf.reduce_logsumexp(x, a) for a in (0, 1, 2, None)], x, rtol=1e-5, atol=1e-6)
    low = np.full((2, 3), -np.inf, np.float32)
    check(lambda x: [tf.reduce_logsumexp(x, 1), tf.reduce_max(x, 1)], low)


def test_large_sums_are_accurate() -> None:
    """Many accumulators: the error stays far below that of adding one by one."""
    x = rng.uniform(0, 1, 200_000).astype(np.float32)
    total, mean, rows = run_native(
        lambda x: [
            tf.reduce_sum(x),
            tf.reduce_mean(x),
            tf.reduce_sum(tf.reshape(x, [1000, 200]), 0),
        ],
        x,
    )
    wide = x.astype(np.float64)
    np.testing.assert_allclose(total, wide.sum(), rtol=1e-6)
    np.testing.assert_allclose(mean, wide.mean(), rtol=1e-6)
    np.testing.assert_allclose(rows, wide.reshape(1000, 200).sum(0), rtol=1e-5)


@pytest.mark.parametrize(
    "shape", [(4095,), (4096,), (4097,), (12_289,), (3, 4099), (1500, 7), (7, 3, 5001)]
)
def test_sums_in_blocks(shape: tuple[int, ...]) -> None:
    """Of every length around those of blocks: each term once, and beside other reductions."""
    x = rng.uniform(0.5, 1, shape).astype(np.float32)

    def function(x: Any) -> list[Any]:
        mirrored = tf.reverse(x, [-1])  # neither its axes nor those of the product are merged
        return [
            tf.reduce_sum(x),
            tf.reduce_sum(x, -1),
            tf.reduce_sum(x * mirrored),
            tf.reduce_max(x),
            tf.reduce_sum(x * x),
            x + tf.reduce_sum(x, -1, keepdims=True),
        ]

    wide, mirrored = x.astype(np.float64), x[..., ::-1].astype(np.float64)
    expected = [
        wide.sum(),
        wide.sum(-1),
        (wide * mirrored).sum(),
        wide.max(),
        (wide * wide).sum(),
        wide + wide.sum(-1, keepdims=True),
    ]
    for got, true in zip(run_native(function, x), expected, strict=True):
        np.testing.assert_allclose(got, true, rtol=3e-7)


@pytest.mark.parametrize("shape", [(3, 5, 2, 7), (67, 41, 6, 33), (1, 9, 1, 4)])
@pytest.mark.parametrize("axes", [(1,), (2,), (0, 2), (1, 2), (0,)])
def test_axes_that_are_not_the_last(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    """What is combined in memory begins anew for each index outside, in each piece of a nest."""
    x = rng.uniform(-2, -1, shape).astype(np.float32)
    total, most, either = run_native(
        lambda x: [tf.reduce_sum(x, axes), tf.reduce_max(x, axes), tf.reduce_any(x > -1.1, axes)], x
    )
    np.testing.assert_allclose(total, x.astype(np.float64).sum(axes), rtol=1e-5)
    np.testing.assert_array_equal(most, x.max(axes))
    np.testing.assert_array_equal(either, (x > np.float32(-1.1)).any(axes))


def test_reductions_feed_each_other() -> None:
    def function(x: Any) -> dict[str, Any]:
        centred = x - tf.reduce_mean(x, 1, keepdims=True)
        scaled = centred / tf.sqrt(tf.reduce_mean(centred * centred, 1, keepdims=True) + 1e-3)
        return {
            "normalised": scaled,
            "total": tf.reduce_sum(scaled * scaled),
            "chain": tf.reduce_max(tf.reduce_sum(tf.exp(x), 0) * tf.reduce_min(x, 0)),
            "moments": tf.nn.moments(x, [0]),
        }

    check(function, rng.normal(size=(6, 11)).astype(np.float32), rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_softmax(name: str) -> None:
    x = (4 * rng.normal(size=(3, 4, 7))).astype(name)
    tolerance = {"float16": 4e-3, "float32": 2e-6, "float64": 1e-13}[name]
    check(
        lambda x: {
            f"{f.__name__} {axis}": f(x, axis=axis)
            for f in (tf.nn.softmax, tf.nn.log_softmax)
            for axis in (0, 1, -1)
        },
        x,
        rtol=tolerance,
        atol=tolerance,
    )


def test_softmax_of_the_unusual() -> None:
    x = np.float32([[1e30, 0, -1e30], [np.inf, 0, 1], [-np.inf, -np.inf, 0], [np.nan, 1, 2],
                    [-np.inf] * 3, [88, 89, 90]])  # fmt: skip
    check(lambda x: [tf.nn.softmax(x), tf.nn.log_softmax(x)], x, rtol=2e-6, atol=1e-6)


def test_losses_and_their_gradients() -> None:
    logits = rng.normal(size=(5, 7)).astype(np.float32)
    labels = np.array([0, 6, 3, 3, 1], np.int64)

    def function(logits: Any, labels: Any) -> list[Any]:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(logits)
            sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            dense = tf.nn.softmax_cross_entropy_with_logits(tf.one_hot(labels, 7), logits)
            binary = tf.nn.sigmoid_cross_entropy_with_logits(tf.one_hot(labels, 7), logits)
        losses = [sparse, dense, binary]
        return [*losses, *[tape.gradient(loss, logits) for loss in losses]]

    check(function, logits, labels, rtol=5e-6, atol=1e-6)


# --- scans ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["int32", "float32"])
def test_scans(name: str) -> None:
    x = rng.integers(1, 4, (3, 4, 5)).astype(name)
    check(
        lambda x: {
            f"{f.__name__} {axis} {exclusive} {reverse}": f(
                x, axis, exclusive=exclusive, reverse=reverse
            )
            for f in (tf.cumsum, tf.math.cumprod)
            for axis in (0, 1, 2)
            for exclusive in (False, True)
            for reverse in (False, True)
        },
        x,
    )


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_cumulative_logsumexp(name: str) -> None:
    x = (3 * rng.normal(size=(3, 5, 4))).astype(name)
    x[0, 1, 0], x[1, :2, 1], x[2, 3, 2], x[2, 0, 3] = np.inf, -np.inf, np.nan, 80.0
    x[1, 2:4, 2] = np.inf
    tolerance = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-14}[name]
    check(
        lambda x: {
            f"{axis} {exclusive} {reverse}": tf.math.cumulative_logsumexp(
                x, axis, exclusive=exclusive, reverse=reverse
            )
            for axis in (0, 1, 2)
            for exclusive in (False, True)
            for reverse in (False, True)
        },
        x,
        rtol=tolerance,
        atol=tolerance,
    )


def test_scans_and_softmax_of_nothing() -> None:
    for shape in ((0, 3), (3, 0)):
        check(
            lambda x: [
                tf.cumsum(x), tf.math.cumprod(x, 1), tf.math.cumulative_logsumexp(x),
                tf.nn.softmax(x), tf.nn.log_softmax(x, 0),
            ],
            np.zeros(shape, np.float32),
        )  # fmt: skip


def test_places_of_extremes() -> None:
    x = rng.integers(0, 4, (5, 6, 7))
    for dtype in (np.int32, np.uint8, np.float32, np.float16):
        check(
            lambda x: [f(x, a) for f in (tf.argmax, tf.argmin) for a in (0, 1, 2)], x.astype(dtype)
        )
    check(lambda x: [tf.argmax(x, 1, output_type=tf.int32)], x.astype(np.float32))


def test_places_of_extremes_with_nan_and_infinities() -> None:
    nan, inf = np.nan, np.inf
    x = np.float32([[1, nan, 3, nan], [nan, 1, 2, 3], [inf, 1, inf, 2], [-inf, -inf, -inf, -inf],
                    [-0.0, 0.0, -0.0, 0.0]])  # fmt: skip
    check(lambda x: [f(x, a) for f in (tf.argmax, tf.argmin) for a in (0, 1)], x)


def test_places_of_zeros_of_both_signs_infinities_and_bools() -> None:
    rows = [[-0.0, 0.0, -0.0], [np.nan, -np.inf, np.nan], [np.inf, np.nan, np.inf], [-1, -2, -1]]
    for dtype in (np.float32, np.float64, np.float16):
        check(lambda x: [tf.argmax(x, 1), tf.argmin(x, 1), tf.argmax(x, 0)], np.array(rows, dtype))
    check(lambda x: [tf.argmax(x, 1), tf.argmin(x, 0)], np.array(rows) > 0)


LINES = [32, 33, 47, 64, 130]


@pytest.mark.parametrize(
    "dtype",
    [np.float32, np.float64, np.float16, np.int8, np.uint8, np.int16, np.int32, np.uint32,
     np.int64, np.uint64],
)  # fmt: skip
def test_places_of_extremes_in_lines_of_many(dtype: Any) -> None:
    """Lines of whole vectors and a rest; few different numbers, so that there are equal ones."""
    for n in LINES:
        x = rng.integers(0, 40, (2, 5, n)).astype(dtype)
        check(lambda x: [tf.argmax(x, -1), tf.argmin(x, 2, output_type=tf.int32)], x)


def test_places_in_lines_of_many_with_odd_numbers() -> None:
    for n in LINES:
        x = rng.normal(size=(12, n)).astype(np.float32)
        x[0], x[1], x[2] = -np.inf, np.inf, np.nan
        x[3, :-1] = np.nan
        x[4, 1:] = np.nan
        x[5, [0, 7, n - 1]] = np.nan, np.inf, np.inf
        x[6, [3, 20, n - 1]] = -np.inf, np.nan, -np.inf
        x[7], x[8] = 0.0, -0.0
        x[9] = np.where(np.arange(n) % 2, 0.0, -0.0)
        x[10] = np.where(np.arange(n) % 3, np.nan, -np.inf)
        x[11] = np.where(np.arange(n) % 3, np.nan, np.inf)
        check(lambda x: [tf.argmax(x, 1), tf.argmin(x, 1)], x)
    least = np.full((3, 40), np.iinfo(np.int32).min, np.int32)
    check(lambda x: [tf.argmax(x, 1), tf.argmin(x, 1)], least)
    check(lambda x: [tf.argmax(x), tf.argmin(x)], rng.normal(size=100))
    check(lambda x: tf.argmax(x > 0, 1), rng.normal(size=(3, 50)))


def test_places_of_extremes_shared_by_threads() -> None:
    x = rng.integers(0, 1000, (700, 513)).astype(np.float32)
    check(lambda x: [tf.argmax(x, 1), tf.argmin(x * 2 + 1, 1)], x)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(("rows", "classes"), [(9, 5), (0, 5), (4, 0), (130, 17), (3, 3000)])
def test_classes_among_the_best(rows: int, classes: int, dtype: Any) -> None:
    x = rng.integers(-4, 4, (rows, classes)).astype(dtype)
    if rows == 9:
        x[[0, 1, 2], [1, 1, 2]] = np.nan, np.inf, -np.inf
    targets = rng.integers(-1, classes + 1, rows)  # some of them are no classes
    if rows > 4:
        targets[:2] = 2**40, -(2**40)
    for k in (0, 1, 2, 100, -1):
        check(lambda x, targets, k=k: in_top_k_op(x, targets, tf.constant(k)), x, targets)
