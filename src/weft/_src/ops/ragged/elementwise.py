"""Elementwise ops on ragged tensors: they run on the flat values, and the rows stay what they are.

Ragged operands must have rows of equal lengths. A tensor is spread over the rows: along ragged axes
it has size one (or no such axes), or the length of all rows; and one row, or as many as there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft._src import nest
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.ops.arrays import joining, shape as shapes
from weft._src.ops.elementwise import arithmetic, comparison
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import gathering
from weft._src.ops.ragged import rows
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.registry import Op


def apply(op: Op, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None) -> RaggedTensor:
    """An elementwise op of which at least one input is ragged."""
    frame = same_rows(op.name, [x for x in inputs if isinstance(x, RaggedTensor)])
    flat = [
        x.flat_values if isinstance(x, RaggedTensor) else _spread(op.name, x, frame) for x in inputs
    ]
    return frame.with_flat_values(op(*flat, name=name, **attrs))


def same_rows(what: str, parts: Sequence[RaggedTensor]) -> RaggedTensor:
    """The first of several ragged tensors, after a check that all have the same rows."""
    frame = parts[0]
    for other in parts[1:]:
        if other.ragged_rank != frame.ragged_rank:
            raise ShapeError(
                f"{what}: ragged operands must have the same number of ragged axes, got "
                f"{frame.ragged_rank} and {other.ragged_rank}."
            )
        for a, b in zip(frame.nested_row_splits, other.nested_row_splits, strict=True):
            rows.check_same(a, b, what)
    return frame


def _spread(what: str, x: Tensor, frame: RaggedTensor) -> Tensor:
    """A tensor as flat values: one row of it for each value of the ragged tensor."""
    rank, frame_rank = x.shape.rank, frame.shape.rank
    if rank is None or frame_rank is None:
        raise ShapeError(
            f"{what}: the rank of operands of a RaggedTensor must be known while tracing."
        )
    if rank > frame_rank:
        raise ShapeError(
            f"{what}: a tensor of rank {rank} does not fit a RaggedTensor of rank {frame_rank}."
        )
    inner = frame_rank - 1 - frame.ragged_rank
    if rank <= inner:
        return x
    for _ in range(frame_rank - rank):
        x = shapes.expand_dims(x, 0)
    for splits in frame.nested_row_splits:
        x = _next_level(what, x, splits)
    return x


def _next_level(what: str, x: Tensor, splits: Tensor) -> Tensor:
    """Of each row of x the element for every value of the row, or its only one for all of them."""
    count, have = rows.count(splits, splits.dtype) - 1, rows.count(x, splits.dtype)
    text = f"{what}: a tensor next to a RaggedTensor must have one row, or as many"
    names = ("its rows", "rows of the RaggedTensor")
    require(_one_or_equal, [have, count], text, names)
    own = rows.rowids(splits)
    ids = arithmetic.minimum(own, have - 1)  # a single row goes with every value
    width = x.shape[1]
    if width not in (None, 1):
        text = f"{what}: the ragged operands must have rows of equal lengths"
        lengths = rows.lengths(splits)
        require(lambda n: comparison.equal(n, width), [lengths], text, ("lengths of rows",),
                more=[f"beside {width}"])  # fmt: skip
        return gathering.gather_nd(x, joining.stack([ids, rows.columns(splits, own)], axis=1))
    return gathering.gather(shapes.squeeze(x, 1), ids)


def _one_or_equal(have: Tensor, count: Tensor) -> Tensor:
    return comparison.logical_or(comparison.equal(have, 1), comparison.equal(have, count))


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a function with ragged tensors replaced by their flat values; its result gets the rows.

    Args:
      op: a function that returns a tensor with as many rows as the flat values have.
      *args: its arguments; ragged tensors, also in lists and dicts, must have the same rows.
      **kwargs: its keyword arguments.

    Returns:
      A `tf.RaggedTensor`; what `op` returns if no argument is ragged.

    Raises:
      TypeError: if `op` cannot be called.
      ShapeError: if the ragged tensors have different numbers of ragged axes.
      InvalidArgumentError: if their rows have different lengths.

    >>> rt = tf.ragged.constant([[1, 2, 3], [], [4, 5]])
    >>> tf.ragged.map_flat_values(tf.multiply, rt, 10).to_list()
    [[10, 20, 30], [], [40, 50]]
    """
    if not callable(op):
        raise TypeError(f"map_flat_values: op must be callable, got {op!r}.")
    try:
        leaves = nest.flatten([args, kwargs])
    except RecursionError:
        raise ValueError("map_flat_values: an argument contains itself.") from None
    parts = [x for x in leaves if isinstance(x, RaggedTensor)]
    if not parts:
        return op(*args, **kwargs)
    frame = same_rows("map_flat_values", parts)
    flat_args, flat_kwargs = nest.map_structure(
        lambda x: x.flat_values if isinstance(x, RaggedTensor) else x, [args, kwargs]
    )
    return frame.with_flat_values(op(*flat_args, **flat_kwargs))
