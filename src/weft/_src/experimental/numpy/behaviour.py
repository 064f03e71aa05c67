"""`experimental_enable_numpy_behavior`: tensors with the methods, operators and indices of arrays.

Operators of programs promote as NumPy does; those inside of Weft stay as they are, since there a
number takes the dtype of the tensor beside it.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import weft as tf
from weft._src.core.aliases import AxisLike, DTypeLike, ShapeLike, TensorLike
from weft._src.core.numpy_names import NAMES
from weft._src.core.tensor import EagerTensor
from weft._src.errors import UnsupportedError
from weft._src.experimental.numpy import (
    arithmetic,
    indexing,
    products,
    promotion,
    reductions,
    shapes,
)
from weft._src.experimental.numpy.promotion import Function

_OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor")
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_CLASSES = (tf.Tensor, tf.Variable)
_MODES = ("legacy", "off", "safe", "all")


def experimental_enable_numpy_behavior(
    prefer_float32: bool = False, dtype_conversion_mode: str = "legacy"
) -> None:
    """Gives tensors what arrays have: methods (`T`, `astype`, ...), indexing by arrays, promotion.

    It holds for the whole program, and for functions that are traced from now on. Operators
    promote, functions of `tf` do not.

    Args:
      prefer_float32: whether Python's floats become float32 arrays in `tf.experimental.numpy`,
        instead of float64.
      dtype_conversion_mode: "legacy" promotes the operands of operators by NumPy's rules, "off"
        does not. TensorFlow's "safe" and "all", with dtypes that give way, are not supported.

    Raises:
      ValueError: if there is no such mode.
      UnsupportedError: for "safe" and "all".

    >>> tf.constant([1, 2]).T  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    AttributeError: A tensor has no attribute 'T'. Use the function of tf ...
    """
    if dtype_conversion_mode not in _MODES:
        raise ValueError(
            "experimental_enable_numpy_behavior: dtype_conversion_mode must be one of "
            f"{_MODES}, got {dtype_conversion_mode!r}."
        )
    if dtype_conversion_mode in ("safe", "all"):
        raise UnsupportedError(
            f"experimental_enable_numpy_behavior: the mode {dtype_conversion_mode!r} needs dtypes "
            "that give way, which Weft does not have. Use dtype_conversion_mode='legacy'."
        )
    disable()
    promotion.preference.float32 = bool(prefer_float32)
    for name, method in _METHODS.items():
        _replace(tf.Tensor, name, method)
    _replace(EagerTensor, "__round__", _round)  # which has one of its own
    for cls in _CLASSES if dtype_conversion_mode == "legacy" else ():
        for name in (*_OPERATORS, *_COMPARISONS):
            _replace(cls, f"__{name}__", _promoting(getattr(cls, f"__{name}__")))
        for name in _OPERATORS:
            _replace(cls, f"__r{name}__", _promoting(getattr(cls, f"__r{name}__")))
        _replace(cls, "__matmul__", _of_programs(cls.__matmul__, products.matmul))
        swapped = functools.wraps(products.matmul)(lambda x, y: products.matmul(y, x))
        _replace(cls, "__rmatmul__", _of_programs(cls.__rmatmul__, swapped))


_before: list[tuple[type, str, Any]] = []  # what was replaced, and by what it is restored
_MISSING = object()


def _replace(cls: type, name: str, new: object) -> None:
    _before.append((cls, name, vars(cls).get(name, _MISSING)))
    setattr(cls, name, new)


def disable() -> None:
    """Takes back what `experimental_enable_numpy_behavior` has done: for tests."""
    promotion.preference.float32 = False
    while _before:
        cls, name, old = _before.pop()
        if old is _MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, old)


# --- operators -----------------------------------------------------------------------------------


def _of_programs(own: Function, function: Function) -> Function:
    """A method that does something else where it is called by Weft itself."""

    @functools.wraps(own)
    def method(self: tf.Tensor, other: TensorLike) -> Any:
        caller = sys._getframe(1).f_globals.get("__name__", "")
        return (own if caller.startswith("weft.") else function)(self, other)

    return method


def _promoting(own: Callable[[Any, Any], Any]) -> Function:
    def promoted(self: tf.Tensor, other: TensorLike) -> Any:
        return own(*_promoted(self, other))

    return _of_programs(own, promoted)


def _promoted(x: tf.Tensor, y: TensorLike) -> tuple[Any, Any]:
    """Both operands as tensors of the dtype that NumPy would give them; what has none as it is."""
    if isinstance(y, _CLASSES):
        if x.dtype == y.dtype or not (_is_number(x.dtype) and _is_number(y.dtype)):
            return x, y
    elif not _is_number(x.dtype) or not _holds_numbers(y):
        return x, y
    first, second = promotion.promoted(x, y)
    return first, second


def _is_number(dtype: tf.DType) -> bool:
    return dtype.numpy_dtype.kind in "biufc" or dtype == tf.bfloat16


def _holds_numbers(value: object) -> bool:
    if isinstance(value, (bool, int, float, complex, np.ndarray, np.generic)):
        return np.asarray(value).dtype.kind in "biufc"
    return isinstance(value, (list, tuple)) and all(_holds_numbers(item) for item in value)


# --- methods -------------------------------------------------------------------------------------


def _reshape(self: tf.Tensor, *shape: ShapeLike, order: str = "C") -> tf.Tensor:
    """`tf.experimental.numpy.reshape`; the sizes may stand alone or in a list."""
    sizes: Any = shape[0] if len(shape) == 1 else shape
    return shapes.reshape(self, sizes, order)


def _tolist(self: tf.Tensor) -> Any:
    """Nested lists of Python numbers; only where values are known."""
    return self.numpy().tolist()


def _size(self: tf.Tensor) -> Any:
    """The number of elements; a tensor where it is not known while tracing."""
    return shapes.size(self)


def _astype(self: tf.Tensor, dtype: DTypeLike) -> tf.Tensor:
    """The elements in another dtype; Python's int and float are the 64-bit ones."""
    return tf.cast(self, promotion.as_dtype(dtype))


def _round(self: tf.Tensor, ndigits: int = 0) -> tf.Tensor:
    """`tf.experimental.numpy.around`."""
    return arithmetic.around(self, ndigits)


def _transpose(self: tf.Tensor, axes: AxisLike | None = None) -> tf.Tensor:
    """`tf.experimental.numpy.transpose`."""
    return shapes.transpose(self, axes)


_METHODS: dict[str, Any] = {
    "T": property(_transpose),
    "astype": _astype,
    "clip": arithmetic.clip,
    "data": property(lambda self: self),
    "flatten": shapes.ravel,
    "max": lambda self, axis=None, keepdims=None: reductions.max(self, axis, keepdims),
    "mean": lambda self, axis=None, dtype=None, out=None, keepdims=None: reductions.mean(
        self, axis, dtype, out, keepdims
    ),
    "min": lambda self, axis=None, keepdims=None: reductions.min(self, axis, keepdims),
    "ravel": shapes.ravel,
    "reshape": _reshape,
    "size": property(_size),
    "tolist": _tolist,
    "transpose": _transpose,
    "__getitem__": indexing.get_item,
    "__round__": _round,
}
assert set(NAMES) < set(_METHODS)
