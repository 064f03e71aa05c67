"""GraphDefs as bytes, in the form in which TensorFlow's files and TensorBoard have them."""

from __future__ import annotations

import struct
from typing import Any

from weft._src.core.wire import bytes_field, varint, varint_field
from weft._src.graph.tensor_proto import make_tensor_proto

_PRODUCER = 1882  # the version of GraphDef that TensorFlow 2 began with


def graph_bytes(graph_def: Any) -> bytes:
    """A GraphDef as a serialized message."""
    functions = [bytes_field(1, _function(f)) for f in graph_def.library.function]
    return b"".join([
        *[bytes_field(1, _node(node)) for node in graph_def.node],
        bytes_field(2, b"".join(functions)),
        bytes_field(4, varint_field(1, _PRODUCER)),
    ])  # fmt: skip


def _function(function: Any) -> bytes:
    signature = bytes_field(1, function.name.encode())
    nodes = [bytes_field(3, _node(node)) for node in function.node_def]
    return bytes_field(1, signature) + b"".join(nodes)


def _node(node: Any) -> bytes:
    attrs = [
        bytes_field(5, bytes_field(1, key.encode()) + bytes_field(2, _attr(value)))
        for key, value in sorted(node.attr.items())
    ]
    return b"".join([
        bytes_field(1, node.name.encode()),
        bytes_field(2, node.op.encode()),
        *[bytes_field(3, name.encode()) for name in node.input],
        bytes_field(4, node.device.encode()) if node.device else b"",
        *attrs,
    ])  # fmt: skip


def _attr(value: Any) -> bytes:
    if value.list is not None:
        return bytes_field(1, b"".join([_list_item(item) for item in value.list]))
    if value.func is not None:
        return bytes_field(10, bytes_field(1, value.func.encode()))
    return _simple(value)


def _list_item(value: Any) -> bytes:
    """Lists hold things of the kinds below, and names of functions; lists in lists are text."""
    if value.list is not None:
        return bytes_field(2, repr([_plain(item) for item in value.list]).encode())
    if value.func is not None:
        return bytes_field(9, bytes_field(1, value.func.encode()))
    return _simple(value)


def _plain(value: Any) -> Any:
    if value.list is not None:
        return [_plain(item) for item in value.list]
    return next(content for content in vars(value).values() if content is not None)


def _simple(value: Any) -> bytes:
    if value.s is not None:
        return bytes_field(2, value.s)
    if value.i is not None:
        return varint_field(3, value.i)
    if value.f is not None:
        return varint(4 << 3 | 5) + struct.pack("<f", value.f)
    if value.b is not None:
        return varint_field(5, int(value.b))
    if value.type is not None:
        return varint_field(6, value.type)
    if value.tensor is not None:
        return bytes_field(8, make_tensor_proto(value.tensor).SerializeToString())
    return bytes_field(7, _shape(value.shape))


def _shape(sizes: list[int] | None) -> bytes:
    if sizes is None:
        return varint_field(3, 1)  # an unknown rank
    return b"".join([bytes_field(2, varint_field(1, size)) for size in sizes])
