"""What parameters are annotated with when more than one class will do: `TensorLike` and others.

These say to people and type checkers what a function takes. They are checked by neither Python nor
Weft: what a function refuses it refuses with an error of its own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, Protocol, SupportsIndex, TypeAlias

import numpy as np

from weft._src.core.dtypes import DType
from weft._src.core.shapes import Dim, TensorShape
from weft._src.core.specs import TypeSpec
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

# What becomes tensors: one, or lists, tuples and mappings of them.
TensorNest: TypeAlias = TensorLike | Sequence["TensorNest"] | Mapping[Any, "TensorNest"] | None

# The types of what is in such a nest.
SpecNest: TypeAlias = TypeSpec | Sequence["SpecNest"] | Mapping[Any, "SpecNest"] | None

# The name of a file or folder.
PathLike: TypeAlias = str | bytes | os.PathLike[str]

# What becomes a dtype: tf.float32, "float32", np.float32, float.
DTypeLike: TypeAlias = DType | np.dtype[Any] | type[Any] | str | int | HasDType

# A whole number, or a tensor that holds one.
IntLike: TypeAlias = SupportsIndex | Tensor | SupportsTensor

# What becomes a shape: sizes (None if unknown), which may be tensors, or one tensor of them all.
ShapeLike: TypeAlias = (
    TensorShape | IntLike | SupportsArray | np.ndarray[Any, Any] | Sequence[IntLike | Dim | None]
)

# One axis or several, counted from the end if negative.
AxisLike: TypeAlias = IntLike | SupportsArray | np.ndarray[Any, Any] | Sequence[IntLike]

# How far a window reaches or moves: a number for all axes, or one for each.
WindowLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | np.ndarray[Any, Any]

# What kernels are written against: NumPy's functions, and more (`core.xp`).
ArrayNamespace: TypeAlias = ModuleType
