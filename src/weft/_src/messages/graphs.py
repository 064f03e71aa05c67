"""Graphs as messages: nodes with attributes, and functions that are graphs of their own."""

from __future__ import annotations

from weft._src.messages.kinds import BOOL, BYTES, ENUM, FLOAT, INT32, INT64, STRING, UINT32
from weft._src.messages.message import Message
from weft._src.messages.table import many, mapping, one
from weft._src.messages.tensors import TensorProto, TensorShapeProto


class NameAttrList(Message):
    """A function by name, with attributes."""

    FIELDS = (one(1, "name", STRING), mapping(2, "attr", STRING, "AttrValue"))


class ListValue(Message):
    """A list as the value of an attribute, by the kind of what is in it."""

    FIELDS = (
        many(2, "s", BYTES),
        many(3, "i", INT64),
        many(4, "f", FLOAT),
        many(5, "b", BOOL),
        many(6, "type", ENUM),
        many(7, "shape", TensorShapeProto),
        many(8, "tensor", TensorProto),
        many(9, "func", NameAttrList),
    )


class AttrValue(Message):
    """The value of an attribute: one of these."""

    FIELDS = (
        one(1, "list", ListValue, "value"),
        one(2, "s", BYTES, "value"),
        one(3, "i", INT64, "value"),
        one(4, "f", FLOAT, "value"),
        one(5, "b", BOOL, "value"),
        one(6, "type", ENUM, "value"),
        one(7, "shape", TensorShapeProto, "value"),
        one(8, "tensor", TensorProto, "value"),
        one(9, "placeholder", STRING, "value"),
        one(10, "func", NameAttrList, "value"),
    )


class NodeDef(Message):
    """One node: its name, op, the names of its inputs, and its attributes."""

    FIELDS = (
        one(1, "name", STRING),
        one(2, "op", STRING),
        many(3, "input", STRING),
        one(4, "device", STRING),
        mapping(5, "attr", STRING, AttrValue),
    )


class DtypeAndShape(Message):
    """What a resource holds."""

    FIELDS = (one(1, "dtype", ENUM), one(2, "shape", TensorShapeProto))


class ArgDef(Message):
    """An argument or a result of a function; its type is one, or that of an attribute."""

    FIELDS = (
        one(1, "name", STRING),
        one(2, "description", STRING),
        one(3, "type", ENUM),
        one(4, "type_attr", STRING),
        one(5, "number_attr", STRING),
        one(6, "type_list_attr", STRING),
        many(7, "handle_data", DtypeAndShape),
        one(16, "is_ref", BOOL),
    )


class AttrDef(Message):
    """An attribute that a function takes."""

    FIELDS = (
        one(1, "name", STRING),
        one(2, "type", STRING),
        one(3, "default_value", AttrValue),
        one(4, "description", STRING),
        one(5, "has_minimum", BOOL),
        one(6, "minimum", INT64),
        one(7, "allowed_values", AttrValue),
    )


class OpDef(Message):
    """The signature of a function."""

    FIELDS = (
        one(1, "name", STRING),
        many(2, "input_arg", ArgDef),
        many(3, "output_arg", ArgDef),
        many(4, "attr", AttrDef),
        one(6, "description", STRING),
        one(17, "is_stateful", BOOL),
        many(20, "control_output", STRING),
    )


class ArgAttrs(Message):
    """Attributes of an argument of a function."""

    FIELDS = (mapping(1, "attr", STRING, AttrValue),)


class FunctionDef(Message):
    """A nested graph, such as a branch or a loop body, under the name nodes refer to it by."""

    FIELDS = (
        one(1, "signature", OpDef),
        many(3, "node_def", NodeDef),
        mapping(4, "ret", STRING, STRING),
        mapping(5, "attr", STRING, AttrValue),
        mapping(6, "control_ret", STRING, STRING),
        mapping(7, "arg_attr", UINT32, ArgAttrs),
        mapping(8, "resource_arg_unique_id", UINT32, UINT32),
    )


class GradientDef(Message):
    """Which function is the gradient of another."""

    FIELDS = (one(1, "function_name", STRING), one(2, "gradient_func", STRING))


class FunctionDefLibrary(Message):
    """The nested graphs of a graph."""

    FIELDS = (many(1, "function", FunctionDef), many(2, "gradient", GradientDef))


class VersionDef(Message):
    """By which version something was written."""

    FIELDS = (one(1, "producer", INT32), one(2, "min_consumer", INT32))


class GraphDef(Message):
    """All nodes of a graph, and its nested graphs as a library."""

    FIELDS = (
        many(1, "node", NodeDef),
        one(2, "library", FunctionDefLibrary),
        one(4, "versions", VersionDef),
    )
