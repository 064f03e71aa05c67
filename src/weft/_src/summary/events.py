"""The events of event files as bytes."""

from __future__ import annotations

import functools
import time
from typing import Any

from weft._src.messages.events import (
    Event,
    PluginData,
    SourceMetadata,
    Summary,
    SummaryMetadata,
    Value,
)
from weft._src.messages.tensors import TensorProto

_FILE_VERSION = "brain.Event:2"
_WRITER = "weft.summary"


def _event(**content: Any) -> bytes:
    """An event of now."""
    return Event(wall_time=time.time(), **content).SerializeToString()


def file_start() -> bytes:
    """The event every file begins with."""
    return _event(file_version=_FILE_VERSION, source_metadata=SourceMetadata(writer=_WRITER))


def summary_event(tag: str, tensor: TensorProto, metadata: bytes, step: int) -> bytes:
    """The event of one value; `metadata` is a serialized SummaryMetadata."""
    value = Value(tag=tag, tensor=tensor, metadata=_metadata(metadata))
    return _event(step=step, summary=Summary(value=[value]))


@functools.lru_cache(64)  # those of a tag are always the same
def _metadata(serialized: bytes) -> SummaryMetadata | None:
    found: SummaryMetadata = SummaryMetadata.FromString(serialized)
    return found if serialized else None


def raw_summary_event(serialized: bytes, step: int) -> bytes:
    """The event of a serialized Summary; ParseError if it is none."""
    return _event(step=step, summary=Summary.FromString(serialized))


def graph_event(graph: bytes) -> bytes:
    """The event of a whole graph, as a serialized GraphDef."""
    return _event(graph_def=graph)


def plugin_metadata(plugin: str, content: bytes = b"", description: str | None = None) -> bytes:
    """Says which of TensorBoard's plugins shows a value."""
    data = PluginData(plugin_name=plugin, content=content)
    return SummaryMetadata(plugin_data=data, summary_description=description).SerializeToString()
