"""argmax, argmin, sort, argsort, top_k, searchsorted, unique."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, boolean, check_case, f32, i32
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.tracing import trace

nan, inf = np.nan, np.inf


def descending(x, axis):
    n = x.shape[axis]
    return n - 1 - np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)


CASES = [
    *[
        Case(fn, [s], {"axis": a}, lambda x, e=e, a=a: e(x, 0 if a is None else a))
        for fn, e in ((tf.argmax, np.argmax), (tf.argmin, np.argmin))
        for s, a in ((f32(3, 4, 2), 1), (i32(3, 4), None), (f32(3, 4), -1), (boolean(5), 0))
    ],
    Case(tf.argmax, [f32(0, 3)], {"axis": 1, "output_type": tf.int32}, lambda x: x.argmax(1)),
    *[Case(tf.sort, [f32(3, 4, 2)], {"axis": a}, lambda x, a=a: np.sort(x, a)) for a in (-1, 0, 1)],
    Case(
        tf.sort,
        [f32(3, 4)],
        {"axis": 0, "direction": "DESCENDING"},
        lambda x: np.sort(x, 0)[::-1],
    ),
    Case(tf.sort, [i32(9)], {"direction": "DESCENDING"}, lambda x: np.sort(x)[::-1]),
    Case(tf.sort, [f32(3, 0)], {}, lambda x: x),
    *[
        Case(
            tf.argsort,
            [i32(3, 9, low=0, high=3)],
            {"axis": a},
            lambda x, a=a: np.argsort(x, a, kind="stable"),
        )
        for a in (-1, 0)
    ],
    Case(
        tf.argsort,
        [i32(3, 9, low=0, high=3)],
        {"direction": "DESCENDING", "axis": 1},
        lambda x: descending(x, 1),
    ),
    *[
        Case(
            tf.math.top_k,
            [f32(3, 5)],
            {"k": k},
            lambda x, k=k: [
                np.take_along_axis(x, descending(x, 1), 1)[:, :k],
                descending(x, 1)[:, :k],
            ],
        )
        for k in (0, 1, 3, 5)
    ],
    Case(
        tf.nn.top_k,
        [i32(9, low=0, high=4), np.int32(4)],
        {"index_type": tf.int64},
        lambda x, k: [x[descending(x, 0)][:4], descending(x, 0)[:4]],
        label="top_k by a tensor",
    ),
    *[
        Case(
            lambda s, v, side=side: tf.searchsorted(tf.sort(s), v, side),
            [f32(5), f32(3)],
            {},
            lambda s, v, side=side: np.searchsorted(np.sort(s), v, side),
            grad=False,
            label=f"searchsorted {side}",
        )
        for side in ("left", "right")
    ],
    Case(
        tf.searchsorted,
        [np.array([[1, 3], [2, 4]]), np.array([[3, 1, 2], [1, 2, 5]])],
        {"out_type": tf.int64},
        lambda s, v: np.array([[1, 0, 1], [0, 0, 2]]),
        label="searchsorted rows",
    ),
    Case(
        tf.unique_with_counts,
        [np.array([3, 1, 3, 2, 1, 3])],
        {},
        lambda x: [np.array([3, 1, 2]), np.array([0, 1, 0, 2, 1, 0]), np.array([3, 2, 1])],
        label="unique_with_counts",
    ),
    Case(
        tf.unique,
        [np.zeros(0, np.int32)],
        {"out_idx": tf.int64},
        lambda x: [x, x],
        label="unique of nothing",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


@pytest.mark.parametrize(
    ("x", "largest", "smallest"),
    [
        ([1.0, nan, 3.0], 2, 0),
        ([nan, 1.0, 3.0], 2, 1),
        ([3.0, nan, 1.0], 0, 2),
        ([nan, nan], 0, 0),
        ([nan, -inf], 0, 1),
        ([-inf, -inf], 0, 0),
    ],
)
def test_nan_is_neither_largest_nor_smallest(x, largest, smallest) -> None:
    # The one exception is an array of nothing but NaN and the worst number.
    assert tf.argmax(x).numpy() == largest
    assert tf.argmin(x).numpy() == smallest


def test_nan_is_sorted_as_the_largest() -> None:
    np.testing.assert_array_equal(tf.sort([3.0, nan, 1.0]).numpy(), [1, 3, nan])
    np.testing.assert_array_equal(tf.sort([3.0, nan, 1.0], -1, "DESCENDING").numpy(), [nan, 3, 1])
    assert tf.argsort([3.0, nan, 1.0]).numpy().tolist() == [2, 0, 1]
    values, indices = tf.math.top_k([nan, 1.0, 2.0, 3.0], 2)
    np.testing.assert_array_equal(values.numpy(), [nan, 3])
    assert indices.numpy().tolist() == [0, 3]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "uint8", "int64", "float64"])
def test_dtypes(dtype: str) -> None:
    x = tf.constant([3, 1, 2], dtype)
    assert tf.sort(x).dtype == dtype
    assert tf.sort(x).numpy().tolist() == [1, 2, 3]
    assert tf.argsort(x, direction="DESCENDING").numpy().tolist() == [0, 2, 1]
    assert tf.argmax(x, output_type=tf.uint16).dtype == tf.uint16
    values, indices = tf.math.top_k(x, 2)
    assert (values.dtype, indices.dtype) == (dtype, tf.int32)


def test_unique_of_strings_and_odd_floats() -> None:
    y, idx = tf.unique(["b", "a", "b"])
    assert (y.numpy().tolist(), idx.numpy().tolist()) == ([b"b", b"a"], [0, 1, 0])
    assert tf.unique([nan, nan]).y.shape == (2,)
    assert tf.unique([0.0, -0.0]).y.shape == (1,)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.argmax(tf.zeros([0, 3])), r"argmax: axis 0 of shape \(0, 3\) is empty"),
        (lambda: tf.argmin(1), "argmin: axis 0 is out of range"),
        (lambda: tf.argmax([1], axis=1), r"argmax: axis 1 .*\[-1, 1\)"),
        (lambda: tf.sort(3), "sort: axis -1 is out of range"),
        (lambda: tf.argsort([3], axis=1), r"sort: axis 1 .*\[-1, 1\)"),
        (lambda: tf.math.top_k([1, 2], 3), "k must be between 0 and .*2, got 3"),
        (lambda: tf.math.top_k([1, 2], -1), "top_k: k must be.*got -1"),
        (lambda: tf.math.top_k(1, 1), "top_k: input must have rank at least 1"),
        (lambda: tf.math.top_k([1, 2], [1]), "top_k: k must have rank 0"),
        (lambda: tf.searchsorted([1, 2], 1), "searchsorted: .*leading axes"),
        (lambda: tf.searchsorted(tf.zeros([2, 3]), tf.zeros([3, 3])), r"\(2, 3\) and \(3, 3\)"),
        (lambda: tf.unique([[1]]), r"unique: x must be a vector, got shape \(1, 1\)"),
    ],
)
def test_shape_errors(call, text) -> None:
    with pytest.raises(tf.errors.ShapeError, match=text):
        call()


def test_other_errors() -> None:
    with pytest.raises(ValueError, match="sort: direction must be .*got 'x'"):
        tf.sort([1], direction="x")
    with pytest.raises(
        tf.errors.DTypeError, match="argmin: output_type must be one of int32, int64"
    ):
        tf.argmin([1], output_type=tf.int16)
    with pytest.raises(tf.errors.DTypeError, match="input has dtype string"):
        tf.argmax(["a"])
    with pytest.raises(ValueError, match="side must be"):
        tf.searchsorted([1], [1], side="middle")
    plan = NumpyPlan(trace(tf.argmax, [tf.TensorSpec(None)]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="is empty"):
        plan(np.zeros(0, np.float32))
    plan = NumpyPlan(trace(tf.math.top_k, [tf.TensorSpec(None), tf.TensorSpec(None, tf.int32)]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="got 3"):
        plan(np.zeros(2, np.float32), np.int32(3))


@pytest.mark.parametrize("shape", [(3000,), (2, 4096), (3, 2, 2500)])
def test_few_of_many_elements_are_found_as_sorting_would(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).integers(0, 40, shape).astype(np.float32)  # many are equal
    order = descending(x, x.ndim - 1)[..., :9]
    values, indices = tf.math.top_k(x, 9)
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, -1))
    x[..., [5, 70]] = np.nan
    assert tf.math.top_k(x, 3).indices.numpy().reshape(-1, 3)[:, :2].tolist() == [[5, 70]] * (
        x.size // x.shape[-1]
    )
    assert (tf.argmax(x, -1) == np.argmax(np.nan_to_num(x, nan=-1), -1)).numpy().all()


@pytest.mark.parametrize("axis", [0, 1])
def test_nan_is_not_found_in_many_elements_either(axis: int) -> None:
    x = np.random.default_rng(3).normal(size=(170, 130)).astype(np.float32)
    x[5, 7], x[9], x[:, 3] = np.nan, np.nan, np.nan
    for function, worst in ((tf.argmax, -np.inf), (tf.argmin, np.inf)):
        plain = np.where(np.isnan(x), worst, x)
        wanted = (np.argmax if function is tf.argmax else np.argmin)(plain, axis)
        np.testing.assert_array_equal(function(x, axis), wanted)
        np.testing.assert_array_equal(function(x.T, 1 - axis), wanted)


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
)
def test_unique_integers_close_together_and_far_apart(dtype: Any) -> None:
    rng = np.random.default_rng(3)
    info = np.iinfo(dtype)
    for low, high in ((0, 9), (info.min, info.min + 40), (info.max - 40, info.max), (0, info.max)):
        for n in (1, 2, 300):
            x = rng.integers(low, high, n, dtype=dtype, endpoint=True)
            y, idx, count = tf.unique_with_counts(x)
            numbers: dict[int, int] = {}
            wanted = [numbers.setdefault(int(v), len(numbers)) for v in x]
            assert y.dtype == dtype
            assert y.numpy().tolist() == list(numbers)
            assert idx.numpy().tolist() == wanted
            assert count.numpy().tolist() == [wanted.count(i) for i in range(len(numbers))]


def test_unique_strings() -> None:
    y, idx, count = tf.unique_with_counts(["b", "a", "b", "", "a", "b"])
    assert y.numpy().tolist() == [b"b", b"a", b""]
    assert idx.numpy().tolist() == [0, 1, 0, 2, 1, 0]
    assert count.numpy().tolist() == [3, 2, 1]


def test_dtypes_of_places() -> None:
    with pytest.raises(tf.errors.DTypeError, match="top_k: index_type must be one of int16, int32"):
        tf.math.top_k([1, 2], 1, index_type=tf.float32)
    with pytest.raises(tf.errors.DTypeError, match="argmin: output_type must be one of int32"):
        tf.argmin([1, 2], output_type=tf.float32)


@pytest.mark.parametrize("classes", [1, 7, 8, 9, 300, 2040, 2041, 2100])
def test_in_top_k_counts_all_classes(classes: int) -> None:
    rng = np.random.default_rng(classes)
    x = rng.permuted(np.tile(np.arange(classes, dtype=np.float32), (6, 1)), axis=1)
    targets = rng.integers(0, classes, 6)
    ranks = classes - 1 - x[np.arange(6), targets]
    for k in {0, 1, 3, 255, 256, classes - 1, classes, *ranks.astype(int).tolist()}:
        found = tf.math.in_top_k(targets, x, k).numpy()
        np.testing.assert_array_equal(found, ranks < k)
    x[1, 0], x[2, -1], x[3, classes // 2] = np.nan, np.inf, -np.inf
    found = tf.math.in_top_k(targets, x, classes).numpy()
    assert found.tolist() == [True, False, False, False, True, True]
    least = tf.math.in_top_k(np.argmin(x[[0]], 1), x[[0]], classes).numpy()
    assert least.tolist() == [True]
