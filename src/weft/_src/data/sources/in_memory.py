"""Datasets of numbers and of tensors: `range`, `from_tensors`, `from_tensor_slices`, `counter`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from weft._src import nest
from weft._src.core import dtypes
from weft._src.core.aliases import ArrayNamespace, DTypeLike, IntLike, TensorNest
from weft._src.core.dtypes import DATA, REAL, int64, variant
from weft._src.core.specs import TensorSpec
from weft._src.data.core import columns, encoded_parts, positions, structure
from weft._src.data.core.base import (
    DatasetBase,
    dataset_op,
    int64_scalar,
    make_dataset,
    number,
    refuse_unless,
)
from weft._src.data.core.column_rows import ColumnRowsStage
from weft._src.data.core.stage import INFINITE, Cursor, Run, Stage
from weft._src.data.core.structure import Values
from weft._src.errors import ShapeError
from weft._src.ops.registry import each

if TYPE_CHECKING:
    from weft._src.data.dataset import Dataset

_LARGEST_TABLE = 1 << 20  # numbers that are made at once where rows can be picked
_ANYTHING = DATA | frozenset({variant})


# --- range ---------------------------------------------------------------------------------------


class RangeStage(Stage):
    """Numbers from `start` in steps; `stop` is None for a counter that never ends."""

    __slots__ = ("numbers", "numpy_dtype")

    def __init__(self, start: int, stop: int | None, step: int, numpy_dtype: Any) -> None:
        refuse_unless(step != 0, "range", "step must not be zero.")
        if stop is None:
            stop = start + step * (1 << 62)
        self.numbers = range(start, stop, step)
        self.numpy_dtype = np.dtype(numpy_dtype)

    def cursor(self, run: Run) -> Cursor:
        return _RangeCursor(self)

    def cardinality(self) -> int:
        n = self.numbers.stop - self.numbers.start
        return INFINITE if abs(n) >= 1 << 62 else len(self.numbers)

    def table(self) -> Sequence[Any] | None:
        if self.cardinality() == INFINITE or len(self.numbers) > _LARGEST_TABLE:
            return None
        rows = np.arange(len(self.numbers)) * self.numbers.step + self.numbers.start
        return [rows.astype(self.numpy_dtype)]


class _RangeCursor(Cursor):
    own = ("_at",)
    blocks = True

    def __init__(self, stage: RangeStage) -> None:
        self._numbers = stage.numbers
        self._dtype = stage.numpy_dtype
        self._scalar = self._dtype.type
        self._step = stage.numbers.step
        self._length = _length(stage.numbers)
        self._at = 0

    def __next__(self) -> Values:
        at = self._at
        if at >= self._length:
            raise StopIteration
        self._at = at + 1
        return (self._scalar(self._numbers.start + at * self._step),)

    def rows(self, n: int) -> Values:
        at = self._at
        n = min(n, self._length - at)
        if n <= 0:
            raise StopIteration
        self._at = at + n
        first = self._numbers.start + at * self._step
        last = first + n * self._step
        return (np.arange(first, last, self._step, dtype=np.int64).astype(self._dtype, copy=False),)


def _length(numbers: range) -> int:
    """len() refuses numbers beyond 63 bits."""
    return max(0, -((numbers.start - numbers.stop) // numbers.step))


range_op = dataset_op(
    "RangeDataset",
    number("start") + number("stop") + number("step"),
    lambda xp, start, stop, step, *, output_type: RangeStage(
        int(start), int(stop), int(step), output_type.numpy_dtype
    ),
)

counter_op = dataset_op(
    "CounterDataset",
    number("start") + number("step"),
    lambda xp, start, step, *, output_type: RangeStage(
        int(start), None, int(step), output_type.numpy_dtype
    ),
)


# --- tensors -------------------------------------------------------------------------------------


class TensorStage(Stage):
    """One element."""

    __slots__ = ("values",)

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = tuple(values)

    def cursor(self, run: Run) -> Cursor:
        return _TensorCursor(self.values)

    def cardinality(self) -> int:
        return 1


class _TensorCursor(Cursor):
    own = ("_done",)

    def __init__(self, values: Values) -> None:
        self._values = values
        self._done = False

    def __next__(self) -> Values:
        if self._done:
            raise StopIteration
        self._done = True
        return self._values


tensor_op = dataset_op(
    "TensorDataset",
    each("*components", _ANYTHING),
    lambda xp, *components: TensorStage([xp.asarray(c) if isinstance(c, np.generic) else c
                                         for c in components]),
)  # fmt: skip


class SliceStage(Stage):
    """The rows of arrays."""

    __slots__ = ("arrays", "length")

    def __init__(self, arrays: Sequence[Any]) -> None:
        self.arrays = tuple(arrays)
        lengths = {array.shape[0] for array in arrays}
        if len(lengths) != 1:
            raise _lengths_differ([array.shape for array in arrays])
        self.length = lengths.pop()

    def cursor(self, run: Run) -> Cursor:
        return SliceCursor(self.arrays, self.length)

    def cardinality(self) -> int:
        return int(self.length)

    def table(self) -> Sequence[Any]:
        return self.arrays


# Windows are datasets, which a position may hold.
positions.register("w", SliceStage, lambda stage: stage.arrays, SliceStage)


def _lengths_differ(shapes: Sequence[Any]) -> ShapeError:
    shown = ", ".join(map(str, shapes))
    return ShapeError(
        "Dataset.from_tensor_slices: all components must have the same first size, got shapes "
        f"{shown}."
    )


class SliceCursor(Cursor):
    """A walk along the rows of arrays."""

    own = ("_at",)
    blocks = True

    def __init__(self, arrays: Sequence[Any], length: int) -> None:
        self._arrays = arrays
        self._length = length
        self._at = 0
        self._plain = all(a.dtype != object for a in arrays)

    def __next__(self) -> Values:
        at = self._at
        if at >= self._length:
            raise StopIteration
        self._at = at + 1
        if self._plain:
            return tuple([a[at] for a in self._arrays])
        return tuple([a[at, ...] for a in self._arrays])

    def rows(self, n: int) -> Values:
        at = self._at
        if at >= self._length:
            raise StopIteration
        self._at = min(at + n, self._length)
        return tuple([a[at : at + n] for a in self._arrays])


slice_op = dataset_op(
    "TensorSliceDataset",
    each("*components", DATA),
    lambda xp, *components: SliceStage(components),
)


def _column_slice_kernel(xp: ArrayNamespace, *components: Any, layout: Any) -> Stage:
    method, parts = "from_tensor_slices", columns.from_plain(layout)
    length = columns.count_rows(parts, components, method)
    return ColumnRowsStage(TensorStage(components), method, parts, length)


column_slice_op = dataset_op("ColumnSliceDataset", each("*components", DATA), _column_slice_kernel)


class ListStage(Stage):
    """Elements that are there one by one: of `experimental.from_list`."""

    __slots__ = ("elements",)

    def __init__(self, elements: Sequence[Values]) -> None:
        self.elements = elements

    def cursor(self, run: Run) -> Cursor:
        return ListCursor(self.elements)

    def cardinality(self) -> int:
        return len(self.elements)


class ListCursor(Cursor):
    """A walk along a list of elements."""

    own = ("_at",)

    def __init__(self, elements: Sequence[Values]) -> None:
        self._elements = elements
        self._at = 0

    def __next__(self) -> Values:
        at = self._at
        if at >= len(self._elements):
            raise StopIteration
        self._at = at + 1
        return self._elements[at]


def _list_kernel(xp: ArrayNamespace, *components: Any, width: int) -> ListStage:
    elements = [tuple(components[i : i + width]) for i in range(0, len(components), width)]
    return ListStage(elements)


list_op = dataset_op("ListDataset", each("*components", _ANYTHING), _list_kernel)


def from_list(elements: Any, name: str | None = None) -> Dataset:
    """A dataset of the elements of a list, which must have one structure and type.

    Args:
      elements: a list, not empty, of nests of tensors or what can become one.
      name: the name of the node in a graph.

    Returns:
      A dataset of these elements; sizes that differ between them are unknown in its `element_spec`.

    Raises:
      ValueError: if it is no list or empty, or if an element has another structure or dtype.

    >>> list(tf.data.experimental.from_list([(1, "a"), (2, "b")]).as_numpy_iterator())
    [(np.int32(1), b'a'), (np.int32(2), b'b')]
    """
    if not isinstance(elements, list) or not elements:
        raise ValueError(f"from_list: elements must be a list that is not empty, got {elements!r}.")
    normal = [structure.normalize(element) for element in elements]
    spec = structure.spec_of_element(normal[0])
    for i, element in enumerate(normal):
        try:
            spec = structure.widened(spec, structure.spec_of_element(element))
        except (TypeError, ValueError) as e:
            raise ValueError(f"from_list: element {i} is unlike those before it: {e}") from None
    flat = [t for element in normal for t in structure.flatten_element(element)]
    return make_dataset(list_op(*flat, width=len(flat) // len(normal), name=name), spec)


class SourceMethods(DatasetBase):
    """Datasets made of values."""

    @staticmethod
    def range(*args: Any, **kwargs: Any) -> Dataset:
        """Numbers from `start` (0) up to `stop` in steps: `range(stop)`, `range(start, stop)`.

        Args:
          *args: one to three integers: `stop`; `start, stop`; or `start, stop, step`.
          **kwargs: `output_type`, the dtype of the numbers (int64), and `name`.

        Returns:
          A dataset of scalars.

        Raises:
          ValueError: if there are not one to three numbers.
          TypeError: if they are not integers, or `output_type` is not numeric.
          tf.errors.InvalidArgumentError: if the step is 0.

        >>> list(tf.data.Dataset.range(1, 10, 3).as_numpy_iterator())
        [np.int64(1), np.int64(4), np.int64(7)]
        """
        output_type = dtypes.as_dtype(kwargs.pop("output_type", int64))
        name = kwargs.pop("name", None)
        if kwargs:
            raise TypeError(f"Dataset.range: unexpected arguments {', '.join(kwargs)}.")
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Dataset.range takes 1 to 3 numbers, got {len(args)}.")
        _check_number_type("range", output_type)
        start, stop = (0, args[0]) if len(args) == 1 else args[:2]
        step = args[2] if len(args) == 3 else 1
        inputs = [
            int64_scalar("range", label, value)
            for label, value in (("start", start), ("stop", stop), ("step", step))
        ]
        made = range_op(*inputs, output_type=output_type, name=name)
        return make_dataset(made, TensorSpec([], output_type))

    @staticmethod
    def counter(
        start: IntLike = 0, step: IntLike = 1, dtype: DTypeLike = int64, name: str | None = None
    ) -> Dataset:
        """Numbers from `start` in steps, without end.

        Args:
          start: the first number, an integer.
          step: what is added for each next one, an integer.
          dtype: the dtype of the elements, an integer or floating one.
          name: the name of the node in a graph.

        Returns:
          A dataset of scalars.

        Raises:
          TypeError: if the dtype is not numeric, or start or step are no integers.

        >>> list(tf.data.Dataset.counter(5, -2).take(3).as_numpy_iterator())
        [np.int64(5), np.int64(3), np.int64(1)]
        """
        dtype = dtypes.as_dtype(dtype)
        _check_number_type("counter", dtype)
        inputs = [int64_scalar("counter", "start", start), int64_scalar("counter", "step", step)]
        return make_dataset(
            counter_op(*inputs, output_type=dtype, name=name), TensorSpec([], dtype)
        )

    @staticmethod
    def from_tensors(tensors: TensorNest, name: str | None = None) -> Dataset:
        """A dataset of one element.

        Args:
          tensors: the element: a tensor or a structure of tensors; lists are converted to tensors.

        Returns:
          A dataset of length 1.

        Raises:
          ValueError: if something cannot be converted to a tensor.

        >>> list(tf.data.Dataset.from_tensors(([1, 2], "a")).as_numpy_iterator())
        [(array([1, 2], dtype=int32), b'a')]
        """
        element = _normalized("from_tensors", tensors)
        made = tensor_op(*structure.flatten_element(element), name=name)
        return make_dataset(made, structure.spec_of_element(element))

    @staticmethod
    def from_tensor_slices(tensors: TensorNest, name: str | None = None) -> Dataset:
        """A dataset of the rows of tensors.

        Args:
          tensors: a tensor or a structure of tensors of equal length; lists are converted to
            tensors.

        Returns:
          A dataset with an element for each row.

        Raises:
          ShapeError: if a tensor is a scalar, or the lengths differ.
          ValueError: if there is no tensor, or something cannot be converted to one.

        >>> rows = tf.data.Dataset.from_tensor_slices({"x": [[1, 2], [3, 4]], "y": [5.0, 6.0]})
        >>> for row in rows:
        ...     print(row["x"].numpy(), row["y"].numpy())
        [1 2] 5.0
        [3 4] 6.0
        """
        element = _normalized("from_tensor_slices", tensors)
        spec = structure.spec_of_element(element)
        leaves = [leaf for leaf in nest.flatten(element) if leaf is not None]
        if not leaves:
            raise ValueError("Dataset.from_tensor_slices: there are no tensors to slice.")
        if encoded_parts.need_encoding(spec):
            return encoded_parts.slices(DatasetBase.dataset_class.from_tensor_slices, element, spec)
        columns.map_leaves(lambda s: s, spec, "from_tensor_slices")  # refuses what has no rows
        _check_slices([part for leaf in leaves for part in columns.parts_of(leaf)])
        flat, layout = structure.flatten_element(element), columns.columns_of(spec)
        rows = columns.map_leaves(
            lambda s: columns.row_of(s, "from_tensor_slices"), spec, "from_tensor_slices"
        )
        if columns.all_tensors(layout):
            return make_dataset(slice_op(*flat, name=name), rows)
        return make_dataset(column_slice_op(*flat, layout=columns.plain(layout), name=name), rows)


def _normalized(method: str, tensors: TensorNest) -> Any:
    try:
        return structure.normalize(tensors)
    except RecursionError:
        raise ValueError(f"Dataset.{method}: the structure contains itself.") from None
    except (TypeError, ValueError) as e:
        raise type(e)(f"Dataset.{method}: {e}") from None


def _check_number_type(method: str, dtype: Any) -> None:
    if dtype not in REAL:
        raise TypeError(
            f"Dataset.{method}: numbers of dtype {dtype.name} cannot be made; use a numeric dtype."
        )


def _check_slices(flat: Sequence[Any]) -> None:
    for tensor in flat:
        if tensor.dtype not in DATA:
            raise TypeError(
                f"Dataset.from_tensor_slices: a tensor of dtype {tensor.dtype.name} has no rows."
            )
        if tensor.shape.rank == 0:
            raise ShapeError(
                "Dataset.from_tensor_slices: each component needs a first axis to slice along, got "
                f"the scalar {tensor!r}. For a dataset of one element use from_tensors."
            )
    known = {t.shape[0] for t in flat if t.shape.rank} - {None}
    if len(known) > 1:
        raise _lengths_differ([t.shape for t in flat])
