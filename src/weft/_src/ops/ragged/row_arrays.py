"""What `rows.py` and `dense.py` compute with ops, on arrays: for eager calls.

Splits that are not valid, which nobody has checked, are `NotImplemented`: ops say what happens.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core import memory, xp
from weft._src.core.tensor import Array


def lengths_of(splits: Array) -> Array | None:
    """The lengths of rows; None unless splits begin with 0 and never fall."""
    if splits.ndim != 1 or not len(splits) or splits[0] != 0:
        return None
    lengths: Array = splits[1:] - splits[:-1]
    return None if len(lengths) and lengths.min() < 0 else lengths


def _most() -> int:
    """How many numbers are made without a thought about memory."""
    return memory.limits.asked_above >> 4


def rowids(splits: Array) -> Any:
    """The number of the row that each value belongs to."""
    lengths = lengths_of(splits)
    if lengths is None or splits[-1] > _most():
        return NotImplemented
    return np.repeat(np.arange(len(lengths), dtype=splits.dtype), lengths)


def picked(splits: Array, indices: Array) -> Any:
    """The splits of the rows that indices name, and where their values are found."""
    lengths = lengths_of(splits)
    if lengths is None or indices.ndim != 1 or not _are_below(indices, len(lengths)):
        return NotImplemented
    taken = lengths[indices]
    total = int(taken.sum(dtype=np.float64))
    if total > min(_most(), np.iinfo(splits.dtype).max):
        return NotImplemented
    chosen = np.zeros(len(taken) + 1, splits.dtype)
    np.cumsum(taken, out=chosen[1:])
    places = np.arange(int(chosen[-1]), dtype=splits.dtype)
    places += np.repeat(splits[indices] - chosen[:-1], taken)
    return chosen, places


def _are_below(indices: Array, count: int) -> bool:
    return not len(indices) or (indices.min() >= 0 and indices.max() < count)


def padded(values: Array, splits: Array, default: Array) -> Any:
    """Rows one below the other, short ones filled up."""
    lengths = lengths_of(splits)
    if lengths is None or default.ndim or not values.ndim or splits[-1] != len(values):
        return NotImplemented
    longest = int(lengths.max()) if len(lengths) else 0
    out = xp.empty((len(lengths), longest, *values.shape[1:]), values.dtype)
    out[...] = default
    out[np.arange(longest, dtype=splits.dtype) < lengths[:, None]] = values
    return out
