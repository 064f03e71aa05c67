"""Changing the dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core import dtypes, small_numbers
from weft._src.core.aliases import ArrayNamespace, DTypeLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import (
    BOOL,
    NUMERIC,
    QUANTIZED,
    SMALL,
    SMALL_FLOATING,
    SMALL_INTEGER,
    DType,
)
from weft._src.core.native_rules import Pointwise
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import UnsupportedError
from weft._src.ops import graph_forms
from weft._src.ops.contexts import VjpContext
from weft._src.ops.registry import args, define_op

_CASTABLE = NUMERIC | BOOL | SMALL | QUANTIZED

# Small and quantized numbers, and plain ones that all of them are exactly.
_PLAIN = {d.numpy_dtype: dtypes.stored_as(d).numpy_dtype for d in QUANTIZED}
_PLAIN |= {d.numpy_dtype: np.dtype(np.int8 if d.min else np.uint8) for d in SMALL_INTEGER}
_PLAIN |= {d.numpy_dtype: np.dtype(np.float32) for d in SMALL_FLOATING}


def _cast_infer(x: TensorSpec, *, dtype: DType) -> TensorSpec:
    if dtype not in _CASTABLE:
        raise UnsupportedError(
            f"Cast: {x.dtype.name} cannot be turned into {dtype.name}. Numbers become strings with "
            "tf.strings.as_string."
        )
    return x.with_dtype(dtype)


def converted(xp: ArrayNamespace, x: Array, dtype: DType) -> Array:
    """An array of real numbers as one of another dtype, defined also where numbers do not fit."""
    if dtype.is_integer and x.dtype.kind not in "iub":
        return xp.truncated(x, dtype.numpy_dtype)
    return x.astype(dtype.numpy_dtype)


def widened(x: Array) -> Array:
    """Small and quantized numbers in a dtype that can be computed with; any others themselves."""
    plain = _PLAIN.get(x.dtype)
    if plain is None:
        return x
    if x.dtype.names is not None:
        return x.view(plain)
    return small_numbers.widened(x) if plain == np.float32 else x.astype(plain)


def computable(x: Tensor) -> Tensor:
    """A tensor of small or quantized numbers in a dtype that can be computed with, and is exact."""
    plain = _PLAIN.get(x.dtype.numpy_dtype)
    return x if plain is None else cast_op(x, dtype=dtypes.from_numpy(plain))


def _cast_kernel(xp: ArrayNamespace, x: Array, *, dtype: DType) -> Array:
    kind = x.dtype.kind
    if kind == "O":  # shape arithmetic
        unknown = any(isinstance(size, Dim) for size in x.flat)
        return x if unknown else x.astype(dtype.numpy_dtype)
    if dtype not in _CASTABLE:
        raise ValueError("the type rule says what is wrong")
    if kind == "c" and not dtype.is_complex:
        x = x.real
    elif kind == "V" or (kind == "f" and x.itemsize == 1):  # float8_e5m2 is of kind f
        x = widened(x)
    if dtype.is_quantized:
        return converted(xp, x, dtypes.stored_as(dtype)).view(dtype.numpy_dtype)
    if dtype._safe < 0:
        if dtype.is_floating:
            return small_numbers.narrowed(x, dtype.numpy_dtype)
        return converted(xp, x, dtypes.int8).astype(dtype.numpy_dtype)  # its lower bits
    return converted(xp, x, dtype)


def _cast_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor | None]:
    source = ctx.inputs[0].dtype
    return (cast_op(g, dtype=source) if source.is_differentiable else None,)


cast_op = define_op(
    "Cast",
    args("x", _CASTABLE),
    infer=_cast_infer,
    kernel=_cast_kernel,
    native=Pointwise("cast"),
    vjp=_cast_vjp,
    trusts_kernel=True,
    fresh=True,
    shape_arithmetic=True,
    zero_at_zero=True,
    rows_vjp=lambda ctx, g: (cast(g, ctx.inputs[0].dtype),),
    graphdef=graph_forms.cast_form,
)


def cast(x: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """x with elements of another dtype; floats are cut towards zero to become integers.

    Floats that do not fit give a number that does not depend on the processor or the tier, but
    makes little sense; see `tf.saturate_cast`. Of integers that do not fit the upper bits are
    dropped. Small floats (float8, float4) are the nearest ones, of two the even one, and NaN or
    infinite, if they have such values, where a number is too large. Quantized numbers are the
    integers that they are stored as; `tf.quantization.quantize` scales.

    Args:
      x: a tensor of numbers or truth values, or `tf.IndexedSlices`; a sparse or ragged tensor, too.
      dtype: any dtype of numbers, or bool. What is not 0 is True; complex numbers lose their
        imaginary part.

    Returns:
      A tensor of the shape of `x`; `x` itself if it has the dtype.

    Raises:
      DTypeError: if `x` holds strings.
      UnsupportedError: if `dtype` is no dtype of numbers or truth values.

    >>> tf.cast([1.8, 2.2], tf.int32).numpy()
    array([1, 2], dtype=int32)
    >>> tf.cast(tf.cast([1.8, 300.0], tf.dtypes.experimental.float8_e4m3fn), tf.float32).numpy()
    array([  1.75, 288.  ], dtype=float32)
    """
    dtype = dtypes.as_dtype(dtype)
    if hasattr(x, "with_values"):  # rows of a tensor: tf.IndexedSlices
        slices: Any = x
        return slices.with_values(cast(slices.values, dtype, name))
    x = convert_to_tensor(x)
    if x.dtype is dtype:
        return x
    return cast_op(x, dtype=dtype, name=name)
