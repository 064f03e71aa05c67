"""`tf.RaggedTensor`: all values of all rows one after the other, and where each row ends."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.aliases import AxisLike, DTypeLike, ShapeLike, TensorLike
from weft._src.core.composite import CompositeTensor
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType, int64
from weft._src.core.shapes import TensorShape
from weft._src.core.tensor import Array, EagerTensor, Tensor
from weft._src.errors import DTypeError, ShapeError, UnsupportedError
from weft._src.ops import static
from weft._src.ops.arrays import fill, joining, ranges, shape as shapes
from weft._src.ops.elementwise import casting
from weft._src.ops.ragged import dense, indexing, rows, sparse, spec as specs, text
from weft._src.ops.reduce import extrema
from weft._src.ops.sparse.tensor import SparseTensor


class RaggedTensor(CompositeTensor):
    """A tensor whose rows have different lengths.

    Made by the class methods `from_row_splits`, `from_row_lengths`, `from_value_rowids`, ... or by
    `tf.ragged.constant`. The values may be ragged themselves.

    >>> rt = tf.RaggedTensor.from_row_splits([3, 1, 4, 1, 5], [0, 2, 2, 5])
    >>> rt
    <tf.RaggedTensor [[3, 1], [], [4, 1, 5]]>
    >>> (rt + 10)[2].numpy(), tf.reduce_sum(rt, axis=1).numpy()
    (array([14, 11, 15], dtype=int32), array([ 4,  0, 10], dtype=int32))
    """

    _remedy = (
        "Make a tensor of it with x.to_tensor(), or apply a function to its values with "
        "tf.ragged.map_flat_values(function, x)."
    )

    def __init__(self, *_: Any, **__: Any) -> None:
        raise ValueError(
            "A RaggedTensor is made by RaggedTensor.from_row_splits, from_row_lengths, "
            "from_value_rowids, from_tensor, ... or by tf.ragged.constant."
        )

    _values: Any
    _row_splits: Tensor

    @classmethod
    def _of(cls, values: TensorLike, row_splits: Tensor) -> RaggedTensor:
        """A ragged tensor of parts that are known to be valid."""
        made = object.__new__(cls)
        made._values = values
        made._row_splits = row_splits
        return made

    # --- making them ---------------------------------------------------------------------------

    @classmethod
    def from_row_splits(
        cls,
        values: TensorLike,
        row_splits: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Row i is `values[row_splits[i]:row_splits[i + 1]]`.

        >>> tf.RaggedTensor.from_row_splits([3, 1, 4], [0, 1, 1, 3]).to_list()
        [[3], [], [1, 4]]
        """
        values, splits = _values_of(values), rows.integers(row_splits, "row_splits")
        _check_vector(splits, "row_splits")
        if splits.shape.rank is not None and splits.shape[0] == 0:
            raise ShapeError("RaggedTensor: row_splits must not be empty; it begins with 0.")
        inner = _splits_of(values)
        if inner is not None and inner.dtype is not splits.dtype:
            splits = casting.cast(splits, inner.dtype)
        if validate:
            rows.check_splits(splits, _size(values, splits.dtype))
        return cls._of(values, splits)

    @classmethod
    def from_row_lengths(
        cls,
        values: TensorLike,
        row_lengths: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Row i has `row_lengths[i]` values.

        >>> tf.RaggedTensor.from_row_lengths([3, 1, 4], [1, 0, 2]).to_list()
        [[3], [], [1, 4]]
        """
        found = rows.integers(row_lengths, "row_lengths")
        _check_vector(found, "row_lengths")
        return cls.from_row_splits(values, rows.from_lengths(found), name, validate)

    @classmethod
    def from_row_starts(
        cls,
        values: TensorLike,
        row_starts: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Row i begins at `values[row_starts[i]]`.

        >>> tf.RaggedTensor.from_row_starts([3, 1, 4], [0, 1, 1]).to_list()
        [[3], [], [1, 4]]
        """
        values, starts = _values_of(values), rows.integers(row_starts, "row_starts")
        _check_vector(starts, "row_starts")
        end = shapes.expand_dims(_size(values, starts.dtype), 0)
        return cls.from_row_splits(values, joining.concat([starts, end], 0), name, validate)

    @classmethod
    def from_row_limits(
        cls,
        values: TensorLike,
        row_limits: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Row i ends before `values[row_limits[i]]`.

        >>> tf.RaggedTensor.from_row_limits([3, 1, 4], [1, 1, 3]).to_list()
        [[3], [], [1, 4]]
        """
        limits = rows.integers(row_limits, "row_limits")
        _check_vector(limits, "row_limits")
        splits = joining.concat([fill.zeros([1], limits.dtype), limits], 0)
        return cls.from_row_splits(values, splits, name, validate)

    @classmethod
    def from_value_rowids(
        cls,
        values: Any,
        value_rowids: Any,
        nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Value i belongs to row `value_rowids[i]`; there are as many rows as that needs.

        >>> tf.RaggedTensor.from_value_rowids([3, 1, 4], [0, 2, 2], nrows=4).to_list()
        [[3], [], [1, 4], []]
        """
        values, ids = _values_of(values), rows.integers(value_rowids, "value_rowids")
        _check_vector(ids, "value_rowids")
        if nrows is None:
            count: Any = extrema.reduce_max(joining.concat([[-1], ids], 0)) + 1
        else:
            count = casting.cast(rows.integers(nrows, "nrows"), ids.dtype)
        if validate:
            rows.check_rowids(ids, count, _size(values, ids.dtype))
        return cls.from_row_splits(values, rows.from_rowids(ids, count), name, False)

    @classmethod
    def from_uniform_row_length(
        cls,
        values: TensorLike,
        uniform_row_length: TensorLike,
        nrows: Any = None,
        validate: bool = True,
        name: str | None = None,
    ) -> RaggedTensor:
        """All rows have the same length.

        >>> tf.RaggedTensor.from_uniform_row_length([3, 1, 4, 1], 2).to_list()
        [[3, 1], [4, 1]]
        """
        values = _values_of(values)
        length = rows.integers(uniform_row_length, "uniform_row_length")
        if nrows is None:
            if static.get_static_value(length) == 0:
                raise ValueError("RaggedTensor: rows of length 0 need nrows=.")
            nrows = _size(values, length.dtype) // length
        nrows = casting.cast(rows.integers(nrows, "nrows"), length.dtype)
        splits = ranges.range(nrows + 1, dtype=length.dtype) * length
        return cls.from_row_splits(values, splits, name, validate)

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: TensorLike,
        nested_row_splits: Sequence[Any],
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Several ragged axes at once, the outermost first.

        >>> tf.RaggedTensor.from_nested_row_splits([3, 1, 4], [[0, 2, 2], [0, 1, 3]]).to_list()
        [[[3], [1, 4]], []]
        """
        return _nested(cls.from_row_splits, flat_values, nested_row_splits, validate)

    @classmethod
    def from_nested_row_lengths(
        cls,
        flat_values: TensorLike,
        nested_row_lengths: Sequence[Any],
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Several ragged axes at once, the outermost first.

        >>> tf.RaggedTensor.from_nested_row_lengths([3, 1, 4], [[2, 0], [1, 2]]).to_list()
        [[[3], [1, 4]], []]
        """
        return _nested(cls.from_row_lengths, flat_values, nested_row_lengths, validate)

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: TensorLike,
        nested_value_rowids: Sequence[Any],
        nested_nrows: Sequence[Any] | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Several ragged axes at once, the outermost first.

        >>> tf.RaggedTensor.from_nested_value_rowids([3, 1, 4], [[0, 0], [0, 1, 1]]).to_list()
        [[[3], [1, 4]]]
        """
        counts = [None] * len(nested_value_rowids) if nested_nrows is None else list(nested_nrows)
        if len(counts) != len(nested_value_rowids):
            raise ValueError(
                f"RaggedTensor: nested_nrows has {len(counts)} numbers for "
                f"{len(nested_value_rowids)} ragged axes."
            )
        remaining = iter(reversed(counts))
        return _nested(
            lambda values, ids, validate: cls.from_value_rowids(
                values, ids, next(remaining), validate=validate
            ),
            flat_values,
            nested_value_rowids,
            validate,
        )

    @classmethod
    def from_tensor(
        cls,
        tensor: TensorLike,
        lengths: TensorLike | None = None,
        padding: Any = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: DTypeLike = int64,
    ) -> RaggedTensor:
        """The rows of a tensor, without what lies behind their lengths or is padding.

        >>> tf.RaggedTensor.from_tensor([[3, 0, 0], [1, 4, 0]], padding=0).to_list()
        [[3], [1, 4]]
        """
        return dense.from_tensor(
            tensor, lengths, padding, ragged_rank, rows.splits_dtype(row_splits_dtype)
        )

    @classmethod
    def from_sparse(
        cls, st_input: SparseTensor, name: str | None = None, row_splits_dtype: DTypeLike = int64
    ) -> RaggedTensor:
        """The rows of a sparse matrix whose elements stand at the beginning of their rows.

        >>> sp = tf.SparseTensor([[0, 0], [2, 0], [2, 1]], [3, 1, 4], [3, 2])
        >>> tf.RaggedTensor.from_sparse(sp).to_list()
        [[3], [], [1, 4]]
        """
        return sparse.from_sparse(st_input, rows.splits_dtype(row_splits_dtype))

    # --- what they are made of -----------------------------------------------------------------

    @property
    def values(self) -> Any:
        """The rows one after the other: a tensor, or a ragged tensor with one axis less."""
        return self._values

    @property
    def row_splits(self) -> Tensor:
        """Where rows begin and end in the values."""
        return self._row_splits

    @property
    def flat_values(self) -> Tensor:
        """The innermost values, a tensor."""
        values = self._values
        return values.flat_values if isinstance(values, RaggedTensor) else values

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The row splits of all ragged axes, the outermost first."""
        values = self._values
        inner = values.nested_row_splits if isinstance(values, RaggedTensor) else ()
        return (self._row_splits, *inner)

    @property
    def ragged_rank(self) -> int:
        """The number of ragged axes."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape; ragged sizes are None."""
        splits = self._row_splits.shape
        rows = None if splits.rank is None or splits[0] is None else splits[0] - 1
        inner = self._values.shape
        return TensorShape(None) if inner.rank is None else TensorShape([rows, None, *inner[1:]])

    @property
    def ndim(self) -> int | None:
        """The number of axes."""
        return self.shape.rank

    @property
    def _type_spec(self) -> specs.RaggedTensorSpec:
        return specs.RaggedTensorSpec(
            self.shape, self.dtype, self.ragged_rank, self._row_splits.dtype
        )

    def nrows(self, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """The number of rows."""
        count = rows.count(self._row_splits, self._row_splits.dtype) - 1
        return casting.cast(count, self._row_splits.dtype if out_type is None else out_type)

    def nvals(self, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """The number of rows of the values."""
        return _size(self._values, dtypes.as_dtype(out_type or self._row_splits.dtype))

    def row_starts(self, name: str | None = None) -> Tensor:
        """Where each row begins in the values."""
        return self._row_splits[:-1]

    def row_limits(self, name: str | None = None) -> Tensor:
        """Where each row ends in the values."""
        return self._row_splits[1:]

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """The lengths of the rows; those of an inner axis are ragged themselves."""
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return rows.lengths(self._row_splits)
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.row_lengths(axis - 1))
        shape = shapes.shape_op(self._values, out_type=self._row_splits.dtype)
        each = shapes.broadcast_to(shape[axis - 1], shape[: axis - 1])
        return self.with_values(each)

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The row lengths of all ragged axes, the outermost first."""
        return tuple([rows.lengths(splits) for splits in self.nested_row_splits])

    def value_rowids(self, name: str | None = None) -> Tensor:
        """The number of the row each value belongs to."""
        return rows.rowids(self._row_splits)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The numbers of rows of all ragged axes, the outermost first."""
        return tuple([rows.rowids(splits) for splits in self.nested_row_splits])

    def bounding_shape(
        self,
        axis: AxisLike | None = None,
        name: str | None = None,
        out_type: DTypeLike | None = None,
    ) -> Any:
        """The shape of the smallest tensor that holds all rows."""
        found = dense.bounding_shape(self)
        if out_type is not None:
            found = casting.cast(found, out_type)
        return found if axis is None else found[axis]

    # --- other ragged tensors ------------------------------------------------------------------

    def with_values(self, new_values: TensorLike) -> RaggedTensor:
        """The same rows with other values."""
        return RaggedTensor._of(_values_of(new_values), self._row_splits)

    def with_flat_values(self, new_values: TensorLike) -> RaggedTensor:
        """The same rows, on all axes, with other values."""
        if isinstance(self._values, RaggedTensor):
            return RaggedTensor._of(self._values.with_flat_values(new_values), self._row_splits)
        return self.with_values(new_values)

    @property
    def all_values(self) -> Tensor:
        """The innermost values, a tensor."""
        return self.flat_values

    def with_all_values(self, values: TensorLike) -> RaggedTensor:
        """The same rows, on all axes, with other values."""
        return self.with_flat_values(values)

    def with_row_splits_dtype(self, dtype: DTypeLike) -> RaggedTensor:
        """The same rows, described by integers of another dtype."""
        dtype = dtypes.as_dtype(dtype)
        if dtype not in rows.INTEGERS:
            raise DTypeError(f"RaggedTensor: row splits must be int32 or int64, got {dtype.name}.")
        values = self._values
        if isinstance(values, RaggedTensor):
            values = values.with_row_splits_dtype(dtype)
        return RaggedTensor._of(values, casting.cast(self._row_splits, dtype))

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """Axes from outer to inner joined into one.

        >>> tf.ragged.constant([[[1, 2], [3]], [[4]]]).merge_dims(1, 2).to_list()
        [[1, 2, 3], [4]]
        """
        return dense.merge_dims(self, outer_axis, inner_axis)

    def to_tensor(
        self,
        default_value: TensorLike | None = None,
        name: str | None = None,
        shape: ShapeLike | None = None,
    ) -> Tensor:
        """A tensor with short rows filled up with the default value (zero).

        >>> tf.ragged.constant([[3], [1, 4]]).to_tensor(default_value=-1).numpy()
        array([[ 3, -1],
               [ 1,  4]], dtype=int32)
        """
        return dense.to_tensor(self, default_value, shape)

    def to_sparse(self, name: str | None = None) -> Any:
        """A `tf.SparseTensor` with the values at the places they have in `to_tensor()`.

        >>> tf.ragged.constant([[3], [1, 4]]).to_sparse().indices.numpy()
        array([[0, 0],
               [1, 0],
               [1, 1]])
        """
        return sparse.to_sparse(self)

    def to_list(self) -> list[Any]:
        """Nested Python lists; only where values are known."""
        splits = self._eager(self._row_splits).tolist()
        values = self._values
        flat = (
            values.to_list() if isinstance(values, RaggedTensor) else self._eager(values).tolist()
        )
        return [flat[a:b] for a, b in itertools.pairwise(splits)]

    def numpy(self) -> Array:
        """An array of the rows: one of objects, unless all have the same length."""
        parts = self._rows()
        if parts and all(part.dtype != object and part.shape == parts[0].shape for part in parts):
            return np.stack(parts)
        out = np.empty(len(parts), object)
        for i, part in enumerate(parts):
            out[i] = part
        return out

    def _rows(self) -> list[Array]:
        splits = self._eager(self._row_splits).tolist()
        values = self._values
        flat = values.numpy() if isinstance(values, RaggedTensor) else self._eager(values).copy()
        return [flat[a:b] for a, b in itertools.pairwise(splits)]

    def _eager(self, part: Tensor) -> Array:
        if not isinstance(part, EagerTensor):
            raise UnsupportedError(
                "A RaggedTensor of a graph has no value while the function is traced. Use its "
                "values and row_splits, or to_tensor()."
            )
        return part._value

    def __len__(self) -> int:
        rows = self.shape[0]
        if rows is None:
            raise TypeError("The number of rows is not known while tracing. Use x.nrows().")
        return rows

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __repr__(self) -> str:
        if isinstance(self.flat_values, EagerTensor) and isinstance(self._row_splits, EagerTensor):
            return f"<tf.RaggedTensor {text.shown(self)}>"
        return f"tf.RaggedTensor(values={self._values!s}, row_splits={self._row_splits!s})"

    def __getitem__(self, key: Any) -> Any:
        return indexing.get_item(self, key)


def _values_of(value: Any) -> Any:
    values = value if isinstance(value, RaggedTensor) else convert_to_tensor(value)
    if values.shape.rank == 0:
        raise ShapeError("RaggedTensor: values must have at least one axis, got a scalar.")
    return values


def _splits_of(values: TensorLike) -> Tensor | None:
    return values.row_splits if isinstance(values, RaggedTensor) else None


def _size(values: Any, dtype: DType) -> Tensor:
    """The number of rows of values that may be ragged."""
    if isinstance(values, RaggedTensor):
        return values.nrows(dtype)
    return rows.count(values, dtype)


def _check_vector(x: Tensor, what: str) -> None:
    if x.shape.rank not in (None, 1):
        raise ShapeError(f"RaggedTensor: {what} must be a vector, got shape {x.shape}.")


def _nested(
    make: Callable[..., Any], flat_values: Any, parts: Sequence[Any], validate: bool
) -> Any:
    if not isinstance(parts, (list, tuple)):
        raise TypeError(
            f"RaggedTensor: one entry per ragged axis is needed, in a list; got {parts!r}."
        )
    values = _values_of(flat_values)
    for part in reversed(parts):
        values = make(values, part, validate=validate)
    return values
