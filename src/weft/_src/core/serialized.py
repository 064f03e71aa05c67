"""Comparing types part by part: what the `_serialize` of two specs of one class returned.

Parts are tuples, lists and dicts of shapes, specs and plain values. Shapes and specs may be known
better or worse; all else must be equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from weft._src.core.shapes import TensorShape


class NoCommonType(Exception):  # noqa: N818 - a message for the caller, which has the specs
    """Two parts that no type holds both of."""


# What a type is made of: nests of numbers, texts, shapes, dtypes and types.
Part: TypeAlias = Any


def agree(a: Part, b: Part, leaves_agree: Callable[[Any, Any], bool]) -> bool:
    """Whether two serializations are of one structure, and all leaves agree."""
    if isinstance(a, Mapping):
        return (
            isinstance(b, Mapping)
            and a.keys() == b.keys()
            and all(agree(a[key], b[key], leaves_agree) for key in a)
        )
    if isinstance(a, (list, tuple)):
        return (
            isinstance(b, (list, tuple))
            and len(a) == len(b)
            and all(agree(x, y, leaves_agree) for x, y in zip(a, b, strict=True))
        )
    return leaves_agree(a, b)


def equal(a: Part, b: Part) -> bool:
    """Whether two leaves are the same for a trace: True is not 1, NaN is NaN, 0.0 is not -0.0."""
    if type(a) is not type(b):
        return False
    return repr(a) == repr(b) if isinstance(a, (float, np.floating)) else bool(a == b)


def compatible(a: Part, b: Part) -> bool:
    """Whether a value can be of both: shapes and specs are compatible."""
    return bool(a.is_compatible_with(b)) if _has_types(a, b) else equal(a, b)


def subtype(a: Part, b: Part) -> bool:
    """Whether the first part says at least as much."""
    return bool(a.is_subtype_of(b)) if _has_types(a, b) else equal(a, b)


def _has_types(a: Part, b: Part) -> bool:
    is_type = isinstance(a, TensorShape) or hasattr(a, "_to_components")
    return is_type and type(a) is type(b)


def common(a: Part, b: Part) -> Any:
    """The narrowest serialization that holds both; `NoCommonType` if there is none."""
    if isinstance(a, Mapping):
        if not isinstance(b, Mapping) or a.keys() != b.keys():
            raise NoCommonType
        made = {key: common(a[key], b[key]) for key in a}
        return made if type(a) is dict else type(a)(made)  # type: ignore[call-arg]
    if isinstance(a, (list, tuple)):
        if not isinstance(b, (list, tuple)) or len(a) != len(b):
            raise NoCommonType
        return type(a)([common(x, y) for x, y in zip(a, b, strict=True)])
    if isinstance(a, TensorShape) and isinstance(b, TensorShape):
        return a.most_specific_compatible_shape(b)
    if hasattr(a, "_to_components") and type(a) is type(b):
        try:
            return a.most_specific_compatible_type(b)
        except ValueError:
            raise NoCommonType from None
    if not equal(a, b):
        raise NoCommonType
    return a


def hashable(part: Part) -> Any:
    """A serialization as a key: lists and dicts become tuples."""
    if isinstance(part, Mapping):
        return frozenset([(key, hashable(value)) for key, value in part.items()])
    if isinstance(part, (list, tuple)):
        return tuple([hashable(item) for item in part])
    return repr(part) if isinstance(part, (float, np.floating)) else part
