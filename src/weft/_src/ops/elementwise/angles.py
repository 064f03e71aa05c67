"""Angles: of points in the plane, and of complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import COMPLEX, FLOATING
from weft._src.core.native_rules import Pointwise
from weft._src.core.tensor import Tensor
from weft._src.core.xla_rules import KERNEL
from weft._src.errors import DTypeError
from weft._src.ops import rules
from weft._src.ops.arrays import selection
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import complex_parts, unary
from weft._src.ops.elementwise.operands import conj, operands, sum_to, zero
from weft._src.ops.registry import NO_NATIVE, args, define_op

Gradients = tuple[Tensor | None, ...]


def _atan2_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    y, x = ctx.inputs
    share = g / (unary.square_op(x) + unary.square_op(y))
    return (
        sum_to(share * x, y) if ctx.wants(0) else None,
        sum_to(-share * y, x) if ctx.wants(1) else None,
    )


atan2_op = define_op(
    "Atan2",
    args("y x", FLOATING),
    infer=rules.broadcast("Atan2"),
    kernel=lambda xp, y, x: xp.arctan2(y, x),
    native=Pointwise("atan2"),
    vjp=_atan2_vjp,
    trusts_kernel=True,
    fresh=True,
    slow_kernel=True,
)


def atan2(y: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The angle of the point (x, y), between -pi and pi.

    Args:
      y: a tensor of floating numbers.
      x: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `y` and `x` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.atan2([0.0, 1.0], [1.0, 0.0]).numpy()
    array([0.       , 1.5707964], dtype=float32)
    """
    return atan2_op(*operands(y, x), name=name)


def _angle_kernel(xp: ArrayNamespace, x: Any) -> Any:
    return xp.arctan2(x.imag, x.real)


def _angle_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    # d arg(z) = Im(dz / z), so the gradient is i g / conj(z).
    return (complex_parts.complex_op(zero(g), g) / conj(ctx.inputs[0]),)


angle_op = define_op(
    "Angle",
    args("input", COMPLEX),
    infer=complex_parts.part_infer,
    kernel=_angle_kernel,
    native=NO_NATIVE,
    xla=KERNEL,
    vjp=_angle_vjp,
    trusts_kernel=True,
    fresh=True,
    elementwise=True,
)


def angle(input: TensorLike, name: str | None = None) -> Tensor:
    """The argument of complex numbers, in radians; 0 or pi for real ones.

    Args:
      input: a tensor of complex or floating numbers.

    Returns:
      A tensor of the shape of `input`, with its dtype or that of the parts of complex numbers.

    Raises:
      DTypeError: if `input` holds anything else, integers too.

    >>> tf.math.angle([1.0, -1.0]).numpy()
    array([0.       , 3.1415927], dtype=float32)
    """
    x = complex_parts.numeric("angle", input)
    if x.dtype.is_complex:
        return angle_op(x, name=name)
    if x.dtype.is_integer:
        raise DTypeError(f"angle: input must be floating or complex, got {x.dtype.name}.")
    return selection.where(x < 0, convert_to_tensor(np.array(np.pi, x.dtype.numpy_dtype)), 0)
