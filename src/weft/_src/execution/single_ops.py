"""An op as a program of its own, for devices; inputs that decide about shapes are part of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft._src.core.holding import run_holding
from weft._src.core.location import user_location
from weft._src.core.tensor import EagerTensor
from weft._src.execution.runner import locks_of
from weft._src.graph.ir import Graph, infer
from weft._src.ops.arrays.source import const_op
from weft._src.ops.dispatch import run_kernel
from weft._src.ops.registry import Op


def kinds_of(op: Op, inputs: Sequence[EagerTensor]) -> list[Any]:
    """What programs of an op differ by: types of inputs, and values that decide about shapes."""
    return [
        (x.dtype, tuple(x.shape), x._value.tobytes() if op.arg(i).is_shape else None)
        for i, x in enumerate(inputs)
    ]


class SingleOp:
    """An op for inputs of some types.

    `make` makes a program of a graph, and of what runs calls that fail and tells what is wrong.
    """

    def __init__(
        self,
        op: Op,
        inputs: Sequence[EagerTensor],
        attrs: dict[str, Any],
        make: Callable[[Graph, Callable[..., Any]], Any],
    ) -> None:
        graph = Graph(op.name)
        location = user_location()
        fixed = {i: x._value for i, x in enumerate(inputs) if op.arg(i).is_shape}
        self._given = [i for i in range(len(inputs)) if i not in fixed]
        tensors = []
        for i, x in enumerate(inputs):
            if i in fixed:
                attr = {"value": fixed[i]}
                node = graph.add_node(const_op, (), attr, (x.spec,), "shape", location)
                tensors.append(node.outputs[0])
            else:
                tensors.append(graph.add_input(x.spec, f"input_{i}"))
        specs = infer(op, tuple(tensors), attrs)
        node = graph.add_node(op, tuple(tensors), attrs, specs, op.name, location)
        graph.outputs = list(node.outputs)
        self._is_written = bool(graph.effects.writes)
        self._who = f"a call of {op.name}"
        count = len(inputs)

        def kernel(*given: Any) -> Any:
            rest = iter(given)
            arrays = [fixed[i] if i in fixed else next(rest) for i in range(count)]
            out = run_kernel(op, arrays, attrs)
            return (out,) if op.outputs == 1 else out

        self._program = make(graph, kernel)

    def __call__(self, values: Sequence[Any]) -> Any:
        """The results for the arrays and variables of all inputs."""
        given = [values[i] for i in self._given]
        if not self._is_written:
            return self._program(*given)
        return run_holding(locks_of(given), self._program, given, self._who)
