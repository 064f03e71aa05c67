"""Values made of several tensors that ops take in place of one: ragged and sparse tensors.

`convert_to_tensor` leaves them as they are, so they travel through a public function up to its op.
The op finds that an input has no value of its own and raises `CompositeInput`; the dispatcher then
asks the rule of that class what the op means for it. Ordinary calls pay nothing for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NoReturn

from weft.core.dtypes import DType
from weft.core.location import called_function
from weft.core.shapes import TensorShape
from weft.core.specs import TypeSpec


class CompositeTensor(ABC):
    """What ragged and sparse tensors have in common."""

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
        """The static shape, like the attribute `shape`."""
        return self.shape

    @property
    def spec(self) -> NoReturn:
        # What looks at the spec of a tensor is made for tensors only.
        raise self.refusal()

    def __tf_tensor__(self, dtype: DType | None = None, name: str | None = None) -> Any:
        if dtype is not None and dtype is not self.dtype:
            raise ValueError(
                f"A tensor of dtype {dtype.name} is wanted, got a {type(self).__name__} of dtype "
                f"{self.dtype.name}. Convert it with tf.cast(x, tf.{dtype.name})."
            )
        return self

    def refusal(self, what: str | None = None) -> TypeError:
        """The error for something that only takes tensors: the function the user called."""
        what = what or called_function()
        return TypeError(f"{what} does not take a {type(self).__name__}. {self._remedy}")

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
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
