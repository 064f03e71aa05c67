"""Nested Python values as messages: signatures, specs, and what functions take and give."""

from __future__ import annotations

from weft._src.messages.kinds import BOOL, DOUBLE, ENUM, INT32, SIGNED_INT64, STRING
from weft._src.messages.message import Message
from weft._src.messages.table import many, mapping, one
from weft._src.messages.tensors import TensorProto, TensorShapeProto


class NoneValue(Message):
    """None."""


class TensorSpecProto(Message):
    """The name, shape and dtype of a tensor."""

    FIELDS = (
        one(1, "name", STRING),
        one(2, "shape", TensorShapeProto),
        one(3, "dtype", ENUM),
    )


class BoundedTensorSpecProto(Message):
    """The same with a smallest and a largest value."""

    FIELDS = (
        one(1, "name", STRING),
        one(2, "shape", TensorShapeProto),
        one(3, "dtype", ENUM),
        one(4, "minimum", TensorProto),
        one(5, "maximum", TensorProto),
    )


class TypeSpecProto(Message):
    """A type spec: the number of its class, and what it says of itself."""

    FIELDS = (
        one(1, "type_spec_class", ENUM),
        one(2, "type_state", "StructuredValue"),
        one(3, "type_spec_class_name", STRING),
        one(4, "num_flat_components", INT32),
    )


class StructuredList(Message):
    """A list, or a tuple."""

    FIELDS = (many(1, "values", "StructuredValue"),)


class StructuredDict(Message):
    """A dict with text as keys."""

    FIELDS = (mapping(1, "fields", STRING, "StructuredValue"),)


class StructuredPair(Message):
    """A field of a named tuple."""

    FIELDS = (one(1, "key", STRING), one(2, "value", "StructuredValue"))


class StructuredNamedTuple(Message):
    """A named tuple."""

    FIELDS = (one(1, "name", STRING), many(2, "values", StructuredPair))


class StructuredValue(Message):
    """A nested value: one of these."""

    FIELDS = (
        one(1, "none_value", NoneValue, "kind"),
        one(11, "float64_value", DOUBLE, "kind"),
        one(12, "int64_value", SIGNED_INT64, "kind"),
        one(13, "string_value", STRING, "kind"),
        one(14, "bool_value", BOOL, "kind"),
        one(31, "tensor_shape_value", TensorShapeProto, "kind"),
        one(32, "tensor_dtype_value", ENUM, "kind"),
        one(33, "tensor_spec_value", TensorSpecProto, "kind"),
        one(34, "type_spec_value", TypeSpecProto, "kind"),
        one(35, "bounded_tensor_spec_value", BoundedTensorSpecProto, "kind"),
        one(51, "list_value", StructuredList, "kind"),
        one(52, "tuple_value", StructuredList, "kind"),
        one(53, "dict_value", StructuredDict, "kind"),
        one(54, "named_tuple_value", StructuredNamedTuple, "kind"),
    )


class FunctionSpec(Message):
    """What a Python function takes."""

    FIELDS = (
        one(1, "fullargspec", StructuredValue),
        one(2, "is_method", BOOL),
        one(5, "input_signature", StructuredValue),
        one(6, "jit_compile", ENUM),
    )
