"""Elementwise functions of one variable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import FLOATING, INEXACT, NUMERIC, UNUSUAL, DType, bool_
from weft._src.core.native_rules import NativeRule, Pointwise
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.ops import composed_graph_forms, rules
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import casting, complex_exp, complex_parts, guarded
from weft._src.ops.elementwise.operands import conj, scaled_op, unary, zeros_like
from weft._src.ops.registry import NOT_DIFFERENTIABLE, Absent, Op, args, define_op


def computed(
    name: str,
    allowed: frozenset[DType],
    kernel: Callable[..., Any] | Absent,
    *,
    vjp: Callable[..., Any] | Absent,
    native: NativeRule | Absent,
    infer: Callable[..., Any] = rules.same,
    **traits: Any,
) -> Op:
    """An elementwise op whose kernel takes several NumPy calls; traits are those of `define_op`."""
    return define_op(
        name,
        args("x", allowed),
        infer=infer,
        kernel=kernel,
        native=native,
        vjp=vjp,
        trusts_kernel=True,
        fresh=True,
        elementwise=True,
        **traits,
    )


def special(name: str) -> Any:
    """A kernel that calls scipy.special; narrow floats are computed in float32."""

    def kernel(xp: ArrayNamespace, x: Array) -> Any:
        return getattr(xp.special, name)(xp.widen(x)).astype(x.dtype)

    return kernel


# --- absolute value, sign ----------------------------------------------------------------------


def _abs_infer(x: TensorSpec) -> TensorSpec:
    return x.with_dtype(x.dtype.real_dtype)


def _abs_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    x = ctx.inputs[0]
    if x.dtype.is_complex:
        g = casting.cast(g, x.dtype)
    return (g * sign_op(x),)


def _sign_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    (x,), (y,) = ctx.inputs, ctx.outputs
    if not x.dtype.is_complex:
        return (zeros_like(g),)
    # Only the part of g that is perpendicular to y turns it.
    along = complex_parts.real_op(conj(y) * g)
    across = g - y * casting.cast(along, g.dtype)
    return (guarded.div_no_nan_op(across, casting.cast(abs_op(x), g.dtype)),)


abs_op = unary(
    "Abs",
    np.absolute,
    NUMERIC,
    vjp=_abs_vjp,
    infer=_abs_infer,
    zero_at_zero=True,
    graphdef=composed_graph_forms.absolute,
)
sign_op = unary(
    "Sign",
    np.sign,
    NUMERIC,
    vjp=_sign_vjp,
    zero_at_zero=True,
)


def abs(x: TensorLike, name: str | None = None) -> Tensor:
    """The absolute value; the modulus of complex numbers.

    Args:
      x: a tensor of numbers.

    Returns:
      A tensor of the shape of `x`, with its dtype; complex numbers give real ones of their parts'
      dtype.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.abs([-1.5, 2.0]).numpy()
    array([1.5, 2. ], dtype=float32)
    """
    return abs_op(convert_to_tensor(x), name=name)


def sign(x: TensorLike, name: str | None = None) -> Tensor:
    """-1, 0 or 1; x / |x| for complex numbers.

    Args:
      x: a tensor of numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.sign([-1.5, 0.0, 2.0]).numpy()
    array([-1.,  0.,  1.], dtype=float32)
    """
    return sign_op(convert_to_tensor(x), name=name)


# --- rounding ----------------------------------------------------------------------------------

_STRAIGHT_THROUGH = (
    "x + tf.stop_gradient(tf.{name}(x) - x) has the same value, and a gradient as if nothing had "
    "been rounded."
)
floor_op = unary(
    "Floor",
    np.floor,
    FLOATING,
    vjp=NOT_DIFFERENTIABLE,
    smooth=_STRAIGHT_THROUGH.format(name="floor"),
    zero_at_zero=True,
)
ceil_op = unary(
    "Ceil",
    np.ceil,
    FLOATING,
    vjp=NOT_DIFFERENTIABLE,
    smooth=_STRAIGHT_THROUGH.format(name="math.ceil"),
    zero_at_zero=True,
)
round_op = unary(
    "Round",
    np.rint,
    INEXACT,
    vjp=NOT_DIFFERENTIABLE,
    smooth=_STRAIGHT_THROUGH.format(name="round"),
    zero_at_zero=True,
)
rint_op = unary(
    "Rint",
    np.rint,
    FLOATING,
    vjp=NOT_DIFFERENTIABLE,
    smooth=_STRAIGHT_THROUGH.format(name="math.rint"),
    zero_at_zero=True,
)


def floor(x: TensorLike, name: str | None = None) -> Tensor:
    """The largest integer not above x.

    Args:
      x: a tensor of floating numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.floor([-1.5, 1.5]).numpy()
    array([-2.,  1.], dtype=float32)
    """
    return floor_op(convert_to_tensor(x), name=name)


def ceil(x: TensorLike, name: str | None = None) -> Tensor:
    """The smallest integer not below x.

    Args:
      x: a tensor of floating numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.ceil([-1.5, 1.5]).numpy()
    array([-1.,  2.], dtype=float32)
    """
    return ceil_op(convert_to_tensor(x), name=name)


def round(x: TensorLike, name: str | None = None) -> Tensor:
    """The nearest integer, halves to the even one; integers stay as they are.

    Args:
      x: a tensor of numbers; complex ones are rounded in both parts.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.round([0.5, 1.5, 2.4]).numpy()
    array([0., 2., 2.], dtype=float32)
    """
    x = convert_to_tensor(x)
    return x if x.dtype.is_integer else round_op(x, name=name)


def rint(x: TensorLike, name: str | None = None) -> Tensor:
    """The nearest integer, halves to the even one.

    Args:
      x: a tensor of floating numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.rint([0.5, 1.5]).numpy()
    array([0., 2.], dtype=float32)
    """
    return rint_op(convert_to_tensor(x), name=name)


# --- powers and exponentials -------------------------------------------------------------------

square_op = unary(
    "Square",
    np.square,
    NUMERIC,
    vjp=lambda ctx, g: (g * (conj(ctx.inputs[0]) * 2),),
    zero_at_zero=True,
)
exp_op = unary(
    "Exp",
    np.exp,
    INEXACT,
    vjp=lambda ctx, g: (g * conj(ctx.outputs[0]),),
    kernel=complex_exp.kernel,
    ufunc_except=UNUSUAL | {np.dtype(np.complex64), np.dtype(np.complex128)},
)
expm1_op = unary(
    "Expm1",
    np.expm1,
    INEXACT,
    vjp=lambda ctx, g: (g * conj(ctx.outputs[0] + 1),),
    zero_at_zero=True,
)
log1p_op = unary(
    "Log1p",
    np.log1p,
    INEXACT,
    vjp=lambda ctx, g: (g / conj(ctx.inputs[0] + 1),),
    zero_at_zero=True,
)
# As in TensorFlow, a gradient of 0 stays 0 where these have an infinite slope.
sqrt_op = unary(
    "Sqrt",
    np.sqrt,
    INEXACT,
    vjp=lambda ctx, g: (scaled_op(g, 0.5 / conj(ctx.outputs[0])),),
    zero_at_zero=True,
)
reciprocal_op = unary(
    "Reciprocal",
    np.reciprocal,
    INEXACT,
    vjp=lambda ctx, g: (scaled_op(g, -conj(square_op(ctx.outputs[0]))),),
)
rsqrt_op = computed(
    "Rsqrt",
    INEXACT,
    lambda xp, x: xp.reciprocal(xp.sqrt(x)),
    native=Pointwise("rsqrt"),
    vjp=lambda ctx, g: (scaled_op(g, -0.5 * conj(ctx.outputs[0] * square_op(ctx.outputs[0]))),),
)


def square(x: TensorLike, name: str | None = None) -> Tensor:
    """x * x.

    Args:
      x: a tensor of numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.square([-2, 3]).numpy()
    array([4, 9], dtype=int32)
    """
    return square_op(convert_to_tensor(x), name=name)


def exp(x: TensorLike, name: str | None = None) -> Tensor:
    """e to the power of x.

    Args:
      x: a tensor of floating or complex numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.exp([0.0]).numpy()
    array([1.], dtype=float32)
    """
    return exp_op(convert_to_tensor(x), name=name)


def expm1(x: TensorLike, name: str | None = None) -> Tensor:
    """exp(x) - 1, exact also for small x.

    Args:
      x: a tensor of floating or complex numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.expm1([0.0]).numpy()
    array([0.], dtype=float32)
    """
    return expm1_op(convert_to_tensor(x), name=name)


def log1p(x: TensorLike, name: str | None = None) -> Tensor:
    """log(1 + x), exact also for small x.

    Args:
      x: a tensor of floating or complex numbers; real ones below -1 give NaN.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.log1p([0.0]).numpy()
    array([0.], dtype=float32)
    """
    return log1p_op(convert_to_tensor(x), name=name)


def sqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """The square root.

    Args:
      x: a tensor of floating or complex numbers; negative real ones give NaN.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.sqrt([4.0]).numpy()
    array([2.], dtype=float32)
    """
    return sqrt_op(convert_to_tensor(x), name=name)


def rsqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """1 / sqrt(x).

    Args:
      x: a tensor of floating or complex numbers; negative real ones give NaN, 0 gives inf.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.rsqrt([4.0]).numpy()
    array([0.5], dtype=float32)
    """
    return rsqrt_op(convert_to_tensor(x), name=name)


def reciprocal(x: TensorLike, name: str | None = None) -> Tensor:
    """1 / x.

    Args:
      x: a tensor of floating or complex numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.reciprocal([4.0]).numpy()
    array([0.25], dtype=float32)
    """
    return reciprocal_op(convert_to_tensor(x), name=name)


# --- sigmoid ------------------------------------------------------------------------------------


def _sigmoid_kernel(xp: ArrayNamespace, x: Array) -> Any:
    if x.dtype.kind == "c":
        return xp.reciprocal(xp.exp(-x) + 1)
    # Four passes of NumPy take a fifth of the time of scipy.special.expit; exp may overflow to
    # infinity, whose inverse is right.
    out = xp.negative(xp.widen(x), out=...)
    xp.exp(out, out=out)
    out += 1
    xp.reciprocal(out, out=out)
    return out.astype(x.dtype, copy=False)


sigmoid_op = computed(
    "Sigmoid",
    INEXACT,
    _sigmoid_kernel,
    native=Pointwise("sigmoid"),
    xla=Lowered("sigmoid"),
    vjp=lambda ctx, g: (g * conj(ctx.outputs[0] * (1 - ctx.outputs[0])),),
    slow_kernel=True,
)


def sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """1 / (1 + exp(-x)).

    Args:
      x: a tensor of floating or complex numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.sigmoid([0.0]).numpy()
    array([0.5], dtype=float32)
    """
    return sigmoid_op(convert_to_tensor(x), name=name)


# --- questions about floats --------------------------------------------------------------------

_bool = rules.same_as(bool_)
is_nan_op = unary("IsNan", np.isnan, FLOATING, vjp=NOT_DIFFERENTIABLE, infer=_bool)
is_inf_op = unary("IsInf", np.isinf, FLOATING, vjp=NOT_DIFFERENTIABLE, infer=_bool)
is_finite_op = unary("IsFinite", np.isfinite, FLOATING, vjp=NOT_DIFFERENTIABLE, infer=_bool)


def is_nan(x: Any, name: str | None = None) -> Tensor:
    """Which elements are not a number.

    Args:
      x: a tensor of floating numbers.

    Returns:
      A bool tensor of the shape of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.is_nan([1.0, float("nan")]).numpy()
    array([False,  True])
    """
    return is_nan_op(convert_to_tensor(x), name=name)


def is_inf(x: Any, name: str | None = None) -> Tensor:
    """Which elements are infinite.

    Args:
      x: a tensor of floating numbers.

    Returns:
      A bool tensor of the shape of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.is_inf([1.0, float("-inf")]).numpy()
    array([False,  True])
    """
    return is_inf_op(convert_to_tensor(x), name=name)


def is_finite(x: Any, name: str | None = None) -> Tensor:
    """Which elements are neither infinite nor NaN.

    Args:
      x: a tensor of floating numbers.

    Returns:
      A bool tensor of the shape of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.is_finite([1.0, float("inf")]).numpy()
    array([ True, False])
    """
    return is_finite_op(convert_to_tensor(x), name=name)
