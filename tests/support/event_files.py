"""Reads event files back, with nothing but the framing of records and the wire format."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.wire_fields import signed

import weft as tf
from weft._src.messages.tensors import TensorProto
from weft._src.messages.wire import contents, fields


@dataclass
class Value:
    """One summary value of one event."""

    step: int
    tag: str
    value: Any
    plugin: str = ""
    content: bytes = b""
    description: str = ""


@dataclass
class File:
    """What an event file holds."""

    version: str = ""
    values: list[Value] = field(default_factory=list)
    graphs: list[bytes] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    @property
    def brief(self) -> list[tuple[int, str, Any]]:
        return [(v.step, v.tag, v.value.tolist()) for v in self.values]


def by_number(data: bytes, what: str) -> dict[int, Any]:
    """What the fields of a message hold; the last one of each number."""
    return {number: content for number, _, content in fields(data, what)}


def read_folder(folder: Path) -> File:
    """The one event file of a folder."""
    (path,) = folder.glob("events.out.tfevents.*")
    return read_file(path)


def read_file(path: Path) -> File:
    out = File()
    for record in tf.data.TFRecordDataset(str(path)).as_numpy_iterator():
        step = 0
        for number, _, content in fields(record, "Event"):
            if number == 1:
                out.times += struct.unpack("<d", content)
            elif number == 2:
                step = signed(content)
            elif number == 3:
                out.version = content.decode()
            elif number == 4:
                out.graphs.append(content)
            elif number == 5:
                out.values += [_value(v, step) for v in contents(content, 1, "Summary")]
    return out


def _value(content: bytes, step: int) -> Value:
    parts = by_number(content, "Value")
    out = Value(step, parts[1].decode(), tf.make_ndarray(TensorProto.FromString(parts[8])))
    metadata = by_number(parts.get(9, b""), "SummaryMetadata")
    plugin = by_number(metadata.get(1, b""), "PluginData")
    out.plugin = plugin.get(1, b"").decode()
    out.content = plugin.get(2, b"")
    out.description = metadata.get(3, b"").decode()
    return out


def node_names(graph: bytes) -> list[str]:
    """The names of the nodes of a serialized GraphDef."""
    return [by_number(node, "NodeDef")[1].decode() for node in contents(graph, 1, "GraphDef")]
