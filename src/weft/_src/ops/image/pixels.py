"""Pixels at places that are computed: whole ones, and means of the four around a place."""

from __future__ import annotations

from weft._src.core.dtypes import float32, int32
from weft._src.core.tensor import Tensor
from weft._src.ops.arrays import joining, selection, shape as shapes
from weft._src.ops.elementwise import arithmetic, casting, comparison, unary
from weft._src.ops.image.images import CHANNELS, HEIGHT, WIDTH, size_at
from weft._src.ops.indexing import gathering


def as_float(x: int | Tensor) -> Tensor:
    """A size as a number to compute places with."""
    return casting.cast(x, float32)


def picked(x: Tensor, image: Tensor, row: Tensor, column: Tensor, outside: Tensor) -> Tensor:
    """The pixels of a batch at rows and columns that are whole floats; `outside` where none is.

    `image`, `row` and `column` broadcast; the channels are added behind them.
    """
    height, width = size_at(x, HEIGHT), size_at(x, WIDTH)
    is_inside = comparison.logical_and(
        _is_within(row, as_float(height)), _is_within(column, as_float(width))
    )
    row, column = [
        casting.cast(arithmetic.maximum(_or_zero(at, is_inside), 0.0), int32)
        for at in (row, column)
    ]
    places = (image * height + row) * width + column
    flat = shapes.reshape(x, joining.stack([-1, size_at(x, CHANNELS)]))
    found = gathering.gather(flat, places)
    return selection.where(shapes.expand_dims(is_inside, -1), found, outside)


def _is_within(at: Tensor, size: Tensor) -> Tensor:
    return comparison.logical_and(at >= 0.0, at < size)


def _or_zero(at: Tensor, is_inside: Tensor) -> Tensor:
    """What is not inside, NaN too, may not become an index."""
    return selection.where(is_inside, at, 0.0)


def rounded(at: Tensor) -> Tensor:
    """The nearest whole number; halves go away from zero."""
    return unary.sign(at) * unary.floor(unary.abs(at) + 0.5)


def nearest(x: Tensor, image: Tensor, row: Tensor, column: Tensor, outside: Tensor) -> Tensor:
    """The pixels that are nearest to places."""
    return picked(x, image, rounded(row), rounded(column), outside)


def blended(x: Tensor, image: Tensor, row: Tensor, column: Tensor, outside: Tensor) -> Tensor:
    """The means of the four pixels around places, in float32."""
    top, left = unary.floor(row), unary.floor(column)
    down, right = [shapes.expand_dims(share, -1) for share in (row - top, column - left)]

    def between(at: Tensor) -> Tensor:
        pair = [picked(x, image, at, side, outside) for side in (left, unary.ceil(column))]
        first, second = [casting.cast(found, float32) for found in pair]
        return first * (1.0 - right) + second * right

    return between(top) * (1.0 - down) + between(unary.ceil(row)) * down
