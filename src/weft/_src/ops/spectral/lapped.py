"""The modified discrete cosine transform: overlapping frames, half as many numbers as samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import float32, float64
from weft._src.core.tensor import Tensor
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops import rules, static
from weft._src.ops.arrays import joining, tiling
from weft._src.ops.spectral import cosine, frames, windows


def _turned(x: Tensor) -> Tensor:
    return tiling.reverse(x, axis=[-1])


def _checked(op: str, value: Any, name: str, rank: int, norm: Any) -> Tensor:
    x = convert_to_tensor(value, dtype_hint=float32)
    if x.dtype not in (float32, float64):
        raise DTypeError(f"{op}: {name} must be float32 or float64, got {x.dtype.name}.")
    rules.check_rank_at_least(op, x.spec, rank, name=name)
    if norm is not None and (not isinstance(norm, str) or norm != "ortho"):
        raise ValueError(f"{op}: norm must be None or 'ortho', got {norm!r}.")
    return x


def _weighed(op: str, x: Tensor, window_fn: Any, length: int) -> Tensor:
    if window_fn is None:
        return x * 0.5**0.5  # so that squares of both halves add up to one
    return frames.weighed(op, x, window_fn, length)


def mdct(
    signals: TensorLike,
    frame_length: int,
    window_fn: Callable[..., Any] | None = windows.vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The modified discrete cosine transform of frames that overlap by half.

    Args:
      signals: a tensor [..., samples] of float32 or float64.
      frame_length: how long frames are, a multiple of 4.
      window_fn: a function of a length and a dtype that gives a window; None means the same factor
        for all, with which `inverse_mdct` undoes it.
      pad_end: whether the end is filled up with zeros, so that each sample is in a frame.
      norm: None, or "ortho" for an orthonormal transform.

    Returns:
      A tensor [..., frames, frame_length / 2] of the same dtype.

    Raises:
      ValueError: if `frame_length` is no multiple of 4, or there is no such norm.
      ShapeError: if `signals` is a scalar.
      DTypeError: if it has another dtype.

    >>> tf.signal.mdct(tf.ones([8]), 8).shape
    TensorShape([1, 4])
    """
    op = "mdct"
    x = _checked(op, signals, "signals", 1, norm)
    length = static.static_int(op, frame_length, "frame_length")
    if length < 4 or length % 4:
        raise ValueError(f"{op}: frame_length must be a positive multiple of 4, got {length}.")
    x = frames.frame(x, length, length // 2, pad_end)
    x = _weighed(op, x, window_fn, length)
    quarter = length // 4
    a, b, c, d = (x[..., i * quarter : (i + 1) * quarter] for i in range(4))
    folded = joining.concat([-_turned(c) - d, a - _turned(b)], -1)
    return cosine.dct(folded, type=4, norm=norm, name=name)


def inverse_mdct(
    mdcts: TensorLike,
    window_fn: Callable[..., Any] | None = windows.vorbis_window,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """What `mdct` was made of; the first and last half frame are lost.

    Args:
      mdcts: a tensor [..., frames, frame_length / 2] of float32 or float64.
      window_fn: the function that gave the window of `mdct`, or None.
      norm: None, or "ortho", as for `mdct`.

    Returns:
      A tensor [..., samples] of the same dtype.

    Raises:
      ValueError: if there is no such norm.
      ShapeError: if `mdcts` has less than two axes, or its last size is not known or not even.
      DTypeError: if it has another dtype.

    >>> x = tf.range(12.0)
    >>> tf.signal.inverse_mdct(tf.signal.mdct(x, 8)).numpy()[4:8].round(3)
    array([4., 5., 6., 7.], dtype=float32)
    """
    op = "inverse_mdct"
    x = _checked(op, mdcts, "mdcts", 2, norm)
    half = x.shape[-1] if x.shape.rank is not None else None
    if half is None or half < 2 or half % 2:
        raise ShapeError(
            f"{op}: the last size of mdcts must be known, positive and even, got shape {x.shape}."
        )
    scale = 0.5 / half if norm is None else 1.0
    x = cosine.idct(x, type=4, norm=norm) * scale
    first, second = x[..., : half // 2], x[..., half // 2 :]
    out = joining.concat([second, -_turned(second), -_turned(first), -first], -1)
    return frames.overlap_and_add(_weighed(op, out, window_fn, 2 * half), half, name=name)
