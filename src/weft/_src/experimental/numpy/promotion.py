"""NumPy's rules of types for tensors: what becomes an array, and which dtype two of them share.

Python numbers take the dtype of what they stand next to if their kind allows it; among themselves
they are int64, float64 and complex128, as in NumPy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

import weft as tf
from weft._src.core.aliases import DTypeLike, TensorLike
from weft._src.core.composite import CompositeTensor
from weft._src.core.dtypes import DType
from weft._src.experimental.numpy import wording
from weft._src.experimental.numpy.wording import docstring

Function = Callable[..., Any]
Unary = Callable[[TensorLike], tf.Tensor]
Binary = Callable[[TensorLike, TensorLike], tf.Tensor]
_PYTHON = (bool, int, float, complex)
_NUMPY_DTYPE = {int: np.int64, float: np.float64, complex: np.complex128, bool: np.bool_}


class _Preference:
    """What `experimental_enable_numpy_behavior` was told."""

    float32 = False


preference = _Preference()


def as_dtype(dtype: DTypeLike) -> DType:
    """A dtype; Python's int and float are the 64-bit ones."""
    if dtype is float and preference.float32:
        return tf.float32
    if isinstance(dtype, type) and dtype in _NUMPY_DTYPE:
        dtype = _NUMPY_DTYPE[dtype]
    return tf.as_dtype(dtype)


def asarray(a: Any, dtype: DTypeLike | None = None) -> tf.Tensor:
    """A tensor of numbers, lists or arrays, with NumPy's default dtypes.

    Args:
      a: a tensor, NumPy array, number or (nested) list; lists may hold tensors.
      dtype: the dtype that it is cast to; None lets the value decide: Python ints are int64, floats
        float64.

    Returns:
      A tensor; `a` itself if it is one of the right dtype.

    Raises:
      TypeError: if `a` is a ragged or sparse tensor.
      ValueError: if the rows of a list have different lengths, or it contains itself.

    >>> tf.experimental.numpy.asarray([1, 2]).dtype
    tf.int64
    """
    if isinstance(a, CompositeTensor):
        raise a.refusal()
    if isinstance(a, tf.Tensor) or hasattr(a, "__tf_tensor__"):
        tensor = tf.convert_to_tensor(a)
    elif _safely_holds_tensors(a):
        parts = promoted(*[asarray(item) for item in a])
        tensor = tf.stack(parts)
    else:
        array = regular(a)
        narrow = preference.float32 and not isinstance(a, (np.ndarray, np.generic))
        if narrow and array.dtype == np.float64:
            array = array.astype(np.float32)
        tensor = tf.convert_to_tensor(array)
    return tensor if dtype is None else tf.cast(tensor, as_dtype(dtype))


def regular(value: Any) -> np.ndarray[Any, Any]:
    """A NumPy array; ValueError for lists whose rows have different lengths."""
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(
            f"Cannot convert {value!r} to an array: its rows have different lengths."
        ) from None


def _holds_tensors(a: TensorLike) -> bool:
    return isinstance(a, (list, tuple)) and any(
        isinstance(item, tf.Tensor) or _holds_tensors(item) for item in a
    )


def _safely_holds_tensors(a: TensorLike) -> bool:
    try:
        return _holds_tensors(a)
    except RecursionError:
        raise ValueError("Cannot convert a list that contains itself to an array.") from None


def _operand(a: TensorLike) -> Any:
    """What `np.result_type` is asked about: Python numbers as they are, of others the dtype."""
    return a if type(a) in _PYTHON else asarray(a).dtype.numpy_dtype


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype that NumPy gives the result of an operation on arrays, numbers and dtypes.

    Args:
      *arrays_and_dtypes: arrays, lists, Python numbers and dtypes. A Python number counts only by
        its kind, whatever its size.

    Returns:
      A `tf.DType`.

    >>> tf.experimental.numpy.result_type(tf.int32, tf.float32)
    tf.float64
    """
    parts = [
        as_dtype(a).numpy_dtype if isinstance(a, (DType, type, np.dtype)) else _operand(a)
        for a in arrays_and_dtypes
    ]
    return tf.as_dtype(np.result_type(*parts))


def promote_types(type1: Any, type2: Any) -> np.dtype[Any]:
    """The smallest dtype that holds both.

    Args:
      type1: a dtype, its name, or a Python type; `int` is int64 and `float` float64.
      type2: the other one.

    Returns:
      A NumPy dtype, by NumPy's rules.

    >>> tf.experimental.numpy.promote_types(tf.uint8, tf.int8)
    dtype('int16')
    """
    return result_type(as_dtype(type1), as_dtype(type2)).numpy_dtype


def promoted(*values: Any) -> list[tf.Tensor]:
    """Values as tensors of the dtype they share."""
    dtype = result_type(*values)
    return [
        tf.constant(value, dtype) if type(value) in _PYTHON else tf.cast(asarray(value), dtype)
        for value in values
    ]


def floating(a: TensorLike) -> tf.Tensor:
    """A tensor of floats (or complex numbers): integers become float64."""
    x = asarray(a)
    return x if x.dtype.is_floating or x.dtype.is_complex else tf.cast(x, tf.float64)


LARGEST = 2**31 - 1  # of sizes and counts


def whole(name: str, argument: str, value: Any, least: int, most: int) -> int:
    """A Python integer between two limits, both included."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {argument} must be an integer, got {value!r}.") from None
    if not least <= number <= most:
        raise ValueError(f"{name}: {argument} must lie between {least} and {most}, got {number}.")
    return number


# --- functions of one and two arrays -----------------------------------------------------------


def _named(function: Function, name: str, doc: str) -> Function:
    function.__name__ = function.__qualname__ = name
    function.__module__ = "weft.experimental.numpy"
    function.__doc__ = doc
    return function


def unary(name: str, op: Function, convert: Function = asarray) -> Unary:
    """A function of one array."""
    gives = wording.FLOATING if convert is floating else wording.SAME
    return _named(lambda x: op(convert(x)), name, docstring(name, wording.ONE, gives))


def float_unary(name: str, op: Function) -> Unary:
    """A function of one array whose result is floating."""
    return unary(name, op, floating)


def binary(name: str, op: Function) -> Binary:
    """A function of two arrays, which get one dtype first."""
    doc = docstring(name, wording.TWO, wording.COMMON, (wording.UNEQUAL,))
    return _named(lambda x1, x2: op(*promoted(x1, x2)), name, doc)


def float_binary(name: str, op: Function) -> Binary:
    """A function of two arrays that are floating, or become float64."""
    doc = docstring(name, wording.TWO, wording.COMMON_FLOATING, (wording.UNEQUAL,))
    return _named(lambda x1, x2: op(*[floating(x) for x in promoted(x1, x2)]), name, doc)


def _truths(x: TensorLike) -> tf.Tensor:
    return tf.cast(asarray(x), tf.bool)


def logical(name: str, op: Function) -> Binary:
    """A function of two arrays of truth values: whatever is not zero is true."""
    doc = docstring(name, wording.TRUTHS, wording.BOOLS)
    return _named(lambda x1, x2: op(_truths(x1), _truths(x2)), name, doc)


def opposite(name: str, op: Function) -> Unary:
    """A function of one array of truth values."""
    doc = docstring(name, wording.TRUTHS[:1], wording.BOOLS).replace("x1:", "x:")
    return _named(lambda x: op(_truths(x)), name, doc)
