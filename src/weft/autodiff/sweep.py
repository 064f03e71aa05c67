"""The backward sweep: from the gradients of results to the gradients of what they came from.

Works on a list of records, whoever made them: a tape that watched eager ops, a tape that watched
ops being traced, or the nodes of a graph. The gradients are computed with ops, so a sweep can
itself be recorded or traced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from weft.core.dtypes import resource, variant
from weft.core.tensor import Tensor
from weft.ops.array import fill
from weft.ops.control import stack
from weft.ops.math import arithmetic
from weft.ops.registry import Absent, Op


class Record(NamedTuple):
    """One op that ran: what the sweep needs to go backwards through it."""

    op: Op
    inputs: tuple[Tensor, ...]
    attrs: dict[str, Any]
    outputs: tuple[Tensor, ...]


class VjpContext:
    """What a gradient rule sees: the op's inputs, outputs and attributes."""

    __slots__ = ("_wanted", "attrs", "inputs", "outputs")

    def __init__(self, record: Record, wanted: Callable[[Tensor], bool]) -> None:
        self.inputs = record.inputs
        self.outputs = record.outputs
        self.attrs = record.attrs
        self._wanted = wanted

    def wants(self, i: int) -> bool:
        """Whether the gradient of input i is needed; if not, the rule may return None for it."""
        return self._wanted(self.inputs[i])

    def zeros_like_output(self, i: int) -> Tensor:
        """The gradient of an output that nothing depends on."""
        return fill.zeros_like(self.outputs[i])


def backward(
    records: Sequence[Record],
    targets: Iterable[Tensor],
    target_gradients: Iterable[Tensor],
    sources: Iterable[Tensor],
    stops: frozenset[int] = frozenset(),
) -> list[Tensor | None]:
    """The gradient of the targets, weighted with their gradients, for each source.

    Gradients do not go on from tensors whose ids are in `stops`.
    """
    sources = list(sources)
    relevant = _depending_on(records, sources, stops)
    gradients: dict[int, list[Tensor]] = {}
    for target, gradient in zip(targets, target_gradients, strict=True):
        gradients.setdefault(id(target), []).append(gradient)
    source_ids = {id(s) for s in sources}

    def wanted(tensor: Tensor) -> bool:
        return id(tensor) in relevant

    for record in reversed(records):
        if not any(id(out) in gradients and id(out) not in stops for out in record.outputs):
            continue
        if not any(wanted(x) for x in record.inputs):
            continue
        if isinstance(record.op.vjp, Absent):
            continue
        output_gradients = [
            None if id(out) in stops else _summed(gradients, out, keep=id(out) in source_ids)
            for out in record.outputs
        ]
        context = VjpContext(record, wanted)
        for x, g in zip(record.inputs, record.op.vjp(context, *output_gradients), strict=True):
            if g is not None and wanted(x):
                gradients.setdefault(id(x), []).append(g)
    return [_summed(gradients, source, keep=True) for source in sources]


def _depending_on(
    records: Sequence[Record], sources: list[Tensor], stops: frozenset[int]
) -> set[int]:
    """The ids of all tensors through which a source can influence something."""
    reached = {id(source) for source in sources}
    for record in records:
        if any(id(x) in reached for x in record.inputs) and not isinstance(record.op.vjp, Absent):
            outputs = [id(out) for out in record.outputs if takes_gradient(out)]
            reached.update([out for out in outputs if out not in stops])
    return reached


def takes_gradient(tensor: Tensor) -> bool:
    """Whether gradients flow through a tensor: floats, stacks of them, handles of variables."""
    dtype = tensor.dtype
    return dtype.is_floating or dtype.is_complex or dtype is variant or dtype is resource


def _summed(gradients: dict[int, list[Tensor]], tensor: Tensor, *, keep: bool) -> Tensor | None:
    """The sum of what has arrived at a tensor; forgotten afterwards unless it is asked for."""
    parts = gradients.get(id(tensor))
    if parts is None:
        return None
    while len(parts) > 1:
        add = stack.add_stacks_op if parts[0].dtype is variant else arithmetic.add_op
        parts[:2] = [add(parts[0], parts[1])]
    if not keep:
        del gradients[id(tensor)]
    return parts[0]
