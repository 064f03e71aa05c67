"""Parts of images side by side: sliding windows, and boxes of one size."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import TensorLike, WindowLike
from weft._src.core.convert import adopt, convert_to_tensor, of_dtype
from weft._src.core.dtypes import float32, int32
from weft._src.core.tensor import Tensor
from weft._src.errors import DTypeError
from weft._src.ops import rules
from weft._src.ops.arrays import (
    fill,
    joining,
    padding as paddings,
    ranges,
    selection,
    shape as shapes,
)
from weft._src.ops.elementwise import arithmetic, casting, comparison, unary
from weft._src.ops.host.requiring import require
from weft._src.ops.image import pixels
from weft._src.ops.image.images import (
    CHANNELS,
    HEIGHT,
    WIDTH,
    Number,
    at_least,
    numeric_image,
    size_at,
    wanted_sizes,
    with_channels,
)
from weft._src.ops.indexing import gathering
from weft._src.ops.nn import windows


def _along(x: Tensor, axis: int, window: int, stride: int, rate: int, same: bool) -> Any:
    """How much is added on both sides of an axis, and where the elements of windows then are."""
    size, span = size_at(x, axis), (window - 1) * rate + 1
    if same:
        count = -(-size // stride)
        missing = at_least((count - 1) * stride + span - size, 0)
    else:
        count = at_least((size - span) // stride + 1, 0)
        missing = 0
    before = missing // 2
    starts = shapes.expand_dims(ranges.range(count) * stride, 1)
    return (before, missing - before), starts + ranges.range(0, window * rate, rate), count


def extract_patches(
    images: TensorLike,
    sizes: WindowLike,
    strides: WindowLike,
    rates: WindowLike,
    padding: str,
    name: str | None = None,
) -> Tensor:
    """All windows of images, the pixels of each behind one another in the channels.

    Args:
      images: a tensor [batch, height, width, channels].
      sizes: the size of windows: [1, rows, columns, 1].
      strides: how far they are apart: [1, rows, columns, 1].
      rates: how far the pixels in a window are apart: [1, rows, columns, 1].
      padding: "SAME" if windows may reach over the border, where zeros are, or "VALID".

    Returns:
      A tensor [batch, rows, columns, window rows * window columns * channels] of the same dtype.

    Raises:
      ShapeError: if the rank is not 4, or a number is not positive.
      ValueError: if there is no such padding.

    >>> x = tf.reshape(tf.range(9), [1, 3, 3, 1])
    >>> ones = [1, 1, 1, 1]
    >>> tf.image.extract_patches(x, [1, 2, 2, 1], ones, ones, "VALID")[0, 0].numpy()
    array([[0, 1, 3, 4],
           [1, 2, 4, 5]], dtype=int32)
    """
    op = "extract_patches"
    x = convert_to_tensor(images)
    rules.check_rank(op, x.spec, 4, name="images")
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"{op}: padding must be 'SAME' or 'VALID', got {padding!r}.")
    window, step, rate = [
        windows.per_axis(op, label, value, 2, False)
        for label, value in (("sizes", sizes), ("strides", strides), ("rates", rates))
    ]
    borders, places, counts = [], [], []
    for i, axis in enumerate((HEIGHT, WIDTH)):
        border, place, count = _along(x, axis, window[i], step[i], rate[i], padding == "SAME")
        borders.append(border)
        places.append(place)
        counts.append(count)
    if padding == "SAME":
        x = paddings.pad(x, [[0, 0], *borders, [0, 0]])
    # [batch, rows, window rows, columns, window columns, channels]
    x = gathering.gather(gathering.gather(x, places[0], axis=1), places[1], axis=3)
    x = shapes.transpose(x, [0, 1, 3, 2, 4, 5])
    batch, depth = size_at(x, 0), size_at(x, CHANNELS)
    return shapes.reshape(x, joining.stack([batch, *counts, window[0] * window[1] * depth]))


def _lines(low: Tensor, high: Tensor, size: Number, count: Number) -> Tensor:
    """For each box, the rows (or columns) that its crop is made of."""
    last = pixels.as_float(size) - 1.0
    steps = arithmetic.maximum(pixels.as_float(count) - 1.0, 1.0)
    at = casting.cast(ranges.range(count), float32)
    spread = low * last + at * ((high - low) * last / steps)
    middle = 0.5 * (low + high) * last
    if isinstance(count, int):
        return spread if count > 1 else middle + 0.0 * spread
    return selection.where(count > 1, spread, middle)


def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_indices: TensorLike,
    crop_size: TensorLike,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Boxes of images, all resized to one size.

    Args:
      image: real numbers [batch, height, width, channels].
      boxes: floats [boxes, 4]: top, left, bottom and right, where 0 is the first row or column and
        1 the last one. What lies outside is filled; a box whose ends are exchanged is mirrored.
      box_indices: integers [boxes]: the image that a box is cut out of.
      crop_size: the height and width of all results, two positive integers.
      method: "bilinear" or "nearest".
      extrapolation_value: what is outside of images.

    Returns:
      A tensor [boxes, crop height, crop width, channels] of float32.

    Raises:
      ShapeError: if a rank or size does not fit.
      InvalidArgumentError: if there is no such image.
      ValueError: if there is no such method.
      DTypeError: if `image` is not real, or `box_indices` or `crop_size` not integers.

    >>> x = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> tf.image.crop_and_resize(x, [[0.0, 0.5, 0.5, 1.0]], [0], [2, 2])[0, :, :, 0].numpy()
    array([[1., 2.],
           [4., 5.]], dtype=float32)
    """
    op = "crop_and_resize"
    x = convert_to_tensor(image)
    rules.check_rank(op, x.spec, 4, name="image")
    numeric_image(op, x)
    if method not in ("bilinear", "nearest"):
        raise ValueError(f"{op}: method must be 'bilinear' or 'nearest', got {method!r}.")
    edges = of_dtype(op, boxes, float32, "boxes")
    require(unary.is_finite, [edges], f"{op}: boxes must be finite", ["boxes"])
    rules.check_rank(op, edges.spec, 2, name="boxes")
    with_channels(op, edges, 4, "boxes")
    which = convert_to_tensor(box_indices, dtype_hint=int32)
    if not which.dtype.is_integer:
        raise DTypeError(f"{op}: box_indices must be integers, got dtype {which.dtype.name}.")
    rules.check_rank(op, which.spec, 1, name="box_indices")
    which = casting.cast(which, int32)
    require(
        lambda i, count: comparison.logical_and(i >= 0, i < count),
        [which, convert_to_tensor(size_at(x, 0), dtype_hint=int32)],
        f"{op}: box_indices must name images",
        ["box_indices", "number of images"],
    )
    tall, wide = wanted_sizes(op, crop_size, "crop_size")
    top, left, bottom, right = [side[:, None] for side in joining.unstack(edges, 4, 1)]
    rows = _lines(top, bottom, size_at(x, HEIGHT), tall)[:, :, None]
    columns = _lines(left, right, size_at(x, WIDTH), wide)[:, None, :]
    is_inside = comparison.logical_and(
        _is_on(rows, size_at(x, HEIGHT)), _is_on(columns, size_at(x, WIDTH))
    )
    pick = pixels.blended if method == "bilinear" else pixels.nearest
    found = pick(x, which[:, None, None], rows, columns, fill.zeros([], x.dtype))
    found = casting.cast(found, float32)
    return selection.where(
        shapes.expand_dims(is_inside, -1), found, adopt(extrapolation_value, float32)
    )


def _is_on(at: Tensor, size: Number) -> Tensor:
    """Whether a place is not beyond the first or the last row (or column)."""
    return comparison.logical_and(at >= 0.0, at <= pixels.as_float(size) - 1.0)
