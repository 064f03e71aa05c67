"""Jacobians: one backward sweep per element of the target, stacked.

A sweep is traced for one element and done for all of them at once (`graph.batching`); what cannot
be batched is a loop over the elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft._src.core.context import building, state
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import int32
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.graph import row_maps
from weft._src.ops.arrays import fill, joining, ranges, shape as shapes
from weft._src.ops.batching import NotBatched
from weft._src.ops.control import functional
from weft._src.ops.elementwise import arithmetic
from weft._src.ops.indexing.one_hot import one_hot

# From the gradient of the target to those of the sources.
Pull = Callable[[Tensor], Sequence[Tensor | None]]


def jacobian(target: Tensor, sources: Sequence[Any], pull: Pull) -> list[Tensor | None]:
    """d target / d source for each source, of shape `target.shape + source.shape`."""
    size = _size(target)

    def seed(i: Any) -> Tensor:
        return shapes.reshape(one_hot(i, size, dtype=target.dtype), shapes.shape(target))

    rows = _rows(size, seed, pull, target)
    return [
        None if row is None else _with_shape(row, [target, source])
        for row, source in zip(rows, sources, strict=True)
    ]


def batch_jacobian(target: Tensor, source: Any, pull: Pull) -> Tensor | None:
    """d target[b] / d source[b] for every b: `[batch, *target.shape[1:], *source.shape[1:]]`."""
    batch = shapes.shape(target)[0]
    inner = shapes.shape(target)[1:]
    size = _size(target, first_axis=1)

    def seed(i: Any) -> Tensor:
        row = shapes.reshape(one_hot(i, size, dtype=target.dtype), inner)
        return shapes.broadcast_to(row, shapes.shape(target))

    (rows,) = _rows(size, seed, pull, target)
    if rows is None:
        return None
    flat = shapes.reshape(rows, joining.stack([size, batch, -1]))
    by_batch = shapes.transpose(flat, [1, 0, 2])
    dims = joining.concat([shapes.shape(target), shapes.shape(source)[1:]], 0)
    out = shapes.reshape(by_batch, dims)
    if state.graph is not None:
        out.set_shape(target.shape.concatenate(source.shape[1:]))
    return out


def check_batched(target: Tensor, source: Any) -> None:
    """Both need at least two axes, the first of the same size."""
    for name, shape in (("target", target.shape), ("source", source.shape)):
        if shape.rank is not None and shape.rank < 2:
            raise ShapeError(
                f"batch_jacobian: {name} must have at least two axes, of which the first is the "
                f"batch, got shape {shape}."
            )
    a, b = (None if s.rank is None else s[0] for s in (target.shape, source.shape))
    if a is not None and b is not None and a != b:
        raise ShapeError(
            "batch_jacobian: target and source must have first axes of one size, got shapes "
            f"{target.shape} and {source.shape}."
        )


def _size(target: Tensor, first_axis: int = 0) -> Any:
    """The number of elements behind an axis: a Python int if it is known."""
    static = None if target.shape.rank is None else target.shape[first_axis:].num_elements()
    if static is not None:
        return static
    dims = shapes.shape(target)[first_axis:]
    return shapes.size(fill.zeros(dims, int32))


def _rows(size: Any, seed: Callable[[Any], Tensor], pull: Pull, target: Tensor) -> list[Any]:
    """What each element of the target gives, stacked: all sweeps at once, where possible."""
    if state.graph is None and size == 0:
        return [
            None if g is None else joining.stack([g])[:0] for g in pull(fill.zeros_like(target))
        ]
    # One row even if the target is empty: it tells the shape of the rows there are not.
    count = max(size, 1) if isinstance(size, int) else arithmetic.maximum(size, 1)
    try:
        rows = row_maps.rows_of(lambda i: pull(seed(i)), ranges.range(count), count)
    except NotBatched:
        rows = _one_by_one(count, lambda i: pull(seed(i)))
    is_empty = not isinstance(size, int) or size == 0
    return [r[:size] if r is not None and is_empty else r for r in rows]


def _one_by_one(count: Any, row: Callable[[Any], Sequence[Tensor | None]]) -> list[Any]:
    """A sweep per element: a Python loop, or in a graph one loop whose body is traced once."""
    if state.graph is None:
        columns = zip(*[row(i) for i in range(count)], strict=True)
        return [None if column[0] is None else joining.stack(column) for column in columns]
    with building(state.graph.nested("jacobian_probe")):
        probe = row(convert_to_tensor(0))
    specs = [TensorSpec(None, g.dtype) for g in probe if g is not None]
    made = functional.map_fn(
        lambda i: [g for g in row(i) if g is not None],
        ranges.range(count), fn_output_signature=specs, parallel_iterations=1, name="jacobian",
    )  # fmt: skip
    found = iter(made)
    return [None if g is None else next(found) for g in probe]


def zeros(target: Tensor, source: Tensor) -> Tensor:
    """The Jacobian of a target that does not depend on the source."""
    dims = joining.concat([shapes.shape(target), shapes.shape(source)], 0)
    return fill.zeros(dims, convert_to_tensor(source).dtype)


def batch_zeros(target: Tensor, source: Any) -> Tensor:
    """The Jacobians of the rows of a target that does not depend on the source."""
    dims = joining.concat([shapes.shape(target), shapes.shape(source)[1:]], 0)
    return fill.zeros(dims, target.dtype)


def _with_shape(rows: Tensor, parts: Sequence[Any]) -> Tensor:
    """Rows as one tensor whose shape is that of the parts one after the other."""
    out = shapes.reshape(rows, joining.concat([shapes.shape(part) for part in parts], 0))
    if state.graph is not None:
        out.set_shape(parts[0].shape.concatenate(parts[1].shape))
    return out
