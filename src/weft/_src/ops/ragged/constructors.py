"""The class methods that make ragged tensors of their parts, or of other tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

from weft._src.core.aliases import DTypeLike, TensorLike
from weft._src.core.composite import CompositeTensor
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType, int64
from weft._src.core.tensor import Tensor
from weft._src.errors import ArgumentError, ShapeError
from weft._src.ops import static
from weft._src.ops.arrays import fill, joining, ranges, shape as shapes
from weft._src.ops.elementwise import arithmetic, casting, comparison
from weft._src.ops.host.requiring import require
from weft._src.ops.ragged import dense, rows, sparse
from weft._src.ops.reduce import extrema
from weft._src.ops.sparse.tensor import SparseTensor


class RaggedConstructors(CompositeTensor):
    """How ragged tensors are made, and what they consist of."""

    _values: Any
    _row_splits: Tensor
    _row_length: int | Tensor | None

    @classmethod
    def _of(
        cls, values: TensorLike, row_splits: Tensor, row_length: int | Tensor | None = None
    ) -> Self:
        """A ragged tensor of parts that are known to be valid.

        `row_length` is the length of every row, if it is known that they have the same.
        """
        made = object.__new__(cls)
        made._values = values
        made._row_splits = row_splits
        made._row_length = row_length
        return made

    @classmethod
    def from_row_splits(
        cls,
        values: TensorLike,
        row_splits: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> Self:
        """Row i is `values[row_splits[i]:row_splits[i + 1]]`.

        Args:
          values: what the rows are made of: a tensor of rank 1 or more, or a ragged one.
          row_splits: a vector of int32 or int64; the first is 0, the last the number of values.
          validate: whether the splits are checked.

        Returns:
          A `tf.RaggedTensor` with one row less than there are splits.

        Raises:
          tf.errors.InvalidArgumentError: if the splits do not begin with 0, fall, or do not end
            with the number of values.
          ShapeError: if the splits are no vector, or empty, or `values` is a scalar.
          DTypeError: if the splits are no integers.

        >>> tf.RaggedTensor.from_row_splits([3, 1, 4], [0, 1, 1, 3]).to_list()
        [[3], [], [1, 4]]
        """
        values, splits = values_of(values), rows.integers(row_splits, "row_splits")
        _check_vector(splits, "row_splits")
        if splits.shape.rank is not None and splits.shape[0] == 0:
            raise ShapeError("RaggedTensor: row_splits must not be empty; it begins with 0.")
        inner = _splits_of(values)
        if inner is not None and inner.dtype is not splits.dtype:
            splits = casting.cast(splits, inner.dtype)
        if validate:
            rows.check_splits(splits, row_count(values, splits.dtype))
        return cls._of(values, splits)

    @classmethod
    def from_row_lengths(
        cls,
        values: TensorLike,
        row_lengths: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> Self:
        """Row i has `row_lengths[i]` values.

        Args:
          values: what the rows are made of: a tensor of rank 1 or more, or a ragged one.
          row_lengths: a vector of int32 or int64.
          validate: whether the lengths are checked.

        Returns:
          A `tf.RaggedTensor` with a row for each length.

        Raises:
          tf.errors.InvalidArgumentError: if a length is negative, or they do not add up to the
            number of values.
          DTypeError: if the lengths are no integers.

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
    ) -> Self:
        """Row i begins at `values[row_starts[i]]`.

        Args:
          values: what the rows are made of: a tensor of rank 1 or more, or a ragged one.
          row_starts: a vector of int32 or int64; the first is 0.
          validate: whether the starts are checked.

        Returns:
          A `tf.RaggedTensor` with a row for each start.

        Raises:
          tf.errors.InvalidArgumentError: if the starts do not begin with 0, fall, or exceed the
            number of values.
          DTypeError: if the starts are no integers.

        >>> tf.RaggedTensor.from_row_starts([3, 1, 4], [0, 1, 1]).to_list()
        [[3], [], [1, 4]]
        """
        values, starts = values_of(values), rows.integers(row_starts, "row_starts")
        _check_vector(starts, "row_starts")
        end = shapes.expand_dims(row_count(values, starts.dtype), 0)
        return cls.from_row_splits(values, joining.concat([starts, end], 0), name, validate)

    @classmethod
    def from_row_limits(
        cls,
        values: TensorLike,
        row_limits: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> Self:
        """Row i ends before `values[row_limits[i]]`.

        Args:
          values: what the rows are made of: a tensor of rank 1 or more, or a ragged one.
          row_limits: a vector of int32 or int64; the last is the number of values.
          validate: whether the limits are checked.

        Returns:
          A `tf.RaggedTensor` with a row for each limit.

        Raises:
          tf.errors.InvalidArgumentError: if the limits fall, or do not end with the number of
            values.
          DTypeError: if the limits are no integers.

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
    ) -> Self:
        """Value i belongs to row `value_rowids[i]`; there are as many rows as that needs.

        Args:
          values: what the rows are made of: a tensor of rank 1 or more, or a ragged one.
          value_rowids: a sorted vector of int32 or int64, one for each value.
          nrows: the number of rows; None is the last id and one.
          validate: whether the ids are checked.

        Returns:
          A `tf.RaggedTensor` of `nrows` rows.

        Raises:
          tf.errors.InvalidArgumentError: if the ids are not sorted, name rows there are not, or are
            not one per value.
          DTypeError: if the ids are no integers.

        >>> tf.RaggedTensor.from_value_rowids([3, 1, 4], [0, 2, 2], nrows=4).to_list()
        [[3], [], [1, 4], []]
        """
        values, ids = values_of(values), rows.integers(value_rowids, "value_rowids")
        _check_vector(ids, "value_rowids")
        if nrows is None:
            count: Any = extrema.reduce_max(joining.concat([[-1], ids], 0)) + 1
        else:
            count = casting.cast(rows.integers(nrows, "nrows"), ids.dtype)
        if validate:
            rows.check_rowids(ids, count, row_count(values, ids.dtype))
        return cls.from_row_splits(values, rows.from_rowids(ids, count), name, False)

    @classmethod
    def from_uniform_row_length(
        cls,
        values: TensorLike,
        uniform_row_length: TensorLike,
        nrows: Any = None,
        validate: bool = True,
        name: str | None = None,
    ) -> Self:
        """All rows have the same length.

        Args:
          values: what the rows are made of: a tensor of rank 1 or more, or a ragged one.
          uniform_row_length: the length of each row, an integer.
          nrows: the number of rows; None is as many as the values fill, or 0 if the length is 0.
          validate: whether the values fill all rows.

        Returns:
          A `tf.RaggedTensor`.

        Raises:
          ValueError: if the length is negative or no scalar.
          ArgumentError: if the values do not fill the rows (InvalidArgumentError, where it is
            found when a function runs).

        >>> tf.RaggedTensor.from_uniform_row_length([3, 1, 4, 1], 2).to_list()
        [[3, 1], [4, 1]]
        """
        values = values_of(values)
        length = rows.integers(uniform_row_length, "uniform_row_length")
        if length.shape.rank not in (None, 0):
            raise ShapeError(
                f"RaggedTensor: uniform_row_length must be a scalar, got shape {length.shape}."
            )
        known = static.static_value(length)
        if known is not None and known < 0:
            raise ValueError(f"RaggedTensor: uniform_row_length must not be negative, got {known}.")
        inner = _splits_of(values)
        length = length if inner is None else casting.cast(length, inner.dtype)
        total = row_count(values, length.dtype)
        if nrows is None:
            nrows = total // arithmetic.maximum(length, 1)
            if known is None or known == 0:
                nrows = nrows * casting.cast(length > 0, length.dtype)
        nrows = casting.cast(rows.integers(nrows, "nrows"), length.dtype)
        if validate:
            _check_filled(length, nrows, total)
        splits = ranges.range(nrows + 1, dtype=length.dtype) * length
        return cls._of(values, splits, length if known is None else int(known))

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: TensorLike,
        nested_row_splits: Sequence[Any],
        name: str | None = None,
        validate: bool = True,
    ) -> Self:
        """Several ragged axes at once, the outermost first.

        Args:
          flat_values: what the innermost rows are made of.
          nested_row_splits: a list with the splits of each ragged axis.
          validate: whether the splits are checked.

        Returns:
          A `tf.RaggedTensor` with so many ragged axes; `flat_values` if the list is empty.

        Raises:
          TypeError: if `nested_row_splits` is no list.
          tf.errors.InvalidArgumentError: if splits do not begin with 0, fall, or do not end with
            the number of values.

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
    ) -> Self:
        """Several ragged axes at once, the outermost first.

        Args:
          flat_values: what the innermost rows are made of.
          nested_row_lengths: a list with the lengths of the rows of each ragged axis.
          validate: whether the lengths are checked.

        Returns:
          A `tf.RaggedTensor` with so many ragged axes; `flat_values` if the list is empty.

        Raises:
          TypeError: if `nested_row_lengths` is no list.
          tf.errors.InvalidArgumentError: if lengths do not add up to the number of values.

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
    ) -> Self:
        """Several ragged axes at once, the outermost first.

        Args:
          flat_values: what the innermost rows are made of.
          nested_value_rowids: a list with the row ids of each ragged axis.
          nested_nrows: a list with the number of rows of each ragged axis; None is as many as the
            ids need.
          validate: whether the ids are checked.

        Returns:
          A `tf.RaggedTensor` with so many ragged axes; `flat_values` if the list is empty.

        Raises:
          ValueError: if the lists have different lengths.
          TypeError: if `nested_value_rowids` is no list.
          tf.errors.InvalidArgumentError: if ids are not sorted, name rows there are not, or are not
            one per value.

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
    ) -> Any:
        """The rows of a tensor, without what lies behind their lengths or is padding.

        Args:
          tensor: a tensor of a known rank of at least 2.
          lengths: the length of each row, cut to what there is; nested lists are one list for each
            ragged axis; None is whole rows.
          padding: the value that is left out at the ends of rows; None leaves nothing out.
          ragged_rank: how many axes become ragged.
          row_splits_dtype: int64 or int32, the dtype of the row splits.

        Returns:
          A `tf.RaggedTensor`.

        Raises:
          ValueError: if `ragged_rank` is not below the rank, or both lengths and padding are given.

        >>> tf.RaggedTensor.from_tensor([[3, 0, 0], [1, 4, 0]], padding=0).to_list()
        [[3], [1, 4]]
        """
        return dense.from_tensor(
            tensor, lengths, padding, ragged_rank, rows.splits_dtype(row_splits_dtype)
        )

    @classmethod
    def from_sparse(
        cls, st_input: SparseTensor, name: str | None = None, row_splits_dtype: DTypeLike = int64
    ) -> Any:
        """The rows of a sparse matrix whose elements stand at the beginning of their rows.

        Args:
          st_input: a `tf.SparseTensor` of rank 2.
          row_splits_dtype: int64 or int32, the dtype of the row splits.

        Returns:
          A `tf.RaggedTensor` with one ragged axis.

        Raises:
          tf.errors.InvalidArgumentError: if an element is not in order, or there is a gap before
            it.
          ShapeError: if the rank is not 2.
          TypeError: if `st_input` is not sparse.

        >>> sp = tf.SparseTensor([[0, 0], [2, 0], [2, 1]], [3, 1, 4], [3, 2])
        >>> tf.RaggedTensor.from_sparse(sp).to_list()
        [[3], [], [1, 4]]
        """
        return sparse.from_sparse(st_input, rows.splits_dtype(row_splits_dtype))


def _check_filled(length: Tensor, nrows: Tensor, total: Tensor) -> None:
    """An error unless rows of one length take all values; at once where that is known."""
    known = [static.static_value(part) for part in (length, nrows, total)]
    if any(part is None for part in known):
        text = "RaggedTensor: uniform_row_length times nrows must be the number of values"
        names = ("uniform_row_length", "nrows", "values")
        require(lambda n, m, k: comparison.equal(n * m, k), [length, nrows, total], text, names)
    elif known[0] * known[1] != known[2]:  # type: ignore[operator]
        raise ArgumentError(
            f"RaggedTensor: {known[2]} values do not fill {known[1]} rows of length {known[0]}."
        )


def values_of(value: Any) -> Any:
    """What rows are made of, ragged or not."""
    values = value if isinstance(value, RaggedConstructors) else convert_to_tensor(value)
    if values.shape.rank == 0:
        raise ShapeError("RaggedTensor: values must have at least one axis, got a scalar.")
    return values


def _splits_of(values: TensorLike) -> Tensor | None:
    return values._row_splits if isinstance(values, RaggedConstructors) else None


def row_count(values: Any, dtype: DType) -> Tensor:
    """The number of rows of values that may be ragged."""
    if isinstance(values, RaggedConstructors):
        return casting.cast(rows.count(values._row_splits, int64) - 1, dtype)
    return rows.count(values, dtype)


def check_as_many_rows(old: Any, new: Any) -> None:
    """ShapeError, or InvalidArgumentError at run time, unless both have equally many rows."""
    text = "RaggedTensor: new values must be as many as the old ones"
    have, found = _static_rows(old), _static_rows(new)
    if have is not None and found is not None:
        if have != found:
            raise ShapeError(f"{text}, {have}, got {found}.")
    elif not _same_symbol(old, new):
        counts = [row_count(old, int64), row_count(new, int64)]
        require(comparison.equal, counts, text, ("old", "new"))


def _static_rows(values: Any) -> int | None:
    return None if values.shape.rank is None else values.shape[0]


def _same_symbol(old: Any, new: Any) -> bool:
    """Whether tracing knows two numbers of rows to be equal, without knowing the number."""
    parts = _splits_of(old), _splits_of(new)
    if (parts[0] is None) != (parts[1] is None):
        return False
    a, b = [(x if splits is None else splits).spec.dims for x, splits in zip((old, new), parts)]
    return bool(a and b and a[0] == b[0])


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
    values = values_of(flat_values)
    for part in reversed(parts):
        values = make(values, part, validate=validate)
    return values
