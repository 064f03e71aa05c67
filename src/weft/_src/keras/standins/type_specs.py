"""`tensorflow.python.framework.type_spec`, and modules of other types: names of what is public."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import weft as tf

TypeSpec = tf.TypeSpec
TensorSpec = DenseSpec = tf.TensorSpec
type_spec_from_value = tf.type_spec_from_value


class BatchableTypeSpec(tf.TypeSpec):
    """The base of types of which there are batches."""

    def _TypeSpec__make_cmp_key(self, value: Any) -> Any:  # noqa: N802 - a private name of TypeSpec
        """What a nest of values is compared by: tuples of what can be hashed."""
        if isinstance(value, dict):
            return tuple([(k, self._TypeSpec__make_cmp_key(value[k])) for k in sorted(value)])
        if isinstance(value, (list, tuple)):
            return tuple([self._TypeSpec__make_cmp_key(part) for part in value])
        if isinstance(value, np.ndarray):
            return value.dtype.str, value.shape, value.tobytes()
        return value


class VariableSpec(tf.TensorSpec):
    """`tensorflow.python.ops.resource_variable_ops`: the type of a variable."""

    def __init__(
        self, shape: Any, dtype: Any = tf.float32, trainable: bool = True, alias_id: Any = None
    ) -> None:
        super().__init__(shape, dtype)


class TraceType:
    """`tensorflow.python.types.trace`: the base of what functions are traced for."""


def register(name: str) -> Callable[[Any], Any]:
    """A decorator that gives a type a name for files; Weft's have their own."""
    return lambda cls: cls


def register_type_spec_from_value_converter(
    type_object: Any, converter_fn: Callable[[Any], Any], allow_subclass: bool = False
) -> None:
    """Lists and tuples have no type of their own in Weft: nests are looked into."""


def register_codec(codec: Any) -> None:
    """`tensorflow.python.saved_model.nested_structure_coder`: SavedModels have no such forms."""
