"""Gradients of calls: the forward graph also returns what the backward graph needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.autodiff.bodies import DifferentiableBody, differentiable
from weft._src.autodiff.sweep import VjpContext, takes_gradient
from weft._src.core.context import recording_repeatedly, state
from weft._src.core.dtypes import variant
from weft._src.core.tensor import SymbolicTensor, Tensor
from weft._src.errors import InternalError
from weft._src.graph.ir import Graph
from weft._src.graph.rewrite import copied
from weft._src.ops.arrays import fill
from weft._src.ops.control import stack
from weft._src.ops.control.call import call_op
from weft._src.ops.registry import register_vjp


class DifferentiableCall:
    """A graph whose calls can be differentiated."""

    def __init__(self, body: Graph, *, repeatedly: bool) -> None:
        self._body: DifferentiableBody = differentiable(
            body, DifferentiableBody, repeatedly=repeatedly
        )
        copy = copied(self._body.flat)
        self.forward = copy.new
        self.forward.outputs = [copy[t] for t in self._body.outputs]
        self.forward.call_gradient = {repeatedly: self}
        outputs = enumerate(self._body.outputs)
        self._position = {id(t): i for i, t in reversed(list(outputs))}

    def vjp(self, ctx: VjpContext, gs: tuple[Tensor | None, ...]) -> tuple[Any, ...]:
        """The gradients of the call's inputs."""
        if any(g is not None for g in gs[len(self._body.flat.outputs) :]):
            # What was saved has gradients too: everything needed is saved for all of them only.
            gs = tuple([self._filled(ctx, i, g) for i, g in enumerate(gs)])
        given = tuple([g is not None for g in gs])
        wanted = tuple([ctx.wants(i) for i in range(len(ctx.inputs))])
        step = self._body.step(given, wanted)
        seeds = [g for g in gs if g is not None]
        saved = [self._found(ctx, t) for t in step.uses]
        return tuple(step.gradients(call_graph(step.graph, [*seeds, *saved])))

    @staticmethod
    def _filled(ctx: VjpContext, i: int, g: Tensor | None) -> Tensor | None:
        out = ctx.outputs[i]
        if g is not None or not takes_gradient(out):
            return g
        return stack.zeros_like_op(out) if out.dtype is variant else fill.zeros_like(out)

    def _found(self, ctx: VjpContext, tensor: SymbolicTensor) -> Tensor:
        """A value of the forward graph, after it ran."""
        position = self._body.input_position(tensor)
        if position is not None:
            return ctx.inputs[position]
        try:
            return ctx.outputs[self._position[id(tensor)]]
        except KeyError:
            raise InternalError(
                None, None, f"{tensor!r} is needed for a gradient but was not saved."
            ) from None


def _differentiable_call(body: Graph, *, repeatedly: bool = False) -> DifferentiableCall:
    if body.call_gradient is None:
        body.call_gradient = {}
    found = body.call_gradient.get(repeatedly)
    if found is None:
        found = body.call_gradient[repeatedly] = DifferentiableCall(body, repeatedly=repeatedly)
    return found


def call_graph(body: Graph, inputs: Sequence[Tensor], name: str | None = None) -> Sequence[Tensor]:
    """A call of a graph that can be differentiated as often as there are tapes recording."""
    n = len(body.outputs)
    if state.tapes:
        body = _differentiable_call(body, repeatedly=recording_repeatedly()).forward
    return call_op(*inputs, body=body, name=name)[:n]


def saving_body(body: Graph) -> Graph:
    """The graph to be called in place of another so that the call can be differentiated."""
    made = body.call_gradient or {}
    if any(call.forward is body for call in made.values()):
        return body
    return _differentiable_call(body, repeatedly=True).forward


def _call_vjp(ctx: VjpContext, *gs: Tensor | None) -> tuple[Any, ...]:
    body: Graph = ctx.attrs["body"]
    made = next(iter(body.call_gradient.values())) if body.call_gradient else None
    if made is None:
        raise InternalError(None, None, f"The call of {body.name!r} saved nothing for gradients.")
    return made.vjp(ctx, gs)


register_vjp(call_op, _call_vjp)
