"""The methods of `tf.Variable` that change or read some of its rows or elements."""

from __future__ import annotations

from typing import Any, Self

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType, int32
from weft._src.core.shapes import TensorShape
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.errors import ShapeError
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.indexing.indexed_slices import IndexedSlices
from weft._src.ops.registry import Op
from weft._src.ops.state import gathering, scattering, slices


class VariableSlice:
    """Where in a variable a tensor such as `v[1:3]` comes from: what can be assigned to."""

    __slots__ = ("_index", "_positions", "_variable")

    def __init__(self, variable: Any, index: tuple[Any, ...], positions: list[Tensor]) -> None:
        self._variable = variable
        self._index = index
        self._positions = positions

    def assign(self, value: Any, name: str | None = None) -> Any:
        """Sets the slice, after stretching the value to its shape; returns the variable."""
        return self._change(slices.assign_slice_op, value, name)

    def assign_add(self, value: Any, name: str | None = None) -> Any:
        """Adds to the slice, in one atomic step; returns the variable."""
        return self._change(slices.assign_add_slice_op, value, name)

    def assign_sub(self, value: Any, name: str | None = None) -> Any:
        """Subtracts from the slice, in one atomic step; returns the variable."""
        return self._change(slices.assign_sub_slice_op, value, name)

    def _change(self, op: Op, value: Any, name: str | None) -> Any:
        v = self._variable
        op(
            v.handle,
            convert_to_tensor(value, dtype=v.dtype),
            *self._positions,
            shape=v.shape.dims_or_none,
            index=self._index,
            name=name,
        )
        return v


class PartialAccess:
    """Base of `tf.Variable`: rows by number, elements by vectors of numbers."""

    _dtype: DType
    _shape: TensorShape
    _handle: EagerTensor

    def _scatter(self, op: Op, sparse_delta: IndexedSlices, name: str | None) -> Self:
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(
                f"scatter: sparse_delta must be a tf.IndexedSlices, got {sparse_delta!r} of type "
                f"{type(sparse_delta).__name__}. Use tf.IndexedSlices(values, indices)."
            )
        op(
            self._handle,
            convert_to_tensor(sparse_delta.indices, dtype_hint=int32),
            convert_to_tensor(sparse_delta.values, dtype=self._dtype),
            shape=self._shape.dims_or_none,
            name=name,
        )
        return self

    def scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Self:
        """Sets rows; the last of repeated indices wins.

        Args:
          sparse_delta: a `tf.IndexedSlices`: the rows that are set, and their numbers; one scalar
            does for all rows.
          use_locking: accepted for compatibility; each change is one atomic step.

        Returns:
          The variable.

        Raises:
          TypeError: if `sparse_delta` is something else.
          ShapeError: if the shapes do not fit.
          tf.errors.InvalidArgumentError: if an index is out of range.

        >>> v = tf.Variable([1, 2, 3])
        >>> v.scatter_update(tf.IndexedSlices([10, 30], [0, 2])).numpy()
        array([10,  2, 30], dtype=int32)
        """
        return self._scatter(scattering.scatter_update_op, sparse_delta, name)

    def scatter_add(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Self:
        """Adds to rows; repeated indices add up.

        Args:
          sparse_delta: a `tf.IndexedSlices`: what is added to rows, and their numbers; one scalar
            does for all rows.
          use_locking: accepted for compatibility; each change is one atomic step.

        Returns:
          The variable.

        Raises:
          TypeError: if `sparse_delta` is something else.
          ShapeError: if the shapes do not fit.
          tf.errors.InvalidArgumentError: if an index is out of range.
        """
        return self._scatter(scattering.scatter_add_op, sparse_delta, name)

    def scatter_sub(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Self:
        """Subtracts from rows; repeated indices add up.

        Args:
          sparse_delta: a `tf.IndexedSlices`: what is subtracted from rows, and their numbers; one
            scalar does for all rows.
          use_locking: accepted for compatibility; each change is one atomic step.

        Returns:
          The variable.

        Raises:
          TypeError: if `sparse_delta` is something else.
          ShapeError: if the shapes do not fit.
          tf.errors.InvalidArgumentError: if an index is out of range.
        """
        return self._scatter(scattering.scatter_sub_op, sparse_delta, name)

    def scatter_mul(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Self:
        """Multiplies rows; repeated indices multiply again.

        Args:
          sparse_delta: a `tf.IndexedSlices`: the factors of rows, and their numbers; one scalar
            does for all rows.
          use_locking: accepted for compatibility; each change is one atomic step.

        Returns:
          The variable.

        Raises:
          TypeError: if `sparse_delta` is something else.
          ShapeError: if the shapes do not fit.
          tf.errors.InvalidArgumentError: if an index is out of range.
        """
        return self._scatter(scattering.scatter_mul_op, sparse_delta, name)

    def scatter_div(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Self:
        """Divides rows; repeated indices divide again; integers round towards zero.

        Args:
          sparse_delta: a `tf.IndexedSlices`: the divisors of rows, and their numbers; one scalar
            does for all rows.
          use_locking: accepted for compatibility; each change is one atomic step.

        Returns:
          The variable.

        Raises:
          TypeError: if `sparse_delta` is something else.
          ShapeError: if the shapes do not fit.
          tf.errors.InvalidArgumentError: if an index is out of range, or integers are divided by 0.
        """
        return self._scatter(scattering.scatter_div_op, sparse_delta, name)

    def scatter_min(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Self:
        """Sets elements of rows to the smaller of what is there and the update.

        Args:
          sparse_delta: a `tf.IndexedSlices`: what rows are compared with, and their numbers; one
            scalar does for all rows.
          use_locking: accepted for compatibility; each change is one atomic step.

        Returns:
          The variable.

        Raises:
          TypeError: if `sparse_delta` is something else.
          ShapeError: if the shapes do not fit.
          tf.errors.InvalidArgumentError: if an index is out of range.
        """
        return self._scatter(scattering.scatter_min_op, sparse_delta, name)

    def scatter_max(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Self:
        """Sets elements of rows to the larger of what is there and the update.

        Args:
          sparse_delta: a `tf.IndexedSlices`: what rows are compared with, and their numbers; one
            scalar does for all rows.
          use_locking: accepted for compatibility; each change is one atomic step.

        Returns:
          The variable.

        Raises:
          TypeError: if `sparse_delta` is something else.
          ShapeError: if the shapes do not fit.
          tf.errors.InvalidArgumentError: if an index is out of range.
        """
        return self._scatter(scattering.scatter_max_op, sparse_delta, name)

    def batch_scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Self:
        """Sets entries of the last axis that indices name, for each position before it.

        Args:
          sparse_delta: a `tf.IndexedSlices` of new values and their places; indices lead with the
            first axes of the variable.
          use_locking: accepted for compatibility.

        Returns:
          The variable.

        Raises:
          TypeError: if `sparse_delta` is something else.
          ShapeError: if the shapes do not fit.
          tf.errors.InvalidArgumentError: if an index is out of range.

        >>> v = tf.Variable([[1, 2, 3], [4, 5, 6]])
        >>> v.batch_scatter_update(tf.IndexedSlices([[20], [60]], [[1], [2]])).numpy()
        array([[ 1, 20,  3],
               [ 4,  5, 60]], dtype=int32)
        """
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(
                "batch_scatter_update: sparse_delta must be a tf.IndexedSlices, got "
                f"{sparse_delta!r} of type {type(sparse_delta).__name__}."
            )
        indices = convert_to_tensor(sparse_delta.indices, dtype_hint=int32)
        rank = indices.shape.rank
        if not rank:
            raise ShapeError(
                "batch_scatter_update: indices must have a known rank of at least 1, got shape "
                f"{indices.shape}."
            )
        vectors = shapes.expand_dims(indices, -1)
        op = scattering.scatter_nd_update_op
        return self._scatter_nd(op, vectors, sparse_delta.values, name, rank - 1)

    def _scatter_nd(
        self, op: Op, indices: Any, updates: Any, name: str | None, batch_dims: int = 0
    ) -> Self:
        op(
            self._handle,
            convert_to_tensor(indices, dtype_hint=int32),
            convert_to_tensor(updates, dtype=self._dtype),
            shape=self._shape.dims_or_none,
            batch_dims=batch_dims,
            name=name,
        )
        return self

    def scatter_nd_update(
        self, indices: TensorLike, updates: TensorLike, name: str | None = None
    ) -> Self:
        """Sets the elements (or slices) that vectors of indices name.

        Args:
          indices: integers; each vector along the last axis names an element, or a slice if it is
            short.
          updates: the new values, of shape `indices.shape[:-1]`, followed by that of a slice.

        Returns:
          The variable.

        Raises:
          ShapeError: if the shapes do not fit.
          tf.errors.InvalidArgumentError: if an index is out of range.

        >>> v = tf.Variable([[1, 2], [3, 4]])
        >>> v.scatter_nd_update([[0, 1], [1, 0]], [20, 30]).numpy()
        array([[ 1, 20],
               [30,  4]], dtype=int32)
        """
        return self._scatter_nd(scattering.scatter_nd_update_op, indices, updates, name)

    def scatter_nd_add(
        self, indices: TensorLike, updates: TensorLike, name: str | None = None
    ) -> Self:
        """Adds to the elements (or slices) that vectors of indices name.

        Args:
          indices: integers; each vector along the last axis names an element, or a slice if it is
            short.
          updates: what is added, of shape `indices.shape[:-1]`, followed by that of a slice.

        Returns:
          The variable.

        Raises:
          ShapeError: if the shapes do not fit.
          tf.errors.InvalidArgumentError: if an index is out of range.
        """
        return self._scatter_nd(scattering.scatter_nd_add_op, indices, updates, name)

    def scatter_nd_sub(
        self, indices: TensorLike, updates: TensorLike, name: str | None = None
    ) -> Self:
        """Subtracts from the elements (or slices) that vectors of indices name.

        Args:
          indices: integers; each vector along the last axis names an element, or a slice if it is
            short.
          updates: what is subtracted, of shape `indices.shape[:-1]`, followed by that of a slice.

        Returns:
          The variable.

        Raises:
          ShapeError: if the shapes do not fit.
          tf.errors.InvalidArgumentError: if an index is out of range.
        """
        return self._scatter_nd(scattering.scatter_nd_sub_op, indices, updates, name)

    def scatter_nd_min(
        self, indices: TensorLike, updates: TensorLike, name: str | None = None
    ) -> Self:
        """Sets named elements to the smaller of what is there and the update.

        Args:
          indices: integers; each vector along the last axis names an element, or a slice if it is
            short.
          updates: what is compared, of shape `indices.shape[:-1]`, followed by that of a slice.

        Returns:
          The variable.

        Raises:
          ShapeError: if the shapes do not fit.
          tf.errors.InvalidArgumentError: if an index is out of range.
        """
        return self._scatter_nd(scattering.scatter_nd_min_op, indices, updates, name)

    def scatter_nd_max(
        self, indices: TensorLike, updates: TensorLike, name: str | None = None
    ) -> Self:
        """Sets named elements to the larger of what is there and the update.

        Args:
          indices: integers; each vector along the last axis names an element, or a slice if it is
            short.
          updates: what is compared, of shape `indices.shape[:-1]`, followed by that of a slice.

        Returns:
          The variable.

        Raises:
          ShapeError: if the shapes do not fit.
          tf.errors.InvalidArgumentError: if an index is out of range.
        """
        return self._scatter_nd(scattering.scatter_nd_max_op, indices, updates, name)

    def sparse_read(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The rows that indices name, without reading the others.

        Args:
          indices: integers, the numbers of rows.

        Returns:
          A tensor of the shape of the indices, followed by that of a row.

        Raises:
          tf.errors.InvalidArgumentError: if an index is out of range.
        """
        return self._pick(gathering.gather_op, indices, name)

    def gather_nd(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The elements (or slices) that vectors of indices name, without reading the others.

        Args:
          indices: integers; each vector along the last axis names an element, or a slice if it is
            short.

        Returns:
          A tensor of shape `indices.shape[:-1]`, followed by that of a slice.

        Raises:
          tf.errors.InvalidArgumentError: if an index is out of range.
        """
        return self._pick(gathering.gather_nd_op, indices, name)

    def _pick(self, op: Op, indices: Any, name: str | None) -> Tensor:
        return op(
            self._handle,
            convert_to_tensor(indices, dtype_hint=int32),
            dtype=self._dtype,
            shape=self._shape.dims_or_none,
            name=name,
        )
