"""Tracing functions into nested graphs: what branches and loop bodies have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft._src import nest
from weft._src.core.aliases import TensorLike
from weft._src.core.context import building, state
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import SymbolicTensor, Tensor


class NestedTrace:
    """A function traced into a graph inside the one being built, and the shape of its result."""

    def __init__(
        self, fn: Callable[..., Any], name: str, specs: Sequence[TensorSpec] = (),
        structure: Any = None, dtypes: Sequence[DType] | None = None, scope: str = "",
    ) -> None:  # fmt: skip
        self.graph = state.graph.nested(name, scope)
        with building(self.graph):
            inputs = [self.graph.add_input(spec, f"arg{i}") for i, spec in enumerate(specs)]
            arguments = (
                nest.pack_sequence_as(structure, inputs, expand_composites=True)
                if (structure is not None)
                else ()
            )
            self.returns(fn(*arguments), dtypes)

    def returns(self, result: Any, dtypes: Sequence[DType] | None = None) -> None:
        """Makes a nest of values what the graph gives; `dtypes` are those of Python numbers."""
        self.result = result
        flat = nest.flatten(result, expand_composites=True)
        wanted = dtypes if dtypes is not None and len(dtypes) == len(flat) else [None] * len(flat)
        self.graph.outputs = [
            self._output(value, dtype)
            for value, dtype in zip(flat, wanted, strict=True)
            if value is not None
        ]

    def _output(self, value: TensorLike, hint: DType | None) -> SymbolicTensor:
        tensor = convert_to_tensor(value, dtype_hint=hint)
        if isinstance(tensor, SymbolicTensor) and tensor.graph is self.graph:
            return tensor
        return self.graph.capture(tensor)

    @property
    def specs(self) -> list[TensorSpec]:
        """The types of the outputs."""
        return [out.spec for out in self.graph.outputs]


def share_captures(traces: Sequence[NestedTrace]) -> list[Tensor]:
    """Makes all graphs take the same captures in the same order, and returns these."""
    union = {id(t): t for trace in traces for t, _ in trace.graph.captures}
    for trace in traces:
        trace.graph.align_captures(list(union.values()))
    return list(union.values())


def pack_like(structure: Any, tensors: Sequence[Tensor]) -> Any:
    """The results in the structure that the traced function returned; None stays None."""
    remaining = iter(tensors)
    flat = nest.flatten(structure, expand_composites=True)
    filled = [None if leaf is None else next(remaining) for leaf in flat]
    return nest.pack_sequence_as(structure, filled, expand_composites=True)
