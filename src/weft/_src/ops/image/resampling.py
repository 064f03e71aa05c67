"""Weighted sums of neighbours along an axis: what resizing is made of (see `kernels`)."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.dtypes import INDEX, REAL, float32, int32
from weft._src.core.machine_jobs import MachineJob
from weft._src.core.native_rules import Special
from weft._src.core.shapes import Dim, Size
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL, Lowered
from weft._src.errors import ShapeError
from weft._src.ops import batching, composed_graph_forms, rules
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import casting
from weft._src.ops.image import kernels
from weft._src.ops.registry import NO_NATIVE, NO_XLA, NOT_DIFFERENTIABLE, Op, args, define_op

_FLOAT = frozenset({float32})


def _positive(size: Any, what: str) -> Size:
    if isinstance(size, int) and size < 1:
        raise ShapeError(f"resize: the {what} size must be positive, got {size}.")
    return Dim() if size is None else rules.size_from(size)


_WORDS = ("x", "out", "starts", "weights", "lead", "size", "inner", "rows", "width")
_MACHINE = {
    np.dtype(name): MachineJob(f"banded_sum_{name}", _WORDS) for name in ("float32", "uint8")
}
_NUMPY_TAKES = 4e-9  # seconds for a term
_WORTH_CALLING = 512  # terms
_TERMS_AT_ONCE = 1 << 20  # that a thread does


def banded_sum(xp: ArrayNamespace, x: Array, starts: Array, weights: Array, axis: int) -> Array:
    """The product of a matrix, given as a band, with an axis of an array, in float32.

    The band lies within the axis: whoever makes it sees to that.
    """
    at = axis % x.ndim
    before, size, after = x.shape[:at], x.shape[at], x.shape[at + 1 :]
    rows, width = weights.shape
    lead, inner = math.prod(before), math.prod(after)
    terms = lead * rows * inner * width
    job = _MACHINE.get(x.dtype) if terms >= _WORTH_CALLING else None
    run = None if job is None else job.after(terms * _NUMPY_TAKES)
    if run is not None:
        out = xp.empty((*before, rows, *after), weights.dtype)
        arrays = [np.ascontiguousarray(a) for a in (x, starts, weights)]
        words = (arrays[0], out, *arrays[1:], lead, size, inner, rows, width)
        run(words, lead, max(1, _TERMS_AT_ONCE * lead // terms))
        return out
    return _banded_sum(xp, x, starts, weights, at)


def _banded_sum(xp: ArrayNamespace, x: Array, starts: Array, weights: Array, at: int) -> Array:
    """The same with NumPy, one pass for each place of the band."""
    before, size, after = x.shape[:at], x.shape[at], x.shape[at + 1 :]
    rows, width = weights.shape
    lead, inner = math.prod(before), math.prod(after)
    x = xp.reshape(x, (lead, size, inner))
    out: Any = 0
    for place in range(width):  # at least once
        terms = xp.take(x, starts + place, 1).astype(weights.dtype, copy=False)
        terms = xp.reshape(terms, (lead, rows * inner))
        # With a weight for each number: ten times as fast as to repeat it over three channels.
        terms *= xp.repeat(weights[:, place], inner)
        out = xp.add(out, terms, out=terms)
    return xp.reshape(out, (*before, rows, *after))


# --- by sizes alone ------------------------------------------------------------------------------


def _axis_infer(x: TensorSpec, wanted: TensorSpec, *, axis: int, **form: Any) -> TensorSpec:
    rules.check_rank("resize", wanted, 0, name="size")
    new = _positive(rules.known(wanted), "new")
    out = x.with_dtype(float32)
    if out.dims is None:
        return out
    at = rules.normalize_axis("resize", axis, len(out.dims))
    _positive(out.dims[at], "old")
    return out.with_dims(rules.replace(out.dims, at, new))


def _checked(x: Array, wanted: Any, axis: int) -> tuple[int, int]:
    sizes = x.shape[axis], operator.index(wanted)
    _positive(sizes[0], "old")
    _positive(sizes[1], "new")
    return sizes


def axis_band(x: Array, wanted: Any, axis: int, form: dict[str, Any]) -> kernels.Band:
    """The band that makes `wanted` elements of an axis of x."""
    size, new = _checked(x, wanted, axis)
    return kernels.Band(*kernels.resizing(size=size, wanted=new, **form)[:2])


def _resize_kernel(xp: ArrayNamespace, x: Array, wanted: Any, *, axis: int, **form: Any) -> Array:
    return banded_sum(xp, x, *axis_band(x, wanted, axis, form), axis)


def _back_kernel(xp: ArrayNamespace, x: Array, wanted: Any, *, axis: int, **form: Any) -> Array:
    size, new = _checked(x, wanted, axis)
    _, _, starts, weights = kernels.resizing(size=new, wanted=size, **form)
    return banded_sum(xp, x, starts, weights, axis)


def _resize_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor | None, None]:
    x = ctx.inputs[0]
    if not x.dtype.is_floating:
        return None, None
    size = shapes.shape_op(x, out_type=int32)[ctx.attrs["axis"]]
    return casting.cast(resize_axis_back_op(g, size, **ctx.attrs), x.dtype), None


def _back_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor, None]:
    x = ctx.inputs[0]
    size = shapes.shape_op(x, out_type=int32)[ctx.attrs["axis"]]
    return casting.cast(resize_axis_op(g, size, **ctx.attrs), x.dtype), None


# An axis with another size; the attributes but `axis` are those of `kernels.resizing`.
resize_axis_op: Op = define_op(
    "ResizeAxis",
    args("x", REAL) + args("wanted", INDEX, is_shape=True),
    infer=_axis_infer,
    kernel=_resize_kernel,
    native=Special("resize_axis"),
    xla=Lowered("resize_axis"),
    vjp=_resize_vjp,
    fresh=True,
    trusts_kernel=True,
    linear=(0,),
    slow_kernel=True,
    batch=batching.along_axis,
    graphdef=composed_graph_forms.resized(kernels.resizing),
)


# The transposed map, from the new size to the old one: the way of gradients.
resize_axis_back_op: Op = define_op(
    "ResizeAxisBack",
    args("x", REAL) + args("wanted", INDEX, is_shape=True),
    infer=_axis_infer,
    kernel=_back_kernel,
    native=Special("resize_axis", back=True),
    xla=Lowered("resize_axis", back=True),
    vjp=_back_vjp,
    fresh=True,
    trusts_kernel=True,
    linear=(0,),
    slow_kernel=True,
    batch=batching.along_axis,
)


def _nearest_infer(size: TensorSpec, wanted: TensorSpec, **form: Any) -> TensorSpec:
    for spec in (size, wanted):
        rules.check_rank("resize", spec, 0, name="size")
    _positive(rules.known(size), "old")
    return TensorSpec.of(int32, (_positive(rules.known(wanted), "new"),))


def _nearest_kernel(xp: ArrayNamespace, size: Any, wanted: Any, **form: Any) -> Array:
    _positive(operator.index(size), "old")
    _positive(operator.index(wanted), "new")
    return kernels.resizing(
        kind="nearest", size=operator.index(size), wanted=operator.index(wanted), **form
    )[0].copy()


# Which element each one of an axis with another size is.
nearest_places_op: Op = define_op(
    "NearestPlaces",
    args("size wanted", INDEX, is_shape=True),
    infer=_nearest_infer,
    kernel=_nearest_kernel,
    native=NO_NATIVE,
    xla=KERNEL,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    graphdef=composed_graph_forms.nearest_places,
)


# --- by numbers that may come from data ----------------------------------------------------------


def _placing_infer(
    size: TensorSpec,
    wanted: TensorSpec,
    scale: TensorSpec,
    translation: TensorSpec,
    *,
    kind: str,
    antialias: bool,
) -> Any:
    sizes = ((size, "size"), (wanted, "size"))
    for spec, name in (*sizes, (scale, "scale"), (translation, "translation")):
        rules.check_rank("scale_and_translate", spec, 0, name=name)
    out: list[TensorSpec] = []
    for rows in (_positive(rules.known(wanted), "new"), _positive(rules.known(size), "old")):
        out += [TensorSpec.of(int32, (rows,)), TensorSpec.of(float32, (rows, Dim()))]
    return tuple(out)


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
    _positive(operator.index(size), "old")
    _positive(operator.index(wanted), "new")
    if not scale > 0:
        raise ShapeError(f"scale_and_translate: scale must be positive, got {scale}.")
    return kernels.placing(
        kind, operator.index(size), operator.index(wanted), scale, translation, antialias
    )


# The band of an axis that is stretched and moved, and that of the transposed matrix.
placing_band_op: Op = define_op(
    "PlacingBand",
    args("size wanted", INDEX, is_shape=True) + args("scale translation", _FLOAT),
    infer=_placing_infer,
    kernel=_placing_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    outputs=4,
    fresh=True,
)


def _resample_infer(
    x: TensorSpec, starts: TensorSpec, weights: TensorSpec, *back: TensorSpec, axis: int
) -> TensorSpec:
    out = x.with_dtype(float32)
    rules.check_rank("resample", starts, 1, name="starts")
    rules.check_rank("resample", weights, 2, name="weights")
    if out.dims is None:
        return out
    at = rules.normalize_axis("resample", axis, len(out.dims))
    rows = Dim() if weights.dims is None else weights.dims[0]
    if starts.dims is not None:
        rows = rules.unify("resample", rows, starts.dims[0], "the numbers of starts and weights")
    return out.with_dims(rules.replace(out.dims, at, rows))


def _resample_kernel(
    xp: ArrayNamespace, x: Array, starts: Array, weights: Array, *back: Array, axis: int
) -> Array:
    size = x.shape[axis]
    if starts.shape != weights.shape[:1] or weights.ndim != 2:
        raise ShapeError(f"resample: starts {starts.shape} and weights {weights.shape} differ.")
    if starts.size and (starts.min() < 0 or starts.max() + weights.shape[1] > size):
        raise ShapeError(f"resample: a band reads beyond the {size} elements of axis {axis}.")
    return banded_sum(xp, x, starts, weights, axis)


def _resample_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor | None, None, None, None, None]:
    x, starts, weights, back_starts, back_weights = ctx.inputs
    if not x.dtype.is_floating:
        return None, None, None, None, None
    back = resample_op(g, back_starts, back_weights, starts, weights, **ctx.attrs)
    return casting.cast(back, x.dtype), None, None, None, None


# Each element of the axis is the sum of neighbours times the weights of a band.
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
    xla=Lowered("resample"),
    vjp=_resample_vjp,
    fresh=True,
    linear=(0,),
    slow_kernel=True,
    batch=batching.along_axis,
)
