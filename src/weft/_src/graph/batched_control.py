"""Calls, branches and loops of one row, done for all rows at once.

A condition that is the same for every row stays a condition. One that differs from row to row runs
every branch that some row takes, for all rows, and each row keeps the results of its own branch:

    y = x if x > 0 else -x  (x per row)     y = where(x > 0, x, -x)

Rows that do not take a branch are replaced by one that does while it runs, so a check in it raises
for no row that would not have met it, and gradients of what they do not use are 0 and not NaN. A
loop runs until all rows are done; rows that are done keep what they have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from weft._src.core.dtypes import int32
from weft._src.core.shapes import TensorShape
from weft._src.core.tensor import Tensor
from weft._src.graph.ir import Graph, Node
from weft._src.ops import batching
from weft._src.ops.arrays import fill, selection
from weft._src.ops.batching import NotBatched
from weft._src.ops.control.branch import cond, switch_case
from weft._src.ops.control.loop import LOOP_NAMES, while_loop
from weft._src.ops.elementwise import casting, comparison
from weft._src.ops.reduce import logic, order

if TYPE_CHECKING:
    from weft._src.graph.batching import Batch

# The rules of results that are the same for every row, whatever their inputs are.
_OF_SHAPES = (batching.shape_only, batching.length_of_list)
_NEVER_FAIL = (*_OF_SHAPES, batching.along_axes, batching.summed, batching.expanded)
Outputs = list[tuple[Any, bool]]


def run(batch: Batch, node: Node, inputs: list[Any], stacked: list[bool]) -> Outputs:
    """A node with nested graphs, some inputs of which have rows."""
    name = node.op.name
    if name == "PartitionedCall":
        return batch.run(node.attrs["body"], inputs, stacked)
    if name in LOOP_NAMES:
        return _loop(batch, node, inputs, stacked)
    if stacked[0]:
        return _branches_by_row(batch, node, inputs, stacked)
    return _branches(batch, node, inputs, stacked)


# --- what will have rows -------------------------------------------------------------------------


def with_rows(graph: Graph, stacked: Sequence[bool]) -> list[bool]:
    """Which outputs of a graph have rows if some of its inputs have."""
    parameters = [*graph.inputs, *[inner for _, inner in graph.captures]]
    known = {id(x): rows for x, rows in zip(parameters, stacked, strict=True)}
    for node in graph.nodes:
        if node.op.name != "Placeholder":
            outs = _outputs_with_rows(node, [known[id(x)] for x in node.inputs])
            known.update({id(x): rows for x, rows in zip(node.outputs, outs, strict=True)})
    return [known[id(out)] for out in graph.outputs]


def _outputs_with_rows(node: Node, stacked: list[bool]) -> list[bool]:
    name = node.op.name
    if name == "PartitionedCall":
        return with_rows(node.attrs["body"], stacked)
    if name in LOOP_NAMES:
        return _settled(node, stacked)[0]
    if "branches" in node.attrs and not stacked[0]:
        found = [with_rows(branch, stacked[1:]) for branch in node.attrs["branches"]]
        return [any(column) for column in zip(*found, strict=True)]
    rows = any(stacked) and node.op.batch not in _OF_SHAPES
    return [rows] * len(node.outputs)


def _settled(node: Node, stacked: list[bool]) -> tuple[list[bool], bool]:
    """Which variables of a loop have rows from some iteration on, and whether its condition has."""
    count = len(node.outputs)
    variables, captured = stacked[:count], stacked[count:]
    while True:
        by_row = with_rows(node.attrs["cond"], [*variables, *captured])[0]
        after = with_rows(node.attrs["body"], [*variables, *captured])
        new = [by_row or a or b for a, b in zip(variables, after, strict=True)]
        if new == variables:
            return variables, by_row
        variables = new


# --- branches ------------------------------------------------------------------------------------


def _branches(batch: Batch, node: Node, inputs: list[Any], stacked: list[bool]) -> Outputs:
    """All rows take the same branch."""
    branches = node.attrs["branches"]
    wanted = _outputs_with_rows(node, stacked)

    def run_branch(branch: Graph) -> list[Any]:
        found = batch.run(branch, inputs[1:], stacked[1:])
        return [
            batch.stack(x) if need and not rows else x
            for (x, rows), need in zip(found, wanted, strict=True)
        ]

    if node.op.name == "If":
        made = cond(inputs[0], lambda: run_branch(branches[0]), lambda: run_branch(branches[1]))
    else:
        made = switch_case(
            inputs[0], [lambda branch=branch: run_branch(branch) for branch in branches]
        )
    return list(zip(made, wanted, strict=True))


def _branches_by_row(batch: Batch, node: Node, inputs: list[Any], stacked: list[bool]) -> Outputs:
    """Every row takes its own branch."""
    specs = [out.spec for out in node.outputs]
    if any(not spec.is_static or spec.dtype.name in ("variant", "resource") for spec in specs):
        return [(x, True) for x in batch.looped(node, inputs, stacked)]
    selector, *rest = inputs
    branches = node.attrs["branches"]
    if node.op.name == "If":
        masks = [selector, comparison.logical_not(selector)]
    else:
        last = len(branches) - 1
        outside = comparison.logical_or(
            comparison.less(selector, 0), comparison.greater(selector, last)
        )
        chosen = selection.where(outside, last, selector)
        masks = [comparison.equal(chosen, k) for k in range(len(branches))]
    results = [
        _branch_for(batch, branch, mask, rest, stacked[1:], specs)
        for branch, mask in zip(branches, masks, strict=True)
    ]
    out = results[-1]
    for mask, mine in zip(masks[:-1], results[:-1], strict=True):
        out = [_choose(batch, mask, x, y) for x, y in zip(mine, out, strict=True)]
    return [(x, True) for x in out]


def _branch_for(
    batch: Batch,
    branch: Graph,
    mask: Tensor,
    inputs: list[Any],
    stacked: list[bool],
    specs: Sequence[Any],
) -> list[Any]:
    """The results of a branch for the rows that take it; zeros if there are none."""

    def taken() -> list[Any]:
        found = batch.run(branch, only(batch, mask, inputs, stacked), stacked)
        return [x if rows else batch.stack(x) for x, rows in found]

    def left() -> list[Any]:
        return [fill.zeros(batch.with_rows(spec.dims), spec.dtype) for spec in specs]

    return list(cond(logic.reduce_any(mask), taken, left))


def only(batch: Batch, mask: Tensor, inputs: Sequence[Any], stacked: Sequence[bool]) -> list[Any]:
    """The inputs with the rows outside of a mask replaced by the first one inside."""
    if any(rows and x.dtype.name in ("variant", "resource") for x, rows in zip(inputs, stacked)):
        raise NotBatched
    first = order.argmax(casting.cast(mask, int32))
    return [
        _choose(batch, mask, x, x[first][None]) if rows else x
        for x, rows in zip(inputs, stacked, strict=True)
    ]


def _choose(batch: Batch, mask: Tensor, x: Tensor, y: Tensor) -> Tensor:
    if x.dtype.name in ("variant", "resource") or x.spec.rank is None:
        raise NotBatched
    return selection.where(batch.expand(mask, x.spec.rank - 1), x, y)


# --- loops ---------------------------------------------------------------------------------------


def _loop(batch: Batch, node: Node, inputs: list[Any], stacked: list[bool]) -> Outputs:
    count = len(node.outputs)
    variables, by_row = _settled(node, stacked)
    flags = [*variables, *stacked[count:]]
    start = [
        batch.list_with_rows(x) if need and not rows and x.dtype.name == "variant"
        else batch.stack(x) if need and not rows else x
        for x, need, rows in zip(inputs[:count], variables, stacked[:count], strict=True)
    ]  # fmt: skip
    loop = _Loop(batch, node, inputs[count:], flags)
    made = loop.by_row(start) if by_row else loop.together(start)
    return list(zip(made, variables, strict=True))


def _shape_with_rows(x: Tensor, n: int | None) -> TensorShape:
    """The shape of a variable that gets rows; a list has them in its elements."""
    if x.dtype.name == "variant":
        return x.shape
    return TensorShape(None if x.spec.rank is None else [n, *x.shape])


def _cannot_fail(graph: Graph) -> bool:
    """Whether a graph gives something for any numbers; gradients do not go through conditions."""
    return all(
        node.is_const or node.op.elementwise or node.op.batch in _NEVER_FAIL for node in graph.body
    )


class _Loop:
    """A loop whose variables have rows where `flags` say so."""

    def __init__(self, batch: Batch, node: Node, captured: list[Any], flags: list[bool]) -> None:
        self._batch, self._flags, self._captured = batch, flags, captured
        self._cond, self._body = node.attrs["cond"], node.attrs["body"]
        self._limit = node.attrs["maximum_iterations"]
        n = batch.n if isinstance(batch.n, int) else None
        self._shapes = [
            _shape_with_rows(x, n) if rows else x.shape
            for x, rows, _ in zip(self._body.inputs, flags, node.outputs)
        ]

    def _after(self, values: list[Any]) -> list[Any]:
        found = self._batch.run(self._body, values, self._flags)
        return [
            self._batch.stack(x) if need and not rows else x
            for (x, rows), need in zip(found, self._flags)
        ]

    def together(self, start: list[Any]) -> list[Any]:
        """All rows go on, or none."""
        captured = self._captured
        return list(
            while_loop(
                lambda *v: self._batch.run(self._cond, [*v, *captured], self._flags)[0][0],
                lambda *v: self._after([*v, *captured]),
                start,
                shape_invariants=self._shapes,
                maximum_iterations=self._limit,
            )
        )

    def by_row(self, start: list[Any]) -> list[Any]:
        """Until all rows are done; those that are done stay as they are."""
        batch, captured = self._batch, self._captured

        def goes_on(values: list[Any]) -> Tensor:
            found, rows = batch.run(self._cond, values, self._flags)[0]
            return found if rows else batch.stack(found)

        def step(active: Tensor, *v: Tensor) -> list[Any]:
            after = self._after(only(batch, active, [*v, *captured], self._flags))
            kept = [_choose(batch, active, new, old) for new, old in zip(after, v, strict=True)]
            values = [*kept, *captured]
            if not _cannot_fail(self._cond):  # of rows that are done it is not asked
                values = only(batch, active, values, self._flags)
            still = goes_on(values)
            return [comparison.logical_and(active, still), *kept]

        active = goes_on([*start, *captured])
        n = batch.n if isinstance(batch.n, int) else None
        made = while_loop(
            lambda active, *_: logic.reduce_any(active),
            step,
            [active, *start],
            shape_invariants=[TensorShape([n]), *self._shapes],
            maximum_iterations=self._limit,
        )
        return list(made)[1:]
