"""Gradients of conditionals in graphs.

A conditional that is to be differentiated also returns what its gradient needs: each branch its
inner values, the others something in their place. The gradient is a conditional on the same
condition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from weft._src.autodiff.bodies import DifferentiableBody, differentiable
from weft._src.autodiff.calls import call_graph
from weft._src.autodiff.partial import Gradient, dense
from weft._src.autodiff.sweep import VjpContext, takes_gradient
from weft._src.autodiff.zeros import placeholder_value, shape_for, zeros_for
from weft._src.core import dtypes
from weft._src.core.context import building
from weft._src.core.convert import convert_to_tensor
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import SymbolicTensor, Tensor
from weft._src.graph.ir import Graph
from weft._src.graph.rewrite import copied
from weft._src.ops.arrays import fill, joining
from weft._src.ops.control.branch import case_op, cond, if_op, switch_case
from weft._src.ops.elementwise import casting
from weft._src.ops.indexing.indexed_slices import IndexedSlices
from weft._src.ops.registry import register_vjp

Attrs = dict[str, Any]


class _Saving:
    """How a node with saved values is put together, kept with its branches."""

    def __init__(self, bodies: Sequence[DifferentiableBody], n_outputs: int) -> None:
        self.bodies = list(bodies)
        self.n_outputs = n_outputs  # what the node returned before


def prepare_branches(
    inputs: Sequence[Any], attrs: Attrs, repeatedly: bool
) -> tuple[Any, Attrs, int]:
    """The inputs and attributes of a node that saves, and how many outputs it had before."""
    branches: tuple[Graph, ...] = attrs["branches"]
    n = len(branches[0].outputs)
    if branches[0].saving is not None:
        return inputs, attrs, n
    made = [
        differentiable(branch, DifferentiableBody, repeatedly=repeatedly) for branch in branches
    ]
    graphs = tuple([_branch_with_saved(k, made) for k in range(len(made))])
    for graph in graphs:
        graph.saving = _Saving(made, n)
    return inputs, {**attrs, "branches": graphs}, n


def _branch_with_saved(k: int, made: Sequence[DifferentiableBody]) -> Graph:
    mapped = copied(made[k].flat)
    graph = mapped.new
    outputs = [mapped[t] for t in made[k].flat.outputs]
    with building(graph):
        for j, body in enumerate(made):
            outputs += [
                mapped[t] if j == k else graph.capture(placeholder_value(t.spec))
                for t in body.saved
            ]
    graph.outputs = outputs
    return graph


# --- the gradient --------------------------------------------------------------------------------


def _branches_vjp(choose: Callable[[Tensor, list[Any]], Any]) -> Callable[..., Any]:
    def vjp(ctx: VjpContext, *gs: Tensor | None) -> tuple[Any, ...]:
        saving: _Saving = ctx.attrs["branches"][0].saving
        selector, *inputs = ctx.inputs
        wanted = tuple([ctx.wants(i + 1) and takes_gradient(x) for i, x in enumerate(inputs)])
        steps = [_branch_step(saving, k, gs, wanted) for k in range(len(saving.bodies))]
        reached = [i for i in range(len(inputs)) if any(step.connected[i] for step, _ in steps)]
        if not reached:
            return (None,) * len(ctx.inputs)
        like = {i: _type_of_gradient(ctx.inputs[i + 1], i, steps) for i in reached}
        functions = [
            _branch_gradient(ctx, saving, k, step, seeds, like)
            for k, (step, seeds) in enumerate(steps)
        ]
        results = iter(choose(selector, functions))
        found: list[Any] = [None] * len(ctx.inputs)
        for i, kind in like.items():
            found[i + 1] = next(results)
            if kind.sparse:
                found[i + 1] = IndexedSlices(found[i + 1], next(results), kind.shape())
        return tuple(found)

    return vjp


class _TypeOfGradient(NamedTuple):
    """What all branches return for an input: a tensor, or the values and the indices of rows."""

    tensor: Tensor
    spec: TensorSpec
    index_dtype: dtypes.DType | None

    @property
    def sparse(self) -> bool:
        return self.index_dtype is not None

    def shape(self) -> Tensor:
        """The shape of the input."""
        return shape_for(self.tensor, self.spec)

    def parts(self, g: Gradient | None) -> list[Tensor]:
        """A gradient of this type, zero if there is none."""
        if self.index_dtype is None:
            return [zeros_for(self.tensor, self.spec) if g is None else dense(g)]
        if g is not None:
            assert isinstance(g, IndexedSlices)
            return [g.values, casting.cast(g.indices, self.index_dtype)]
        none = fill.zeros([0], self.index_dtype)
        dims = joining.concat([convert_to_tensor([0]), self.shape()[1:]], 0)
        return [fill.zeros(dims, self.spec.dtype), none]


def _type_of_gradient(tensor: Tensor, i: int, steps: Sequence[Any]) -> _TypeOfGradient:
    """Rows if all branches that have a gradient have rows."""
    having = [step for step, _ in steps if step.connected[i]]
    spec = having[0].gradient_spec(i)
    if not all(step.sparse[i] for step in having):
        return _TypeOfGradient(tensor, spec, None)
    found = {step.index_dtype(i) for step in having}
    return _TypeOfGradient(tensor, spec, found.pop() if len(found) == 1 else dtypes.int64)


def _branch_step(saving: _Saving, k: int, gs: Sequence[Any], wanted: tuple[bool, ...]) -> Any:
    """The backward graph of a branch, and the gradients that it starts from."""
    mine = list(gs[: saving.n_outputs])
    position = saving.n_outputs
    for j, body in enumerate(saving.bodies):
        if j == k:
            mine += gs[position : position + len(body.saved)]
        position += len(body.saved)
    given = tuple([g is not None for g in mine])
    return saving.bodies[k].step(given, wanted), [g for g in mine if g is not None]


def _branch_gradient(
    ctx: VjpContext,
    saving: _Saving,
    k: int,
    step: Any,
    seeds: list[Tensor],
    like: dict[int, _TypeOfGradient],
) -> Callable[[], list[Tensor]]:
    body = saving.bodies[k]
    offset = saving.n_outputs + sum(len(b.saved) for b in saving.bodies[:k])
    saved = {id(t): offset + i for i, t in enumerate(body.saved)}
    saved |= {id(t): i for i, t in reversed(list(enumerate(body.flat.outputs)))}

    def value(tensor: SymbolicTensor) -> Tensor:
        position = body.input_position(tensor)
        if position is not None:
            return ctx.inputs[position + 1]
        return ctx.outputs[saved[id(tensor)]]

    def gradient() -> list[Tensor]:
        found = step.gradients(call_graph(step.graph, [*seeds, *[value(t) for t in step.uses]]))
        return [part for i, kind in like.items() for part in kind.parts(found[i])]

    return gradient


register_vjp(if_op, _branches_vjp(lambda selector, fns: cond(selector, *fns)))
register_vjp(case_op, _branches_vjp(switch_case))
