"""The shapes of what lists hold, where a program does not say them: inferred from what is written.

A TensorArray made without an element shape is read without one: `x` below has no known shape, and
nothing that is computed of it has.

    a = TensorListReserve(n)                    elements of unknown shape
    loop: a = TensorListSetItem(a, i, y[3, 5])  here somebody writes [3, 5] into the same list
    x = TensorListGetItem(a, j)                 so that is what is read

All versions of a list, inside and outside of loops and branches, are one class (union-find). Each
write says what the elements of its class are; where all agree, the reads are told.

Gradients of loops save sizes that were not known while tracing. For the sizes of one call these are
constants, pushed again and again: what is popped is that constant.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.shapes import Dims
from weft._src.graph.ir import Graph, Node
from weft._src.ops.control import stack
from weft._src.ops.control.loop import LOOP_NAMES

# Ops that hand a list on, as their first output, which they get as their first input.
_CHANGING = (
    stack.set_item_op,
    stack.push_op,
    stack.clear_item_op,
    stack.add_rows_op,
    stack.zeros_like_op,
    stack.pop_op,
    stack.pop_shaped_op,
)
_EMPTY = (stack.reserve_op, stack.zeros_op)  # the beginning of any number of lists
_READING = (stack.get_item_op, stack.pop_op, stack.to_tensor_op, stack.read_rows_op)


def tell_element_shapes(graph: Graph) -> list[tuple[Node, dict[str, Any]]]:
    """Sets the attribute `shape` of the nodes that read lists, where it follows from the others.

    It follows from what is known so far. Elements that are computed from others of the list may
    turn out to have another shape (`lists_agree`); the nodes and their attributes before are
    returned.
    """
    classes = _Classes()
    readers: list[Node] = []
    pops: list[Node] = []
    for given in graph.all_inputs:
        classes.write(given, None)  # a list from outside may hold anything
    _visit(graph, classes, readers, pops)
    told = []
    for node in readers:
        shape = classes.shape_of(node.inputs[0])
        if shape is not None:
            told.append((node, node.attrs))
            node.attrs = {**node.attrs, "shape": shape}
    for node in pops:
        constant = classes.constant_of(node.inputs[0])
        if constant is not None:
            _use_instead(node, constant)
    return told


def lists_agree(graph: Graph) -> bool:
    """Whether what is written into each list has the one shape that its readers expect."""
    classes = _Classes()
    _visit(graph, classes, [], [])
    return _readers_agree(graph, classes)


def _readers_agree(graph: Graph, classes: _Classes) -> bool:
    for node in graph.body:
        reads = node.op in _READING and node.outputs[-1].dtype is not dtypes.variant
        expects = reads and stack.static_sizes(node.attrs["shape"]) is not None
        if expects and not classes.has_one_shape(node.inputs[0]):
            return False
        if not all(_readers_agree(inner, classes) for _, inner in node.nested):
            return False
    return True


def _use_instead(node: Node, constant: Node) -> None:
    """What is popped is a constant for all who use it in the graph; popping goes on."""
    graph, popped = node.graph, node.outputs[1]
    made = graph.add_copy(constant, ())
    graph.nodes.remove(made)
    graph.nodes.insert(graph.nodes.index(node), made)
    for other in graph.nodes:
        if any(x is popped for x in other.inputs):
            other.inputs = tuple([made.outputs[0] if x is popped else x for x in other.inputs])
    graph.outputs = [made.outputs[0] if x is popped else x for x in graph.outputs]


class _Classes:
    """Which tensors are versions of one list, and what these lists hold."""

    def __init__(self) -> None:
        self._above: dict[int, int] = {}
        self._shapes: dict[int, set[Dims]] = {}
        self._items: dict[int, list[Node | None]] = {}  # what is written, None if it may change

    def _root(self, key: int) -> int:
        while (above := self._above.get(key, key)) != key:
            self._above[key] = key = self._above.get(above, above)
        return key

    def join(self, one: Any, other: Any) -> None:
        """Both are versions of one list."""
        if one.dtype is not dtypes.variant:
            return
        for empty, full in ((one, other), (other, one)):
            if empty.node.op in _EMPTY:  # each use of it is another list
                self.write(full, *([] if _has_no_elements(empty.node) else [None]))
                return
        a, b = self._root(id(one)), self._root(id(other))
        if a != b:
            self._above[a] = b
            self._shapes.setdefault(b, set()).update(self._shapes.pop(a, ()))
            self._items.setdefault(b, []).extend(self._items.pop(a, ()))

    def note(self, tensor: Any, shape: Dims | None) -> None:
        """Somebody writes elements of this shape, or expects them."""
        known = stack.static_sizes(shape)
        if known is not None:
            self._shapes.setdefault(self._root(id(tensor)), set()).add(known)

    def write(self, tensor: Any, *items: Node | None) -> None:
        """Somebody writes these into a list."""
        self._items.setdefault(self._root(id(tensor)), []).extend(items)

    def constant_of(self, tensor: Any) -> Node | None:
        """The one constant that is written into a list, None if others are, or none."""
        first, *others = self._items.get(self._root(id(tensor))) or [None]
        if first is None or any(x is None or not _is_equal(x, first) for x in others):
            return None
        return first

    def has_one_shape(self, tensor: Any) -> bool:
        """Whether nobody writes or expects elements of another shape than the others."""
        return len(self._shapes.get(self._root(id(tensor)), ())) < 2

    def shape_of(self, tensor: Any) -> Dims | None:
        """What all elements of a list are, None if nobody knows or not all agree."""
        found = self._shapes.get(self._root(id(tensor)), set())
        return next(iter(found)) if len(found) == 1 else None


def _has_no_elements(node: Node) -> bool:
    """Whether a list begins without elements; those that nobody has written are zeros."""
    return (
        node.op is stack.reserve_op
        and node.inputs[0].node.is_const
        and not node.inputs[0].node.attrs["value"]
    )


def _is_equal(one: Node, other: Node) -> bool:
    a, b = one.attrs["value"], other.attrs["value"]
    return a.dtype == b.dtype and np.array_equal(a, b)


def _visit(graph: Graph, classes: _Classes, readers: list[Node], pops: list[Node]) -> None:
    for node in graph.body:
        if node.op in _CHANGING or (node.op.identity and node.op.outputs == 1):
            classes.join(node.inputs[0], node.outputs[0])
        _note_written(node, classes)
        if node.op is stack.pop_op and node.outputs[1].dtype in dtypes.INDEX:
            pops.append(node)
        if node.op in _READING and node.outputs[-1].dtype is not dtypes.variant:
            classes.note(node.inputs[0], node.attrs["shape"])
            if stack.static_sizes(node.attrs["shape"]) is None:
                readers.append(node)
        for _, inner in node.nested:
            _join_nested(node, inner, classes)
            _visit(inner, classes, readers, pops)


def _note_written(node: Node, classes: _Classes) -> None:
    if node.op is stack.from_tensor_op:
        dims = node.inputs[0].spec.dims
        classes.note(node.outputs[0], None if dims is None else dims[1:])
        classes.write(node.outputs[0], None)
    elif node.op in (stack.set_item_op, stack.push_op):
        item = node.inputs[-1]
        classes.write(node.outputs[0], item.node if item.node.is_const else None)
        if item.dtype is not dtypes.variant:
            classes.note(node.outputs[0], item.spec.dims)
    elif node.op is stack.add_rows_op:
        rank, dims = node.inputs[1].spec.rank, node.inputs[2].spec.dims
        classes.note(node.outputs[0], None if dims is None or rank is None else dims[rank:])
        classes.write(node.outputs[0], None)
    elif node.op in (stack.clear_item_op, stack.zeros_like_op):
        classes.write(node.outputs[0], None)


def _join_nested(node: Node, inner: Graph, classes: _Classes) -> None:
    """What goes into a branch or a loop, and what comes out of it."""
    for given, inside in zip(node.inputs[node.op.nested_offset :], inner.all_inputs, strict=False):
        classes.join(given, inside)
    if node.op.name in LOOP_NAMES:
        for out, inside in zip(node.outputs, inner.all_inputs, strict=False):
            classes.join(out, inside)
        if inner is not node.attrs["body"]:
            return  # a condition gives no lists
    for out, inside in zip(node.outputs, inner.outputs, strict=False):
        classes.join(out, inside)
