"""How values are stored for TensorBoard's plugins: numbers, histograms, images, text."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.media import png_writing, wav

Array = np.ndarray[Any, Any]


def scalar_form(data: Array) -> Array:
    """One float32."""
    if np.ndim(data):
        raise ShapeError(f"scalar: data must have rank 0, got shape {np.shape(data)}.")
    return np.asarray(data, np.float32)


def histogram_form(data: Array, buckets: int) -> Array:
    """Rows of (left edge, right edge, count); what is not finite is left out."""
    values: Array = np.asarray(data, np.float64).reshape(-1)
    values = values[np.isfinite(values)]
    out = np.zeros((buckets, 3))
    if not values.size or not buckets:
        return out
    low, high = values.min(), values.max()
    if low == high:
        out[:, :2] = high
        out[-1, 2] = values.size
        return out
    # The range itself may be too large for a float64.
    along = np.arange(buckets + 1) / buckets
    edges = low * (1 - along) + high * along
    width = high / buckets - low / buckets
    places = np.minimum((values / width - low / width).astype(np.int64), buckets - 1)
    out[:, 0], out[:, 1] = edges[:-1], edges[1:]
    out[:, 2] = np.bincount(np.maximum(places, 0), minlength=buckets)
    return out


def image_form(data: Array, max_outputs: int) -> Array:
    """Strings: width, height, and the first images as PNG files."""
    if np.ndim(data) != 4:
        raise ShapeError(f"image: data must have rank 4, got shape {np.shape(data)}.")
    pixels = _bytes_of_pixels(np.asarray(data)[:max_outputs])
    height, width, channels = data.shape[1:]
    if not 1 <= channels <= 4:
        raise InvalidArgumentError(
            None,
            None,
            f"image: data must have 1, 2, 3 or 4 channels (its last axis), got {channels}.",
        )
    files = [png_writing.encode(image) for image in pixels] if height and width else []
    return np.array([str(width).encode(), str(height).encode(), *files], object)


def _bytes_of_pixels(images: Array) -> Array:
    """Floats are intensities from 0 to 1; integers of 16 bits lose the lower 8."""
    if images.dtype == np.uint8:
        return images
    if images.dtype == np.uint16:
        return (images >> 8).astype(np.uint8)
    scaled = np.nan_to_num(np.asarray(images, np.float64) * 255.5, nan=0.0)
    return np.clip(scaled, 0, 255).astype(np.uint8)


def audio_form(data: Array, number: int) -> Array:
    """Pairs of strings: the first clips as WAV files, and a label that is empty."""
    max_outputs, rate = divmod(number, 1 << 32)
    if np.ndim(data) != 3:
        raise ShapeError(f"audio: data must have rank 3, got shape {np.shape(data)}.")
    clips = np.asarray(data)[:max_outputs].astype(np.float32)
    out = np.full((len(clips), 2), b"", object)
    for i, clip in enumerate(clips):
        out[i, 0] = wav.encode("audio", clip, rate)
    return out
