"""`tf.experimental.RowPartition`: how values are dealt out to rows, without the values."""

from __future__ import annotations

from typing import Any, Self

from weft._src.core.aliases import DTypeLike, TensorLike
from weft._src.core.dtypes import DType, int64
from weft._src.core.tensor import Tensor
from weft._src.ops import static
from weft._src.ops.arrays import joining, ranges
from weft._src.ops.elementwise import casting
from weft._src.ops.ragged import rows
from weft._src.ops.ragged.tensor import RaggedTensor


class RowPartition:
    """Which values belong to which row.

    >>> partition = tf.experimental.RowPartition.from_row_lengths([2, 0, 3])
    >>> partition.row_splits().numpy(), partition.value_rowids().numpy()
    (array([0, 2, 2, 5]), array([0, 0, 2, 2, 2]))
    """

    def __init__(self, row_splits: Tensor, uniform_row_length: Tensor | None = None) -> None:
        self._row_splits = row_splits
        self._uniform_row_length = uniform_row_length

    @classmethod
    def _of_rows(cls, ragged: Any) -> Self:
        return cls(ragged.row_splits)

    @classmethod
    def from_row_splits(
        cls,
        row_splits: TensorLike,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ) -> Self:
        """Row i has the values from `row_splits[i]` to `row_splits[i + 1]`.

        Args:
          row_splits: a vector of int32 or int64 that begins with 0 and does not fall.
          validate: whether that is checked.
          dtype: the dtype of the partition; None is that of the argument.
          dtype_hint: the dtype of Python numbers.

        Returns:
          A `RowPartition`.

        Raises:
          tf.errors.InvalidArgumentError: if the splits do not begin with 0, or fall.

        >>> tf.experimental.RowPartition.from_row_splits([0, 2, 5]).row_lengths().numpy()
        array([2, 3])
        """
        splits = _vector(row_splits, "row_splits", dtype, dtype_hint)
        values = ranges.range(splits[-1], dtype=splits.dtype)
        return cls._of_rows(RaggedTensor.from_row_splits(values, splits, validate=validate))

    @classmethod
    def from_row_lengths(
        cls,
        row_lengths: TensorLike,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ) -> Self:
        """Row i has `row_lengths[i]` values.

        Args:
          row_lengths: a vector of int32 or int64.
          validate: whether the lengths are checked.
          dtype: the dtype of the partition; None is that of the argument.
          dtype_hint: the dtype of Python numbers.

        Returns:
          A `RowPartition`.

        Raises:
          tf.errors.InvalidArgumentError: if a length is negative.

        >>> tf.experimental.RowPartition.from_row_lengths([2, 3]).row_limits().numpy()
        array([2, 5])
        """
        lengths = _vector(row_lengths, "row_lengths", dtype, dtype_hint)
        return cls.from_row_splits(rows.from_lengths(lengths), validate)

    @classmethod
    def from_row_starts(
        cls,
        row_starts: TensorLike,
        nvals: TensorLike,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ) -> Self:
        """Row i begins with value `row_starts[i]`.

        Args:
          row_starts: a vector of int32 or int64 that begins with 0 and does not fall.
          nvals: how many values there are.
          validate: whether the starts are checked.
          dtype: the dtype of the partition; None is that of the argument.
          dtype_hint: the dtype of Python numbers.

        Returns:
          A `RowPartition`.

        Raises:
          tf.errors.InvalidArgumentError: if the starts do not begin with 0, or fall.

        >>> tf.experimental.RowPartition.from_row_starts([0, 2], nvals=5).row_lengths().numpy()
        array([2, 3])
        """
        starts = _vector(row_starts, "row_starts", dtype, dtype_hint)
        values = ranges.range(casting.cast(nvals, starts.dtype), dtype=starts.dtype)
        return cls._of_rows(RaggedTensor.from_row_starts(values, starts, validate=validate))

    @classmethod
    def from_row_limits(
        cls,
        row_limits: TensorLike,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ) -> Self:
        """Row i ends before value `row_limits[i]`.

        Args:
          row_limits: a vector of int32 or int64 that does not fall.
          validate: whether the limits are checked.
          dtype: the dtype of the partition; None is that of the argument.
          dtype_hint: the dtype of Python numbers.

        Returns:
          A `RowPartition`.

        Raises:
          tf.errors.InvalidArgumentError: if the limits fall.

        >>> tf.experimental.RowPartition.from_row_limits([2, 5]).row_lengths().numpy()
        array([2, 3])
        """
        limits = _vector(row_limits, "row_limits", dtype, dtype_hint)
        first = ranges.range(1, dtype=limits.dtype)
        return cls.from_row_splits(joining.concat([first, limits], 0), validate)

    @classmethod
    def from_value_rowids(
        cls,
        value_rowids: TensorLike,
        nrows: TensorLike | None = None,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ) -> Self:
        """Value i belongs to row `value_rowids[i]`.

        Args:
          value_rowids: a sorted vector of int32 or int64.
          nrows: how many rows there are; None: as many as are named.
          validate: whether the numbers are checked.
          dtype: the dtype of the partition; None is that of the argument.
          dtype_hint: the dtype of Python numbers.

        Returns:
          A `RowPartition`.

        Raises:
          tf.errors.InvalidArgumentError: if the numbers are not sorted, or name no row.

        >>> partition = tf.experimental.RowPartition.from_value_rowids([0, 0, 2], nrows=4)
        >>> partition.row_lengths().numpy()
        array([2, 0, 1, 0])
        """
        ids = _vector(value_rowids, "value_rowids", dtype, dtype_hint)
        values = ranges.range(rows.count(ids, ids.dtype), dtype=ids.dtype)
        made = RaggedTensor.from_value_rowids(values, ids, nrows=nrows, validate=validate)
        return cls._of_rows(made)

    @classmethod
    def from_uniform_row_length(
        cls,
        uniform_row_length: TensorLike,
        nvals: TensorLike | None = None,
        nrows: TensorLike | None = None,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ) -> Self:
        """Every row has the same number of values.

        Args:
          uniform_row_length: that number.
          nvals: how many values there are; None: as many as the rows have.
          nrows: how many rows there are; None: as many as the values fill.
          validate: whether the numbers fit each other is checked.
          dtype: the dtype of the partition; None is int64.
          dtype_hint: the dtype of Python numbers.

        Returns:
          A `RowPartition`.

        Raises:
          ValueError: if neither `nvals` nor `nrows` is given.
          tf.errors.InvalidArgumentError: if the numbers do not fit each other.

        >>> tf.experimental.RowPartition.from_uniform_row_length(3, nvals=6).row_splits().numpy()
        array([0, 3, 6])
        """
        if nvals is None and nrows is None:
            raise ValueError("RowPartition.from_uniform_row_length: nvals or nrows must be given.")
        kind = rows.splits_dtype(dtype or dtype_hint or int64)
        length = casting.cast(uniform_row_length, kind)
        if nvals is None:
            nvals = casting.cast(nrows, kind) * length  # type: ignore[arg-type]
        values = ranges.range(casting.cast(nvals, kind), dtype=kind)
        made = RaggedTensor.from_uniform_row_length(values, length, nrows=nrows, validate=validate)
        return cls(made.row_splits, length)

    # --- what there is to know ------------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        """The dtype of the numbers."""
        return self._row_splits.dtype

    @property
    def static_nrows(self) -> int | None:
        """The number of rows, as far as it is known while tracing."""
        splits = self._row_splits.shape
        return None if splits.rank is None or splits[0] is None else splits[0] - 1

    @property
    def static_nvals(self) -> int | None:
        """The number of values, as far as it is known while tracing."""
        found = static.static_value(self._row_splits[-1])
        return None if found is None else int(found)

    @property
    def static_uniform_row_length(self) -> int | None:
        """The length of every row, as far as it is known while tracing."""
        if self._uniform_row_length is None:
            return None
        found = static.static_value(self._uniform_row_length)
        return None if found is None else int(found)

    def is_uniform(self) -> bool:
        """Whether all rows are known to be equally long.

        Returns:
          A bool.

        >>> tf.experimental.RowPartition.from_row_lengths([2, 2]).is_uniform()
        False
        """
        return self._uniform_row_length is not None

    def uniform_row_length(self) -> Tensor | None:
        """The length of every row.

        Returns:
          A scalar; None if rows may differ.

        >>> partition = tf.experimental.RowPartition.from_uniform_row_length(3, nrows=2)
        >>> partition.uniform_row_length().numpy()
        np.int64(3)
        """
        return self._uniform_row_length

    def row_splits(self) -> Tensor:
        """Where rows begin and end.

        Returns:
          A vector with one number more than there are rows.

        >>> tf.experimental.RowPartition.from_row_lengths([2, 3]).row_splits().numpy()
        array([0, 2, 5])
        """
        return self._row_splits

    def row_lengths(self) -> Tensor:
        """How many values each row has.

        Returns:
          A vector.

        >>> tf.experimental.RowPartition.from_row_splits([0, 2, 5]).row_lengths().numpy()
        array([2, 3])
        """
        return rows.lengths(self._row_splits)

    def row_starts(self) -> Tensor:
        """With which value each row begins.

        Returns:
          A vector.

        >>> tf.experimental.RowPartition.from_row_lengths([2, 3]).row_starts().numpy()
        array([0, 2])
        """
        return self._row_splits[:-1]

    def row_limits(self) -> Tensor:
        """Before which value each row ends.

        Returns:
          A vector.

        >>> tf.experimental.RowPartition.from_row_lengths([2, 3]).row_limits().numpy()
        array([2, 5])
        """
        return self._row_splits[1:]

    def value_rowids(self) -> Tensor:
        """To which row each value belongs.

        Returns:
          A vector.

        >>> tf.experimental.RowPartition.from_row_lengths([2, 3]).value_rowids().numpy()
        array([0, 0, 1, 1, 1])
        """
        return rows.rowids(self._row_splits)

    def offsets_in_rows(self) -> Tensor:
        """The place that each value has within its row.

        Returns:
          A vector.

        >>> tf.experimental.RowPartition.from_row_lengths([2, 3]).offsets_in_rows().numpy()
        array([0, 1, 0, 1, 2])
        """
        return rows.columns(self._row_splits, self.value_rowids())

    def nrows(self) -> Tensor:
        """The number of rows.

        Returns:
          A scalar.

        >>> tf.experimental.RowPartition.from_row_lengths([2, 3]).nrows().numpy()
        np.int64(2)
        """
        return rows.count(self._row_splits, self.dtype) - 1

    def nvals(self) -> Tensor:
        """The number of values.

        Returns:
          A scalar.

        >>> tf.experimental.RowPartition.from_row_lengths([2, 3]).nvals().numpy()
        np.int64(5)
        """
        return self._row_splits[-1]

    def with_dtype(self, dtype: DTypeLike) -> RowPartition:
        """The same partition with numbers of another dtype.

        Args:
          dtype: int32 or int64.

        Returns:
          A `RowPartition`.

        Raises:
          DTypeError: if it is neither.

        >>> tf.experimental.RowPartition.from_row_lengths([2, 3]).with_dtype(tf.int32).dtype
        tf.int32
        """
        kind = rows.splits_dtype(dtype)
        length = self._uniform_row_length
        return RowPartition(
            casting.cast(self._row_splits, kind),
            None if length is None else casting.cast(length, kind),
        )

    def __repr__(self) -> str:
        return f"tf.RowPartition(row_splits={self._row_splits})"


def _vector(
    value: TensorLike, what: str, dtype: DTypeLike | None, hint: DTypeLike | None
) -> Tensor:
    found = rows.integers(value, what, rows.splits_dtype(dtype or hint or int64))
    return found if dtype is None else casting.cast(found, rows.splits_dtype(dtype))
