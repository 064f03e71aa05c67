"""Nodes of a GraphDef: their order, their attributes as Python values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import weft as tf
from weft._src.errors import DataLossError, ResourceExhaustedError
from weft._src.fileio.structured_values import dtype_of, shape_of
from weft._src.graph.tensor_proto import array_of
from weft._src.messages.message import Message
from weft._src.messages.tensors import TensorProto

_MOST_FILLED = 2**27  # elements that need not be written one by one


class Node:
    """A node of a graph, taken out of its message once: fields of messages cost a call each."""

    __slots__ = ("attr", "input", "name", "op")

    def __init__(self, message: Message) -> None:
        self.name: str = message.name
        self.op: str = message.op
        self.input: list[str] = list(message.input)
        self.attr: Mapping[str, Message] = message.attr  # made of bytes when they are asked for

    def value(self, name: str) -> Any:
        """The value of an attribute, None if it has none."""
        return attribute_value(self.attr[name]) if name in self.attr else None


def attribute_value(message: Message) -> Any:
    """The value of an attribute; functions are ("function", name)."""
    kind = message.WhichOneof("value")
    if kind is None:
        return None
    if kind != "list":
        return _one(kind, getattr(message, kind))
    found = message.list
    for name in ("s", "i", "f", "b", "type", "shape", "tensor", "func"):
        items = getattr(found, name)
        if len(items):
            return [_one(name, item) for item in items]
    return []


def _one(kind: str, value: Any) -> Any:
    if kind == "type":
        return dtype_of(value)
    if kind == "shape":
        return shape_of(value)
    if kind == "tensor":
        return _constant(value)
    if kind == "func":
        return ("function", value.name)
    if kind == "s":
        return value.decode("latin1")
    return value


def _constant(message: TensorProto) -> Any:
    """A constant; a few bytes cannot stand for more memory than a large model takes."""
    count = math.prod([max(int(dim.size), 0) for dim in message.tensor_shape.dim])
    if count > _MOST_FILLED and not message.tensor_content:
        sizes = [int(dim.size) for dim in message.tensor_shape.dim]
        raise ResourceExhaustedError(
            None, None, f"A constant of a graph has shape {sizes}, and not as many values."
        )
    return tf.constant(array_of(message))


def in_order(messages: Iterable[Message], where: str) -> list[Node]:
    """The nodes so that each comes after what it needs; what is listed first comes first."""
    nodes = [Node(message) for message in messages]
    by_name = {node.name: node for node in nodes}
    order: list[Node] = []
    done: set[str] = set()
    begun: set[str] = set()
    for start in nodes:
        pending = [(start, iter(_needed(start)))]
        if start.name in done:
            continue
        begun.add(start.name)
        while pending:
            node, needed = pending[-1]
            for name in needed:
                below = by_name.get(name)
                if below is None or name in done:
                    continue
                if name in begun:
                    raise DataLossError(None, None, f"{where}: {name!r} needs itself.")
                begun.add(name)
                pending.append((below, iter(_needed(below))))
                break
            else:
                pending.pop()
                done.add(node.name)
                order.append(node)
    return order


def _needed(node: Node) -> list[str]:
    return [text.removeprefix("^").partition(":")[0] for text in node.input]
