"""Sizes of shapes as objects, from before they were integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, SupportsIndex

from weft._src.core.shapes import TensorShape


class Dimension:
    """A size that may be unknown. Shapes of Weft hold integers; this is for those who make one.

    >>> tf.compat.v1.Dimension(3) + 2
    Dimension(5)
    >>> tf.compat.v1.Dimension(None) + 2
    Dimension(None)
    """

    def __init__(self, value: Dimension | SupportsIndex | None) -> None:
        if isinstance(value, Dimension):
            value = value.value
        if value is not None:
            value = int(value)
            if value < 0:
                raise ValueError(f"A size must not be negative, got {value}.")
        self._value: int | None = value

    @property
    def value(self) -> int | None:
        """The size, None if it is unknown."""
        return self._value

    def is_compatible_with(self, other: Dimension | int | None) -> bool:
        """Whether both may be the same size.

        Args:
          other: a size, or a Dimension.

        Returns:
          False if both are known and differ.
        """
        theirs = Dimension(other).value
        return self._value is None or theirs is None or self._value == theirs

    def _with(self, other: Dimension | int | None, compute: Callable[[Any, Any], int]) -> Dimension:
        theirs = Dimension(other).value
        known = self._value is not None and theirs is not None
        return Dimension(compute(self._value, theirs) if known else None)

    def __add__(self, other: Dimension | int | None) -> Dimension:
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other: Dimension | int | None) -> Dimension:
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other: Dimension | int | None) -> Dimension:
        return self._with(other, lambda a, b: a * b)

    def __floordiv__(self, other: Dimension | int | None) -> Dimension:
        return self._with(other, lambda a, b: a // b)

    __radd__, __rmul__ = __add__, __mul__

    def __eq__(self, other: object) -> bool:
        theirs = other.value if isinstance(other, Dimension) else other
        return self._value == theirs

    def __hash__(self) -> int:
        return hash(self._value)

    def __index__(self) -> int:
        if self._value is None:
            raise TypeError("The size is not known.")
        return self._value

    __int__ = __index__

    def __repr__(self) -> str:
        return f"Dimension({self._value})"


def dimension_value(dimension: Dimension | int | None) -> int | None:
    """A size as an integer.

    Args:
      dimension: an integer, a `tf.compat.v1.Dimension`, or None.

    Returns:
      An integer, or None if it is unknown.

    >>> tf.compat.dimension_value(tf.TensorShape([2, 3])[0])
    2
    """
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """A size of a shape, unknown if its rank is.

    Args:
      shape: a `tf.TensorShape`.
      index: the number of the axis.

    Returns:
      A `tf.compat.v1.Dimension`.

    >>> tf.compat.dimension_at_index(tf.TensorShape([2, 3]), 1)
    Dimension(3)
    """
    return Dimension(None if shape.rank is None else shape[index])
