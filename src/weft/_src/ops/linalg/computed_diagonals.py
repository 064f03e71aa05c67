"""Diagonals whose number is a tensor that is computed when the graph runs.

`diagonals.py` has ops for numbers that are known; these are made of other ops. Which elements are
meant follows from the numbers of rows and columns: the place (row, column) is on the diagonal
`column - row`, and is its element number `row` there, or `column` for those below the main one.
"""

from __future__ import annotations

from typing import Any

from weft._src.core.dtypes import int32
from weft._src.core.tensor import Tensor
from weft._src.ops.arrays import joining, ranges, selection, shape as shapes
from weft._src.ops.elementwise import arithmetic, casting, comparison
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import gathering


def _sizes(x: Tensor) -> tuple[Tensor, Tensor]:
    sizes = shapes.shape(x)
    return sizes[-2], sizes[-1]


def _length(op: str, rows: Any, columns: Any, k: Tensor) -> Tensor:
    """The number of elements of a diagonal; InvalidArgumentError if it is not in the matrix."""
    length = arithmetic.minimum(rows + arithmetic.minimum(k, 0), columns - arithmetic.maximum(k, 0))
    require(lambda n, _: n > 0, [length, k], f"{op}: k must lie in the matrix", ("its length", "k"))
    return length


def _spread(diagonal: Tensor, length: Any, rows: Any, columns: Any, k: Tensor) -> Any:
    """Which elements of a matrix are on the diagonal, and the elements of it in their rows."""
    places = ranges.range(rows)
    on_it = comparison.equal(ranges.range(columns) - shapes.expand_dims(places, 1), k)
    numbers = arithmetic.maximum(places + arithmetic.minimum(k, 0), 0)
    numbers = arithmetic.minimum(numbers, length - 1)
    return on_it, shapes.expand_dims(gathering.gather(diagonal, numbers, axis=-1), -1)


def diag_part(x: Tensor, k: Tensor) -> Tensor:
    """One diagonal of matrices."""
    k = casting.cast(k, int32)
    rows, columns = _sizes(x)
    numbers = ranges.range(_length("diag_part", rows, columns, k))
    places = (numbers - arithmetic.minimum(k, 0)) * columns + numbers + arithmetic.maximum(k, 0)
    flat = shapes.reshape(x, joining.concat([shapes.shape(x)[:-2], [rows * columns]], 0))
    return gathering.gather(flat, places, axis=-1)


def diag(x: Tensor, k: Tensor, num_rows: Any, num_cols: Any, padding: Tensor) -> Tensor:
    """Matrices with one diagonal; -1 for rows or columns means as few as possible."""
    k = casting.cast(k, int32)
    length = shapes.shape(x)[-1]
    down, across = length - arithmetic.minimum(k, 0), length + arithmetic.maximum(k, 0)
    largest = arithmetic.maximum(down, across)
    rows = num_rows if num_rows != -1 else largest if num_cols == -1 else down
    columns = num_cols if num_cols != -1 else largest if num_rows == -1 else across
    require(
        comparison.equal,
        [length, _length("diag", rows, columns, k)],
        "diag: the diagonal must be as long as there is room for it",
        ("its length", "the room"),
    )
    on_it, elements = _spread(x, length, rows, columns, k)
    return selection.where(on_it, elements, padding)


def set_diag(x: Tensor, diagonal: Tensor, k: Tensor) -> Tensor:
    """The matrices with another diagonal."""
    k = casting.cast(k, int32)
    rows, columns = _sizes(x)
    length = _length("set_diag", rows, columns, k)
    require(
        comparison.equal,
        [shapes.shape(diagonal)[-1], length],
        "set_diag: diagonal must be as long as that of the matrix",
        ("its length", "that of the matrix"),
    )
    on_it, elements = _spread(diagonal, length, rows, columns, k)
    return selection.where(on_it, elements, x)
