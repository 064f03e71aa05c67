"""Variables: read where they lie, written when a block ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft._src.execution.native.front.lowering.movement import gathered
from weft._src.execution.native.front.lowering.rules import apply, lowers, static_shape
from weft._src.execution.native.loops.values import NotCompilableError, Value
from weft._src.graph.ir import Node

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering


@lowers("read_variable")
def _read(lowering: Lowering, node: Node, inputs: list[Any]) -> Value:
    value = lowering.read(inputs[0])
    if value.shape != static_shape(node):
        raise NotCompilableError(
            f"the variable read by {node.name} has a shape known only at run time"
        )
    return value


@lowers("assign_variable")
def _assign(lowering: Lowering, node: Node, inputs: list[Any]) -> None:
    lowering.assign(inputs[0], inputs[1])


@lowers("update_variable")
def _update(lowering: Lowering, node: Node, inputs: list[Any], *, combination: str) -> None:
    cell, value = inputs
    lowering.assign(cell, apply(combination, lowering.read(cell), value, label=node.name))


@lowers("gather_variable")
def _gather(lowering: Lowering, node: Node, inputs: list[Any]) -> Value:
    return gathered(lowering, node, lowering.read(inputs[0]), inputs[1], 0)
