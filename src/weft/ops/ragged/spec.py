"""`tf.RaggedTensorSpec`: the type of ragged tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.shapes import TensorShape
from weft.core.specs import TensorSpec, TypeSpec, spec_of
from weft.ops.ragged import tensor as ragged


class RaggedTensorSpec(TypeSpec):
    """The shape, dtype and number of ragged axes of ragged tensors.

    >>> tf.RaggedTensorSpec([3, None], tf.int32)
    RaggedTensorSpec(TensorShape([3, None]), tf.int32, 1, tf.int64)
    """

    __slots__ = ("_dtype", "_ragged_rank", "_row_splits_dtype", "_shape")

    _describes_components = True  # the number of values is not part of the type

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = dtypes.int64,
    ) -> None:
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        rank = self._shape.rank
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
                f"RaggedTensorSpec: ragged_rank must be below the rank of {self._shape}, got "
                f"{ragged_rank}."
            )
        if self._row_splits_dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(
                "RaggedTensorSpec: row_splits_dtype must be int32 or int64, got "
                f"{self._row_splits_dtype.name}."
            )
        self._ragged_rank = ragged_rank

    @property
    def value_type(self) -> type:
        """The class of the values this spec describes."""
        return ragged.RaggedTensor

    @property
    def shape(self) -> TensorShape:
        """The static shape; ragged sizes are None."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._dtype

    @property
    def ragged_rank(self) -> int:
        """The number of ragged axes."""
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> DType:
        """The dtype of the row splits."""
        return self._row_splits_dtype

    @property
    def flat_values_spec(self) -> TensorSpec:
        """The spec of the innermost values."""
        if self._shape.rank is None:
            return TensorSpec(None, self._dtype)
        if not self._ragged_rank:
            return TensorSpec(self._shape, self._dtype)
        return TensorSpec([None, *self._shape.as_list()[self._ragged_rank + 1 :]], self._dtype)

    def _parts(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype

    def _same_kind(self, other: Any) -> bool:
        return isinstance(other, RaggedTensorSpec) and self._parts()[1:] == other._parts()[1:]

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value of the other type can be used where this type is expected."""
        other = spec_of(spec_or_value)
        if isinstance(other, TensorSpec) and not self._ragged_rank:
            other = RaggedTensorSpec(other.shape, other.dtype, 0, self._row_splits_dtype)
        return self._same_kind(other) and self._shape.is_compatible_with(other._shape)

    def is_subtype_of(self, other: Any) -> bool:
        """Whether each value of this type is a value of the other one."""
        return self._same_kind(other) and self._open_shape.is_subtype_of(other._open_shape)

    @property
    def _open_shape(self) -> TensorShape:
        """The shape without sizes of ragged axes: values do not keep them."""
        if self._shape.rank is None:
            return self._shape
        sizes = self._shape.as_list()
        sizes[1 : self._ragged_rank + 1] = [None] * self._ragged_rank
        return TensorShape(sizes)

    def most_specific_compatible_type(self, other: TypeSpec) -> RaggedTensorSpec:
        """The narrowest type that holds both; sizes that differ become unknown."""
        if not isinstance(other, RaggedTensorSpec) or not self._same_kind(other):
            raise ValueError(f"No type holds both {self} and {other}.")
        shape = self._shape.most_specific_compatible_shape(other._shape)
        return RaggedTensorSpec(shape, *self._parts()[1:])

    @property
    def _component_specs(self) -> list[TensorSpec]:
        specs = [self.flat_values_spec]
        rows = None if self._shape.rank is None else self._shape[0]
        for i in range(self._ragged_rank):
            size = rows + 1 if i == 0 and rows is not None else None
            specs.append(TensorSpec([size], self._row_splits_dtype))
        return specs

    def _to_components(self, value: Any) -> list[Any]:
        if not self._ragged_rank:  # a row of a ragged tensor, which is a tensor
            return [value]
        return [value.flat_values, *value.nested_row_splits]

    def _from_components(self, components: Sequence[Any]) -> Any:
        values: Any = components[0]
        for splits in reversed(components[1:]):
            values = ragged.RaggedTensor._of(values, splits)
        return values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RaggedTensorSpec) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        return f"RaggedTensorSpec({', '.join(map(repr, self._parts()))})"

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return RaggedTensorSpec, self._parts()
