"""What functions of images refuse, and what they say."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

I = tf.image
E = tf.errors

X = np.ones((4, 5, 3), np.float32)
BOX = [[0.0, 0.0, 1.0, 1.0]]
BATCH = np.ones((2, 4, 5, 3), np.float32)

REFUSED = [
    (
        lambda: I.resize(X[0], (2, 3)),
        E.ShapeError,
        "resize: images must be [height, width, channels] or a batch of these, got shape (5, 3).",
    ),
    (lambda: I.resize(X, 3), E.ShapeError, "resize: size must be [height, width], got shape ()."),
    (lambda: I.resize(X, (1, 2, 3)), E.ShapeError, "size must be [height, width], got shape (3,)."),
    (lambda: I.resize(X, (2.0, 3.0)), E.DTypeError, "size must have dtype int32, got float32"),
    (
        lambda: I.resize(X, (0, 3)),
        E.ShapeError,
        "resize: the new height must be positive, got height = 0.",
    ),
    (lambda: I.resize(X, (2, -3)), E.ShapeError, "the new width must be positive, got width = -3."),
    (
        lambda: I.resize(X[:0], (2, 3)),
        E.ShapeError,
        "resize: the old size must be positive, got 0.",
    ),
    (lambda: I.resize(X, (2, 3), "cubic"), ValueError, "method must be one of bilinear, nearest"),
    (
        lambda: I.resize(X > 0, (2, 3)),
        E.DTypeError,
        "images must hold real numbers, got dtype bool",
    ),
    (lambda: I.resize_with_pad(X, 0, 3), E.ShapeError, "target_height must be positive"),
    (lambda: I.resize_with_crop_or_pad(X, 2, 0), E.ShapeError, "target_width must be positive"),
    (
        lambda: I.resize_with_crop_or_pad(X, 2, 1.5),
        E.DTypeError,
        "target_width must have dtype int32",
    ),
    (
        lambda: I.crop_to_bounding_box(X, -1, 0, 2, 2),
        E.ShapeError,
        "crop_to_bounding_box: offset_height must not be negative, got offset_height = -1.",
    ),
    (
        lambda: I.crop_to_bounding_box(X, 1, 3, 2, 3),
        E.ShapeError,
        "the box must lie inside of the image, got width = 5, offset_width = 3, target_width = 3.",
    ),
    (
        lambda: I.pad_to_bounding_box(X, 1, 3, 4, 9),
        E.ShapeError,
        "the image must fit into the target, got height = 4, offset_height = 1, target_height = 4.",
    ),
    (lambda: I.central_crop(X, 0.0), ValueError, "central_fraction must be in (0, 1], got 0.0."),
    (lambda: I.central_crop(X, 1.5), ValueError, "central_fraction must be in (0, 1], got 1.5."),
    (
        lambda: I.flip_left_right(X[0]),
        E.ShapeError,
        "flip_left_right: image must be [height, width",
    ),
    (lambda: I.rot90(X, 0.5), E.DTypeError, "rot90: k must have dtype int32, got float32."),
    (
        lambda: I.rgb_to_hsv(X[..., :2]),
        E.ShapeError,
        "rgb_to_hsv: images must have 3 channels in the last axis, got shape (4, 5, 2).",
    ),
    (lambda: I.rgb_to_hsv(1.0), E.ShapeError, "rgb_to_hsv: images must have rank at least 1"),
    (lambda: I.rgb_to_yiq(X.astype(np.uint8)), E.DTypeError, "rgb_to_yiq: images has dtype uint8"),
    (lambda: I.grayscale_to_rgb(X), E.ShapeError, "images must have 1 channel in the last axis"),
    (lambda: I.rgb_to_grayscale(X > 0), E.DTypeError, "images must hold real numbers"),
    (
        lambda: I.convert_image_dtype(X, tf.bool),
        E.DTypeError,
        "dtype must be floating or integer, got bool",
    ),
    (lambda: I.adjust_contrast(X[0], 2.0), E.ShapeError, "images must have rank at least 3"),
    (lambda: I.adjust_contrast(X, [1.0, 2.0]), E.ShapeError, "contrast_factor must have rank 0"),
    (lambda: I.adjust_hue(X[..., :2], 0.1), E.ShapeError, "image must have 3 channels"),
    (lambda: I.adjust_hue(X, "a"), E.DTypeError, "delta must be a real number, got dtype string"),
    (lambda: I.adjust_gamma(X, -1.0), ValueError, "gamma must not be negative, got -1.0."),
    (lambda: I.random_brightness(X, -0.1), ValueError, "max_delta must not be negative"),
    (lambda: I.random_hue(X, 0.6), ValueError, "random_hue: max_delta must be at most 0.5"),
    (
        lambda: I.random_contrast(X, 0.5, 0.5),
        ValueError,
        "upper must be above lower, got 0.5 and 0.5",
    ),
    (
        lambda: I.stateless_random_saturation(X, -1.0, 0.5, (1, 2)),
        ValueError,
        "stateless_random_saturation: lower must not be negative",
    ),
    (
        lambda: I.random_crop(X, [9, 2, 3]),
        E.InvalidArgumentError,
        "size must not be larger than value",
    ),
    (lambda: I.random_crop(X, [2, 3]), E.ShapeError, "size must have one number for each axis"),
    (
        lambda: I.extract_patches(X, [1, 2, 2, 1], 1, 1, "SAME"),
        E.ShapeError,
        "images must have rank 4",
    ),
    (
        lambda: I.extract_patches(BATCH, [2, 2, 2, 1], 1, 1, "SAME"),
        E.ShapeError,
        "sizes must be 1 for the batch",
    ),
    (
        lambda: I.extract_patches(BATCH, 2, 1, 1, "FULL"),
        ValueError,
        "padding must be 'SAME' or 'VALID'",
    ),
    (
        lambda: I.crop_and_resize(BATCH, [[0.0, 0, 1, 1]], [2], (2, 2)),
        E.InvalidArgumentError,
        "crop_and_resize: box_indices must name images",
    ),
    (
        lambda: I.crop_and_resize(BATCH, [[0.0, 0, 1]], [0], (2, 2)),
        E.ShapeError,
        "boxes must have 4",
    ),
    (
        lambda: I.crop_and_resize(BATCH, [[0.0, 0, 1, 1]], [0], (2, 2), "area"),
        ValueError,
        "method must be",
    ),
    (lambda: I.sobel_edges(X), E.ShapeError, "sobel_edges: image must have rank 4"),
    (lambda: I.image_gradients(X), E.ShapeError, "image_gradients: image must have rank 4"),
    (
        lambda: I.psnr(X, tf.constant(X, tf.float64), 1.0),
        E.DTypeError,
        "both images must have one dtype",
    ),
    (lambda: I.psnr(X, X[:3], 1.0), E.ShapeError, "psnr: shapes (4, 5, 3) and (3, 5, 3)"),
    (
        lambda: I.ssim(X, X, 1.0),
        E.ShapeError,
        "ssim: images must be as large as the filter, got height = 4, filter_size = 11.",
    ),
    (lambda: I.ssim(X, X, 1.0, filter_size=0), ValueError, "filter_size must be positive, got 0."),
    (
        lambda: I.ssim_multiscale(X, X, 1.0, power_factors=()),
        ValueError,
        "power_factors must be a list",
    ),
    (
        lambda: tf.raw_ops.ResizeBilinear(images=X, size=[2, 3]),
        E.ShapeError,
        "images must have rank 4",
    ),
    (
        lambda: tf.raw_ops.ResizeBicubic(
            images=BATCH, size=[2, 3], align_corners=True, half_pixel_centers=True
        ),
        ValueError,
        "align_corners and half_pixel_centers exclude each other",
    ),
    (
        lambda: tf.raw_ops.ScaleAndTranslate(
            images=BATCH, size=[2, 3], scale=[0.0, 1.0], translation=[0.0, 0.0]
        ),
        E.ShapeError,
        "scale_and_translate: scale must be positive, got 0.0.",
    ),
    (
        lambda: tf.raw_ops.ScaleAndTranslate(
            images=BATCH, size=[2, 3], scale=[1.0, 1.0], translation=[0.0, 0.0], kernel_type="cubic"
        ),
        ValueError,
        "kernel_type must be one of lanczos1",
    ),
    (
        lambda: tf.raw_ops.AdjustHue(images=X.astype(np.uint8), delta=0.1),
        E.DTypeError,
        "images must be floating",
    ),
    (
        lambda: tf.raw_ops.ImageProjectiveTransformV2(
            images=BATCH,
            transforms=np.ones((2, 7), np.float32),
            output_shape=[2, 3],
            interpolation="NEAREST",
        ),
        E.ShapeError,
        "transforms must have 8 channels",
    ),
    (
        lambda: tf.raw_ops.ImageProjectiveTransformV2(
            images=BATCH,
            transforms=np.ones((1, 8), np.float32),
            output_shape=[2, 3],
            interpolation="CUBIC",
        ),
        ValueError,
        "interpolation must be 'NEAREST' or 'BILINEAR'",
    ),
    (
        lambda: I.non_max_suppression(BOX, [0.5], -1),
        E.ShapeError,
        "non_max_suppression: max_output_size must not be negative, got -1.",
    ),
    (
        lambda: I.non_max_suppression(BOX, [0.5], 1, iou_threshold=1.5),
        E.InvalidArgumentError,
        "iou_threshold must be in [0, 1], got 1.5.",
    ),
    (
        lambda: I.non_max_suppression(BOX, [0.5, 0.6], 1),
        E.ShapeError,
        "the numbers of boxes and scores must be equal, got 1 and 2.",
    ),
    (
        lambda: I.non_max_suppression_padded([BOX], [[0.5]], 1),
        ValueError,
        "pad_to_max_output_size must be True for batches of boxes.",
    ),
    (
        lambda: I.combined_non_max_suppression([[BOX]], [[[0.5]]], 0, 1),
        E.ShapeError,
        "sizes must be positive, got 0 and 1.",
    ),
    (
        lambda: I.draw_bounding_boxes(BATCH, [[[0.0, 0, 1, 1]]] * 2, [[1.0]]),
        E.ShapeError,
        "colors must have as many channels as images, got 1 and 3.",
    ),
    (
        lambda: I.stateless_sample_distorted_bounding_box([4, 5, 3], np.zeros((1, 0, 4)), [1, 2]),
        E.InvalidArgumentError,
        "sample_distorted_bounding_box: bounding_boxes must hold a box.",
    ),
    (
        lambda: I.stateless_sample_distorted_bounding_box([4, 5, 3], [[[0, 0, 1.5, 1]]], [1, 2]),
        E.InvalidArgumentError,
        "bounding_boxes must be from 0 to 1",
    ),
    (
        lambda: I.stateless_sample_distorted_bounding_box([0, 5, 3], [[[0.0, 0, 1, 1]]], [1, 2]),
        E.InvalidArgumentError,
        "image_size must be positive, got [0, 5, 3].",
    ),
    (
        lambda: I.stateless_sample_distorted_bounding_box([4, 5], [[[0.0, 0, 1, 1]]], [1, 2]),
        E.ShapeError,
        "the numbers in image_size and 3 must be equal",
    ),
    (
        lambda: I.sample_distorted_bounding_box([4, 5, 3], [[[0.0, 0, 1, 1]]], area_range=[0.5, 2]),
        E.InvalidArgumentError,
        "area_range must be positive and at most 1, got [0.5, 2].",
    ),
    (
        lambda: I.sample_distorted_bounding_box(
            [4, 5, 3], [[[0.0, 0, 1, 1]]], aspect_ratio_range=[0.5]
        ),
        TypeError,
        "aspect_ratio_range must be two numbers, got [0.5].",
    ),
    (
        lambda: I.sample_distorted_bounding_box([4, 5, 3], [[[0.0, 0, 1, 1]]], max_attempts=0),
        E.InvalidArgumentError,
        "max_attempts must be positive, got 0.",
    ),
    (
        lambda: I.extract_glimpse(X, [2, 2], [[0.0, 0.0]]),
        E.ShapeError,
        "extract_glimpse: input must have rank 4",
    ),
    (
        lambda: I.extract_glimpse(BATCH, [-2, 2], [[0.0, 0.0]] * 2),
        E.ShapeError,
        "extract_glimpse: the new height must be positive, got height = -2.",
    ),
    (
        lambda: I.extract_glimpse(BATCH, [2, 2], [[0.0, 0.0]] * 2, noise="pink"),
        ValueError,
        "extract_glimpse: noise must be one of uniform, gaussian, zero, got 'pink'.",
    ),
]


@pytest.mark.parametrize(("call", "kind", "text"), REFUSED, ids=[r[2][:50] for r in REFUSED])
def test_refusals(call, kind, text) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("function", "numbers", "text"),
    [
        (lambda x, n: I.crop_to_bounding_box(x, n, 0, 2, 2), 3, "the box must lie inside"),
        (lambda x, n: I.pad_to_bounding_box(x, 1, 0, n, 9), 4, "the image must fit"),
        (lambda x, n: I.resize_with_crop_or_pad(x, n, 9), 0, "target_height must be positive"),
        (lambda x, n: I.resize(x, (n, 3)), 0, "the new size must be positive"),
        (lambda x, n: I.random_crop(x, (n, 3, 3)), 5, "size must not be larger than value"),
    ],
)
def test_numbers_that_are_only_known_in_the_graph_are_checked_there(
    function, numbers, text
) -> None:
    traced = tf.function(
        function, input_signature=[tf.TensorSpec(None), tf.TensorSpec([], tf.int32)]
    )
    with pytest.raises(E.InvalidArgumentError) as caught:
        traced(X, numbers)
    assert text in str(caught.value)


def test_fractions_that_are_only_known_in_the_graph_are_checked_there() -> None:
    @tf.function(input_signature=[tf.TensorSpec([])])
    def cropped(part):
        return I.central_crop(X, part)

    assert cropped(0.5).shape == (2, 3, 3)
    with pytest.raises(E.InvalidArgumentError, match="central_fraction must be in"):
        cropped(1.5)

    @tf.function(input_signature=[tf.TensorSpec([])])
    def adjusted(gamma):
        return I.adjust_gamma(X, gamma)

    with pytest.raises(E.InvalidArgumentError, match="gamma must not be negative"):
        adjusted(-1.0)
