"""Rules by which an op on one row becomes an op on all rows at once: `batch=` in an op's block.

A rule is `rule(b, node, inputs, stacked)`. The node is that of one row; `inputs` are what its
inputs have become, and `stacked` says which of these have an axis of rows in front. The rule
returns what the outputs become, all with rows; `Whole(x)` stands for a result that is the same for
every row. What no rule can do is left to a loop over the rows: `raise NotBatched`.

For example `tf.reduce_sum(row, axis=-2)` becomes `tf.reduce_sum(rows, axis=-2)`, with axis 1 it
becomes axis 2, and `row @ w` with rows `[n, 1, k]` and one `w` becomes one product `[n, k] @ w`.

Rules work on the batch `b` they are given and on the op of the node only, so any op can name one
without importing others. A rule is exact if every row of its result is, bit for bit, what the row
alone would give; `inexact` marks those that may round differently, which `Dataset.map` avoids.
"""

from __future__ import annotations

import functools
import string
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from weft._src.ops.contexts import RowBatch, RowNode

Rule = Callable[[Any, Any, list[Any], list[bool]], Any]


class NotBatched(Exception):  # noqa: N818 - a signal, not an error
    """This node has to run once for each row."""


class Whole(NamedTuple):
    """A result that is the same for every row."""

    value: Any


def rank_of(x: Any) -> int:
    """The number of axes of a tensor of one row."""
    rank: int | None = x.spec.rank
    if rank is None:
        raise NotBatched
    return rank


def _alone(stacked: Sequence[bool], *only: int) -> None:
    """Refuses rows in any but the named inputs."""
    if any(rows and i not in only for i, rows in enumerate(stacked)):
        raise NotBatched


def inexact(rule: Rule) -> Rule:
    """Marks a rule whose rows may differ from those computed alone by rounding."""

    @functools.wraps(rule)
    def rough(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
        return rule(b, node, inputs, stacked)

    rough.inexact = True  # type: ignore[attr-defined]
    return rough


# --- element by element --------------------------------------------------------------------------


def pointwise(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Rows of lower rank get axes of size one behind the rows, so that rows meet rows."""
    rank = max([rank_of(x) for x in node.inputs])
    lined_up = [
        b.expand(new, rank - rank_of(old)) if rows else new
        for old, new, rows in zip(node.inputs, inputs, stacked, strict=True)
    ]
    return node.op(*lined_up, **node.attrs)


def same_shapes(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Of inputs that have one shape: all get rows."""
    return node.op(*b.all_stacked(inputs, stacked), **node.attrs)


def first_only(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Element by element in the first input; the others are settings."""
    _alone(stacked, 0)
    return node.op(*inputs, **node.attrs)


def cut_strings(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Parts of strings: places and lengths of one shape, which may be spread over the strings."""
    ends = stacked[1] or stacked[2]
    places = b.all_stacked(inputs[1:], stacked[1:]) if ends else inputs[1:]
    return pointwise(b, node, [inputs[0], *places], [stacked[0], ends, ends])


def shape_only(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """What depends on the shape of a row is the same for all."""
    return Whole(node.op(b.one_row(inputs[0]), **node.attrs))


# --- axes ----------------------------------------------------------------------------------------


def _moved(axis: int) -> int:
    return axis + 1 if axis >= 0 else axis


def along_axis(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """One axis, which is one further back."""
    _alone(stacked, 0)
    return node.op(*inputs, **{**node.attrs, "axis": _moved(node.attrs["axis"])})


def joined_along_axis(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Tensors joined, picked or spread along an axis: all get rows."""
    made = b.all_stacked(inputs, stacked)
    return node.op(*made, **{**node.attrs, "axis": _moved(node.attrs["axis"])})


def along_axes(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """A tuple of axes; None are all axes of a row."""
    _alone(stacked, 0)
    axis = node.attrs["axis"]
    axes = range(rank_of(node.inputs[0])) if axis is None else axis
    axes = (axes,) if isinstance(axes, int) else axes
    return node.op(*inputs, **{**node.attrs, "axis": tuple([_moved(a) for a in axes])})


def summed(b: RowBatch, node: Any, inputs: list[Any], stacked: list[bool]) -> Any:
    """Sums of floats depend on their order; whole rows are added in the order they had."""
    spec, axis, keepdims = node.inputs[0].spec, node.attrs["axis"], node.attrs["keepdims"]
    if spec.dtype.is_integer or spec.dtype.is_bool or not b.exact:
        return along_axes(b, node, inputs, stacked)
    rank = rank_of(node.inputs[0])
    axes = range(rank) if axis is None else [a % rank for a in axis]
    if keepdims or set(axes) != set(range(rank)) or not spec.is_static or 0 in spec.dims:
        raise NotBatched
    return node.op(b.flat_rows(inputs[0]), axis=(1,), keepdims=False)


def expanded(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """A new axis of size one."""
    return node.op(inputs[0], axis=_moved(node.attrs["axis"]))


def squeezed(b: RowBatch, node: Any, inputs: list[Any], stacked: list[bool]) -> Any:
    """Axes of size one go, that of the rows stays."""
    spec, axis = node.inputs[0].spec, node.attrs["axis"]
    if axis is None:
        if not spec.is_static:
            raise NotBatched
        axis = [i for i, d in enumerate(spec.dims) if d == 1]
    return node.op(inputs[0], axis=tuple([_moved(a) for a in axis])) if axis else inputs[0]


def transposed(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """The rows stay in front."""
    rank, perm = rank_of(node.inputs[0]), node.attrs["perm"]
    order = range(rank)[::-1] if perm is None else [p % rank for p in perm]
    return node.op(inputs[0], perm=(0, *[p + 1 for p in order]))


# --- shapes --------------------------------------------------------------------------------------


def reshaped(b: Any, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """A shape as the second input: that of the rows, with their number in front."""
    _alone(stacked, 0)
    out = node.outputs[0].spec
    if out.is_static:
        return b.reshape_rows(inputs[0], out.dims)
    return node.op(inputs[0], b.with_rows(inputs[1]))


def broadcast(b: Any, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """A row that is broadcast gets its missing axes behind the rows."""
    _alone(stacked, 0)
    out = node.outputs[0].spec
    x = b.expand(inputs[0], rank_of(node.outputs[0]) - rank_of(node.inputs[0]))
    return node.op(x, b.with_rows(out.dims if out.is_static else inputs[1]))


def summed_to_shape(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """The inverse of broadcasting, row by row."""
    _alone(stacked, 0)
    if b.exact:
        raise NotBatched
    missing = rank_of(node.inputs[0]) - rank_of(node.outputs[0])
    kept = node.op(inputs[0], b.with_rows(inputs[1], ones=missing))
    return b.reshape(kept, b.with_rows(inputs[1])) if missing else kept


def filled(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """One number per row."""
    _alone(stacked, 1)
    rank = rank_of(node.outputs[0])
    return b.broadcast_to(b.expand(inputs[1], rank), b.with_rows(inputs[0]))


def padded(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Nothing is added to the rows."""
    _alone(stacked, 0)
    return node.op(inputs[0], b.before(inputs[1], [[0, 0]]), *inputs[2:], **node.attrs)


def padded_back(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """The gradient of padding or tiling, which is told the shape it had."""
    _alone(stacked, 0)
    first = [1] if node.inputs[1].spec.rank == 1 else [[0, 0]]
    counts, shape = b.before(inputs[1], first), b.with_rows(inputs[2])
    return node.op(inputs[0], counts, shape, **node.attrs)


def tiled(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Rows are there once."""
    _alone(stacked, 0)
    return node.op(inputs[0], b.before(inputs[1], [1]))


def ensured(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """A promised shape is that of a row."""
    shape = node.attrs["shape"]
    return node.op(inputs[0], shape=None if shape is None else (None, *shape))


# --- picking and placing -------------------------------------------------------------------------

_ALL = (None, None, None)


def sliced(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """The same slice of every row; of a number per row, what a gather does."""
    index = node.attrs["index"]
    if not any(stacked[1:]):
        return node.op(*inputs, index=(_ALL, *index))
    if index != (("input", 0),):
        raise NotBatched
    return b.picked(inputs[0], inputs[1], stacked[0], stacked[1])


def sliced_back(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """The gradient of the same slice of every row."""
    _alone(stacked, 1)
    return node.op(b.with_rows(inputs[0]), *inputs[1:], index=(_ALL, *node.attrs["index"]))


def block(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """The same block of every row."""
    _alone(stacked, 0)
    return node.op(inputs[0], b.before(inputs[1], [0]), b.before(inputs[2], [-1]))


def gathered(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Rows of tables, of one table, or of the same places in all tables."""
    axis, batch_dims = node.attrs["axis"] or 0, node.attrs["batch_dims"]
    rank = rank_of(node.inputs[0])
    axis = axis % rank if rank else axis
    params, indices = inputs
    if stacked[0] and not stacked[1] and not batch_dims:
        return node.op(params, indices, axis=axis + 1, batch_dims=0)
    if stacked[1] and not stacked[0] and not batch_dims:
        made = node.op(params, indices, axis=axis, batch_dims=0)
        out_rank = rank_of(node.outputs[0]) + 1
        order = (axis, *range(axis), *range(axis + 1, out_rank))
        return made if axis == 0 else b.transpose(made, order)
    params, indices = b.all_stacked(inputs, stacked)
    return node.op(params, indices, axis=axis + 1, batch_dims=batch_dims + 1)


def gathered_back(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """The gradient of a gather: every row adds to a table of its own."""
    if stacked[0] or node.attrs["axis"] is None:
        raise NotBatched
    dy, indices = b.all_stacked(inputs[1:], stacked[1:])
    rank = node.inputs[0].spec.dims
    if rank is None or rank[0] is None:
        raise NotBatched
    axis = node.attrs["axis"] % rank[0]
    batch_dims = node.attrs["batch_dims"] + 1
    return node.op(b.with_rows(inputs[0]), dy, indices, axis=axis + 1, batch_dims=batch_dims)


def gathered_nd(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Places in tables, or in one table."""
    if not stacked[0] and not node.attrs["batch_dims"]:
        return node.op(*inputs, **node.attrs)
    made = b.all_stacked(inputs, stacked)
    return node.op(*made, batch_dims=node.attrs["batch_dims"] + 1)


def scattered(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Every row is scattered into a tensor of its own."""
    _alone(stacked, 0, 1)
    indices, updates = b.all_stacked(inputs[:2], stacked[:2])
    batch_dims = node.attrs["batch_dims"] + 1
    return node.op(indices, updates, b.with_rows(inputs[2]), batch_dims=batch_dims)


def updated(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Places in a tensor per row: the number of the row is the first part of a place."""
    tensor, indices, updates = b.all_stacked(inputs, stacked)
    return node.op(tensor, b.with_row_numbers(indices), updates)


def one_hot(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Indices of all rows."""
    _alone(stacked, 0)
    return node.op(*inputs, **{**node.attrs, "axis": _moved(node.attrs["axis"])})


def segments(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Segments of every row have numbers of their own."""
    _alone(stacked, 0, 1)
    data, ids = b.all_stacked(inputs[:2], stacked[:2])
    numbers = b.numbered_by_row(ids, inputs[2])
    made = node.op(data, numbers, b.times_rows(inputs[2]), **node.attrs)
    return b.unmerged(made, inputs[2])


@inexact
def same_segments(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Segments that all rows have in common: the rows are one more axis behind that of segments."""
    _alone(stacked, 0)
    order = (1, 0, *range(2, rank_of(node.inputs[0]) + 1))
    return b.transpose(node.op(b.transpose(inputs[0], order), inputs[1], **node.attrs), order)


def counted(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """How often numbers occur in rows; weights, if there are any, have the shape of the numbers."""
    _alone(stacked, 0, 2)
    x, size, weights = inputs
    rank, sizes = rank_of(node.inputs[0]), node.inputs[2].spec.dims
    if sizes is None or node.inputs[0].spec.dims == (0,) or not stacked[0]:
        raise NotBatched
    given = [x] if sizes == (0,) else b.all_stacked([x, weights], [True, stacked[2]])
    if rank == 1:
        return node.op(given[0], size, given[1] if given[1:] else weights, **node.attrs)
    if rank == 0:
        rows = [b.expand(part, 1) for part in given]
        return node.op(rows[0], size, rows[1] if rows[1:] else weights, **node.attrs)
    rows = [b.merged(part) for part in given]
    made = node.op(rows[0], size, rows[1] if rows[1:] else weights, **node.attrs)
    return b.unmerged(made, b.rows_in(x))


def among_best(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Predictions and targets of all rows; how many are the best is the same for all."""
    _alone(stacked, 0, 1)
    made = b.all_stacked(inputs[:2], stacked[:2])
    found = node.op(*[b.merged(x) for x in made], inputs[2], **node.attrs)
    return b.unmerged(found, b.rows_in(made[0]))


def put_along_axis(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Values at places along an axis of a tensor per row."""
    _alone(stacked, 1, 2)
    made = b.all_stacked(inputs[1:], stacked[1:])
    return node.op(b.with_rows(inputs[0]), *made, axis=_moved(node.attrs["axis"]))


def turned_sequences(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Sequences turned around up to a length: each of a batch has one, so rows are more of them."""
    rank = rank_of(node.inputs[0])
    batch, along = node.attrs["batch_axis"] % rank, node.attrs["seq_axis"] % rank
    if not stacked[1]:
        return node.op(*inputs, batch_axis=batch + 1, seq_axis=along + 1)
    x, lengths = b.all_stacked(inputs, stacked)
    rest = [axis + 1 for axis in range(rank) if axis != batch]
    order = [0, batch + 1, *rest]
    x = b.transpose(x, order)
    made = node.op(b.merged(x), b.merged(lengths), batch_axis=0, seq_axis=rest.index(along + 1) + 1)
    back = [order.index(axis) for axis in range(rank + 1)]
    return b.transpose(b.unmerged(made, b.rows_in(x)), back)


# --- linear algebra ------------------------------------------------------------------------------


def leading(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """The op takes any number of leading axes itself; its settings have no rows."""
    _alone(stacked, 0)
    return node.op(*inputs, **node.attrs)


def eigenvalues(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Eigenvalues of all rows, and their vectors; without these there is nothing, for all rows."""
    values, vectors = node.op(*b.all_stacked(inputs, stacked), **node.attrs)
    return values, vectors if node.attrs["compute_v"] else Whole(vectors)


def systems(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Matrices with right sides, all with leading axes of one shape."""
    return node.op(*b.all_stacked(inputs, stacked), **node.attrs)


@inexact
def product(b: Any, node: Any, inputs: list[Any], stacked: list[bool]) -> Any:
    """Matrix products: with one right matrix for all rows, one large product."""
    left, right = node.inputs
    ranks = rank_of(left), rank_of(right)
    transpose_a = node.attrs["transpose_a"]
    if stacked == [True, False] and ranks == (2, 2) and not transpose_a:
        return b.unmerged(
            node.op(b.merged(inputs[0]), inputs[1], **node.attrs), b.rows_in(inputs[0])
        )
    rank = max(ranks)
    lined_up = [
        b.expand(new, rank - r) if rows else new
        for new, r, rows in zip(inputs, ranks, stacked, strict=True)
    ]
    summed = left.spec.dims[-2 if transpose_a else -1]
    if summed == 1 and all(x.spec.dtype.is_floating for x in node.inputs):  # a column by a row
        return b.outer(*lined_up, transpose_a, node.attrs["transpose_b"])
    return node.op(*lined_up, **node.attrs)


def _with_letter(equation: str, inputs: Sequence[bool], letter: str) -> str:
    left, right = equation.split("->")
    terms = [letter + term if rows else term for term, rows in zip(left.split(","), inputs)]
    return f"{','.join(terms)}->{letter}{right}"


def _unused_letter(equation: str) -> str:
    return next(letter for letter in string.ascii_letters if letter not in equation)


@inexact
def einsum(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """The rows are one more letter, in front of the inputs that have rows and of the output."""
    equation = node.attrs["equation"]
    with_rows = _with_letter(equation, stacked, _unused_letter(equation))
    return node.op(*inputs, equation=with_rows)


@inexact
def einsum_back(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """The gradient of one input of a product: it has rows, and so has that of the output."""
    shape, g, *others = inputs
    equation, index = node.attrs["equation"], node.attrs["index"]
    flags = [*stacked[2 : 2 + index], True, *stacked[2 + index :]]
    with_rows = _with_letter(equation, flags, _unused_letter(equation))
    g = g if stacked[1] else b.stack(g)
    return node.op(b.with_rows(shape), g, *others, equation=with_rows, index=index)


# --- layers of networks --------------------------------------------------------------------------


def merged(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Images: the rows and the images of a row are one axis while the op runs."""
    _alone(stacked, 0)
    made = node.op(b.merged(inputs[0]), *inputs[1:], **node.attrs)
    return b.unmerged(made, b.rows_in(inputs[0]))


@inexact
def merged_all(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Several tensors of the same images: their first axes are joined with the rows."""
    made = b.all_stacked(inputs, stacked)
    out = node.op(*[b.merged(x) for x in made], **node.attrs)
    rows = b.rows_in(made[0])
    outs = out if isinstance(out, (list, tuple)) else [out]
    split = [b.unmerged(x, rows) for x in outs]
    return split if isinstance(out, (list, tuple)) else split[0]


@inexact
def merged_back(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """The gradient with respect to images: sizes first, the gradient last, the filter between."""
    last = len(inputs) - 1
    _alone(stacked, last)
    sizes = b.merged_shape(inputs[0])
    made = node.op(sizes, *inputs[1:-1], b.merged(inputs[-1]), **node.attrs)
    return b.unmerged(made, b.rows_in(inputs[-1]))


@inexact
def channel_sums(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """The gradient of a bias: all axes of a row but that of the channels."""
    rank = rank_of(node.inputs[0])
    channel = 1 if node.attrs["channels_first"] else rank - 1
    return b.sum(inputs[0], [a + 1 for a in range(rank) if a != channel])


@inexact
def half_of_squares(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Half of the sum of squares of each row."""
    return b.half_of_squares(inputs[0])


# --- effects -------------------------------------------------------------------------------------


def asserted(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """The first row for which it does not hold is the one that is reported."""
    return b.asserted(node, inputs, stacked)


# --- stacks: every element has rows --------------------------------------------------------------


def pushed(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """An element with rows is added, or takes a place that is the same for all rows."""
    handle, *places, item = inputs
    _alone(stacked, 0, len(inputs) - 1)
    handle = handle if stacked[0] else b.list_with_rows(handle)
    return node.op(handle, *places, item if stacked[-1] else b.stack(item), **node.attrs)


def read(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """An element at a place that is the same for all rows."""
    _alone(stacked, 0)
    return node.op(*inputs, **{**node.attrs, "shape": b.dims_with_rows(node.attrs["shape"])})


def read_shaped(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """As `read`, where the shape is the last input."""
    _alone(stacked, 0)
    return node.op(*inputs[:-1], b.with_rows(inputs[-1]), **node.attrs)


def unstacked_list(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """The elements of every row, which stand one behind the other."""
    _alone(stacked, 0)
    rank = rank_of(node.outputs[0]) + 1
    made = node.op(*inputs, **{**node.attrs, "shape": b.dims_with_rows(node.attrs["shape"])})
    return b.transpose(made, (1, 0, *range(2, rank)))


def list_of_rows(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """A list of what stands at one place in every row."""
    rank = rank_of(node.inputs[0]) + 1
    return node.op(b.transpose(inputs[0], (1, 0, *range(2, rank))), **node.attrs)


def same_list(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """What does not look into elements."""
    _alone(stacked, 0)
    return node.op(*inputs, **node.attrs)


def added_lists(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Lists added element by element."""
    made = [x if rows else b.list_with_rows(x) for x, rows in zip(inputs, stacked, strict=True)]
    return node.op(*made, **node.attrs)


def length_of_list(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """The number of elements is the same for all rows."""
    return Whole(node.op(*inputs, **node.attrs))
