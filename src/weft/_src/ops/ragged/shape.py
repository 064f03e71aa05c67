"""`tf.shape` of ragged tensors: what is known of the size of each axis, also of ragged ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from weft._src.core.aliases import AxisLike
from weft._src.core.dtypes import DType
from weft._src.core.specs import TensorSpec, TypeSpec, spec_of
from weft._src.core.tensor import Tensor
from weft._src.ops import rules, static
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.elementwise import casting
from weft._src.ops.ragged import rows
from weft._src.ops.ragged.rearranging import known_rank
from weft._src.ops.registry import Op


class DynamicRaggedShape:
    """The shape of a ragged tensor: a size for uniform axes, row lengths for ragged ones.

    >>> shape = tf.shape(tf.ragged.constant([[1, 2], [], [3]]))
    >>> shape
    <DynamicRaggedShape lengths=[3, (2, 0, 1)] num_row_partitions=1>
    >>> shape[0].numpy()
    np.int32(3)
    """

    def __init__(self, inner_shape: Tensor, row_splits: Sequence[Tensor], rank: int) -> None:
        self._inner, self._splits, self._rank = inner_shape, tuple(row_splits), rank

    @property
    def _type_spec(self) -> _ShapeSpec:
        return _ShapeSpec(self._rank, len(self._splits), self.dtype)

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

    def __getitem__(self, index: Any) -> Tensor:
        if isinstance(index, slice):
            raise TypeError("A DynamicRaggedShape is indexed with one axis; slices have no tensor.")
        axis = self._axis(index)
        if not self.is_uniform(axis):
            raise ValueError(
                f"Axis {axis} is ragged and has no single size. Use x.row_lengths(axis={axis}), "
                f"or x.bounding_shape()[{axis}] for the longest row."
            )
        if axis == 0:
            return rows.count(self._splits[0], self.dtype) - 1
        return self._inner[axis - len(self._splits)]

    def static_lengths(self, ragged_lengths: bool = True) -> list[Any]:
        """What is known without running anything: sizes, row lengths, None for all else.

        Args:
          ragged_lengths: whether to give row lengths; if not, None stands for ragged axes.

        Returns:
          A list with an entry for each axis: an integer, a tuple of row lengths, or None.

        >>> tf.shape(tf.ragged.constant([[1, 2], [3]])).static_lengths()
        [2, (2, 1)]
        """
        first = self._splits[0].shape
        out: list[Any] = [None if first.rank is None or first[0] is None else first[0] - 1]
        for splits in self._splits:
            known = static.static_value(rows.lengths(splits)) if ragged_lengths else None
            out.append(None if known is None else tuple(known.tolist()))
        inner: Any = static.static_value(self._inner[1:], partial=True)
        return [*out, *([] if inner is None else inner)]

    def __repr__(self) -> str:
        lengths = ", ".join([str(n) for n in self.static_lengths()])
        return f"<DynamicRaggedShape lengths=[{lengths}] num_row_partitions={len(self._splits)}>"

    def __tf_tensor__(self, dtype: DType | None = None, name: str | None = None) -> NoReturn:
        raise TypeError(
            "The shape of a RaggedTensor is no tensor: its rows have different lengths. Use "
            "x.bounding_shape(), x.row_lengths(), tf.shape(x)[0], or tf.zeros_like(x) and the like."
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
        return DynamicRaggedShape(components[0], components[1:], self._rank)

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
    return DynamicRaggedShape(inner, splits, known_rank("shape", x))
