"""Python's built-in functions on tensors of a graph."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from weft._src import nest
from weft._src.autograph.operators.conditional import condition_tensor
from weft._src.autograph.operators.grown_list import GrownList, refusing
from weft._src.autograph.operators.state import is_symbolic
from weft._src.core.context import state
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType, float32, int32, string
from weft._src.core.tensor import Tensor
from weft._src.errors import UnsupportedError
from weft._src.ops.arrays import ranges, shape as shapes, tiling
from weft._src.ops.control import functional
from weft._src.ops.control.tensor_array import TensorArray
from weft._src.ops.elementwise import arithmetic, casting, comparison, unary
from weft._src.ops.indexing import gathering
from weft._src.ops.reduce import extrema, logic, order, sums
from weft._src.ops.static import static_value
from weft._src.ops.strings import number_text


def _any_symbolic(*values: Any) -> bool:
    return any(is_symbolic(v) for v in values)


def _own_form(name: str, value: Any) -> Any:
    """What an object that stands for values of a graph, a dataset, does for a built-in function."""
    return getattr(value, f"__autograph_{name}__", None) if state.graph is not None else None


def len_(s: Any) -> Any:
    """`len`, also of tensors of unknown length and of lists that grew in a loop."""
    if (own := _own_form("len", s)) is not None:
        return own()
    if isinstance(s, (TensorArray, GrownList)):
        return s.size()
    if isinstance(s, Tensor) and is_symbolic(s):
        known = s.shape[0] if s.shape.rank else None
        return known if known is not None else shapes.shape(s)[0]
    return len(s)


def int_(x: Any = 0, *args: Any) -> Any:
    """`int`; of strings, too, to the base of 10."""
    if not is_symbolic(x):
        return int(x, *args)
    if args and args[0] != 10:
        raise UnsupportedError(
            f"int() of a tensor reads numbers to the base of 10 only, got base {args[0]!r}."
        )
    return _number(x, int32)


def float_(x: Any = 0.0) -> Any:
    """`float`; of strings, too."""
    return _number(x, float32) if is_symbolic(x) else float(x)


def _number(x: Any, dtype: DType) -> Tensor:
    tensor = convert_to_tensor(x)
    if tensor.dtype is string:
        return number_text.to_number(tensor, dtype)
    return casting.cast(tensor, dtype)


def bool_(x: Any = False) -> Any:
    """`bool`."""
    return convert_to_tensor(x) != 0 if is_symbolic(x) and not x.dtype.is_bool else (
        x if is_symbolic(x) else bool(x)
    )  # fmt: skip


def abs_(x: Any) -> Any:
    """`abs`."""
    if (own := _own_form("abs", x)) is not None:
        return own()
    return unary.abs(x) if is_symbolic(x) else abs(x)


def range_(*args: Any) -> Any:
    """`range`; a tensor if a bound is one."""
    return ranges.range(*args) if _any_symbolic(*args) else range(*args)


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

    def __iter__(self) -> Iterator[Any]:
        length = static_value(self._length)
        if length is None:
            raise TypeError(
                "Rows of a tensor of unknown length can only be iterated over by a for statement."
            )
        return iter([self._row(i) for i in range(int(length))])


class Filtered:
    """What `filter` gives: a for statement puts its body under the condition."""

    def __init__(self, predicate: Callable[[Any], Any], iterable: Any) -> None:
        self.predicate = predicate
        self.iterable = iterable

    def __iter__(self) -> Iterator[Any]:
        return filter(self.predicate, self.iterable)


def rows_of(iterable: Any) -> Rows | None:
    """The rows of something that is iterated over in the graph, None for Python's iterables."""
    if isinstance(iterable, Rows):
        return iterable
    if isinstance(iterable, (TensorArray, GrownList)) and state.graph is not None:
        return Rows(iterable.read, iterable.size())
    if is_symbolic(iterable):
        tensor = convert_to_tensor(iterable)
        if tensor.shape.rank == 0:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return Rows(lambda i: tensor[i], shapes.shape(tensor)[0])
    return None


def _together(iterables: Sequence[Any]) -> tuple[list[Rows], Tensor] | None:
    """The rows of several, and the length of the shortest; None if one of them is Python's."""
    rows = [rows_of(x) for x in iterables]
    if not rows or any(r is None for r in rows):
        return None
    found = [r for r in rows if r is not None]
    known = [n for n in [static_value(r.size()) for r in found] if n is not None]
    if len(known) == len(found):
        return found, convert_to_tensor(min(known))
    return found, functools.reduce(arithmetic.minimum, [r.size() for r in found])


def enumerate_(iterable: Any, start: Any = 0) -> Any:
    """`enumerate`; over a tensor it gives pairs of tensors."""
    if (own := _own_form("enumerate", iterable)) is not None:
        return own(start)
    rows = rows_of(iterable)
    if rows is None:
        return enumerate(iterable, start)
    return Rows(lambda i: (i + start, rows.read(i)), rows.size())


def zip_(*iterables: Any, strict: bool = False) -> Any:
    """`zip`; over tensors it gives tuples of tensors."""
    if iterables and (own := _own_form("zip", iterables[0])) is not None:
        return own(*iterables[1:])
    found = _together(iterables)
    if found is None:
        return zip(*iterables, strict=strict)
    rows, length = found
    return Rows(lambda i: tuple([r.read(i) for r in rows]), length)


def map_(function: Callable[..., Any], *iterables: Any) -> Any:
    """`map`; over tensors the function sees rows."""
    if iterables and (own := _own_form("map", iterables[0])) is not None:
        return own(function, *iterables[1:])
    found = _together(iterables)
    if found is None:
        return map(function, *iterables)
    rows, length = found
    return Rows(lambda i: function(*[r.read(i) for r in rows]), length)


def filter_(function: Callable[[Any], Any] | None, iterable: Any) -> Any:
    """`filter`; the condition may be a tensor."""
    if (own := _own_form("filter", iterable)) is not None and function is not None:
        return own(function)
    if state.graph is None or function is None:
        return filter(function, iterable)
    return Filtered(function, iterable)


def reversed_(sequence: Any) -> Any:
    """`reversed`."""
    rows = rows_of(sequence)
    if rows is None:
        return reversed(sequence)
    if is_symbolic(sequence):
        return tiling.reverse(sequence, [0])
    return Rows(lambda i: rows.read(rows.size() - 1 - i), rows.size())


def _fold(items: Iterable[Any], combine: Callable[..., Any], decisive: bool) -> Any:
    """`any` or `all` of Python's items some of which may be tensors."""
    result: Any = not decisive
    for item in items:
        if not is_symbolic(item):
            if bool(item) is decisive:
                return decisive
        elif is_symbolic(result):
            result = combine(result, condition_tensor(item))
        else:
            result = condition_tensor(item)
    return result


def any_(iterable: Any) -> Any:
    """`any`."""
    if (own := _own_form("any", iterable)) is not None:
        return own()
    if is_symbolic(iterable):
        return logic.reduce_any(iterable)
    return _fold(iterable, comparison.logical_or, True) if state.graph else any(iterable)


def all_(iterable: Any) -> Any:
    """`all`."""
    if (own := _own_form("all", iterable)) is not None:
        return own()
    if is_symbolic(iterable):
        return logic.reduce_all(iterable)
    return _fold(iterable, comparison.logical_and, False) if state.graph else all(iterable)


def round_(number: Any, ndigits: int | None = None) -> Any:
    """`round`."""
    if not is_symbolic(number):
        return round(number, ndigits)
    if ndigits is None:
        return casting.cast(unary.round(number), int32)
    scale = 10.0**ndigits
    return unary.round(number * scale) / scale


def sum_(iterable: Any, start: Any = 0) -> Any:
    """`sum`; over the first axis of a tensor."""
    if isinstance(iterable, GrownList):
        return iterable.summed() + start
    if not is_symbolic(iterable):
        return sum(iterable, start)
    return sums.reduce_sum(iterable, axis=0) + start


def sorted_(iterable: Any, *, key: Any = None, reverse: bool = False) -> Any:
    """`sorted`; of a tensor a tensor, of a list a list."""
    if state.graph is not None and not is_symbolic(iterable):
        iterable = list(iterable)
    tensors = is_symbolic(iterable) or (isinstance(iterable, list) and _any_symbolic(*iterable))
    if not tensors:
        return sorted(iterable, key=key, reverse=reverse)
    rows = convert_to_tensor(iterable)
    keys = rows if key is None else convert_to_tensor(functional.map_fn(key, rows))
    if keys.shape.rank not in (None, 1):
        raise ValueError(
            f"sorted() compares numbers, but the {'elements' if key is None else 'keys'} of a "
            f"tensor of shape {rows.shape} have shape {keys.shape[1:]}."
        )
    direction = "DESCENDING" if reverse else "ASCENDING"
    made = gathering.gather(rows, order.argsort(keys, direction=direction, stable=True))
    return made if is_symbolic(iterable) else list(made)


def _extremum(
    python: Callable[..., Any], reduce: Callable[..., Any], combine: Callable[..., Any]
) -> Callable[..., Any]:
    def choose(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and state.graph is not None:
            if is_symbolic(args[0]):
                return reduce(args[0], axis=0)
            args = tuple(args[0])
            if not _any_symbolic(*args):
                return python(args)
        if kwargs or not _any_symbolic(*args):
            return python(*args, **kwargs)
        return functools.reduce(combine, args)

    return choose


min_ = _extremum(builtins.min, extrema.reduce_min, arithmetic.minimum)
max_ = _extremum(builtins.max, extrema.reduce_max, arithmetic.maximum)


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
    filter: filter_,
    reversed: reversed_,
    round: round_,
    any: any_,
    all: all_,
    sum: sum_,
    sorted: sorted_,
    min: min_,
    max: max_,
    **{getattr(nest, name): refusing(getattr(nest, name)) for name in nest.__all__},
}
