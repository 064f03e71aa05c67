"""Python's built-in functions on tensors of a graph."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from typing import Any

from weft.autograph.operators.grown_list import GrownList
from weft.autograph.operators.state import is_symbolic
from weft.core.convert import convert_to_tensor
from weft.core.dtypes import float32, int32
from weft.core.tensor import Tensor
from weft.ops.array import ranges, shape as shapes, tiling
from weft.ops.control.tensor_array import TensorArray
from weft.ops.math import arithmetic, casting, unary
from weft.ops.reduce import extrema, logic, order, sums


def _any_symbolic(*values: Any) -> bool:
    return any(is_symbolic(v) for v in values)


def len_(s: Any) -> Any:
    """`len`, also of tensors of unknown length and of lists that grew in a loop."""
    if isinstance(s, (TensorArray, GrownList)):
        return s.size()
    if isinstance(s, Tensor) and is_symbolic(s):
        known = s.shape[0] if s.shape.rank else None
        return known if known is not None else shapes.shape(s)[0]
    return len(s)


def int_(x: Any = 0, *args: Any) -> Any:
    """`int`."""
    return casting.cast(convert_to_tensor(x), int32) if is_symbolic(x) else int(x, *args)


def float_(x: Any = 0.0) -> Any:
    """`float`."""
    return casting.cast(convert_to_tensor(x), float32) if is_symbolic(x) else float(x)


def bool_(x: Any = False) -> Any:
    """`bool`."""
    return convert_to_tensor(x) != 0 if is_symbolic(x) and not x.dtype.is_bool else (
        x if is_symbolic(x) else bool(x)
    )  # fmt: skip


def abs_(x: Any) -> Any:
    """`abs`."""
    return unary.abs(x) if is_symbolic(x) else abs(x)


def range_(*args: Any) -> Any:
    """`range`; a tensor if a bound is one."""
    return ranges.range(*args) if _any_symbolic(*args) else range(*args)


def enumerate_(iterable: Any, start: Any = 0) -> Any:
    """`enumerate`; over a tensor it gives pairs of tensors."""
    if not is_symbolic(iterable):
        return enumerate(iterable, start)
    return Rows(lambda i: (i + start, iterable[i]), shapes.shape(iterable)[0])


def zip_(*iterables: Any, strict: bool = False) -> Any:
    """`zip`; over tensors it gives tuples of tensors."""
    if not iterables or not all(is_symbolic(x) for x in iterables):
        return zip(*iterables, strict=strict)
    length = functools.reduce(arithmetic.minimum, [shapes.shape(x)[0] for x in iterables])
    return Rows(lambda i: tuple([x[i] for x in iterables]), length)


def map_(function: Callable[..., Any], *iterables: Any) -> Any:
    """`map`; over tensors the function sees rows."""
    if not iterables or not all(is_symbolic(x) for x in iterables):
        return map(function, *iterables)
    length = functools.reduce(arithmetic.minimum, [shapes.shape(x)[0] for x in iterables])
    return Rows(lambda i: function(*[x[i] for x in iterables]), length)


def reversed_(sequence: Any) -> Any:
    """`reversed`."""
    return tiling.reverse(sequence, [0]) if is_symbolic(sequence) else reversed(sequence)


def any_(iterable: Any) -> Any:
    """`any`."""
    return logic.reduce_any(iterable) if is_symbolic(iterable) else any(iterable)


def all_(iterable: Any) -> Any:
    """`all`."""
    return logic.reduce_all(iterable) if is_symbolic(iterable) else all(iterable)


def sum_(iterable: Any, start: Any = 0) -> Any:
    """`sum`; over the first axis of a tensor."""
    if not is_symbolic(iterable):
        return sum(iterable, start)
    return sums.reduce_sum(iterable, axis=0) + start


def sorted_(iterable: Any, *, key: Any = None, reverse: bool = False) -> Any:
    """`sorted`."""
    if not is_symbolic(iterable) or key is not None:
        return sorted(iterable, key=key, reverse=reverse)
    return order.sort(iterable, direction="DESCENDING" if reverse else "ASCENDING")


def _extremum(python: Any, reduce: Any, combine: Any) -> Callable[..., Any]:
    def choose(*args: Any, **kwargs: Any) -> Any:
        if kwargs or not _any_symbolic(*args):
            return python(*args, **kwargs)
        if len(args) == 1:
            return reduce(args[0], axis=0)
        return functools.reduce(combine, args)

    return choose


min_ = _extremum(builtins.min, extrema.reduce_min, arithmetic.minimum)
max_ = _extremum(builtins.max, extrema.reduce_max, arithmetic.maximum)


class Rows:
    """What `enumerate`, `zip` and `map` give on tensors: rows made on demand in a graph loop."""

    def __init__(self, row: Callable[[Any], Any], length: Tensor) -> None:
        self._row = row
        self._length = length

    def size(self) -> Tensor:
        """The number of rows."""
        return self._length

    def read(self, i: Any) -> Any:
        """One row."""
        return self._row(i)

    def __iter__(self) -> Any:
        raise TypeError("Rows of tensors can only be iterated over by a converted for loop.")


OVERLOADS: dict[Any, Any] = {
    len: len_,
    int: int_,
    float: float_,
    bool: bool_,
    abs: abs_,
    range: range_,
    enumerate: enumerate_,
    zip: zip_,
    map: map_,
    reversed: reversed_,
    any: any_,
    all: all_,
    sum: sum_,
    sorted: sorted_,
    min: min_,
    max: max_,
}
