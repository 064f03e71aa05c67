"""Gradients that are zero but for some rows: how they are added up, and when they become tensors.

Rules of ops may return `IndexedSlices` (rows picked by number), a `Row` (`x[i]`) or a `StackItem`
(an element of a TensorArray). They are collected until the gradient of the tensor is complete, so
that reading n rows one by one costs n rows, not n tensors. IndexedSlices that meet nothing else
stay what they are, also for the user.
"""

from __future__ import annotations

from typing import Any

from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import int32, variant
from weft._src.core.tensor import Tensor
from weft._src.ops.arrays import joining, shape as shapes
from weft._src.ops.control import stack
from weft._src.ops.elementwise import arithmetic, casting
from weft._src.ops.indexing import gathering, scattering
from weft._src.ops.indexing.indexed_slices import IndexedSlices, joined
from weft._src.ops.indexing.slicing import Row

Gradient = Tensor | IndexedSlices
Piece = IndexedSlices | Row | stack.StackItem


class Parts:
    """What has arrived at a tensor so far: a tensor or none, and pieces."""

    __slots__ = ("pieces", "total")

    def __init__(self) -> None:
        self.total: Tensor | None = None
        self.pieces: list[Any] = []

    def add(self, g: Gradient | None) -> None:
        """One more contribution."""
        if isinstance(g, Parts):
            self.pieces += g.pieces
            g = g.total
        if g is None:
            return
        if not isinstance(g, Tensor):
            self.pieces.append(g)
        else:
            self.total = g if self.total is None else added(self.total, g)

    def summed(self) -> Gradient:
        """All of it as one gradient."""
        total, pieces = self.total, self.pieces[::-1]  # in the order of the program
        if isinstance(pieces[0], stack.StackItem):
            for item in pieces:
                total = item.added_to(total)
            return total  # type: ignore[return-value]
        if total is None and len(pieces) == 1 and isinstance(pieces[0], Row):
            return pieces[0].tensor
        rows = joined(_as_slices(pieces))
        if total is None:
            public = all(isinstance(piece, IndexedSlices) for piece in pieces)
            return rows if public else _scattered(rows)
        if total.dtype is variant:  # rows of a tensor, collected by the gradient of a loop
            return stack.add_rows_op(total, rows.indices, rows.values, convert_to_tensor(0))
        return scattering.add_op(total, shapes.expand_dims(rows.indices, -1), rows.values)


def added(a: Tensor, b: Tensor) -> Tensor:
    """The sum of two gradients that are tensors or stacks."""
    return (stack.add_stacks_op if a.dtype is variant else arithmetic.add_op)(a, b)


def accumulated(so_far: Any, g: Any) -> Any:
    """The sum of two gradients of any kind, maybe not worked out yet."""
    if isinstance(so_far, Tensor) and isinstance(g, Tensor):
        return added(so_far, g)
    parts = so_far if isinstance(so_far, Parts) else Parts()
    if parts is not so_far:
        parts.add(so_far)
    parts.add(g)
    return parts


def worked_out(g: Any) -> Gradient:
    """A gradient that nothing more is added to."""
    if isinstance(g, (Row, stack.StackItem)):
        return accumulated(Parts(), g).summed()
    return g.summed() if isinstance(g, Parts) else g


def dense(g: Gradient | None) -> Any:
    """A gradient as a tensor; None stays None."""
    g = worked_out(g)
    return _scattered(g) if isinstance(g, IndexedSlices) else g


def has_rows_only(g: Gradient | None) -> bool:
    """Whether a gradient of a tensor is zero but for some rows."""
    if isinstance(g, Parts):
        return g.total is None and not isinstance(g.pieces[0], stack.StackItem)
    return isinstance(g, (IndexedSlices, Row))


def _scattered(rows: IndexedSlices) -> Tensor:
    if rows.dense_shape is None:
        return convert_to_tensor(rows)  # the error says what is missing
    shape = shapes.shape_argument(rows.dense_shape)
    values, indices = convert_to_tensor(rows.values), convert_to_tensor(rows.indices)
    return gathering.gather_grad_op(shape, values, indices, axis=0, batch_dims=0)


def _as_slices(pieces: list[Any]) -> list[IndexedSlices]:
    """The same with neighbouring rows put together."""
    out: list[IndexedSlices] = []
    run: list[Row] = []
    for piece in [*pieces, None]:
        if isinstance(piece, Row):
            run.append(piece)
            continue
        if run:
            out.append(_stacked(run))
            run = []
        if piece is not None:
            out.append(piece)
    return out


def _stacked(rows: list[Row]) -> IndexedSlices:
    numbers = [row.number for row in rows]
    if all(type(n) is int for n in numbers):
        indices = convert_to_tensor(numbers, dtype=int32)
    else:
        indices = joining.stack([casting.cast(n, int32) for n in numbers])
    return IndexedSlices(joining.stack([row.value for row in rows]), indices, rows[0].shape)
