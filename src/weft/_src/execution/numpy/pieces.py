"""Calling a function of arrays for some of their elements at a time, on several threads."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft._src.core.crew import crew
from weft._src.core.processors import is_one_idle
from weft._src.execution.background import worker

Array = np.ndarray[Any, Any]

# Elements of a piece: a few arrays of them stay in a second-level cache, and they take NumPy long
# enough that threads do not wait for the interpreter. A multiple of what a vector holds: which
# elements of an array are the last ones, and no others, decides where NumPy uses no vectors.
PIECE = 1 << 16
WHOLE = 1 << 20  # elements up to which one thread is as fast without pieces


def in_pieces(
    function: Callable[..., Sequence[Array]],
    dims: tuple[int, ...],
    dtypes: Sequence[np.dtype[Any]],
    *values: Any,
) -> Sequence[Array]:
    """What an elementwise function gives for whole arrays.

    Args:
      function: takes values and returns a tuple of arrays.
      dims: the shape of the results.
      dtypes: theirs.
      *values: arrays of that shape, and numbers.
    """
    size = math.prod(dims)
    # The worker may be compiling this: threads would hold it up, and each other.
    is_alone = worker.is_at_work or not is_one_idle()
    if is_alone and size <= WHOLE:
        return function(*values)
    results = [np.empty(size, dtype) for dtype in dtypes]
    flat = [value.reshape(-1) if value.ndim else value for value in values]

    def work(number: int) -> None:
        part = slice(number * PIECE, (number + 1) * PIECE)
        found = function(*[value[part] if value.ndim else value for value in flat])
        for result, piece in zip(results, found, strict=True):
            result[part] = piece

    pieces = -(-size // PIECE)
    if is_alone:
        for number in range(pieces):
            work(number)
    else:
        crew.share(work, pieces)
    return [result.reshape(dims) for result in results]
