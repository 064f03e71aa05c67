"""What parameters are annotated with when more than one class will do: `TensorLike` and others.

These say to people and type checkers what a function takes. They are checked by neither Python nor
Weft: what a function refuses it refuses with an error of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, SupportsIndex, TypeAlias

import numpy as np

from weft._src.core.dtypes import DType
from weft._src.core.shapes import TensorShape
from weft._src.core.tensor import Tensor


class SupportsTensor(Protocol):
    """Says itself what tensor it is: variables, sparse and ragged tensors, classes of users."""

    def __tf_tensor__(self, dtype: DType | None = None, name: str | None = None) -> Any:
        """The value as a tensor."""


class SupportsArray(Protocol):
    """Says itself what NumPy array it is."""

    def __array__(self) -> np.ndarray[Any, Any]:
        """The value as an array."""


class HasDType(Protocol):
    """Has elements of one dtype: stands for this dtype."""

    @property
    def dtype(self) -> Any:
        """The type of the elements."""


# What becomes a tensor. `complex` also stands for float, int and bool.
TensorLike: TypeAlias = (
    Tensor
    | SupportsTensor
    | SupportsArray
    | np.ndarray[Any, Any]
    | np.generic
    | TensorShape
    | complex
    | str
    | bytes
    | Sequence["TensorLike"]
)

# What becomes a dtype: tf.float32, "float32", np.float32, float.
DTypeLike: TypeAlias = DType | np.dtype[Any] | type[Any] | str | int | HasDType

# One size: None if it is not known.
SizeLike: TypeAlias = SupportsIndex | Tensor | SupportsTensor | None

# What becomes a shape: sizes, which may be tensors, or one tensor with all of them.
ShapeLike: TypeAlias = (
    TensorShape | Sequence[SizeLike] | SizeLike | SupportsArray | np.ndarray[Any, Any]
)

# One axis or several, counted from the end if negative.
AxisLike: TypeAlias = SupportsIndex | Tensor | SupportsArray | Sequence[SupportsIndex | Tensor]
