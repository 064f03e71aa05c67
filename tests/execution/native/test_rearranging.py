"""Blocks, mirrors, diagonals, segments and searches as machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.native import check, check_program, compile_native

rng = np.random.default_rng(41)
X = np.arange(60, dtype=np.float32).reshape(3, 4, 5)


def _slopes(function: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    """The result and its gradient, with a weight of its own for every element."""

    def both(x: Any) -> list[Any]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        weights = tf.cast(tf.reshape(tf.range(tf.size(y)) % 7, tf.shape(y)), y.dtype)
        return [y, tape.gradient(y, x, output_gradients=weights)]

    return both


# --- gathers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("axis", "batch_dims", "shape"),
    [(1, 1, (3, 2)), (2, 1, (3, 2, 4)), (2, 2, (3, 4)), (None, 1, (3, 1)), (-1, -1, (3, 2))],
)
def test_gather_in_batches(axis: Any, batch_dims: int, shape: tuple[int, ...]) -> None:
    at = rng.integers(0, 4, shape).astype(np.int32)
    check(_slopes(lambda x: tf.gather(x, at, axis=axis, batch_dims=batch_dims)), X)


def test_gather_nd_and_scatter_nd_in_batches() -> None:
    at = rng.integers(0, 4, (3, 2, 1)).astype(np.int32)
    points = rng.integers(0, 4, (3, 6, 2)).astype(np.int64)
    check(_slopes(lambda x: tf.gather_nd(x, at, batch_dims=1)), X)
    check(_slopes(lambda x: tf.gather_nd(x, points, batch_dims=1)), X)
    empty = np.zeros((3, 2, 0), np.int32)
    check(lambda x: [tf.gather_nd(x, empty, batch_dims=1), tf.gather_nd(x, empty[0])], X)


def test_batched_indices_out_of_range_are_refused() -> None:
    compiled, values = compile_native(
        lambda x, i: [tf.gather(x, i, batch_dims=1), tf.gather_nd(x, i[..., None], batch_dims=1)],
        X,
        np.array([[1, 3], [0, 0], [2, 1]], np.int32),
    )
    assert compiled(*values) is not None
    for bad in (4, -1):
        assert compiled(values[0], np.full((3, 2), bad, np.int32)) is None


def test_one_hot_of_unsigned_indices() -> None:
    check(lambda i: [tf.one_hot(i, 5)], np.array([0, 4, 200, 255], np.uint8))


# --- slices and rolls at run time ----------------------------------------------------------------


def test_blocks_that_begin_anywhere() -> None:
    def function(x: Any, begin: Any) -> list[Any]:
        return [tf.slice(x, begin, [2, 1, 5]), tf.slice(x, begin, [3 - 2, 2, 4]) * 2.0]

    compiled, _ = compile_native(function, X, np.zeros(3, np.int32))
    for begin in ([0, 0, 0], [1, 2, 0]):
        check(function, X, np.array(begin, np.int32))
    for bad in ([2, 0, 0], [0, -1, 0], [0, 0, 2]):
        assert compiled(X, np.array(bad, np.int32)) is None


@pytest.mark.parametrize("shift", [0, 1, -1, 7, -13])
def test_rolls_by_a_number_known_at_run_time(shift: int) -> None:
    check(
        lambda x, n: [tf.roll(x, n, 1), tf.roll(x, tf.stack([n, 2 * n]), [0, 2])],
        X,
        np.int32(shift),
    )
    check(lambda x, n: [tf.roll(x, n, 0)], np.zeros((0, 3), np.float32), np.int32(shift))


# --- blocks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.bool_])
def test_space_and_depth(dtype: type) -> None:
    x = (np.arange(2 * 4 * 6 * 12) % 5).reshape(2, 4, 6, 12).astype(dtype)
    check(
        lambda x: {
            "to depth": tf.nn.space_to_depth(x, 2),
            "to depth, channels first": tf.nn.space_to_depth(x, 3, data_format="NCHW"),
            "from depth": tf.nn.depth_to_space(x, 2),
            "from depth, channels first": tf.nn.depth_to_space(x, 2, data_format="NCHW"),
            "to batch": tf.space_to_batch(x, [2, 3], [[1, 1], [0, 3]]),
            "from batch": tf.batch_to_space(tf.tile(x, [3, 1, 1, 1]), [2, 3], [[1, 2], [0, 4]]),
        },
        x,
    )


def test_gradients_of_blocks_and_products() -> None:
    x = rng.normal(size=(2, 4, 6, 4))
    check(_slopes(lambda x: tf.nn.depth_to_space(tf.nn.space_to_depth(x, 2), 4)), x)
    check(_slopes(lambda x: tf.space_to_batch(x, [2, 1], [[0, 2], [1, 0]])), x)
    for axis in (None, (1, 3), (0,)):
        check(_slopes(lambda x, axis=axis: tf.reduce_prod(x, axis)), x, rtol=1e-12)
    check(_slopes(lambda x: tf.nn.pool(x, [2, 2], "MAX", dilations=[2, 1])), x[:, :, :, :2].copy())


# --- mirrors and repetitions ---------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["REFLECT", "SYMMETRIC"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32"])
def test_mirrors(mode: str, dtype: str) -> None:
    pads = [[2, 1], [0, 3], [4, 4]]
    x = X.astype(tf.as_dtype(dtype).numpy_dtype)

    def function(x: Any) -> Any:
        return tf.pad(x, pads, mode=mode)

    if dtype == "int32":
        check(lambda x: [function(x)], x)
    else:
        check(_slopes(function), x)


def test_mirrors_of_single_elements() -> None:
    check(_slopes(lambda x: tf.pad(x, [[1, 1], [0, 0]], mode="SYMMETRIC")), np.ones((1, 3)))


@pytest.mark.parametrize("multiples", [[2, 1, 3], [1, 1, 1], [0, 2, 1]])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_gradients_of_tiles(multiples: list[int], dtype: type) -> None:
    check(_slopes(lambda x: tf.tile(x, multiples)), X.astype(dtype))


def test_repeats() -> None:
    check(_slopes(lambda x: tf.repeat(x, 3, axis=1)), X)
    check(_slopes(lambda x: tf.repeat(x, [1, 0, 4], axis=0)), X)


# --- diagonals -----------------------------------------------------------------------------------

ALIGNMENTS = ["RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"]


@pytest.mark.parametrize("align", ALIGNMENTS)
@pytest.mark.parametrize("k", [0, 2, -1, (-1, 3), (1, 2), (-2, -1)])
def test_diagonals(k: Any, align: str) -> None:
    def function(x: Any) -> dict[str, Any]:
        part = tf.linalg.diag_part(x, k=k, padding_value=9.0, align=align)
        return {
            "part": part,
            "set": tf.linalg.set_diag(x, part * 2.0, k=k, align=align),
            "new": tf.linalg.diag(part, k=k, padding_value=-1.0, align=align),
        }

    check(function, X)


def test_gradients_of_diagonals() -> None:
    check(_slopes(lambda x: tf.linalg.diag_part(x, k=(-1, 1))), X)
    check(_slopes(lambda x: tf.linalg.diag(x, k=1)), X)
    check(_slopes(lambda x: tf.linalg.set_diag(x, x[..., 0] * 3.0)), X)
    check(_slopes(tf.linalg.trace), X)
    check(_slopes(lambda x: tf.linalg.tensor_diag(x[0])), X)
    check(_slopes(lambda x: tf.linalg.tensor_diag_part(tf.tensordot(x[0], x[0], 0))), X)


def test_diagonals_of_nothing() -> None:
    for shape in ((0, 3), (3, 0), (0, 3, 4)):
        x = np.zeros(shape, np.float32)
        check(lambda x: [tf.linalg.diag_part(x), tf.linalg.set_diag(x, tf.linalg.diag_part(x))], x)


def test_bands_known_at_run_time() -> None:
    def function(x: Any, low: Any, high: Any) -> list[Any]:
        return [tf.linalg.band_part(x, low, high), tf.linalg.band_part(x, 1, -1)]

    compiled, _ = compile_native(function, X, np.int32(0), np.int32(0))
    for low, high in ((0, 0), (-1, 2), (1, -1), (4, 5), (-7, -7)):
        check(function, X, np.int32(low), np.int32(high))
    assert compiled(X, np.array(5, np.int32), np.array(0, np.int32)) is None
    assert compiled(X, np.array(0, np.int32), np.array(6, np.int32)) is None


def test_bands_wider_than_the_matrix_are_refused() -> None:
    jitted = tf.function(lambda x: tf.linalg.band_part(x, 9, 0), jit_compile=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_lower must not be above 3"):
        jitted(np.ones((3, 4), np.float32))


# --- segments and counts -------------------------------------------------------------------------

IDS = np.array([2, -1, 0, 2, 4, -3, 0], np.int32)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "sqrt_n"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
def test_segments(name: str, dtype: str) -> None:
    if dtype == "int32" and name in ("mean", "sqrt_n"):
        return
    x = rng.integers(1, 5, (7, 3)).astype(dtype)
    if dtype != "int32":
        x[3, 1], x[4] = -np.inf, np.nan
    segment = getattr(tf.math, f"unsorted_segment_{name}")
    check(
        lambda x, ids: {
            "rows": segment(x, ids, 6),
            "numbers": segment(x[:, 0], ids, 5),
            "matrix": segment(x, tf.stack([ids, ids, ids], 1) % 5, 5),
            "nothing": segment(x, ids % 1, 1)[:0],
        },
        x,
        IDS,
        rtol=1e-6,
    )


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_gradients_of_segments(name: str) -> None:
    segment = getattr(tf.math, f"unsorted_segment_{name}")
    check(_slopes(lambda x: segment(x, IDS, 6)), rng.integers(-2, 3, (7, 3)).astype(np.float64))


def test_segments_out_of_range_are_refused() -> None:
    compiled, values = compile_native(
        lambda x, ids: [tf.math.unsorted_segment_sum(x, ids, 5)], np.ones((7, 3), np.float32), IDS
    )
    assert compiled(*values) is not None
    assert compiled(values[0], np.full(7, 5, np.int32)) is None


def test_rows_of_a_variable_get_gradients() -> None:
    table = tf.Variable(np.arange(20, dtype=np.float32).reshape(5, 4))

    def step(rows: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, rows) ** 2)
        slope = tf.convert_to_tensor(tape.gradient(loss, table))
        table.assign_sub(0.1 * slope)
        return loss

    check_program(step, np.array([3, 0, 3], np.int32), variables=[table], rtol=1e-6)


@pytest.mark.parametrize("binary", [False, True])
def test_counts(binary: bool) -> None:
    x = np.array([[1, 4, 1], [0, 9, 3]], np.int32)

    def function(x: Any) -> list[Any]:
        count = {"minlength": 5, "maxlength": 5, "binary_output": binary}
        return [
            tf.math.bincount(x, **count),
            tf.math.bincount(x, axis=-1, dtype=tf.float32, **count),
        ]

    check(function, x)
    compiled, _ = compile_native(function, x)
    assert compiled(-x) is None


def test_weighed_counts_and_histograms() -> None:
    x = np.array([1, 4, 1, 0, 9], np.int32)
    w = np.array([0.5, 2.0, 0.25, 8.0, 1.0], np.float32)
    check(
        lambda x, w: [
            tf.math.bincount(x, w, minlength=5, maxlength=5),
            tf.histogram_fixed_width(w, [0.25, 4.0], nbins=4),
            tf.histogram_fixed_width(x, [1, 5], nbins=3, dtype=tf.int64),
        ],
        x,
        w,
    )
    compiled, _ = compile_native(lambda w, r: [tf.histogram_fixed_width(w, r, nbins=4)], w, w[:2])
    assert compiled(w, np.float32([2, 2])) is None
    assert compiled(w * np.nan, np.float32([0, 2])) is None


# --- searches and permutations -------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.uint8])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 8])
def test_searches(n: int, dtype: type) -> None:
    sequence = np.sort(rng.integers(1, 6, (3, n)), -1).astype(dtype)
    wanted = np.tile(np.arange(7), (3, 1)).astype(dtype)
    if dtype in (np.float32, np.float16):
        wanted[:, 0], wanted[:, 1] = np.nan, -np.inf
        sequence[:, n - n // 3 :] = np.nan
    check(
        lambda s, v: [
            tf.searchsorted(s, v, side=side, out_type=out)
            for side in ("left", "right")
            for out in (tf.int32, tf.int64)
        ],
        sequence,
        wanted,
    )


def test_permutations_and_sequences() -> None:
    order = np.array([2, 0, 3, 1], np.int32)

    def function(x: Any, order: Any, lengths: Any) -> list[Any]:
        return [
            tf.math.invert_permutation(order),
            tf.reverse_sequence(x, lengths, seq_axis=1),
            tf.reverse_sequence(x, lengths, seq_axis=-1, batch_axis=0),
            tf.unravel_index(order, [3, 2]),
            tf.unravel_index(order[0], [7, 1, 2]),
        ]

    lengths = np.array([0, 4, 3], np.int64)
    check(function, X, order, lengths)
    compiled, _ = compile_native(function, X, order, lengths)
    for bad in ([2, 0, 3, 2], [0, 1, 2, 4], [-1, 0, 1, 2]):
        assert compiled(X, np.array(bad, np.int32), lengths) is None
    assert compiled(X, order, np.array([0, 5, 0], np.int64)) is None
    check(_slopes(lambda x: tf.reverse_sequence(x, lengths, seq_axis=1)), X)


def test_in_loops_and_branches() -> None:
    def function(x: Any, at: Any) -> Any:
        for i in tf.range(3):
            x = tf.pad(x, [[1, 1], [0, 0]], mode="SYMMETRIC")[1:-1]
            x = tf.linalg.set_diag(x, tf.linalg.diag_part(x) + 1.0)
            if tf.reduce_sum(x) > 20.0:
                x = x + tf.math.unsorted_segment_sum(x, at, 4)
            else:
                x = tf.roll(x, i, 0) + tf.gather(x, at)
        return x

    check_program(function, X[0], np.array([1, 3, 0, 1], np.int32))


def test_what_is_computed_fills_the_rest() -> None:
    def function(x: Any, c: Any) -> Any:
        pads = [[1, 2], [0, 1]]
        return tf.pad(x, pads, constant_values=c * 2.0), tf.pad(x, pads, constant_values=c)

    for shape in ((1, 1), (2, 3)):
        check(function, np.ones(shape, np.float32), np.float32(-1.5))
