"""Convolutions against a slow definition."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, check_case, f32, f64
from weft._src.ops.nn import window_products

EXPLICIT = [[0, 0], [1, 2], [0, 1], [0, 0]]


def _paddings(
    sizes: tuple, window: tuple, strides: tuple, dilations: tuple, padding: object
) -> list:
    if padding == "VALID":
        return [(0, 0)] * len(sizes)
    if padding != "SAME":
        return padding[1:-1]
    out = []
    for n, k, s, d in zip(sizes, window, strides, dilations, strict=True):
        total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        out.append((total // 2, total - total // 2))
    return out


def slow_convolution(
    x: np.ndarray, filters: np.ndarray, strides: tuple, padding: object, dilations: tuple
) -> np.ndarray:
    """Window by window; channels last; groups if the filters are for fewer channels."""
    n = x.ndim - 2
    window = filters.shape[:n]
    pads = _paddings(x.shape[1:-1], window, strides, dilations, padding)
    x = np.pad(x, [(0, 0), *pads, (0, 0)])
    spans = [(k - 1) * d + 1 for k, d in zip(window, dilations, strict=True)]
    sizes = [(m - k) // s + 1 for m, k, s in zip(x.shape[1:-1], spans, strides, strict=True)]
    groups = x.shape[-1] // filters.shape[-2]
    width, width_in = filters.shape[-1] // groups, int(np.prod(filters.shape[:-1]))
    out = np.zeros((x.shape[0], *sizes, filters.shape[-1]))
    for at in itertools.product(*map(range, sizes)):
        where = tuple(
            slice(i * s, i * s + k, d)
            for i, s, k, d in zip(at, strides, spans, dilations, strict=True)
        )
        for g in range(groups):
            part = slice(g * filters.shape[-2], (g + 1) * filters.shape[-2])
            outputs = slice(g * width, (g + 1) * width)
            patch = x[(slice(None), *where, part)]
            patch = patch.reshape(x.shape[0], width_in)
            out[(slice(None), *at, outputs)] = patch @ filters[..., outputs].reshape(-1, width)
    return out


def _case(
    x: object,
    f: object,
    strides: tuple,
    padding: object,
    dilations: tuple = (1, 1),
    **options: object,
) -> Case:
    attrs = {"strides": strides, "padding": padding, "dilations": dilations}

    def expect(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return slow_convolution(a, b, strides, padding, dilations)

    return Case(tf.nn.conv2d, [x, f], attrs, expect, rtol=1e-4, atol=1e-5, **options)


CASES = [
    _case(f32(2, 5, 4, 3), f32(3, 2, 3, 2), (1, 1), "VALID"),
    _case(f32(2, 5, 4, 3), f32(3, 2, 3, 2), (1, 1), "SAME"),
    _case(f64(2, 5, 6, 1), f64(2, 3, 1, 2), (2, 3), "SAME"),
    _case(f64(2, 5, 6, 1), f64(2, 3, 1, 2), (2, 1), EXPLICIT),
    _case(f64(1, 7, 6, 2), f64(3, 2, 2, 1), (1, 1), "SAME", (2, 3)),
    _case(f64(1, 7, 6, 2), f64(3, 2, 2, 1), (1, 1), "VALID", (2, 1)),
    _case(f32(2, 4, 5, 3), f32(1, 1, 3, 2), (1, 1), "SAME", label="1 x 1"),
    _case(f64(1, 4, 5, 4), f64(2, 2, 2, 6), (1, 1), "SAME", label="groups", unknown_shapes=False),
    _case(f32(0, 4, 5, 1), f32(2, 2, 1, 2), (1, 1), "VALID", label="empty batch", grad=False),
    _case(f32(2, 2, 3, 1), f32(3, 2, 1, 2), (1, 1), "VALID", label="no window fits", grad=False),
    Case(
        lambda x, f: tf.nn.conv2d(x, f, [1, 1, 2, 1], "SAME", data_format="NCHW"),
        [f64(2, 3, 5, 4), f64(3, 2, 3, 2)],
        {},
        lambda x, f: np.moveaxis(
            slow_convolution(np.moveaxis(x, 1, -1), f, (2, 1), "SAME", (1, 1)), -1, 1
        ),
        label="NCHW",
    ),
    Case(
        tf.nn.conv1d,
        [f32(2, 7, 3), f32(3, 3, 2)],
        {"stride": 2, "padding": "SAME"},
        lambda x, f: slow_convolution(x, f, (2,), "SAME", (1,)),
        unknown_shapes=False,
    ),
    Case(
        tf.nn.conv1d,
        [f32(2, 7, 3), f32(3, 3, 2)],
        {"stride": 1, "padding": "VALID", "dilations": 2},
        lambda x, f: slow_convolution(x, f, (1,), "VALID", (2,)),
    ),
    Case(
        tf.nn.conv3d,
        [f64(1, 3, 4, 5, 2), f64(2, 2, 3, 2, 1)],
        {"strides": [1, 1, 2, 1, 1], "padding": "SAME"},
        lambda x, f: slow_convolution(x, f, (1, 2, 1), "SAME", (1, 1, 1)),
        second=False,
    ),
    *[
        Case(
            tf.nn.conv2d_transpose,
            [f64(2, 3, 2, 2), f64(3, 2, 1, 2)],
            {"output_shape": shape, "strides": strides, "padding": padding},
        )
        for shape, strides, padding in [
            ([2, 3, 2, 1], 1, "SAME"),
            ([2, 6, 4, 1], 2, "SAME"),
            ([2, 5, 3, 1], 2, "SAME"),
            ([2, 7, 4, 1], 2, "VALID"),
        ]
    ],
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


def test_transpose_is_the_transpose() -> None:
    rng = np.random.default_rng(5)
    x, f, y = (
        rng.normal(size=(1, 5, 6, 2)),
        rng.normal(size=(3, 2, 2, 4)),
        rng.normal(size=(1, 3, 3, 4)),
    )
    there = tf.nn.conv2d(x, f, 2, "SAME").numpy()
    back = tf.nn.conv2d_transpose(y, f, x.shape, 2, "SAME").numpy()
    np.testing.assert_allclose(np.sum(there * y), np.sum(x * back))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_floats_add_in_float32(dtype: type) -> None:
    out = tf.nn.conv2d(np.ones((1, 64, 64, 1), dtype), np.ones((64, 64, 1, 1), dtype), 1, "VALID")
    assert out.dtype == dtype
    assert float(out[0, 0, 0, 0]) == 4096


@pytest.mark.parametrize("places", [1, 2, 13, 40])  # a row, some of an image, some images
@pytest.mark.parametrize("strides", [(1, 1), (2, 1)])
@pytest.mark.parametrize("shared_from", [0, 1 << 30])
def test_large_outputs_are_computed_in_parts(
    monkeypatch: pytest.MonkeyPatch, places: int, strides: tuple[int, int], shared_from: int
) -> None:
    monkeypatch.setattr(window_products, "_PIECE", places * 4)
    monkeypatch.setattr(window_products, "_SHARED_FROM", shared_from)
    check_case(_case(f64(5, 6, 2, 1), f64(2, 2, 1, 3), strides, "SAME", second=False))


def test_strides_in_all_their_forms() -> None:
    x, f = tf.ones([1, 4, 6, 1]), tf.ones([2, 2, 1, 1])
    shapes = [
        tf.nn.conv2d(x, f, s, "VALID").shape.as_list()
        for s in (2, [2], [2, 2], (1, 2, 2, 1), np.array([2, 2]))
    ]
    assert shapes == [[1, 2, 3, 1]] * 5


@pytest.mark.parametrize(
    ("attrs", "text"),
    [
        ({"padding": "X"}, r"conv2d: padding must be 'SAME', 'VALID', or a list of 4 pairs"),
        ({"padding": [[1, 0], [0, 0], [0, 0], [0, 0]]}, r"\[0, 0\] for the batch and channel axes"),
        ({"strides": [2, 1, 1, 1]}, r"strides must be 1 for the batch and channel axes, got \[2,"),
        ({"strides": 0}, r"strides must be positive, got 0"),
        ({"strides": [1, 2, 3]}, r"strides must have 1, 2 or 4 numbers, got \[1, 2, 3\]"),
        ({"data_format": "NHCW"}, r"data_format must be 'NHWC' or 'NCHW', got 'NHCW'"),
        ({"input": tf.ones([4, 4, 2])}, r"conv2d: input must have rank 4, got shape \(4, 4, 2\)"),
        ({"input": tf.ones([1, 4, 4, 3])}, r"input has 3 channels and filters are for 2"),
        ({"input": tf.ones([1, 1, 4, 2])}, r"a window of size 3 .* does not fit an axis of size 1"),
    ],
)
def test_errors(attrs: dict, text: str) -> None:
    good = {"input": tf.ones([1, 4, 4, 2]), "filters": tf.ones([3, 2, 2, 1]), "strides": 1}
    with pytest.raises(ValueError, match=text):
        tf.nn.conv2d(**good | {"padding": "VALID"} | attrs)


def test_transpose_refuses_a_shape_that_does_not_fit() -> None:
    with pytest.raises(ValueError, match="the output and its gradient must have equal shapes"):
        tf.nn.conv2d_transpose(tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), [1, 9, 6, 1], 2)


def test_no_channels_are_no_groups_of_channels() -> None:
    with pytest.raises(ValueError, match="input has 0 channels and filters are for 3"):
        tf.nn.conv1d(tf.ones([1, 7, 0]), tf.ones([3, 3, 1]), 1, "VALID")


@pytest.mark.parametrize("padding", ["same", None, 3])
def test_other_paddings(padding: object) -> None:
    image, kernel = tf.ones([1, 3, 3, 1]), tf.ones([1, 1, 1, 1])
    for call in (
        lambda: tf.nn.conv2d(image, kernel, 1, padding),
        lambda: tf.nn.max_pool2d(image, 1, 1, padding),
    ):
        with pytest.raises(ValueError, match="'SAME', 'VALID', or a list of 4 pairs") as caught:
            call()
        assert not isinstance(caught.value, tf.errors.ShapeError)
