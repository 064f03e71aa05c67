"""Complex numbers: conjugate, parts, and making them of parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import (
    COMPLEX,
    FLOATING,
    NUMERIC,
    complex64,
    complex128,
    float32,
    float64,
)
from weft._src.core.native_rules import Pointwise
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.core.xla_rules import KERNEL, Lowered
from weft._src.errors import DTypeError
from weft._src.ops import rules
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import operands
from weft._src.ops.registry import NO_NATIVE, Op, args, define_op

conj_op: Op = define_op(
    "Conj",
    args("x", COMPLEX),
    infer=rules.same,
    kernel=lambda xp, x: xp.conjugate(x),
    ufunc=np.conjugate,
    native=Pointwise("conjugate"),
    vjp=lambda ctx, g: (conj_op(g),),
    trusts_kernel=True,
    zero_at_zero=True,
)


def conj(x: TensorLike, name: str | None = None) -> Tensor:
    """The complex conjugate; a real tensor is returned as it is.

    Args:
      x: a tensor of numbers.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.conj(1 + 2j).numpy()
    np.complex128(1-2j)
    """
    x = numeric("conj", x)
    return conj_op(x, name=name) if x.dtype.is_complex else x


def numeric(op: str, input: TensorLike) -> Tensor:
    """The input as a tensor; DTypeError unless arithmetic is defined on it."""
    x = convert_to_tensor(input)
    if x.dtype not in NUMERIC:
        raise DTypeError(f"{op}: input must be numeric, got {x.dtype.name}.")
    return x


def part_infer(x: TensorSpec) -> TensorSpec:
    """The type rule of real numbers made of complex ones."""
    return x.with_dtype(x.dtype.real_dtype)


real_op = define_op(
    "Real",
    args("input", COMPLEX),
    infer=part_infer,
    kernel=lambda xp, x: xp.real(x),
    native=NO_NATIVE,
    xla=KERNEL,
    vjp=lambda ctx, g: (complex_op(g, operands.zero(g)),),
    trusts_kernel=True,
    elementwise=True,
)

imag_op = define_op(
    "Imag",
    args("input", COMPLEX),
    infer=part_infer,
    kernel=lambda xp, x: xp.imag(x),
    native=NO_NATIVE,
    xla=KERNEL,
    vjp=lambda ctx, g: (complex_op(operands.zero(g), g),),
    trusts_kernel=True,
    elementwise=True,
)

_COMPLEX_OF = {float32: complex64, float64: complex128}


def _complex_infer(real: TensorSpec, imag: TensorSpec) -> TensorSpec:
    dims = rules.broadcast_dims("complex", real.dims, imag.dims)
    return TensorSpec.of(_COMPLEX_OF[real.dtype], dims)


def _complex_kernel(xp: ArrayNamespace, real: Any, imag: Any) -> Any:
    real, imag = xp.broadcast_arrays(real, imag)
    out = xp.empty(real.shape, xp.complex64 if real.dtype == xp.float32 else xp.complex128)
    out.real, out.imag = real, imag
    return out


def _complex_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor, Tensor]:
    real, imag = ctx.inputs
    return operands.sum_to(real_op(g), real), operands.sum_to(imag_op(g), imag)


complex_op: Op = define_op(
    "Complex",
    args("real imag", FLOATING & frozenset(_COMPLEX_OF)),
    infer=_complex_infer,
    kernel=_complex_kernel,
    native=NO_NATIVE,
    xla=Lowered("complex"),
    vjp=_complex_vjp,
    fresh=True,
    elementwise=True,
)


def complex(real: TensorLike, imag: TensorLike, name: str | None = None) -> Tensor:
    """Complex numbers from their real and imaginary parts.

    Args:
      real: a tensor of float32 or float64.
      imag: another one of the same dtype; a Python number takes that of `real`.

    Returns:
      A tensor of the shape that both broadcast to: complex64 of float32, complex128 of float64.

    Raises:
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.complex(1.0, 2.0).numpy()
    np.complex64(1+2j)
    """
    real = convert_to_tensor(real)
    return complex_op(real, convert_to_tensor(imag, dtype_hint=real.dtype), name=name)


def real(input: TensorLike, name: str | None = None) -> Tensor:
    """The real part.

    Args:
      input: a tensor of numbers; real ones are returned as they are.

    Returns:
      A tensor of the shape of `input`, of float32 for complex64 and float64 for complex128.

    Raises:
      DTypeError: if `input` is not numeric.

    >>> tf.math.real([1 + 2j]).numpy()
    array([1.])
    """
    x = numeric("real", input)
    return real_op(x, name=name) if x.dtype.is_complex else x


def imag(input: TensorLike, name: str | None = None) -> Tensor:
    """The imaginary part; zeros for real numbers.

    Args:
      input: a tensor of numbers.

    Returns:
      A tensor of the shape of `input`, of float32 for complex64 and float64 for complex128; real
      numbers keep their dtype.

    Raises:
      DTypeError: if `input` is not numeric.

    >>> tf.math.imag([1 + 2j]).numpy()
    array([2.])
    """
    x = numeric("imag", input)
    return imag_op(x, name=name) if x.dtype.is_complex else operands.zeros_like(x)
