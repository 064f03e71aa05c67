"""Nested values as TensorFlow's files hold them: what functions take and give, elements' types."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.dtypes import DType
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import NoneTensorSpec, TensorSpec, TypeSpec
from weft._src.errors import ParseError, UnsupportedError
from weft._src.messages.message import Message
from weft._src.messages.structures import (
    NoneValue,
    StructuredDict,
    StructuredList,
    StructuredNamedTuple,
    StructuredPair,
    StructuredValue,
    TensorSpecProto,
    TypeSpecProto,
)
from weft._src.messages.tensors import shape_message
from weft._src.ops.control.tensor_array import TensorArraySpec
from weft._src.ops.indexing.indexed_slices import IndexedSlicesSpec
from weft._src.ops.ragged.spec import RaggedTensorSpec
from weft._src.ops.sparse.tensor import SparseTensorSpec

# The numbers of classes in a TypeSpecProto.
_SPARSE, _SLICES, _RAGGED, _ARRAY, _DATASET, _ITERATOR, _OPTIONAL = 1, 2, 3, 4, 5, 6, 7
_VARIABLE, _REGISTERED = 9, 12
_NONE = "tf.NoneTensorSpec"  # the name that None in an element is registered by


def shape_of(message: Message) -> Any:
    """A shape, whose unknown sizes are -1."""
    if message.unknown_rank:
        return TensorShape(None)
    return TensorShape([None if dim.size < 0 else dim.size for dim in message.dim])


def dtype_of(number: int) -> DType:
    """The dtype with a number; ParseError if none has it."""
    try:
        return dtypes.as_dtype(number)
    except TypeError:
        raise ParseError(f"It has the dtype number {number}, which no tensor has.") from None


def value_of(message: Message) -> Any:
    """The value of a StructuredValue; tensors are their specs. ParseError if it makes no sense."""
    try:
        return _value_of(message)
    except ParseError:
        raise
    except (TypeError, ValueError) as error:  # names of fields, arguments of specs: all from a file
        raise ParseError(f"It describes a structure that cannot be: {error}") from error


def _value_of(message: Message) -> Any:
    kind = message.WhichOneof("kind")
    if kind is None or kind == "none_value":
        return None
    found = getattr(message, kind)
    if kind == "list_value":
        return [_value_of(item) for item in found.values]
    if kind == "tuple_value":
        return tuple([_value_of(item) for item in found.values])
    if kind == "dict_value":
        return {key: _value_of(item) for key, item in found.fields.items()}
    if kind == "named_tuple_value":
        names = [pair.key for pair in found.values]
        make: Any = namedtuple  # noqa: PYI024 - its name and fields are data
        return make(found.name or "Values", names)(
            *[_value_of(pair.value) for pair in found.values]
        )
    if kind in ("tensor_spec_value", "bounded_tensor_spec_value"):
        return TensorSpec(shape_of(found.shape), dtype_of(found.dtype), found.name or None)
    if kind == "tensor_shape_value":
        return shape_of(found)
    if kind == "tensor_dtype_value":
        return dtype_of(found)
    if kind == "type_spec_value":
        return _type_spec(found)
    return found


def _type_spec(message: Message) -> Any:
    state = _value_of(message.type_state)
    number = message.type_spec_class
    if number == _SPARSE:
        return SparseTensorSpec(*state)
    if number == _RAGGED:
        return RaggedTensorSpec(*state[:4])
    if number == _SLICES:
        return IndexedSlicesSpec(*state[:2])
    if number == _ARRAY:
        return TensorArraySpec(*state)
    if number == _VARIABLE:
        return TensorSpec(state[0], state[1])
    if number == _REGISTERED and message.type_spec_class_name == _NONE:
        return NoneTensorSpec()
    raise UnsupportedError(
        f"It has values of the type {message.type_spec_class_name!r}, which Weft does not know."
    )


def sizes_of(shape: Any) -> list[int] | None:
    """The sizes of a shape, -1 for unknown ones; None for an unknown rank."""
    return None if shape.rank is None else [-1 if size is None else int(size) for size in shape]


def message_of(value: Any) -> StructuredValue:
    """A value as a StructuredValue; TypeError if there is no form for it."""
    if value is None:
        return StructuredValue(none_value=NoneValue())
    if isinstance(value, TensorSpec):
        spec = TensorSpecProto(
            name=value.name or "",
            shape=shape_message(sizes_of(value.shape)),
            dtype=value.dtype.as_datatype_enum,
        )
        return StructuredValue(tensor_spec_value=spec)
    if isinstance(value, TypeSpec):
        return StructuredValue(type_spec_value=_spec_message(value))
    if isinstance(value, TensorShape):
        return StructuredValue(tensor_shape_value=shape_message(sizes_of(value)))
    if isinstance(value, DType):
        return StructuredValue(tensor_dtype_value=value.as_datatype_enum)
    if isinstance(value, (tuple, list, dict)):
        return _container_message(value)
    return _scalar_message(value)


def _scalar_message(value: Any) -> StructuredValue:
    if isinstance(value, (bool, np.bool_)):
        return StructuredValue(bool_value=bool(value))
    if isinstance(value, (int, np.integer)):
        return StructuredValue(int64_value=int(value))
    if isinstance(value, (float, np.floating)):
        return StructuredValue(float64_value=float(value))
    if isinstance(value, str):
        return StructuredValue(string_value=value)
    raise TypeError(f"A SavedModel has no form for {value!r}, of type {type(value).__name__}.")


def _container_message(value: Any) -> StructuredValue:
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError(f"A SavedModel has dicts with text as keys only, got {value!r}.")
        fields = {key: message_of(item) for key, item in value.items()}
        return StructuredValue(dict_value=StructuredDict(fields=fields))
    if hasattr(value, "_fields"):
        pairs = [
            StructuredPair(key=key, value=message_of(item))
            for key, item in zip(value._fields, value, strict=True)
        ]
        named = StructuredNamedTuple(name=type(value).__name__, values=pairs)
        return StructuredValue(named_tuple_value=named)
    items = StructuredList(values=[message_of(item) for item in value])
    if isinstance(value, tuple):
        return StructuredValue(tuple_value=items)
    return StructuredValue(list_value=items)


def _spec_message(spec: Any) -> TypeSpecProto:
    state: tuple[Any, ...]
    if isinstance(spec, SparseTensorSpec):
        number, state, parts = _SPARSE, (spec.shape, spec.dtype), 3
    elif isinstance(spec, RaggedTensorSpec):
        number = _RAGGED
        state = (spec.shape, spec.dtype, spec.ragged_rank, spec.row_splits_dtype)
        parts = spec.ragged_rank + 1
    elif isinstance(spec, NoneTensorSpec):
        return TypeSpecProto(
            type_spec_class=_REGISTERED, type_state=message_of(()), type_spec_class_name=_NONE
        )
    else:
        raise TypeError(
            f"A SavedModel has no form for {type(spec).__qualname__}. Take and return the tensors "
            "that such values are made of."
        )
    return TypeSpecProto(
        type_spec_class=number,
        type_state=message_of(state),
        type_spec_class_name=type(spec).__name__,
        num_flat_components=parts,
    )
