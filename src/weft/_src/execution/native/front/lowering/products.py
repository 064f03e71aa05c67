"""Matrix products and contractions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from weft._src.core import blas, dtypes
from weft._src.core.dtypes import DType
from weft._src.execution.bounds import LARGE_PRODUCT
from weft._src.execution.native.front.lowering.movement import transposed
from weft._src.execution.native.front.lowering.rules import (
    broadcast,
    cast_to,
    in_memory,
    lowers,
    reduced,
    reshaped,
    static_shape,
    widened,
)
from weft._src.execution.native.loops.kernels.blocking import (
    COPY_FROM,
    LINE_ROWS,
    PAD,
    Level,
    RightSide,
    are_pages_apart,
    lanes_of,
    product_places,
    row_lines,
    vectors_for,
    whole_and_rest,
)
from weft._src.execution.native.loops.kernels.products import Product
from weft._src.execution.native.loops.kernels.tiles import Tiles
from weft._src.execution.native.loops.kernels.turning import Stripes, Turned
from weft._src.execution.native.loops.stripes import Striping
from weft._src.execution.native.loops.values import (
    Assembled,
    ElementSource,
    Index,
    Indexed,
    NotCompilableError,
    Part,
    Stored,
    Uniform,
    Value,
)
from weft._src.graph.ir import Node

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering

# Tiles are for products of at least so many rows, from and up to so many multiplications, and of
# so few bytes down that a stripe of the right side stays in a cache.
_LEAST_ROWS, _LEAST, _MOST, _DEPTH = 16, 20_000, LARGE_PRODUCT, 4096
# With many rows that lie as tiles read them, there may be more: BLAS took 4 to 20 % longer.
_MANY_ROWS, _MOST_OF_MANY = 256, 1 << 33
_MOST_OF_TURNED = 1 << 34  # where BLAS is slow: 1.5 to 1.9 times its pace, and 0.9 beyond
_LEAST_OF_VECTORS = 4_000  # multiplications, if the right side need not be arranged
# In a batch of so many, where right sides are arranged all at once.
_BATCH, _LEAST_ROWS_IN_BATCH, _LEAST_IN_BATCH = 64, 8, 500
# With stripes that are kept, any number of rows: BLAS reads a matrix at a third of the pace.
_LEAST_KEPT, _MOST_OF_KEPT = 1 << 16, 1 << 32  # numbers of the right side; multiplications
_WRITTEN_ROWS = 16  # the width of stripes from which they are written by rows
_TURNED_FROM = 4096  # numbers from which the stripes of a transposed matrix have their own code
_KEPT_FROM = 4096  # numbers from which stripes of what does not change are kept
_UNCOPIED = 32 << 10  # bytes of a right side that stays in a first-level cache as it is


def product(
    lowering: Lowering, label: str, a: Value, b: Value, ta: bool = False, tb: bool = False
) -> Value:
    """a @ b of matrices, or of batches of matrices whose batch shapes broadcast."""
    dtype = a.dtype
    a, b = widened(a), widened(b)
    if dtype is dtypes.bool_:
        raise NotCompilableError("a product of bools")
    m, k = a.shape[-2:][::-1] if ta else a.shape[-2:]
    n = b.shape[-2] if tb else b.shape[-1]
    batch = _batch_shape(a.shape[:-2], b.shape[:-2])
    shape = (*batch, m, n)
    if len(a.shape) > 2 and math.prod(b.shape[:-2]) == 1 and not ta and a.size:
        # One matrix for all of a batch: its rows are one long matrix.
        rows, b = in_memory(a, (a.size // k, k)), in_memory(b, b.shape[-2:])
        return cast_to(reshaped(product(lowering, label, rows, b, tb=tb), shape), dtype)
    count = math.prod(batch)
    if 0 in (count, m, n) or k == 0:
        return Uniform(dtype, shape, label, 0)
    a, strided_a = _batched(in_memory(a), batch)
    b, strided_b = _batched(in_memory(b), batch)
    result = Stored(a.dtype, shape, label)
    sizes, turned, strided = (count, m, n, k), (ta, tb), (strided_a, strided_b)
    kept = None
    if not ta and _suits_kept_stripes(b, m, n, k):
        kept = _kept_panels(lowering, b, tb=tb, rows=min(m, LINE_ROWS))
    if kept is not None or _suits_tiles(a.dtype, sizes, turned):
        lowering.add(_tiles(lowering, a, b, result, sizes, turned, strided, kept))
    else:
        strides = (m * k if strided_a else 0, k * n if strided_b else 0)
        lowering.add(Product(a, b, result, sizes, turned, strides))
    return cast_to(result, dtype)


def _tiles(
    lowering: Lowering, a: Value, b: Value, result: Stored, sizes: tuple[int, int, int, int],
    turned: tuple[bool, bool], strided: tuple[bool, bool], right: RightSide | None,
) -> Tiles:  # fmt: skip
    """The product by tiles; what is left over of its lines is a part of its own."""
    count, m, n, k = sizes
    copy = m >= COPY_FROM and k * n * b.dtype.size > _UNCOPIED
    is_striped = turned[0] and n >= COPY_FROM
    of_line = lanes_of(a.dtype) if is_striped else LINE_ROWS
    if right is None:
        right = panels(lowering, b, tb=turned[1], copy=copy, rows=min(m, of_line))
    b, lines = right.value, row_lines(m)
    # From one row of a to the next, one step down to the next, and over all of a row.
    row, step, whole_row = (1, m, 1) if turned[0] else (k, 1, k)
    if not turned[0] and are_pages_apart(m, n, k * a.dtype.size):
        a, row, whole_row = _padded_rows(a), k + PAD, k + PAD
    if is_striped:  # one vector wide, which is how they are copied fast
        step, whole_row = of_line, k
        a, lines = striped(a, step, turned=False), whole_and_rest(m, step)
    next_a, next_b = (x.size // count * is_strided for x, is_strided in zip((a, b), strided))
    parts = product_places(
        (m, n, k), right, lines,
        row=row, step=step, whole_row=whole_row, batch=Level(count, next_a, next_b, m * n),
    )  # fmt: skip
    return Tiles(a, b, result, parts)


def _suits_tiles(dtype: DType, sizes: tuple[int, int, int, int], turned: tuple[bool, bool]) -> bool:
    """Whether vector code of our own is faster than BLAS and than simple loops."""
    (count, m, n, k), (ta, tb) = sizes, turned
    if dtype not in (dtypes.float32, dtypes.float64):
        return False
    is_batch = count >= _BATCH
    if m < (_LEAST_ROWS_IN_BATCH if is_batch else _LEAST_ROWS) or n <= lanes_of(dtype) // 2:
        return False
    if m >= COPY_FROM and m * n * k > _MOST and blas.has_short_vectors():
        return not ta or m * n * k <= _MOST_OF_TURNED
    if k * dtype.size > _DEPTH:
        return False
    most = _MOST if ta or m < _MANY_ROWS else _MOST_OF_MANY
    least = _LEAST if tb or n % lanes_of(dtype) else _LEAST_OF_VECTORS
    if is_batch and not tb:
        least = _LEAST_IN_BATCH
    return least < m * n * k <= most


def _suits_kept_stripes(b: Value, m: int, n: int, k: int) -> bool:
    """Whether tiles are faster than BLAS where stripes of the right side need not be made."""
    if b.dtype not in (dtypes.float32, dtypes.float64) or n <= lanes_of(b.dtype) // 2:
        return False
    most = math.inf if blas.has_short_vectors() else _MOST_OF_KEPT
    return b.size >= _LEAST_KEPT and m * n * k < most


def panels(
    lowering: Lowering, b: Value, *, tb: bool, copy: bool, rows: int, apart: int = 0
) -> RightSide:
    """The right side of tiles, for lines of so many rows that lie so many bytes apart.

    In stripes as wide as tiles are, with zeros in lanes that do not exist; `copy=False` saves
    making them where rows are whole vectors anyway.
    """
    k, n = b.shape[-2:][::-1] if tb else b.shape[-2:]
    lanes, vectors = lanes_of(b.dtype), vectors_for(n, b.dtype, rows, apart)
    width = lanes * vectors
    kept = _kept_panels(lowering, b, tb=tb, rows=rows, apart=apart)
    if kept is not None:
        return kept
    if not tb and n % lanes == 0 and (n <= width or not copy):
        return RightSide(b, n, width, vectors)
    if tb and b.size >= _TURNED_FROM and not lowering.is_invariant(b):
        stripes = _turned(lowering, b, width)
    else:
        stripes = lowering.once(b, lambda b: striped(b, width, turned=tb))
    return RightSide(stripes, width, k * width, vectors)


def _kept_panels(
    lowering: Lowering, b: Value, *, tb: bool, rows: int, apart: int = 0
) -> RightSide | None:
    """Stripes that are made once for many calls; None if b may change, or is a stripe as it is."""
    k, n = b.shape[-2:][::-1] if tb else b.shape[-2:]
    lanes, vectors = lanes_of(b.dtype), vectors_for(n, b.dtype, rows, apart)
    width = lanes * vectors
    if b.size < _KEPT_FROM or not (tb or n % lanes or n > width):
        return None
    kept = lowering.kept_stripes(b, Striping(b.shape, width, turned=tb))
    return None if kept is None else RightSide(kept, width, k * width, vectors)


def _turned(lowering: Lowering, b: Value, width: int) -> Value:
    """The stripes of matrices (..., n, k)."""
    *batch, n, k = b.shape
    stripes = -(-n // width)
    result = Stored(b.dtype, (*batch, stripes, k, width), "stripes")
    size = stripes * k * width
    found = Stripes(math.prod(batch), n, k, width, n * k, size, k * width)
    lowering.add(Turned(b, result, found))
    return result


def tap_panels(lowering: Lowering, filters: Value, rows: int, apart: int) -> RightSide:
    """Like `panels`, of filters (taps, inputs, outputs) that lead from the outputs back.

    The last tap comes first: on the way back windows look the other way.
    """
    taps, inputs, outputs = filters.shape
    vectors = vectors_for(inputs, filters.dtype, rows, apart)
    width = lanes_of(filters.dtype) * vectors
    if filters.size >= _KEPT_FROM:
        kept = lowering.kept_stripes(filters, Striping(filters.shape, width, leads_back=True))
        if kept is not None:
            return RightSide(kept, width, taps * outputs * width, vectors)
    if filters.size < _TURNED_FROM or lowering.is_invariant(filters):
        columns = reshaped(_back_to_front(filters), (taps * outputs, inputs))
        return panels(lowering, columns, tb=False, copy=True, rows=rows, apart=apart)
    stripes = -(-inputs // width)
    result = Stored(filters.dtype, (stripes, taps, outputs, width), "stripes")
    of_tap, of_stripe = outputs * width, taps * outputs * width
    found = Stripes(
        taps, inputs, outputs, width, inputs * outputs, -of_tap, of_stripe, (taps - 1) * of_tap
    )
    lowering.add(Turned(filters, result, found))
    return RightSide(result, width, of_stripe, vectors)


def _back_to_front(filters: Value) -> Value:
    """(taps, inputs, outputs) as (taps, outputs, inputs), the last tap first."""
    taps, inputs, outputs = filters.shape

    def formula(source: ElementSource, index: Index) -> Any:
        b = source.b
        tap, output, to = index
        return source.at(filters, (b.sub(b.index(taps - 1), tap), to, output))

    shape = (taps, outputs, inputs)
    return Indexed(filters.dtype, shape, "turned", "reverse", (filters,), formula)


def striped(x: Value, width: int, *, turned: bool) -> Value:
    """(..., k, n), or turned (..., n, k), as (..., stripes, k, width); zeros where n has ended."""
    *batch, k, n = [*x.shape[:-2], *(x.shape[-2:][::-1] if turned else x.shape[-2:])]
    stripes = -(-n // width)
    if not turned and n % width:
        return _striped_in_parts(x, width)

    def element(
        source: ElementSource, outer: Sequence[Any], stripe: Any, row: Any, lane: Any
    ) -> Any:
        at = source.b
        column = at.add(at.mul(stripe, at.index(width)), lane)
        if n == stripes * width:
            return source.at(x, [*outer, *((column, row) if turned else (row, column))])
        exists = at.compare("ult", column, at.index(n))
        column = at.select(exists, column, at.index(n - 1))
        found = source.at(x, [*outer, *((column, row) if turned else (row, column))])
        return at.select(exists, found, at.like(found, 0.0))

    def formula(source: ElementSource, index: Index) -> Any:
        return element(source, index[:-3], *index[-3:])

    def by_rows(source: ElementSource, index: Index) -> Any:
        *outer, row, stripe, lane = index
        return element(source, outer, stripe, row, lane)

    shape = (*batch, stripes, k, width)
    if turned or width < _WRITTEN_ROWS:
        return Indexed(x.dtype, shape, "stripes", "slice", (x,), formula)
    # Wide ones are quicker written row by row than stripe by stripe: fewer pages at once.
    rows = Indexed(x.dtype, (*batch, k, stripes, width), "rows", "slice", (x,), by_rows)
    part = Part(rows, lambda source, index: (*index[:-3], index[-2], index[-3], index[-1]))
    return Assembled(x.dtype, shape, "stripes", [part], None)


def _striped_in_parts(x: Value, width: int) -> Value:
    """Whole stripes, what is left of the rows, and zeros behind it: each is a plain copy."""
    *batch, k, n = x.shape
    whole, rest = divmod(n, width)

    def columns(source: ElementSource, index: Index) -> Any:
        b = source.b
        *outer, row, stripe, lane = index
        return source.at(x, (*outer, row, b.add(b.mul(stripe, b.index(width)), lane)))

    def last_columns(source: ElementSource, index: Index) -> Any:
        *outer, row, lane = index
        return source.at(x, (*outer, row, source.b.add(lane, source.b.index(whole * width))))

    def in_last_stripe(first: int) -> Callable[[ElementSource, Index], Index]:
        def place(source: ElementSource, index: Index) -> Index:
            b = source.b
            *outer, row, lane = index
            return (*outer, b.index(whole), row, b.add(lane, b.index(first)))

        return place

    left = Indexed(x.dtype, (*batch, k, rest), "rest", "slice", (x,), last_columns)
    nothing = Uniform(x.dtype, (*batch, k, width - rest), "zeros", 0)
    parts = [Part(left, in_last_stripe(0)), Part(nothing, in_last_stripe(rest))]
    if whole:
        rows = Indexed(x.dtype, (*batch, k, whole, width), "rows", "slice", (x,), columns)
        parts.insert(0, Part(rows, lambda source, at: (*at[:-3], at[-2], at[-3], at[-1])))
    return Assembled(x.dtype, (*batch, whole + 1, k, width), "stripes", parts, None)


def _padded_rows(a: Value) -> Value:
    """Matrices with something behind each row, so that rows do not lie a page apart.

    Numbers a page apart fall into one line of a cache, which holds fewer than a tile has rows.
    """
    shape = (*a.shape[:-1], a.shape[-1] + PAD)
    return Assembled(a.dtype, shape, "rows", [Part(a, lambda source, index: index)], None)


def _batch_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    rank = max(len(a), len(b))
    wide = [(1,) * (rank - len(s)) + s for s in (a, b)]
    return tuple([y if x == 1 else x for x, y in zip(*wide, strict=True)])


def _batched(x: Value, batch: tuple[int, ...]) -> tuple[Value, bool]:
    """The operand with the whole batch in memory, or one matrix that all share."""
    own = x.shape[:-2]
    if math.prod(own) == 1:
        return x, False
    return broadcast(x, (*batch, *x.shape[-2:])), True


@lowers("matmul")
def _matmul(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    a, b = inputs
    attrs = node.attrs
    out = product(lowering, node.name, a, b, attrs["transpose_a"], attrs["transpose_b"])
    return reshaped(out, static_shape(node))


Labels = tuple[Any, ...]


def contracted(
    lowering: Lowering, label: str, operands: list[tuple[Value, Labels]], wanted: Labels
) -> Value:
    """The product of two values summed over the labels that are not wanted."""
    (x, on_x), (y, on_y) = [
        _summed(v, own, set(other) | set(wanted), label)
        for (v, own), (_, other) in zip(operands, operands[::-1], strict=True)
    ]
    sizes = dict([*zip(on_x, x.shape, strict=True), *zip(on_y, y.shape, strict=True)])
    batch = [s for s in on_x if s in on_y and s in wanted]
    inner = [s for s in on_x if s in on_y and s not in wanted]
    rows = [s for s in on_x if s not in on_y]
    columns = [s for s in on_y if s not in on_x]
    a, ta = _ordered(x, on_x, (batch, rows, inner), sizes)
    b, tb = _ordered(y, on_y, (batch, inner, columns), sizes)
    out = product(lowering, label, a, b, ta, tb)
    have = (*batch, *rows, *columns)
    out = reshaped(out, tuple([sizes[s] for s in have]))
    return transposed(out, tuple([have.index(s) for s in wanted]), label)


def _summed(v: Value, own: Labels, needed: set[Any], label: str) -> tuple[Value, Labels]:
    """Without the axes nobody else has."""
    gone = tuple([i for i, s in enumerate(own) if s not in needed])
    return reduced(v, gone, "add", label), tuple([s for s in own if s in needed])


def _ordered(
    v: Value, own: Labels, parts: tuple[list[Any], list[Any], list[Any]], sizes: dict[Any, int]
) -> tuple[Value, bool]:
    """Batches of matrices, and whether these are transposed, which costs nothing."""
    batch, first, second = parts
    shape = [sizes[s] for s in batch]
    heights = [math.prod([sizes[s] for s in part]) for part in (first, second)]
    if own == (*batch, *second, *first):
        return reshaped(v, (*shape, heights[1], heights[0])), True
    order = (*batch, *first, *second)
    v = transposed(v, tuple([own.index(s) for s in order]))
    return reshaped(v, (*shape, *heights)), False


def _plain(operands: list[tuple[Value, Labels]]) -> bool:
    """Two operands, no axis named twice, none broadcast."""
    sizes: dict[Any, set[int]] = {}
    for v, own in operands:
        if len(set(own)) != len(own) or 0 in v.shape:
            return False
        for s, n in zip(own, v.shape, strict=True):
            sizes.setdefault(s, set()).add(n)
    return len(operands) == 2 and all(len(found) == 1 for found in sizes.values())


@lowers("contraction")
def _contraction(lowering: Lowering, node: Node, inputs: list[Value], *, labels_of: Any) -> Value:
    labels, output = labels_of(tuple([len(x.shape) for x in inputs]), **node.attrs)
    operands = list(zip(inputs, labels, strict=True))
    if not _plain(operands):
        raise NotCompilableError(f"this {node.op.name} stays with NumPy")
    return contracted(lowering, node.name, operands, output)


@lowers("contraction_gradient")
def _contraction_gradient(
    lowering: Lowering, node: Node, inputs: list[Value], *, labels_of: Any
) -> Value:
    _, g, *others = inputs
    attrs = {key: value for key, value in node.attrs.items() if key != "index"}
    index = node.attrs["index"]
    shape = static_shape(node)
    ranks = [len(x.shape) for x in others]
    ranks.insert(index, len(shape))
    labels, output = labels_of(tuple(ranks), **attrs)
    mine = labels[index]
    operands = [(g, output), *zip(others, [*labels[:index], *labels[index + 1 :]], strict=True)]
    present = {s for _, own in operands for s in own}
    if not _plain(operands) or len(set(mine)) != len(mine) or not set(mine) <= present:
        raise NotCompilableError(f"this {node.op.name} stays with NumPy")
    return contracted(lowering, node.name, operands, mine)
