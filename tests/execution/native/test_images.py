"""Images as machine code."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.image_calls import METHODS, image
from support.native import check

I = tf.image


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_resizing_is_compiled_as_a_whole(method: str, antialias: bool) -> None:
    for shape, size in (((2, 9, 7, 3), (5, 11)), ((40, 6, 1), (3, 4))):
        check(
            lambda x, size=size: I.resize(x, size, method, antialias=antialias),
            image(*shape),
            rtol=1e-5,
            atol=1e-6,
        )


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float16", "float64"])
def test_resizing_other_dtypes(dtype: str) -> None:
    x = image(2, 5, 7, 3, dtype=dtype, low=0, high=200)
    check(lambda x: I.resize(x, (3, 9)), x, rtol=1e-5, atol=1e-5)


def test_gradients_of_resizing() -> None:
    def slope(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(I.resize(x, (4, 5), "bicubic", antialias=True) ** 2)
        return tape.gradient(y, x)

    check(slope, image(2, 9, 6, 1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: I.adjust_hue(x, 0.2),
        lambda x: I.adjust_saturation(x, 1.5),
        lambda x: I.adjust_contrast(x, 1.5),
        lambda x: I.adjust_brightness(x, 0.1),
        lambda x: I.rgb_to_hsv(x),
        lambda x: I.hsv_to_rgb(x),
        lambda x: I.rgb_to_grayscale(x),
        lambda x: I.per_image_standardization(x),
        lambda x: I.flip_left_right(x),
        lambda x: I.rot90(x),
        lambda x: I.central_crop(x, 0.5),
        lambda x: I.resize_with_crop_or_pad(x, 4, 9),
        lambda x: I.sobel_edges(x),
        lambda x: I.extract_patches(x, [1, 2, 3, 1], [1, 1, 2, 1], [1, 1, 1, 1], "SAME"),
        lambda x: I.resize_with_pad(x, 4, 9),
    ],
)
def test_changes_are_compiled_as_a_whole(change) -> None:
    check(change, image(2, 6, 5, 3), rtol=1e-4, atol=1e-5, signs=False)


def test_bands_that_do_not_fit_are_refused_on_every_tier() -> None:
    from weft._src.ops.image.resampling import resample_op

    def moved(x: tf.Tensor, starts: tf.Tensor) -> tf.Tensor:
        weights = tf.ones([2, 2])
        return resample_op(x, starts, weights, starts, weights, axis=0)

    x = image(4, 3)
    check(moved, x, np.array([0, 2], np.int32), rtol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="resample: a band reads"):
        moved(tf.constant(x), tf.constant([0, 3]))
    compiled = tf.function(moved, jit_compile=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="resample: a band reads"):
        compiled(tf.constant(x), tf.constant([0, 3]))
