"""The reference interpreter: one node after the other, every rule checked. The definition.

Slow on purpose and used by tests only: every tier, pass and gradient has to agree with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.machine_jobs import by_numpy
from weft._src.core.shapes import TensorShape
from weft._src.errors import OpError
from weft._src.graph.ir import Graph, Node
from weft._src.ops.control.loop import LOOP_NAMES
from weft._src.ops.dispatch import run_kernel

Values = list[Any]


def run(graph: Graph, inputs: Sequence[Any]) -> Values:
    """The values of the graph's outputs for the values of all its inputs (captures last)."""
    values = dict(zip(map(id, graph.all_inputs), inputs, strict=True))
    for node in graph.body:
        arguments = [values[id(x)] for x in node.inputs]
        try:
            results = run_node(node, arguments)
        except OpError as error:
            if error.location is None:
                error.location = node.location
            raise
        for tensor, value in zip(node.outputs, results, strict=True):
            check_type(node, tensor.spec, value)
            if node.op.fresh and tensor.spec.dims != ():
                check_fresh(node, value, arguments)
            values[id(tensor)] = value
    return [values[id(tensor)] for tensor in graph.outputs]


def run_node(node: Node, arguments: Values) -> Sequence[Any]:
    """The outputs of one node for the values of its inputs."""
    structured = _STRUCTURED.get(node.op.name)
    if structured is not None:
        return structured(node, arguments)
    with by_numpy():  # machine code is what is held against it
        out = run_kernel(node.op, arguments, node.attrs)
    return (out,) if node.op.outputs == 1 else out


def check_type(node: Node, spec: Any, value: Any) -> None:
    """Holds the type that tracing inferred against what came out."""
    shape = TensorShape(tuple(value.shape))
    if dtypes.from_numpy(value.dtype) is not spec.dtype or not shape.is_compatible_with(spec.shape):
        raise AssertionError(
            f"{node.name} ({node.op.name}) at {node.location}: inferred {spec}, got "
            f"{value.dtype} of shape {shape}."
        )


def check_fresh(node: Node, value: Any, arguments: Values) -> None:
    """Holds an op to its promise of a new array: plans write into it when it is dead."""
    if not value.flags.writeable or any(
        isinstance(x, np.ndarray) and np.may_share_memory(value, x) for x in arguments
    ):
        raise AssertionError(
            f"{node.name} ({node.op.name}) at {node.location} is defined as fresh, but its result "
            "is read-only or shares memory with an input."
        )


def _run_if(node: Node, arguments: Values) -> Values:
    condition, *captured = arguments
    return run(node.attrs["branches"][0 if condition else 1], captured)


def _run_case(node: Node, arguments: Values) -> Values:
    index, *captured = arguments
    branches = node.attrs["branches"]
    return run(branches[index if 0 <= index < len(branches) else -1], captured)


def _run_while(node: Node, arguments: Values) -> Values:
    n = len(node.outputs)
    loop, captured = arguments[:n], arguments[n:]
    limit = node.attrs["maximum_iterations"]
    count = 0
    while (limit is None or count < limit) and run(node.attrs["cond"], [*loop, *captured])[0]:
        loop = run(node.attrs["body"], [*loop, *captured])
        count += 1
    return loop


def _run_call(node: Node, arguments: Values) -> Values:
    return run(node.attrs["body"], arguments)


_STRUCTURED = {
    "If": _run_if,
    "Case": _run_case,
    **dict.fromkeys(LOOP_NAMES, _run_while),
    "PartitionedCall": _run_call,
}
