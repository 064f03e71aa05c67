"""Graphs that can be differentiated: what has to be saved, and the graphs of the gradients.

The backward graph is traced *inside* the forward graph, so whatever it uses from there is one of
its captures; these are exactly the values to save. For gradients of gradients the saved values are
outputs that can have gradients themselves, so saving goes on until nothing new is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.autodiff.sweep import Record, backward, takes_gradient
from weft.core.context import building
from weft.core.tensor import SymbolicTensor
from weft.graph.ir import Graph
from weft.graph.passes import optimize
from weft.graph.passes.inline import inline_calls

Mask = tuple[bool, ...]

# Control flow inside of a graph has to save values of its own: see autodiff.control.
prepare_control_flow: list[Callable[[Graph, bool], Graph]] = []


class Backward:
    """The graph of the gradients for one choice of outputs and inputs."""

    def __init__(self, graph: Graph, uses: list[SymbolicTensor], connected: Mask) -> None:
        self.graph = graph
        self.uses = uses  # tensors of the forward graph that have to be passed to it
        self.connected = connected  # which inputs of the forward graph get a gradient


class DifferentiableBody:
    """A graph, what has to be saved of it when it runs, and the graphs of its gradients."""

    def __init__(self, body: Graph, *, repeatedly: bool) -> None:
        # Called graphs are written out first: their inner values may have to be saved too.
        flat = inline_calls(body)
        for prepare in prepare_control_flow:
            flat = prepare(flat, repeatedly)
        self.flat = flat
        self._inputs = {id(x): i for i, x in enumerate(flat.all_inputs)}
        saved = self._needed(flat.outputs)
        while repeatedly:
            more = self._needed([*flat.outputs, *saved])
            if {id(t) for t in more} <= {id(t) for t in saved}:
                break
            saved = list({id(t): t for t in (*saved, *more)}.values())
        self.saved = saved
        self.outputs = [*flat.outputs, *saved]
        self._backward: dict[tuple[Mask, Mask], Backward] = {}

    def _needed(self, outputs: Sequence[SymbolicTensor]) -> list[SymbolicTensor]:
        """The values that the gradients of these outputs use, other than inputs."""
        every = (True,) * len(self.flat.all_inputs)
        choices = [outputs]
        if len(outputs) > 1:
            # Zeros in place of a missing gradient may need a shape or a length.
            choices += [[t] for t in self.flat.outputs if takes_gradient(t)]
        uses = [t for chosen in choices for t in _trace_backward(self.flat, chosen, every).uses]
        return [t for t in {id(t): t for t in uses}.values() if id(t) not in self._inputs]

    def input_position(self, tensor: SymbolicTensor) -> int | None:
        """Which input of the graph a tensor is, None if it is none."""
        return self._inputs.get(id(tensor))

    def step(self, given: Mask, wanted: Mask) -> Backward:
        """The gradients of the wanted inputs, from those of the given ones among the outputs."""
        found = self._backward.get((given, wanted))
        if found is None:
            outputs = [t for t, there in zip(self.outputs, given, strict=True) if there]
            found = _trace_backward(self.flat, outputs, wanted)
            found.graph = optimize(found.graph)
            self._backward[given, wanted] = found
        return found


def _trace_backward(forward: Graph, outputs: Sequence[SymbolicTensor], wanted: Mask) -> Backward:
    graph = Graph(f"{forward.name}_gradient", outer=forward)
    records: list[Record] = [
        (node.op, node.inputs, node.attrs, node.outputs)
        for node in forward.nodes
        if node.op.name != "Placeholder"
    ]
    sources = [x for x, w in zip(forward.all_inputs, wanted, strict=True) if w]
    sources = [x for x in sources if takes_gradient(x)]
    with building(graph):
        seeds = [graph.add_input(t.spec, f"gradient_{i}") for i, t in enumerate(outputs)]
        pairs = [(t, s) for t, s in zip(outputs, seeds, strict=True) if takes_gradient(t)]
        found = backward(records, [t for t, _ in pairs], [s for _, s in pairs], sources)
        graph.outputs = [graph.capture(g) for g in found if g is not None]
    reached = {id(x) for x, g in zip(sources, found, strict=True) if g is not None}
    connected = tuple([id(x) in reached for x in forward.all_inputs])
    uses = [outer for outer, _ in graph.captures]
    return Backward(graph, uses, connected)  # type: ignore[arg-type]


def differentiable(body: Graph, *, repeatedly: bool = False) -> DifferentiableBody:
    """The graph with all that is known of its gradients, made once."""
    if body.gradient is None:
        body.gradient = {}
    found = body.gradient.get(repeatedly)
    if found is None:
        found = body.gradient[repeatedly] = DifferentiableBody(body, repeatedly=repeatedly)
    return found
