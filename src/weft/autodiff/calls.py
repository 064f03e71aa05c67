"""Gradients of calls: a forward graph that also returns what the backward graph needs.

The backward graph is traced *inside* the forward graph, so whatever it uses from there is one of
its captures; these are exactly the values to save. For gradients of gradients the saved values are
outputs that can have gradients themselves, so saving goes on until nothing new is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.autodiff.sweep import Record, backward
from weft.core.context import building, state
from weft.core.tensor import SymbolicTensor, Tensor
from weft.errors import InternalError
from weft.graph.ir import Graph, is_resource
from weft.graph.passes import optimize
from weft.graph.passes.inline import inline_calls
from weft.graph.rewrite import Rewriter
from weft.ops.control.call import call_op
from weft.ops.registry import register_vjp

Mask = tuple[bool, ...]


class Backward:
    """The graph of the gradients for one choice of outputs and inputs."""

    def __init__(self, graph: Graph, uses: list[SymbolicTensor], connected: Mask) -> None:
        self.graph = graph
        self.uses = uses  # tensors of the forward graph that have to be passed to it
        self.connected = connected


class DifferentiableBody:
    """A graph that also returns what its gradients need, and the graphs of these."""

    def __init__(self, body: Graph, *, repeatedly: bool) -> None:
        # Called graphs are written out first: their inner values may have to be saved too.
        self._flat = flat = inline_calls(body)
        inputs = {id(x): ("input", i) for i, x in enumerate(flat.all_inputs)}
        saved = self._needed(flat.outputs, inputs)
        while repeatedly:
            more = self._needed([*flat.outputs, *saved], inputs)
            if {id(t) for t in more} <= {id(t) for t in saved}:
                break
            saved = list({id(t): t for t in (*saved, *more)}.values())
        self._outputs = [*flat.outputs, *saved]
        # Where a value of the forward graph is found after it ran.
        self._place = {id(t): ("output", i) for i, t in reversed(list(enumerate(self._outputs)))}
        self._place |= inputs
        self.forward = _with_outputs(flat, self._outputs)
        self.forward.gradient = {repeatedly: self}
        self._backward: dict[tuple[Mask, Mask], Backward] = {}

    def _needed(
        self, outputs: Sequence[SymbolicTensor], inputs: dict[int, Any]
    ) -> list[SymbolicTensor]:
        """The values that the gradients of these outputs use, other than inputs."""
        every = (True,) * len(self._flat.all_inputs)
        uses = _trace_backward(self._flat, outputs, every).uses
        return [t for t in uses if id(t) not in inputs]

    def vjp(self, ctx: Any, gs: tuple[Tensor | None, ...]) -> tuple[Tensor | None, ...]:
        """The gradients of the call's inputs."""
        given = tuple([g is not None for g in gs])
        wanted = tuple([ctx.wants(i) for i in range(len(ctx.inputs))])
        step = self._backward.get((given, wanted))
        if step is None:
            outputs = [t for t, there in zip(self._outputs, given, strict=True) if there]
            step = _trace_backward(self._flat, outputs, wanted)
            step.graph = optimize(step.graph)
            self._backward[given, wanted] = step
        seeds = [g for g, t in zip(gs, self._outputs, strict=True) if g is not None]
        saved = [self._found(ctx, t) for t in step.uses]
        results = iter(call_graph(step.graph, [*seeds, *saved]))
        return tuple([next(results) if connected else None for connected in step.connected])

    def _found(self, ctx: Any, tensor: SymbolicTensor) -> Tensor:
        try:
            where, i = self._place[id(tensor)]
        except KeyError:
            raise InternalError(
                None, None, f"{tensor!r} is needed for a gradient but was not saved."
            ) from None
        return ctx.inputs[i] if where == "input" else ctx.outputs[i]


def _trace_backward(forward: Graph, outputs: Sequence[SymbolicTensor], wanted: Mask) -> Backward:
    graph = Graph(f"{forward.name}_gradient", outer=forward)
    records = [
        Record(node.op, node.inputs, node.attrs, node.outputs)
        for node in forward.nodes
        if node.op.name != "Placeholder"
    ]
    targets = [t for t in outputs if takes_gradient(t)]
    sources = [x for x, w in zip(forward.all_inputs, wanted, strict=True) if w]
    sources = [x for x in sources if takes_gradient(x)]
    with building(graph):
        seeds = [graph.add_input(t.spec, f"gradient_{i}") for i, t in enumerate(targets)]
        found = backward(records, targets, seeds, sources)
        graph.outputs = [graph.capture(g) for g in found if g is not None]
    reached = {id(x) for x, g in zip(sources, found, strict=True) if g is not None}
    connected = tuple([id(x) in reached for x in forward.all_inputs])
    uses = [outer for outer, _ in graph.captures]
    return Backward(graph, uses, connected)  # type: ignore[arg-type]


def takes_gradient(tensor: Tensor) -> bool:
    """Whether gradients flow through a tensor: floats, and variables through their handles."""
    return tensor.dtype.is_floating or tensor.dtype.is_complex or is_resource(tensor)


def _with_outputs(graph: Graph, outputs: Sequence[SymbolicTensor]) -> Graph:
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        if node.op.name != "Placeholder":
            rewriter.copy(node)
    made = rewriter.finish()
    made.outputs = [rewriter[t] for t in outputs]
    return made


def differentiable(body: Graph, *, repeatedly: bool = False) -> DifferentiableBody:
    """The forward and backward graphs of a graph, made once."""
    if body.gradient is None:
        body.gradient = {}
    found = body.gradient.get(repeatedly)
    if found is None:
        found = body.gradient[repeatedly] = DifferentiableBody(body, repeatedly=repeatedly)
    return found


def call_graph(body: Graph, inputs: Sequence[Tensor], name: str | None = None) -> Sequence[Tensor]:
    """A call of a graph that can be differentiated as often as there are tapes recording."""
    n = len(body.outputs)
    if state.tapes:
        body = differentiable(body, repeatedly=len(state.tapes) > 1).forward
    return call_op(*inputs, body=body, name=name)[:n]


def _call_vjp(ctx: Any, *gs: Tensor | None) -> tuple[Tensor | None, ...]:
    body: Graph = ctx.attrs["body"]
    made = next(iter(body.gradient.values())) if body.gradient else differentiable(body)
    return made.vjp(ctx, gs)


register_vjp(call_op, _call_vjp)
