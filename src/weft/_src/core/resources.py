"""Values that are Python objects rather than arrays: what `resource` and `variant` tensors hold."""

from __future__ import annotations

from collections.abc import Sequence

from weft._src.core import dtypes
from weft._src.core.dtypes import DType


class Resource:
    """Base of things with state that ops read and write: variables, generators, iterators.

    `dtype` and `shape` make it look enough like an array to be the value of an `EagerTensor`.
    """

    __slots__ = ("__weakref__",)
    dtype: DType = dtypes.resource
    shape: tuple[int, ...] = ()
    size = 0  # no elements that would make an op worth compiling


class Variant:
    """Base of immutable values that are not arrays, such as the growing stack."""

    __slots__ = ()
    dtype: DType = dtypes.variant
    shape: tuple[int, ...] = ()
    size = 0


class VariantVector(Variant):
    """Several of these, one behind the other."""

    __slots__ = ("items",)

    def __init__(self, items: Sequence[Variant]) -> None:
        self.items = tuple(items)

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """How many there are."""
        return (len(self.items),)

    def __repr__(self) -> str:
        return f"<{len(self.items)} variants>"


# An EagerTensor finds its DType by what its value calls `dtype`.
dtypes._BY_NUMPY[dtypes.resource] = dtypes.resource  # type: ignore[index]
dtypes._BY_NUMPY[dtypes.variant] = dtypes.variant  # type: ignore[index]
