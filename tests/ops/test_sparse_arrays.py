"""Sums and order of sparse tensors on arrays are those that the ops give."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.ops.sparse import arithmetic, dense as sparse_dense, place_arrays, places

RNG = np.random.default_rng(11)
SHAPES = {"vector": (50,), "matrix": (6, 9), "three axes": (3, 4, 5), "empty": (0, 3)}


def elements(shape: tuple[int, ...], count: int, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Places in order and values, some of them zeros with a sign, infinite or no numbers."""
    size = int(np.prod(shape))
    flat = np.sort(RNG.permutation(size)[:count])
    indices = np.stack(np.unravel_index(flat, shape), 1).astype(np.int64).reshape(-1, len(shape))
    values = (RNG.normal(size=len(flat)) * 100).astype(dtype)
    if np.dtype(dtype).kind in "fc" and len(flat) > 6:
        values[RNG.permutation(len(flat))[:6]] = [-0.0, 0.0, np.nan, np.inf, -np.inf, 1e4]
    return indices, values


def same_bits(found: Any, wanted: Any) -> None:
    found, wanted = np.asarray(found), np.asarray(wanted)
    np.testing.assert_array_equal(found, wanted)
    assert found.dtype == wanted.dtype
    if found.dtype.kind in "fc":
        known = ~np.isnan(wanted)  # NaN has no sign that counts
        for part in (np.real, np.imag):
            np.testing.assert_array_equal(
                np.signbit(part(found))[known], np.signbit(part(wanted))[known]
            )


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64", "float16", "float32", "complex64"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_sums(shape: tuple[int, ...], dtype: str) -> None:
    dense_shape = np.array(shape, np.int64)
    plain: Any = arithmetic._added.__wrapped__  # type: ignore[attr-defined]
    for counts in ((20, 20), (20, 3), (0, 9), (9, 0), (0, 0), (1, 50)):
        a, b = [elements(shape, n, dtype) for n in counts]
        for terms in ((*a, *b), (*a, *a), (*a, a[0].copy(), a[1][::-1])):
            with np.errstate(all="ignore"):
                found = place_arrays.added(*terms, dense_shape)
            wanted = plain(*[tf.constant(x) for x in (*terms, dense_shape)])
            for x, y in zip(found, wanted, strict=True):
                same_bits(x, y)


def test_nothing_is_warned_of() -> None:
    large = tf.SparseTensor([[1]], [3e38], [4])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(tf.sparse.add(large, large).values.numpy()).all()


@pytest.mark.parametrize("count", [0, 1, 20])
def test_order(count: int) -> None:
    plain: Any = places._in_order.__wrapped__  # type: ignore[attr-defined]
    shape = np.array([6, 9], np.int64)
    indices, values = elements((6, 9), count, "float32")
    mixed = RNG.integers(0, len(indices), 2 * count) if count else np.zeros(0, int)
    for i, v in ((indices, values), (indices[mixed], values[mixed])):
        found = place_arrays.in_order(i, v, shape)
        for x, y in zip(found, plain(*[tf.constant(z) for z in (i, v, shape)]), strict=True):
            same_bits(x, y)


def test_what_is_not_in_order_is_left_to_the_ops() -> None:
    fine, one = np.array([[0, 1], [2, 0]]), np.ones(2)
    shape = np.array([3, 3])
    for wrong in (fine[::-1], fine[[0, 0]]):
        assert place_arrays.added(wrong, one, fine, one, shape) is NotImplemented
        assert place_arrays.added(fine, one, wrong, one, shape) is NotImplemented
    for arguments in (
        (fine, np.ones(3), fine, one, shape),
        (fine, one, fine, np.ones(1), shape),
        (fine, one, fine, one.astype("f"), shape),
        (fine, one, fine, one, np.array([3])),
        (fine, np.array([b"x", b"y"], object), fine, np.array([b"x", b"y"], object), shape),
    ):
        assert place_arrays.added(*arguments) is NotImplemented
    twice = tf.SparseTensor([[0, 1], [0, 1]], [1.0, 2.0], [2, 2])
    made = tf.sparse.add(twice, tf.SparseTensor([[1, 0]], [5.0], [2, 2]))
    assert made.indices.numpy().tolist() == [[0, 1], [1, 0]]
    assert made.values.numpy().tolist() == [3.0, 5.0]


def test_gradients_go_through_the_ops() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        made = tf.sparse.add(
            tf.SparseTensor([[0], [2]], x, [3]), tf.SparseTensor([[2]], [4.0], [3])
        )
        y = tf.reduce_sum(made.values**2)
    np.testing.assert_array_equal(tape.gradient(y, x), [2.0, 12.0])


@pytest.mark.parametrize("shape", [(2**40, 2**40, 7), (5,), (3, 2**62, 2, 2), (0, 4), ()])
def test_places_of_any_shape(shape: tuple[int, ...]) -> None:
    """Also where int64 does not hold them, which nobody has checked."""
    indices = RNG.integers(0, 2**62, (9, len(shape)))
    sizes = np.array(shape, np.int64)
    wanted = places.from_indices(tf.constant(indices), tf.constant(sizes))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(place_arrays.places_of(indices, sizes), wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "complex64"])
@pytest.mark.parametrize("count", [0, 1, 7, 40])
def test_products_of_small_matrices(dtype: str, count: int) -> None:
    indices, values = elements((6, 9), count, dtype)
    values = np.where(np.isfinite(values), values, values.dtype.type(3))
    dense = (RNG.normal(size=(9, 4)) * 10).astype(dtype)
    given = [tf.constant(v) for v in (indices, values, np.array([6, 9]), dense)]
    out = place_arrays.product(*[v.numpy() for v in given])
    expected = tf.function(sparse_dense._product)(*given)
    if count == 0 or dtype == "complex64":
        assert out is NotImplemented
    else:
        np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-3)
        assert out.dtype == expected.dtype
    np.testing.assert_allclose(sparse_dense._product(*given), expected, rtol=1e-5, atol=1e-3)


def test_products_with_unusual_indices_are_left_to_the_ops() -> None:
    values, dense, shape = np.ones(2, np.float32), np.ones((3, 2), np.float32), np.array([4, 3])
    for rows in (
        [[0, 3], [1, 0]],
        [[0, -1], [1, 0]],
        [[2, 0], [1, 0]],
        [[0, 0], [4, 0]],
        [[-1, 0], [0, 0]],
    ):
        assert place_arrays.product(np.array(rows), values, shape, dense) is NotImplemented


@pytest.mark.parametrize("shape", [(50,), (6, 9), (3, 4, 5), (0, 3), (3, 0), (200, 300)])
@pytest.mark.parametrize("dtype", ["float32", "int32", "bool", "complex64"])
def test_what_is_not_zero(shape: tuple[int, ...], dtype: str) -> None:
    x = (RNG.normal(size=shape) * 2).astype(dtype)
    x[RNG.random(shape) < 0.3] = 0
    if dtype == "float32" and x.size > 3:
        x.reshape(-1)[:3] = [-0.0, np.nan, np.inf]
    found = place_arrays.present(x)
    same_bits(found[0], np.argwhere(x != 0))
    same_bits(found[1], x[x != 0])


@pytest.mark.parametrize(("columns", "shape"), [(2, [4]), (1, [4, 5])])
@pytest.mark.parametrize("count", [0, 1])
def test_indices_of_another_rank(columns: int, shape: list[int], count: int) -> None:
    """Which only a graph with unknown shapes can bring to the op."""
    given = tf.zeros([count, columns], tf.int64), tf.constant(shape, tf.int64), tf.zeros([count])
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{columns}.*a column for each of"):
        sparse_dense.to_dense_op(*given, tf.constant(0.0), validate_indices=True)
