"""Boxes drawn into images."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor, of_dtype
from weft._src.core.dtypes import float16, float32
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import ShapeError
from weft._src.ops import rules
from weft._src.ops.elementwise import casting
from weft._src.ops.image.images import numeric_image
from weft._src.ops.registry import NO_NATIVE, NO_XLA, NOT_DIFFERENTIABLE, Op, args, define_op

_OP = "draw_bounding_boxes"

# Yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia.
_COLOURS = (
    (1.0, 1.0, 0.0, 1.0),
    (0.0, 0.0, 1.0, 1.0),
    (1.0, 0.0, 0.0, 1.0),
    (0.0, 1.0, 0.0, 1.0),
    (0.5, 0.0, 0.5, 1.0),
    (0.5, 0.5, 0.0, 1.0),
    (0.5, 0.0, 0.0, 1.0),
    (0.0, 0.0, 0.5, 1.0),
    (0.0, 1.0, 1.0, 1.0),
    (1.0, 0.0, 1.0, 1.0),
)


def _draw_infer(images: TensorSpec, boxes: TensorSpec, colours: TensorSpec) -> TensorSpec:
    rules.check_rank(_OP, images, 4, name="images")
    rules.check_rank(_OP, boxes, 3, name="boxes")
    rules.check_rank(_OP, colours, 2, name="colors")
    if images.dims is not None and boxes.dims is not None:
        rules.unify(_OP, images.dims[0], boxes.dims[0], "the numbers of images and boxes")
        rules.unify(_OP, boxes.dims[2], 4, "the size of a box and 4")
    if images.dims is not None and colours.dims is not None:
        have, need = colours.dims[1], images.dims[3]
        if isinstance(have, int) and isinstance(need, int) and have < need:
            raise ShapeError(
                f"{_OP}: colors must have as many channels as images, got {have} and {need}."
            )
    return images


def _ends(low: Any, high: Any, size: int) -> tuple[int, int] | None:
    """The first and the last line of a box; None if it has none in the image."""
    first, last = int(low * (size - 1)), int(high * (size - 1))
    return None if first > last or first >= size or last < 0 else (first, last)


def _draw_kernel(xp: ArrayNamespace, images: Array, boxes: Array, colours: Array) -> Array:
    out = images.copy()
    height, width, depth = images.shape[1:]
    for image, group in zip(out, boxes, strict=True):
        for i, box in enumerate(group):
            if not len(colours) or not xp.isfinite(box).all():
                continue
            rows, columns = _ends(box[0], box[2], height), _ends(box[1], box[3], width)
            if rows is None or columns is None:
                continue
            colour = colours[i % len(colours), :depth].astype(images.dtype)
            down = slice(max(rows[0], 0), min(rows[1], height - 1) + 1)
            across = slice(max(columns[0], 0), min(columns[1], width - 1) + 1)
            for row in rows:
                if 0 <= row < height:
                    image[row, across] = colour
            for column in columns:
                if 0 <= column < width:
                    image[down, column] = colour
    return out


draw_op: Op = define_op(
    "DrawBoundingBoxesV2",
    args("images", {float16, float32}) + args("boxes", {float32}) + args("colors", {float32}),
    infer=_draw_infer,
    kernel=_draw_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def draw_bounding_boxes(
    images: TensorLike, boxes: TensorLike, colors: TensorLike | None, name: str | None = None
) -> Tensor:
    """Images with the edges of boxes drawn into them.

    Args:
      images: real numbers [batch, height, width, channels].
      boxes: floats [batch, boxes, 4]: top, left, bottom and right, where 0 is the first row or
        column and 1 the last one.
      colors: floats [colours, channels], used one after the other; None means ten colours of one,
        three or four channels.

    Returns:
      A tensor of float32 (of float16 if `images` are) of the shape of `images`.

    Raises:
      ShapeError: if shapes do not fit.
      DTypeError: if `images`, `boxes` or `colors` are not real numbers.

    >>> boxes = [[[0.0, 0.0, 1.0, 1.0]]]
    >>> tf.image.draw_bounding_boxes(tf.zeros([1, 3, 4, 1]), boxes, [[1.0]])[0, :, :, 0].numpy()
    array([[1., 1., 1., 1.],
           [1., 0., 0., 1.],
           [1., 1., 1., 1.]], dtype=float32)
    """
    x = convert_to_tensor(images)
    numeric_image(_OP, x, "images")
    if x.dtype is not float16:
        x = casting.cast(x, float32)
    if colors is None:
        grey = x.spec.dims is not None and len(x.spec.dims) == 4 and x.spec.dims[3] == 1
        colors = [[1.0]] if grey else _COLOURS
    return draw_op(
        x,
        of_dtype(_OP, boxes, float32, "boxes"),
        of_dtype(_OP, colors, float32, "colors"),
        name=name,
    )
