"""Discrete cosine transforms, and spectra moved so that frequency 0 is in the middle."""

from __future__ import annotations

from typing import Any

from weft._src.core import xp
from weft._src.core.aliases import ArrayNamespace, AxisLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import float32, float64, int32
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import DTypeError, ShapeError, UnsupportedError
from weft._src.ops import batching, composed_graph_forms, rules, static
from weft._src.ops.arrays import ranges, selection, shape as shapes, tiling
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import casting, comparison
from weft._src.ops.reduce import sums
from weft._src.ops.registry import NO_NATIVE, Op, args, define_op
from weft._src.ops.spectral import fourier

_REAL = frozenset({float32, float64})
_TRANSPOSED = {1: 1, 2: 3, 3: 2, 4: 4}  # which type has (up to factors) the transposed matrix


def _infer(x: TensorSpec, *, type: int, norm: str | None) -> TensorSpec:
    rules.check_rank_at_least("dct", x, 1, name="input")
    if type == 1 and x.dims is not None and isinstance(x.dims[-1], int) and x.dims[-1] < 2:
        raise ShapeError(f"dct: type 1 needs at least two elements, got shape {x.shape}.")
    return x


def _kernel(xp: ArrayNamespace, x: Array, *, type: int, norm: str | None) -> Array:
    if not x.size:
        return xp.array(x)
    return xp.scipy_fft.dct(x, type, axis=-1, norm=norm)


def _ends(x: Tensor, factor: float, last: bool) -> Tensor:
    """The tensor with its first (and last) element along the last axis times a factor."""
    size = shapes.shape_op(x, out_type=int32)[-1]
    k = ranges.range(size)
    is_end = comparison.logical_or(k == 0, k == size - 1) if last else k == 0
    return x * casting.cast(selection.where(is_end, factor, 1.0), x.dtype)


def _vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    kind, norm = ctx.attrs["type"], ctx.attrs["norm"]
    other = _TRANSPOSED[kind]
    if norm is None and kind == 1:
        return (_ends(dct_op(_ends(g, 2.0, True), type=1, norm=None), 0.5, True),)
    if norm is None and kind == 2:
        return (dct_op(_ends(g, 2.0, False), type=other, norm=None),)
    if norm is None and kind == 3:
        return (_ends(dct_op(g, type=other, norm=None), 0.5, False),)
    return (dct_op(g, type=other, norm=norm),)


dct_op: Op = define_op(
    "DCT",
    args("input", _REAL),
    infer=_infer,
    kernel=_kernel,
    native=NO_NATIVE,
    xla=Lowered("dct"),
    vjp=_vjp,
    fresh=True,
    batch=batching.inexact(batching.leading),
    graphdef=composed_graph_forms.cosine(lambda x, **attrs: _kernel(xp, x, **attrs)),
)


def _checked(
    op: str, value: TensorLike, type: Any, n: Any, axis: AxisLike, norm: Any
) -> tuple[Tensor, int]:
    x = convert_to_tensor(value, dtype_hint=None if hasattr(value, "dtype") else float32)
    if x.dtype not in _REAL:
        raise DTypeError(f"{op}: input must be float32 or float64, got {x.dtype.name}.")
    kind = static.static_int(op, type, "type")
    if kind not in _TRANSPOSED:
        raise ValueError(f"{op}: type must be 1, 2, 3 or 4, got {type!r}.")
    if static.static_int(op, axis, "axis") != -1:
        raise UnsupportedError(f"{op}: axis must be -1, got {axis!r}. Transpose the tensor first.")
    if norm is not None and (not isinstance(norm, str) or norm != "ortho"):
        raise ValueError(f"{op}: norm must be None or 'ortho', got {norm!r}.")
    if norm is not None and kind == 1:
        raise ValueError(f"{op}: type 1 has no normalisation; leave norm out.")
    rules.check_rank_at_least(op, x.spec, 1, name="input")
    if n is not None:
        length = static.static_int(op, n, "n")
        if length < 1:
            raise ShapeError(f"{op}: n must be positive, got {length}.")
        x = fourier.resized(op, x, [length], (-1,))
    return x, kind


def dct(
    input: TensorLike,
    type: Any = 2,
    n: TensorLike | None = None,
    axis: AxisLike = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The discrete cosine transform of type 1, 2, 3 or 4 along the last axis.

    Args:
      input: a tensor of float32 or float64, of rank 1 or more.
      type: 1, 2, 3 or 4.
      n: a length that the last axis is cropped or padded to before; None means that it stays.
      axis: only -1.
      norm: None, or "ortho" for an orthonormal transform, which type 1 does not have.

    Returns:
      A tensor of the shape (with n on the last axis) and dtype of `input`.

    Raises:
      ValueError: if there is no such type or norm.
      ShapeError: if `input` is a scalar, `n` not positive, or the axis too short for type 1.
      DTypeError: if `input` has another dtype.
      UnsupportedError: if the axis is another one.

    >>> tf.signal.dct([1.0, 2.0, 3.0, 4.0]).numpy().round(4) + 0
    array([20.    , -6.3086,  0.    , -0.4483], dtype=float32)
    """
    x, kind = _checked("dct", input, type, n, axis, norm)
    return dct_op(x, type=kind, norm=norm, name=name)


def idct(
    input: TensorLike,
    type: Any = 2,
    n: TensorLike | None = None,
    axis: AxisLike = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `dct`; without norm="ortho" it is 2 n times too large (type 1: 2 (n - 1)).

    Args:
      input: a tensor of float32 or float64, of rank 1 or more.
      type: 1, 2, 3 or 4.
      n: a length that the last axis is cropped or padded to before; None means that it stays.
      axis: only -1.
      norm: None, or "ortho" for an orthonormal transform, which type 1 does not have.

    Returns:
      A tensor of the shape (with n on the last axis) and dtype of `input`.

    Raises:
      ValueError: if there is no such type or norm.
      ShapeError: if `input` is a scalar, `n` not positive, or the axis too short for type 1.
      DTypeError: if `input` has another dtype.
      UnsupportedError: if the axis is another one.

    >>> x = tf.constant([1.0, 2.0, 3.0, 4.0])
    >>> tf.signal.idct(tf.signal.dct(x)).numpy().round(4) / 8
    array([1., 2., 3., 4.], dtype=float32)
    """
    x, kind = _checked("idct", input, type, n, axis, norm)
    return dct_op(x, type=_TRANSPOSED[kind], norm=norm, name=name)


def mfccs_from_log_mel_spectrograms(
    log_mel_spectrograms: TensorLike, name: str | None = None
) -> Tensor:
    """Mel-frequency cepstral coefficients: a scaled cosine transform of the last axis.

    Args:
      log_mel_spectrograms: a tensor of float32 or float64, with the bands on the last axis.

    Returns:
      A tensor of the same shape and dtype, with a coefficient for each band.

    Raises:
      DTypeError: if the dtype is another one.
      ShapeError: if the tensor is a scalar.

    >>> tf.signal.mfccs_from_log_mel_spectrograms(tf.ones([2])).numpy().round(4) + 0
    array([2., 0.], dtype=float32)
    """
    op = "mfccs_from_log_mel_spectrograms"
    x, kind = _checked(op, log_mel_spectrograms, 2, None, -1, None)
    size = casting.cast(shapes.shape_op(x, out_type=int32)[-1], x.dtype)
    return dct_op(x, type=kind, norm=None, name=name) / (size * 2) ** 0.5


# --- frequency 0 in the middle -----------------------------------------------------------------


def _shifted(op: str, x: Any, axes: Any, sign: int, name: str | None) -> Tensor:
    x = convert_to_tensor(x)
    try:
        along = sums.reduction_axes(op, axes)
    except static.UnknownWhileTracingError as unknown:
        halves = unknown.instead("sizes", x, axes) // 2
        return tiling.roll(x, halves if sign > 0 else -halves, axes, name=name)
    if along is None:
        if x.spec.rank is None:
            raise UnsupportedError(f"{op}: without axes a tensor of known rank is needed.")
        along = tuple(range(x.spec.rank))
    if x.spec.rank is not None:
        along = rules.normalize_axes(op, along, x.spec.rank, name="axes")
    sizes = shapes.shape_op(x, out_type=int32)
    # Half the size, rounded down one way and up the other, so that they undo each other.
    halves = [sizes[axis] // 2 if sign > 0 else -(sizes[axis] // 2) for axis in along]
    if not halves:
        return x
    return tiling.roll(x, convert_to_tensor(halves), list(along), name=name)


def fftshift(x: TensorLike, axes: AxisLike | None = None, name: str | None = None) -> Tensor:
    """The second half of axes before the first, which puts frequency 0 in the middle.

    Args:
      x: a tensor.
      axes: an axis or a list of axes; None means all.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      ShapeError: if there are no such axes.
      UnsupportedError: if axes are needed, as the rank is unknown while tracing.

    >>> tf.signal.fftshift([0, 1, 2, -2, -1]).numpy()
    array([-2, -1,  0,  1,  2], dtype=int32)
    """
    return _shifted("fftshift", x, axes, 1, name)


def ifftshift(x: TensorLike, axes: AxisLike | None = None, name: str | None = None) -> Tensor:
    """What undoes `fftshift`.

    Args:
      x: a tensor.
      axes: an axis or a list of axes; None means all.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      ShapeError: if there are no such axes.
      UnsupportedError: if axes are needed, as the rank is unknown while tracing.

    >>> tf.signal.ifftshift([-2, -1, 0, 1, 2]).numpy()
    array([ 0,  1,  2, -2, -1], dtype=int32)
    """
    return _shifted("ifftshift", x, axes, -1, name)
