"""`tf.TensorArray`: a list of tensors that graphs can read and write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from weft._src.core import dtypes
from weft._src.core.aliases import DTypeLike, ShapeLike, TensorLike
from weft._src.core.context import state
from weft._src.core.conversions import how_to_convert
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType, int32
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TensorSpec, TypeSpec
from weft._src.core.tensor import Tensor
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops.arrays import joining, shape as shapes
from weft._src.ops.control import loop, stack as stacks, stack_pieces
from weft._src.ops.indexing import gathering


class TensorArraySpec(TypeSpec):
    """The type of a TensorArray: dtype and shape of its elements."""

    __slots__ = ("dtype", "dynamic_size", "element_shape", "infer_shape")

    def __init__(
        self,
        element_shape: ShapeLike | None = None,
        dtype: DTypeLike = dtypes.float32,
        dynamic_size: bool = False,
        infer_shape: bool = True,
    ) -> None:
        self.element_shape: TensorShape = TensorShape(element_shape)
        self.dtype: DType = dtypes.as_dtype(dtype)
        self.dynamic_size: bool = dynamic_size
        self.infer_shape: bool = infer_shape

    @property
    def value_type(self) -> type:
        """The class of the values this spec describes."""
        return TensorArray

    def most_specific_compatible_type(self, other: TypeSpec) -> TensorArraySpec:
        """The narrowest type that holds both; element sizes that differ become unknown.

        Args:
          other: another `tf.TensorArraySpec` of the same dtype.

        Returns:
          A `tf.TensorArraySpec`, in all else like this one.

        Raises:
          ValueError: if `other` is no such spec, or of another dtype.
        """
        if not isinstance(other, TensorArraySpec) or self.dtype is not other.dtype:
            raise ValueError(f"No type holds both {self} and {other}.")
        shape = self.element_shape.most_specific_compatible_shape(other.element_shape)
        return TensorArraySpec(shape, self.dtype, self.dynamic_size, self.infer_shape)

    def _serialize(self) -> Any:
        return (self.element_shape, self.dtype, self.dynamic_size, self.infer_shape)

    @property
    def _component_specs(self) -> list[TensorSpec]:
        return [TensorSpec([], dtypes.variant)]

    def _to_components(self, value: TensorArray) -> list[Tensor]:
        return [value.handle]

    def _from_components(self, components: Sequence[Tensor]) -> TensorArray:
        return TensorArray._of(self, components[0])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TensorArraySpec)
            and self.dtype is other.dtype
            and self.element_shape == other.element_shape
            and self.dynamic_size == other.dynamic_size
        )

    def __hash__(self) -> int:
        return hash((self.dtype, self.element_shape, self.dynamic_size))

    def __repr__(self) -> str:
        return f"TensorArraySpec({self.element_shape}, {self.dtype!r}, {self.dynamic_size})"


class TensorArray:
    """A list of tensors of one dtype, written and read by number, also inside loops.

    >>> ta = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    >>> for i in range(3):
    ...     ta = ta.write(i, i * i)
    >>> ta.stack().numpy()
    array([0, 1, 4], dtype=int32)
    """

    def __init__(
        self,
        dtype: DTypeLike,
        size: TensorLike | None = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Tensor | None = None,
        infer_shape: bool = True,
        element_shape: ShapeLike | None = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        if handle is not None:
            raise ValueError("TensorArray: handle is not accepted; pass the TensorArray itself.")
        self._spec = TensorArraySpec(element_shape, dtype, bool(dynamic_size), infer_shape)
        if flow is not None:
            self._handle = flow
        else:
            count = convert_to_tensor(0 if size is None else size, dtype_hint=int32)
            self._handle = stacks.reserve_op(count, dtype=self._spec.dtype, name=name)

    @classmethod
    def _of(cls, spec: TensorArraySpec, handle: Tensor) -> TensorArray:
        made = object.__new__(cls)
        made._spec = spec
        made._handle = handle
        return made

    @property
    def _type_spec(self) -> TensorArraySpec:
        return self._spec

    @property
    def handle(self) -> Tensor:
        """The tensor that holds the list, of dtype variant."""
        return self._handle

    @property
    def flow(self) -> Tensor:
        """The tensor that holds the list, of dtype variant."""
        return self._handle

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._spec.dtype

    @property
    def element_shape(self) -> TensorShape:
        """The static shape of the elements, as far as it is known."""
        return self._spec.element_shape

    @property
    def dynamic_size(self) -> bool:
        """Whether writing past the end makes the array longer."""
        return self._spec.dynamic_size

    def _next(self, handle: Tensor, element: TensorShape | None = None) -> TensorArray:
        """The array after a change. Eagerly it is this very object, as in TensorFlow."""
        spec = self._spec
        if element is not None and spec.infer_shape:
            try:
                shape = spec.element_shape.merge_with(element)
            except ShapeError:
                raise ShapeError(
                    f"TensorArray: elements have shape {spec.element_shape}, got {element}."
                ) from None
            spec = TensorArraySpec(shape, spec.dtype, spec.dynamic_size, spec.infer_shape)
        if state.graph is not None:
            return TensorArray._of(spec, handle)
        self._spec, self._handle = spec, handle
        return self

    def _value(self, value: Any, method: str) -> Tensor:
        tensor = convert_to_tensor(value, dtype_hint=self.dtype)
        if tensor.dtype is not self.dtype:
            raise DTypeError(
                f"TensorArray.{method}: the array holds {self.dtype.name}, the value is "
                f"{tensor.dtype.name}. {how_to_convert('value', tensor.dtype, self.dtype)}"
            )
        return tensor

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements.

        Returns:
          An int32 scalar.

        >>> tf.TensorArray(tf.float32, size=3).size().numpy()
        np.int32(3)
        """
        return stacks.length_op(self._handle, name=name)

    def write(self, index: Any, value: TensorLike, name: str | None = None) -> TensorArray:
        """The array with one element replaced (or added, with `dynamic_size`).

        Args:
          index: the place, an integer scalar; it is not counted from the end.
          value: the element. Python numbers take the dtype of the array.

        Returns:
          The array after that: eagerly this very object, while tracing a new one, to be used from
          now on.

        Raises:
          OutOfRangeError: if there is no such place, and the array does not grow.
          DTypeError: if the value has another dtype.
          ShapeError: if it has another shape than the elements, unless `infer_shape` is False.

        >>> tf.TensorArray(tf.int32, size=2).write(0, 5).write(1, 6).stack().numpy()
        array([5, 6], dtype=int32)
        """
        value = self._value(value, "write")
        handle = stacks.set_item_op(
            self._handle, convert_to_tensor(index), value, grow=self.dynamic_size, name=name
        )
        return self._next(handle, value.shape)

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """The element at a place.

        Args:
          index: the place, an integer scalar; it is not counted from the end.

        Returns:
          The element; zeros if it was not written and the shape of elements is known.

        Raises:
          OutOfRangeError: if there is no such place.
          InvalidArgumentError: if it was not written, and the shape of elements is unknown.

        >>> tf.TensorArray(tf.int32, size=2).unstack([5, 6]).read(1).numpy()
        np.int32(6)
        """
        return stacks.get_item_op(
            self._handle,
            convert_to_tensor(index),
            dtype=self.dtype,
            shape=self.element_shape.dims_or_none,
            name=name,
        )

    def stack(self, name: str | None = None) -> Tensor:
        """All elements in one tensor, along a new first axis.

        Returns:
          A tensor of the dtype of the array and of shape [size, *shape of elements]. What was not
          written is zero.

        Raises:
          InvalidArgumentError: if no element was written, and their shape is unknown.

        >>> tf.TensorArray(tf.int32, size=2).write(1, 5).stack().numpy()
        array([0, 5], dtype=int32)
        """
        return stacks.to_tensor_op(
            self._handle, dtype=self.dtype, shape=self.element_shape.dims_or_none, name=name
        )

    def gather(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The elements at several places in one tensor.

        Args:
          indices: the places, int32 or int64, not counted from the end.

        Returns:
          A tensor of shape [*shape of indices, *shape of elements].

        Raises:
          InvalidArgumentError: if there is no such place.

        >>> tf.TensorArray(tf.int32, size=3).unstack([5, 6, 7]).gather([2, 0]).numpy()
        array([7, 5], dtype=int32)
        """
        return gathering.gather(self.stack(), indices, name=name)

    def concat(self, name: str | None = None) -> Tensor:
        """The elements joined along their first axis.

        Returns:
          A tensor of the dtype of the array; elements may differ in their first size only.

        Raises:
          ShapeError: if the elements are scalars.

        >>> tf.TensorArray(tf.int32, size=2).unstack([[1, 2], [3, 4]]).concat().numpy()
        array([1, 2, 3, 4], dtype=int32)
        """
        dims = self.element_shape.dims_or_none
        if dims is None or (dims and not isinstance(dims[0], int)):
            # Elements may differ in length.
            return stack_pieces.concat_op(
                self._handle, self._handle, dtype=self.dtype, shape=dims, axis=0, name=name
            )
        rows = self.stack()
        if not dims:
            raise ShapeError("TensorArray.concat: scalar elements cannot be joined; use stack().")
        tail = shapes.shape(rows)[2:]
        return shapes.reshape(rows, joining.concat([[-1], tail], 0), name=name)

    def unstack(self, value: TensorLike, name: str | None = None) -> TensorArray:
        """An array of the rows of a tensor.

        Args:
          value: a tensor of rank 1 or more, of the dtype of the array.

        Returns:
          An array as long as `value`, whatever the size was: eagerly this very object, while
          tracing a new one.

        Raises:
          DTypeError: if the value has another dtype.
          ShapeError: if the rows have another shape than the elements, unless `infer_shape` is
            False.

        >>> tf.TensorArray(tf.int32, size=0).unstack([5, 6]).size().numpy()
        np.int32(2)
        """
        value = self._value(value, "unstack")
        return self._next(stacks.from_tensor_op(value, name=name), value.shape[1:])

    def scatter(
        self, indices: TensorLike, value: TensorLike, name: str | None = None
    ) -> TensorArray:
        """The array with the rows of a tensor written at several places.

        Args:
          indices: the places, an integer vector.
          value: a tensor with as many rows, of the dtype of the array.

        Returns:
          The array after that: eagerly this very object, while tracing a new one, to be used from
          now on.

        Raises:
          OutOfRangeError: if there is no such place, and the array does not grow.
          DTypeError: if the value has another dtype.
          ShapeError: if the rows have another shape than the elements, unless `infer_shape` is
            False.

        >>> tf.TensorArray(tf.int32, size=3).scatter([2, 0], [5, 6]).stack().numpy()
        array([6, 0, 5], dtype=int32)
        """
        value = self._value(value, "scatter")
        indices = convert_to_tensor(indices)
        count = indices.shape[0]
        if count is None:
            return loop.while_loop(
                lambda i, _: i < shapes.shape(indices)[0],
                lambda i, array: (i + 1, array.write(indices[i], value[i])),
                (0, self),
            )[1]
        out = self
        for i in range(count):
            out = out.write(indices[i], value[i])
        return out

    def split(self, value: TensorLike, lengths: TensorLike, name: str | None = None) -> TensorArray:
        """The array with consecutive pieces of a tensor, of the given lengths, as elements.

        Args:
          value: a tensor of rank 1 or more, of the dtype of the array.
          lengths: how many rows each element gets, an integer vector that adds up to those of
            `value`.

        Returns:
          An array with an element for each length: eagerly this very object, while tracing a new
          one.

        Raises:
          InvalidArgumentError: if a length is negative, or they do not add up.
          DTypeError: if the value has another dtype.

        >>> tf.TensorArray(tf.int32, size=2).split([1, 2, 3], [1, 2]).read(1).numpy()
        array([2, 3], dtype=int32)
        """
        value = self._value(value, "split")
        handle = stack_pieces.split_op(value, convert_to_tensor(lengths), axis=0, name=name)
        tail = value.shape[1:] if value.shape.rank is not None else None
        return self._next(handle, TensorShape(None if tail is None else [None, *tail]))

    def identity(self) -> TensorArray:
        """An array with the same elements.

        Returns:
          Another `tf.TensorArray`. Writing to one does not change the other.

        >>> array = tf.TensorArray(tf.int32, size=1).unstack([5])
        >>> copy = array.identity().write(0, 6)
        >>> array.read(0).numpy()
        np.int32(5)
        """
        return TensorArray._of(self._spec, self._handle)

    def __iter__(self) -> Iterator[Tensor]:
        if state.graph is not None:
            raise TypeError(
                "A TensorArray in a graph is iterated over by a converted for statement."
            )
        return iter([self.read(i) for i in range(int(self.size()))])

    def close(self, name: str | None = None) -> None:
        """Nothing to do: memory is freed when nobody refers to the array."""

    def __repr__(self) -> str:
        return f"<tf.TensorArray dtype={self.dtype.name} element_shape={self.element_shape}>"
