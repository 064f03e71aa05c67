"""Helpers of elementwise ops: converting operands, and gradients under broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.dtypes import INEXACT, DType
from weft._src.core.native_rules import NativeRule, Pointwise
from weft._src.core.shapes import Dim
from weft._src.core.tensor import Tensor
from weft._src.ops import rules
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import complex_parts
from weft._src.ops.reduce import sums
from weft._src.ops.registry import Absent, Op, args, define_op


def operands(x: TensorLike, y: TensorLike) -> tuple[Tensor, Tensor]:
    """Both operands as tensors; a Python number or array takes the dtype of the tensor."""
    if isinstance(x, Tensor):
        return x, y if isinstance(y, Tensor) else adopt(y, x.dtype)
    if isinstance(y, Tensor):
        return adopt(x, y.dtype), y
    if hasattr(y, "__tf_tensor__") and not hasattr(x, "__tf_tensor__"):
        y = convert_to_tensor(y)
        return adopt(x, y.dtype), y
    x = convert_to_tensor(x)
    return x, adopt(y, x.dtype)


def conj(x: Tensor) -> Tensor:
    """The conjugate, which real numbers are already: gradients follow TensorFlow's convention."""
    return complex_parts.conj(x) if x.dtype.is_complex else x


def zero(x: Tensor) -> Tensor:
    """The number 0 in the dtype of x."""
    # Not x * 0, which is NaN where x is infinite.
    return convert_to_tensor(np.zeros((), x.dtype.numpy_dtype))


def zeros_like(x: Tensor) -> Tensor:
    """Zeros in the shape and dtype of x."""
    return shapes.broadcast_to_op(zero(x), shapes.shape_op(x, out_type=sums.SHAPE_DTYPE))


def sum_to(g: Tensor, x: Tensor) -> Tensor:
    """Undoes broadcasting: sums a gradient over the axes along which x was repeated."""
    have, want = g.spec.dims, x.spec.dims
    if have is not None and want is not None:
        if have == want:
            return g
        if not any(isinstance(d, Dim) for d in want):
            lead = len(have) - len(want)
            repeated = [lead + i for i, d in enumerate(want) if d == 1 and have[lead + i] != 1]
            if lead and not repeated:
                return sums.sum_op(g, axis=tuple(range(lead)), keepdims=False)
            axes = (*range(lead), *repeated)
            summed = sums.sum_op(g, axis=axes, keepdims=True) if axes else g
            return shapes.reshape_to(summed, want) if lead else summed
    return sums.sum_to_shape_op(g, shapes.shape_op(x, out_type=sums.SHAPE_DTYPE))


def _scaled_kernel(xp: ArrayNamespace, g: Any, factor: Any) -> Any:
    return xp.where(g == 0, g.dtype.type(0), xp.multiply(g, factor))


def _scaled_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor, Tensor]:
    x, factor = ctx.inputs
    return g * conj(factor), g * conj(x)


# A gradient times a factor that may be infinite: what does not matter has no part in the result.
scaled_op: Op = define_op(
    "ScaledGradient",
    args("g factor", INEXACT),
    infer=rules.broadcast("ScaledGradient"),
    kernel=_scaled_kernel,
    native=Pointwise("scaled_gradient"),
    vjp=_scaled_vjp,
    trusts_kernel=True,
    fresh=True,
)


def unary(
    name: str,
    ufunc: np.ufunc,
    allowed: frozenset[DType],
    *,
    vjp: Callable[..., Any] | Absent,
    native: NativeRule | Absent | None = None,
    infer: Callable[..., Any] = rules.same,
    kernel: Callable[..., Any] | None = None,
    **traits: Any,
) -> Op:
    """An elementwise op of one input that NumPy has as a ufunc; traits are those of `define_op`."""
    return define_op(
        name,
        args("x", allowed),
        infer=infer,
        kernel=_kernel(ufunc) if kernel is None else kernel,
        ufunc=ufunc,
        native=Pointwise(ufunc.__name__) if native is None else native,
        vjp=vjp,
        trusts_kernel=True,
        **traits,
    )


def binary(
    name: str,
    ufunc: np.ufunc,
    allowed: frozenset[DType],
    *,
    vjp: Callable[..., Any] | Absent,
    dtype: DType | None = None,
    native: NativeRule | Absent | None = None,
    kernel: Callable[..., Any] | None = None,
    **traits: Any,
) -> Op:
    """An elementwise op of two broadcasting inputs that NumPy has as a ufunc."""
    return define_op(
        name,
        args("x y", allowed),
        infer=rules.broadcast(name, dtype),
        kernel=_kernel(ufunc) if kernel is None else kernel,
        ufunc=ufunc,
        native=Pointwise(ufunc.__name__) if native is None else native,
        vjp=vjp,
        trusts_kernel=True,
        **traits,
    )


def rows_of_sum(sign: int) -> Any:
    """The `rows_vjp` of x + y and x - y: rows pass to operands that were not broadcast."""

    def rule(ctx: VjpContext, g: Any) -> tuple[Any, ...] | None:
        wanted = [i for i in (0, 1) if ctx.wants(i)]
        dims = ctx.outputs[0].spec.dims
        if dims is None or any(ctx.inputs[i].spec.dims != dims for i in wanted):
            return None
        second = g if sign > 0 else -g
        return (g if 0 in wanted else None, second if 1 in wanted else None)

    return rule


def _kernel(ufunc: np.ufunc) -> Any:
    name = ufunc.__name__
    return lambda xp, *xs: getattr(xp, name)(*xs)
