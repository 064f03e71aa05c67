"""Signals as overlapping frames: cutting them up, putting them together, short-time spectra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src.core.aliases import ArrayNamespace, AxisLike, DTypeLike, TensorLike
from weft._src.core.convert import adopt, convert_to_tensor, of_dtype
from weft._src.core.dtypes import INDEX, NUMERIC, int32
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import DTypeError, ShapeError, UnsupportedError
from weft._src.ops import batching, composed_graph_forms, rules, static
from weft._src.ops.arrays import padding, ranges, shape as shapes
from weft._src.ops.arrays.joining import concat, single_axis, stack
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import arithmetic, casting, guarded, unary
from weft._src.ops.indexing import gathering
from weft._src.ops.reduce import sums
from weft._src.ops.registry import NO_NATIVE, Op, args, define_op
from weft._src.ops.spectral import fourier, windows

WindowFunction = Callable[..., Any] | None


def _count(op: str, value: TensorLike, name: str) -> Tensor:
    """A number of elements: a positive integer, maybe only known at run time."""
    x = convert_to_tensor(value, dtype_hint=int32)
    if not x.dtype.is_integer:
        raise DTypeError(f"{op}: {name} must be an integer, got dtype {x.dtype.name}.")
    rules.check_rank(op, x.spec, 0, name=name)
    known = static.static_value(x)
    if known is not None and known < 1:
        raise ShapeError(f"{op}: {name} must be positive, got {known}.")
    return x


# --- frames ------------------------------------------------------------------------------------


def frame(
    signal: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    pad_end: bool = False,
    pad_value: TensorLike = 0,
    axis: AxisLike = -1,
    name: str | None = None,
) -> Tensor:
    """Pieces of `frame_length` elements, each `frame_step` behind the one before it.

    Args:
      signal: a tensor of rank 1 or more.
      frame_length: a positive integer or integer scalar.
      frame_step: a positive integer or integer scalar.
      pad_end: whether frames that reach beyond the end are filled up; if not, they are left out.
      pad_value: what to fill up with, a scalar.
      axis: the axis that is cut, counted from the end if negative.

    Returns:
      A tensor of the dtype of `signal` with two axes, [frames, frame_length], in the place of one.

    Raises:
      ShapeError: if `signal` is a scalar, a number is not positive, or there is no such axis.
      DTypeError: if a number is not an integer.

    >>> tf.signal.frame([1, 2, 3, 4, 5], frame_length=3, frame_step=2).numpy()
    array([[1, 2, 3],
           [3, 4, 5]], dtype=int32)
    """
    x = convert_to_tensor(signal)
    rules.check_rank_at_least("frame", x.spec, 1, name="signal")
    length = _count("frame", of_dtype("frame", frame_length, int32, "frame_length"), "frame_length")
    step = _count("frame", of_dtype("frame", frame_step, int32, "frame_step"), "frame_step")
    try:
        at = single_axis("frame", axis)
    except static.UnknownWhileTracingError as unknown:
        ends = {"pad_end": pad_end, "pad_value": pad_value}
        sizes = {"frame_length": length, "frame_step": step}
        return unknown.instead("frame", frame, x, axis, **sizes, **ends)
    if x.spec.rank is not None:
        at = rules.normalize_axis("frame", at, x.spec.rank)
    size = shapes.shape_op(x, out_type=length.dtype)[at]
    step = casting.cast(step, length.dtype)
    if pad_end:
        count = -(-size // step)
        missing = arithmetic.maximum(length + step * (count - 1) - size, 0)
        x = _padded(x, at, missing, pad_value)
    else:
        count = arithmetic.maximum((size - length) // step + 1, 0)
    starts = shapes.expand_dims(ranges.range(count) * step, 1)
    return gathering.pick(x, starts + ranges.range(length), at, name)


def _padded(x: Tensor, axis: int, missing: Tensor, value: TensorLike) -> Tensor:
    if x.spec.rank is None:
        raise UnsupportedError("frame: pad_end needs a signal of known rank.")
    amounts = [[missing * 0, missing * (i == axis)] for i in range(x.spec.rank)]
    rows = [stack(pair) for pair in amounts]
    return padding.pad(x, stack(rows), constant_values=adopt(value, x.dtype))


def _overlap_infer(x: TensorSpec, step: TensorSpec) -> TensorSpec:
    rules.check_rank_at_least("overlap_and_add", x, 2, name="signal")
    rules.check_rank("overlap_and_add", step, 0, name="frame_step")
    if x.dims is None:
        return x
    *lead, frames, length = x.dims
    total: Any = Dim()
    size = rules.known(step)
    if isinstance(size, int) and size < 1:
        raise ShapeError(f"overlap_and_add: frame_step must be positive, got {size}.")
    if isinstance(frames, int) and isinstance(length, int) and isinstance(size, int):
        total = max((frames - 1) * size + length, 0)
    return x.with_dims((*lead, total))


def _overlap_kernel(xp: ArrayNamespace, x: Array, step: Any) -> Array:
    *lead, frames, length = x.shape
    hop = int(step)
    wide = xp.widen(x)
    # Cut into pieces as long as a step, all frames' first pieces are added at once, and so on.
    pieces = -(-length // hop)
    whole = xp.zeros((*lead, frames, pieces * hop), wide.dtype)
    whole[..., :length] = wide
    whole = xp.reshape(whole, (*lead, frames, pieces, hop))
    out = xp.zeros((*lead, max(frames + pieces - 1, 0), hop), wide.dtype)
    for i in range(pieces if frames else 0):
        out[..., i : i + frames, :] += whole[..., i, :]
    total = max((frames - 1) * hop + length, 0)
    line = xp.reshape(out, (*lead, out.shape[-2] * hop))
    return line[..., :total].astype(x.dtype)


def _overlap_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor, None]:
    x, step = ctx.inputs
    length = shapes.shape_op(x, out_type=step.dtype)[-1]
    count = shapes.shape_op(x, out_type=step.dtype)[-2]
    starts = shapes.expand_dims(ranges.range(count) * step, 1)
    return gathering.gather(g, starts + ranges.range(length), axis=-1), None


overlap_op: Op = define_op(
    "OverlapAndAdd",
    args("signal", NUMERIC) + args("frame_step", INDEX, is_shape=True),
    infer=_overlap_infer,
    kernel=_overlap_kernel,
    native=NO_NATIVE,
    xla=Lowered("overlap_and_add"),
    vjp=_overlap_vjp,
    fresh=True,
    batch=batching.inexact(batching.leading),
    graphdef=composed_graph_forms.overlap_and_add,
)


def overlap_and_add(signal: TensorLike, frame_step: TensorLike, name: str | None = None) -> Tensor:
    """Frames, each `frame_step` behind the one before it, added up to one signal.

    Args:
      signal: numbers [..., frames, frame_length].
      frame_step: a positive integer or integer scalar.

    Returns:
      A tensor of the same dtype and of shape [..., (frames - 1) * frame_step + frame_length].

    Raises:
      ShapeError: if the rank is below 2, or `frame_step` not positive.
      DTypeError: if `frame_step` is not an integer.

    >>> tf.signal.overlap_and_add([[1, 1, 1], [2, 2, 2]], frame_step=2).numpy()
    array([1, 1, 3, 2, 2], dtype=int32)
    """
    x = convert_to_tensor(signal)
    return overlap_op(x, _count("overlap_and_add", frame_step, "frame_step"), name=name)


# --- short-time spectra ------------------------------------------------------------------------


def _fft_length(op: str, fft_length: Any, frame_length: Any) -> Any:
    """The length that is given, or the smallest power of two that holds a frame."""
    if fft_length is not None:
        return static.static_int(op, fft_length, "fft_length")
    length = static.static_int(op, frame_length, "frame_length")
    return 1 << max(length - 1, 0).bit_length()


def weighed(op: str, pieces: Tensor, window_fn: WindowFunction, length: TensorLike) -> Tensor:
    """The frames times a window; None stands for a window of ones."""
    if window_fn is None:
        return pieces
    try:
        window = window_fn(length, dtype=pieces.dtype)
    except TypeError as error:
        raise TypeError(
            f"{op}: window_fn must be a function of a length and a dtype, like "
            f"tf.signal.hann_window, got {window_fn!r}: {error}"
        ) from error
    return pieces * window


def stft(
    signals: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: WindowFunction = windows.hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """The spectra of overlapping frames of real signals, each weighed by a window.

    Args:
      signals: floating numbers [..., samples]; narrow ones become float32.
      frame_length: how many samples a frame has, a positive integer.
      frame_step: how far frames are apart, a positive integer.
      fft_length: the length of the transform; None means the smallest power of two that holds a
        frame.
      window_fn: a function of a length and a dtype, such as `tf.signal.hamming_window`; None means
        a window of ones.
      pad_end: whether frames that reach beyond the end are filled up with zeros; if not, they are
        left out.

    Returns:
      A tensor of shape [..., frames, fft_length // 2 + 1]: complex64, or complex128 for float64.

    Raises:
      DTypeError: if `signals` are not floating.
      ShapeError: if a number is not positive.
      TypeError: if `window_fn` is no such function.

    >>> tf.signal.stft(tf.ones([16]), frame_length=8, frame_step=4).shape
    TensorShape([3, 5])
    """
    x = fourier.real_input("stft", signals)
    size = _fft_length("stft", fft_length, frame_length)
    pieces = frame(x, frame_length, frame_step, pad_end)
    pieces = weighed("stft", pieces, window_fn, frame_length)
    return fourier.rfft(pieces, [size], name)


def inverse_stft(
    stfts: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: WindowFunction = windows.hann_window,
    name: str | None = None,
) -> Tensor:
    """The signals of short-time spectra; with `inverse_stft_window_fn` those of `stft` exactly.

    Args:
      stfts: complex numbers [..., frames, fft_length // 2 + 1].
      frame_length: how many samples a frame has, a positive Python integer.
      frame_step: how far frames are apart, a positive integer.
      fft_length: the length of the transform; None means the smallest power of two that holds a
        frame.
      window_fn: a function of a length and a dtype, such as `tf.signal.hamming_window`; None means
        a window of ones.

    Returns:
      A tensor of real numbers of shape [..., (frames - 1) * frame_step + frame_length].

    Raises:
      DTypeError: if `stfts` are not complex.
      ShapeError: if the rank is below 2, or a number is not positive.
      TypeError: if `window_fn` is no such function.

    >>> x = tf.sin(tf.range(16.0))
    >>> window = tf.signal.inverse_stft_window_fn(2)
    >>> y = tf.signal.inverse_stft(tf.signal.stft(x, 8, 2), 8, 2, window_fn=window)
    >>> bool(np.allclose(x[6:-6], y[6:-6], atol=1e-5))
    True
    """
    x = convert_to_tensor(stfts)
    if not x.dtype.is_complex:
        raise DTypeError(f"inverse_stft: stfts must be complex, got {x.dtype.name}.")
    rules.check_rank_at_least("inverse_stft", x.spec, 2, name="stfts")
    size = _fft_length("inverse_stft", fft_length, frame_length)
    length = static.static_int("inverse_stft", frame_length, "frame_length")
    if length < 1:
        raise ShapeError(f"inverse_stft: frame_length must be positive, got {length}.")
    pieces = fourier.irfft(x, [size])
    pieces = fourier.resized("inverse_stft", pieces, [length], (-1,))
    pieces = weighed("inverse_stft", pieces, window_fn, length)
    return overlap_and_add(pieces, frame_step, name)


def inverse_stft_window_fn(
    frame_step: TensorLike,
    forward_window_fn: Callable[..., Any] = windows.hann_window,
    name: str | None = None,
) -> Callable[..., Tensor]:
    """A window for `inverse_stft` that undoes the one `stft` used.

    Args:
      frame_step: the step that `stft` had, a positive Python integer.
      forward_window_fn: the window that it had, a function of a length and a dtype.

    Returns:
      A function of a length and a dtype that returns a vector.

    Raises:
      ShapeError: if `frame_step` is not positive.
      TypeError: if `forward_window_fn` cannot be called.

    >>> tf.signal.inverse_stft_window_fn(2)(4, tf.float32).numpy()
    array([0., 1., 1., 1.], dtype=float32)
    """
    step = static.static_int("inverse_stft_window_fn", frame_step, "frame_step")
    if step < 1:
        raise ShapeError(f"inverse_stft_window_fn: frame_step must be positive, got {step}.")
    if not callable(forward_window_fn):
        raise TypeError(
            "inverse_stft_window_fn: forward_window_fn must be a function, got "
            f"{type(forward_window_fn).__name__}."
        )

    def window(frame_length: TensorLike, dtype: DTypeLike) -> Tensor:
        length = static.static_int("inverse_stft_window_fn", frame_length, "frame_length")
        forward = forward_window_fn(length, dtype=dtype)
        overlaps = -(-length // step)
        whole = padding.pad(unary.square(forward), [[0, overlaps * step - length]])
        total = sums.reduce_sum(shapes.reshape(whole, [overlaps, step]), 0, keepdims=True)
        weights = shapes.reshape(concat([total] * overlaps, 0), [-1])[:length]
        return guarded.divide_no_nan(forward, weights)

    return window
