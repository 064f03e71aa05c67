"""A traced function of one element as a function of many: a graph over stacked elements.

Only where every element comes out, bit for bit, as it would alone (`graph.batching`, exact). A
function with anything else is called once for each element.
"""

from __future__ import annotations

from typing import NamedTuple

from weft._src.core.context import building
from weft._src.core.specs import TensorSpec
from weft._src.graph.batching import Batch
from weft._src.graph.ir import Graph
from weft._src.graph.passes import optimize
from weft._src.graph.passes.forget import forget_gradients
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.batching import NotBatched

_MAX_NODES = 400


class RowsGraph(NamedTuple):
    """A function of many elements, and which of its results have a row for each."""

    graph: Graph
    stacked: list[bool]


def vectorized(graph: Graph) -> RowsGraph | None:
    """The graph for stacked elements, or None. What it captures is not stacked."""
    if graph.effects.must_run or len(graph.nodes) > _MAX_NODES:
        return None
    one = optimize(forget_gradients(graph))
    if any(x.spec.dims is None or not x.dtype.is_numpy_compatible for x in one.inputs):
        return None
    rows = Graph(f"{graph.name}_rows")
    with building(rows):
        stacked = [
            rows.add_input(TensorSpec([None, *x.shape.as_list()], x.dtype), x.node.name)
            for x in one.inputs
        ]
        # Captures are plain inputs here: their values are passed behind those of an element.
        captured = [rows.add_input(inner.spec, inner.node.name) for _, inner in one.captures]
        batch = Batch(shapes.shape(stacked[0])[0], exact=True, loops=False)
        flags = [*[True] * len(stacked), *[False] * len(captured)]
        try:
            outputs = batch.run(one, [*stacked, *captured], flags)
        except NotBatched:
            return None
        rows.outputs = [out if out.graph is rows else rows.capture(out) for out, _ in outputs]
    return RowsGraph(rows, [has_rows for _, has_rows in outputs])
