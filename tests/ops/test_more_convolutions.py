"""convolution, transposed, depthwise and dilated convolutions, dilation2d, pooling with places."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, check_case, f32, f64, i32

N = tf.nn
ONES = [1, 1, 1, 1]


def one_hot_filters(filters):
    """Depthwise filters as those of a whole convolution: zero between different channels."""
    h, w, c, m = filters.shape
    out = np.zeros((h, w, c, c * m), filters.dtype)
    for i in range(c):
        out[:, :, i, i * m : (i + 1) * m] = filters[:, :, i]
    return out


def whole_conv(x, filters, **options):
    return N.conv2d(x, one_hot_filters(filters), **options).numpy()


def dilated(x, filters):  # VALID, stride 1
    h, w, _ = filters.shape
    rows, columns = x.shape[1] - h + 1, x.shape[2] - w + 1
    parts = [
        x[:, i : i + rows, j : j + columns] + filters[i, j] for i in range(h) for j in range(w)
    ]
    return np.max(parts, 0)


def first(x):
    return np.moveaxis(x, -1, 1)


depthwise = [f32(2, 5, 4, 3), f32(3, 2, 3, 2)]

CASES = [
    Case(
        N.depthwise_conv2d,
        depthwise,
        {"strides": ONES, "padding": "SAME"},
        lambda x, f: whole_conv(x, f, strides=1, padding="SAME"),
        atol=1e-5,
    ),
    Case(
        N.depthwise_conv2d,
        depthwise,
        {"strides": [1, 2, 2, 1], "padding": [[0, 0], [1, 0], [2, 1], [0, 0]]},
        lambda x, f: whole_conv(x, f, strides=2, padding=[[0, 0], [1, 0], [2, 1], [0, 0]]),
        atol=1e-5,
    ),
    Case(
        N.depthwise_conv2d,
        depthwise,
        {"strides": ONES, "padding": "VALID", "dilations": [1, 2]},
        lambda x, f: whole_conv(x, f, strides=1, padding="VALID", dilations=[1, 2]),
        atol=1e-5,
    ),
    Case(
        lambda x, f: N.depthwise_conv2d(x, f, ONES, "SAME", "NCHW"),
        [f32(2, 3, 5, 4), f32(3, 2, 3, 2)],
        {},
        lambda x, f: first(whole_conv(np.moveaxis(x, 1, -1), f, strides=1, padding="SAME")),
        atol=1e-5,
    ),
    Case(
        N.separable_conv2d,
        [*depthwise, f32(1, 1, 6, 4)],
        {"strides": ONES, "padding": "SAME"},
        lambda x, f, p: whole_conv(x, f, strides=1, padding="SAME") @ p[0, 0],
        atol=1e-4,
    ),
    Case(
        N.convolution,
        [f32(2, 5, 4, 3), f32(3, 2, 3, 4)],
        {"dilations": [1, 2], "padding": "SAME"},
        lambda x, f: N.conv2d(x, f, 1, "SAME", dilations=[1, 2]).numpy(),
        unknown_rank=False,
    ),
    Case(
        N.convolution,
        [f32(2, 3, 5, 4), f32(2, 4, 3)],
        {"strides": 2},
        lambda x, f: np.stack([N.conv1d(row, f, 2, "VALID") for row in x]),
        unknown_rank=False,
    ),
    Case(
        N.atrous_conv2d,
        [f32(2, 5, 4, 3), f32(2, 2, 3, 4)],
        {"rate": 2, "padding": "VALID"},
        lambda x, f: N.conv2d(x, f, 1, "VALID", dilations=2).numpy(),
    ),
    Case(
        N.conv1d_transpose,
        [f32(2, 4, 3), f32(2, 5, 3)],
        {"output_shape": [2, 8, 5], "strides": 2},
        lambda x, f: np.einsum("nwi,koi->nwko", x, f).reshape(2, 8, 5),
        unknown_rank=False,
        atol=1e-5,
    ),
    Case(
        lambda x, f: N.conv1d_transpose(x, f, [2, 5, 8], 2, data_format="NCW"),
        [f32(2, 3, 4), f32(2, 5, 3)],
        {},
        lambda x, f: np.einsum("niw,koi->nowk", x, f).reshape(2, 5, 8),
        unknown_rank=False,
        atol=1e-5,
    ),
    Case(
        N.conv3d_transpose,
        [f32(1, 2, 1, 3, 2), f32(2, 1, 2, 4, 2)],
        {"output_shape": [1, 4, 1, 6, 4], "strides": [2, 1, 2]},
        lambda x, f: np.einsum("ndhwi,abcoi->ndahbwco", x, f).reshape(1, 4, 1, 6, 4),
        atol=1e-5,
    ),
    Case(
        N.conv_transpose,
        [f32(2, 4, 3, 2), f32(2, 2, 5, 2)],
        {"output_shape": [2, 8, 6, 5], "strides": 2},
        lambda x, f: N.conv2d_transpose(x, f, [2, 8, 6, 5], 2).numpy(),
        unknown_rank=False,
    ),
    Case(
        lambda x, f: N.dilation2d(x, f, ONES, "VALID", "NHWC", ONES),
        [f32(2, 4, 5, 3), f32(2, 3, 3)],
        {},
        dilated,
    ),
    Case(
        lambda x, f: N.erosion2d(x, f, ONES, "VALID", "NHWC", ONES),
        [f32(2, 4, 5, 3), f32(2, 3, 3)],
        {},
        lambda x, f: -dilated(-x, f[::-1, ::-1]),
    ),
    Case(
        lambda x, f: N.dilation2d(x, f, [1, 2, 1, 1], "SAME", "NHWC", [1, 1, 2, 1]),
        [f64(2, 5, 4, 3), f64(2, 2, 3)],
        label="dilation2d with strides",
    ),
    Case(
        lambda x, f: N.dilation2d(x, f, ONES, "SAME", "NHWC", ONES), [i32(1, 3, 4, 2), i32(2, 2, 2)]
    ),
    Case(
        N.max_pool_with_argmax,
        [f32(2, 5, 4, 3)],
        {"ksize": [3, 2], "strides": 2, "padding": "SAME"},
    ),
    *[
        Case(
            N.pool,
            [f32(2, 6, 5, 3)],
            {"window_shape": [2, 2], "pooling_type": kind, "dilations": [2, 1]},
            lambda x, reduce=reduce: reduce(
                [x[:, i : i + 4, j : j + 4] for i in (0, 2) for j in (0, 1)], 0
            ),
            unknown_rank=False,
        )
        for kind, reduce in (("MAX", np.max), ("AVG", np.mean))
    ],
    Case(
        lambda x: N.pool(x, [2], "MAX", [2], "SAME", "NCW"),
        [f32(2, 3, 5)],
        {},
        lambda x: (
            np.pad(x, [(0, 0), (0, 0), (0, 1)], constant_values=-9).reshape(2, 3, 3, 2).max(-1)
        ),
    ),
    Case(
        lambda x: N.pool(x, [2], "AVG", data_format="NCW", dilations=[3]),
        [f32(2, 3, 7)],
        {},
        lambda x: (x[:, :, :4] + x[:, :, 3:]) / 2,
        unknown_rank=False,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_case(case: Case) -> None:
    check_case(case)


def test_places_of_maxima() -> None:
    x = np.random.default_rng(0).normal(size=(2, 5, 4, 3)).astype(np.float32)
    for whole in (False, True):
        out, places = N.max_pool_with_argmax(x, 2, 2, "SAME", include_batch_in_index=whole)
        np.testing.assert_array_equal(out, N.max_pool2d(x, 2, 2, "SAME"))
        flat = x.reshape(-1) if whole else None
        for n in range(2):
            source = flat if whole else x[n].reshape(-1)
            np.testing.assert_array_equal(source[places[n].numpy()], out[n])
    assert N.max_pool_with_argmax(x, 2, 2, "SAME", output_dtype=tf.int32)[1].dtype is tf.int32
    low = N.max_pool_with_argmax(np.full((1, 2, 2, 1), -np.inf, np.float32), 2, 1, "SAME")[1]
    assert low.numpy().ravel().tolist() == [0, 1, 2, 3]


def test_the_first_of_equal_pixels_gets_the_gradient() -> None:
    x = tf.ones([1, 1, 3, 1])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = N.dilation2d(x, tf.zeros([1, 2, 1]), ONES, "VALID", "NHWC", ONES)
    assert tape.gradient(y, x).numpy().ravel().tolist() == [1.0, 1.0, 0.0]


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float64])
def test_dtypes(dtype: tf.DType) -> None:
    x = tf.cast(np.ones((1, 4, 4, 2)), dtype)
    filters = tf.cast(np.ones((2, 2, 2, 1)), dtype)
    assert N.depthwise_conv2d(x, filters, ONES, "SAME").dtype is dtype
    assert N.dilation2d(x, filters[..., 0], ONES, "SAME", "NHWC", ONES).dtype is dtype


def test_errors() -> None:
    x, three = np.ones((1, 4, 4, 3), np.float32), np.ones((2, 2, 3, 2), np.float32)
    for call, text in [
        (
            lambda: N.depthwise_conv2d(x, np.ones((2, 2, 4, 2)), ONES, "SAME"),
            "channels of input an",
        ),
        (lambda: N.depthwise_conv2d(x, three, [2, 1, 1, 1], "SAME"), "must be 1 for the batch"),
        (
            lambda: N.separable_conv2d(x, three, three, ONES, "SAME"),
            "two sizes of pointwise_filter",
        ),
        (lambda: N.convolution(x, [1.0]), "filters must have rank 3, 4 or 5"),
        (lambda: N.convolution(x[0], three), "input must have rank at least 4"),
        (lambda: N.atrous_conv2d(x, three, 0, "SAME"), "rate must be at least 1, got 0"),
        (lambda: N.conv1d_transpose(x[0], three[0], [4, 2], 2), "length of output_shape"),
        (
            lambda: N.dilation2d(x, three[0], ONES, "SAME", "NCHW", ONES),
            "must be 'NHWC', got 'NCHW'",
        ),
        (
            lambda: N.dilation2d(x, three[..., :2, 0], ONES, "SAME", "NHWC", ONES),
            "channels of input",
        ),
        (lambda: N.max_pool_with_argmax(x, 2, 2, "SAME", "NCHW"), "must be 'NHWC', got 'NCHW'"),
        (
            lambda: N.max_pool_with_argmax(x, 2, 2, [[0, 0]] * 4),
            "padding must be 'SAME' or 'VALID'",
        ),
        (lambda: N.pool(x, [2, 2], "SUM"), "pooling_type must be 'MAX' or 'AVG', got 'SUM'"),
        (lambda: N.pool(x, [2], "MAX"), "input must have rank 3"),
        (
            lambda: N.pool(x, [2, 2], "MAX", padding="SAME", dilations=2),
            "only possible with padding",
        ),
    ]:
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=text):
            call()
