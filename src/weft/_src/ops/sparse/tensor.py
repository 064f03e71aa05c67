"""`tf.SparseTensor`: values, their indices, and the shape of the whole; all else is zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.core import dtypes
from weft._src.core.aliases import DTypeLike, ShapeLike, TensorLike
from weft._src.core.composite import CompositeSpec, CompositeTensor
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType, int64
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.ops import static


class SparseTensorSpec(CompositeSpec):
    """The shape and dtype of sparse tensors.

    >>> tf.SparseTensorSpec([None, 4], tf.int32)
    SparseTensorSpec(TensorShape([None, 4]), tf.int32)
    """

    __slots__ = ()

    _describes_components = True  # how many elements there are is not part of the type

    def __init__(self, shape: ShapeLike | None = None, dtype: DTypeLike = dtypes.float32) -> None:
        super().__init__(shape, dtype)

    @property
    def value_type(self) -> type:
        """The class of the values this spec describes."""
        return SparseTensor

    @property
    def _component_specs(self) -> list[TensorSpec]:
        rank = self.shape.rank
        return [
            TensorSpec([None, rank], int64),
            TensorSpec([None], self.dtype),
            TensorSpec([rank], int64),
        ]

    def _to_components(self, value: SparseTensor) -> list[Any]:
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components: Sequence[Any]) -> SparseTensor:
        return SparseTensor._of(*components)

    def _of_this_type(self, components: Sequence[Any]) -> SparseTensor:
        made = SparseTensor._of(*components)
        made.set_shape(self.shape)
        return made


class SparseTensor(CompositeTensor):
    """A tensor of which only some elements are held: `values[i]` at `indices[i]`.

    >>> sp = tf.SparseTensor(indices=[[0, 1], [2, 0]], values=[5, 6], dense_shape=[3, 2])
    >>> tf.sparse.to_dense(sp).numpy()
    array([[0, 5],
           [0, 0],
           [6, 0]], dtype=int32)
    """

    _remedy = "Make a tensor of it with tf.sparse.to_dense(x), or use a function of tf.sparse."

    _indices: Tensor
    _values: Tensor
    _dense_shape: Tensor

    def __init__(self, indices: TensorLike, values: TensorLike, dense_shape: TensorLike) -> None:
        self._indices = convert_to_tensor(indices, dtype=int64)
        self._values = convert_to_tensor(values)
        self._dense_shape = convert_to_tensor(dense_shape, dtype=int64)
        _check(self._indices, self._values, self._dense_shape)

    @classmethod
    def _of(cls, indices: Tensor, values: Any, dense_shape: Tensor) -> SparseTensor:
        """A sparse tensor of parts that are known to be valid."""
        made = object.__new__(cls)
        made._indices, made._values, made._dense_shape = indices, values, dense_shape
        return made

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """A sparse tensor of anything with indices, values and dense_shape.

        Args:
          sparse_tensor_value: a `tf.SparseTensor`, or something with such attributes.

        Returns:
          A `tf.SparseTensor`.

        Raises:
          TypeError: if an attribute is missing.
        """
        try:
            return cls(
                sparse_tensor_value.indices,
                sparse_tensor_value.values,
                sparse_tensor_value.dense_shape,
            )
        except AttributeError:
            raise TypeError(
                "SparseTensor.from_value needs indices, values and dense_shape, got "
                f"{sparse_tensor_value!r}."
            ) from None

    @property
    def indices(self) -> Tensor:
        """Where the elements are, one row each."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """The elements."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The shape of the whole, a tensor."""
        return self._dense_shape

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape of the whole, as far as it is known."""
        known: Any = static.static_value(self._dense_shape, partial=True)
        if known is not None:
            return TensorShape(list(known))
        rank = self._dense_shape.shape[0] if self._dense_shape.shape.rank else None
        if rank is None and self._indices.shape.rank:
            rank = self._indices.shape[1]
        return TensorShape(None if rank is None else [None] * rank)

    def set_shape(self, shape: ShapeLike) -> None:
        """Adds what is known about the shape of the whole; it must be true of every value.

        Args:
          shape: a shape; sizes that are None say nothing.

        Raises:
          ValueError: if it contradicts what is known.

        >>> sp = tf.sparse.from_dense([[0, 5, 0]])
        >>> sp.set_shape([None, 3])
        >>> sp.shape
        TensorShape([1, 3])
        """
        wanted = TensorShape(shape)
        if not self.shape.is_compatible_with(wanted):
            raise ValueError(f"The shape of this sparse tensor is {self.shape}, not {wanted}.")
        if wanted.rank is not None:
            self._dense_shape.set_shape([wanted.rank])
            static.learn(self._dense_shape, wanted.as_list())

    @property
    def _type_spec(self) -> SparseTensorSpec:
        return SparseTensorSpec(self.shape, self.dtype)

    def with_values(self, new_values: TensorLike) -> SparseTensor:
        """Other elements at the same places.

        Args:
          new_values: a vector of any dtype with a value for each element.

        Returns:
          A `tf.SparseTensor` with the same indices and dense shape.

        Raises:
          ShapeError: if there are more or fewer values.

        >>> tf.sparse.from_dense([0, 5]).with_values(["a"]).values.numpy()
        array([b'a'], dtype=object)
        """
        values = convert_to_tensor(new_values)
        _check(self._indices, values, self._dense_shape)
        return SparseTensor._of(self._indices, values, self._dense_shape)

    @property
    def all_values(self) -> Tensor:
        """The elements."""
        return self._values

    def with_all_values(self, values: TensorLike) -> SparseTensor:
        """Other elements at the same places.

        Args:
          values: a vector of any dtype with a value for each element.

        Returns:
          A `tf.SparseTensor` with the same indices and dense shape.

        Raises:
          ShapeError: if there are more or fewer values.
        """
        return self.with_values(values)

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self._dense_shape!s})"
        )


def _check(indices: Tensor, values: Tensor, dense_shape: Tensor) -> None:
    for name, part, rank in (
        ("indices", indices, 2),
        ("values", values, 1),
        ("dense_shape", dense_shape, 1),
    ):
        if part.shape.rank not in (None, rank):
            raise ShapeError(f"SparseTensor: {name} must have rank {rank}, got shape {part.shape}.")
    if indices.shape.rank is None:
        return
    count, columns = indices.shape.as_list()
    if not TensorShape([count]).is_compatible_with(values.shape):
        raise ShapeError(
            f"SparseTensor: each value needs a row of indices, got shapes {values.shape} and "
            f"{indices.shape}."
        )
    if not TensorShape([columns]).is_compatible_with(dense_shape.shape):
        raise ShapeError(
            f"SparseTensor: indices have {columns} columns, but dense_shape has "
            f"{dense_shape.shape[0]} sizes."
        )


def sparse(op: str, value: Any, name: str) -> SparseTensor:
    """An argument that must be a sparse tensor."""
    if isinstance(value, SparseTensor):
        return value
    if not isinstance(value, Tensor) and all(
        hasattr(value, part) for part in ("indices", "values", "dense_shape")
    ):
        return SparseTensor.from_value(value)
    raise TypeError(f"{op}: {name} must be a tf.SparseTensor, got {type(value).__name__}.")
