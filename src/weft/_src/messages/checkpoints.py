"""What checkpoints hold as messages: where tensors lie, and which object owns which."""

from __future__ import annotations

from weft._src.messages.graphs import VersionDef
from weft._src.messages.kinds import BOOL, DOUBLE, ENUM, FIXED_UINT32, INT32, INT64, STRING
from weft._src.messages.message import Message
from weft._src.messages.table import many, one
from weft._src.messages.tensors import TensorShapeProto


class Extent(Message):
    """A part of an axis; without a length it is all of it."""

    FIELDS = (one(1, "start", INT64), one(2, "length", INT64, "has_length"))


class TensorSliceProto(Message):
    """A part of a tensor."""

    FIELDS = (many(1, "extent", Extent),)


class BundleHeaderProto(Message):
    """The first entry of an index: how many data files there are."""

    FIELDS = (
        one(1, "num_shards", INT32),
        one(2, "endianness", ENUM),
        one(3, "version", VersionDef),
    )


class BundleEntryProto(Message):
    """Where the bytes of a tensor lie, and their checksum."""

    FIELDS = (
        one(1, "dtype", ENUM),
        one(2, "shape", TensorShapeProto),
        one(3, "shard_id", INT32),
        one(4, "offset", INT64),
        one(5, "size", INT64),
        one(6, "crc32c", FIXED_UINT32),
        many(7, "slices", TensorSliceProto),
    )


class ObjectReference(Message):
    """A child of an object: its number, and its name there."""

    FIELDS = (one(1, "node_id", INT32), one(2, "local_name", STRING))


class SerializedTensor(Message):
    """A value of an object, and the key it is stored under."""

    FIELDS = (
        one(1, "name", STRING),
        one(2, "full_name", STRING),
        one(3, "checkpoint_key", STRING),
    )


class SlotVariableReference(Message):
    """A variable that an optimizer keeps for another one."""

    FIELDS = (
        one(1, "original_variable_node_id", INT32),
        one(2, "slot_name", STRING),
        one(3, "slot_variable_node_id", INT32),
    )


class RegisteredSaver(Message):
    """Who saves an object in a way of its own."""

    FIELDS = (one(1, "name", STRING), one(2, "object_name", STRING))


class BoolValue(Message):
    """True or False, which may also be missing."""

    FIELDS = (one(1, "value", BOOL),)


class TrackableObject(Message):
    """An object: its children, its values, and what an optimizer keeps."""

    FIELDS = (
        many(1, "children", ObjectReference),
        many(2, "attributes", SerializedTensor),
        many(3, "slot_variables", SlotVariableReference),
        one(4, "registered_saver", RegisteredSaver),
        one(5, "has_checkpoint_values", BoolValue),
    )


class TrackableObjectGraph(Message):
    """All objects of a checkpoint; the first is the root."""

    FIELDS = (many(1, "nodes", TrackableObject),)


class CheckpointState(Message):
    """Which checkpoints there are in a folder, the newest last."""

    FIELDS = (
        one(1, "model_checkpoint_path", STRING),
        many(2, "all_model_checkpoint_paths", STRING),
        many(3, "all_model_checkpoint_timestamps", DOUBLE),
        one(4, "last_preserved_timestamp", DOUBLE),
    )
