"""The error function and its complement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import FLOATING
from weft._src.core.native_rules import Pointwise
from weft._src.core.tensor import Array, Tensor
from weft._src.ops.elementwise.unary import computed, exp_op, special, square_op

_TWO_OVER_ROOT_PI = float(2 / np.sqrt(np.pi))

# erf(x) / x as a quotient of polynomials in x**2, a minimax fit of the relative error (5.3e-8) up
# to where erf is 1 in float32.
_ABOVE = [np.float32(c) for c in (
    1.98152485e-08, -1.95537582e-06, 0.000142494051, 0.0037367942, 0.0506892312, 0.200806452,
    1.12837911,
)]  # fmt: skip
_BELOW = [np.float32(c) for c in (0.000963909242, 0.0144269313, 0.115361878, 0.511291693, 1.0)]
_TOP, _ONE = np.float32(3.93), np.float32(1)
_BLOCK = 1 << 14  # elements whose four temporaries stay in the cache


# --- error function ----------------------------------------------------------------------------


def _erf_kernel(xp: ArrayNamespace, x: Array) -> Any:
    wide = xp.widen(x)
    if wide.dtype != np.float32 or not isinstance(wide, np.ndarray | np.generic):
        return xp.special.erf(wide).astype(x.dtype)
    # A third of the time of scipy.special.erf, and of loading SciPy nothing.
    flat = np.reshape(wide, -1)
    out = np.empty(flat.shape, np.float32)
    for start in range(0, flat.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        _erf_of_block(flat[part], out[part])
    return out.reshape(np.shape(x)).astype(x.dtype, copy=False)


def _erf_of_block(x: Array, out: Array) -> None:
    x = np.minimum(np.maximum(x, -_TOP), _TOP)
    square = x * x
    above = _polynomial(square, _ABOVE)
    above *= x
    above /= _polynomial(square, _BELOW)
    np.minimum(np.maximum(above, -_ONE, out=above), _ONE, out=out)


def _polynomial(x: Array, coefficients: Sequence[np.float32]) -> Array:
    """By Horner's rule, the last coefficient first."""
    first, second, *others = coefficients
    out = x * first
    out += second
    for coefficient in others:
        out *= x
        out += coefficient
    return out


erf_op = computed(
    "Erf",
    FLOATING,
    _erf_kernel,
    native=Pointwise("erf"),
    vjp=lambda ctx, g: (g * _TWO_OVER_ROOT_PI * exp_op(-square_op(ctx.inputs[0])),),
    zero_at_zero=True,
    slow_kernel=True,
)


def erf(x: TensorLike, name: str | None = None) -> Tensor:
    """The error function.

    Args:
      x: a tensor of floating numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.erf([0.0]).numpy()
    array([0.], dtype=float32)
    """
    return erf_op(convert_to_tensor(x), name=name)


# --- its complement ----------------------------------------------------------------------------

erfc_op = computed(
    "Erfc",
    FLOATING,
    special("erfc"),
    native=Pointwise("erfc"),
    vjp=lambda ctx, g: (g * -_TWO_OVER_ROOT_PI * exp_op(-square_op(ctx.inputs[0])),),
    slow_kernel=True,
)


def erfc(x: TensorLike, name: str | None = None) -> Tensor:
    """1 - erf(x), exact also where erf(x) is close to 1.

    Args:
      x: a tensor of floating numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.erfc([0.0]).numpy()
    array([1.], dtype=float32)
    """
    return erfc_op(convert_to_tensor(x), name=name)
