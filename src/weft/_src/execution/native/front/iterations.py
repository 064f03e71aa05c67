"""How often a loop runs, where that can be seen: what grows in it then has a known length."""

from __future__ import annotations

from typing import NamedTuple

from weft._src.core.tensor import SymbolicTensor
from weft._src.graph.ir import Node
from weft._src.ops.elementwise.arithmetic import add_op
from weft._src.ops.elementwise.comparison import less_op


class Count(NamedTuple):
    """A loop variable that counts."""

    position: int  # among the loop variables
    start: int
    by: int
    times: int  # how often the loop runs


def count_of(node: Node, inputs: tuple[SymbolicTensor, ...]) -> Count | None:
    """The counter of a While that does nothing but count from one constant to another.

    `inputs` are what it is given; None if it is not like that.
    """
    condition, body = node.attrs["cond"], node.attrs["body"]
    test = condition.outputs[0].node
    if test.op is not less_op or node.attrs["maximum_iterations"] is not None:
        return None
    places = {id(x): i for i, x in enumerate(condition.all_inputs)}
    counter, variables = places.get(id(test.inputs[0])), len(node.outputs)
    if counter is None or counter >= variables:
        return None
    limit = test.inputs[1]
    if places.get(id(limit), -1) >= variables:
        limit = inputs[places[id(limit)]]
    step = body.outputs[counter].node
    if step.op is not add_op or step.inputs[0] is not body.all_inputs[counter]:
        return None
    start, end, by = [_constant(x) for x in (inputs[counter], limit, step.inputs[1])]
    if start is None or end is None or by is None or by < 1:
        return None
    return Count(counter, start, by, len(range(start, end, by)))


def _constant(x: SymbolicTensor) -> int | None:
    is_known = x.node.is_const and x.dtype.is_integer and x.spec.dims == ()
    return int(x.node.attrs["value"]) if is_known else None
