"""Specs: what is known of a value before it exists. `TensorSpec` is (dtype, shape, name)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft._src.core import dtypes, serialized
from weft._src.core.dtypes import DType
from weft._src.core.shapes import Dim, Dims, TensorShape


class TypeSpec:
    """The static type of a value. Composite values subclass it and say how they fall apart.

    A composite value has an attribute `_type_spec`; that spec turns it into a nest of tensors and
    back with `_to_components` and `_from_components`, which is all that `nest`, functions and
    control flow need. `_component_specs` describes the nest, and `_serialize` returns what the spec
    was made of: two specs are compared, and wider ones made, part by part.

    >>> class Point:
    ...     def __init__(self, xy):
    ...         self.xy = xy
    ...         self._type_spec = PointSpec(xy.shape)
    >>> class PointSpec(tf.TypeSpec):
    ...     def __init__(self, shape):
    ...         self.shape = tf.TensorShape(shape)
    ...
    ...     value_type = Point
    ...
    ...     def _serialize(self):
    ...         return (self.shape,)
    ...
    ...     @property
    ...     def _component_specs(self):
    ...         return tf.TensorSpec(self.shape)
    ...
    ...     def _to_components(self, value):
    ...         return value.xy
    ...
    ...     def _from_components(self, components):
    ...         return Point(components)
    >>> moved = tf.function(lambda point: Point(point.xy + 1.0))
    >>> moved(Point(tf.constant([2.0, 3.0]))).xy.numpy()
    array([3., 4.], dtype=float32)
    """

    __slots__ = ()

    # Whether functions are traced for what `_component_specs` says, whatever the actual sizes are.
    _describes_components = False

    @classmethod
    def from_value(cls, value: Any) -> Any:
        """The spec of a value.

        Args:
          value: a ragged or sparse tensor, dataset, TensorArray or other composite value, or a
            tensor.

        Returns:
          The spec that describes it: a `tf.RaggedTensorSpec` of a ragged tensor, and so on.

        >>> tf.RaggedTensorSpec.from_value(tf.ragged.constant([[1], [2, 3]]))
        RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1, tf.int64)
        """
        return spec_of(value)

    @property
    def words(self) -> str:
        """What messages say of the type."""
        return repr(self)

    def _serialize(self) -> Any:
        """A tuple of what the spec was made of: arguments of its class that make it again."""
        raise NotImplementedError(
            f"{type(self).__name__} must have a method `_serialize` that returns a tuple of the "
            "arguments it was made of."
        )

    @classmethod
    def _deserialize(cls, serialization: Any) -> TypeSpec:
        return cls(*serialization)

    def _fitted(self, value: Any) -> Any:
        """A compatible value, with what this type says beyond its own checked and noted."""
        return value

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value of the other type can be used where this type is expected.

        Args:
          spec_or_value: a spec, or a value that has one.

        Returns:
          True if it is of the same class, and the parts of both are equal; shapes and specs among
          them need only be compatible.
        """
        other = spec_of(spec_or_value)
        return type(other) is type(self) and self._agrees_with(other, serialized.compatible)

    def is_subtype_of(self, other: Any) -> bool:
        """Whether each value of this type is a value of the other one.

        Args:
          other: a spec.

        Returns:
          True if it is of the same class, and the parts of both are equal; shapes and specs among
          them may be more general in the other one.
        """
        return type(other) is type(self) and self._agrees_with(other, serialized.subtype)

    def _agrees_with(self, other: TypeSpec, leaves_agree: Callable[[Any, Any], bool]) -> bool:
        if not self._is_made_of_parts():
            return self == other
        return serialized.agree(self._serialize(), other._serialize(), leaves_agree)

    @classmethod
    def _is_made_of_parts(cls) -> bool:
        """Whether the class says what its specs are made of; else they are equal or not."""
        return cls._serialize is not TypeSpec._serialize

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        """The narrowest type that holds both.

        Args:
          other: a spec.

        Returns:
          A spec of this class; sizes that differ are unknown in it.

        Raises:
          ValueError: if there is no such type.
        """
        if self == other:
            return self
        if type(other) is type(self) and self._is_made_of_parts():
            try:
                return self._deserialize(serialized.common(self._serialize(), other._serialize()))
            except serialized.NoCommonType:
                pass
        raise ValueError(f"No type holds both {self} and {other}.")

    def most_specific_common_supertype(self, others: Sequence[TypeSpec]) -> TypeSpec | None:
        """The narrowest type that holds this one and all others.

        Args:
          others: specs, or whatever else: no type holds that.

        Returns:
          A spec, or None if there is none.

        >>> a, b = tf.TensorSpec([2, 3]), tf.TensorSpec([4, 3])
        >>> a.most_specific_common_supertype([b])
        TensorSpec(shape=(None, 3), dtype=tf.float32, name=None)
        """
        out: TypeSpec = self
        for other in others:
            try:
                out = out.most_specific_compatible_type(other)
            except ValueError:
                return None
        return out

    def __eq__(self, other: object) -> bool:
        if not self._is_made_of_parts():
            return self is other
        return type(other) is type(self) and self._agrees_with(other, serialized.equal)

    def __hash__(self) -> int:
        if not self._is_made_of_parts():
            return object.__hash__(self)
        return hash((type(self), serialized.hashable(self._serialize())))

    def __repr__(self) -> str:
        if not self._is_made_of_parts():
            return object.__repr__(self)
        return f"{type(self).__name__}({', '.join(map(repr, self._serialize()))})"

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self._is_made_of_parts() and type(self).__reduce__ is object.__reduce__:
            return type(self), tuple(self._serialize())
        return super().__reduce_ex__(protocol)

    @property
    def _component_specs(self) -> Any:
        """The specs of the components, for values that are only described."""
        raise NotImplementedError(f"{type(self).__name__} has no components.")

    def _to_components(self, value: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no components.")

    def _from_components(self, components: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no components.")

    def _of_this_type(self, components: Any) -> Any:
        """A value made of components of which all that this type says is known to be true."""
        return self._from_components(components)


class TensorSpec(TypeSpec):
    """The dtype and (possibly partly unknown) shape of a tensor.

    >>> tf.TensorSpec([None, 3], tf.float32)
    TensorSpec(shape=(None, 3), dtype=tf.float32, name=None)
    """

    __slots__ = ("dims", "dtype", "name")
    dims: Dims | None
    dtype: DType
    name: str | None

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> None:
        self.dims = TensorShape(shape).dims_or_none
        self.dtype = dtypes.as_dtype(dtype)
        self.name = name

    @classmethod
    def of(cls, dtype: DType, dims: Dims | None) -> TensorSpec:
        """A spec of parts that are known to be valid; nothing is checked.

        Args:
          dtype: the dtype, as a `tf.DType`.
          dims: a tuple of sizes, each an integer or a `Dim`; None for an unknown rank.

        Returns:
          The spec, without a name.
        """
        spec = _new(cls)
        spec.dims = dims
        spec.dtype = dtype
        spec.name = None
        return spec

    @property
    def shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        return TensorShape.of(self.dims)

    @property
    def rank(self) -> int | None:
        """The number of dimensions, None if unknown."""
        return None if self.dims is None else len(self.dims)

    @property
    def is_static(self) -> bool:
        """Whether every size is known."""
        return self.dims is not None and all(type(d) is int for d in self.dims)

    @property
    def value_type(self) -> type:
        """The class of the values this spec describes."""
        return Tensor_class[0]

    def with_dims(self, dims: Dims | None) -> TensorSpec:
        """The same dtype with another shape.

        Args:
          dims: a tuple of sizes, of which unknown ones are `Dim` symbols; None is an unknown rank.

        Returns:
          A `TensorSpec` without a name.
        """
        return TensorSpec.of(self.dtype, dims)

    def with_dtype(self, dtype: DType) -> TensorSpec:
        """The same shape with another dtype.

        Args:
          dtype: a `tf.DType`.

        Returns:
          A `TensorSpec` without a name.
        """
        return TensorSpec.of(dtype, self.dims)

    def with_fresh_dims(self) -> TensorSpec:
        """The same spec with new symbols: for a placeholder that shares no size with others.

        Returns:
          A `TensorSpec` with the same name; the spec itself if the rank is unknown.
        """
        if self.dims is None:
            return self
        spec = TensorSpec.of(
            self.dtype, tuple([Dim() if isinstance(d, Dim) else d for d in self.dims])
        )
        spec.name = self.name
        return spec

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """A copy of another spec, with another name if one is given.

        Args:
          spec: anything with `shape`, `dtype` and `name`.
          name: the name of the copy; None keeps that of `spec`.

        Returns:
          A `tf.TensorSpec`.
        """
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of a tensor.

        Args:
          tensor: anything with `shape` and `dtype`: a tensor, a variable.
          name: the name of the spec; None gives it none.

        Returns:
          A `tf.TensorSpec` of the static shape and the dtype.
        """
        return cls(tensor.shape, tensor.dtype, name)

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether a tensor or spec could stand here: same dtype, compatible shape.

        Args:
          spec_or_tensor: a spec, a tensor, or a value that can become one.

        Returns:
          A bool.

        >>> tf.TensorSpec([None], tf.float32).is_compatible_with(tf.constant([1.0, 2.0]))
        True
        """
        other = spec_of(spec_or_tensor)
        return (
            isinstance(other, TensorSpec)
            and self.dtype is other.dtype
            and self.shape.is_compatible_with(other.shape)
        )

    def is_subtype_of(self, other: Any) -> bool:
        """Whether each tensor of this spec fits the other one.

        Args:
          other: a spec.

        Returns:
          A bool; False if this one has a name, and the other has another or none.

        >>> tf.TensorSpec([2], tf.float32).is_subtype_of(tf.TensorSpec([None], tf.float32))
        True
        """
        return (
            isinstance(other, TensorSpec)
            and self.dtype is other.dtype
            and self.shape.is_subtype_of(other.shape)
            and (self.name is None or self.name == other.name)
        )

    def most_specific_common_supertype(self, others: Sequence[TypeSpec]) -> TensorSpec | None:
        """The narrowest spec that holds this one and all others.

        Args:
          others: specs, or whatever else: no type holds that.

        Returns:
          A spec, or None if dtypes or names differ.

        >>> tf.TensorSpec([2]).most_specific_common_supertype([tf.TensorSpec([3])])
        TensorSpec(shape=(None,), dtype=tf.float32, name=None)
        """
        if any(not isinstance(other, TensorSpec) or other.name != self.name for other in others):
            return None
        found = super().most_specific_common_supertype(others)
        return found if isinstance(found, TensorSpec) else None

    def most_specific_compatible_type(self, other: TypeSpec) -> TensorSpec:
        """The narrowest spec that holds both; differing sizes become unknown.

        Args:
          other: a `tf.TensorSpec` of the same dtype.

        Returns:
          A `TensorSpec` with the name of this one, of unknown rank if the ranks differ.

        Raises:
          ValueError: if the dtypes differ, or the other spec is none of a tensor.

        >>> a, b = tf.TensorSpec([2, 3], tf.int32), tf.TensorSpec([4, 3], tf.int32)
        >>> a.most_specific_compatible_type(b)
        TensorSpec(shape=(None, 3), dtype=tf.int32, name=None)
        """
        if not isinstance(other, TensorSpec) or self.dtype is not other.dtype:
            raise ValueError(f"No spec holds both {self} and {other}: their types differ.")
        shape = self.shape.most_specific_compatible_shape(other.shape)
        return TensorSpec(shape, self.dtype, self.name)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TensorSpec)
            and self.dtype is other.dtype
            and self.shape == other.shape
            and self.name == other.name
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"

    @property
    def words(self) -> str:
        """What messages say: `float32 of shape (2, 3)`."""
        return f"{self.dtype.name} of shape {self.shape}"

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return type(self), (self.shape, self.dtype, self.name)


class ValueSpec(TensorSpec):
    """A spec that also tells the value as far as tracing knows it: for inputs that are shapes.

    `value` is an int or Dim (rank 0), an object array of them, or None if nothing is known.
    """

    __slots__ = ("value",)
    value: np.ndarray[Any, Any] | None

    @classmethod
    def make(cls, spec: TensorSpec, value: np.ndarray[Any, Any] | None) -> ValueSpec:
        """The spec of an input together with its (partial) value."""
        made = _new(cls)
        made.dims, made.dtype, made.name, made.value = spec.dims, spec.dtype, None, value
        return made


_new = object.__new__

# The Tensor class registers itself here: specs are below tensors in the layering.
Tensor_class: list[type] = [object]


def spec_of(value: Any) -> Any:
    """The spec of a tensor, composite value or array; a spec is its own."""
    if isinstance(value, TypeSpec):
        return value
    spec = getattr(value, "_type_spec", None) or getattr(value, "spec", None)
    if isinstance(spec, TypeSpec):
        return spec
    array = np.asarray(value)
    if array.dtype == object and not all(isinstance(item, (str, bytes)) for item in array.flat):
        raise TypeError(f"{value!r} is not the value of a tensor.")
    dtype = dtypes.from_numpy(array.dtype)
    if isinstance(value, (float, list, tuple)) and dtype is dtypes.float64:
        dtype = dtypes.float32
    if isinstance(value, (int, list, tuple)) and dtype is dtypes.int64:
        dtype = dtypes.int32
    return TensorSpec(array.shape, dtype)


def type_spec_from_value(value: Any) -> TypeSpec:
    """The `TypeSpec` that describes a value.

    Args:
      value: a tensor, variable or composite value, or what can become a tensor.

    Returns:
      Its spec; of Python numbers and lists, the one that `tf.convert_to_tensor` would give.

    Raises:
      TypeError: if the value is none of these.

    >>> tf.type_spec_from_value(tf.constant([1.0, 2.0]))
    TensorSpec(shape=(2,), dtype=tf.float32, name=None)
    """
    try:
        spec = spec_of(value)
    except (TypeError, ValueError) as e:
        raise TypeError(f"No TypeSpec describes a value of type {type(value).__name__}.") from e
    assert isinstance(spec, TypeSpec)
    return spec


class NoneTensorSpec(TypeSpec):
    """The type of None in an element."""

    __slots__ = ()

    @property
    def _component_specs(self) -> Any:
        return ()

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether the other one is None, too.

        Args:
          spec_or_value: a value or a spec.

        Returns:
          A bool: whether it is None or a `NoneTensorSpec`.
        """
        return spec_or_value is None or isinstance(spec_or_value, NoneTensorSpec)

    def _to_components(self, value: Any) -> Any:
        return ()

    def _from_components(self, components: Any) -> Any:
        return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NoneTensorSpec)

    def __hash__(self) -> int:
        return hash(NoneTensorSpec)

    def __repr__(self) -> str:
        return "NoneTensorSpec()"
