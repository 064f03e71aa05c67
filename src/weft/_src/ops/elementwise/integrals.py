"""Functions that are defined as integrals: Dawson, exponential, Fresnel, Spence."""

from __future__ import annotations

import math
from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.dtypes import FLOATING
from weft._src.core.native_rules import Pointwise
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL, Lowered
from weft._src.ops.arrays import selection
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import arithmetic, guarded, trigonometry, unary
from weft._src.ops.elementwise.unary import computed, special
from weft._src.ops.registry import Op

_HALF_PI = math.pi / 2

dawsn_op: Op = computed(
    "Dawsn",
    FLOATING,
    special("dawsn"),
    native=Pointwise("dawsn"),
    vjp=lambda ctx, g: (g * (1 - 2 * ctx.inputs[0] * ctx.outputs[0]),),
    cheap=False,
)


def _expint_kernel(xp: ArrayNamespace, x: Array) -> Any:
    wide = xp.widen(x)
    # Older versions of SciPy have NaN at infinity.
    return xp.where(wide == xp.inf, xp.inf, xp.special.expi(wide)).astype(x.dtype)


expint_op: Op = computed(
    "Expint",
    FLOATING,
    _expint_kernel,
    native=Pointwise("expint"),
    xla=Lowered("expint"),
    vjp=lambda ctx, g: (g * unary.exp_op(ctx.inputs[0]) / ctx.inputs[0],),
    cheap=False,
)


def dawsn(x: TensorLike, name: str | None = None) -> Tensor:
    """Dawson's integral, exp(-x ** 2) times the integral of exp(t ** 2) from 0 to x.

    Args:
      x: a tensor of floating numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.special.dawsn([-1.0, 0.5]).numpy()
    array([-0.5380795,  0.4244364], dtype=float32)
    """
    return dawsn_op(convert_to_tensor(x), name=name)


def expint(x: TensorLike, name: str | None = None) -> Tensor:
    """The exponential integral Ei: the integral of exp(t) / t from minus infinity to x.

    Args:
      x: a tensor of floating numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.special.expint([1.0, 2.0]).numpy()
    array([1.8951178, 4.954234 ], dtype=float32)
    """
    return expint_op(convert_to_tensor(x), name=name)


def _fresnel(part: int) -> Any:
    def kernel(xp: ArrayNamespace, x: Array) -> Array:
        return xp.asarray(xp.special.fresnel(xp.widen(x))[part]).astype(x.dtype)

    return kernel


fresnel_sin_op: Op = computed(
    "FresnelSin",
    FLOATING,
    _fresnel(0),
    native=Pointwise("fresnel_sin"),
    xla=KERNEL,
    cheap=False,
    vjp=lambda ctx, g: (g * trigonometry.sin_op(_HALF_PI * unary.square_op(ctx.inputs[0])),),
)
fresnel_cos_op: Op = computed(
    "FresnelCos",
    FLOATING,
    _fresnel(1),
    native=Pointwise("fresnel_cos"),
    xla=KERNEL,
    cheap=False,
    vjp=lambda ctx, g: (g * trigonometry.cos_op(_HALF_PI * unary.square_op(ctx.inputs[0])),),
)


def fresnel_sin(x: TensorLike, name: str | None = None) -> Tensor:
    """The integral of sin(pi / 2 * t ** 2) from 0 to x.

    Args:
      x: a tensor of floating numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.special.fresnel_sin([-1.0, 0.5]).numpy()
    array([-0.43825915,  0.06473243], dtype=float32)
    """
    return fresnel_sin_op(convert_to_tensor(x), name=name)


def fresnel_cos(x: TensorLike, name: str | None = None) -> Tensor:
    """The integral of cos(pi / 2 * t ** 2) from 0 to x.

    Args:
      x: a tensor of floating numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.special.fresnel_cos([-1.0, 0.5]).numpy()
    array([-0.7798934 ,  0.49234423], dtype=float32)
    """
    return fresnel_cos_op(convert_to_tensor(x), name=name)


def _spence_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    x = ctx.inputs[0]
    slope = guarded.div_no_nan_op(arithmetic.log_op(x), 1 - x)
    return (g * selection.where(x == 1, adopt(-1, x.dtype), slope),)


spence_op: Op = computed(
    "Spence",
    FLOATING,
    special("spence"),
    native=Pointwise("spence"),
    vjp=_spence_vjp,
    cheap=False,
)


def spence(x: TensorLike, name: str | None = None) -> Tensor:
    """The integral of log(t) / (1 - t) from 1 to x, which is the dilogarithm of 1 - x.

    Args:
      x: a tensor of floating numbers; negative ones give NaN.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.special.spence([0.5, 2.0]).numpy()
    array([ 0.5822405, -0.822467 ], dtype=float32)
    """
    return spence_op(convert_to_tensor(x), name=name)
