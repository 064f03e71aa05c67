"""Addition, multiplication, true division, powers, and what goes with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.dtypes import (
    INEXACT,
    NUMERIC,
    REAL,
    STRING,
    float32,
    float64,
    int8,
    int16,
    uint8,
    uint16,
)
from weft._src.core.native_rules import Pointwise
from weft._src.core.tensor import Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.ops import rules
from weft._src.ops.arrays import selection
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import casting
from weft._src.ops.elementwise.operands import (
    binary,
    conj,
    operands,
    rows_of_sum,
    sum_to,
    unary,
    zero,
    zeros_like,
)
from weft._src.ops.registry import NO_NATIVE, Op, args, define_op

Gradients = tuple[Tensor | None, ...]


def _add_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    x, y = ctx.inputs
    return sum_to(g, x), sum_to(g, y)


add_op = binary(
    "AddV2",
    np.add,
    NUMERIC | STRING,
    vjp=_add_vjp,
    shape_arithmetic=True,
    infix="+",
    rows_vjp=rows_of_sum(1),
)


def add(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x + y, element by element; strings are joined.

    Args:
      x: a tensor of numbers or strings.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.add([1, 2], 3).numpy()
    array([4, 5], dtype=int32)
    """
    return add_op(*operands(x, y), name=name or "Add")


def _sub_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    x, y = ctx.inputs
    return sum_to(g, x), sum_to(neg_op(g), y) if ctx.wants(1) else None


sub_op = binary(
    "Sub",
    np.subtract,
    NUMERIC,
    vjp=_sub_vjp,
    shape_arithmetic=True,
    infix="-",
    rows_vjp=rows_of_sum(-1),
)


def subtract(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x - y, element by element.

    Args:
      x: a tensor of numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.subtract([1, 2], 3).numpy()
    array([-2, -1], dtype=int32)
    """
    return sub_op(*operands(x, y), name=name)


def _mul_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    x, y = ctx.inputs
    return (
        sum_to(mul_op(g, conj(y)), x) if ctx.wants(0) else None,
        sum_to(mul_op(g, conj(x)), y) if ctx.wants(1) else None,
    )


mul_op = binary(
    "Mul",
    np.multiply,
    NUMERIC,
    vjp=_mul_vjp,
    shape_arithmetic=True,
    infix="*",
)


def multiply(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x * y, element by element.

    Args:
      x: a tensor of numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.multiply([1.0, 2.0], 3).numpy()
    array([3., 6.], dtype=float32)
    """
    return mul_op(*operands(x, y), name=name)


def _real_div_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    x, y = ctx.inputs
    return (
        sum_to(real_div_op(g, conj(y)), x) if ctx.wants(0) else None,
        sum_to(neg_op(mul_op(real_div_op(g, conj(y)), conj(ctx.outputs[0]))), y)
        if ctx.wants(1)
        else None,
    )


real_div_op = binary(
    "RealDiv", np.true_divide, INEXACT, vjp=_real_div_vjp, native=Pointwise("divide")
)

_NARROW_INTS = frozenset({int8, uint8, int16, uint16})


def division_operands(x: TensorLike, y: TensorLike) -> tuple[Tensor, Tensor]:
    """Both operands of a division as tensors, integers as floats."""
    x, y = operands(x, y)
    if x.dtype.is_integer and x.dtype is y.dtype:
        dtype = float32 if x.dtype in _NARROW_INTS else float64
        x, y = casting.cast(x, dtype), casting.cast(y, dtype)
    return x, y


def truediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x / y as Python divides: integers give float64 (float32 if of 8 or 16 bits).

    Args:
      x: a tensor of numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype unless they are
      integers.

    Raises:
      DTypeError: if the dtypes differ, or are not numeric.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.truediv(7, 2).numpy()
    np.float64(3.5)
    """
    return real_div_op(*division_operands(x, y), name=name or "truediv")


def realdiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x / y for floating and complex numbers.

    Args:
      x: a tensor of floating or complex numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.realdiv([6.0, 3.0], 2.0).numpy()
    array([3. , 1.5], dtype=float32)
    """
    return real_div_op(*operands(x, y), name=name)


def scalar_mul(scalar: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """x times a number; `tf.IndexedSlices` stay what they are.

    Args:
      scalar: the number, a scalar that takes the dtype of `x`.
      x: a tensor of numbers, or `tf.IndexedSlices`, of which the values are multiplied.

    Returns:
      A tensor (or `tf.IndexedSlices`) of the shape and dtype of `x`.

    Raises:
      ShapeError: if `scalar` is no scalar.
      ValueError: if `scalar` is a tensor of another dtype.

    >>> tf.math.scalar_mul(2, [1.0, 3.0]).numpy()
    array([2., 6.], dtype=float32)
    """
    if hasattr(x, "with_values"):  # rows of a tensor: tf.IndexedSlices
        slices: Any = x
        return slices.with_values(scalar_mul(scalar, slices.values, name))
    x = convert_to_tensor(x)
    factor = convert_to_tensor(scalar, dtype=x.dtype)
    rules.check_rank("scalar_mul", factor.spec, 0, name="scalar")
    return mul_op(factor, x, name=name)


def divide(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x / y as Python divides.

    Integers give float64 (float32 if of 8 or 16 bits).

    Args:
      x: a tensor of numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype unless they are
      integers.

    Raises:
      DTypeError: if the dtypes differ, or are not numeric.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.divide([6.0, 3.0], 2).numpy()
    array([3. , 1.5], dtype=float32)
    """
    return truediv(x, y, name)


def _pow_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    x, y = ctx.inputs
    gx = gy = None
    if ctx.wants(0):
        gx = sum_to(g * conj(y * pow_op(x, y - 1)), x)
    if ctx.wants(1):
        # log(x) only where it exists: elsewhere the power does not move smoothly with y.
        positive = (x != 0) if x.dtype.is_complex else (x > 0)
        log_x = selection.select_op(positive, log_op(selection.where(positive, x, 1)), zero(x))
        gy = sum_to(g * conj(ctx.outputs[0] * log_x), y)
    return gx, gy


def _pow_kernel(xp: ArrayNamespace, x: Any, y: Any) -> Any:
    # NumPy takes square roots where an exponent of 0.5 repeats; these differ for -0.0 and -inf.
    if y.size == 1:
        if y.item() == 0.5 and x.dtype.kind == "f":
            return _root(
                xp, x if y.ndim <= x.ndim else xp.reshape(x, (1,) * (y.ndim - x.ndim) + x.shape)
            )
    elif y.shape != x.shape and y.shape[-1] == 1:
        y = xp.array(xp.broadcast_to(y, xp.broadcast_shapes(x.shape, y.shape)))
    return xp.power(x, y)


def _root(xp: ArrayNamespace, x: Any) -> Any:
    """x to the power of 0.5: of -0.0 it is 0.0, of -inf it is inf."""
    out = xp.sqrt(x)
    out += 0
    if x.size and not x.min() > -xp.inf:  # quicker than comparing all
        out = xp.where(x == -xp.inf, x.dtype.type(xp.inf), out)
    return out


pow_op = define_op(
    "Pow",
    args("x y", NUMERIC),
    infer=rules.broadcast("Pow"),
    kernel=_pow_kernel,
    native=Pointwise("pow"),
    xla=Lowered("pow"),
    vjp=_pow_vjp,
    trusts_kernel=True,
    fresh=True,
    slow_kernel=True,
)


def pow(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x to the power of y; an integer to a negative power is an error.

    Args:
      x: a tensor of numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype.

    Raises:
      InvalidArgumentError: if an integer is raised to a negative power.
      DTypeError: if the dtypes differ, or are not numeric.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.pow([1.0, 2.0, 3.0], 2).numpy()
    array([1., 4., 9.], dtype=float32)
    """
    return pow_op(*operands(x, y), name=name)


neg_op: Op = unary(
    "Neg",
    np.negative,
    NUMERIC,
    vjp=lambda ctx, g: (neg_op(g),),
    rows_vjp=lambda ctx, g: (-g,),
    shape_arithmetic=True,
    zero_at_zero=True,
)


def negative(x: TensorLike, name: str | None = None) -> Tensor:
    """-x.

    Args:
      x: a tensor of numbers; unsigned ones wrap around.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.negative([1, -2]).numpy()
    array([-1,  2], dtype=int32)
    """
    return neg_op(convert_to_tensor(x), name=name)


def _extremum_vjp(first_wins: Any) -> Any:
    def vjp(ctx: VjpContext, g: Tensor) -> Gradients:
        x, y = ctx.inputs
        mask = first_wins(x, y)
        return (
            sum_to(selection.select_op(mask, g, zero(g)), x) if ctx.wants(0) else None,
            sum_to(selection.select_op(mask, zero(g), g), y) if ctx.wants(1) else None,
        )

    return vjp


maximum_op = binary(
    "Maximum",
    np.maximum,
    REAL,
    vjp=_extremum_vjp(lambda x, y: x >= y),
    shape_arithmetic=True,
)


def maximum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The larger of x and y, element by element; NaN wins.

    Args:
      x: a tensor of real numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.maximum([1, 5], 3).numpy()
    array([3, 5], dtype=int32)
    """
    return maximum_op(*operands(x, y), name=name)


minimum_op = binary(
    "Minimum",
    np.minimum,
    REAL,
    vjp=_extremum_vjp(lambda x, y: x <= y),
    shape_arithmetic=True,
)


def minimum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The smaller of x and y, element by element; NaN wins.

    Args:
      x: a tensor of real numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.minimum([1, 5], 3).numpy()
    array([1, 3], dtype=int32)
    """
    return minimum_op(*operands(x, y), name=name)


log_op = unary("Log", np.log, INEXACT, vjp=lambda ctx, g: (real_div_op(g, conj(ctx.inputs[0])),))


def log(x: TensorLike, name: str | None = None) -> Tensor:
    """The natural logarithm.

    Args:
      x: a tensor of floating or complex numbers; negative real ones give NaN, 0 gives -inf.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.log([1.0]).numpy()
    array([0.], dtype=float32)
    """
    return log_op(convert_to_tensor(x), name=name)


def polyval(coeffs: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The polynomial with a list of coefficients, that of the highest power first, at x.

    Args:
      coeffs: a Python list of numbers or tensors; numbers take the dtype of `x`. An empty one gives
        0.
      x: a tensor of numbers.

    Returns:
      A tensor of the dtype of `x`, and of its shape, with which those of the coefficients
      broadcast.

    Raises:
      ValueError: if `coeffs` is no list.

    >>> tf.math.polyval([1.0, 2.0, 3.0], 2.0).numpy()
    np.float32(11.0)
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"polyval: coeffs must be a list, got {type(coeffs).__name__}.")
    x = convert_to_tensor(x)
    if not coeffs:
        return zeros_like(x)
    out = adopt(coeffs[0], x.dtype)
    for coefficient in coeffs[1:]:
        out = out * x + adopt(coefficient, x.dtype)
    return out


def _next_after_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    x1, x2 = ctx.inputs
    return sum_to(g, x1), zeros_like(x2)


next_after_op = binary(
    "NextAfter",
    np.nextafter,
    frozenset({float32, float64}),
    vjp=_next_after_vjp,
    native=NO_NATIVE,
    cheap=True,
)


def nextafter(x1: TensorLike, x2: TensorLike, name: str | None = None) -> Tensor:
    """The next number of the dtype after x1 in the direction of x2.

    Args:
      x1: a tensor of float32 or float64.
      x2: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x1` and `x2` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.math.nextafter(1.0, 2.0).numpy()
    np.float32(1.0000001)
    """
    return next_after_op(*operands(x1, x2), name=name)
