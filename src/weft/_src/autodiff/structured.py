"""Gradients of values that are made of several tensors: extension types, composites of users.

The gradient of such a value is a value of the same type. Tensors in it that have a gradient are
replaced by theirs, those without a path to the target by zeros; integers and the like stay as they
are. (Ragged and sparse tensors have one tensor of elements, and their own way.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src import nest
from weft._src.core.composite import CompositeTensor
from weft._src.core.dtypes import INEXACT
from weft._src.core.tensor import Tensor
from weft._src.ops.arrays import fill
from weft._src.ops.indexing.indexed_slices import IndexedSlices

# What the tape itself knows how to deal with.
_SINGLE = (Tensor, CompositeTensor, IndexedSlices)


def is_structured(value: Any) -> bool:
    """Whether a source or target is made of several tensors."""
    if isinstance(value, _SINGLE) or hasattr(value, "handle"):
        return False
    return nest.components(value) is not None


def opened(value: Any) -> list[Any]:
    """The parts of a value that can have gradients, in a fixed order."""
    found = [
        part
        for leaf in nest.flatten(_parts(value))
        for part in (opened(leaf) if is_structured(leaf) else [leaf])
    ]
    return [part for part in found if _is_inexact(part)]


def _parts(value: Any) -> Any:
    found = nest.components(value)
    assert found is not None
    return found[1]


def _is_inexact(part: Any) -> bool:
    return getattr(part, "dtype", None) in INEXACT


def any_structured(values: Any) -> bool:
    """Whether there is such a value in a nest."""
    return any(is_structured(value) for value in nest.flatten(values))


def flatten(values: Any) -> list[Any]:
    """The leaves of a nest of targets, with the parts of values in place of these."""
    return [
        part
        for value in nest.flatten(values)
        for part in (opened(value) if is_structured(value) else [value])
    ]


def gradient(of_parts: Callable[[list[list[Any]]], list[list[Any]]], sources: Any) -> Any:
    """Gradients in the structure of sources of which some are such values.

    `of_parts` gives the gradients of lists of parts.
    """
    flat = nest.flatten(sources)
    parts = [opened(source) if is_structured(source) else [source] for source in flat]
    gradients = [
        closed(source, found) if is_structured(source) else found[0]
        for source, found in zip(flat, of_parts(parts), strict=True)
    ]
    return nest.pack_sequence_as(sources, gradients)


def closed(value: Any, gradients: list[Any]) -> Any:
    """The gradient of a value, of those of its parts; None if no part has one."""
    if all(gradient is None for gradient in gradients):
        return None
    return _replaced(value, iter(gradients))


def _replaced(value: Any, gradients: Any) -> Any:
    def leaf(part: Any) -> Any:
        if is_structured(part):
            return _replaced(part, gradients)
        if not _is_inexact(part):
            return part
        gradient = next(gradients)
        return fill.zeros_like(part) if gradient is None else gradient

    found = nest.components(value)
    assert found is not None
    spec, parts = found
    return spec._from_components(nest.map_structure(leaf, parts))
