"""Stripes of weights, made once and kept from call to call.

To make stripes takes a quarter of the time of a product of a hundred rows, and more than all of a
product of a few. Captured tensors and variables that a function does not write are the same array
in many calls, so machine code is given their stripes as one more input.

An array that was seen must not change: the variable is marked as shared, so that who writes it next
takes a new buffer, as after any other read. Where a variable is another one at every call (somebody
trains it elsewhere), stripes are made for the call and nothing is marked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft._src.core.cells import VariableCell
from weft._src.execution.native.loops.stripes import Array, Striping

_MOST_CHANGES = 3  # in a row, after which stripes are not kept any more
_LOOK_AGAIN = 64  # calls after which it is tried again


class KeptStripes:
    """The stripes of one input, for the array that was seen last."""

    def __init__(self, position: int, dtype: Any, shape: tuple[int, ...], how: Striping) -> None:
        self.position = position
        self._shape, self._dtype, self._how = shape, dtype, how
        self._last: tuple[Array | None, Array | None] = (None, None)
        self._changes = 0

    def of(self, value: Any) -> Array | None:
        """The stripes of an array or a variable, whose lock is held.

        None for what machine code does not take anyway.
        """
        is_cell = isinstance(value, VariableCell)
        array = value.data if is_cell else value
        known, stripes = self._last
        if array is known:
            self._changes = 0
            return stripes
        if type(array) is not np.ndarray:
            return None
        if array.shape != self._shape or array.dtype != self._dtype:
            return None
        stripes = self._how.of(array)
        self._changes += 1
        if self._changes > _MOST_CHANGES and self._changes % _LOOK_AGAIN:
            self._last = (None, None)
            return stripes
        if is_cell:
            value.shared = True
        self._last = (array, stripes)
        return stripes


def with_stripes(native: Callable[..., Any], kept: Sequence[KeptStripes]) -> Callable[..., Any]:
    """The function, which is given the stripes behind its inputs."""
    if not kept:
        return native

    def call(*values: Any) -> Any:
        return native(*values, *[each.of(values[each.position]) for each in kept])

    return call
