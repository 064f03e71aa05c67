"""Tensors and shapes as messages, as TensorFlow's files hold them."""

from __future__ import annotations

from weft._src.messages.kinds import (
    BOOL,
    BYTES,
    DOUBLE,
    ENUM,
    FLOAT,
    INT32,
    INT64,
    STRING,
    UINT32,
    UINT64,
)
from weft._src.messages.message import Message
from weft._src.messages.table import many, one


class Dim(Message):
    """One size of a shape, -1 if it is unknown."""

    FIELDS = (one(1, "size", INT64), one(2, "name", STRING))


class TensorShapeProto(Message):
    """A shape: `dim` is a list of sizes."""

    FIELDS = (many(2, "dim", Dim), one(3, "unknown_rank", BOOL))


class TensorProto(Message):
    """A dtype (as a number), a shape, and the values: as bytes, or in a list by their kind."""

    FIELDS = (
        one(1, "dtype", ENUM),
        one(2, "tensor_shape", TensorShapeProto),
        one(3, "version_number", INT32),
        one(4, "tensor_content", BYTES),
        many(5, "float_val", FLOAT),
        many(6, "double_val", DOUBLE),
        many(7, "int_val", INT32),
        many(8, "string_val", BYTES),
        many(9, "scomplex_val", FLOAT),
        many(10, "int64_val", INT64),
        many(11, "bool_val", BOOL),
        many(12, "dcomplex_val", DOUBLE),
        many(13, "half_val", INT32),
        many(16, "uint32_val", UINT32),
        many(17, "uint64_val", UINT64),
        one(18, "float8_val", BYTES),
    )


class VariantTensorDataProto(Message):
    """A value of a kind that has a name: a ragged tensor, a row of something."""

    FIELDS = (
        one(1, "type_name", STRING),
        one(2, "metadata", BYTES),
        many(3, "tensors", TensorProto),
    )


class SnapshotMetadataRecord(Message):
    """What a folder with a saved dataset holds: in which folder inside, how many of which types."""

    FIELDS = (
        one(1, "graph_hash", STRING),
        one(2, "run_id", STRING),
        one(3, "creation_timestamp", INT64),
        one(4, "version", INT64),
        many(5, "dtype", ENUM),
        one(6, "num_elements", INT64),
        one(1000, "finalized", BOOL),
    )


class Element(Message):
    """An element of a saved dataset, a form of Weft's own."""

    FIELDS = (many(1, "tensor", TensorProto),)


def shape_message(sizes: tuple[int, ...] | list[int] | None) -> TensorShapeProto:
    """A shape: sizes, -1 for unknown ones; None is an unknown rank."""
    if sizes is None:
        return TensorShapeProto(unknown_rank=True)
    return TensorShapeProto(dim=[Dim(size=size) for size in sizes])
