"""Diagonals and bands of matrices: formulas of the distance from the main diagonal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft._src.core import dtypes
from weft._src.execution.native.front.lowering.rules import (
    apply,
    broadcast,
    cast_to,
    lowers,
    number,
    reshaped,
    static_shape,
)
from weft._src.execution.native.loops.values import ElementSource, Index, Indexed, Value
from weft._src.execution.native.machine.builder import Builder, Scalar
from weft._src.graph.ir import Node
from weft._src.ops.linalg.diagonals import longest_diagonal

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering

# --- bands --------------------------------------------------------------------------------------


@lowers("band_part")
def _band_part(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x = inputs[0]
    widths = [cast_to(v, dtypes.int64) for v in inputs[1:]]
    for width, size in zip(widths, x.shape[-2:], strict=True):
        lowering.check(node, lowering.kept(apply("less_equal", width, number(width, size))))

    def formula(source: ElementSource, index: Index) -> Scalar:
        b = source.b
        out = source.at(x, index)
        below = b.sub(index[-2], index[-1])
        for width, distance in zip(widths, (below, b.neg(below)), strict=True):
            most = source.at(width, ())
            inside = b.compare("sle", distance, most)
            inside = b.binary("or", inside, b.compare("slt", most, b.index(0)))
            out = b.select(inside, out, b.like(out, 0))
        return out

    return Indexed(x.dtype, x.shape, node.name, "band", (x, *widths), formula)


def _least(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    return b.select(b.compare("slt", x, y), x, y)


# --- diagonals, stored as the rows of a matrix if there are several ------------------------------


class _Band:
    """Which diagonals of a matrix are meant, and how they are stored."""

    def __init__(self, node: Node, rows: int, columns: int) -> None:
        self.lower, self.upper = node.attrs["lower"], node.attrs["upper"]
        self.rows, self.columns = rows, columns
        self.longest = longest_diagonal(rows, columns, self.lower, self.upper)
        self.above, self.below = node.attrs["align"].split("_")

    def start(self, source: ElementSource, k: Scalar) -> Scalar:
        """Where diagonal k begins in its row of the stored form."""
        b = source.b
        zero = b.index(0)
        if self.lower == self.upper:
            return zero
        sizes = b.index(self.rows), b.index(self.columns)
        lengths = _least(b, sizes[0], b.sub(sizes[1], k)), _least(b, b.add(sizes[0], k), sizes[1])
        above, below = [
            b.sub(b.index(self.longest), length) if side == "RIGHT" else zero
            for side, length in zip((self.above, self.below), lengths, strict=True)
        ]
        return b.select(b.compare("slt", k, zero), below, above)

    def stored_index(
        self, source: ElementSource, row: Scalar, column: Scalar
    ) -> tuple[Scalar, Index]:
        """Whether an element lies in the band, and where it is stored (or some place)."""
        b = source.b
        k = b.sub(column, row)
        inside = b.binary(
            "and",
            b.compare("sge", k, b.index(self.lower)),
            b.compare("sle", k, b.index(self.upper)),
        )
        zero = b.index(0)
        # The element is as far along its diagonal as the nearer of its row and column.
        along = b.select(b.compare("slt", k, zero), column, row)
        at = b.select(inside, b.add(along, self.start(source, k)), zero)
        if self.lower == self.upper:
            return inside, (at,)
        return inside, (b.select(inside, b.sub(b.index(self.upper), k), zero), at)

    def matrix_index(self, source: ElementSource, stored: Index) -> tuple[Scalar, Index]:
        """Whether a stored element is one of the matrix, and its place there (or some place)."""
        b = source.b
        zero = b.index(0)
        k = b.index(self.upper) if len(stored) == 1 else b.sub(b.index(self.upper), stored[0])
        along = b.sub(stored[-1], self.start(source, k))
        is_below = b.compare("slt", k, zero)
        row = b.select(is_below, b.sub(along, k), along)
        column = b.select(is_below, along, b.add(along, k))
        exists = b.binary(
            "and",
            b.compare("sge", along, zero),
            b.binary(
                "and",
                b.compare("slt", row, b.index(self.rows)),
                b.compare("slt", column, b.index(self.columns)),
            ),
        )
        return exists, (b.select(exists, row, zero), b.select(exists, column, zero))


@lowers("diag_part")
def _diag_part(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x, padding = inputs
    band = _Band(node, *x.shape[-2:])
    lead = len(x.shape) - 2

    def formula(source: ElementSource, index: Index) -> Scalar:
        exists, place = band.matrix_index(source, index[lead:])
        out = source.at(x, (*index[:lead], *place))
        return source.b.select(exists, out, source.at(padding, ()))

    return Indexed(x.dtype, static_shape(node), node.name, "slice", (x, padding), formula)


@lowers("set_diag")
def _set_diag(
    lowering: Lowering, node: Node, inputs: list[Value], *, is_new: bool = False
) -> Value:
    # On the diagonals of a matrix, or of one that is a single number elsewhere.
    diagonal, rest = inputs if is_new else inputs[::-1]
    shape = static_shape(node)
    band = _Band(node, *shape[-2:])
    if not diagonal.size:  # and so no element of the band exists
        return broadcast(rest, shape)

    def formula(source: ElementSource, index: Index) -> Scalar:
        inside, place = band.stored_index(source, *index[-2:])
        on_it = source.at(diagonal, (*index[:-2], *place))
        return source.b.select(inside, on_it, source.at(rest, () if is_new else index))

    return Indexed(rest.dtype, shape, node.name, "slice", (diagonal, rest), formula)


# --- of tensors ---------------------------------------------------------------------------------


@lowers("tensor_diag")
def _tensor_diag(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x = reshaped(inputs[0], (inputs[0].size,))

    def formula(source: ElementSource, index: Index) -> Scalar:
        on_it = source.at(x, index[:1])
        hit = source.b.compare("eq", *index)
        return source.b.select(hit, on_it, source.b.like(on_it, 0))

    matrix = Indexed(x.dtype, (x.size, x.size), node.name, "slice", (x,), formula)
    return reshaped(matrix, static_shape(node))


@lowers("tensor_diag_part")
def _tensor_diag_part(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    shape = static_shape(node)

    def formula(source: ElementSource, index: Index) -> Scalar:
        return source.at(inputs[0], (*index, *index))

    return Indexed(inputs[0].dtype, shape, node.name, "slice", tuple(inputs), formula)
