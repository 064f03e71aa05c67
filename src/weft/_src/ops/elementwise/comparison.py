"""Comparisons and logic: everything that gives booleans."""

from __future__ import annotations

import numpy as np

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import BOOL, DATA, REAL, bool_, plain
from weft._src.core.tensor import Tensor
from weft._src.ops.elementwise.operands import binary, operands, unary
from weft._src.ops.registry import NOT_DIFFERENTIABLE

_SMOOTH_STEP = "tf.sigmoid({difference}) goes from 0 to 1 smoothly, where a comparison jumps."

equal_op = binary(
    "Equal",
    np.equal,
    DATA,
    vjp=NOT_DIFFERENTIABLE,
    dtype=bool_,
    kernel=lambda xp, x, y: xp.equal(plain(x), plain(y)),
)
not_equal_op = binary(
    "NotEqual",
    np.not_equal,
    DATA,
    vjp=NOT_DIFFERENTIABLE,
    dtype=bool_,
    kernel=lambda xp, x, y: xp.not_equal(plain(x), plain(y)),
)
less_op = binary(
    "Less",
    np.less,
    REAL,
    vjp=NOT_DIFFERENTIABLE,
    smooth=_SMOOTH_STEP.format(difference="y - x"),
    dtype=bool_,
    infix="<",
)
less_equal_op = binary(
    "LessEqual",
    np.less_equal,
    REAL,
    vjp=NOT_DIFFERENTIABLE,
    smooth=_SMOOTH_STEP.format(difference="y - x"),
    dtype=bool_,
    infix="<=",
)
greater_op = binary(
    "Greater",
    np.greater,
    REAL,
    vjp=NOT_DIFFERENTIABLE,
    smooth=_SMOOTH_STEP.format(difference="x - y"),
    dtype=bool_,
    infix=">",
)
greater_equal_op = binary(
    "GreaterEqual",
    np.greater_equal,
    REAL,
    vjp=NOT_DIFFERENTIABLE,
    smooth=_SMOOTH_STEP.format(difference="x - y"),
    dtype=bool_,
    infix=">=",
)
logical_and_op = binary("LogicalAnd", np.logical_and, BOOL, vjp=NOT_DIFFERENTIABLE)
logical_or_op = binary("LogicalOr", np.logical_or, BOOL, vjp=NOT_DIFFERENTIABLE)
logical_not_op = unary("LogicalNot", np.logical_not, BOOL, vjp=NOT_DIFFERENTIABLE)


def equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether x == y, element by element.

    Args:
      x: a tensor of numbers (of any dtype), truth values or strings.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A bool tensor of the shape that `x` and `y` broadcast to.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.equal([1, 2], 2).numpy()
    array([False,  True])
    """
    return equal_op(*operands(x, y), name=name)


def not_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether x != y, element by element.

    Args:
      x: a tensor of numbers (of any dtype), truth values or strings.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A bool tensor of the shape that `x` and `y` broadcast to.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.not_equal([1, 2], 2).numpy()
    array([ True, False])
    """
    return not_equal_op(*operands(x, y), name=name)


def less(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether x < y, element by element.

    Args:
      x: a tensor of real numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A bool tensor of the shape that `x` and `y` broadcast to.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.less([1, 2], 2).numpy()
    array([ True, False])
    """
    return less_op(*operands(x, y), name=name)


def less_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether x <= y, element by element.

    Args:
      x: a tensor of real numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A bool tensor of the shape that `x` and `y` broadcast to.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.less_equal([1, 3], 2).numpy()
    array([ True, False])
    """
    return less_equal_op(*operands(x, y), name=name)


def greater(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether x > y, element by element.

    Args:
      x: a tensor of real numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A bool tensor of the shape that `x` and `y` broadcast to.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.greater([1, 3], 2).numpy()
    array([False,  True])
    """
    return greater_op(*operands(x, y), name=name)


def greater_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether x >= y, element by element.

    Args:
      x: a tensor of real numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A bool tensor of the shape that `x` and `y` broadcast to.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.greater_equal([1, 2], 2).numpy()
    array([False,  True])
    """
    return greater_equal_op(*operands(x, y), name=name)


def logical_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether both hold, element by element.

    Args:
      x: a bool tensor.
      y: a bool tensor.

    Returns:
      A bool tensor of the shape that `x` and `y` broadcast to.

    Raises:
      DTypeError: if one is not bool.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.logical_and([True, True], [True, False]).numpy()
    array([ True, False])
    """
    return logical_and_op(*operands(x, y), name=name)


def logical_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether one holds, element by element.

    Args:
      x: a bool tensor.
      y: a bool tensor.

    Returns:
      A bool tensor of the shape that `x` and `y` broadcast to.

    Raises:
      DTypeError: if one is not bool.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.logical_or([True, False], [False, False]).numpy()
    array([ True, False])
    """
    return logical_or_op(*operands(x, y), name=name)


def logical_not(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether it does not hold, element by element.

    Args:
      x: a bool tensor.

    Returns:
      A bool tensor of the shape of `x`.

    Raises:
      DTypeError: if `x` is not bool.

    >>> tf.logical_not([True, False]).numpy()
    array([False,  True])
    """
    return logical_not_op(convert_to_tensor(x), name=name)


def logical_xor(x: TensorLike, y: TensorLike, name: str = "LogicalXor") -> Tensor:
    """Whether exactly one holds, element by element.

    Args:
      x: a bool tensor.
      y: a bool tensor.

    Returns:
      A bool tensor of the shape that `x` and `y` broadcast to.

    Raises:
      DTypeError: if one is not bool.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.math.logical_xor([True, True], [True, False]).numpy()
    array([False,  True])
    """
    x, y = operands(x, y)
    both = logical_and_op(x, y)
    return logical_and_op(logical_or_op(x, y), logical_not_op(both), name=name)
