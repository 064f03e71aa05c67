"""`tf.RaggedTensorSpec`: the type of ragged tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.core import dtypes
from weft._src.core.aliases import DTypeLike, ShapeLike
from weft._src.core.composite import CompositeSpec
from weft._src.core.dtypes import DType
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TensorSpec, spec_of
from weft._src.ops.elementwise import comparison
from weft._src.ops.host.requiring import require
from weft._src.ops.ragged import rows, tensor as ragged


class RaggedTensorSpec(CompositeSpec):
    """The shape, dtype and number of ragged axes of ragged tensors.

    >>> tf.RaggedTensorSpec([3, None], tf.int32)
    RaggedTensorSpec(TensorShape([3, None]), tf.int32, 1, tf.int64)
    """

    __slots__ = ()

    _describes_components = True  # the number of values is not part of the type

    def __init__(
        self,
        shape: ShapeLike | None = None,
        dtype: DTypeLike = dtypes.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: DTypeLike = dtypes.int64,
    ) -> None:
        rank = TensorShape(shape).rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError(
                    "RaggedTensorSpec: pass ragged_rank=, or a shape with a known number of axes."
                )
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int) or ragged_rank < 0:
            raise TypeError(
                f"RaggedTensorSpec: ragged_rank must be a number of axes, got {ragged_rank!r}."
            )
        if rank is not None and ragged_rank >= rank and ragged_rank:
            raise ValueError(
                f"RaggedTensorSpec: ragged_rank must be below the rank of {TensorShape(shape)}, "
                f"got {ragged_rank}."
            )
        splits = dtypes.as_dtype(row_splits_dtype)
        if splits not in (dtypes.int32, dtypes.int64):
            raise ValueError(
                f"RaggedTensorSpec: row_splits_dtype must be int32 or int64, got {splits.name}."
            )
        super().__init__(shape, dtype, ragged_rank, splits)

    @property
    def value_type(self) -> type:
        """The class of the values this spec describes."""
        return ragged.RaggedTensor

    @property
    def ragged_rank(self) -> int:
        """The number of ragged axes."""
        return self._parts[2]

    @property
    def row_splits_dtype(self) -> DType:
        """The dtype of the row splits."""
        return self._parts[3]

    @property
    def flat_values_spec(self) -> TensorSpec:
        """The spec of the innermost values."""
        shape = self.shape
        if shape.rank is None:
            return TensorSpec(None, self.dtype)
        if not self.ragged_rank:
            return TensorSpec(shape, self.dtype)
        return TensorSpec([None, *shape.as_list()[self.ragged_rank + 1 :]], self.dtype)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value of the other type can be used where this type is expected.

        Args:
          spec_or_value: a spec or a value; tensors fit a spec without ragged axes.

        Returns:
          True if dtypes and numbers of ragged axes are equal, and the shapes can be.

        >>> spec = tf.RaggedTensorSpec([None, None], tf.int32)
        >>> spec.is_compatible_with(tf.ragged.constant([[1]]))
        True
        """
        other = spec_of(spec_or_value)
        if isinstance(other, TensorSpec) and not self.ragged_rank:
            other = RaggedTensorSpec(other.shape, other.dtype, 0, self.row_splits_dtype)
        return super().is_compatible_with(other)

    @property
    def _component_specs(self) -> list[TensorSpec]:
        specs = [self.flat_values_spec]
        rows = None if self.shape.rank is None else self.shape[0]
        for i in range(self.ragged_rank):
            size = rows + 1 if i == 0 and rows is not None else None
            specs.append(TensorSpec([size], self.row_splits_dtype))
        return specs

    def _to_components(self, value: Any) -> list[Any]:
        if not self.ragged_rank:  # a row of a ragged tensor, which is a tensor
            return [value]
        return [value.flat_values, *value.nested_row_splits]

    def _from_components(self, components: Sequence[Any]) -> Any:
        values: Any = components[0]
        lengths = self._row_lengths
        for splits, length in zip(reversed(components[1:]), reversed(lengths), strict=True):
            values = ragged.RaggedTensor._of(values, splits, length)
        return values

    @property
    def _row_lengths(self) -> list[int | None]:
        """The length of all rows of each ragged axis, where they have the same."""
        if self.shape.rank is None:
            return [None] * self.ragged_rank
        return self.shape.as_list()[1 : self.ragged_rank + 1]

    def _fitted(self, value: Any) -> Any:
        """The value with the row lengths that this type promises, after they were checked."""
        if not isinstance(value, ragged.RaggedTensor) or not self.ragged_rank:
            return value
        inner = RaggedTensorSpec(
            None if self.shape.rank is None else self.shape[1:],
            self.dtype,
            self.ragged_rank - 1,
            self.row_splits_dtype,
        )
        wanted, values = self._row_lengths[0], inner._fitted(value.values)
        if wanted is not None and value._row_length != wanted:
            text = f"All rows of the RaggedTensor must have length {wanted}, as {self} says"
            found = rows.lengths(value.row_splits)
            require(lambda n: comparison.equal(n, wanted), [found], text, ("row lengths",))
            return ragged.RaggedTensor._of(values, value.row_splits, wanted)
        return ragged.RaggedTensor._of(values, value.row_splits, value._row_length)
