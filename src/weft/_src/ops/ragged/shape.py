"""`tf.shape` of ragged tensors: what is known of the size of each axis, also of ragged ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from weft._src.core.aliases import AxisLike, DTypeLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INDEX, DType, as_dtype, int32, int64
from weft._src.core.specs import TensorSpec, TypeSpec, spec_of
from weft._src.core.tensor import Tensor
from weft._src.ops import rules, static
from weft._src.ops.arrays import fill, joining, selection, shape as shapes
from weft._src.ops.elementwise import arithmetic, casting, comparison
from weft._src.ops.ragged import rows
from weft._src.ops.ragged.partition import RowPartition
from weft._src.ops.ragged.rearranging import known_rank
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.reduce import logic
from weft._src.ops.registry import Op


class DynamicRaggedShape:
    """The shape of a ragged tensor: a size for uniform axes, row lengths for ragged ones.

    `tf.ones`, `tf.zeros`, `tf.fill`, `tf.reshape` and `tf.broadcast_to` take it, too.

    Args:
      row_partitions: a `tf.experimental.RowPartition` for each axis behind the first that is in the
        partitions of the ragged tensor.
      inner_shape: the shape of the flat values, a vector.
      dtype: the dtype of the sizes; None means that of the partitions, else of `inner_shape`.
      validate: accepted for compatibility.
      static_inner_shape: accepted for compatibility.

    >>> shape = tf.shape(tf.ragged.constant([[1, 2], [], [3]]))
    >>> shape
    <DynamicRaggedShape lengths=[3, (2, 0, 1)] num_row_partitions=1>
    >>> shape[0].numpy()
    np.int32(3)
    >>> tf.ones(tf.experimental.DynamicRaggedShape.from_lengths([2, (1, 2)]))
    <tf.RaggedTensor [[1.0], [1.0, 1.0]]>
    """

    def __init__(
        self,
        row_partitions: Sequence[RowPartition],
        inner_shape: TensorLike,
        dtype: DTypeLike | None = None,
        validate: bool = False,
        static_inner_shape: Any = None,
    ) -> None:
        parts = list(row_partitions)
        if not all(isinstance(part, RowPartition) for part in parts):
            raise TypeError(
                "DynamicRaggedShape: row_partitions must be a list of "
                f"tf.experimental.RowPartition, got {row_partitions!r}."
            )
        inner = convert_to_tensor(inner_shape, dtype_hint=int64)
        kind = as_dtype(dtype) if dtype is not None else parts[0].dtype if parts else inner.dtype
        if kind not in INDEX or inner.shape.rank != 1 or inner.shape[0] is None:
            raise ValueError(
                "DynamicRaggedShape: inner_shape must be a vector of known length, and sizes int32 "
                f"or int64, got {inner_shape!r} and {kind.name}."
            )
        self._inner = casting.cast(inner, kind)
        self._splits = tuple([casting.cast(part.row_splits(), kind) for part in parts])
        self._rank = inner.shape[0] + len(parts)

    @classmethod
    def _of(cls, inner_shape: Tensor, row_splits: Sequence[Tensor], rank: int) -> Self:
        made = object.__new__(cls)
        made._inner, made._splits, made._rank = inner_shape, tuple(row_splits), rank
        return made

    @classmethod
    def from_tensor(cls, t: Any, dtype: DTypeLike | None = None) -> DynamicRaggedShape:
        """The shape of a tensor or ragged tensor.

        Args:
          t: a tensor or ragged tensor of known rank.
          dtype: the dtype of the sizes; None means that of the row splits, int64 without any.

        Returns:
          A `tf.experimental.DynamicRaggedShape`.

        >>> tf.experimental.DynamicRaggedShape.from_tensor(tf.ones([2, 3]))
        <DynamicRaggedShape lengths=[2, 3] num_row_partitions=0>
        """
        x: Any = convert_to_tensor(t)
        splits = list(getattr(x, "nested_row_splits", ()))
        kind = as_dtype(dtype) if dtype is not None else splits[0].dtype if splits else int64
        inner = shapes.shape_op(x.flat_values if splits else x, out_type=kind)
        return cls._of(inner, [casting.cast(part, kind) for part in splits], known_rank("shape", x))

    @classmethod
    def from_lengths(
        cls,
        lengths: Sequence[int | Sequence[int]],
        num_row_partitions: int | None = None,
        dtype: DTypeLike = int64,
    ) -> DynamicRaggedShape:
        """The shape with these sizes: a number for a uniform axis, row lengths for a ragged one.

        Args:
          lengths: a list of numbers and of lists of row lengths; the first is a number.
          num_row_partitions: how many axes behind the first are in row partitions; None means as
            many as reach to the last ragged axis.
          dtype: the dtype of the sizes, int32 or int64.

        Returns:
          A `tf.experimental.DynamicRaggedShape`.

        Raises:
          ValueError: if an axis has not as many row lengths as there are rows, or there are no
            lengths.

        >>> tf.experimental.DynamicRaggedShape.from_lengths([2, (1, 2), 3])
        <DynamicRaggedShape lengths=[2, (1, 2), 3] num_row_partitions=1>
        """
        sizes: list[Any] = list(lengths)
        kind = as_dtype(dtype)
        ragged = [i for i, size in enumerate(sizes) if isinstance(size, (list, tuple))]
        count = (ragged[-1] if ragged else 0) if num_row_partitions is None else num_row_partitions
        last = ragged[-1] if ragged else 0
        if not sizes or 0 in ragged or not last <= count < len(sizes):
            raise ValueError(
                "DynamicRaggedShape: lengths must begin with a number, and num_row_partitions "
                f"reach to the last ragged axis, got {lengths!r} and {num_row_partitions}."
            )
        splits, rows_before = [], sizes[0]
        for axis in range(1, count + 1):
            own = sizes[axis]
            own = list(own) if isinstance(own, (list, tuple)) else [own] * rows_before
            if len(own) != rows_before:
                raise ValueError(
                    f"DynamicRaggedShape: axis {axis} has {rows_before} rows, got {len(own)} "
                    f"lengths in {lengths!r}."
                )
            ends = np.cumsum([0, *own])
            splits.append(convert_to_tensor(ends.astype(kind.numpy_dtype)))
            rows_before = int(ends[-1])
        inner = np.array([rows_before, *sizes[count + 1 :]], kind.numpy_dtype)
        return cls._of(convert_to_tensor(inner), splits, len(sizes))

    @classmethod
    def from_row_partitions(
        cls, row_partitions: Sequence[RowPartition], dtype: DTypeLike | None = None
    ) -> DynamicRaggedShape:
        """The shape of ragged tensors whose flat values are a vector.

        Args:
          row_partitions: a list of `tf.experimental.RowPartition`, at least one.
          dtype: the dtype of the sizes; None means that of the partitions.

        Returns:
          A `tf.experimental.DynamicRaggedShape`.

        Raises:
          ValueError: if there are no partitions.

        >>> rows = tf.experimental.RowPartition.from_row_lengths([1, 2])
        >>> tf.experimental.DynamicRaggedShape.from_row_partitions([rows])
        <DynamicRaggedShape lengths=[2, (1, 2)] num_row_partitions=1>
        """
        if not row_partitions:
            raise ValueError("DynamicRaggedShape: at least one row partition is needed, got none.")
        last = row_partitions[-1].nvals()
        return cls(row_partitions, shapes.reshape(last, [1]), dtype)

    @property
    def _type_spec(self) -> _ShapeSpec:
        return _ShapeSpec(self._rank, len(self._splits), self.dtype)

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        """The rows of each axis that is in a partition."""
        return tuple([RowPartition.from_row_splits(part, validate=False) for part in self._splits])

    @property
    def inner_rank(self) -> int:
        """The number of axes of the flat values."""
        return self._rank - len(self._splits)

    def with_dtype(self, dtype: DTypeLike) -> DynamicRaggedShape:
        """The same shape with sizes of another dtype.

        Args:
          dtype: int32 or int64.

        Returns:
          A `tf.experimental.DynamicRaggedShape`.

        >>> tf.experimental.DynamicRaggedShape.from_lengths([2, 3]).with_dtype(tf.int32).dtype
        tf.int32
        """
        kind = as_dtype(dtype)
        splits = [casting.cast(part, kind) for part in self._splits]
        return type(self)._of(casting.cast(self._inner, kind), splits, self._rank)

    @property
    def rank(self) -> int:
        """The number of axes."""
        return self._rank

    @property
    def dtype(self) -> DType:
        """The dtype of the sizes."""
        return self._inner.dtype

    @property
    def num_row_partitions(self) -> int:
        """The number of ragged axes."""
        return len(self._splits)

    @property
    def inner_shape(self) -> Tensor:
        """The shape of the flat values."""
        return self._inner

    def is_uniform(self, axis: AxisLike) -> bool:
        """Whether an axis has one size.

        Args:
          axis: the number of the axis, counted from the end if negative.

        Returns:
          False if rows along it may have different lengths, else True.

        Raises:
          ShapeError: if there is no such axis.

        >>> tf.shape(tf.ragged.constant([[1, 2], [3]])).is_uniform(1)
        False
        """
        return not 1 <= self._axis(axis) <= len(self._splits)

    def _axis(self, axis: Any) -> int:
        number = static.static_int("DynamicRaggedShape", axis, "axis")
        return rules.normalize_axis("DynamicRaggedShape", number, self._rank)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._part(index)
        axis = self._axis(index)
        if not self.is_uniform(axis):
            raise ValueError(
                f"Axis {axis} is ragged and has no single size. Use x.row_lengths(axis={axis}), "
                f"or x.bounding_shape()[{axis}] for the longest row."
            )
        if axis == 0 and self._splits:
            return rows.count(self._splits[0], self.dtype) - 1
        return self._inner[axis - len(self._splits)]

    def _part(self, axes: slice) -> DynamicRaggedShape:
        """The shape of the first axes, or of uniform ones behind all ragged ones."""
        start, stop, step = axes.indices(self._rank)
        ragged, stop = len(self._splits), max(stop, start)
        if step != 1 or 0 < start <= ragged:
            raise ValueError(
                "DynamicRaggedShape: a slice must begin with the first axis, or behind all ragged "
                f"ones, and have step 1, got {axes}."
            )
        if start or stop > ragged:
            kept = self._inner[max(start - ragged, 0) : max(stop - ragged, 0)]
            return type(self)._of(kept, () if start else self._splits, stop - start)
        splits = self._splits[: max(stop - 1, 0)]
        if not stop:
            return type(self)._of(self._inner[:0], (), 0)
        count = splits[-1][-1] if splits else self[0]
        return type(self)._of(shapes.reshape(count, [1]), splits, stop)

    def __eq__(self, other: object) -> Any:
        """Whether all sizes are equal, as a tensor; False for what is no shape."""
        if not isinstance(other, DynamicRaggedShape):
            return NotImplemented
        if (self._rank, len(self._splits)) != (other._rank, len(other._splits)):
            return convert_to_tensor(False)
        same = [_are_equal(self._inner, other._inner)]
        for mine, theirs in zip(self._splits, other._splits, strict=True):
            same.append(_are_equal(mine, theirs))
        return logic.reduce_all(joining.stack(same))

    __hash__ = None  # type: ignore[assignment]

    # --- what functions of shapes do with it -------------------------------------------------

    def _with_values(self, values: Any) -> Any:
        """A ragged tensor, or a tensor, of this shape with these flat values."""
        for splits in reversed(self._splits):
            values = RaggedTensor.from_row_splits(values, splits, validate=False)
        return values

    def _filled(self, value: Tensor) -> Any:
        """A ragged tensor of this shape with one value everywhere."""
        return self._with_values(fill.fill(self._inner, value))

    def _reshaped(self, x: Any) -> Any:
        """The elements of a tensor or ragged tensor in this shape."""
        flat = x.flat_values if isinstance(x, RaggedTensor) else x
        return self._with_values(shapes.reshape(flat, self._inner))

    def _broadcast(self, x: Any) -> Any:
        """A tensor or ragged tensor repeated to have this shape."""
        if not self._splits:
            return shapes.broadcast_to(x, self._inner)
        everywhere = self._filled(convert_to_tensor(True))
        return selection.where(everywhere, x, x)

    def static_lengths(self, ragged_lengths: bool = True) -> list[Any]:
        """What is known without running anything: sizes, row lengths, None for all else.

        Args:
          ragged_lengths: whether to give row lengths; if not, None stands for ragged axes.

        Returns:
          A list with an entry for each axis: an integer, a tuple of row lengths, or None.

        >>> tf.shape(tf.ragged.constant([[1, 2], [3]])).static_lengths()
        [2, (2, 1)]
        """
        inner: Any = static.static_value(self._inner, partial=True)
        sizes = [None] * self.inner_rank if inner is None else inner.tolist()
        if not self._splits:
            return sizes
        first = self._splits[0].shape
        out: list[Any] = [None if first.rank is None or first[0] is None else first[0] - 1]
        for splits in self._splits:
            known = static.static_value(rows.lengths(splits)) if ragged_lengths else None
            out.append(None if known is None else tuple(known.tolist()))
        return [*out, *sizes[1:]]

    def __repr__(self) -> str:
        lengths = ", ".join([str(n) for n in self.static_lengths()])
        return f"<DynamicRaggedShape lengths=[{lengths}] num_row_partitions={len(self._splits)}>"

    def __tf_tensor__(self, dtype: DType | None = None, name: str | None = None) -> Tensor:
        if not self._splits:
            return self._inner if dtype is None else casting.cast(self._inner, dtype)
        raise shapes.RaggedSizesError(
            "The shape of a RaggedTensor is no tensor: its rows have different lengths. Use "
            "x.bounding_shape(), x.row_lengths(), tf.shape(x)[0], or tf.zeros_like(x) and such.",
            self,
        )


class _ShapeSpec(TypeSpec):
    """The type of shapes, so that functions can return them."""

    __slots__ = ("_dtype", "_partitions", "_rank")

    def __init__(self, rank: int, partitions: int, dtype: DType) -> None:
        self._rank, self._partitions, self._dtype = rank, partitions, dtype

    @property
    def _component_specs(self) -> list[TensorSpec]:
        inner = TensorSpec([self._rank - self._partitions], self._dtype)
        return [inner, *[TensorSpec([None], self._dtype)] * self._partitions]

    def _to_components(self, value: DynamicRaggedShape) -> list[Tensor]:
        return [value._inner, *value._splits]

    def _from_components(self, components: Sequence[Tensor]) -> DynamicRaggedShape:
        return DynamicRaggedShape._of(components[0], components[1:], self._rank)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether the other one is the shape of equally many axes, equally ragged."""
        return self == spec_of(spec_or_value)

    def _key(self) -> tuple[Any, ...]:
        return self._rank, self._partitions, self._dtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ShapeSpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"<the type of DynamicRaggedShapes with {self._partitions} row partitions>"


def shape(
    op: Op, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None
) -> DynamicRaggedShape:
    """The shape with sizes of the dtype that was asked for."""
    (x,), dtype = inputs, attrs["out_type"]
    splits = [casting.cast(part, dtype) for part in x.nested_row_splits]
    inner = shapes.shape_op(x.flat_values, out_type=dtype)
    return DynamicRaggedShape._of(inner, splits, known_rank("shape", x))


def _are_equal(x: Tensor, y: Tensor) -> Tensor:
    """Whether two vectors are equal, which may have different lengths."""
    if x.dtype is not y.dtype:
        x, y = casting.cast(x, int64), casting.cast(y, int64)
    lengths = [shapes.shape_op(part, out_type=int32) for part in (x, y)]
    n = arithmetic.minimum(*lengths)[0]
    same = logic.reduce_all(comparison.equal(x[:n], y[:n]))
    return comparison.logical_and(comparison.equal(*lengths)[0], same)
