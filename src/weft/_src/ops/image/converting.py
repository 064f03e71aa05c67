"""Images of another dtype, with the numbers that mean the same there."""

from __future__ import annotations

from collections.abc import Callable

from weft._src.core.aliases import DTypeLike, TensorLike
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.dtypes import REAL, DType, as_dtype, float16, float32
from weft._src.core.tensor import Tensor
from weft._src.errors import DTypeError
from weft._src.ops.elementwise import casting, clipping
from weft._src.ops.image import images


def convert_image_dtype(
    image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None
) -> Tensor:
    """Images of another dtype. Floats go from 0 to 1, integers up to their largest number.

    Args:
      image: real numbers of any shape.
      dtype: a floating or integer dtype.
      saturate: whether numbers that do not fit become the nearest one that does.

    Returns:
      A tensor of that dtype.

    Raises:
      DTypeError: if one of the dtypes is neither floating nor integer.

    >>> x = tf.constant([0, 51, 255], tf.uint8)
    >>> tf.image.convert_image_dtype(x, tf.float32).numpy().round(3)
    array([0. , 0.2, 1. ], dtype=float32)
    >>> tf.image.convert_image_dtype([0.0, 0.5, 1.0], tf.uint8).numpy()
    array([  0, 127, 255], dtype=uint8)
    """
    x = convert_to_tensor(image)
    old, new = images.numeric_image("convert_image_dtype", x), as_dtype(dtype)
    if new not in REAL:
        raise DTypeError(f"convert_image_dtype: dtype must be floating or integer, got {new.name}.")
    if old is new:
        return x
    cast = clipping.saturate_cast if saturate else casting.cast
    if old.is_floating:
        if new.is_floating:
            return casting.cast(x, new)
        return cast(x * adopt(new.max + 0.5, old), new)
    if new.is_floating:
        return casting.cast(x, new) * adopt(1.0 / old.max, new)
    if old.max > new.max:
        return cast(x // adopt((old.max + 1) // (new.max + 1), old), new)
    return cast(x, new) * adopt((new.max + 1) // (old.max + 1), new)


def in_floats(
    op: str, image: TensorLike, change: Callable[[Tensor], Tensor], *, saturate: bool = True
) -> Tensor:
    """A change that is made in float32 (or float16), of images of any real dtype."""
    x = convert_to_tensor(image)
    dtype = images.numeric_image(op, x)
    wide = x if dtype in (float16, float32) else convert_image_dtype(x, float32)
    return convert_image_dtype(change(wide), dtype, saturate)


def widened(change: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """A change that is made in float32 also where float16 is given."""

    def wide(x: Tensor) -> Tensor:
        dtype: DType = x.dtype
        return casting.cast(change(casting.cast(x, float32)), dtype)

    return wide
