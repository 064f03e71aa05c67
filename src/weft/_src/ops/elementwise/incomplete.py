"""The incomplete gamma and beta functions, and the logarithm of the beta function."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import FLOATING
from weft._src.core.native_rules import Pointwise
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL
from weft._src.errors import UnsupportedError
from weft._src.ops import rules
from weft._src.ops.arrays import joining
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import guarded, special, unary
from weft._src.ops.elementwise.operands import operands, sum_to
from weft._src.ops.reduce import sums
from weft._src.ops.registry import NO_NATIVE, Op, args, define_op

Gradients = tuple[Tensor | None, ...]

# --- incomplete gamma --------------------------------------------------------------------------

# The central difference of eighth order.
_DIFFERENCE = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))


def gammainc_slope(xp: ArrayNamespace, a: Array, x: Array) -> Array:
    """The derivative of the lower incomplete gamma function by `a`, in float64.

    There is no closed form. The logarithm of the tail in which x lies is smooth in `a` on the
    scale of min(a, sqrt(a)); differences of it are right to about 11 digits, also far out.
    """
    a, x = xp.broadcast_arrays(xp.asarray(a, xp.float64), xp.asarray(x, xp.float64))
    step = 0.02 * xp.minimum(a, xp.sqrt(a))
    low = x < a

    def tail(at: Array) -> Array:
        return xp.where(low, xp.special.gammainc(at, x), xp.special.gammaincc(at, x))

    slope = sum(
        w * (xp.log(tail(a + k * step)) - xp.log(tail(a - k * step))) for k, w in _DIFFERENCE
    )
    out = slope / step * tail(a) * xp.where(low, 1, -1)
    nothing = (tail(a - 4 * step) == 0) | (tail(a + 4 * step) == 0)  # both tails have vanished
    return xp.where(nothing & (a > 0), 0.0, out)


def _refuse_slope(ctx: VjpContext, g: Tensor) -> Gradients:
    raise UnsupportedError(
        "igamma: second derivatives with respect to `a` are not available; stop the gradient of "
        "`a` with tf.stop_gradient."
    )


slope_op: Op = define_op(
    "IgammaGradA",
    args("a x", FLOATING),
    infer=rules.broadcast("IgammaGradA"),
    kernel=lambda xp, a, x: gammainc_slope(xp, a, x).astype(a.dtype),
    native=NO_NATIVE,
    xla=KERNEL,
    elementwise=True,
    vjp=_refuse_slope,
    trusts_kernel=True,
    fresh=True,
)


def _density(a: Tensor, x: Tensor) -> Tensor:
    """The derivative of igamma by x; TensorFlow, too, computes it by its logarithm."""
    return unary.exp_op(guarded.xlogy(a - 1, x) - x - special.lgamma_op(a))


def _igamma_vjp(sign: int) -> Any:
    def vjp(ctx: VjpContext, g: Tensor) -> Gradients:
        a, x = ctx.inputs
        g = g if sign > 0 else -g
        return (
            sum_to(g * slope_op(a, x), a) if ctx.wants(0) else None,
            sum_to(g * _density(a, x), x) if ctx.wants(1) else None,
        )

    return vjp


def _upper(xp: ArrayNamespace, a: Array, x: Array) -> Array:
    """gammaincc in double, for what is rounded to float32 anyway.

    SciPy's takes ten times as long as gammainc where both are of a size: there it is the
    difference to 1.
    """
    a, x = xp.broadcast_arrays(a.astype(xp.float64), x.astype(xp.float64))
    lower = xp.special.gammainc(a, x)
    out = xp.asarray(1.0 - lower)
    exact = ~(lower < _LOSES_DIGITS)
    out[exact] = xp.special.gammaincc(a[exact], x[exact])
    return out


_LOSES_DIGITS = 0.99  # from here on the difference to 1 does


def _define(name: str, function: str, sign: int) -> Op:
    def kernel(xp: ArrayNamespace, a: Array, x: Array) -> Any:
        if function == "gammaincc" and type(x) is np.ndarray and a.dtype.itemsize <= 4:
            out = _upper(xp, a, x)
        else:
            out = getattr(xp.special, function)(xp.widen(a), xp.widen(x))
        # Older versions of SciPy have numbers for some of them.
        return xp.where(xp.isnan(a) | xp.isnan(x), xp.nan, out).astype(a.dtype)

    return define_op(
        name,
        args("a x", FLOATING),
        infer=rules.broadcast(name),
        kernel=kernel,
        native=Pointwise(function),
        cheap=False,
        vjp=_igamma_vjp(sign),
        trusts_kernel=True,
        fresh=True,
    )


igamma_op = _define("Igamma", "gammainc", 1)
igammac_op = _define("Igammac", "gammaincc", -1)


def igamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The lower incomplete gamma function, as a part of the whole: 0 at x = 0, 1 at infinity.

    NaN where `a` or `x` is negative. Second derivatives by `a` are not available.

    Args:
      a: a tensor of floating numbers.
      x: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `a` and `x` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.math.igamma([1.0, 2.0], 1.0).numpy()
    array([0.63212055, 0.26424113], dtype=float32)
    """
    return igamma_op(*operands(a, x), name=name)


def igammac(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The upper incomplete gamma function, 1 - igamma(a, x) without loss of digits.

    NaN where `a` or `x` is negative. Second derivatives by `a` are not available.

    Args:
      a: a tensor of floating numbers.
      x: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `a` and `x` broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.math.igammac([1.0, 2.0], 1.0).numpy()
    array([0.36787945, 0.7357589 ], dtype=float32)
    """
    return igammac_op(*operands(a, x), name=name)


# --- incomplete beta ---------------------------------------------------------------------------


def _betainc_kernel(xp: ArrayNamespace, a: Array, b: Array, x: Array) -> Any:
    a, b, x, dtype = xp.widen(a), xp.widen(b), xp.widen(x), a.dtype
    # SciPy's float32 has NaN (older versions 0) where the sum of the parameters overflows, and 0 or
    # 1 for parameters near the smallest number. XLA has no double to fall back on.
    is_numpy = isinstance(a, np.ndarray | np.generic)
    wide = [part.astype(xp.float64) for part in (a, b, x)] if is_numpy else [a, b, x]
    out = xp.special.betainc(*wide)
    # Where a parameter is 0 or infinite all weight is at one end; older versions of SciPy have NaN.
    at_zero, at_one = (a == 0) | (b == xp.inf), (b == 0) | (a == xp.inf)
    is_limit = (at_zero != at_one) & (a >= 0) & (b >= 0) & (x >= 0) & (x <= 1)
    return xp.where(is_limit, xp.where(at_zero, x > 0, x >= 1), out).astype(dtype)


def _betainc_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    a, b, x = ctx.inputs
    # As in TensorFlow, there is no gradient for a and b.
    log_beta = special.lgamma_op(a) + special.lgamma_op(b) - special.lgamma_op(a + b)
    slope = unary.exp_op(guarded.xlog1py(b - 1, -x) + guarded.xlogy(a - 1, x) - log_beta)
    return None, None, sum_to(g * slope, x)


betainc_op: Op = define_op(
    "Betainc",
    args("a b x", FLOATING),
    infer=rules.broadcast("Betainc"),
    kernel=_betainc_kernel,
    native=Pointwise("betainc"),
    vjp=_betainc_vjp,
    trusts_kernel=True,
    fresh=True,
    cheap=False,
)


def betainc(a: TensorLike, b: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The regularised incomplete beta function: 0 at x = 0, 1 at x = 1.

    Args:
      a: the first parameter, a tensor of positive floating numbers.
      b: the second parameter, of the same dtype.
      x: where to evaluate, numbers from 0 to 1 of the same dtype.

    Returns:
      A tensor of the shape that all three broadcast to, with their dtype.

    Raises:
      DTypeError: if the dtypes differ, or are not floating.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.math.betainc(2.0, 3.0, [0.0, 0.5, 1.0]).numpy()
    array([0.    , 0.6875, 1.    ], dtype=float32)
    """
    return betainc_op(*joining.matching_tensors([a, b, x]), name=name)


def lbeta(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the absolute value of the beta function of the numbers in the last axis.

    Args:
      x: a tensor of floating numbers, of rank 1 or more.

    Returns:
      A tensor of the dtype of `x`, without its last axis.

    Raises:
      DTypeError: if `x` has another dtype.
      ShapeError: if `x` is a scalar.

    >>> tf.math.lbeta([2.0, 3.0]).numpy()
    np.float32(-2.4849067)
    """
    x = convert_to_tensor(x)
    gammas = sums.reduce_sum(special.lgamma_op(x), axis=-1)
    return gammas - special.lgamma_op(sums.reduce_sum(x, axis=-1), name=name)
