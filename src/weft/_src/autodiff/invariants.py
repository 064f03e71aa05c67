"""Reads of variables that a loop does not change are done once, before it.

Otherwise a loop that is differentiated would save the same value in every iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.graph.ir import Graph, Node
from weft._src.graph.origins import outermost
from weft._src.graph.passes.inline import inline_calls
from weft._src.graph.rewrite import Rewriter
from weft._src.ops.state.variables import read_op


def hoist_reads(inputs: Sequence[Tensor], attrs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The inputs and attributes of a loop that takes the values of variables as inputs."""
    body: Graph = attrs["body"]
    if any(node.op.name == "PartitionedCall" for node in body.nodes):
        body = inline_calls(body)
    n = len(body.outputs)
    position = {id(x): i for i, x in enumerate(body.all_inputs)}
    reads = [node for node in body.nodes if node.op is read_op]
    reads = [node for node in reads if position.get(id(node.inputs[0]), -1) >= n]
    handles = [inputs[position[id(node.inputs[0])]] for node in reads]
    if not reads or not _keeps_variables(body, reads, handles):
        return inputs, attrs
    values: dict[int, Tensor] = {}  # position of a handle -> the value
    for node in reads:
        at = position[id(node.inputs[0])]
        if at not in values:
            values[at] = read_op(inputs[at], **node.attrs)
    new_body = Rewriter(body)
    new_cond = Rewriter(attrs["cond"])
    for at, value in values.items():
        placeholder = new_body.new.add_input(value.spec, "variable")
        new_cond.new.add_input(value.spec, "variable")
        for node in reads:
            if position[id(node.inputs[0])] == at:
                new_body[node.outputs[0]] = placeholder
    hoisted = {id(node) for node in reads}
    for rewriter in (new_body, new_cond):
        for node in rewriter.old.body:
            if id(node) not in hoisted:
                rewriter.copy(node)
    made = {**attrs, "body": new_body.finish(), "cond": new_cond.finish()}
    return (*inputs, *values.values()), made


def _keeps_variables(body: Graph, reads: Sequence[Node], handles: Sequence[Tensor]) -> bool:
    """Whether no iteration can change what is read: also not by another name, or in Python."""
    effects = body.effects
    if effects.host_io:
        return False
    if not effects.writes:
        return True
    written = {id(handle) for handle in effects.writes}
    known = all(isinstance(outermost(handle), EagerTensor) for handle in handles)
    return known and not any(id(node.inputs[0]) in written for node in reads)
