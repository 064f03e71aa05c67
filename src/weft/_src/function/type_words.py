"""Trace types in the words of users: "a float32 tensor of shape (3,)", "a list of 2"."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from weft._src.core.specs import TensorSpec
from weft._src.function.short_words import short_repr
from weft._src.function.trace_types import (
    CompositeType,
    DataclassType,
    LiteralType,
    NestType,
    ObjectType,
    TensorType,
    TraceType,
    VariableType,
)


def words_of(kind: TraceType) -> str:
    """What a trace knows of an argument, in words."""
    if isinstance(kind, TensorType):
        return f"{_an(kind.spec.dtype.name)} tensor of shape {kind.spec.shape}"
    if isinstance(kind, VariableType):
        return f"{_an(kind.dtype.name)} variable of shape {kind.shape}"
    if isinstance(kind, LiteralType):
        value = kind.value
        return "None" if value is None else f"the {type(value).__name__} {short_repr(value)}"
    if isinstance(kind, ObjectType):
        return kind.words
    if isinstance(kind, NestType):
        return container_words(kind.structure)
    if isinstance(kind, DataclassType):
        return f"a {kind.kind.__qualname__}"
    if isinstance(kind, CompositeType):
        return composite_words(kind.spec)
    return repr(kind)


def _an(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' and not word.startswith('u') else 'a'} {word}"


def container_words(container: Any) -> str:
    """A list, tuple or dict by what is on the outside of it."""
    if isinstance(container, Mapping):
        return f"a {type(container).__name__} with the keys {sorted(map(str, container))}"
    if isinstance(container, (list, tuple)) and not hasattr(container, "_fields"):
        return f"a {type(container).__name__} of {len(container)}"
    return f"a {type(container).__name__}"


def composite_words(spec: Any) -> str:
    """A composite by its spec: ragged and sparse tensors, datasets, extension types."""
    dtype, shape = getattr(spec, "dtype", None), getattr(spec, "shape", None)
    element = getattr(spec, "element_spec", None)
    if element is not None:
        what = "an iterator over" if "Iterator" in type(spec).__name__ else "a dataset of"
        return f"{what} {_spec_words(element)}"
    if dtype is None or shape is None:
        return repr(spec)
    kind = type(spec).__name__.removesuffix("Spec").removesuffix("Tensor")
    sizes = "unknown" if shape.rank is None else list(shape)
    return f"a {kind.lower()} {dtype.name} tensor of shape {sizes}"


def _spec_words(element: Any) -> str:
    if isinstance(element, TensorSpec):
        return f"{element.dtype.name} tensors of shape {element.shape}"
    return repr(element)


def is_enumeration(kind: TraceType) -> bool:
    """Whether an argument is a member of an enumeration."""
    return isinstance(kind, ObjectType) and isinstance(kind.value, enum.Enum)
