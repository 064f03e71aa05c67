"""Categorical draws and permutations from Philox words.

Both equal TensorFlow's: `categorical` its ``tf.random.stateless_categorical`` as computed on one
thread (TensorFlow splits large requests among its threads in a way that changes the numbers with
their count), `permutation` its ``tf.random.experimental.stateless_shuffle``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from weft._src.core.random_numbers import philox
from weft._src.core.random_numbers.distributions import blocks_used, uniform_float


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
    wide[~finite] = -np.inf
    top = wide.max(axis=1, keepdims=True)
    top[np.isneginf(top)] = 0  # a row without a finite logit: all its weights are zero
    cumulative = np.cumsum(np.exp(wide - top), axis=1)
    find = uniform_float(key, counter, (batch, num_samples), np.float64)
    find *= cumulative[:, -1:]
    out = np.empty((batch, num_samples), dtype)
    for row in range(batch):
        out[row] = np.searchsorted(cumulative[row], find[row], side="right")
    return out


def permutation(key: int, counter: int, size: int) -> np.ndarray:
    """The numbers below `size` in random order, as int64 (the shuffle of Fisher and Yates).

    >>> permutation(9, 0, 6)
    array([0, 4, 1, 3, 2, 5])
    """
    words = philox.philox_words(key, counter, permutation_blocks_used(size))[:size]
    left = np.arange(size, 0, -1)
    partners = (size - left + words % left).tolist()
    out = list(range(size))
    for i, j in enumerate(partners):
        out[i], out[j] = out[j], out[i]
    return np.array(out, np.int64)


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
