"""Nested values as SavedModels write them: what functions take and give."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import weft as tf
from weft._src.errors import UnsupportedError
from weft._src.messages.message import Message

# The numbers of classes in a TypeSpecProto.
_SPARSE, _SLICES, _RAGGED, _ARRAY, _DATASET, _ITERATOR, _OPTIONAL = 1, 2, 3, 4, 5, 6, 7
_VARIABLE, _NON_TENSOR = 9, 12


def shape_of(message: Message) -> Any:
    """A shape, whose unknown sizes are -1."""
    if message.unknown_rank:
        return tf.TensorShape(None)
    return tf.TensorShape([None if dim.size < 0 else dim.size for dim in message.dim])


def value_of(message: Message) -> Any:
    """The value of a StructuredValue; tensors are their specs."""
    kind = message.WhichOneof("kind")
    if kind is None or kind == "none_value":
        return None
    found = getattr(message, kind)
    if kind == "list_value":
        return [value_of(item) for item in found.values]
    if kind == "tuple_value":
        return tuple([value_of(item) for item in found.values])
    if kind == "dict_value":
        return {key: value_of(item) for key, item in found.fields.items()}
    if kind == "named_tuple_value":
        names = [pair.key for pair in found.values]
        make: Any = namedtuple  # noqa: PYI024 - its name and fields are data
        return make(found.name or "Values", names)(*[value_of(pair.value) for pair in found.values])
    if kind in ("tensor_spec_value", "bounded_tensor_spec_value"):
        return tf.TensorSpec(shape_of(found.shape), tf.as_dtype(found.dtype), found.name or None)
    if kind == "tensor_shape_value":
        return shape_of(found)
    if kind == "tensor_dtype_value":
        return tf.as_dtype(found)
    if kind == "type_spec_value":
        return _type_spec(found)
    return found


def _type_spec(message: Message) -> Any:
    state = value_of(message.type_state)
    number = message.type_spec_class
    if number == _SPARSE:
        return tf.SparseTensorSpec(*state)
    if number == _RAGGED:
        return tf.RaggedTensorSpec(*state[:4])
    if number == _SLICES:
        return tf.IndexedSlicesSpec(*state[:2])
    if number == _ARRAY:
        return tf.TensorArraySpec(*state)
    if number == _VARIABLE:
        return tf.TensorSpec(state[0], state[1])
    raise UnsupportedError(
        f"This SavedModel has a function that takes or gives a {message.type_spec_class_name!r}, "
        "which Weft does not know."
    )
