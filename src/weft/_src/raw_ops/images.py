"""Raw ops on images, and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import weft as tf
from weft._src.core.aliases import TensorLike
from weft._src.ops.image import (
    images as checks,
    kernels,
    projecting,
    resampling,
    resizing,
    suppression,
)
from weft._src.raw_ops.gradients import pulled_back


def _batch(op: str, images: TensorLike) -> tf.Tensor:
    x = tf.convert_to_tensor(images)
    if x.shape.rank not in (None, 4):
        raise tf.errors.ShapeError(f"{op}: images must have rank 4, got shape {x.shape}.")
    return x


def _resize(op: str, kind: str) -> Callable[..., tf.Tensor]:
    """The raw op that resizes by one kernel."""

    def resize(
        images: TensorLike,
        size: TensorLike,
        align_corners: bool = False,
        half_pixel_centers: bool = False,
        name: str | None = None,
    ) -> tf.Tensor:
        if align_corners and half_pixel_centers:
            raise ValueError(f"{op}: align_corners and half_pixel_centers exclude each other.")
        wanted = checks.wanted_sizes(op, size)
        return resizing.resample_axes(
            _batch(op, images),
            wanted,
            kind=kind,
            antialias=False,
            align_corners=bool(align_corners),
            half_pixel_centers=bool(half_pixel_centers),
        )

    return resize


resize_bilinear = _resize("ResizeBilinear", "linear")
resize_nearest = _resize("ResizeNearestNeighbor", "nearest")
resize_bicubic = _resize("ResizeBicubic", "cubic")
resize_area = _resize("ResizeArea", "area")


def scale_and_translate(
    images: TensorLike,
    size: TensorLike,
    scale: TensorLike,
    translation: TensorLike,
    kernel_type: str = "lanczos3",
    antialias: bool = True,
    name: str | None = None,
) -> tf.Tensor:
    op = "ScaleAndTranslate"
    x = _batch(op, images)
    if kernel_type not in kernels.KERNELS:
        raise ValueError(
            f"{op}: kernel_type must be one of {', '.join(kernels.KERNELS)}, got {kernel_type!r}."
        )
    factors = tf.convert_to_tensor(scale, dtype_hint=tf.float32)
    moves = tf.convert_to_tensor(translation, dtype_hint=tf.float32)
    for axis, wanted in enumerate(checks.wanted_sizes(op, size)):
        sizes = [tf.shape(x)[axis - 3], tf.convert_to_tensor(wanted, dtype_hint=tf.int32)]
        form: dict[str, Any] = {"kind": kernel_type, "antialias": bool(antialias)}
        bands = resampling.placing_band_op(*sizes, factors[axis], moves[axis], **form)
        x = resampling.resample_op(x, *bands, axis=axis - 3)
    return x


def adjust_hue(images: TensorLike, delta: TensorLike, name: str | None = None) -> tf.Tensor:
    return tf.image.adjust_hue(_floating("AdjustHue", images), delta)


def adjust_saturation(images: TensorLike, scale: TensorLike, name: str | None = None) -> tf.Tensor:
    return tf.image.adjust_saturation(_floating("AdjustSaturation", images), scale)


def adjust_contrast(
    images: TensorLike, contrast_factor: TensorLike, name: str | None = None
) -> tf.Tensor:
    return tf.image.adjust_contrast(_floating("AdjustContrastv2", images), contrast_factor)


def _floating(op: str, images: TensorLike) -> tf.Tensor:
    """Raw ops do not convert integers to floats from 0 to 1, so they refuse them."""
    x = tf.convert_to_tensor(images)
    if not x.dtype.is_floating:
        raise tf.errors.DTypeError(f"{op}: images must be floating, got dtype {x.dtype.name}.")
    return x


def projective_transform(
    images: TensorLike,
    transforms: TensorLike,
    output_shape: TensorLike,
    interpolation: str,
    fill_mode: str = "CONSTANT",
    fill_value: TensorLike = 0.0,
    name: str | None = None,
) -> tf.Tensor:
    return projecting.image_projective_transform(
        images, transforms, output_shape, fill_value, interpolation, fill_mode
    )


def suppressed(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike,
    score_threshold: TensorLike,
    soft_nms_sigma: TensorLike,
    pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    return suppression.suppressed(
        "NonMaxSuppressionV5",
        boxes,
        scores,
        max_output_size,
        iou_threshold,
        score_threshold,
        soft_nms_sigma,
        pad=bool(pad_to_max_output_size),
    )


def sampled_box(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    min_object_covered: TensorLike = 0.1,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
    **ranges: Any,
) -> Any:
    """Two seeds are used as they are."""
    pair = (int(seed), int(seed2)) if seed or seed2 else 0
    return tf.image.sample_distorted_bounding_box(
        image_size, bounding_boxes, pair, min_object_covered, name=name, **ranges
    )


def glimpse(
    input: TensorLike,
    size: TensorLike,
    offsets: TensorLike,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> tf.Tensor:
    """Noise is uniform if either argument says so."""
    kind = "uniform" if uniform_noise else noise
    return tf.image.extract_glimpse(input, size, offsets, centered, normalized, kind, name)


# --- gradients -----------------------------------------------------------------------------------


def of_resize_bilinear(
    grads: TensorLike,
    original_image: TensorLike,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    return _of_resized(resize_bilinear, grads, original_image, align_corners, half_pixel_centers)


def of_resize_bicubic(
    grads: TensorLike,
    original_image: TensorLike,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    return _of_resized(resize_bicubic, grads, original_image, align_corners, half_pixel_centers)


def _of_resized(function: Any, grads: Any, original: Any, corners: bool, centers: bool) -> Any:
    g = tf.convert_to_tensor(grads)
    sizes = tf.shape(g)[1:3]
    return pulled_back(lambda x: function(x, sizes, corners, centers), original, g)


def of_resize_nearest(
    grads: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    """The size is that of the images before they were resized."""
    g = tf.convert_to_tensor(grads)
    wanted, sizes = tf.convert_to_tensor(size, dtype_hint=tf.int32), tf.shape(g)
    before = tf.zeros(tf.concat([sizes[:1], wanted, sizes[3:]], 0), g.dtype)
    corners, centers = align_corners, half_pixel_centers
    return pulled_back(lambda x: resize_nearest(x, sizes[1:3], corners, centers), before, g)


def of_scale_and_translate(
    grads: TensorLike,
    original_image: TensorLike,
    scale: TensorLike,
    translation: TensorLike,
    kernel_type: str = "lanczos3",
    antialias: bool = True,
    name: str | None = None,
) -> tf.Tensor:
    g = tf.convert_to_tensor(grads)
    sizes = tf.shape(g)[1:3]

    def placed(x: tf.Tensor) -> tf.Tensor:
        return scale_and_translate(x, sizes, scale, translation, kernel_type, antialias)

    return pulled_back(placed, original_image, g)


def of_cropped_images(
    grads: TensorLike,
    boxes: TensorLike,
    box_ind: TensorLike,
    image_size: Any,
    T: Any,
    method: str = "bilinear",
    name: str | None = None,
) -> tf.Tensor:
    g = tf.convert_to_tensor(grads)
    sizes = tf.shape(g)[1:3]

    def cropped(x: tf.Tensor) -> tf.Tensor:
        return tf.image.crop_and_resize(x, boxes, box_ind, sizes, method)

    return pulled_back(cropped, tf.zeros(image_size, T), g)


def of_cropped_boxes(
    grads: TensorLike,
    image: TensorLike,
    boxes: TensorLike,
    box_ind: TensorLike,
    method: str = "bilinear",
    name: str | None = None,
) -> tf.Tensor:
    g = tf.convert_to_tensor(grads)
    sizes = tf.shape(g)[1:3]

    def cropped(x: tf.Tensor) -> tf.Tensor:
        return tf.image.crop_and_resize(image, x, box_ind, sizes, method)

    return pulled_back(cropped, boxes, g)
