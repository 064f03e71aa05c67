"""Window functions, and the weights of the mel scale."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from weft._src.core import dtypes, memory
from weft._src.core.aliases import DTypeLike, TensorLike
from weft._src.core.convert import adopt, convert_to_tensor, of_dtype
from weft._src.core.dtypes import DType, float32, int32
from weft._src.core.tensor import Tensor
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops import rules, static
from weft._src.ops.arrays import fill, ranges, selection, tiling
from weft._src.ops.arrays.joining import concat
from weft._src.ops.elementwise import arithmetic, bessel, casting, trigonometry, unary
from weft._src.ops.reduce import scans


def _arguments(op: str, window_length: TensorLike, dtype: DTypeLike) -> tuple[Tensor, DType]:
    found = dtypes.as_dtype(dtype)
    if not found.is_floating:
        raise DTypeError(f"{op}: dtype must be floating-point, got {found.name}.")
    length = of_dtype(op, window_length, int32, "window_length")
    rules.check_rank(op, length.spec, 0, name="window_length")
    known = static.static_value(length)
    if known is not None and known < 0:
        raise ShapeError(f"{op}: window_length must not be negative, got {known}.")
    return length, found


def _raised_cosine(
    op: str, window_length: TensorLike, periodic: Any, dtype: DTypeLike, low: float
) -> Tensor:
    """`low` at the ends, 1 in the middle. A periodic window lacks its last element if even."""
    length, found = _arguments(op, window_length, dtype)
    even = 1 - length % 2
    steps = length - 1 + (even if periodic else 0)
    angle = 2 * math.pi / casting.cast(arithmetic.maximum(steps, 1), found)
    places = casting.cast(ranges.range(length), found)
    window = (1 + low) / 2 - (1 - low) / 2 * trigonometry.cos(places * angle)
    return selection.where(length == 1, fill.ones_like(window), window)


def hann_window(
    window_length: TensorLike,
    periodic: bool = True,
    dtype: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:
    """The Hann window: one wave of a cosine from 0 to 1 and back.

    Args:
      window_length: the number of elements, an integer or integer scalar.
      periodic: whether an even window lacks its last element, so that it can be repeated; if not,
        it is symmetric.
      dtype: the dtype of the result, a floating one.

    Returns:
      A vector of this length and dtype.

    Raises:
      ShapeError: if the length is negative or no scalar.
      DTypeError: if the dtype is not floating, or the length not an integer.

    >>> tf.signal.hann_window(4).numpy()
    array([0. , 0.5, 1. , 0.5], dtype=float32)
    """
    return _raised_cosine("hann_window", window_length, periodic, dtype, 0.0)


def hamming_window(
    window_length: TensorLike,
    periodic: bool = True,
    dtype: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:
    """The Hamming window: one wave of a cosine from 0.08 to 1 and back.

    Args:
      window_length: the number of elements, an integer or integer scalar.
      periodic: whether an even window lacks its last element, so that it can be repeated; if not,
        it is symmetric.
      dtype: the dtype of the result, a floating one.

    Returns:
      A vector of this length and dtype.

    Raises:
      ShapeError: if the length is negative or no scalar.
      DTypeError: if the dtype is not floating, or the length not an integer.

    >>> tf.signal.hamming_window(4).numpy().round(4)
    array([0.08, 0.54, 1.  , 0.54], dtype=float32)
    """
    return _raised_cosine("hamming_window", window_length, periodic, dtype, 0.08)


def kaiser_window(
    window_length: TensorLike,
    beta: TensorLike = 12.0,
    dtype: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:
    """The Kaiser window, whose width `beta` determines.

    Args:
      window_length: the number of elements, an integer or integer scalar.
      beta: how narrow the window is, a number of 0 or more.
      dtype: the dtype of the result, a floating one.

    Returns:
      A vector of this length and dtype.

    Raises:
      ShapeError: if the length is negative or no scalar.
      DTypeError: if the dtype is not floating, or the length not an integer.

    >>> tf.signal.kaiser_window(3, beta=2.0).numpy().round(4)
    array([0.4387, 1.    , 0.4387], dtype=float32)
    """
    length, found = _arguments("kaiser_window", window_length, dtype)
    width = casting.cast(beta, found)
    half = casting.cast(length - 1, found) / 2
    places = casting.cast(ranges.range(length), found) - half
    share = unary.square(places / arithmetic.maximum(half, adopt(0.5, found)))
    inside = width * unary.sqrt(arithmetic.maximum(1 - share, adopt(0.0, found)))
    # Scaled Bessel functions: the plain ones overflow.
    height = unary.exp(inside - width) * bessel.bessel_i0e(inside) / bessel.bessel_i0e(width)
    return selection.where(length == 1, fill.ones_like(height), height)


def kaiser_bessel_derived_window(
    window_length: TensorLike,
    beta: TensorLike = 12.0,
    dtype: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:
    """The window whose halves are roots of running sums of a Kaiser window.

    Args:
      window_length: the number of elements, an integer or integer scalar; an odd one is rounded
        down.
      beta: how narrow the Kaiser window is, a number of 0 or more.
      dtype: the dtype of the result, a floating one.

    Returns:
      A vector of this length and dtype.

    Raises:
      ShapeError: if the length is negative or no scalar.
      DTypeError: if the dtype is not floating, or the length not an integer.

    >>> tf.signal.kaiser_bessel_derived_window(4).numpy().round(4)
    array([0.0073, 1.    , 1.    , 0.0073], dtype=float32)
    """
    length, found = _arguments("kaiser_bessel_derived_window", window_length, dtype)
    half = length // 2
    totals = scans.cumsum(kaiser_window(half + 1, beta, found))
    rising = unary.sqrt(totals[:-1] / totals[-1])
    return concat([rising, tiling.reverse(rising, [0])], 0)


def vorbis_window(
    window_length: TensorLike, dtype: DTypeLike = float32, name: str | None = None
) -> Tensor:
    """The window of Vorbis: the sine of a squared sine.

    Args:
      window_length: the number of elements, an integer or integer scalar.
      dtype: the dtype of the result, a floating one.

    Returns:
      A vector of this length and dtype.

    Raises:
      ShapeError: if the length is negative or no scalar.
      DTypeError: if the dtype is not floating, or the length not an integer.

    >>> tf.signal.vorbis_window(4).numpy().round(4)
    array([0.228 , 0.9737, 0.9737, 0.228 ], dtype=float32)
    """
    length, found = _arguments("vorbis_window", window_length, dtype)
    places = casting.cast(ranges.range(length), found) + 0.5
    wave = trigonometry.sin(math.pi * places / casting.cast(arithmetic.maximum(length, 1), found))
    return trigonometry.sin(math.pi / 2 * unary.square(wave))


def linear_to_mel_weight_matrix(
    num_mel_bins: TensorLike = 20,
    num_spectrogram_bins: TensorLike = 129,
    sample_rate: TensorLike = 8000,
    lower_edge_hertz: TensorLike = 125.0,
    upper_edge_hertz: TensorLike = 3800.0,
    dtype: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:
    """A matrix that turns spectra of linear frequencies into triangular bands of the mel scale.

    Args:
      num_mel_bins: the number of bands, a positive Python integer.
      num_spectrogram_bins: the number of linear frequencies, from 0 to half the sample rate.
      sample_rate: the samples per second, a positive number that is known.
      lower_edge_hertz: where the first band begins.
      upper_edge_hertz: where the last band ends, at most half the sample rate.
      dtype: the dtype of the result, a floating one.

    Returns:
      A matrix of shape [num_spectrogram_bins, num_mel_bins]; `spectra @ matrix` are the bands.

    Raises:
      ValueError: if a number is out of range, or the dtype is not floating.

    >>> tf.signal.linear_to_mel_weight_matrix(4, 9).shape
    TensorShape([9, 4])
    """
    op = "linear_to_mel_weight_matrix"
    bands = static.static_int(op, num_mel_bins, "num_mel_bins")
    bins = static.static_int(op, num_spectrogram_bins, "num_spectrogram_bins")
    rate = _number(op, sample_rate, "sample_rate")
    low = _number(op, lower_edge_hertz, "lower_edge_hertz")
    high = _number(op, upper_edge_hertz, "upper_edge_hertz")
    found = dtypes.as_dtype(dtype)
    problem = None
    if not found.is_floating:
        problem = f"dtype must be floating-point, got {found.name}"
    elif bands < 1 or bins < 1:
        problem = f"num_mel_bins and num_spectrogram_bins must be positive, got {bands} and {bins}"
    elif not 0 < rate < math.inf:
        problem = f"sample_rate must be positive and finite, got {rate}"
    elif not 0 <= low < high:
        problem = f"lower_edge_hertz must be in [0, upper_edge_hertz), got {low} and {high}"
    elif high > rate / 2:
        problem = f"upper_edge_hertz must not be above half the sample_rate, got {high}"
    if problem is not None:
        raise ValueError(f"{op}: {problem}.")
    memory.check(op, (bins, bands), np.dtype(np.float64))
    # Frequency 0 belongs to no band.
    places = _mel(np.linspace(0, rate / 2, bins)[1:, None])
    edges = np.linspace(_mel(low), _mel(high), bands + 2)
    left, middle, right = edges[:-2], edges[1:-1], edges[2:]
    rising, falling = (places - left) / (middle - left), (right - places) / (right - middle)
    weights = np.maximum(0, np.minimum(rising, falling))
    return convert_to_tensor(np.pad(weights, [(1, 0), (0, 0)]).astype(found.numpy_dtype), name=name)


def _mel(hertz: Any) -> Any:
    return 1127 * np.log1p(hertz / 700)


def _number(op: str, value: Any, name: str) -> float:
    found = static.static_value(value)
    if found is None or found.shape != () or found.dtype.kind not in "fiu":
        raise ValueError(f"{op}: {name} must be one number that is known, got {value!r}.")
    return float(found)
