"""`tf.RaggedTensor`: all values of all rows one after the other, and where each row ends."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.aliases import AxisLike, DTypeLike, ShapeLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType
from weft._src.core.shapes import TensorShape
from weft._src.core.tensor import Array, EagerTensor, Tensor
from weft._src.errors import DTypeError, ShapeError, UnsupportedError
from weft._src.ops import rules, static
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.elementwise import casting
from weft._src.ops.ragged import constructors, dense, indexing, rows, sparse, spec as specs, text


class RaggedTensor(constructors.RaggedConstructors):
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
        """The static shape; ragged sizes are None, but for rows that have one known length."""
        splits = self._row_splits.shape
        rows = None if splits.rank is None or splits[0] is None else splits[0] - 1
        inner = self._values.shape
        if inner.rank is None:
            return TensorShape(None)
        length = self._row_length if isinstance(self._row_length, int) else None
        return TensorShape([rows, length, *inner[1:]])

    @property
    def uniform_row_length(self) -> Tensor | None:
        """The length of all rows if it is known that they have the same, else None."""
        length = self._row_length
        return None if length is None else convert_to_tensor(length, dtype=self._row_splits.dtype)

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
        """The number of rows.

        Args:
          out_type: the dtype of the result; None means that of the row splits.

        Returns:
          An integer scalar.

        >>> tf.ragged.constant([[3], [1, 4]]).nrows().numpy()
        np.int64(2)
        """
        count = rows.count(self._row_splits, self._row_splits.dtype) - 1
        return casting.cast(count, self._row_splits.dtype if out_type is None else out_type)

    def nvals(self, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """The number of rows of the values.

        Args:
          out_type: the dtype of the result; None means that of the row splits.

        Returns:
          An integer scalar.

        >>> tf.ragged.constant([[3], [1, 4]]).nvals().numpy()
        np.int64(3)
        """
        return constructors.row_count(
            self._values, dtypes.as_dtype(out_type or self._row_splits.dtype)
        )

    def row_starts(self, name: str | None = None) -> Tensor:
        """Where each row begins in the values.

        Returns:
          A vector with an element for each row, of the dtype of the row splits.

        >>> tf.ragged.constant([[3], [1, 4]]).row_starts().numpy()
        array([0, 1])
        """
        return self._row_splits[:-1]

    def row_limits(self, name: str | None = None) -> Tensor:
        """Where each row ends in the values.

        Returns:
          A vector with an element for each row, of the dtype of the row splits.

        >>> tf.ragged.constant([[3], [1, 4]]).row_limits().numpy()
        array([1, 3])
        """
        return self._row_splits[1:]

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """The lengths of the rows; those of an inner axis are ragged themselves.

        Args:
          axis: the axis whose rows are measured, counted from the end if negative; 0 gives the
            number of rows.

        Returns:
          A vector of the dtype of the row splits; for axes behind 1 a `tf.RaggedTensor`.

        Raises:
          ShapeError: if there is no such axis.
          TypeError: if `axis` is no integer.

        >>> tf.ragged.constant([[3], [1, 4]]).row_lengths().numpy()
        array([1, 2])
        """
        axis = static.static_int("row_lengths", axis, "axis")
        if self.ndim is not None:
            axis = rules.normalize_axis("row_lengths", axis, self.ndim)
        elif axis < 0:
            raise ShapeError(f"row_lengths: axis {axis} counts from the end of an unknown rank.")
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
        """The row lengths of all ragged axes, the outermost first.

        Returns:
          A tuple of as many vectors as there are ragged axes.

        >>> [t.numpy() for t in tf.ragged.constant([[[3], [1, 4]], []]).nested_row_lengths()]
        [array([2, 0]), array([1, 2])]
        """
        return tuple([rows.lengths(splits) for splits in self.nested_row_splits])

    def value_rowids(self, name: str | None = None) -> Tensor:
        """The number of the row each value belongs to.

        Returns:
          A vector as long as the values, of the dtype of the row splits.

        >>> tf.ragged.constant([[3], [1, 4]]).value_rowids().numpy()
        array([0, 1, 1])
        """
        return rows.rowids(self._row_splits)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The numbers of rows of all ragged axes, the outermost first.

        Returns:
          A tuple of as many vectors as there are ragged axes.

        >>> [t.numpy() for t in tf.ragged.constant([[[3], [1, 4]], []]).nested_value_rowids()]
        [array([0, 0]), array([0, 1, 1])]
        """
        return tuple([rows.rowids(splits) for splits in self.nested_row_splits])

    def bounding_shape(
        self,
        axis: AxisLike | None = None,
        name: str | None = None,
        out_type: DTypeLike | None = None,
    ) -> Any:
        """The shape of the smallest tensor that holds all rows.

        Args:
          axis: the number of an axis, a list of them, or a slice of axes; None means all.
          out_type: the dtype of the result; None means that of the row splits.

        Returns:
          A vector with a size for each axis; a scalar for one axis.

        >>> tf.ragged.constant([[3], [1, 4]]).bounding_shape().numpy()
        array([2, 2])
        """
        found = dense.bounding_shape(self)
        if out_type is not None:
            found = casting.cast(found, out_type)
        return found if axis is None else dense.sizes_along(found, axis)

    # --- other ragged tensors ------------------------------------------------------------------

    def with_values(self, new_values: TensorLike) -> RaggedTensor:
        """The same rows with other values.

        Args:
          new_values: a tensor or ragged tensor of any dtype, with as many rows as `values`.

        Returns:
          A `tf.RaggedTensor` with these row splits.

        Raises:
          ShapeError: if `new_values` is a scalar, or has another number of rows.
          InvalidArgumentError: the latter, where it is found when a function runs.

        >>> tf.ragged.constant([[3], [1, 4]]).with_values(["a", "b", "c"]).to_list()
        [[b'a'], [b'b', b'c']]
        """
        values = constructors.values_of(new_values)
        constructors.check_as_many_rows(self._values, values)
        return RaggedTensor._of(values, self._row_splits, self._row_length)

    def with_flat_values(self, new_values: TensorLike) -> RaggedTensor:
        """The same rows, on all axes, with other values.

        Args:
          new_values: a tensor of any dtype, with as many rows as `flat_values`.

        Returns:
          A `tf.RaggedTensor` with all these row splits.

        Raises:
          ShapeError: if `new_values` is a scalar, or has another number of rows.
          InvalidArgumentError: the latter, where it is found when a function runs.

        >>> tf.ragged.constant([[[3], [1, 4]], []]).with_flat_values(["a", "b", "c"]).to_list()
        [[[b'a'], [b'b', b'c']], []]
        """
        if isinstance(self._values, RaggedTensor):
            values = self._values.with_flat_values(new_values)
            return RaggedTensor._of(values, self._row_splits, self._row_length)
        return self.with_values(new_values)

    @property
    def all_values(self) -> Tensor:
        """The innermost values, a tensor."""
        return self.flat_values

    def with_all_values(self, values: TensorLike) -> RaggedTensor:
        """The same rows, on all axes, with other values.

        Args:
          values: a tensor of any dtype, with as many rows as `flat_values`, which is not checked.

        Returns:
          A `tf.RaggedTensor` with all these row splits.

        Raises:
          ShapeError: if `values` is a scalar.
        """
        return self.with_flat_values(values)

    def with_row_splits_dtype(self, dtype: DTypeLike) -> RaggedTensor:
        """The same rows, described by integers of another dtype.

        Args:
          dtype: int32 or int64.

        Returns:
          A `tf.RaggedTensor` with the same values.

        Raises:
          DTypeError: if `dtype` is another one.

        >>> tf.ragged.constant([[3], [1, 4]]).with_row_splits_dtype(tf.int32).row_splits.dtype
        tf.int32
        """
        dtype = dtypes.as_dtype(dtype)
        if dtype not in rows.INTEGERS:
            raise DTypeError(f"RaggedTensor: row splits must be int32 or int64, got {dtype.name}.")
        values = self._values
        if isinstance(values, RaggedTensor):
            values = values.with_row_splits_dtype(dtype)
        length = self._row_length
        length = casting.cast(length, dtype) if isinstance(length, Tensor) else length
        return RaggedTensor._of(values, casting.cast(self._row_splits, dtype), length)

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """Axes from outer to inner joined into one.

        Args:
          outer_axis: the first axis that is joined, counted from the end if negative.
          inner_axis: the last one.

        Returns:
          A `tf.RaggedTensor`, or a tensor if no ragged axis is left.

        Raises:
          ShapeError: if the axes are not in order, or do not exist.

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

        Args:
          default_value: a scalar of the dtype of the values; None means 0, False or "".
          shape: sizes to cut to or fill up to, with None for what it takes; None means none are
            given.

        Returns:
          A tensor of the dtype of the values.

        Raises:
          ShapeError: if `shape` has another number of sizes, or other ones for axes that are not
            ragged.

        >>> tf.ragged.constant([[3], [1, 4]]).to_tensor(default_value=-1).numpy()
        array([[ 3, -1],
               [ 1,  4]], dtype=int32)
        """
        return dense.to_tensor(self, default_value, shape)

    def to_sparse(self, name: str | None = None) -> Any:
        """A `tf.SparseTensor` with the values at the places they have in `to_tensor()`.

        Returns:
          A `tf.SparseTensor` whose dense shape is the bounding shape.

        >>> tf.ragged.constant([[3], [1, 4]]).to_sparse().indices.numpy()
        array([[0, 0],
               [1, 0],
               [1, 1]])
        """
        return sparse.to_sparse(self)

    def to_list(self) -> list[Any]:
        """Nested Python lists; only where values are known.

        Returns:
          A list with a list for each row; strings are bytes.

        Raises:
          UnsupportedError: in a function that is traced.

        >>> tf.ragged.constant([[3], [1, 4]]).to_list()
        [[3], [1, 4]]
        """
        splits = self._eager(self._row_splits).tolist()
        values = self._values
        flat = (
            values.to_list() if isinstance(values, RaggedTensor) else self._eager(values).tolist()
        )
        return [flat[a:b] for a, b in itertools.pairwise(splits)]

    def numpy(self) -> Array:
        """An array of the rows: one of objects, unless all have the same length.

        Returns:
          An array with the dtype of the values if all rows are alike, else a vector of arrays.

        Raises:
          UnsupportedError: in a function that is traced.

        >>> tf.ragged.constant([[3, 1], [4, 1]]).numpy()
        array([[3, 1],
               [4, 1]], dtype=int32)
        """
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
        return dtypes.plain(part._value)

    def __len__(self) -> int:
        rows = self.shape[0]
        if rows is None:
            raise TypeError("The number of rows is not known while tracing. Use x.nrows().")
        return rows

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """An array of one element, this tensor, as NumPy makes of any object."""
        if dtype is not None and np.dtype(dtype) != object:
            raise self.refusal(f"An array of dtype {np.dtype(dtype)}")
        made = np.empty((), object)
        made[()] = self
        return made

    def __repr__(self) -> str:
        if isinstance(self.flat_values, EagerTensor) and isinstance(self._row_splits, EagerTensor):
            return f"<tf.RaggedTensor {text.shown(self)}>"
        return f"tf.RaggedTensor(values={self._values!s}, row_splits={self._row_splits!s})"

    def __getitem__(self, key: Any) -> Any:
        return indexing.get_item(self, key)
