"""segment_*, unsorted_segment_* and cumulative_logsumexp."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, c64, check_case, f32, f64, i32

SORTED = np.array([0, 0, 2, 2, 2], np.int32)
UNSORTED = np.array([3, 0, -1, 3, 0], np.int32)


def by_segment(reduce, ids, count, empty):
    def expect(x, *_):
        rows = [x[ids == i] for i in range(count)]
        kept = [reduce(r, axis=0, dtype=x.dtype) if len(r) else x[0] * 0 + empty for r in rows]
        return np.stack(kept)

    return expect


def largest(x, axis, dtype):
    return x.max(axis)


def smallest(x, axis, dtype):
    return x.min(axis)


REDUCTIONS = {"sum": (np.sum, 0), "prod": (np.prod, 1), "max": (largest, 0), "min": (smallest, 0)}
REDUCTIONS |= {"mean": (np.mean, 0)}

LIMITS = {"max": -np.finfo(np.float32).max, "min": np.finfo(np.float32).max}

CASES = [
    *[
        Case(
            getattr(tf.math, f"segment_{name}"),
            [sample, SORTED],
            {},
            by_segment(reduce, SORTED, 3, empty),
        )
        for name, (reduce, empty) in REDUCTIONS.items()
        for sample in (f32(5, low=0.5), f32(5, 3, 2, low=0.5))
    ],
    *[
        Case(
            getattr(tf.math, f"unsorted_segment_{name}"),
            [sample, UNSORTED, np.int32(4)],
            {},
            by_segment(reduce, UNSORTED, 4, LIMITS.get(name, empty)),
            grad=name not in LIMITS,  # the lowest number spoils differences
        )
        for name, (reduce, empty) in REDUCTIONS.items()
        for sample in (f32(5, low=0.5), f32(5, 3, 2, low=0.5))
    ],
    *[
        Case(getattr(tf.math, f"unsorted_segment_{name}"), [f32(5, 3), UNSORTED // 3, np.int32(2)])
        for name in LIMITS
    ],
    Case(
        tf.math.unsorted_segment_sqrt_n,
        [f32(5, 3), UNSORTED, np.int32(4)],
        {},
        by_segment(lambda x, axis, dtype: x.sum(0) / np.sqrt(len(x)), UNSORTED, 4, 0),
    ),
    Case(
        lambda x: tf.math.unsorted_segment_sum(x, [[0, 1, 2], [-1, 1, 1]], 4),
        [f32(2, 3, 4)],
        {},
        lambda x: np.stack([x[0, 0], x[0, 1] + x[1, 1] + x[1, 2], x[0, 2], x[0, 0] * 0]),
    ),
    Case(tf.math.unsorted_segment_mean, [f32(2, 3), [[0, 1, 1], [1, 0, 0]], np.int64(2)]),
    Case(tf.math.segment_sum, [c64(5, 2), SORTED], {}, by_segment(np.sum, SORTED, 3, 0)),
    Case(tf.math.segment_prod, [c64(5), SORTED], {}, by_segment(np.prod, SORTED, 3, 1)),
    Case(tf.math.segment_max, [i32(5, 2), SORTED.astype(np.int64)], grad=False),
    Case(tf.math.segment_sum, [f32(0, 3), np.zeros(0, np.int32)], {}, lambda x, _: x),
    Case(tf.math.unsorted_segment_sum, [np.float32(3), np.int32(1), np.int32(2)], grad=False),
    Case(tf.math.unsorted_segment_max, [f32(0, 3), np.zeros(0, np.int32), np.int32(0)], grad=False),
    *[
        Case(
            tf.math.cumulative_logsumexp,
            [f64(3, 4)],
            {"axis": axis, "reverse": reverse},
            lambda x, a=axis, r=reverse: (
                np.flip(np.log(np.cumsum(np.exp(np.flip(x, a)), a)), a)
                if r
                else np.log(np.cumsum(np.exp(x), a))
            ),
        )
        for axis in (0, -1)
        for reverse in (False, True)
    ],
    Case(
        tf.math.cumulative_logsumexp,
        [f32(4)],
        {"exclusive": True},
        lambda x: np.log(np.concatenate([[0], np.cumsum(np.exp(x))[:-1]])),
        grad=False,
    ),
    Case(tf.math.cumulative_logsumexp, [f32(0, 3)], {}, lambda x: x),
]


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_case(case: Case) -> None:
    check_case(case)


def gradient(fn, x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = fn(x)
    return tape.gradient(y, x).numpy().tolist()


def test_rows_that_reach_the_extremum_share_the_gradient() -> None:
    x = [1.0, 3.0, 3.0, 2.0]
    assert gradient(lambda x: tf.math.segment_max(x, [0, 0, 0, 2]), x) == [0, 0.5, 0.5, 1]
    unsorted = gradient(lambda x: tf.math.unsorted_segment_min(x, [1, 1, -1, 1], 3), [2.0] * 4)
    np.testing.assert_allclose(unsorted, [1 / 3, 1 / 3, 0, 1 / 3])


def test_products_with_zeros() -> None:
    for fn in (
        lambda x: tf.math.segment_prod(x, [0, 0, 0, 1, 1, 2]),
        lambda x: tf.math.unsorted_segment_prod(x, [0, 0, 0, 1, 1, 2], 4),
    ):
        assert gradient(fn, [2.0, 0.0, 3.0, 0.0, 0.0, 5.0]) == [0, 6, 0, 0, 0, 1]


def test_the_gradient_of_an_exclusive_cumulative_logsumexp() -> None:
    got = gradient(lambda x: tf.math.cumulative_logsumexp(x, exclusive=True)[1:], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(got, [1.2689414, 0.7310586, 0.0], 1e-6)
    large = gradient(tf.math.cumulative_logsumexp, [1000.0, 1000.0])
    np.testing.assert_allclose(large, [1.5, 0.5], 1e-4)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.int8, tf.uint16, tf.int64])
def test_dtypes(dtype: tf.DType) -> None:
    x = tf.cast([3, 4, 5], dtype)
    for name, expected in {"sum": [7, 5], "mean": [3, 5], "max": [4, 5], "prod": [12, 5]}.items():
        got = getattr(tf.math, f"segment_{name}")(x, [0, 0, 1])
        assert got.dtype is dtype
        if name != "mean" or dtype.is_integer:  # 3.5, towards zero
            assert tf.cast(got, tf.int32).numpy().tolist() == expected
    assert tf.math.unsorted_segment_max(x, [0, 0, 0], 2).numpy()[1] == dtype.min
    assert tf.math.unsorted_segment_mean(tf.constant([1, 2]), [0, 0], 1).dtype is tf.float64


def test_errors() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="segment_sum: segment_ids must be so"):
        tf.math.segment_sum([1.0, 2.0], [1, 0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="segment_max.*not negative"):
        tf.math.segment_max([1.0, 2.0], [-1, 0])
    with pytest.raises(ValueError, match="sizes of data and segment_ids must be equal, got 2 and"):
        tf.math.segment_prod([1.0, 2.0], [0, 0, 1])
    with pytest.raises(ValueError, match="segment_mean: data must have rank at least 1"):
        tf.math.segment_mean(1.0, [0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="less than num_segments, 2, got 3"):
        tf.math.unsorted_segment_sum([1.0, 2.0], [0, 3], 2)
    with pytest.raises(ValueError, match="num_segments must not be negative, got -1"):
        tf.math.unsorted_segment_sum([1.0, 2.0], [0, 1], -1)
    with pytest.raises(ValueError, match="segment_ids and the leading axes of data"):
        tf.math.unsorted_segment_min([[1.0, 2.0]], [0, 1], 2)
    with pytest.raises(ValueError, match="cumulative_logsumexp: axis 2 is out of range"):
        tf.math.cumulative_logsumexp([[1.0]], axis=2)


def test_gradient_of_a_single_number_that_is_left_out() -> None:
    x = tf.constant(2.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.math.unsorted_segment_max(x, -1, 4) * 0)
    assert tape.gradient(y, x).numpy() == 0


INF, NAN = np.inf, np.nan
EDGES = {
    "infinite": ([-INF, 1.0, INF, -INF, -INF], [0, 1, 1, 2, 2]),
    "no number": ([NAN, 1.0, 2.0, NAN, 3.0], [0, 1, 2, 1, 2]),
    "left out": ([4.0, 1.0, 2.0, 9.0, 3.0], [2, 0, -1, 1, 0]),
    "not all occur": ([4.0, 1.0, 2.0, 9.0, 3.0], [2, 0, 0, 2, 0]),
    "zeros": ([0.0, -0.0, -0.0, 0.0, -0.0], [0, 0, 1, 2, 2]),
}


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", EDGES)
def test_extrema_of_unusual_numbers(name: str, dtype: Any) -> None:
    values, ids = np.array(EDGES[name][0], dtype), np.array(EDGES[name][1])
    for function, ufunc in (("max", np.maximum), ("min", np.minimum)):
        empty = getattr(tf.as_dtype(dtype), "min" if function == "max" else "max")
        wanted = [ufunc.reduce(values[ids == i]) if i in ids else empty for i in range(3)]
        for numbers, rows in ((values, False), (values[:, None], True)):
            call = getattr(tf.math, f"unsorted_segment_{function}")
            found = call(numbers, ids.astype(np.int32), 3).numpy()
            np.testing.assert_array_equal(found[:, 0] if rows else found, np.array(wanted, dtype))
            assert found.dtype == dtype


@pytest.mark.parametrize("ids", [[0, 0, 1, 1, 2], [1, 1, 4, 4, 4], [0, 0, 0, 0, 0]])
@pytest.mark.parametrize("dtype", [np.int32, np.float16, np.float64, np.complex64])
def test_means_of_segments_that_may_be_missing(ids: list[int], dtype: Any) -> None:
    values = np.array([-7, 2, 3, 5, 7], dtype)  # the means are exact
    wanted = np.zeros(max(ids) + 1, dtype)
    for i in set(ids):
        mean = values[np.array(ids) == i].mean(dtype=np.complex128)
        wanted[i] = (mean if dtype is np.complex64 else mean.real).astype(dtype)
    found = tf.math.segment_mean(values, ids)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(tf.math.segment_mean(values[:, None], ids)[:, 0], wanted)
    assert found.dtype.as_numpy_dtype == dtype
