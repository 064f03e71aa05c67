"""Images resized along both axes at once, as they come out of files; made by a pass.

What is between the file and the resized image (a cast, a division by 255, the image resized along
one axis) is never stored. The numbers are those of the ops one by one.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.dtypes import INDEX, REAL
from weft._src.core.machine_jobs import MachineJob
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array
from weft._src.ops.image import kernels, resampling
from weft._src.ops.registry import NO_NATIVE, NO_XLA, NOT_DIFFERENTIABLE, Op, args, define_op

DIVIDED, MULTIPLIED = "divided", "multiplied"

_WORDS = (
    "x", "out", "row starts", "row weights", "column starts", "column weights", "room", "by",
    "rows", "columns", "image", "line", "skip", "length", "inner", "row terms", "column terms",
    "room step",
)  # fmt: skip
_MACHINE = {
    (np.dtype(name), how): MachineJob(f"resized_{name}_{how}", _WORDS)
    for name in ("float32", "uint8")
    for how in (DIVIDED, MULTIPLIED)
}
_NUMPY_TAKES = 1e-8  # seconds for a term
_TERMS_AT_ONCE = 1 << 20  # that a thread does
_PADDING = 4  # numbers behind a row, which are read with the last pixel


def _infer(
    x: TensorSpec, height: TensorSpec, width: TensorSpec, *, scale: Any, **form: Any
) -> TensorSpec:
    lines = resampling.resize_axis_op.infer(x, height, axis=-3, **form)
    return resampling.resize_axis_op.infer(lines, width, axis=-2, **form)


def _kernel(
    xp: ArrayNamespace, x: Array, height: Any, width: Any, *,
    scale: tuple[str, float] | None, **form: Any,
) -> Array:  # fmt: skip
    *lead, old_rows, old_columns, inner = x.shape
    rows = resampling.axis_band(x, height, -3, form)
    columns = resampling.axis_band(x, width, -2, form)
    how, by = scale or (MULTIPLIED, 1.0)
    images = math.prod(lead)
    parts = images * len(rows.starts)
    terms = parts * inner * (old_columns + len(columns.starts))
    job = _MACHINE.get((x.dtype, how)) if terms else None
    run = None if job is None else job.after(terms * _NUMPY_TAKES)
    if run is None:
        return _by_steps(xp, x, rows, columns, scale)
    first, last, starts = _used(old_columns, len(columns.starts), tuple(form.items()))
    length = (last - first) * inner
    piece = max(1, _TERMS_AT_ONCE * parts // terms)
    is_one = parts <= piece
    room = xp.empty((1 if is_one else parts) * length + _PADDING, np.float32)
    out = xp.empty((*lead, len(rows.starts), len(columns.starts), inner), np.float32)
    words = (
        np.ascontiguousarray(x), out, rows.starts, rows.weights, starts, columns.weights,
        room, np.array(by, np.float32), len(rows.starts), len(columns.starts),
        old_rows * old_columns * inner, old_columns * inner, first * inner, length, inner,
        rows.weights.shape[1], columns.weights.shape[1], 0 if is_one else length,
    )  # fmt: skip
    run(words, parts, piece)
    return out


@functools.lru_cache(maxsize=256)
def _used(size: int, wanted: int, form: tuple[tuple[str, Any], ...]) -> tuple[int, int, Array]:
    """The columns from the first to the last that are used, and where weights begin among them."""
    starts, weights, _, _ = kernels.resizing(size=size, wanted=wanted, **dict(form))
    first = int(starts.min())
    return first, int(starts.max()) + weights.shape[1], starts - np.int32(first)


def _by_steps(
    xp: ArrayNamespace, x: Array, rows: kernels.Band, columns: kernels.Band,
    scale: tuple[str, float] | None,
) -> Array:  # fmt: skip
    if scale is not None:
        how, by = scale
        x = x.astype(np.float32)
        x = (xp.divide if how == DIVIDED else xp.multiply)(x, np.float32(by), out=x)
    lines = resampling.banded_sum(xp, x, rows.starts, rows.weights, -3)
    return resampling.banded_sum(xp, lines, columns.starts, columns.weights, -2)


# The attributes but `scale` are those of `ResizeAxis`; `scale` is what is done first to each number
# as a float32: how, and by what.
resize_pixels_op: Op = define_op(
    "ResizePixels",
    args("x", REAL) + args("height width", INDEX, is_shape=True),
    infer=_infer,
    kernel=_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    trusts_kernel=True,
    slow_kernel=True,
)
