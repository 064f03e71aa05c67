"""`tensorflow.python.framework.type_spec_registry`: files of Keras 2 name type specs."""

from __future__ import annotations

from typing import Any

import weft as tf

_SPECS = {
    "tf.TensorSpec": tf.TensorSpec,
    "tf.SparseTensorSpec": tf.SparseTensorSpec,
    "tf.RaggedTensorSpec": tf.RaggedTensorSpec,
    "tf.TensorArraySpec": tf.TensorArraySpec,
    "tf.VariableSpec": tf.TensorSpec,
}


def lookup(name: str) -> Any:
    """The class of a name; ValueError if there is none."""
    if name not in _SPECS:
        raise ValueError(f"No type spec is called {name!r}; those that are: {', '.join(_SPECS)}.")
    return _SPECS[name]


def get_name(cls: Any) -> str:
    """The name of a class; ValueError if it has none."""
    for name, found in _SPECS.items():
        if found is cls:
            return name
    raise ValueError(f"{cls.__name__} is no type spec with a name.")
