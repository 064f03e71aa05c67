"""NumPy's indexing of tensors: by arrays of numbers and of truth values, mixed with slices."""

from __future__ import annotations

from typing import Any

import numpy as np

import weft as tf
from weft._src.experimental.numpy.promotion import regular
from weft._src.ops.indexing import slicing


def get_item(x: Any, key: Any) -> Any:
    """`x[key]` as in NumPy, whatever the entries of the key are."""
    entries = [_entry(entry) for entry in (key if isinstance(key, tuple) else (key,))]
    if not any(isinstance(entry, tf.Tensor) and entry.shape.rank != 0 for entry in entries):
        return slicing.get_item(x, key)
    tensor = tf.convert_to_tensor(x)
    return _picked(*_sliced(tensor, _axis_by_axis(tensor, entries)))


def _entry(entry: Any) -> Any:
    """Arrays and lists as tensors, all else as it is."""
    if isinstance(entry, tf.Tensor) or entry is None or entry is Ellipsis:
        return entry
    if isinstance(entry, (list, np.ndarray)):
        found = regular(entry)
        if found.dtype.kind not in "biu" and found.size:
            raise IndexError(
                "A tensor is indexed with integers, slices, Ellipsis, None, and arrays of integers "
                f"or bools, got {entry!r}."
            )
        return tf.constant(found if found.size else found.astype(np.int64))
    return entry


def _axis_by_axis(x: tf.Tensor, entries: list[Any]) -> list[Any]:
    """One entry for each axis, and None for new ones: without Ellipsis, and masks as numbers."""
    rank = _rank(x)
    taken = sum(_axes_taken(entry) for entry in entries)
    if taken > rank:
        raise IndexError(f"Too many indices, {taken}, for a tensor of shape {x.shape}.")
    if sum(entry is Ellipsis for entry in entries) > 1:
        raise IndexError("An index has at most one Ellipsis (...).")
    if not any(entry is Ellipsis for entry in entries):
        entries = [*entries, Ellipsis]
    out: list[Any] = []
    for entry in entries:
        if entry is Ellipsis:
            out += [slice(None)] * (rank - taken)
        elif isinstance(entry, tf.Tensor) and entry.dtype == tf.bool:
            places = tf.where(entry)
            out += tf.unstack(places, axis=1)
        else:
            out.append(entry)
    return out


def _axes_taken(entry: Any) -> int:
    if entry is None or entry is Ellipsis:
        return 0
    if isinstance(entry, tf.Tensor) and entry.dtype == tf.bool:
        if not entry.shape.rank:
            raise IndexError("A mask must have at least one axis, of known number while tracing.")
        return entry.shape.rank
    return 1


def _sliced(x: tf.Tensor, entries: list[Any]) -> tuple[tf.Tensor, dict[int, tf.Tensor]]:
    """The tensor with its slices and new axes done, and the numbers for the axes that are left."""
    key: Any = tuple(e if e is None or isinstance(e, slice) else slice(None) for e in entries)
    numbers = {
        at: tf.convert_to_tensor(entry)
        for at, entry in enumerate(entries)
        if entry is not None and not isinstance(entry, slice)
    }
    for number in numbers.values():
        if not number.dtype.is_integer:
            raise IndexError(
                f"An index must hold integers or bools, got dtype {number.dtype.name}."
            )
    return slicing.get_item(x, key), numbers


def _picked(x: tf.Tensor, numbers: dict[int, tf.Tensor]) -> tf.Tensor:
    """The elements that numbers of some axes name; side by side, these axes keep their place."""
    axes = list(numbers)
    sizes = tf.shape(x, tf.int64)
    wide = [tf.cast(number, tf.int64) for number in numbers.values()]
    wide = [tf.where(n < 0, n + sizes[axis], n) for n, axis in zip(wide, axes, strict=True)]
    shape = tf.shape(wide[0])
    for other in wide[1:]:
        shape = tf.broadcast_dynamic_shape(shape, tf.shape(other))
    places = tf.stack([tf.broadcast_to(n, shape) for n in wide], axis=-1)
    others = [axis for axis in range(_rank(x)) if axis not in numbers]
    found = tf.gather_nd(tf.transpose(x, [*axes, *others]), places)
    side_by_side = axes == list(range(axes[0], axes[0] + len(axes)))
    if not side_by_side or axes[0] == 0:
        return found
    new = _rank(places) - 1
    before = list(range(new, new + axes[0]))
    behind = list(range(new + axes[0], new + len(others)))
    return tf.transpose(found, [*before, *range(new), *behind])


def _rank(x: tf.Tensor) -> int:
    if x.shape.rank is None:
        raise ValueError("Indexing by arrays needs ranks that are known while tracing.")
    return x.shape.rank
