"""`tf.IndexedSlices`: some rows of a tensor, with their numbers; all others are zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.core import dtypes
from weft._src.core.aliases import DTypeLike
from weft._src.core.composite import CompositeSpec
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType, int32
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.ops import static
from weft._src.ops.arrays import joining, shape as shapes
from weft._src.ops.elementwise import arithmetic, casting
from weft._src.ops.indexing import scattering


class IndexedSlicesSpec(CompositeSpec):
    """The type of `tf.IndexedSlices`.

    >>> tf.IndexedSlicesSpec([None, 2], tf.float32)
    IndexedSlicesSpec(TensorShape([None, 2]), tf.float32, tf.int64, None, TensorShape([None]))
    """

    __slots__ = ()

    def __init__(
        self,
        shape: Any = None,
        dtype: DTypeLike = dtypes.float32,
        indices_dtype: Any = dtypes.int64,
        dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ) -> None:
        super().__init__(
            shape,
            dtype,
            dtypes.as_dtype(indices_dtype),
            None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype),
            TensorShape([None] if indices_shape is None else indices_shape),
        )

    @property
    def value_type(self) -> type:
        """The class of the values this spec describes."""
        return IndexedSlices

    @property
    def _component_specs(self) -> list[TensorSpec]:
        shape, dtype, indices_dtype, dense_shape_dtype, indices_shape = self._parts
        rows = indices_shape.concatenate(shape[1:])
        specs = [TensorSpec(rows, dtype), TensorSpec(indices_shape, indices_dtype)]
        if dense_shape_dtype is not None:
            specs.append(TensorSpec([shape.rank], dense_shape_dtype))
        return specs

    def _to_components(self, value: IndexedSlices) -> list[Any]:
        parts = [value.values, value.indices]
        return parts if value.dense_shape is None else [*parts, value.dense_shape]

    def _from_components(self, components: Sequence[Any]) -> IndexedSlices:
        return IndexedSlices(*components)


class IndexedSlices:
    """Rows `values[i]` that belong at `indices[i]` of a tensor which is zero elsewhere.

    Rows with the same index add up. The tensor is known completely if `dense_shape` is given.

    >>> rows = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([2]), tf.constant([3, 2]))
    >>> tf.convert_to_tensor(rows).numpy()
    array([[0., 0.],
           [0., 0.],
           [1., 2.]], dtype=float32)
    """

    is_tensor_like = True

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Any:
        """The rows."""
        return self._values

    @property
    def indices(self) -> Any:
        """The number of each row in the tensor."""
        return self._indices

    @property
    def dense_shape(self) -> Any:
        """The shape of the tensor, None if it is not known."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The static shape of the tensor."""
        if self._dense_shape is None:
            return TensorShape(None)
        known = static.static_value(self._dense_shape, partial=True)
        return TensorShape(None if known is None else list(known))

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._values.dtype

    @property
    def name(self) -> str:
        """The name of the values, which are tensors of a graph."""
        return self._values.name

    @property
    def device(self) -> str:
        """Where the values live."""
        return self._values.device

    @property
    def op(self) -> Any:
        """The operation the values are an output of."""
        return self._values.op

    @property
    def graph(self) -> Any:
        """The graph the values belong to."""
        return self._values.graph

    @property
    def _type_spec(self) -> IndexedSlicesSpec:
        values, indices = convert_to_tensor(self._values), convert_to_tensor(self._indices)
        shape = self.shape
        if shape.rank is None and values.shape.rank is not None:
            shape = TensorShape([None]).concatenate(values.shape[1:])
        dense = None if self._dense_shape is None else convert_to_tensor(self._dense_shape).dtype
        return IndexedSlicesSpec(shape, values.dtype, indices.dtype, dense, indices.shape)

    def __tf_tensor__(self, dtype: DType | None = None, name: str | None = None) -> Tensor:
        values = convert_to_tensor(self._values)
        if dtype is not None and dtype is not values.dtype:
            raise ValueError(
                f"A tensor of dtype {dtype.name} is wanted, got IndexedSlices of dtype "
                f"{values.dtype.name}. Convert the values with tf.cast."
            )
        if self._dense_shape is None:
            raise ValueError(
                "IndexedSlices without dense_shape cannot become a tensor: it is not known how "
                "many rows there are. Pass dense_shape=."
            )
        indices = convert_to_tensor(self._indices, dtype_hint=int32)
        shape = shapes.shape_argument(self._dense_shape)
        return scattering.scatter_nd_op(
            shapes.expand_dims(indices, -1), values, shape, batch_dims=0, name=name
        )

    def with_values(self, values: Any) -> IndexedSlices:
        """Other values for the same rows.

        Args:
          values: the new rows, as many as there are indices, of any dtype.

        Returns:
          `tf.IndexedSlices` with the same indices and dense shape.

        >>> rows = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([2]))
        >>> rows.with_values(rows.values * 3).values.numpy()
        array([[3.]], dtype=float32)
        """
        return IndexedSlices(values, self._indices, self._dense_shape)

    def __neg__(self) -> IndexedSlices:
        return self.with_values(arithmetic.negative(self._values))

    # Everything else sees a tensor, as it does if the other operand is one.

    def __add__(self, other: Any) -> Tensor:
        return arithmetic.add(self, other)

    def __radd__(self, other: Any) -> Tensor:
        return arithmetic.add(other, self)

    def __sub__(self, other: Any) -> Tensor:
        return arithmetic.subtract(self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return arithmetic.subtract(other, self)

    def __mul__(self, other: Any) -> Tensor:
        return arithmetic.multiply(self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return arithmetic.multiply(other, self)

    def __truediv__(self, other: Any) -> Tensor:
        return arithmetic.truediv(self, other)

    def __repr__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{shape})"


def of_rows(g: Tensor, indices: Tensor, shape: Tensor, params: TensorSpec) -> IndexedSlices:
    """The gradient of picking rows of a tensor by number: g, of shape `indices + one row`."""
    if indices.spec.rank != 1:
        row = None if params.dims is None else params.dims[1:]
        if row is None or not all(isinstance(d, int) for d in row):
            lead: Any = shapes.shape_op(shapes.reshape(indices, [-1]), out_type=shape.dtype)
            g = shapes.reshape(g, joining.concat([lead, shape[1:]], 0))
        elif 0 in row:
            g = shapes.reshape(g, [shapes.size(indices), *row])
        else:
            g = shapes.reshape(g, [-1, *row])
        indices = shapes.reshape(indices, [-1])
    return IndexedSlices(g, indices, shape)


def joined(parts: Sequence[IndexedSlices]) -> IndexedSlices:
    """The rows of several gradients of one tensor, one after the other."""
    if len(parts) == 1:
        return parts[0]
    indices = [part.indices for part in parts]
    if any(i.dtype is not indices[0].dtype for i in indices):
        indices = [casting.cast(i, dtypes.int64) for i in indices]
    values = joining.concat([part.values for part in parts], 0)
    return IndexedSlices(values, joining.concat(indices, 0), parts[0].dense_shape)
