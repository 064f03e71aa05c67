"""Checks of arguments that functions of images and sound share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.aliases import DTypeLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.media.damage import invalid
from weft._src.ops.static import static_int
from weft._src.ops.strings.elements import as_array, text_argument


def check_one(op: str, x: TensorSpec, name: str = "contents") -> None:
    """ShapeError unless it is one string or number."""
    if x.rank not in (None, 0):
        raise ShapeError(f"{op}: {name} must be a scalar, got shape {x.shape}.")


def with_hint(value: TensorLike, dtype: DType) -> Tensor:
    """A tensor; Python's numbers become this dtype, arrays keep theirs."""
    has_dtype = isinstance(value, (np.ndarray, np.generic))
    return convert_to_tensor(value, dtype_hint=None if has_dtype else dtype)


def bytes_in(contents: Any) -> bytes:
    """The string in a scalar array."""
    return bytes(as_array(contents)[()])


def flag(op: str, value: Any, name: str) -> bool:
    """An argument that is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{op}: {name} must be True or False, got {value!r}.")
    return bool(value)


def one_of(op: str, value: Any, name: str, allowed: Sequence[int]) -> int:
    """An argument that is one of some numbers."""
    number = static_int(op, value, name)
    if number not in allowed:
        raise invalid(op, f"{name} must be one of {', '.join(map(str, allowed))}, got {number}.")
    return number


def within(op: str, value: Any, name: str, low: int, high: int) -> int:
    """An argument that is a whole number from `low` to `high`."""
    number = static_int(op, value, name)
    if not low <= number <= high:
        raise invalid(op, f"{name} must be from {low} to {high}, got {number}.")
    return number


def word(op: str, value: Any, name: str, allowed: Sequence[str]) -> str:
    """An argument that is one of some words."""
    text = text_argument(op, value, name)
    if text not in allowed:
        words = ", ".join([repr(each) for each in allowed])
        raise invalid(op, f"{name} must be one of {words}, got {text!r}.")
    return text


def channel_count(op: str, value: Any) -> int:
    """How many channels an image shall have; 0 is those of the file."""
    return one_of(op, 0 if value is None else value, "channels", (0, 1, 3, 4))


def pixel_dtype(op: str, value: DTypeLike, allowed: Sequence[DType]) -> DType:
    """The dtype that pixels shall have."""
    dtype = dtypes.as_dtype(value)
    if dtype not in allowed:
        names = ", ".join([each.name for each in allowed])
        raise TypeError(f"{op}: dtype must be one of {names}, got {dtype.name}.")
    return dtype
