"""What the kernels of string ops share: arrays of bytes objects as lists, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import string
from weft._src.core.tensor import Array, Tensor


def string_tensor(value: TensorLike) -> Tensor:
    """A string tensor from what users write; an empty list is one too."""
    if isinstance(value, Tensor):
        return value  # a wrong dtype is refused by the op
    return convert_to_tensor(value, string)


def as_array(x: Any) -> Array:
    """An array; a scalar may arrive as a bare bytes object."""
    return x if isinstance(x, np.ndarray) else np.array(x, object)


def mapped(xp: ArrayNamespace, function: Callable[[bytes], bytes], x: Any) -> Array:
    """`function` of each string."""
    x = as_array(x)
    return xp.as_strings(list(map(function, x.reshape(-1).tolist())), x.shape)


def text_argument(op: str, value: Any, name: str) -> str:
    """An attribute that is text: a str, or bytes in UTF-8."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise ValueError(f"{op}: {name} must be text in UTF-8, got {value!r}.") from None
    if not isinstance(value, str):
        raise TypeError(f"{op}: {name} must be a Python string, got {value!r}.")
    return value
