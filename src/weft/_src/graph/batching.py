"""One batching transform: a traced function of one row becomes a function of all rows at once.

The graph of one row is walked, and every node is done again, for all rows, with the rule its op
names (`batch=` in the block, see `ops.batching`). It is done where the caller is: eagerly the ops
run at once, while a graph is built they become nodes of it, under a tape they are recorded. So
what comes out differentiates, compiles and batches again like everything else.

    graph of one row                        what is done for n rows
    x : float32[3]                          x : float32[n, 3]
    m = Mean(x, axis=(0,))                  m = Mean(x, axis=(1,))          float32[n]
    y = Sub(x, m)                           y = Sub(x, ExpandDims(m, 1))    float32[n, 3]
    z = MatMul(w, y)  (w is captured)       z = MatMul(w, y)                w has no rows

What does not depend on a row is computed once. A node without a rule runs in a loop over the rows,
alone; control flow is batched by `batched_control`. What cannot be done at all (effects, whose
order is that of the rows) is `NotBatched`, and the caller runs the whole function row by row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType, int32
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.graph import batched_control
from weft._src.graph.ir import Graph, Node
from weft._src.ops.arrays import joining, ranges, selection, shape as shapes
from weft._src.ops.batching import NotBatched, Rule, Whole, pointwise
from weft._src.ops.control import stack as stacks
from weft._src.ops.control.functional import map_fn
from weft._src.ops.elementwise import casting, comparison
from weft._src.ops.host.asserting import assert_op
from weft._src.ops.indexing.gathering import gather
from weft._src.ops.linalg.products import matrix_transpose
from weft._src.ops.reduce import logic, order, sums
from weft._src.ops.registry import STRUCTURED, Op
from weft._src.ops.static import static_value

_MOST_NODES = 20_000
_EMPTY_LISTS = frozenset({stacks.reserve_op, stacks.zeros_op})


class Batch:
    """The rows a function is run for, and what rules may do with them."""

    def __init__(self, n: Any, *, exact: bool = False, loops: bool = True) -> None:
        self.n = n  # an int, or a scalar int32 tensor
        self.exact = exact  # whether rows must be, bit for bit, what they would be alone
        self.loops = loops  # whether what has no rule may loop over the rows
        self._empty_lists: dict[int, Any] = {}  # to which elements with rows may be added

    # --- running -----------------------------------------------------------------------------

    def run(
        self, graph: Graph, values: Sequence[Any], stacked: Sequence[bool]
    ) -> list[tuple[Any, bool]]:
        """The outputs of a graph, and which of them have rows; values are of captures, too."""
        if len(graph.nodes) > _MOST_NODES:
            raise NotBatched
        known: dict[int, tuple[Any, bool]] = {}
        parameters = [*graph.inputs, *[inner for _, inner in graph.captures]]
        for x, value, rows in zip(parameters, values, stacked, strict=True):
            known[id(x)] = (value, rows)
        for node in graph.nodes:
            if node.op.name != "Placeholder":
                self._visit(node, known)
        return [known[id(out)] for out in graph.outputs]

    def _visit(self, node: Node, known: dict[int, tuple[Any, bool]]) -> None:
        inputs = [known[id(x)][0] for x in node.inputs]
        stacked = [known[id(x)][1] for x in node.inputs]
        if node.effects.must_run and node.op is not assert_op:
            raise NotBatched
        if not any(stacked):
            made = [(x, False) for x in self._once(node, inputs)]
        elif node.op.kernel is STRUCTURED:
            made = batched_control.run(self, node, inputs, stacked)
        else:
            made = self._by_rule(node, inputs, stacked)
        for old, new in zip(node.outputs, made, strict=True):
            known[id(old)] = new

    def _once(self, node: Node, inputs: list[Any]) -> list[Any]:
        """What is the same for every row."""
        if node.op.name == "Const":
            return [convert_to_tensor(node.attrs["value"], node.outputs[0].dtype)]
        if node.op.kernel is STRUCTURED:
            return [x for x, _ in batched_control.run(self, node, inputs, [False] * len(inputs))]
        made = _listed(node.op(*inputs, **node.attrs))
        if node.op in _EMPTY_LISTS:
            self._empty_lists[id(made[0])] = made[0]
        return made

    def _by_rule(
        self, node: Node, inputs: list[Any], stacked: list[bool]
    ) -> list[tuple[Any, bool]]:
        rule = rule_of(node.op)
        if rule is not None and not (self.exact and getattr(rule, "inexact", False)):
            try:
                made = rule(self, node, inputs, stacked)
            except NotBatched:
                pass
            else:
                return [
                    (x.value, False) if isinstance(x, Whole) else (x, True) for x in _listed(made)
                ]
        if not self.loops:
            raise NotBatched
        return [(x, True) for x in self.looped(node, inputs, stacked)]

    def looped(self, node: Node, inputs: list[Any], stacked: list[bool]) -> list[Any]:
        """A node done once for each row, if all rows have results of one shape."""
        if any(
            not out.spec.is_static or out.dtype.name in ("variant", "resource")
            for out in node.outputs
        ):
            raise NotBatched
        if any(
            rows and x.dtype.name in ("variant", "resource") for x, rows in zip(inputs, stacked)
        ):
            raise NotBatched
        moving = [x for x, rows in zip(inputs, stacked, strict=True) if rows]

        def row(parts: Sequence[Any]) -> Any:
            rest = iter(parts)
            full = [next(rest) if rows else x for x, rows in zip(inputs, stacked, strict=True)]
            return self._once(node, full)

        specs = [TensorSpec(out.shape, out.dtype) for out in node.outputs]
        return _listed(map_fn(row, moving, fn_output_signature=specs, parallel_iterations=1))

    # --- rows --------------------------------------------------------------------------------

    def expand(self, x: Tensor, missing: int) -> Tensor:
        """Axes of size one behind the rows."""
        if missing <= 0:
            return x
        dims = None if x.spec.dims is None else x.spec.dims[1:]
        if dims is not None and all(isinstance(d, int) for d in dims):
            return self.reshape_rows(x, (*[1] * missing, *dims))  # type: ignore[arg-type]
        for _ in range(missing):
            x = shapes.expand_dims_op(x, axis=1)
        return x

    def reshape_rows(self, x: Tensor, dims: Sequence[int]) -> Tensor:
        """Every row in another shape."""
        if isinstance(self.n, int):
            return shapes.reshape_op(x, _vector((self.n, *dims)))
        return shapes.reshape_op(x, self.with_rows(dims) if 0 in dims else _vector((-1, *dims)))

    def stack(self, x: Tensor) -> Tensor:
        """The same for every row."""
        return shapes.broadcast_to_op(
            shapes.expand_dims_op(x, axis=0), self.with_rows(self._dims(x))
        )

    def list_with_rows(self, x: Tensor) -> Tensor:
        """A list without rows, to which elements with rows are added: it has to be empty."""
        if id(x) not in self._empty_lists:
            raise NotBatched
        return x

    def all_stacked(self, inputs: Sequence[Any], stacked: Sequence[bool]) -> list[Any]:
        """All inputs with rows."""
        return [x if rows else self.stack(x) for x, rows in zip(inputs, stacked, strict=True)]

    def one_row(self, x: Tensor) -> Tensor:
        """The first row, for what asks for its shape only."""
        return shapes.reshape_op(x[:1], shapes.shape(x)[1:])

    def flat_rows(self, x: Tensor) -> Tensor:
        """Every row as a vector."""
        return self.reshape_rows(x, [math.prod(x.spec.dims[1:])])  # type: ignore[index, arg-type]

    # --- shapes ------------------------------------------------------------------------------

    def _dims(self, x: Tensor) -> Any:
        return x.spec.dims if x.spec.is_static else shapes.shape(x)

    def dims_with_rows(self, dims: Any) -> Any:
        """The sizes of an element, as an attribute has them, with the number of rows in front."""
        return None if dims is None else (self.n if isinstance(self.n, int) else Dim(), *dims)

    def with_rows(self, shape: Any, ones: int = 0) -> Tensor:
        """A shape (sizes, or a tensor of them) with the number of rows in front."""
        if isinstance(shape, Tensor):
            static = static_value(shape)
            if static is None or not isinstance(self.n, int):
                first: list[TensorLike] = [casting.cast(self.n, shape.dtype), *[1] * ones]
                front = joining.stack([convert_to_tensor(i, shape.dtype) for i in first])
                return joining.concat([front, shape], 0)
            return convert_to_tensor(np.array([self.n, *[1] * ones, *static], static.dtype))
        if isinstance(self.n, int):
            return _vector((self.n, *[1] * ones, *shape))
        return joining.stack([self.n, *[convert_to_tensor(i, int32) for i in ([1] * ones)],
                              *[convert_to_tensor(i, int32) for i in shape]])  # fmt: skip

    def before(self, x: Tensor, first: Any) -> Tensor:
        """Settings per axis, with one for the rows in front."""
        front = convert_to_tensor(np.array(first), x.dtype)
        is_empty = x.spec.is_static and 0 in (x.spec.dims or ())  # the settings of a scalar
        return front if is_empty else joining.concat([front, x], 0)

    def reshape(self, x: Tensor, shape: Tensor) -> Tensor:
        """The elements in another shape."""
        return shapes.reshape_op(x, shape)

    def broadcast_to(self, x: Tensor, shape: Tensor) -> Tensor:
        """The tensor repeated to a shape."""
        return shapes.broadcast_to_op(x, shape)

    def transpose(self, x: Tensor, order: Sequence[int]) -> Tensor:
        """The axes in another order."""
        return shapes.transpose_op(x, perm=tuple(order))

    def merged(self, x: Tensor) -> Tensor:
        """The rows and the first axis of a row as one axis."""
        if x.spec.is_static:
            first, second, *rest = _sizes(x)
            return shapes.reshape_op(x, _vector((first * second, *rest)))
        sizes = shapes.shape(x)
        return shapes.reshape(x, joining.concat([[sizes[0] * sizes[1]], sizes[2:]], 0))

    def rows_in(self, x: Tensor) -> Any:
        """The size of the first axis of a row."""
        size = None if x.spec.dims is None else x.spec.dims[1]
        return size if isinstance(size, int) else shapes.shape(x)[1]

    def unmerged(self, x: Tensor, inner: Any) -> Tensor:
        """The first axis as rows and the first axis of a row again."""
        known = static_value(inner) if isinstance(inner, Tensor) else inner
        inner = inner if known is None else known
        if isinstance(self.n, int) and not isinstance(inner, Tensor) and x.spec.is_static:
            return shapes.reshape_op(x, _vector((self.n, int(inner), *_sizes(x)[1:])))
        front = joining.stack([casting.cast(self.n, int32), casting.cast(inner, int32)])
        return shapes.reshape(x, joining.concat([front, shapes.shape(x)[1:]], 0))

    def merged_shape(self, shape: Tensor) -> Tensor:
        """The shape of images of a row as that of the images of all rows."""
        n = casting.cast(self.n, shape.dtype)
        return joining.concat([shape[:1] * n, shape[1:]], 0)

    def times_rows(self, count: Tensor) -> Tensor:
        """So many for each row."""
        return count * casting.cast(self.n, count.dtype)

    # --- numbers of rows ---------------------------------------------------------------------

    def numbers(self, dtype: DType) -> Tensor:
        """0 to n - 1."""
        return ranges.range(casting.cast(self.n, dtype))

    def with_row_numbers(self, indices: Tensor) -> Tensor:
        """Places in a row as places in all rows."""
        numbers = self.expand(self.numbers(indices.dtype), (indices.spec.rank or 2) - 1)
        first = shapes.broadcast_to(numbers, shapes.shape(indices[..., :1]))
        return joining.concat([first, indices], -1)

    def numbered_by_row(self, ids: Tensor, count: Tensor) -> Tensor:
        """Numbers below `count` made different for every row; those out of range stay so."""
        count = casting.cast(count, ids.dtype)
        numbers = self.expand(self.numbers(ids.dtype), (ids.spec.rank or 1) - 1)
        inside = comparison.less(ids, count)
        moved = selection.where(inside, ids + numbers * count, self.times_rows(count))
        return selection.where(comparison.less(ids, 0), -1, moved)

    def picked(self, x: Tensor, i: Tensor, x_rows: bool, i_rows: bool) -> Tensor:
        """x[i] for a number i per row."""
        size = shapes.shape(x)[1 if x_rows else 0]
        i = selection.where(comparison.less(i, 0), i + casting.cast(size, i.dtype), i)
        if not x_rows:
            return gather(x, i)
        return gather(x, i, axis=1, batch_dims=1)

    # --- sums, checks ------------------------------------------------------------------------

    def sum(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        """A sum over axes."""
        return sums.reduce_sum(x, list(axes))

    def outer(self, x: Tensor, y: Tensor, turn_x: bool, turn_y: bool) -> Tensor:
        """Products of columns and rows: every element is one product."""
        column = matrix_transpose(x) if turn_x else x
        row = matrix_transpose(y) if turn_y else y
        return column * row

    def half_of_squares(self, x: Tensor) -> Tensor:
        """Half of the sum of the squares of each row."""
        axes = list(range(1, len(x.shape)))
        return sums.reduce_sum(x * x, axes) * convert_to_tensor(0.5, x.dtype)

    def asserted(self, node: Node, inputs: list[Any], stacked: list[bool]) -> list[Any]:
        """Checks all rows at once, and reports the first one that fails."""
        condition, *data = inputs
        if not stacked[0]:
            kept = [x[0] if rows else x for x, rows in zip(data, stacked[1:], strict=True)]
            return _listed(node.op(condition, *kept, **node.attrs))
        first = order.argmin(casting.cast(condition, int32))
        kept = [x[first] if rows else x for x, rows in zip(data, stacked[1:], strict=True)]
        return _listed(node.op(logic.reduce_all(condition), *kept, **node.attrs))


def _listed(made: Any) -> list[Any]:
    if made is None:
        return []
    return list(made) if isinstance(made, (list, tuple)) and not isinstance(made, Whole) else [made]


def _sizes(x: Tensor) -> list[int]:
    return [d for d in x.shape if d is not None]  # all of them are known


def _vector(sizes: Sequence[int]) -> Tensor:
    return convert_to_tensor(np.array(sizes, np.int32))


def rule_of(op: Op) -> Rule | None:
    """The batching rule of an op, None if it runs row by row."""
    return pointwise if op.batch is None and op.elementwise else op.batch


def with_all_rows(batch: Batch, outputs: Sequence[tuple[Any, bool]]) -> list[Any]:
    """Outputs of which those without rows are repeated."""
    return [x if rows else batch.stack(x) for x, rows in outputs]
