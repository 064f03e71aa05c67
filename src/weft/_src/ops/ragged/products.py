"""Matrix products of ragged tensors: a batch of matrices, each with sizes of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.core.aliases import TensorLike
from weft._src.core.dtypes import int64
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.elementwise import arithmetic, comparison
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import gathering
from weft._src.ops.linalg import products
from weft._src.ops.ragged import dense, rows
from weft._src.ops.ragged.rearranging import known_rank
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.reduce import unsorted_segments as segments
from weft._src.ops.registry import Op


def matmul(op: Op, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None) -> Any:
    """The products of the matrices along the last two axes."""
    a, b = inputs
    ranks = [known_rank("matmul", x) for x in (a, b)]
    if ranks[0] != ranks[1]:
        raise ShapeError(
            "matmul: next to a RaggedTensor both operands must have the same rank, got shapes "
            f"{a.shape} and {b.shape}."
        )
    return _product(a, b, ranks[0], attrs)


def _product(a: Any, b: Any, rank: int, attrs: dict[str, Any]) -> Any:
    if rank == 2:
        return products.matmul_op(_matrix(a), _matrix(b), **attrs)
    if rank == 3:
        return _batch(a, b, **attrs)
    a, b = _ragged(a), _ragged(b)
    rows.check_same(a.row_splits, b.row_splits, "matmul")
    return a.with_values(_product(a.values, b.values, rank - 1, attrs))


def _ragged(x: TensorLike) -> RaggedTensor:
    return x if isinstance(x, RaggedTensor) else dense.from_tensor(x, None, None, 1, int64)


def _matrix(x: Any) -> Tensor:
    """A ragged matrix whose rows are equally long."""
    if not isinstance(x, RaggedTensor):
        return x
    _check_equal(rows.lengths(x.row_splits), dense.longest_row(x.row_splits))
    return x.to_tensor()


def _check_equal(lengths: Tensor, longest: Tensor) -> None:
    text = "matmul: all rows of a matrix in a RaggedTensor must have the same length"
    require(comparison.equal, [lengths, longest], text, ("row lengths", "longest"))


def _batch(a: TensorLike, b: TensorLike, transpose_a: bool, transpose_b: bool) -> RaggedTensor:
    """Matrices filled up with zeros and multiplied; what comes of the filling is cut off."""
    left, height, inner = _filled(a, transpose_a)
    right, inner_b, width = _filled(b, transpose_b)
    text = "matmul: the inner sizes of each pair of matrices must be equal"
    require(_fits, [inner, inner_b, height], text, ("columns of a", "rows of b", "rows of a"))
    product = products.matmul_op(left, right, transpose_a=transpose_a, transpose_b=transpose_b)
    count = shapes.shape_op(product, out_type=int64)[:1]
    out = dense.from_tensor(product, shapes.broadcast_to(height, count), None, 1, int64)
    if width.shape.rank == 0:
        return out
    each = gathering.gather(width, rows.rowids(out.row_splits))
    return out.with_values(dense.from_tensor(out.values, each, None, 1, int64))


def _fits(inner: Tensor, inner_b: Tensor, height: Tensor) -> Tensor:
    # How long rows are is not known of a matrix that has none.
    return comparison.logical_or(comparison.equal(inner, inner_b), comparison.equal(height, 0))


def _filled(x: Any, transposed: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Matrices as one tensor, their heights and widths: a number for all, or one for each."""
    if not isinstance(x, RaggedTensor):
        sizes = shapes.shape_op(x, out_type=int64)
        height, width = sizes[1], sizes[2]
    else:
        x = x.with_row_splits_dtype(int64)
        height = rows.lengths(x.row_splits)
        if isinstance(x.values, RaggedTensor):
            width = _widths(x)
        else:
            width = shapes.shape_op(x.values, out_type=int64)[1]
        x = x.to_tensor()
    return (x, width, height) if transposed else (x, height, width)


def _widths(x: RaggedTensor) -> Tensor:
    """The length that all rows of a matrix have, for each matrix; 0 without rows."""
    lengths, ids = rows.lengths(x.values.row_splits), rows.rowids(x.row_splits)
    widths = arithmetic.maximum(segments.unsorted_segment_max(lengths, ids, x.nrows()), 0)
    _check_equal(lengths, gathering.gather(widths, ids))
    return widths
