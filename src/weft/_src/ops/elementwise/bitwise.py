"""Operations on the bits of integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INTEGER
from weft._src.core.native_rules import Pointwise
from weft._src.core.tensor import Array, Tensor
from weft._src.ops import rules
from weft._src.ops.elementwise.operands import binary, operands, unary
from weft._src.ops.registry import NOT_DIFFERENTIABLE, Op, args, define_op

and_op = binary("BitwiseAnd", np.bitwise_and, INTEGER, vjp=NOT_DIFFERENTIABLE)
or_op = binary("BitwiseOr", np.bitwise_or, INTEGER, vjp=NOT_DIFFERENTIABLE)
xor_op = binary("BitwiseXor", np.bitwise_xor, INTEGER, vjp=NOT_DIFFERENTIABLE)
invert_op = unary("Invert", np.invert, INTEGER, vjp=NOT_DIFFERENTIABLE)


def bitwise_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits that are set in both.

    Args:
      x: a tensor of integers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.bitwise.bitwise_and(12, 10).numpy()
    np.int32(8)
    """
    return and_op(*operands(x, y), name=name)


def bitwise_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits that are set in one or both.

    Args:
      x: a tensor of integers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.bitwise.bitwise_or(12, 10).numpy()
    np.int32(14)
    """
    return or_op(*operands(x, y), name=name)


def bitwise_xor(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits that are set in exactly one.

    Args:
      x: a tensor of integers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.bitwise.bitwise_xor(12, 10).numpy()
    np.int32(6)
    """
    return xor_op(*operands(x, y), name=name)


def invert(x: TensorLike, name: str | None = None) -> Tensor:
    """The bits that are not set.

    Args:
      x: a tensor of integers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.bitwise.invert([0, 5]).numpy()
    array([-1, -6], dtype=int32)
    """
    return invert_op(convert_to_tensor(x), name=name)


def _shift(name: str, ufunc: str, native: str) -> Op:
    def kernel(xp: ArrayNamespace, x: Array, y: Array) -> Any:
        # A shift by a negative number, or by more bits than there are, is not defined by the
        # machine: clamped, it means the nearest shift that is.
        bits = 8 * x.dtype.itemsize - 1
        return getattr(xp, ufunc)(x, xp.clip(y, 0, bits).astype(x.dtype))

    return define_op(
        name,
        args("x y", INTEGER),
        infer=rules.broadcast(name),
        kernel=kernel,
        native=Pointwise(native),
        vjp=NOT_DIFFERENTIABLE,
        trusts_kernel=True,
        fresh=True,
    )


left_shift_op = _shift("LeftShift", "left_shift", "left_shift")
right_shift_op = _shift("RightShift", "right_shift", "right_shift")


def left_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits of x moved up by y places; zeros come in.

    Args:
      x: a tensor of integers.
      y: another one of the same dtype: how far, from 0 to the number of bits - 1. Numbers outside
        are moved to the edge of this range.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are not integers.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.bitwise.left_shift([1, 3], 2).numpy()
    array([ 4, 12], dtype=int32)
    """
    return left_shift_op(*operands(x, y), name=name)


def right_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits of x moved down by y places; the sign is kept.

    Args:
      x: a tensor of integers.
      y: another one of the same dtype: how far, from 0 to the number of bits - 1. Numbers outside
        are moved to the edge of this range.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are not integers.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.bitwise.right_shift([16, -16], 2).numpy()
    array([ 4, -4], dtype=int32)
    """
    return right_shift_op(*operands(x, y), name=name)
