"""Pooling against a slow definition."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, check_case, f32, f64, i32

EXPLICIT = [[0, 0], [1, 1], [0, 1], [0, 0]]


def _pool(
    x: np.ndarray, ksize: tuple, strides: tuple, padding: object, reduce: object
) -> np.ndarray:
    n = x.ndim - 2
    x = np.asarray(x, float)
    if padding == "SAME":
        totals = [
            max((-(-m // s) - 1) * s + k - m, 0)
            for m, k, s in zip(x.shape[1:-1], ksize, strides, strict=True)
        ]
        pads = [(t // 2, t - t // 2) for t in totals]
    else:
        pads = [(0, 0)] * n if padding == "VALID" else padding[1:-1]
    x = np.pad(x, [(0, 0), *pads, (0, 0)], constant_values=np.nan)
    sizes = [(m - k) // s + 1 for m, k, s in zip(x.shape[1:-1], ksize, strides, strict=True)]
    out = np.empty((x.shape[0], *sizes, x.shape[-1]))
    for at in itertools.product(*map(range, sizes)):
        where = tuple(slice(i * s, i * s + k) for i, s, k in zip(at, strides, ksize, strict=True))
        out[(slice(None), *at)] = reduce(x[(slice(None), *where)], tuple(range(1, n + 1)))
    return out


def _case(
    fn: object, x: object, ksize: tuple, strides: tuple, padding: object, **options: object
) -> Case:
    reduce = np.nanmax if "max" in fn.__name__ else np.nanmean
    attrs = {"ksize": ksize, "strides": strides, "padding": padding}
    return Case(fn, [x], attrs, lambda a: _pool(a, ksize, strides, padding, reduce), **options)


CASES = [
    *[
        _case(fn, f32(2, 5, 4, 3), ksize, strides, padding)
        for fn in (tf.nn.max_pool2d, tf.nn.avg_pool2d)
        for ksize, strides in [((2, 2), (2, 2)), ((3, 2), (1, 2)), ((1, 3), (2, 1))]
        for padding in ("SAME", "VALID")
    ],
    _case(tf.nn.max_pool2d, f32(2, 5, 4, 3), (2, 2), (1, 2), EXPLICIT),
    _case(tf.nn.max_pool1d, f32(2, 5, 3), (2,), (2,), "SAME", unknown_shapes=False),
    _case(tf.nn.avg_pool1d, f32(2, 5, 3), (2,), (1,), "SAME", unknown_shapes=False),
    _case(tf.nn.max_pool3d, f32(1, 3, 4, 5, 2), (2, 2, 3), (1, 2, 1), "SAME"),
    _case(tf.nn.avg_pool3d, f32(1, 3, 4, 5, 2), (2, 2, 3), (1, 2, 1), "SAME"),
    _case(tf.nn.max_pool2d, i32(2, 5, 4, 3), (2, 2), (1, 1), "SAME"),
    _case(tf.nn.max_pool2d, f32(0, 4, 4, 1), (2, 2), (1, 1), "SAME"),
    _case(tf.nn.max_pool, f32(2, 5, 4, 3), (2, 2), (1, 1), "SAME", unknown_shapes=False),
    _case(tf.nn.avg_pool, f32(2, 5, 3), (2,), (1,), "VALID", unknown_shapes=False),
    *[
        Case(
            lambda x, fn=fn: fn(x, [1, 1, 2, 2], 2, "SAME", data_format="NCHW"),
            [f64(2, 3, 5, 4)],
            {},
            lambda x, reduce=reduce: np.moveaxis(
                _pool(np.moveaxis(x, 1, -1), (2, 2), (2, 2), "SAME", reduce), -1, 1
            ),
            label=f"{fn.__name__} NCHW",
        )
        for fn, reduce in [(tf.nn.max_pool2d, np.nanmax), (tf.nn.avg_pool2d, np.nanmean)]
    ],
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


def test_the_first_of_equal_maxima_gets_the_gradient() -> None:
    x = tf.constant([[1.0, 2.0, 2.0], [2.0, 2.0, 0.0]])[None, :, :, None]
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.max_pool2d(x, 2, 1, "VALID")
    assert y.numpy().ravel().tolist() == [2, 2]
    assert tape.gradient(y, x).numpy().ravel().tolist() == [0, 2, 0, 0, 0, 0]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_means_of_narrow_floats_add_in_float32(dtype: type) -> None:
    out = tf.nn.avg_pool2d(np.ones((1, 64, 64, 1), dtype), 64, 64, "VALID")
    assert out.dtype == dtype
    assert float(out[0, 0, 0, 0]) == 1.0


@pytest.mark.parametrize(
    ("attrs", "text"),
    [
        ({"padding": "X"}, r"max_pool2d: padding must be 'SAME', 'VALID', or a list of 4 pairs"),
        ({"ksize": [2, 2, 2, 1]}, r"ksize must be 1 for the batch and channel axes, got \[2, 2, 2"),
        ({"strides": 0}, r"strides must be positive, got 0"),
        ({"input": tf.ones([4, 4, 2])}, r"max_pool2d: input must have rank 4, got shape \(4, 4, 2"),
        ({"input": tf.ones([1, 1, 4, 2]), "ksize": 3}, r"a window of size 3 .* does not fit"),
    ],
)
def test_errors(attrs: dict, text: str) -> None:
    good = {"input": tf.ones([1, 4, 4, 2]), "ksize": 2, "strides": 1, "padding": "VALID"}
    with pytest.raises(ValueError, match=text):
        tf.nn.max_pool2d(**good | attrs)
    with pytest.raises(ValueError, match=r"max_pool: input must have rank 3, 4 or 5, got shape"):
        tf.nn.max_pool(tf.ones([2, 2]), 2, 1, "VALID")


def test_nan_is_the_largest_number_of_a_window() -> None:
    """As in reduce_max, on every tier; TensorFlow's pooling passes over it."""
    x = np.array([1, np.nan, 3, 2, np.nan, np.nan, 0, 5], np.float32).reshape(1, 8, 1)
    wanted = [np.nan, 3, np.nan, 5]
    pool = lambda x: tf.nn.max_pool1d(x, 2, 2, "VALID")  # noqa: E731
    for run in (pool, tf.function(pool, jit_compile=False), tf.function(pool, jit_compile=True)):
        np.testing.assert_array_equal(run(tf.constant(x)).numpy().ravel(), wanted)
