"""Special functions: gamma and its kin, inverse error functions, softplus."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import FLOATING
from weft._src.core.native_rules import Pointwise
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL, Lowered
from weft._src.ops import rules
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import unary
from weft._src.ops.elementwise.operands import operands, sum_to
from weft._src.ops.elementwise.unary import computed, special
from weft._src.ops.registry import Op, args, define_op

# --- gamma and zeta ----------------------------------------------------------------------------


def _zeta_kernel(xp: ArrayNamespace, x: Array, q: Array) -> Any:
    return xp.special.zeta(xp.widen(x), xp.widen(q)).astype(x.dtype)


def _zeta_vjp(ctx: VjpContext, g: Tensor) -> tuple[None, Tensor]:
    x, q = ctx.inputs
    return None, sum_to(g * -x * zeta_op(x + 1, q), q)


zeta_op: Op = define_op(
    "Zeta",
    args("x q", FLOATING),
    infer=rules.broadcast("Zeta"),
    kernel=_zeta_kernel,
    native=Pointwise("zeta"),
    xla=KERNEL,
    cheap=False,
    vjp=_zeta_vjp,
    trusts_kernel=True,
    fresh=True,
)


def zeta(x: TensorLike, q: TensorLike, name: str | None = None) -> Tensor:
    """The Hurwitz zeta function: the sum of (q + n) ** -x over n = 0, 1, 2, ...

    Args:
      x: a tensor of floating numbers.
      q: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `q` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.math.zeta(2.0, 1.0).numpy()
    np.float32(1.644934)
    """
    return zeta_op(*operands(x, q), name=name)


def _polygamma_kernel(xp: ArrayNamespace, a: Array, x: Array) -> Any:
    is_here = isinstance(a, np.ndarray | np.generic)  # XLA does not know yet what it gets
    # One factor soon is too large for float32 and the other too small; their product is neither.
    wide_a, wide_x = [v.astype(np.float64) if is_here else xp.widen(v) for v in (a, x)]
    sign = xp.where(wide_a % 2 == 0, wide_a.dtype.type(-1), wide_a.dtype.type(1))
    out = sign * xp.special.gamma(wide_a + 1) * xp.special.zeta(wide_a + 1, wide_x)
    is_first = wide_a == 0
    if not is_here or is_first.any():
        out = xp.where(is_first, xp.special.digamma(wide_x), out)
    # Derivatives exist for whole orders only.
    whole = (wide_a >= 0) & (wide_a == xp.floor(wide_a))
    return xp.where(whole, out, wide_a.dtype.type(xp.nan)).astype(a.dtype)


def _polygamma_vjp(ctx: VjpContext, g: Tensor) -> tuple[None, Tensor]:
    a, x = ctx.inputs
    return None, sum_to(g * polygamma_op(a + 1, x), x)


polygamma_op: Op = define_op(
    "Polygamma",
    args("a x", FLOATING),
    infer=rules.broadcast("Polygamma"),
    kernel=_polygamma_kernel,
    native=Pointwise("polygamma"),
    xla=KERNEL,
    cheap=False,
    vjp=_polygamma_vjp,
    trusts_kernel=True,
    fresh=True,
)


def polygamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The derivative of order `a` of the digamma function.

    NaN where `a` is no natural number.

    Args:
      a: a tensor of floating numbers.
      x: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `a` and `x` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.math.polygamma(1.0, 1.0).numpy()
    np.float32(1.644934)
    """
    return polygamma_op(*operands(a, x), name=name)


digamma_op = computed(
    "Digamma",
    FLOATING,
    special("digamma"),
    native=Pointwise("digamma"),
    xla=Lowered("digamma"),
    vjp=lambda ctx, g: (g * polygamma(1, ctx.inputs[0]),),
    cheap=False,
)


def _lgamma_kernel(xp: ArrayNamespace, x: Array) -> Any:
    out = xp.special.gammaln(xp.widen(x))
    if out.size and not out.min() > -xp.inf:
        out = xp.where(xp.isneginf(out), xp.inf, out)  # SciPy's limit at -inf has the wrong sign
    return out.astype(x.dtype, copy=False)


lgamma_op = computed(
    "Lgamma",
    FLOATING,
    _lgamma_kernel,
    native=Pointwise("lgamma"),
    xla=Lowered("lgamma"),
    vjp=lambda ctx, g: (g * digamma_op(ctx.inputs[0]),),
    slow_kernel=True,
    cheap=False,
)


def digamma(x: TensorLike, name: str | None = None) -> Tensor:
    """The derivative of `lgamma`.

    Args:
      x: a tensor of floating numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.digamma([1.0]).numpy()
    array([-0.5772157], dtype=float32)
    """
    return digamma_op(convert_to_tensor(x), name=name)


def lgamma(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function.

    Args:
      x: a tensor of floating numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.lgamma([1.0, 4.0]).numpy()
    array([0.       , 1.7917595], dtype=float32)
    """
    return lgamma_op(convert_to_tensor(x), name=name)


# --- inverse error functions -------------------------------------------------------------------

_HALF_ROOT_PI = float(np.sqrt(np.pi) / 2)
_ROOT_TWO_PI = float(np.sqrt(2 * np.pi))
_ROOT_HALF = float(np.sqrt(0.5))

erfinv_op = computed(
    "Erfinv",
    FLOATING,
    special("erfinv"),
    native=Pointwise("erfinv"),
    vjp=lambda ctx, g: (g * _HALF_ROOT_PI * unary.exp_op(unary.square_op(ctx.outputs[0])),),
    cheap=False,
)
ndtri_op = computed(
    "Ndtri",
    FLOATING,
    special("ndtri"),
    native=Pointwise("ndtri"),
    vjp=lambda ctx, g: (g * _ROOT_TWO_PI * unary.exp_op(unary.square_op(ctx.outputs[0]) / 2),),
    cheap=False,
)


def erfinv(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of the error function.

    Args:
      x: a tensor of floating numbers; those outside of [-1, 1] give NaN.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.erfinv([0.0]).numpy()
    array([0.], dtype=float32)
    """
    return erfinv_op(convert_to_tensor(x), name=name)


def ndtri(x: TensorLike, name: str | None = None) -> Tensor:
    """The quantile function of the standard normal distribution.

    Args:
      x: a tensor of floating numbers, probabilities; those outside of [0, 1] give NaN.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.ndtri([0.5]).numpy()
    array([0.], dtype=float32)
    """
    return ndtri_op(convert_to_tensor(x), name=name)


def erfcinv(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of 1 - erf(x).

    Args:
      x: a tensor of floating numbers; those outside of [0, 2] give NaN.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.erfcinv([0.5]).numpy()
    array([0.47693625], dtype=float32)
    """
    x = convert_to_tensor(x)
    rules.check_dtype("erfcinv", x.dtype, FLOATING)
    return ndtri_op(x / 2) * -_ROOT_HALF


# --- softplus ----------------------------------------------------------------------------------

softplus_op = computed(
    "Softplus",
    FLOATING,
    lambda xp, x: xp.logaddexp(x, x.dtype.type(0)),
    native=Pointwise("softplus"),
    vjp=lambda ctx, g: (g * unary.sigmoid_op(ctx.inputs[0]),),
    slow_kernel=True,
)


def softplus(features: TensorLike, name: str | None = None) -> Tensor:
    """log(exp(x) + 1), a smooth form of `relu`.

    Args:
      features: a tensor of floating numbers.

    Returns:
      A tensor of the shape and dtype of `features`.

    Raises:
      DTypeError: if `features` has another dtype.

    >>> tf.math.softplus([0.0, 50.0]).numpy()
    array([ 0.6931472, 50.       ], dtype=float32)
    """
    return softplus_op(convert_to_tensor(features), name=name)


def log_sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """log(sigmoid(x)), exact also where sigmoid(x) is close to 0.

    Args:
      x: a tensor of floating numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.log_sigmoid([0.0, -50.0]).numpy()
    array([ -0.6931472, -50.       ], dtype=float32)
    """
    return -softplus_op(-convert_to_tensor(x), name=name)
