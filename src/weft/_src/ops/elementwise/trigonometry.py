"""Trigonometric and hyperbolic functions, and their inverses."""

from __future__ import annotations

import numpy as np

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INEXACT
from weft._src.core.tensor import Tensor
from weft._src.ops.elementwise.operands import conj, unary
from weft._src.ops.elementwise.unary import reciprocal_op, rsqrt_op, square_op
from weft._src.ops.registry import Op

sin_op = unary(
    "Sin",
    np.sin,
    INEXACT,
    vjp=lambda ctx, g: (g * conj(cos_op(ctx.inputs[0])),),
    zero_at_zero=True,
)
cos_op: Op = unary("Cos", np.cos, INEXACT, vjp=lambda ctx, g: (-g * conj(sin_op(ctx.inputs[0])),))
tan_op = unary(
    "Tan",
    np.tan,
    INEXACT,
    vjp=lambda ctx, g: (g * conj(square_op(ctx.outputs[0]) + 1),),
    zero_at_zero=True,
)
asin_op = unary(
    "Asin",
    np.arcsin,
    INEXACT,
    vjp=lambda ctx, g: (g * conj(rsqrt_op(1 - square_op(ctx.inputs[0]))),),
    zero_at_zero=True,
)
acos_op = unary(
    "Acos",
    np.arccos,
    INEXACT,
    vjp=lambda ctx, g: (-g * conj(rsqrt_op(1 - square_op(ctx.inputs[0]))),),
)
atan_op = unary(
    "Atan",
    np.arctan,
    INEXACT,
    vjp=lambda ctx, g: (g * conj(reciprocal_op(square_op(ctx.inputs[0]) + 1)),),
    zero_at_zero=True,
)
sinh_op = unary(
    "Sinh",
    np.sinh,
    INEXACT,
    vjp=lambda ctx, g: (g * conj(cosh_op(ctx.inputs[0])),),
    zero_at_zero=True,
)
cosh_op: Op = unary(
    "Cosh", np.cosh, INEXACT, vjp=lambda ctx, g: (g * conj(sinh_op(ctx.inputs[0])),)
)
tanh_op = unary(
    "Tanh",
    np.tanh,
    INEXACT,
    vjp=lambda ctx, g: (g * conj(1 - square_op(ctx.outputs[0])),),
    zero_at_zero=True,
)
asinh_op = unary(
    "Asinh",
    np.arcsinh,
    INEXACT,
    vjp=lambda ctx, g: (g / conj(cosh_op(ctx.outputs[0])),),
    zero_at_zero=True,
)
acosh_op = unary(
    "Acosh", np.arccosh, INEXACT, vjp=lambda ctx, g: (g / conj(sinh_op(ctx.outputs[0])),)
)
atanh_op = unary(
    "Atanh",
    np.arctanh,
    INEXACT,
    vjp=lambda ctx, g: (g * conj(reciprocal_op(1 - square_op(ctx.inputs[0]))),),
    zero_at_zero=True,
)


def sin(x: TensorLike, name: str | None = None) -> Tensor:
    """The sine.

    Args:
      x: a tensor of floating or complex numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.sin([0.0]).numpy()
    array([0.], dtype=float32)
    """
    return sin_op(convert_to_tensor(x), name=name)


def cos(x: TensorLike, name: str | None = None) -> Tensor:
    """The cosine.

    Args:
      x: a tensor of floating or complex numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.cos([0.0]).numpy()
    array([1.], dtype=float32)
    """
    return cos_op(convert_to_tensor(x), name=name)


def tan(x: TensorLike, name: str | None = None) -> Tensor:
    """The tangent.

    Args:
      x: a tensor of floating or complex numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.tan([0.0]).numpy()
    array([0.], dtype=float32)
    """
    return tan_op(convert_to_tensor(x), name=name)


def asin(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse sine.

    Args:
      x: a tensor of floating or complex numbers; real ones outside of [-1, 1] give NaN.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.asin([0.0]).numpy()
    array([0.], dtype=float32)
    """
    return asin_op(convert_to_tensor(x), name=name)


def acos(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse cosine.

    Args:
      x: a tensor of floating or complex numbers; real ones outside of [-1, 1] give NaN.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.acos([1.0]).numpy()
    array([0.], dtype=float32)
    """
    return acos_op(convert_to_tensor(x), name=name)


def atan(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse tangent.

    Args:
      x: a tensor of floating or complex numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.atan([0.0]).numpy()
    array([0.], dtype=float32)
    """
    return atan_op(convert_to_tensor(x), name=name)


def sinh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic sine.

    Args:
      x: a tensor of floating or complex numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.sinh([0.0]).numpy()
    array([0.], dtype=float32)
    """
    return sinh_op(convert_to_tensor(x), name=name)


def cosh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic cosine.

    Args:
      x: a tensor of floating or complex numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.cosh([0.0]).numpy()
    array([1.], dtype=float32)
    """
    return cosh_op(convert_to_tensor(x), name=name)


def tanh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic tangent.

    Args:
      x: a tensor of floating or complex numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.tanh([0.0]).numpy()
    array([0.], dtype=float32)
    """
    return tanh_op(convert_to_tensor(x), name=name)


def asinh(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse hyperbolic sine.

    Args:
      x: a tensor of floating or complex numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.asinh([0.0]).numpy()
    array([0.], dtype=float32)
    """
    return asinh_op(convert_to_tensor(x), name=name)


def acosh(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse hyperbolic cosine.

    Args:
      x: a tensor of floating or complex numbers; real ones below 1 give NaN.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.acosh([1.0]).numpy()
    array([0.], dtype=float32)
    """
    return acosh_op(convert_to_tensor(x), name=name)


def atanh(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse hyperbolic tangent.

    Args:
      x: a tensor of floating or complex numbers; real ones outside of [-1, 1] give NaN.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.atanh([0.0]).numpy()
    array([0.], dtype=float32)
    """
    return atanh_op(convert_to_tensor(x), name=name)
