"""The messages of event files as bytes: events, summary values and their metadata."""

from __future__ import annotations

import struct
import time
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.wire import bytes_field, varint, varint_field

_FILE_VERSION = b"brain.Event:2"
_WRITER = b"weft.summary"


def event(content: bytes, step: int | None = None) -> bytes:
    """An event of now: when, at which step, and the field that says what."""
    when = varint(1 << 3 | 1) + struct.pack("<d", time.time())
    return when + (varint_field(2, step) if step is not None else b"") + content


def file_start() -> bytes:
    """The event every file begins with."""
    return event(bytes_field(3, _FILE_VERSION) + bytes_field(10, bytes_field(1, _WRITER)))


def tensor_message(array: np.ndarray[Any, Any]) -> bytes:
    """An array as a serialized TensorProto, directly: every summary passes here."""
    dtype = dtypes.from_numpy(array.dtype)
    sizes = b"".join([bytes_field(2, varint_field(1, size)) for size in array.shape])
    head = varint_field(1, dtype.as_datatype_enum) + bytes_field(2, sizes)
    if dtype is dtypes.string:
        return head + b"".join([bytes_field(8, text) for text in array.flat])
    return head + bytes_field(4, array.tobytes())


def summary_event(tag: str, tensor: bytes, metadata: bytes, step: int) -> bytes:
    """The event of one value: `tensor` and `metadata` are serialized messages."""
    described = bytes_field(9, metadata) if metadata else b""
    value = bytes_field(1, tag.encode()) + described + bytes_field(8, tensor)
    return event(bytes_field(5, bytes_field(1, value)), step)


def graph_event(graph: bytes) -> bytes:
    """The event of a whole graph, as a serialized GraphDef."""
    return event(bytes_field(4, graph), 0)


def plugin_metadata(plugin: str, content: bytes = b"", description: str | None = None) -> bytes:
    """Says which of TensorBoard's plugins shows a value."""
    named = bytes_field(1, plugin.encode()) + (bytes_field(2, content) if content else b"")
    described = bytes_field(3, description.encode()) if description else b""
    return bytes_field(1, named) + described
