"""`tensorflow.python.framework.type_spec_registry`: files of Keras 2 name type specs.

TensorFlow Probability gives its own types names, and looks into the two tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import weft as tf

_NAME_TO_TYPE_SPEC: dict[str, Any] = {
    "tf.TensorSpec": tf.TensorSpec,
    "tf.SparseTensorSpec": tf.SparseTensorSpec,
    "tf.RaggedTensorSpec": tf.RaggedTensorSpec,
    "tf.TensorArraySpec": tf.TensorArraySpec,
    "tf.VariableSpec": tf.TensorSpec,
}
_TYPE_SPEC_TO_NAME: dict[Any, str] = {
    cls: name for name, cls in reversed(_NAME_TO_TYPE_SPEC.items())
}


def register(name: str) -> Callable[[Any], Any]:
    """A decorator that gives a class a name; ValueError if it is taken."""

    def enter(cls: Any) -> Any:
        if name in _NAME_TO_TYPE_SPEC:
            raise ValueError(f"{name!r} is the name of {_NAME_TO_TYPE_SPEC[name].__name__}.")
        _NAME_TO_TYPE_SPEC[name], _TYPE_SPEC_TO_NAME[cls] = cls, name
        return cls

    return enter


def lookup(name: str) -> Any:
    """The class of a name; ValueError if there is none."""
    if name not in _NAME_TO_TYPE_SPEC:
        known = ", ".join(_NAME_TO_TYPE_SPEC)
        raise ValueError(f"No type spec is called {name!r}; those that are: {known}.")
    return _NAME_TO_TYPE_SPEC[name]


def get_name(cls: Any) -> str:
    """The name of a class; ValueError if it has none."""
    if cls not in _TYPE_SPEC_TO_NAME:
        raise ValueError(f"{cls.__name__} is no type spec with a name.")
    return _TYPE_SPEC_TO_NAME[cls]
