"""Bessel functions of order 0 and 1, plain and (with a trailing e) scaled by an exponential."""

from __future__ import annotations

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.dtypes import FLOATING
from weft._src.core.native_rules import Pointwise
from weft._src.core.tensor import Tensor
from weft._src.ops.arrays import selection
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import guarded, unary
from weft._src.ops.elementwise.unary import computed, special
from weft._src.ops.registry import NO_XLA, Op


def _over(y: Tensor, x: Tensor) -> Tensor:
    """y / x, and 0 at 0, where the quotient is replaced anyway."""
    return guarded.div_no_nan_op(y, x)


def _half_at_zero(x: Tensor, slope: Tensor) -> Tensor:
    """The slope of an odd function of order 1, which is 1/2 at 0."""
    return selection.where(x == 0, adopt(0.5, x.dtype), slope)


# --- modified, of the first kind ---------------------------------------------------------------

i0_op: Op = computed(
    "BesselI0",
    FLOATING,
    special("i0"),
    native=Pointwise("bessel_i0"),
    vjp=lambda ctx, g: (g * i1_op(ctx.inputs[0]),),
    cheap=False,
)
i0e_op: Op = computed(
    "BesselI0e",
    FLOATING,
    special("i0e"),
    native=Pointwise("bessel_i0e"),
    vjp=lambda ctx, g: (
        g * (i1e_op(ctx.inputs[0]) - unary.sign_op(ctx.inputs[0]) * ctx.outputs[0]),
    ),
    cheap=False,
)


def _i1_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    x, y = ctx.inputs[0], ctx.outputs[0]
    return (g * _half_at_zero(x, i0_op(x) - _over(y, x)),)


def _i1e_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    x, y = ctx.inputs[0], ctx.outputs[0]
    return (g * _half_at_zero(x, i0e_op(x) - y * unary.sign_op(x) - _over(y, x)),)


i1_op: Op = computed(
    "BesselI1",
    FLOATING,
    special("i1"),
    native=Pointwise("bessel_i1"),
    vjp=_i1_vjp,
    cheap=False,
)
i1e_op: Op = computed(
    "BesselI1e",
    FLOATING,
    special("i1e"),
    native=Pointwise("bessel_i1e"),
    vjp=_i1e_vjp,
    cheap=False,
)


def bessel_i0(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind and order 0.

    Args:
      x: a tensor of floating numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.bessel_i0([0.5, 1.0]).numpy()
    array([1.0634834, 1.2660658], dtype=float32)
    """
    return i0_op(convert_to_tensor(x), name=name)


def bessel_i0e(x: TensorLike, name: str | None = None) -> Tensor:
    """`bessel_i0` scaled by exp(-|x|), which does not overflow.

    Args:
      x: a tensor of floating numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.bessel_i0e([0.5, 1.0]).numpy()
    array([0.64503527, 0.4657596 ], dtype=float32)
    """
    return i0e_op(convert_to_tensor(x), name=name)


def bessel_i1(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind and order 1.

    Args:
      x: a tensor of floating numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.bessel_i1([0.5, 1.0]).numpy()
    array([0.2578943, 0.5651591], dtype=float32)
    """
    return i1_op(convert_to_tensor(x), name=name)


def bessel_i1e(x: TensorLike, name: str | None = None) -> Tensor:
    """`bessel_i1` scaled by exp(-|x|), which does not overflow.

    Args:
      x: a tensor of floating numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.bessel_i1e([0.5, 1.0]).numpy()
    array([0.1564208 , 0.20791042], dtype=float32)
    """
    return i1e_op(convert_to_tensor(x), name=name)


# --- modified, of the second kind --------------------------------------------------------------

k0_op: Op = computed(
    "BesselK0",
    FLOATING,
    special("k0"),
    native=Pointwise("bessel_k0"),
    xla=NO_XLA,
    vjp=lambda ctx, g: (-g * k1_op(ctx.inputs[0]),),
    cheap=False,
)
k0e_op: Op = computed(
    "BesselK0e",
    FLOATING,
    special("k0e"),
    native=Pointwise("bessel_k0e"),
    xla=NO_XLA,
    vjp=lambda ctx, g: (g * (ctx.outputs[0] - k1e_op(ctx.inputs[0])),),
    cheap=False,
)
k1_op: Op = computed(
    "BesselK1",
    FLOATING,
    special("k1"),
    native=Pointwise("bessel_k1"),
    xla=NO_XLA,
    vjp=lambda ctx, g: (-g * (k0_op(ctx.inputs[0]) + ctx.outputs[0] / ctx.inputs[0]),),
    cheap=False,
)


def _k1e_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    x, y = ctx.inputs[0], ctx.outputs[0]
    return (g * (y - y / x - k0e_op(x)),)


k1e_op: Op = computed(
    "BesselK1e",
    FLOATING,
    special("k1e"),
    native=Pointwise("bessel_k1e"),
    xla=NO_XLA,
    vjp=_k1e_vjp,
    cheap=False,
)


def bessel_k0(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind and order 0.

    Args:
      x: a tensor of floating numbers; negative ones give NaN.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.special.bessel_k0([0.5, 1.0]).numpy()
    array([0.92441905, 0.42102444], dtype=float32)
    """
    return k0_op(convert_to_tensor(x), name=name)


def bessel_k0e(x: TensorLike, name: str | None = None) -> Tensor:
    """`bessel_k0` scaled by exp(x), which does not vanish.

    Args:
      x: a tensor of floating numbers; negative ones give NaN.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.special.bessel_k0e([0.5, 1.0]).numpy()
    array([1.5241094, 1.1444631], dtype=float32)
    """
    return k0e_op(convert_to_tensor(x), name=name)


def bessel_k1(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind and order 1.

    Args:
      x: a tensor of floating numbers; negative ones give NaN.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.special.bessel_k1([0.5, 1.0]).numpy()
    array([1.6564411 , 0.60190725], dtype=float32)
    """
    return k1_op(convert_to_tensor(x), name=name)


def bessel_k1e(x: TensorLike, name: str | None = None) -> Tensor:
    """`bessel_k1` scaled by exp(x), which does not vanish.

    Args:
      x: a tensor of floating numbers; negative ones give NaN.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.special.bessel_k1e([0.5, 1.0]).numpy()
    array([2.7310097, 1.6361535], dtype=float32)
    """
    return k1e_op(convert_to_tensor(x), name=name)


# --- of the first and second kind --------------------------------------------------------------

j0_op: Op = computed(
    "BesselJ0",
    FLOATING,
    special("j0"),
    native=Pointwise("bessel_j0"),
    xla=NO_XLA,
    vjp=lambda ctx, g: (-g * j1_op(ctx.inputs[0]),),
    cheap=False,
)


def _j1_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    x, y = ctx.inputs[0], ctx.outputs[0]
    return (g * _half_at_zero(x, j0_op(x) - _over(y, x)),)


j1_op: Op = computed(
    "BesselJ1",
    FLOATING,
    special("j1"),
    native=Pointwise("bessel_j1"),
    xla=NO_XLA,
    vjp=_j1_vjp,
    cheap=False,
)
y0_op: Op = computed(
    "BesselY0",
    FLOATING,
    special("y0"),
    native=Pointwise("bessel_y0"),
    xla=NO_XLA,
    vjp=lambda ctx, g: (-g * y1_op(ctx.inputs[0]),),
    cheap=False,
)
y1_op: Op = computed(
    "BesselY1",
    FLOATING,
    special("y1"),
    native=Pointwise("bessel_y1"),
    xla=NO_XLA,
    vjp=lambda ctx, g: (g * (y0_op(ctx.inputs[0]) - ctx.outputs[0] / ctx.inputs[0]),),
    cheap=False,
)


def bessel_j0(x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind and order 0.

    Args:
      x: a tensor of floating numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.special.bessel_j0([0.5, 1.0]).numpy()
    array([0.9384698, 0.7651977], dtype=float32)
    """
    return j0_op(convert_to_tensor(x), name=name)


def bessel_j1(x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind and order 1.

    Args:
      x: a tensor of floating numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.special.bessel_j1([0.5, 1.0]).numpy()
    array([0.24226846, 0.44005057], dtype=float32)
    """
    return j1_op(convert_to_tensor(x), name=name)


def bessel_y0(x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind and order 0.

    Args:
      x: a tensor of floating numbers; negative ones give NaN.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.special.bessel_y0([0.5, 1.0]).numpy()
    array([-0.44451874,  0.08825696], dtype=float32)
    """
    return y0_op(convert_to_tensor(x), name=name)


def bessel_y1(x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind and order 1.

    Args:
      x: a tensor of floating numbers; negative ones give NaN.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.special.bessel_y1([0.5, 1.0]).numpy()
    array([-1.4714724, -0.7812128], dtype=float32)
    """
    return y1_op(convert_to_tensor(x), name=name)
