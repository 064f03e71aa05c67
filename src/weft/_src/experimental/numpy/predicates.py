"""Questions about numbers, arrays and dtypes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import weft as tf
from weft._src.core.aliases import DTypeLike, TensorLike
from weft._src.core.dtypes import SMALL
from weft._src.experimental.numpy.promotion import as_dtype, asarray, floating

# What `issubdtype` may be asked about besides dtypes.
inexact, object_, unicode_ = np.inexact, np.object_, np.str_

_INTEGERS = {2: tf.int16, 4: tf.int32, 8: tf.int64}


def iscomplex(x: TensorLike) -> tf.Tensor:
    """Whether numbers have an imaginary part.

    Args:
      x: an array, number or (nested) list.

    Returns:
      A bool tensor of the shape of `x`, false everywhere if its dtype is not complex.

    >>> tf.experimental.numpy.iscomplex([1 + 1j, 2]).numpy()
    array([ True, False])
    """
    value = asarray(x)
    if value.dtype.is_complex:
        return tf.math.imag(value) != 0
    return tf.zeros_like(value, tf.bool)


def isreal(x: TensorLike) -> tf.Tensor:
    """Whether numbers have no imaginary part.

    Args:
      x: an array, number or (nested) list.

    Returns:
      A bool tensor of the shape of `x`, true everywhere if its dtype is not complex.

    >>> tf.experimental.numpy.isreal([1 + 1j, 2]).numpy()
    array([False,  True])
    """
    return tf.logical_not(iscomplex(x))


def iscomplexobj(x: TensorLike) -> bool:
    """Whether the dtype is complex.

    Args:
      x: an array, number or (nested) list.

    Returns:
      A bool.

    >>> tf.experimental.numpy.iscomplexobj([1 + 0j])
    True
    """
    return asarray(x).dtype.is_complex


def isrealobj(x: TensorLike) -> bool:
    """Whether the dtype is not complex.

    Args:
      x: an array, number or (nested) list.

    Returns:
      A bool.

    >>> tf.experimental.numpy.isrealobj([1, 2])
    True
    """
    return not iscomplexobj(x)


def isscalar(num: TensorLike) -> bool:
    """Whether a value is one number or string, also as a tensor without axes.

    Args:
      num: anything.

    Returns:
      A bool; False for NumPy arrays without axes, as in NumPy.

    >>> tf.experimental.numpy.isscalar(3), tf.experimental.numpy.isscalar([3])
    (True, False)
    """
    if isinstance(num, tf.Tensor):
        return num.ndim == 0
    return bool(np.isscalar(num))


def isneginf(x: TensorLike) -> tf.Tensor:
    """Whether numbers are minus infinity.

    Args:
      x: an array, number or (nested) list.

    Returns:
      A bool tensor of the shape of `x`.

    >>> tf.experimental.numpy.isneginf([1.0, float("-inf")]).numpy()
    array([False,  True])
    """
    return floating(x) == -np.inf


def isposinf(x: TensorLike) -> tf.Tensor:
    """Whether numbers are plus infinity.

    Args:
      x: an array, number or (nested) list.

    Returns:
      A bool tensor of the shape of `x`.

    >>> tf.experimental.numpy.isposinf([1.0, float("inf")]).numpy()
    array([False,  True])
    """
    return floating(x) == np.inf


def signbit(x: TensorLike) -> tf.Tensor:
    """Whether numbers are negative; of -0.0 this is true.

    Args:
      x: an array, number or (nested) list; not complex.

    Returns:
      A bool tensor of the shape of `x`.

    Raises:
      DTypeError: if the numbers are complex.

    >>> tf.experimental.numpy.signbit([-1.0, 0.0, -0.0]).numpy()
    array([ True, False,  True])
    """
    value = asarray(x)
    if value.dtype.is_floating:
        return tf.bitcast(value, _INTEGERS[value.dtype.size]) < 0
    if value.dtype is tf.bool or value.dtype.is_unsigned:
        return tf.zeros_like(value, tf.bool)
    return value < 0


def issubdtype(arg1: TensorLike, arg2: TensorLike) -> bool:
    """Whether the first dtype is the second, or of that kind (such as `inexact`).

    Args:
      arg1: a dtype, its name, a Python type or a NumPy scalar type.
      arg2: a dtype too, or an abstract NumPy type such as `np.floating`.

    Returns:
      A bool.

    Raises:
      TypeError: if an argument is none of these.

    >>> tnp = tf.experimental.numpy
    >>> tnp.issubdtype(tnp.float32, tnp.inexact), tnp.issubdtype(tnp.int32, tnp.inexact)
    (True, False)
    """
    return bool(np.issubdtype(_numpy_type(arg1), _numpy_type(arg2)))


def _numpy_type(value: Any) -> Any:
    abstract = isinstance(value, type) and issubclass(value, np.generic)
    return value if abstract else as_dtype(value).numpy_dtype


def finfo(dtype: DTypeLike) -> Any:
    """The limits of a floating dtype, as NumPy describes them.

    Args:
      dtype: a floating or complex dtype, its name or Python's `float`, which is float64.

    Returns:
      A `np.finfo`, with `eps`, `max`, `tiny` and others.

    Raises:
      ValueError: if the dtype is another one.

    >>> float(tf.experimental.numpy.finfo(tf.float32).eps)
    1.1920928955078125e-07
    """
    found = as_dtype(dtype)
    if not (found.is_floating or found.is_complex):
        raise ValueError(f"finfo: dtype must be floating or complex, got {found.name}.")
    return ml_dtypes.finfo(found.numpy_dtype)


def iinfo(int_type: DTypeLike) -> Any:
    """The limits of an integer dtype, as NumPy describes them.

    Args:
      int_type: an integer dtype, its name or Python's `int`, which is int64.

    Returns:
      A `np.iinfo`, with `min`, `max` and `bits`.

    Raises:
      ValueError: if the dtype is another one.

    >>> tf.experimental.numpy.iinfo(tf.int8).max
    127
    """
    found = as_dtype(int_type)
    if not found.is_integer:
        raise ValueError(f"iinfo: int_type must be an integer dtype, got {found.name}.")
    return ml_dtypes.iinfo(found.numpy_dtype) if found in SMALL else np.iinfo(found.numpy_dtype)
