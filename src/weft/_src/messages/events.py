"""What event files hold as messages: events, summary values, and what a profile measured."""

from __future__ import annotations

from weft._src.messages.graphs import GraphDef
from weft._src.messages.kinds import BYTES, DOUBLE, INT64, STRING
from weft._src.messages.message import Message
from weft._src.messages.table import many, one
from weft._src.messages.tensors import TensorProto


class PluginData(Message):
    """Which of TensorBoard's plugins shows a value, and what it wants to know."""

    FIELDS = (one(1, "plugin_name", STRING), one(2, "content", BYTES))


class SummaryMetadata(Message):
    """How a value is shown."""

    FIELDS = (one(1, "plugin_data", PluginData), one(3, "summary_description", STRING))


class Value(Message):
    """One value of a summary."""

    FIELDS = (
        one(1, "tag", STRING),
        one(8, "tensor", TensorProto),
        one(9, "metadata", SummaryMetadata),
    )


class Summary(Message):
    """The values of an event."""

    FIELDS = (many(1, "value", Value),)


class SourceMetadata(Message):
    """Who wrote a file."""

    FIELDS = (one(1, "writer", STRING),)


class Event(Message):
    """One record of an event file: when, at which step, and what."""

    FIELDS = (
        one(1, "wall_time", DOUBLE),
        one(2, "step", INT64),
        one(3, "file_version", STRING, "what"),
        one(4, "graph_def", BYTES, "what"),
        one(5, "summary", Summary, "what"),
        one(10, "source_metadata", SourceMetadata),
    )


class NodeExecStats(Message):
    """When a node ran, and how long."""

    FIELDS = (
        one(1, "node_name", STRING),
        one(2, "all_start_micros", INT64),
        one(3, "op_start_rel_micros", INT64),
        one(4, "op_end_rel_micros", INT64),
        one(5, "all_end_rel_micros", INT64),
        one(8, "timeline_label", STRING),
        one(13, "all_start_nanos", INT64),
        one(15, "op_end_rel_nanos", INT64),
        one(16, "all_end_rel_nanos", INT64),
    )


class DeviceStepStats(Message):
    """The nodes that ran on a device."""

    FIELDS = (one(1, "device", STRING), many(2, "node_stats", NodeExecStats))


class StepStats(Message):
    """What ran, by device."""

    FIELDS = (many(1, "dev_stats", DeviceStepStats),)


class FunctionGraphs(Message):
    """The graphs of a function."""

    FIELDS = (
        many(1, "partition_graphs", GraphDef),
        one(2, "pre_optimization_graph", GraphDef),
    )


class RunMetadata(Message):
    """What ran, and the graphs of the functions that did."""

    FIELDS = (one(1, "step_stats", StepStats), many(4, "function_graphs", FunctionGraphs))
