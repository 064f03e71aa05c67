"""Graphs that can be differentiated: what has to be saved, and the graphs of the gradients.

The backward graph is traced *inside* the forward graph, so whatever it uses from there is one of
its captures; these are exactly the values to save. For gradients of gradients the saved values are
outputs that can have gradients themselves, so saving goes on until nothing new is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar

from weft._src.autodiff.partial import Gradient, has_rows_only, worked_out
from weft._src.autodiff.recompute import rebuilt
from weft._src.autodiff.sweep import Record, collected, takes_gradient
from weft._src.core import dtypes
from weft._src.core.context import building
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import SymbolicTensor, Tensor
from weft._src.graph.ir import Graph, Node
from weft._src.graph.passes import optimize
from weft._src.graph.passes.inline import inline_calls
from weft._src.ops.arrays.shape import rank_op, shape_op, size_op
from weft._src.ops.arrays.source import const_op
from weft._src.ops.control.stack import length_op
from weft._src.ops.indexing.indexed_slices import IndexedSlices
from weft._src.ops.static import static_value

Mask = tuple[bool, ...]

# Control flow inside of a graph has to save values of its own: see autodiff.control.
prepare_control_flow: list[Callable[[Graph, bool], Graph]] = []


class Backward:
    """The graph of the gradients for one choice of outputs and inputs.

    It takes the gradients of the outputs, the sums that it adds to (if any), and the `uses`.
    """

    def __init__(self, graph: Graph, found: Sequence[Any]) -> None:
        self.replaced(graph)
        # Of each input of the forward graph: whether it gets a gradient, and as some rows.
        self.connected: Mask = tuple([g is not None for g in found])
        self.sparse: Mask = tuple([isinstance(g, IndexedSlices) for g in found])
        self.rows_only: Mask = self.sparse  # or as something that is zero but for some rows
        self._sizes = [len(parts_of(g)) for g in found]
        self._specs = [_dense_spec(g) for g in found]
        rows = [(i, g) for i, g in enumerate(found) if isinstance(g, IndexedSlices)]
        self._index_dtypes = {i: g.indices.dtype for i, g in rows}

    def replaced(self, graph: Graph) -> Self:
        """The same with another graph that computes the same."""
        self.graph = graph
        # Tensors of the forward graph that have to be passed to it.
        self.uses: list[SymbolicTensor] = [outer for outer, _ in graph.captures]  # type: ignore[misc]
        return self

    def gradients(self, results: Sequence[Tensor]) -> list[Gradient | None]:
        """What the graph returned, for each input of the forward graph."""
        left = iter(results)
        return [gradient_of([next(left) for _ in range(size)]) for size in self._sizes]

    def gradient_spec(self, i: int) -> TensorSpec:
        """The type of the gradient of an input, as a tensor."""
        spec = self._specs[i]
        assert spec is not None
        return spec

    def index_dtype(self, i: int) -> dtypes.DType:
        """The type of the indices, where the gradient of an input comes as rows."""
        return self._index_dtypes[i]


def _dense_spec(g: Gradient | None) -> TensorSpec | None:
    if isinstance(g, IndexedSlices):
        return TensorSpec(g.shape, g.dtype)
    return None if g is None else g.spec


Body = TypeVar("Body", bound="DifferentiableBody")


class DifferentiableBody:
    """A graph, what has to be saved of it when it runs, and the graphs of its gradients."""

    def __init__(self, body: Graph, *, repeatedly: bool) -> None:
        # Called graphs are written out first: their inner values may have to be saved too.
        flat = inline_calls(body)
        for prepare in prepare_control_flow:
            flat = prepare(flat, repeatedly)
        self.flat = flat
        self._inputs = {id(x): i for i, x in enumerate(flat.all_inputs)}
        self._sizes = _Sizes(flat)
        self._backward: dict[tuple[Mask, Mask, Mask], Backward] = {}
        self.saved: list[SymbolicTensor] = []
        while self._keep_more(self._uses(self.outputs)) and repeatedly:
            pass

    @property
    def outputs(self) -> list[SymbolicTensor]:
        """What the graph returns, and what is saved beside that."""
        return [*self.flat.outputs, *self.saved]

    def _keep_more(self, used: list[SymbolicTensor]) -> bool:
        """Sees to it that these values are there for the gradient; whether any is new."""
        kept = {id(t) for t in self.saved}
        new = [t for t in used if id(t) not in kept and id(t) not in self._inputs]
        self.saved += new
        return bool(new)

    def _uses(self, outputs: Sequence[SymbolicTensor]) -> list[SymbolicTensor]:
        """The values that the gradients of these outputs use."""
        every = (True,) * len(self.flat.all_inputs)
        choices = [outputs]
        if len(outputs) > 1:
            # Zeros in place of a missing gradient may need a shape or a length.
            choices += [[t] for t in self.flat.outputs if takes_gradient(t)]
        uses = [t for chosen in choices for t in self._traced(chosen, every, ()).uses]
        return list({id(t): t for t in uses}.values())

    def _traced(self, outputs: Sequence[SymbolicTensor], wanted: Mask, summed: Mask) -> Backward:
        made = _trace_backward(self.flat, outputs, wanted, summed)
        return made.replaced(self._sizes.instead_of_values(made.graph, self._is_kept_anyway))

    def _is_kept_anyway(self, tensor: Tensor) -> bool:
        """Whether a value is there already."""
        return id(tensor) in self._inputs or any(t is tensor for t in self.saved)

    def input_position(self, tensor: SymbolicTensor) -> int | None:
        """Which input of the graph a tensor is, None if it is none."""
        return self._inputs.get(id(tensor))

    def step(self, given: Mask, wanted: Mask, summed: Mask = ()) -> Backward:
        """The gradients of the wanted inputs, from those of the given ones among the outputs.

        For inputs that are `summed` it takes a stack of rows, and returns that with more added.
        """
        found = self._backward.get((given, wanted, summed))
        if found is None:
            outputs = [t for t, there in zip(self.outputs, given, strict=True) if there]
            found = self._finished(self._traced(outputs, wanted, summed))
            found.graph = optimize(found.graph)
            self._backward[given, wanted, summed] = found
        return found

    def _finished(self, step: Backward) -> Backward:
        return step


def _trace_backward(
    forward: Graph, outputs: Sequence[SymbolicTensor], wanted: Mask, summed: Mask = ()
) -> Backward:
    """The backward sweep through a graph, as a graph inside of it.

    For `forward = (x, y) -> exp(x) * y` it is `g -> (g * exp(x) * y, g * exp(x))`, in which exp(x)
    and y are captured from the forward graph: these have to be saved. `summed` marks inputs whose
    gradients are stacks of rows, handed from one iteration of a loop to the next ("total").
    """
    graph = Graph(f"{forward.name}_gradient", outer=forward)
    records: list[Record] = [
        (node.op, node.inputs, node.attrs, node.outputs) for node in forward.body
    ]
    pairs = zip(forward.all_inputs, wanted, strict=True)
    sources = [x for x, is_wanted in pairs if is_wanted and takes_gradient(x)]
    with building(graph):
        targets, seeds = _seeded(graph, forward, outputs, summed)
        collections = collected(records, targets, seeds, sources)
        rows_only = [has_rows_only(g) for g in collections]
        found = {id(x): worked_out(g) for x, g in zip(sources, collections, strict=True)}
        parts = [part for g in found.values() for part in parts_of(g)]
        graph.outputs = [graph.capture(part) for part in parts]
    made = Backward(graph, [found.get(id(x)) for x in forward.all_inputs])
    only = {id(x) for x, rows in zip(sources, rows_only, strict=True) if rows}
    made.rows_only = tuple([id(x) in only for x in forward.all_inputs])
    return made


def _seeded(
    graph: Graph, forward: Graph, outputs: Sequence[SymbolicTensor], summed: Mask
) -> tuple[list[SymbolicTensor], list[SymbolicTensor]]:
    """What the sweep begins at, and the inputs of the backward graph that are its gradients."""
    seeds = [graph.add_input(t.spec, f"gradient_{i}") for i, t in enumerate(outputs)]
    pairs = [(t, s) for t, s in zip(outputs, seeds, strict=True) if takes_gradient(t)]
    totals = [x for x, s in zip(forward.all_inputs, summed, strict=False) if s]
    pairs += [(x, graph.add_input(_STACK, "total")) for x in totals]
    return [t for t, _ in pairs], [s for _, s in pairs]


_STACK = TensorSpec([], dtypes.variant)


def parts_of(g: Gradient | None) -> list[Any]:
    """The tensors that a gradient is made of."""
    if isinstance(g, IndexedSlices):
        shape = [] if g.dense_shape is None else [g.dense_shape]
        return [g.values, g.indices, *shape]
    return [] if g is None else [g]


def gradient_of(parts: Sequence[Tensor]) -> Gradient | None:
    """The gradient that is made of these tensors."""
    if len(parts) > 1:
        return IndexedSlices(*parts)
    return parts[0] if parts else None


class _Sizes:
    """Shapes and lengths of values of a graph, computed there: then the values need not be kept."""

    def __init__(self, forward: Graph) -> None:
        self._forward = forward
        self._made: dict[tuple[Any, ...], SymbolicTensor] = {}

    def instead_of_values(self, graph: Graph, is_kept: Callable[[Tensor], bool]) -> Graph:
        """The backward graph with sizes for what it reads nothing but sizes of."""
        readers: dict[int, list[Node]] = {id(inner): [] for _, inner in graph.captures}
        for node in graph.nodes:
            for x in node.inputs:
                if id(x) in readers:
                    readers[id(x)].append(node)
        returned = {id(out) for out in graph.outputs}
        only_sizes = [
            (outer, readers[id(inner)])
            for outer, inner in graph.captures
            if not is_kept(outer)
            and id(inner) not in returned
            and all(node.op in _SIZES for node in readers[id(inner)])
        ]
        if not only_sizes:
            return graph
        instead = {id(node): self._of(outer, node) for outer, nodes in only_sizes for node in nodes}
        dropped = {id(outer) for outer, _ in only_sizes}
        return rebuilt(graph, self._forward, lambda t: id(t) in dropped, instead)

    def _of(self, tensor: Tensor, node: Node) -> SymbolicTensor:
        key = (id(tensor), node.op, *sorted(node.attrs.items()))
        if key not in self._made:
            with building(self._forward):
                size = node.op(tensor, **node.attrs)
                known = static_value(size)  # then it is a constant
                self._made[key] = size if known is None else const_op(value=known)
        return self._made[key]


_SIZES = frozenset({shape_op, size_op, rank_op, length_op})


def differentiable(body: Graph, kind: type[Body], *, repeatedly: bool = False) -> Body:
    """The graph with all that is known of its gradients, made once."""
    if body.gradient is None:
        body.gradient = {}
    found = body.gradient.get((kind, repeatedly))
    if found is None:
        found = body.gradient[kind, repeatedly] = kind(body, repeatedly=repeatedly)
    return found
