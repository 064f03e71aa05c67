"""Assertions about what is known without running anything: dtypes and Python types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.aliases import DTypeLike, TensorLike, TensorNest
from weft._src.core.convert import convert_to_tensor, items_of
from weft._src.core.dtypes import NUMERIC, DType
from weft._src.core.tensor import Tensor
from weft._src.ops.host.requiring import prefix


def assert_integer(x: TensorLike, message: str | None = None, name: str | None = None) -> None:
    """TypeError unless x holds integers.

    Args:
      x: a tensor.
      message: a string that the error begins with; None means none.

    Raises:
      TypeError: if the dtype is no integer dtype.

    >>> tf.debugging.assert_integer([1, 2])
    """
    text = prefix("assert_integer", message)
    dtype = convert_to_tensor(x).dtype
    if not dtype.is_integer:
        raise TypeError(f"{text}x must be of an integer dtype, got {dtype.name}.")


def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> None:
    """TypeError unless the tensor has the given dtype.

    Args:
      tensor: a tensor, sparse and ragged ones too.
      tf_type: the dtype it must have.
      message: a string that the error begins with; None means none.

    Raises:
      TypeError: if the dtype is another one.

    >>> tf.debugging.assert_type([1, 2], tf.int32)
    """
    text = prefix("assert_type", message)
    wanted = dtypes.as_dtype(tf_type)
    dtype = tensor.dtype if hasattr(tensor, "_type_spec") else convert_to_tensor(tensor).dtype
    if dtype is not wanted:
        raise TypeError(f"{text}tensor must have dtype {wanted.name}, got {dtype.name}.")


def assert_same_float_dtype(tensors: TensorNest = None, dtype: DTypeLike | None = None) -> DType:
    """The one floating dtype of all tensors; ValueError if they differ or it is no such dtype.

    Args:
      tensors: a list of tensors, of which those that are None are skipped; None means an empty one.
      dtype: the dtype they must have; None means that of the first tensor.

    Returns:
      The `tf.DType`; float32 if there are neither tensors nor a dtype.

    Raises:
      ValueError: if dtypes differ, or are not floating.

    >>> tf.debugging.assert_same_float_dtype([tf.constant(1.0), tf.constant([2.0])])
    tf.float32
    """
    found = None if dtype is None else dtypes.as_dtype(dtype)
    items = [] if tensors is None else items_of("assert_same_float_dtype", tensors, "tensors")
    for i, item in enumerate(items):
        if item is None:
            continue
        this = convert_to_tensor(item).dtype
        if found is None:
            found = this
        elif found is not this:
            raise ValueError(
                f"assert_same_float_dtype: tensors[{i}] has dtype {this.name}, expected "
                f"{found.name} as {'given' if dtype is not None else 'of those before it'}."
            )
    if found is None:
        return dtypes.float32
    if not found.is_floating:
        raise ValueError(f"assert_same_float_dtype: the dtype must be floating, got {found.name}.")
    return found


def assert_proper_iterable(values: TensorLike) -> None:
    """TypeError unless values is a list, tuple or the like: no tensor, array or string.

    Args:
      values: anything.

    Raises:
      TypeError: if it cannot be iterated over, or is one value: a tensor, array or string.

    >>> tf.debugging.assert_proper_iterable([tf.constant(1), tf.constant(2)])
    """
    single = isinstance(values, (Tensor, np.ndarray, str, bytes)) or hasattr(values, "_type_spec")
    if single or not isinstance(values, Iterable):
        raise TypeError(
            f"assert_proper_iterable: values must be a list or another iterable of separate "
            f"values, got {type(values).__name__}."
        )


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether it is a tensor of numbers.

    Args:
      tensor: anything.

    Returns:
      True for tensors of a numeric dtype, else False: also for numbers, arrays and variables.

    >>> tf.debugging.is_numeric_tensor(tf.constant(1)), tf.debugging.is_numeric_tensor(1)
    (True, False)
    """
    return isinstance(tensor, Tensor) and tensor.dtype in NUMERIC
