"""The array namespace kernels are written against: NumPy, and what NumPy lacks.

A kernel gets this module as `xp` and uses nothing else, so that the same kernel can run on another
namespace with the same names. Anything not defined here is NumPy's own function.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import ml_dtypes
import numpy as np

from weft._src.core import blas, memory
from weft._src.core.dtypes import from_numpy
from weft._src.core.truncating import truncated as truncated

Array = np.ndarray[Any, Any]

_NARROW = {np.dtype(np.float16): np.float32, np.dtype(ml_dtypes.bfloat16): np.float32}


_PARTS_OF_SCIPY = {
    "special": "scipy.special",
    "scipy_linalg": "scipy.linalg",
    "scipy_fft": "scipy.fft",
}


def __getattr__(name: str) -> Any:
    # Parts of SciPy take a while to load, so they are imported by the first kernel that needs them.
    part = _PARTS_OF_SCIPY.get(name)
    value = getattr(np, name) if part is None else import_module(part)
    globals()[name] = value  # found directly from now on
    return value


def widen(x: Array) -> Array:
    """float16 and bfloat16 as float32, for sums and products; everything else as it is."""
    wide = _NARROW.get(x.dtype)
    return x if wide is None else x.astype(wide)


def zeros(shape: Any, dtype: Any = float) -> Array:
    """`np.zeros`, refused if there is not as much memory."""
    _check(shape, dtype)
    return np.zeros(shape, dtype)


def empty(shape: Any, dtype: Any = float) -> Array:
    """`np.empty`, refused if there is not as much memory."""
    _check(shape, dtype)
    return np.empty(shape, dtype)


def full(shape: Any, value: Any, dtype: Any = None) -> Array:
    """`np.full`, refused if there is not as much memory."""
    _check(shape, np.asarray(value).dtype if dtype is None else dtype)
    return np.full(shape, value, dtype)


def _check(shape: Any, dtype: Any) -> None:
    count = math.prod(shape) if isinstance(shape, tuple) else shape
    if type(count) is int and count > memory.limits.asked_above >> 4:  # no element has more bytes
        size = count * np.dtype(dtype).itemsize
        memory.check_array(
            size, f"of shape {_listed(shape)} and dtype {from_numpy(np.dtype(dtype)).name}"
        )


def _listed(shape: Any) -> list[int]:
    return list(shape) if isinstance(shape, tuple) else [shape]


def matmul(x: Array, y: Array) -> Any:
    """Matrix product in the dtype of the inputs, accumulated in at least float32."""
    if x.size * y.size > memory.limits.asked_above:  # only an outer product is so large
        shape = (*np.broadcast_shapes(x.shape[:-2], y.shape[:-2]), x.shape[-2], y.shape[-1])
        _check(shape, x.dtype)
    wide = _NARROW.get(x.dtype)
    if wide is not None:
        return matmul(x.astype(wide), y.astype(wide)).astype(x.dtype)
    if x.ndim == 2 == y.ndim:
        return blas.dot(x, y)  # the same, and a third faster for small matrices
    return blas.matmul(x, y) if x.ndim > 1 < y.ndim else np.matmul(x, y)


def matmul_into(x: Array, y: Array, out: Array) -> None:
    """`np.matmul` of two matrices, written to an array; OpenBLAS does it on one thread."""
    blas.matmul_into(x, y, out)


def shared(work: Callable[[int], None], count: int) -> None:
    """Does numbered pieces of work on several threads, each with one thread of OpenBLAS."""
    blas.shared(work, count)


def reduction(ufunc: np.ufunc, x: Array, axis: Any, keepdims: bool) -> Any:
    """`ufunc.reduce` in the dtype of x (not in a wider integer); narrow floats add in float32."""
    wide = _NARROW.get(x.dtype)
    if ufunc is np.add and x.size >= _MANY and _leaves_short_rows(x, axis):
        out = _sum_of_short_rows(ufunc, x, len(axis), wide or x.dtype, keepdims)
    else:
        out = ufunc.reduce(x, axis=axis, dtype=wide or x.dtype, keepdims=keepdims)
    if ufunc is np.add and out.size == x.size:  # of one number each: NumPy makes 0.0 of -0.0
        return x.reshape(out.shape).copy()
    return out if wide is None else out.astype(x.dtype)


def _leaves_short_rows(x: Array, axis: Any) -> bool:
    """Whether the first axes are summed over, and what is left is short."""
    if type(axis) is not tuple or not 0 < len(axis) < x.ndim or not x.flags.c_contiguous:
        return False
    is_first = {a % x.ndim for a in axis} == set(range(len(axis)))
    return is_first and math.prod(x.shape[len(axis) :]) <= _SHORT


def _sum_of_short_rows(add: np.ufunc, x: Array, axes: int, dtype: Any, keepdims: bool) -> Any:
    """A sum over the first axes: of many rows side by side, and then of these.

    (Of [50176, 16] in float32: 0.2 ms instead of 1.3, and a twentieth of the error.)
    """
    left = x.shape[axes:]
    rows = x.reshape(-1, math.prod(left))
    n, length = rows.shape
    together = _TOGETHER // length
    even = n - n % together
    wide = add.reduce(rows[:even].reshape(-1, together * length), axis=0, dtype=dtype)
    out = add.reduce(wide.reshape(together, length), axis=0, dtype=dtype)
    if even < n:
        out += add.reduce(rows[even:], axis=0, dtype=dtype)
    return out.reshape((1,) * axes + left if keepdims else left)


def take(x: Array, indices: Array, axis: int) -> Any:
    """`np.take`, but one string taken out of a vector stays an array."""
    out = np.take(x, indices, axis)
    return np.array(out, object) if type(out) is bytes else out


_SHORT, _TOGETHER = 64, 1024  # numbers of rows, alone and side by side
_BITS = {4: np.uint32, 8: np.uint64}
_MANY = 1 << 14  # below, all are quick


def choose(condition: Array, x: Array, y: Array) -> Any:
    """`np.where`, by arithmetic on bits for large arrays: branches are hard to predict there.

    (A million random choices of float32: 1.3 ms; `np.where`: 4.6 ms.)
    """
    bits = _BITS.get(x.dtype.itemsize)
    same = condition.shape == x.shape == y.shape
    if not same and condition.size * x.size * y.size > memory.limits.asked_above >> 4:
        _check(np.broadcast_shapes(condition.shape, x.shape, y.shape), x.dtype)
    if x.size < _MANY or not same or bits is None or x.dtype.kind not in "fiu":
        return np.where(condition, x, y)
    if not (x.flags.c_contiguous and y.flags.c_contiguous):
        return np.where(condition, x, y)
    first, second = x.view(bits), y.view(bits)
    mask = condition.astype(bits)
    np.negative(mask, out=mask)
    out = np.bitwise_xor(first, second)
    np.bitwise_and(out, mask, out=out)
    np.bitwise_xor(out, second, out=out)
    return out.view(x.dtype)


def or_nothing(condition: Array, x: Array) -> Any:
    """x where a condition of the same shape holds, else 0: bits times 1 or 0 for large arrays.

    (A million random choices of float32: 0.6 ms; `choose` beside zeros: 1.4 ms.)
    """
    bits = _BITS.get(x.dtype.itemsize)
    if x.size < _MANY or bits is None or x.dtype.kind not in "fiu" or not x.flags.c_contiguous:
        return np.where(condition, x, x.dtype.type(0))
    return np.multiply(x.view(bits), condition).view(x.dtype)


def scatter_add(x: Array, index: Any, updates: Array) -> None:
    """Adds `updates` at `index`, in place; repeated indices add up."""
    np.add.at(x, index, updates)


def scatter_with(ufunc: np.ufunc, x: Array, index: Any, updates: Array) -> None:
    """Combines `updates` into x at `index` with a ufunc, in place; repeated indices combine."""
    ufunc.at(x, index, updates)


def strided(x: Array, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    """A view of x with another shape, whose elements may overlap; it must stay inside of x."""
    return np.lib.stride_tricks.as_strided(x, shape, strides, writeable=False)


def as_strings(items: list[bytes], shape: tuple[int, ...]) -> Array:
    """A string array: bytes objects in an object array."""
    out = np.empty(len(items), object)
    out[:] = items
    return out.reshape(shape)
