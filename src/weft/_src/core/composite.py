"""Values made of several tensors that ops take in place of one: ragged and sparse tensors.

`convert_to_tensor` leaves them as they are, so they travel through a public function up to its op.
The op finds that an input has no value of its own and raises `CompositeInput`; the dispatcher then
asks the rule of that class what the op means for it. Ordinary calls pay nothing for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NoReturn, Self

import numpy as np

from weft._src.core import dtypes
from weft._src.core.conversions import how_to_convert
from weft._src.core.dtypes import DType
from weft._src.core.location import called_function
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TypeSpec, spec_of

Array = np.ndarray[Any, Any]


class CompositeSpec(TypeSpec):
    """The type of a composite value: what it was made of, the shape and the dtype first.

    Types are compared part by part. Shapes may be known better or worse; all else must be equal.
    """

    __slots__ = ("_parts",)

    def __init__(self, shape: Any, dtype: Any, *more: Any) -> None:
        self._parts = (TensorShape(shape), dtypes.as_dtype(dtype), *more)

    @property
    def shape(self) -> TensorShape:
        """The static shape; sizes that are unknown, or differ from row to row, are None."""
        return self._parts[0]

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._parts[1]

    def _agrees(self, other: Any, shapes_agree: Callable[[TensorShape, TensorShape], bool]) -> bool:
        return type(other) is type(self) and all(
            shapes_agree(a, b) if isinstance(a, TensorShape) else a == b
            for a, b in zip(self._parts, other._parts, strict=True)
        )

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value of the other type can be used where this type is expected.

        Args:
          spec_or_value: the other type, or a value that has one.

        Returns:
          True if it is of the same class, dtype and other parts are equal, and the shapes can be.
        """
        return self._agrees(spec_of(spec_or_value), TensorShape.is_compatible_with)

    def is_subtype_of(self, other: Any) -> bool:
        """Whether each value of this type is a value of the other one.

        Args:
          other: the other type.

        Returns:
          True if it is of the same class, dtype and other parts are equal, and its shape is at
          least as general.
        """
        return self._agrees(other, TensorShape.is_subtype_of)

    def most_specific_compatible_type(self, other: TypeSpec) -> Self:
        """The narrowest type that holds both; sizes that differ become unknown.

        Args:
          other: another spec of this class, with the same dtype.

        Returns:
          A spec of this class.

        Raises:
          ValueError: if no type holds both.
        """
        if not isinstance(other, type(self)) or not self._agrees(other, lambda a, b: True):
            raise ValueError(f"No type holds both {self} and {other}.")
        parts = [
            a.most_specific_compatible_shape(b) if isinstance(a, TensorShape) else a
            for a, b in zip(self._parts, other._parts, strict=True)
        ]
        return type(self)(*parts)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._parts))})"

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return type(self), self._parts


class CompositeTensor(ABC):
    """What ragged and sparse tensors have in common."""

    is_tensor_like = True
    # NumPy arrays on the left of an operator give way because of this.
    __array_priority__ = 100

    # How to get a tensor, for errors.
    _remedy = ""

    @property
    @abstractmethod
    def dtype(self) -> DType:
        """The type of the elements."""

    @property
    @abstractmethod
    def shape(self) -> TensorShape:
        """The static shape; sizes that are unknown, or differ from row to row, are None."""

    @property
    @abstractmethod
    def _type_spec(self) -> TypeSpec: ...

    @property
    @abstractmethod
    def all_values(self) -> Any:
        """The one tensor that holds all elements; gradients belong to it."""

    @abstractmethod
    def with_all_values(self, values: Any) -> Any:
        """The same structure with other elements."""

    def get_shape(self) -> TensorShape:
        """The static shape, like the attribute `shape`.

        Returns:
          A `tf.TensorShape`.
        """
        return self.shape

    @property
    def spec(self) -> NoReturn:
        # What looks at the spec of a tensor is made for tensors only.
        raise self.refusal()

    def __tf_tensor__(self, dtype: DType | None = None, name: str | None = None) -> Any:
        if dtype is not None and dtype is not self.dtype:
            raise ValueError(
                f"A tensor of dtype {dtype.name} is wanted, got a {type(self).__name__} of dtype "
                f"{self.dtype.name}. {how_to_convert('x', self.dtype, dtype)}"
            )
        return self

    def refusal(self, what: str | None = None) -> TypeError:
        """The error for something that only takes tensors: the function the user called.

        Args:
          what: the name of what refuses; None finds the public function that is running.

        Returns:
          A TypeError that says how to get a tensor, for the caller to raise.
        """
        what = what or called_function()
        return TypeError(f"{what} does not take a {type(self).__name__}. {self._remedy}")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        raise self.refusal("NumPy")

    def __bool__(self) -> NoReturn:
        raise TypeError(f"{called_function()}: a {type(self).__name__} cannot be used as a bool.")

    def __hash__(self) -> int:
        raise TypeError(f"A {type(self).__name__} is not hashable.")


class CompositeInput(TypeError):  # noqa: N818 - no error by itself: the dispatcher catches it
    """An op was given a composite value."""

    def __init__(self, value: CompositeTensor) -> None:
        super().__init__(f"Expected a tensor, got a {type(value).__name__}. {value._remedy}")
        self.value = value


def not_a_tensor(op: str, value: Any) -> TypeError:
    """The exception for an input of an op that is no tensor."""
    if isinstance(value, CompositeTensor):
        return CompositeInput(value)
    return TypeError(f"{op} takes tensors, got {value!r} of type {type(value).__name__}.")
