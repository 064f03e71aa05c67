"""`tf.image.resize` and its methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src.core.aliases import TensorLike
from weft._src.core.context import init_scope
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.dtypes import float32, int32
from weft._src.core.tensor import Tensor
from weft._src.ops.elementwise import arithmetic, casting, unary
from weft._src.ops.image import cropping, images, kernels, resampling
from weft._src.ops.image.images import HEIGHT, WIDTH, Number
from weft._src.ops.indexing import gathering


class ResizeMethod:
    """The names of the methods that `tf.image.resize` has.

    >>> tf.image.ResizeMethod.BILINEAR
    'bilinear'
    """

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


# By method: the kind of band, and the one that takes the mean of what a smaller image leaves out.
_KINDS = {
    "bilinear": ("linear", "triangle"),
    "nearest": ("nearest", "nearest"),
    "bicubic": ("cubic", "keyscubic"),
    "area": ("area", "area"),
    "lanczos3": ("lanczos3", "lanczos3"),
    "lanczos5": ("lanczos5", "lanczos5"),
    "gaussian": ("gaussian", "gaussian"),
    "mitchellcubic": ("mitchellcubic", "mitchellcubic"),
}


def resample_axes(x: Tensor, sizes: tuple[Number, Number], kind: str, **form: Any) -> Tensor:
    """The images with another height and width; `form` says how (see `kernels.resizing`)."""
    for axis, size in zip((HEIGHT, WIDTH), sizes, strict=True):
        wanted = convert_to_tensor(size, dtype_hint=int32)
        if kind == "nearest":
            have = convert_to_tensor(images.size_at(x, axis), dtype_hint=int32)
            places = resampling.nearest_places_op(have, wanted, **form)
            x = gathering.gather(x, places, axis=axis)
        else:
            x = resampling.resize_axis_op(x, wanted, axis=axis, kind=kind, **form)
    return x


def resize(
    images: TensorLike,
    size: TensorLike,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images with another height and width.

    Args:
      images: real numbers [height, width, channels], or a batch of such images.
      size: the new height and width, two positive integers.
      method: a name out of `tf.image.ResizeMethod`.
      preserve_aspect_ratio: whether the image is only made as large as fits into `size` with the
        ratio of its sides kept.
      antialias: whether a smaller image is made of means of what it leaves out, which takes
        longer. It makes no difference to "nearest" and "area".

    Returns:
      A tensor of float32; of the dtype of `images` with "nearest".

    Raises:
      ShapeError: if the rank is neither 3 nor 4, or a size is not positive.
      DTypeError: if `images` are not real numbers, or `size` not integers.
      ValueError: if there is no such method.

    >>> x = tf.reshape(tf.constant([1.0, 2.0, 3.0, 4.0]), [2, 2, 1])
    >>> tf.image.resize(x, [2, 3])[:, :, 0].numpy()
    array([[1. , 1.5, 2. ],
           [3. , 3.5, 4. ]], dtype=float32)
    """
    return _resized("resize", images, size, method, preserve_aspect_ratio, antialias)


def _resized(
    op: str, value: TensorLike, size: Any, method: Any, keeps_ratio: bool, antialias: bool
) -> Tensor:
    x = images.images_of(op, value, "images")
    images.numeric_image(op, x, "images")
    if not isinstance(method, str) or method not in _KINDS:
        raise ValueError(f"{op}: method must be one of {', '.join(_KINDS)}, got {method!r}.")
    kind = _KINDS[method][bool(antialias)]
    wanted = images.wanted_sizes(op, size)
    if keeps_ratio:
        sizes = images.size_at(x, HEIGHT), images.size_at(x, WIDTH)
        wanted = _whole(_fitting, *sizes, *wanted)  # type: ignore[assignment]
    is_sampled = kind in kernels.KERNELS
    return resample_axes(
        x, wanted, kind=kind, antialias=bool(antialias) and is_sampled, align_corners=False,
        half_pixel_centers=True,
    )  # fmt: skip


# --- sizes in a ratio ----------------------------------------------------------------------------


def _whole(fn: Callable[..., Any], *numbers: Number) -> tuple[Number, ...]:
    """What a function of float32 scalars gives, as integers; at once if the numbers are known."""
    if all(isinstance(n, int) for n in numbers):
        with init_scope():
            return tuple([int(out) for out in fn(*[adopt(n, float32) for n in numbers])])
    floats = [
        adopt(n, float32) if isinstance(n, int) else casting.cast(n, float32) for n in numbers
    ]
    return tuple([casting.cast(out, int32) for out in fn(*floats)])


def _fitting(height: Tensor, width: Tensor, tall: Tensor, wide: Tensor) -> list[Tensor]:
    """Both sizes times what makes the larger one fit, rounded."""
    scale = arithmetic.minimum(wide / width, tall / height)
    return [unary.rint(scale * height), unary.rint(scale * width)]


def _centred(height: Tensor, width: Tensor, tall: Tensor, wide: Tensor) -> list[Tensor]:
    """The same, but cut down; and half of what is left over beside them."""
    ratio = arithmetic.maximum(width / wide, height / tall)
    new = [height / ratio, width / ratio]
    room = [(tall - new[0]) / 2.0, (wide - new[1]) / 2.0]
    return [unary.floor(x) for x in (*new, *room)]


def resize_with_pad(
    image: TensorLike,
    target_height: TensorLike,
    target_width: TensorLike,
    method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Tensor:
    """Images made as large as fits with the ratio of their sides kept, with zeros around them.

    Args:
      image: real numbers [height, width, channels], or a batch of such images.
      target_height: the height of the result, a positive integer or integer scalar.
      target_width: the width of the result.
      method: a name out of `tf.image.ResizeMethod`.
      antialias: whether a smaller image is made of means of what it leaves out.

    Returns:
      A tensor of float32; of the dtype of `image` with "nearest".

    Raises:
      ShapeError: if the rank is neither 3 nor 4, or a size is not positive.
      DTypeError: if `image` is not real numbers, or a size not an integer.
      ValueError: if there is no such method.

    >>> tf.image.resize_with_pad(tf.ones([2, 4, 1]), 4, 4)[:, :, 0].numpy()
    array([[0., 0., 0., 0.],
           [1., 1., 1., 1.],
           [1., 1., 1., 1.],
           [0., 0., 0., 0.]], dtype=float32)
    """
    op = "resize_with_pad"
    x = images.images_of(op, image)
    tall, wide = [
        cropping.positive(op, n, name)
        for n, name in ((target_height, "target_height"), (target_width, "target_width"))
    ]
    height, width = images.size_at(x, HEIGHT), images.size_at(x, WIDTH)
    new_height, new_width, top, left = _whole(_centred, height, width, tall, wide)
    x = _resized(op, x, (new_height, new_width), method, False, antialias)
    return cropping.padded(x, (top, left), (tall, wide))
