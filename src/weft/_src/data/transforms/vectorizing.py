"""A traced function of one element as a function of many: a graph over stacked elements.

Only ops whose results for stacked elements are, bit for bit, the stacked results are rewritten:
what computes element by element, moves elements, or combines them in an order that stacking does
not change. A function with any other op is not vectorised.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.core.context import building
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import BOOL, SIGNED, UNSIGNED
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import SymbolicTensor, Tensor
from weft._src.graph.ir import Graph, Node
from weft._src.graph.passes import optimize
from weft._src.graph.passes.forget import forget_gradients
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.registry import STRUCTURED

_EXACT = SIGNED | UNSIGNED | BOOL
_MAX_NODES = 400


class NotVectorizable(Exception):  # noqa: N818 - a signal, not an error
    """A function has to run once for each element."""


def vectorized(graph: Graph) -> Graph | None:
    """The graph for stacked elements, or None. What it captures is not stacked."""
    effects = graph.effects
    if effects.must_run or len(graph.nodes) > _MAX_NODES:
        return None
    try:
        return _Vectorizer(optimize(forget_gradients(graph))).run()
    except NotVectorizable:
        return None


class _Vectorizer:
    def __init__(self, graph: Graph) -> None:
        self._old = graph
        self._new = Graph(f"{graph.name}_rows")
        self._map: dict[int, SymbolicTensor] = {}
        self._stacked: set[int] = set()  # tensors of the old graph that have rows in the new one

    def run(self) -> Graph:
        with building(self._new):
            for x in self._old.inputs:
                if x.spec.dims is None or not x.dtype.is_numpy_compatible:
                    raise NotVectorizable
                spec = TensorSpec([None, *x.shape.as_list()], x.dtype)
                self._set(x, self._new.add_input(spec, x.node.name), stacked=True)
            # Captures are plain inputs here: their values are passed behind those of an element.
            for _, inner in self._old.captures:
                self._set(inner, self._new.add_input(inner.spec, inner.node.name), stacked=False)
            for node in self._old.nodes:
                if node.op.name != "Placeholder":
                    self._visit(node)
        self._new.outputs = [self._map[id(out)] for out in self._old.outputs]
        self._new.structured_outputs = [id(out) in self._stacked for out in self._old.outputs]
        return self._new

    def _set(self, old: SymbolicTensor, new: Any, *, stacked: bool) -> None:
        self._map[id(old)] = new
        if stacked:
            self._stacked.add(id(old))

    def _visit(self, node: Node) -> None:
        op = node.op
        inputs = [self._map[id(x)] for x in node.inputs]
        stacked = [id(x) in self._stacked for x in node.inputs]
        if op.kernel is STRUCTURED or op.outputs != 1 or node.effects.must_run:
            raise NotVectorizable
        if not any(stacked):
            if op.name == "Const":
                made = self._new.add_node(
                    op, (), node.attrs, (node.outputs[0].spec,), node.name, node.location
                ).outputs[0]
            else:
                made = op(*inputs, **node.attrs)
            self._set(node.outputs[0], made, stacked=False)
            return
        rule = _RULES.get(op.name)
        if rule is None and op.elementwise:
            rule = _pointwise
        if rule is None or any(x.spec.dims is None for x in (*node.inputs, *node.outputs)):
            raise NotVectorizable
        self._set(node.outputs[0], rule(node, inputs, stacked), stacked=True)


Rule = Callable[[Node, list[Any], list[bool]], Any]


def _rank(x: Tensor) -> int:
    rank = x.spec.rank
    assert rank is not None
    return rank


def _pointwise(node: Node, inputs: list[Any], stacked: list[bool]) -> Any:
    """Elements of lower rank get axes of size one behind the rows, so that rows meet rows."""
    rank = max([_rank(x) for x in node.inputs])
    lined_up = []
    for old, new, has_rows in zip(node.inputs, inputs, stacked, strict=True):
        missing = rank - _rank(old)
        if has_rows and missing:
            if not old.spec.is_static:
                raise NotVectorizable
            new = shapes.reshape_op(new, _shape(-1, *[1] * missing, *old.spec.dims))  # type: ignore[misc]
        lined_up.append(new)
    return node.op(*lined_up, **node.attrs)


def _shape(*sizes: int) -> Tensor:
    return convert_to_tensor(np.array(sizes, np.int32))


def _reshape(node: Node, inputs: list[Any], stacked: list[bool]) -> Any:
    out = node.outputs[0].spec
    sizes = node.inputs[0].spec
    if stacked[1] or not out.is_static or not sizes.is_static or 0 in sizes.dims:  # type: ignore[operator]
        raise NotVectorizable
    return shapes.reshape_op(inputs[0], _shape(-1, *out.dims))  # type: ignore[misc]


def _expand_dims(node: Node, inputs: list[Any], stacked: list[bool]) -> Any:
    axis = node.attrs["axis"]
    return node.op(inputs[0], axis=axis + 1 if axis >= 0 else axis)


def _squeeze(node: Node, inputs: list[Any], stacked: list[bool]) -> Any:
    spec, axis = node.inputs[0].spec, node.attrs["axis"]
    if not spec.is_static:
        raise NotVectorizable
    if axis is None:
        axis = [i for i, d in enumerate(spec.dims or ()) if d == 1]
    if not axis:
        return inputs[0]
    return node.op(inputs[0], axis=tuple([a + 1 if a >= 0 else a for a in axis]))


def _transpose(node: Node, inputs: list[Any], stacked: list[bool]) -> Any:
    rank, perm = _rank(node.inputs[0]), node.attrs["perm"]
    order = range(rank)[::-1] if perm is None else [p % rank for p in perm]
    return node.op(inputs[0], perm=(0, *[p + 1 for p in order]))


def _strided_slice(node: Node, inputs: list[Any], stacked: list[bool]) -> Any:
    if not stacked[0] or any(stacked[1:]):
        raise NotVectorizable
    return node.op(*inputs, index=((None, None, None), *node.attrs["index"]))


def _concat(node: Node, inputs: list[Any], stacked: list[bool]) -> Any:
    axis = node.attrs["axis"]
    if not all(stacked):
        raise NotVectorizable
    return node.op(*inputs, axis=axis + 1 if axis >= 0 else axis)


def _reduce(node: Node, inputs: list[Any], stacked: list[bool]) -> Any:
    """Sums of floats depend on their order: only whole elements, whose order stays, are summed."""
    spec, axis, keepdims = node.inputs[0].spec, node.attrs["axis"], node.attrs["keepdims"]
    rank = len(spec.dims or ())
    axes = tuple(range(rank)) if axis is None else tuple([a % rank for a in axis])
    if not axes or not spec.is_static or 0 in (spec.dims or ()):
        raise NotVectorizable
    if node.op.name in ("Sum", "Mean", "Prod") and spec.dtype not in _EXACT:
        if keepdims or set(axes) != set(range(rank)):
            raise NotVectorizable
        flat = shapes.reshape_op(inputs[0], _shape(-1, int(np.prod(spec.dims))))  # type: ignore[arg-type]
        return node.op(flat, axis=(1,), keepdims=False)
    return node.op(inputs[0], axis=tuple([a + 1 for a in axes]), keepdims=keepdims)


def _one_hot(node: Node, inputs: list[Any], stacked: list[bool]) -> Any:
    axis = node.attrs["axis"]
    if any(stacked[1:]):
        raise NotVectorizable
    return node.op(*inputs, **{**node.attrs, "axis": axis + 1 if axis >= 0 else axis})


def _gather(node: Node, inputs: list[Any], stacked: list[bool]) -> Any:
    """Rows of a table that all elements share."""
    if stacked[0] or node.attrs["axis"] not in (None, 0) or node.attrs["batch_dims"]:
        raise NotVectorizable
    return node.op(*inputs, **node.attrs)


def _same(node: Node, inputs: list[Any], stacked: list[bool]) -> Any:
    return inputs[0]


_RULES: dict[str, Rule] = {
    "Identity": _same,
    "StopGradient": _same,
    "PreventGradient": _same,
    "Reshape": _reshape,
    "ExpandDims": _expand_dims,
    "Squeeze": _squeeze,
    "Transpose": _transpose,
    "StridedSlice": _strided_slice,
    "ConcatV2": _concat,
    "Sum": _reduce,
    "Mean": _reduce,
    "Max": _reduce,
    "Min": _reduce,
    "All": _reduce,
    "Any": _reduce,
    "OneHot": _one_hot,
    "GatherV2": _gather,
}
