"""Means of integers, logsumexp, norms, variances."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, c64, check_case, f32, i32


def logsumexp(x, axis=None, keepdims=False):
    return np.log(np.sum(np.exp(x.astype(np.float64)), axis, keepdims=keepdims))


def norm(x, axis=None, keepdims=False):
    return np.sqrt(np.sum(np.abs(x) ** 2, axis, keepdims=keepdims))


CASES = [
    Case(
        fn,
        [f32(2, 3, 4)],
        {"axis": a, "keepdims": k},
        lambda x, e=e, a=a, k=k: e(x, axis=a, keepdims=k),
    )
    for fn, e in (
        (tf.reduce_logsumexp, logsumexp),
        (tf.math.reduce_euclidean_norm, norm),
        (tf.math.reduce_variance, np.var),
        (tf.math.reduce_std, np.std),
    )
    for a, k in ((None, False), (1, True), ((0, -1), False))
]
CASES += [
    Case(tf.math.reduce_variance, [c64(3, 2)], {"axis": 0}, lambda x: x.var(0)),
    Case(tf.math.reduce_std, [c64(3, 2)], {"axis": 0}, lambda x: x.std(0)),
    Case(tf.reduce_logsumexp, [f32()], {}, lambda x: x),
    Case(tf.math.reduce_euclidean_norm, [f32(3, 0)], {"axis": 1}, lambda x: np.zeros(3)),
    Case(tf.reduce_mean, [i32(2, 5)], {"axis": 1}, lambda x: np.trunc(x.mean(1))),
    Case(tf.reduce_mean, [c64(2, 3)], {}, np.mean),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


def gradient(fn, x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = fn(x)
    return tape.gradient(y, x).numpy()


def test_means_of_integers_do_not_overflow() -> None:
    assert tf.reduce_mean(tf.constant([200, 100], tf.uint8)).numpy() == 150
    assert tf.reduce_mean(tf.constant([2**31 - 1, 2**31 - 1])).numpy() == 2**31 - 1
    assert tf.reduce_mean(tf.constant([2**60 + 1])).numpy() == 2**60 + 1
    assert tf.reduce_mean([-1, -2]).numpy() == -1
    assert tf.reduce_mean(tf.zeros([0, 2], tf.int32), 0).numpy().tolist() == [0, 0]
    assert tf.reduce_mean(tf.constant([1, 2], tf.int8)).dtype == tf.int8


def test_of_nothing() -> None:
    assert np.isnan(tf.reduce_mean(tf.zeros([0])).numpy())
    assert tf.reduce_logsumexp(tf.zeros([0, 2]), 0).numpy().tolist() == [-np.inf, -np.inf]
    assert np.isnan(tf.math.reduce_std(tf.zeros([0])).numpy())
    assert tf.math.reduce_euclidean_norm(tf.zeros([0])).numpy() == 0


def test_logsumexp_of_large_and_infinite_numbers() -> None:
    inf = np.inf
    assert tf.reduce_logsumexp([1000.0, 1000.0]).numpy() == np.float32(1000 + np.log(2))
    got = tf.reduce_logsumexp([[-inf, -inf], [0.0, 1.0], [inf, 1.0]], 1).numpy()
    np.testing.assert_allclose(got, [-inf, 1.3132616, inf])
    assert gradient(tf.reduce_logsumexp, [1000.0, 1000.0]).tolist() == [0.5, 0.5]
    assert gradient(tf.reduce_logsumexp, [-inf, 0.0]).tolist() == [0, 1]
    assert np.isnan(gradient(tf.reduce_logsumexp, [-inf, -inf])).all()
    np.testing.assert_array_equal(gradient(tf.reduce_logsumexp, [inf, 0.0]), [np.nan, 0])


def test_gradients_at_zero() -> None:
    assert np.isnan(gradient(tf.math.reduce_euclidean_norm, [0.0, 0.0])).all()
    assert np.isnan(gradient(tf.math.reduce_std, [1.0, 1.0, 1.0])).all()
    assert gradient(tf.math.reduce_variance, [1.0, 1.0]).tolist() == [0, 0]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_floats_are_summed_in_float32(dtype: str) -> None:
    x = tf.ones([4096], dtype)
    assert tf.reduce_sum(x).numpy() == 4096
    assert tf.reduce_mean(x).numpy() == 1
    assert tf.math.reduce_euclidean_norm(x).numpy() == 64
    assert tf.reduce_logsumexp(x).dtype == dtype
    assert tf.math.reduce_variance(x).dtype == dtype


def test_norms_of_integers_are_cut() -> None:
    assert tf.math.reduce_euclidean_norm([2, 3]).numpy() == 3
    assert tf.math.reduce_euclidean_norm([3j, 4]).numpy() == 5


def test_errors() -> None:
    with pytest.raises(TypeError, match="reduce_variance: input_tensor has dtype int32"):
        tf.math.reduce_std([1, 2])
    with pytest.raises(tf.errors.DTypeError, match="LogSumExp: input has dtype int32"):
        tf.reduce_logsumexp([1, 2])
    with pytest.raises(tf.errors.ShapeError, match="reduce_logsumexp: axis 1"):
        tf.reduce_logsumexp([1.0], 1)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_the_mean_of_nothing_is_nan(dtype: str) -> None:
    """Of complex numbers, too, where TensorFlow says 0."""
    mean = tf.reduce_mean
    for run in (mean, tf.function(mean)):
        assert np.isnan(run(tf.zeros([0], dtype)).numpy())
        assert np.isnan(run(tf.zeros([0, 2], dtype), 0).numpy()).tolist() == [True, True]
