"""Weighted sums of neighbours along an axis: what resizing is made of (see `kernels`)."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.dtypes import INDEX, REAL, float32, int32
from weft._src.core.native_rules import Special
from weft._src.core.shapes import Dim, Size
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import ShapeError
from weft._src.ops import batching, rules
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import casting
from weft._src.ops.image import kernels
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, Op, args, define_op

_FLOAT = frozenset({float32})


# --- bands ---------------------------------------------------------------------------------------


def _positive(size: Any, what: str) -> Size:
    if isinstance(size, int) and size < 1:
        raise ShapeError(f"resize: the {what} size must be positive, got {size}.")
    return Dim() if size is None else rules.size_from(size)


def _specs(forward: tuple[Size, Size], back: tuple[Size, Size]) -> tuple[TensorSpec, ...]:
    """A band, and that of the transposed matrix: starts and weights of each."""
    out: list[TensorSpec] = []
    for rows, width in (forward, back):
        out += [TensorSpec.of(int32, (rows,)), TensorSpec.of(float32, (rows, width))]
    return tuple(out)


def _resizing_infer(size: TensorSpec, wanted: TensorSpec, **form: Any) -> Any:
    old = _positive(rules.known(size), "old")
    new = _positive(rules.known(wanted), "new")
    if isinstance(old, int) and isinstance(new, int):
        _, forward, _, back = kernels.resizing(size=old, wanted=new, **form)
        return _specs((new, forward.shape[1]), (old, back.shape[1]))
    return _specs((new, Dim()), (old, Dim()))


def _resizing_kernel(xp: ArrayNamespace, size: Any, wanted: Any, **form: Any) -> Any:
    _positive(int(size), "old")
    _positive(int(wanted), "new")
    parts = kernels.resizing(size=int(size), wanted=int(wanted), **form)
    return tuple([part.copy() for part in parts])


# Where each element of a resized axis begins to read, and the weights of what it reads; the same
# for the way back, which gradients take.
resizing_band_op: Op = define_op(
    "ResizingBand",
    args("size wanted", INDEX, is_shape=True),
    infer=_resizing_infer,
    kernel=_resizing_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    outputs=4,
    fresh=True,
)


def _placing_infer(
    size: TensorSpec,
    wanted: TensorSpec,
    scale: TensorSpec,
    translation: TensorSpec,
    *,
    kind: str,
    antialias: bool,
) -> Any:
    for spec, name in ((scale, "scale"), (translation, "translation")):
        rules.check_rank("scale_and_translate", spec, 0, name=name)
    old = _positive(rules.known(size), "old")
    return _specs((_positive(rules.known(wanted), "new"), Dim()), (old, Dim()))


def _placing_kernel(
    xp: ArrayNamespace,
    size: Any,
    wanted: Any,
    scale: Any,
    translation: Any,
    *,
    kind: str,
    antialias: bool,
) -> Any:
    _positive(int(size), "old")
    _positive(int(wanted), "new")
    if not scale > 0:
        raise ShapeError(f"scale_and_translate: scale must be positive, got {scale}.")
    return kernels.placing(kind, int(size), int(wanted), scale, translation, antialias)


# The same for an axis that is stretched and moved by numbers that may come from data.
placing_band_op: Op = define_op(
    "PlacingBand",
    args("size wanted", INDEX, is_shape=True) + args("scale translation", _FLOAT),
    infer=_placing_infer,
    kernel=_placing_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    outputs=4,
    fresh=True,
)


# --- sums ----------------------------------------------------------------------------------------


def _resample_infer(
    x: TensorSpec, starts: TensorSpec, weights: TensorSpec, *back: TensorSpec, axis: int
) -> TensorSpec:
    out = x.with_dtype(float32)
    if out.dims is None:
        return out
    at = rules.normalize_axis("resample", axis, len(out.dims))
    rows = Dim() if weights.dims is None else weights.dims[0]
    return out.with_dims(rules.replace(out.dims, at, rows))


def _resample_kernel(
    xp: ArrayNamespace, x: Array, starts: Array, weights: Array, *back: Array, axis: int
) -> Array:
    after = x.ndim - 1 - axis % x.ndim
    out: Any = 0
    for place in range(weights.shape[1]):  # at least once
        terms = xp.take(x, starts + place, axis).astype(weights.dtype, copy=False)
        terms *= xp.reshape(weights[:, place], (-1, *[1] * after))
        out = xp.add(out, terms, out=terms)
    return out


def _resample_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor | None, None, None, None, None]:
    x, starts, weights, back_starts, back_weights = ctx.inputs
    if not x.dtype.is_floating:
        return None, None, None, None, None
    back = resample_op(g, back_starts, back_weights, starts, weights, **ctx.attrs)
    return casting.cast(back, x.dtype), None, None, None, None


# Each element of the axis is the sum of neighbours times weights, in float32.
resample_op: Op = define_op(
    "Resample",
    args("x", REAL)
    + args("starts", {int32})
    + args("weights", _FLOAT)
    + args("back_starts", {int32})
    + args("back_weights", _FLOAT),
    infer=_resample_infer,
    kernel=_resample_kernel,
    native=Special("resample"),
    vjp=_resample_vjp,
    fresh=True,
    linear=(0,),
    slow_kernel=True,
    batch=batching.along_axis,
)
