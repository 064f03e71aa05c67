"""Products, quotients and logarithms that are 0, not NaN, where one factor is 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INEXACT, NUMERIC, DType
from weft._src.core.native_rules import NativeRule, Pointwise
from weft._src.core.tensor import Array, Tensor
from weft._src.ops import rules
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import arithmetic, casting, unary
from weft._src.ops.elementwise.operands import conj, operands, sum_to
from weft._src.ops.registry import Absent, Op, args, define_op

Gradients = tuple[Tensor | None, ...]


def _binary(
    name: str,
    allowed: frozenset[DType],
    kernel: Callable[..., Any] | Absent,
    *,
    vjp: Callable[..., Any] | Absent,
    native: NativeRule | Absent,
    **traits: Any,
) -> Op:
    """An elementwise op of two broadcasting inputs whose kernel takes several NumPy calls."""
    return define_op(
        name,
        args("x y", allowed),
        infer=rules.broadcast(name),
        kernel=kernel,
        native=native,
        vjp=vjp,
        trusts_kernel=True,
        fresh=True,
        **traits,
    )


def _is_not_zero(x: Tensor) -> Tensor:
    return casting.cast(x != 0, x.dtype)


# --- the square of the difference --------------------------------------------------------------


def _squared_difference_kernel(xp: ArrayNamespace, x: Array, y: Array) -> Any:
    difference = xp.subtract(x, y)
    if difference.dtype.kind == "c":
        return xp.multiply(difference, xp.conjugate(difference))
    return xp.square(difference)


def _squared_difference_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    x, y = ctx.inputs
    gx = g * 2 * (x - y)
    return sum_to(gx, x) if ctx.wants(0) else None, sum_to(-gx, y) if ctx.wants(1) else None


squared_difference_op = _binary(
    "SquaredDifference",
    NUMERIC,
    _squared_difference_kernel,
    vjp=_squared_difference_vjp,
    native=Pointwise("squared_difference"),
)


def squared_difference(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """(x - y) squared; for complex numbers the squared modulus of the difference.

    Args:
      x: a tensor of numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.math.squared_difference([1.0, 5.0], 3.0).numpy()
    array([4., 4.], dtype=float32)
    """
    return squared_difference_op(*operands(x, y), name=name)


# --- zero wins ---------------------------------------------------------------------------------


def _div_no_nan_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    x, y = ctx.inputs
    gx = div_no_nan_op(g, conj(y))
    return (
        sum_to(gx, x) if ctx.wants(0) else None,
        sum_to(g * div_no_nan_op(div_no_nan_op(conj(-x), conj(y)), conj(y)), y)
        if ctx.wants(1)
        else None,
    )


div_no_nan_op: Op = _binary(
    "DivNoNan",
    INEXACT,
    lambda xp, x, y: xp.where(y == 0, x.dtype.type(0), xp.divide(x, y)),
    vjp=_div_no_nan_vjp,
    native=Pointwise("div_no_nan"),
)


def divide_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x / y as Python divides, and 0 where y is 0.

    Args:
      x: a tensor of numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype; integers give float64
      (float32 if of 8 or 16 bits).

    Raises:
      DTypeError: if the dtypes differ, or are not numeric.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.math.divide_no_nan([3.0, 1.0], [2.0, 0.0]).numpy()
    array([1.5, 0. ], dtype=float32)
    """
    return div_no_nan_op(*arithmetic.division_operands(x, y), name=name)


def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """1 / x, and 0 where x is 0.

    Args:
      x: a tensor of floating or complex numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.reciprocal_no_nan([2.0, 0.0]).numpy()
    array([0.5, 0. ], dtype=float32)
    """
    x = convert_to_tensor(x)
    rules.check_dtype("reciprocal_no_nan", x.dtype, INEXACT)
    return divide_no_nan(1, x, name=name)


def _mul_no_nan_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    x, y = ctx.inputs
    return (
        sum_to(mul_no_nan_op(g, conj(y)), x) if ctx.wants(0) else None,
        sum_to(mul_no_nan_op(conj(x), g), y) if ctx.wants(1) else None,
    )


mul_no_nan_op: Op = _binary(
    "MulNoNan",
    INEXACT,
    lambda xp, x, y: xp.where(y == 0, x.dtype.type(0), xp.multiply(x, y)),
    vjp=_mul_no_nan_vjp,
    native=Pointwise("mul_no_nan"),
)


def multiply_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x * y, and 0 where y is 0 even if x is infinite or NaN.

    Args:
      x: a tensor of floating or complex numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.math.multiply_no_nan([3.0, np.inf], [2.0, 0.0]).numpy()
    array([6., 0.], dtype=float32)
    """
    return mul_no_nan_op(*operands(x, y), name=name)


def _xlogy_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    x, y = ctx.inputs
    return (
        sum_to(g * conj(xlogy_op(_is_not_zero(x), y)), x) if ctx.wants(0) else None,
        sum_to(g * conj(xdivy_op(x, y)), y) if ctx.wants(1) else None,
    )


xlogy_op: Op = _binary(
    "Xlogy",
    INEXACT,
    lambda xp, x, y: xp.where(x == 0, x.dtype.type(0), xp.multiply(x, xp.log(y))),
    vjp=_xlogy_vjp,
    native=Pointwise("xlogy"),
    slow_kernel=True,
)


def xlogy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x * log(y), and 0 where x is 0.

    Args:
      x: a tensor of floating or complex numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.math.xlogy([0.0, 2.0], [0.0, 1.0]).numpy()
    array([0., 0.], dtype=float32)
    """
    return xlogy_op(*operands(x, y), name=name)


def _xlog1py_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    x, y = ctx.inputs
    return (
        sum_to(g * conj(xlog1py_op(_is_not_zero(x), y)), x) if ctx.wants(0) else None,
        sum_to(g * conj(xdivy_op(x, y + 1)), y) if ctx.wants(1) else None,
    )


xlog1py_op: Op = _binary(
    "Xlog1py",
    INEXACT,
    lambda xp, x, y: xp.where(x == 0, x.dtype.type(0), xp.multiply(x, xp.log1p(y))),
    vjp=_xlog1py_vjp,
    native=Pointwise("xlog1py"),
    slow_kernel=True,
)


def xlog1py(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x * log(1 + y), and 0 where x is 0.

    Args:
      x: a tensor of floating or complex numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.math.xlog1py([0.0, 2.0], [-1.0, 0.0]).numpy()
    array([0., 0.], dtype=float32)
    """
    return xlog1py_op(*operands(x, y), name=name)


def _xdivy_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    x, y = ctx.inputs
    return (
        sum_to(g * conj(xdivy_op(_is_not_zero(x), y)), x) if ctx.wants(0) else None,
        sum_to(g * conj(xdivy_op(-x, unary.square_op(y))), y) if ctx.wants(1) else None,
    )


xdivy_op: Op = _binary(
    "Xdivy",
    INEXACT,
    lambda xp, x, y: xp.where(x == 0, x.dtype.type(0), xp.divide(x, y)),
    vjp=_xdivy_vjp,
    native=Pointwise("xdivy"),
    slow_kernel=True,
)


def xdivy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x / y, and 0 where x is 0.

    Args:
      x: a tensor of floating or complex numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.math.xdivy([0.0, 2.0], [0.0, 4.0]).numpy()
    array([0. , 0.5], dtype=float32)
    """
    return xdivy_op(*operands(x, y), name=name)
