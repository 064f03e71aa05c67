"""Graphs in the form other tools read: `as_graph_def()` with TensorFlow's node names and ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core.dtypes import DType
from weft._src.core.shapes import Dim
from weft._src.core.tensor import SymbolicTensor
from weft._src.graph import ir
from weft._src.graph.graph_wire import graph_bytes
from weft._src.graph.message import Message


class AttrValue(Message):
    """The value of an attribute; exactly one of the fields of an attribute is set."""

    def __init__(self, **content: Any) -> None:
        self.type: int | None = content.get("type")
        self.shape: list[int] | None = content.get("shape")
        self.tensor: np.ndarray[Any, Any] | None = content.get("tensor")
        self.i: int | None = content.get("i")
        self.f: float | None = content.get("f")
        self.b: bool | None = content.get("b")
        self.s: bytes | None = content.get("s")
        self.func: str | None = content.get("func")
        self.list: Sequence[AttrValue] | None = content.get("list")

    def __repr__(self) -> str:
        set_fields = {k: v for k, v in vars(self).items() if v is not None}
        return f"AttrValue({', '.join(f'{k}={v!r}' for k, v in set_fields.items())})"


class NodeDef(Message):
    """One node: its name, op, the names of its inputs, and its attributes."""

    def __init__(self, name: str, op: str, input: list[str], attr: dict[str, AttrValue]) -> None:
        self.name = name
        self.op = op
        self.input = input
        self.device = ""
        self.attr = attr


class FunctionDef(Message):
    """A nested graph, such as a branch or a loop body, under the name nodes refer to it by."""

    def __init__(self, name: str, node_def: list[NodeDef]) -> None:
        self.name = name
        self.node_def = node_def


class FunctionLibrary(Message):
    """The nested graphs of a graph."""

    def __init__(self) -> None:
        self.function: list[FunctionDef] = []


class GraphDef(Message):
    """All nodes of a graph, and its nested graphs as a library."""

    def __init__(self) -> None:
        self.node: list[NodeDef] = []
        self.library = FunctionLibrary()

    def SerializeToString(self) -> bytes:  # noqa: N802 - the name protocol buffers give it
        """The graph as a serialized GraphDef message."""
        return graph_bytes(self)


def as_graph_def(graph: ir.Graph) -> GraphDef:
    """The graph as plain objects in the shape of TensorFlow's GraphDef."""
    out = GraphDef()
    names: dict[int, str] = {}
    _collect_nested(graph, out.library, names)
    out.node = [_node_def(node, names) for node in graph.nodes]
    return out


def _collect_nested(graph: ir.Graph, library: FunctionLibrary, names: dict[int, str]) -> None:
    for node in graph.nodes:
        for key, nested in node.nested:
            _collect_nested(nested, library, names)
            tag = "".join(c if c.isalnum() else "_" for c in key).strip("_")
            name = names[id(nested)] = f"{node.name}_{tag}_{len(names)}"
            library.function.append(
                FunctionDef(name, [_node_def(inner, names) for inner in nested.nodes])
            )


def _input_name(tensor: SymbolicTensor) -> str:
    return tensor.node.name if tensor.index == 0 else tensor.name


def _node_def(node: ir.Node, names: dict[int, str]) -> NodeDef:
    attrs = {key: _attr(value, names) for key, value in node.attrs.items()}
    if node.op.name == "Const":
        attrs["dtype"] = AttrValue(type=node.outputs[0].dtype.as_datatype_enum)
    elif node.inputs and "T" not in attrs:
        attrs["T"] = AttrValue(type=node.inputs[0].dtype.as_datatype_enum)
    if node.op.name == "Placeholder":
        attrs["shape"] = AttrValue(shape=_shape(node.outputs[0].spec.dims))
    return NodeDef(node.name, node.op.name, [_input_name(x) for x in node.inputs], attrs)


def _shape(dims: Any) -> list[int] | None:
    """Sizes with -1 for unknown ones; None for an unknown rank."""
    return None if dims is None else [-1 if isinstance(d, Dim) else d for d in dims]


def _attr(value: Any, names: dict[int, str]) -> AttrValue:
    if isinstance(value, bool):
        return AttrValue(b=value)
    if isinstance(value, int):
        return AttrValue(i=value)
    if isinstance(value, float):
        return AttrValue(f=value)
    if isinstance(value, str):
        return AttrValue(s=value.encode())
    if isinstance(value, DType):
        return AttrValue(type=value.as_datatype_enum)
    if isinstance(value, np.ndarray):
        return AttrValue(tensor=value)
    if isinstance(value, ir.Graph):
        return AttrValue(func=names[id(value)])
    if isinstance(value, (tuple, list)):
        return AttrValue(list=[_attr(item, names) for item in value])
    return AttrValue(s=repr(value).encode())
