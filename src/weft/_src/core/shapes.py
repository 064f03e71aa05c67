"""Static shapes: known sizes, unknown sizes with an identity, and unknown rank.

A size that tracing cannot know is a `Dim`, a symbol: two tensors whose sizes come from the same
place share it, so that Weft can tell they are equal without knowing the number. To users an
unknown size is `None`, as in TensorFlow.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from weft._src.errors import ShapeError
from weft._src.messages.tensors import shape_message

if TYPE_CHECKING:
    from weft._src.core.aliases import ShapeLike


class Dim:
    """An unknown size. Equal only to itself; arithmetic gives a new unknown unless trivial."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return self if _is_int(other, 0) else _unknown_from(self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if other is self:
            return 0
        return self if _is_int(other, 0) else UnknownNumber()

    def __rsub__(self, other: Any) -> Any:
        return UnknownNumber()

    def __mul__(self, other: Any) -> Any:
        if _is_int(other, 0):
            return 0
        return self if _is_int(other, 1) else _unknown_from(self, other)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return self if _is_int(other, 1) else _unknown_from(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _unknown_from(self, other)

    def __repr__(self) -> str:
        return "None"


class UnknownNumber(Dim):
    """An unknown number that need not be a size: where -1 means "the rest", it may be that."""

    __slots__ = ()


def _unknown_from(a: Any, b: Any) -> Dim:
    """What comes out of adding, multiplying or dividing two numbers of which one is unknown."""
    sizes = all(not isinstance(x, UnknownNumber) and (isinstance(x, Dim) or x >= 0) for x in (a, b))
    return Dim() if sizes else UnknownNumber()


def _is_int(value: Any, n: int) -> bool:
    return not isinstance(value, Dim) and value == n


Size: TypeAlias = "int | Dim"
Dims: TypeAlias = "tuple[int | Dim, ...]"


def size_of(value: Any) -> Size:
    """A size from what a user may write: an int, None, -1's refused, or a `Dim`."""
    if isinstance(value, Dim):
        return value
    if value is None:
        return Dim()
    try:
        n = operator.index(value)
    except TypeError:
        raise TypeError(
            f"A dimension must be an int or None, got {value!r} ({type(value).__name__})."
        ) from None
    if n < 0:
        raise ValueError(f"A dimension must not be negative, got {n}.")
    return n


class TensorShape:
    """The static shape of a tensor; sizes and even the rank may be unknown.

    >>> s = tf.TensorShape([None, 3])
    >>> s, s.rank, s.as_list(), s.is_compatible_with([2, 3])
    (TensorShape([None, 3]), 2, [None, 3], True)
    """

    __slots__ = ("dims_or_none",)
    dims_or_none: Dims | None

    def __init__(self, dims: Any) -> None:
        if dims is None:
            self.dims_or_none = None
        elif type(dims) is tuple and all(type(d) is int and d >= 0 for d in dims):
            self.dims_or_none = dims
        elif isinstance(dims, TensorShape):
            self.dims_or_none = dims.dims_or_none
        elif isinstance(dims, Iterable) and getattr(dims, "ndim", 1) != 0:
            self.dims_or_none = tuple([size_of(d) for d in dims])
        else:
            self.dims_or_none = (size_of(dims),)

    @classmethod
    def of(cls, dims: Dims | None) -> TensorShape:
        """A shape of dims that are known to be valid; nothing is checked.

        Args:
          dims: a tuple of sizes, each an integer or a `Dim`; None for an unknown rank.

        Returns:
          The shape.
        """
        shape = object.__new__(cls)
        shape.dims_or_none = dims
        return shape

    @property
    def rank(self) -> int | None:
        """The number of dimensions, None if unknown."""
        return None if self.dims_or_none is None else len(self.dims_or_none)

    @property
    def ndims(self) -> int | None:
        """Another name of `rank`."""
        return self.rank

    @property
    def dims(self) -> list[int | None] | None:
        """The sizes as a list, None if the rank is unknown."""
        return None if self.dims_or_none is None else list(self)

    def as_list(self) -> list[int | None]:
        """The sizes as a list with None for unknown ones.

        Returns:
          A list of ints and None.

        Raises:
          ValueError: if the rank is unknown.

        >>> tf.TensorShape([None, 3]).as_list()
        [None, 3]
        """
        if self.dims_or_none is None:
            raise ValueError("as_list() is not defined on a shape of unknown rank.")
        return list(self)

    def is_fully_defined(self) -> bool:
        """Whether every size is known.

        Returns:
          A bool; False if the rank is unknown.

        >>> tf.TensorShape([2, 3]).is_fully_defined(), tf.TensorShape([None, 3]).is_fully_defined()
        (True, False)
        """
        return self.dims_or_none is not None and all(type(d) is int for d in self.dims_or_none)

    def assert_is_fully_defined(self) -> None:
        """Raises ValueError unless every size is known."""
        if not self.is_fully_defined():
            raise ValueError(f"The shape {self} is not fully defined.")

    def num_elements(self) -> int | None:
        """The product of the sizes, None if one is unknown.

        Returns:
          An int, 1 for the shape of a scalar; None also if the rank is unknown.

        >>> tf.TensorShape([2, 3]).num_elements()
        6
        """
        if not self.is_fully_defined():
            return None
        n = 1
        for d in self.as_list():
            n *= d  # type: ignore[operator]
        return n

    def is_compatible_with(self, other: Any) -> bool:
        """Whether some concrete shape fits both.

        Args:
          other: a shape, or what `tf.TensorShape` takes.

        Returns:
          A bool; unknown sizes fit every size, an unknown rank fits every shape.

        >>> tf.TensorShape([None, 3]).is_compatible_with([2, 3])
        True
        """
        a, b = self.dims_or_none, TensorShape(other).dims_or_none
        if a is None or b is None:
            return True
        return len(a) == len(b) and all(map(_compatible, a, b))

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises ValueError unless some concrete shape fits both.

        Args:
          other: a shape, or what `tf.TensorShape` takes.

        Raises:
          ValueError: if the ranks differ, or two known sizes do.

        >>> tf.TensorShape([None, 3]).assert_is_compatible_with([2, 3])
        """
        if not self.is_compatible_with(other):
            raise ValueError(f"The shapes {self} and {TensorShape(other)} are incompatible.")

    def is_subtype_of(self, other: TensorShape) -> bool:
        """Whether every concrete shape that fits this one fits `other` too.

        Args:
          other: a `tf.TensorShape`.

        Returns:
          A bool.

        >>> a, b = tf.TensorShape([2, 3]), tf.TensorShape([None, 3])
        >>> a.is_subtype_of(b), b.is_subtype_of(a)
        (True, False)
        """
        a, b = self.dims_or_none, other.dims_or_none
        if b is None:
            return True
        if a is None or len(a) != len(b):
            return False
        return all(isinstance(y, Dim) or x == y for x, y in zip(a, b, strict=True))

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The narrowest shape that holds both: sizes that differ become unknown.

        Args:
          other: a shape, or what `tf.TensorShape` takes.

        Returns:
          A shape, of unknown rank if the ranks differ.

        >>> tf.TensorShape([2, 3]).most_specific_compatible_shape([4, 3])
        TensorShape([None, 3])
        """
        a, b = self.dims_or_none, TensorShape(other).dims_or_none
        if a is None or b is None or len(a) != len(b):
            return TensorShape.of(None)
        return TensorShape.of(tuple([x if x == y else Dim() for x, y in zip(a, b, strict=True)]))

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorShape | None:
        """The narrowest shape that holds this one and all others.

        Args:
          others: shapes, or whatever else: no shape holds that.

        Returns:
          A shape, of unknown rank if the ranks differ; None if one of the others is no shape.

        >>> tf.TensorShape([2, 3]).most_specific_common_supertype([tf.TensorShape([2, 4])])
        TensorShape([2, None])
        """
        out = self
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            out = out.most_specific_compatible_shape(other)
        return out

    def as_proto(self) -> Any:
        """The shape as a message, with -1 for unknown sizes.

        Returns:
          A `TensorShapeProto`.

        >>> [dim.size for dim in tf.TensorShape([2, None]).as_proto().dim]
        [2, -1]
        """
        dims = self.dims_or_none
        sizes = None if dims is None else [d if isinstance(d, int) else -1 for d in dims]
        return shape_message(sizes)

    def merge_with(self, other: Any) -> TensorShape:
        """The shape that holds what both know.

        Args:
          other: a shape, or what `tf.TensorShape` takes.

        Returns:
          A shape with the sizes that one of them knows.

        Raises:
          ShapeError: if they contradict each other. It is a ValueError too.

        >>> tf.TensorShape([None, 3]).merge_with([2, None])
        TensorShape([2, 3])
        """
        other = TensorShape(other)
        a, b = self.dims_or_none, other.dims_or_none
        if a is None:
            return other
        if b is None:
            return self
        if len(a) != len(b) or not all(map(_compatible, a, b)):
            raise ShapeError(f"The shapes {self} and {other} are incompatible.")
        return TensorShape.of(tuple([y if isinstance(x, Dim) else x for x, y in zip(a, b)]))

    def concatenate(self, other: Any) -> TensorShape:
        """The shape with the sizes of `other` behind its own.

        Args:
          other: a shape, or what `tf.TensorShape` takes.

        Returns:
          A shape, of unknown rank if one of the ranks is unknown.

        >>> tf.TensorShape([2]).concatenate([None, 3])
        TensorShape([2, None, 3])
        """
        a, b = self.dims_or_none, TensorShape(other).dims_or_none
        return TensorShape.of(None if a is None or b is None else a + b)

    def with_rank(self, rank: int) -> TensorShape:
        """This shape, which must have the given rank (taken over if it is unknown).

        Args:
          rank: the number of axes.

        Returns:
          A shape of that rank, with unknown sizes if the rank was unknown.

        Raises:
          ShapeError: if the rank is another one. It is a ValueError too.

        >>> tf.TensorShape(None).with_rank(2)
        TensorShape([None, None])
        """
        return self.merge_with(TensorShape([None] * rank))

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape, which must have at least the given rank.

        Args:
          rank: the least number of axes.

        Returns:
          The shape itself; an unknown rank is accepted.

        Raises:
          ValueError: if there are fewer axes.

        >>> tf.TensorShape([2, 3]).with_rank_at_least(1)
        TensorShape([2, 3])
        """
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"The shape {self} must have rank at least {rank}.")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape, which must have at most the given rank.

        Args:
          rank: the largest number of axes.

        Returns:
          The shape itself; an unknown rank is accepted.

        Raises:
          ValueError: if there are more axes.

        >>> tf.TensorShape([2, 3]).with_rank_at_most(2)
        TensorShape([2, 3])
        """
        if self.rank is not None and self.rank > rank:
            raise ValueError(f"The shape {self} must have rank at most {rank}.")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Raises ValueError unless the rank is `rank` or unknown.

        Args:
          rank: the number of axes.

        Raises:
          ValueError: if the rank is known, and another one.

        >>> tf.TensorShape([2, 3]).assert_has_rank(2)
        """
        if self.rank not in (None, rank):
            raise ValueError(f"The shape {self} must have rank {rank}.")

    def assert_same_rank(self, other: Any) -> None:
        """Raises ValueError unless the ranks are equal or one is unknown.

        Args:
          other: a shape, or what `tf.TensorShape` takes.

        Raises:
          ValueError: if both ranks are known, and differ.

        >>> tf.TensorShape([2, 3]).assert_same_rank([4, None])
        """
        other = TensorShape(other)
        if None not in (self.rank, other.rank) and self.rank != other.rank:
            raise ValueError(f"The shapes {self} and {other} must have the same rank.")

    def __len__(self) -> int:
        if self.dims_or_none is None:
            raise ValueError("A shape of unknown rank has no length.")
        return len(self.dims_or_none)

    def __bool__(self) -> bool:
        return self.dims_or_none is not None

    def __iter__(self) -> Iterator[int | None]:
        if self.dims_or_none is None:
            raise ValueError("A shape of unknown rank cannot be iterated over.")
        return iter([d if type(d) is int else None for d in self.dims_or_none])

    def __getitem__(self, key: Any) -> Any:
        dims = self.dims_or_none
        if isinstance(key, slice):
            if dims is not None:
                return TensorShape.of(dims[key])
            start, stop = key.start or 0, key.stop
            known = stop is not None and start >= 0 and stop >= 0 and key.step in (None, 1)
            return TensorShape([None] * max(stop - start, 0)) if known else TensorShape.of(None)
        if dims is None:
            return None
        d = dims[key]
        return None if isinstance(d, Dim) else d

    def __add__(self, other: ShapeLike | None) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorShape):
            try:
                other = TensorShape(other)
            except (TypeError, ValueError):
                return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[int | None, ...] | None:
        return None if self.dims_or_none is None else tuple(self)

    def __repr__(self) -> str:
        if self.dims_or_none is None:
            return "TensorShape(None)"
        return f"TensorShape([{', '.join(map(str, self))}])"

    def __str__(self) -> str:
        return format_dims(self.dims_or_none)

    def __reduce__(self) -> tuple[Any, tuple[Any]]:
        return TensorShape, (self._key(),)


def _compatible(a: Size, b: Size) -> bool:
    return a == b or isinstance(a, Dim) or isinstance(b, Dim)


def format_dims(dims: Sequence[Size] | None) -> str:
    """A shape as Python writes tuples, `<unknown>` without a rank: (), (3,), (None, 3)."""
    if dims is None:
        return "<unknown>"
    if len(dims) == 1:
        return f"({dims[0]},)"
    return f"({', '.join(map(str, dims))})"
