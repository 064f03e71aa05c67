"""Fourier transforms of large arrays on all cores.

Many lines are shared out by SciPy. A single long line is done in two steps of many short lines
(Cooley and Tukey's, with factors near the square root): those can be shared, and stay in the cache.
"""

from __future__ import annotations

import functools
from typing import Any

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.processors import threads_per_op
from weft._src.core.tensor import Array

_LARGE = 1 << 16  # elements from which more than one core pays
_SINGLE, _LONGEST = 1 << 17, 1 << 24  # lines that are done in two steps: tables grow with them


def rfft(xp: ArrayNamespace, x: Array, axis: int, norm: str) -> Array:
    """`scipy.fft.rfft`."""
    transform, workers = xp.scipy_fft, threads_per_op()
    if x.size < _LARGE:
        return transform.rfft(x, axis=axis, norm=norm)
    factors = _factors_of_line(transform, x, axis)
    if factors is None:
        return transform.rfft(x, axis=axis, norm=norm, workers=workers)
    rows, columns = factors
    n = rows * columns
    short = transform.rfft(x.reshape(factors), axis=0, norm=norm, workers=workers)
    short *= _turns(xp, (len(short), columns), -1 / n, short.dtype)
    short = transform.fft(short, axis=1, norm=norm, workers=workers, overwrite_x=True)
    # Coefficient i + rows * j is at [i, j]; those of the upper half of i are mirrored ones.
    half, count = len(short), n // 2 // rows + 1
    out = xp.empty((count, rows), short.dtype)
    out[:, :half] = short[:, :count].T
    mirrored = short[rows - half : 0 : -1, : columns - 1 - count : -1]
    xp.conjugate(mirrored.T, out=out[:, half:])
    shape = list(x.shape)
    shape[axis] = n // 2 + 1
    return out.reshape(-1)[: n // 2 + 1].reshape(shape)


def irfft(xp: ArrayNamespace, x: Array, n: int, axis: int, norm: str) -> Array:
    """`scipy.fft.irfft`."""
    workers = threads_per_op() if x.size >= _LARGE else 1
    return xp.scipy_fft.irfft(x, n, axis=axis, norm=norm, workers=workers)


def fftn(xp: ArrayNamespace, x: Array, axes: tuple[int, ...], norm: str, *, inverse: bool) -> Array:
    """`scipy.fft.fftn`, and `ifftn`."""
    transform, workers = xp.scipy_fft, threads_per_op()
    several = transform.ifftn if inverse else transform.fftn
    if x.size < _LARGE:
        return several(x, axes=axes, norm=norm)
    factors = _factors_of_line(transform, x, axes[0]) if len(axes) == 1 else None
    if factors is None:
        return several(x, axes=axes, norm=norm, workers=workers)
    one = transform.ifft if inverse else transform.fft
    short = one(x.reshape(factors), axis=0, norm=norm, workers=workers)
    short *= _turns(xp, factors, (1 if inverse else -1) / x.size, short.dtype)
    short = one(short, axis=1, norm=norm, workers=workers, overwrite_x=True)
    return short.T.reshape(x.shape)


def _factors_of_line(transform: Any, x: Array, axis: int) -> tuple[int, int] | None:
    """Two factors of a single long line's length, None if it is not single, long, or has none."""
    n = x.shape[axis]
    if n != x.size or not _SINGLE <= n <= _LONGEST:
        return None
    for rows in range(int(n**0.5), int(n**0.5) // 8, -1):
        if n % rows == 0 and all(transform.next_fast_len(k) == k for k in (rows, n // rows)):
            return rows, n // rows
    return None


@functools.lru_cache(maxsize=2)
def _turns(xp: ArrayNamespace, shape: tuple[int, int], part: float, dtype: Any) -> Array:
    """exp(2 pi i r c part) for every row r and column c."""
    angles = xp.multiply.outer(*[xp.arange(n) for n in shape]) * (2 * xp.pi * part)
    out = xp.empty(angles.shape, dtype)
    xp.cos(angles, out=out.real, casting="same_kind")
    xp.sin(angles, out=out.imag, casting="same_kind")
    return out
