"""Categorical draws and permutations from Philox words.

Both equal TensorFlow's: `categorical` its ``tf.random.stateless_categorical`` as computed on one
thread (TensorFlow splits large requests among its threads in a way that changes the numbers with
their count), `permutation` its ``tf.random.experimental.stateless_shuffle``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from weft._src.core.machine_jobs import MachineJob
from weft._src.core.random_numbers import philox
from weft._src.core.random_numbers.distributions import blocks_used, uniform_float

# By the bytes of an element.
_JOBS = {size: MachineJob(f"swaps_{size}", ("out", "words", "size")) for size in (1, 2, 4, 8)}
_PYTHON_TAKES = 1.5e-7  # seconds for a number
# Comparisons for a row that take no longer than a call, and those that are made at once.
_MOST_COMPARED, _COMPARED_AT_ONCE = 512, 1 << 16


def categorical(
    key: int, counter: int, logits: np.ndarray, num_samples: int, dtype: DTypeLike = np.int64
) -> np.ndarray:
    """Class numbers drawn by unnormalised log-probabilities: (batch, classes) to (batch, samples).

    One uniform float64 a draw, looked up in the running sum of the probabilities. Classes whose
    logit is not finite are never drawn; without any other the result is the number of classes,
    which is no class.

    >>> logits = np.log([[0.1, 0.2, 0.7]])
    >>> categorical(9, 0, logits, 5)
    array([[2, 2, 2, 2, 1]])
    """
    batch, classes = logits.shape
    if classes == 0:
        raise ValueError("num_classes should be positive, got 0")
    wide = logits.astype(np.float64)
    finite = np.isfinite(wide)
    is_finite = bool(finite.all())
    if not is_finite:
        wide[~finite] = -np.inf
    top = np.maximum.reduce(wide, 1, keepdims=True)
    if not is_finite:
        top[np.isneginf(top)] = 0  # a row without a finite logit: all its weights are zero
    cumulative = np.cumsum(np.exp(wide - top), axis=1)
    find = uniform_float(key, counter, (batch, num_samples), np.float64)
    find *= cumulative[:, -1:]
    if batch > 1 and num_samples * classes <= _MOST_COMPARED and find.size:
        return _counted(cumulative, find).astype(dtype, copy=False)
    out = np.empty((batch, num_samples), dtype)
    for row in range(batch):
        out[row] = np.searchsorted(cumulative[row], find[row], side="right")
    return out


def _counted(cumulative: np.ndarray, find: np.ndarray) -> np.ndarray:
    """What `np.searchsorted` finds in each row, by comparing everything: for short rows."""
    some = max(1, _COMPARED_AT_ONCE // (find.shape[1] * cumulative.shape[1]))
    parts = []
    for begin in range(0, len(find), some):
        part = slice(begin, begin + some)
        below = cumulative[part, None, :] <= find[part, :, None]
        parts.append(below.sum(2, dtype=np.int64))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def permutation(key: int, counter: int, size: int) -> np.ndarray:
    """The numbers below `size` in random order, as int64 (the shuffle of Fisher and Yates).

    >>> permutation(9, 0, 6)
    array([0, 4, 1, 3, 2, 5])
    """
    out = np.arange(size, dtype=np.int32 if size < 1 << 31 else np.int64)
    shuffle(key, counter, out)
    return out.astype(np.int64, copy=False)


def shuffle(key: int, counter: int, x: np.ndarray) -> None:
    """Puts the elements of a contiguous vector into the order of `permutation`, where they are.

    >>> x = np.arange(6.0)
    >>> shuffle(9, 0, x)
    >>> x
    array([0., 4., 1., 3., 2., 5.])
    """
    size = len(x)
    words = philox.philox_words(key, counter, permutation_blocks_used(size))[:size]
    job = None if x.dtype.hasobject else _JOBS.get(x.itemsize)
    run = None if job is None else job.after(size * _PYTHON_TAKES)
    if run is not None:
        run((x, words, size), size, size)
        return
    left = np.arange(size, 0, -1)
    partners = size - left + words % left
    out = list(range(size))
    for i, j in enumerate(partners.tolist()):
        out[i], out[j] = out[j], out[i]
    x[:] = x[out]


def categorical_blocks_used(batch: int, num_samples: int) -> int:
    """How many Philox blocks a categorical draw is made of.

    >>> categorical_blocks_used(3, 5)
    8
    """
    return blocks_used(batch * num_samples, np.float64)


def permutation_blocks_used(size: int) -> int:
    """How many Philox blocks a permutation is made of.

    >>> permutation_blocks_used(9)
    3
    """
    return blocks_used(size, np.uint32)
