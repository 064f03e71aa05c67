"""The backward sweep: from the gradients of results to the gradients of what they came from.

Works on a list of records, whoever made them: a tape that watched eager ops, a tape that watched
ops being traced, or the nodes of a graph. The gradients are computed with ops, so a sweep can
itself be recorded or traced.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any

from weft._src.autodiff import partial
from weft._src.autodiff.partial import Gradient
from weft._src.core.location import set_forward
from weft._src.core.tensor import SymbolicTensor, Tensor
from weft._src.ops.arrays import fill
from weft._src.ops.indexing.indexed_slices import IndexedSlices
from weft._src.ops.registry import Absent, Op

# One op that ran: the op, its inputs, its attributes and its outputs. A plain tuple, because a tape
# makes one for every op that it records: a class of its own costs 0.2 us more.
Record = tuple[Op, tuple[Tensor, ...], dict[str, Any], tuple[Tensor, ...]]


class VjpContext:
    """What a gradient rule sees: the op's inputs, outputs and attributes."""

    __slots__ = ("_wanted", "attrs", "inputs", "outputs")

    def __init__(
        self,
        inputs: tuple[Tensor, ...],
        attrs: dict[str, Any],
        outputs: tuple[Tensor, ...],
        wanted: Container[int],
    ) -> None:
        self.inputs = inputs
        self.attrs = attrs
        self.outputs = outputs
        self._wanted = wanted

    def wants(self, i: int) -> bool:
        """Whether the gradient of input i is needed; if not, the rule may return None for it."""
        return id(self.inputs[i]) in self._wanted

    def zeros_like_output(self, i: int) -> Tensor:
        """The gradient of an output that nothing depends on."""
        return fill.zeros_like(self.outputs[i])


def backward(
    records: Sequence[Record],
    targets: Iterable[Tensor],
    target_gradients: Iterable[Gradient],
    sources: Iterable[Tensor],
    stops: frozenset[int] = frozenset(),
) -> list[Gradient | None]:
    """The gradient of the targets, weighted with their gradients, for each source.

    Gradients do not go on from tensors whose ids are in `stops`.
    """
    found = collected(records, targets, target_gradients, sources, stops)
    return [partial.worked_out(g) for g in found]


def backward_dense(
    records: Sequence[Record],
    targets: Iterable[Tensor],
    target_gradients: Iterable[Gradient],
    sources: Iterable[Tensor],
) -> list[Tensor | None]:
    """The same where only tensors will do."""
    found = collected(records, targets, target_gradients, sources)
    return [partial.dense(g) for g in found]


def collected(
    records: Sequence[Record],
    targets: Iterable[Tensor],
    target_gradients: Iterable[Gradient],
    sources: Iterable[Tensor],
    stops: frozenset[int] = frozenset(),
) -> list[Any]:
    """What arrives at each source, before it is added up."""
    sources = list(sources)
    relevant, live = _depending_on(records, sources, stops)
    kept = {id(s) for s in sources} | stops
    gradients: dict[int, Any] = {}
    for target, gradient in zip(targets, target_gradients, strict=True):
        _add(gradients, target, gradient)
    before = set_forward(None)
    try:
        _pull_back(live, gradients, relevant, kept, stops)
    finally:
        set_forward(before)
    return [gradients.get(id(source)) for source in sources]


def _pull_back(
    live: list[Record],
    gradients: dict[int, Any],
    relevant: set[int],
    kept: Container[int],
    stops: frozenset[int],
) -> None:
    """Takes the gradients of results back to the inputs they came from, op by op."""
    for op, inputs, attrs, outputs in reversed(live):
        found: list[Any] = []
        for out in outputs:
            key = id(out)
            if key not in gradients or key in stops:
                found.append(None)
                continue
            g = gradients.pop(key)
            if not isinstance(g, Tensor):
                g = partial.worked_out(g)
            if key in kept:
                gradients[key] = g
            found.append(g)
        if all(g is None for g in found):
            continue
        context = VjpContext(inputs, attrs, outputs, relevant)
        if isinstance(outputs[0], SymbolicTensor):  # errors of the backward pass name its line
            set_forward(outputs[0].node.location)
        for x, g in zip(inputs, _pulled(op, context, found), strict=True):
            if g is not None and id(x) in relevant:
                _add(gradients, x, g)


def _pulled(op: Op, context: VjpContext, found: list[Any]) -> Any:
    """The gradients of an op's inputs. Rules take tensors, but for those that let rows pass."""
    if len(found) == 1 and op.rows_vjp is not None and isinstance(found[0], IndexedSlices):
        passed = op.rows_vjp(context, found[0])
        if passed is not None:
            return passed
    for i, g in enumerate(found):
        if isinstance(g, IndexedSlices):
            found[i] = partial.dense(g)
    return op.vjp(context, *found)


def _depending_on(
    records: Sequence[Record], sources: list[Tensor], stops: frozenset[int]
) -> tuple[set[int], list[Record]]:
    """The ids of all tensors through which a source can influence something, and the ops."""
    reached = {id(source) for source in sources}
    live = []
    for record in records:
        op, inputs, _, outputs = record
        for x in inputs:
            if id(x) in reached:
                break
        else:
            continue
        if isinstance(op.vjp, Absent):
            continue
        live.append(record)
        for out in outputs:
            if out.dtype.is_differentiable and id(out) not in stops:
                reached.add(id(out))
    return reached, live


def takes_gradient(tensor: Tensor) -> bool:
    """Whether gradients flow through a tensor: floats, stacks of them, handles of variables."""
    return tensor.dtype.is_differentiable


def _add(gradients: dict[int, Any], tensor: Tensor, g: Gradient | None) -> None:
    """Adds to what has arrived at a tensor so far."""
    so_far = gradients.get(id(tensor))
    gradients[id(tensor)] = g if so_far is None else partial.accumulated(so_far, g)
