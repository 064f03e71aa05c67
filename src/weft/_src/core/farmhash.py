"""FarmHash's 64-bit fingerprint, which never changes, for many byte strings at a time.

Rows of equal length are hashed together: each step is NumPy arithmetic on one 64-bit number per
row, in which overflow wraps as it does on the machine.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Pair = tuple[Any, Any]

_MANY = 1000  # strings

_K0 = np.uint64(0xC3A5C85C97CB3127)
_K1 = np.uint64(0xB492B66FBE98F273)
_K2 = np.uint64(0x9AE16A3B2F90404F)


def _u64(number: int) -> np.uint64:
    return np.uint64(number & 0xFFFFFFFFFFFFFFFF)


def _rotate(x: Any, bits: int) -> Any:
    return (x >> _u64(bits)) | (x << _u64(64 - bits))


def _mix(x: Any) -> Any:
    return x ^ (x >> _u64(47))


def _finish(u: Any, v: Any, mul: Any) -> Any:
    """Two numbers hashed to one."""
    a = _mix((u ^ v) * mul)
    return _mix((v ^ a) * mul) * mul


class _Rows:
    """Rows of bytes of one length, read as little-endian numbers at a place."""

    def __init__(self, rows: Array) -> None:
        self.rows = rows
        self.length = rows.shape[1]

    def u64(self, at: int) -> Array:
        at = at + self.length if at < 0 else at
        return np.ascontiguousarray(self.rows[:, at : at + 8]).view("<u8")[:, 0]

    def u32(self, at: int) -> Array:
        at = at + self.length if at < 0 else at
        return np.ascontiguousarray(self.rows[:, at : at + 4]).view("<u4")[:, 0].astype(np.uint64)

    def byte(self, at: int) -> Array:
        return self.rows[:, at].astype(np.uint64)


def fingerprint_rows(rows: Array) -> Array:
    """The fingerprint of each row of a matrix of bytes (uint8), as uint64."""
    data = _Rows(rows)
    n = data.length
    if n == 0:
        return np.full(len(rows), _K2, np.uint64)
    with np.errstate(over="ignore"):
        if n <= 16:
            return _up_to_16(data, n)
        if n <= 32:
            return _up_to_32(data, n)
        if n <= 64:
            return _up_to_64(data, n)
        return _long(data, n)


def fingerprints(strings: Sequence[bytes]) -> Array:
    """The fingerprint of each byte string, as uint64."""
    out = np.empty(len(strings), np.uint64)
    for length, places, found in _by_length(strings):
        rows = np.frombuffer(b"".join(found), np.uint8).reshape(len(found), length)
        out[places] = fingerprint_rows(rows)
    return out


def _by_length(strings: Sequence[bytes]) -> Iterator[tuple[int, Any, list[bytes]]]:
    """Strings of one length, with their places."""
    if len(strings) < _MANY:
        by_length: dict[int, list[int]] = {}
        for i, text in enumerate(strings):
            by_length.setdefault(len(text), []).append(i)
        for length, places in by_length.items():
            yield length, places, [strings[i] for i in places]
        return
    # An array is sorted, and picks objects, faster than a list.
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    order = np.argsort(lengths, kind="stable")
    lengths, objects = lengths[order], np.empty(len(strings), object)
    objects[:] = strings
    objects = objects[order]
    bounds = np.flatnonzero(np.diff(lengths, prepend=-1, append=-1)).tolist()
    for first, last in itertools.pairwise(bounds):
        yield int(lengths[first]), order[first:last], objects[first:last].tolist()


def _up_to_16(data: _Rows, n: int) -> Any:
    mul = _u64(int(_K2) + 2 * n)
    if n >= 8:
        a, b = data.u64(0) + _K2, data.u64(-8)
        c = _rotate(b, 37) * mul + a
        d = (_rotate(a, 25) + b) * mul
        return _finish(c, d, mul)
    if n >= 4:
        return _finish(_u64(n) + (data.u32(0) << _u64(3)), data.u32(-4), mul)
    y = data.byte(0) + (data.byte(n >> 1) << _u64(8))
    z = _u64(n) + (data.byte(n - 1) << _u64(2))
    return _mix(y * _K2 ^ z * _K0) * _K2


def _up_to_32(data: _Rows, n: int) -> Any:
    mul = _u64(int(_K2) + 2 * n)
    a, b = data.u64(0) * _K1, data.u64(8)
    c, d = data.u64(-8) * mul, data.u64(-16) * _K2
    u = _rotate(a + b, 43) + _rotate(c, 30) + d
    return _finish(u, a + _rotate(b + _K2, 18) + c, mul)


def _up_to_64(data: _Rows, n: int) -> Any:
    mul = _u64(int(_K2) + 2 * n)
    a, b = data.u64(0) * _K2, data.u64(8)
    c, d = data.u64(-8) * mul, data.u64(-16) * _K2
    y = _rotate(a + b, 43) + _rotate(c, 30) + d
    z = _finish(y, a + _rotate(b + _K2, 18) + c, mul)
    e, f = data.u64(16) * mul, data.u64(24)
    g, h = (y + data.u64(-32)) * mul, (z + data.u64(-24)) * mul
    return _finish(_rotate(e + f, 43) + _rotate(g, 30) + h, e + _rotate(f + a, 18) + g, mul)


def _weak(data: _Rows, at: int, a: Any, b: Any) -> Pair:
    """Thirty-two bytes and two seeds hashed to two numbers."""
    w, x, y, z = [data.u64(at + 8 * i) for i in range(4)]
    a = a + w
    b = _rotate(b + a + z, 21)
    c = a
    a = a + x + y
    return a + z, b + _rotate(a, 44) + c


def _round(data: _Rows, at: int, state: tuple[Any, ...], mul: Any, last: bool) -> tuple[Any, ...]:
    """Sixty-four bytes go into the state; in the last round they weigh more."""
    x, y, z, v, w = state
    nine = _u64(9 if last else 1)
    x = _rotate(x + y + v[0] + data.u64(at + 8), 37) * mul
    y = _rotate(y + v[1] + data.u64(at + 48), 42) * mul
    x = x ^ w[1] * nine
    y = y + v[0] * nine + data.u64(at + 40)
    z = _rotate(z + w[0], 33) * mul
    v = _weak(data, at, v[1] * mul, x + w[0])
    w = _weak(data, at + 32, z + w[1], y + data.u64(at + 16))
    return z, y, x, v, w


def _long(data: _Rows, n: int) -> Any:
    zero = np.zeros(len(data.rows), np.uint64)
    seed = 81
    y = zero + _u64(seed * int(_K1) + 113)
    z = _mix(y * _K2 + _u64(113)) * _K2
    x = _u64(seed) * _K2 + data.u64(0)
    state: tuple[Any, ...] = (x, y, z, (zero, zero), (zero, zero))
    end = (n - 1) // 64 * 64
    for at in range(0, end, 64):
        state = _round(data, at, state, _K1, last=False)
    x, y, z, v, w = state
    mul = _K1 + ((z & _u64(0xFF)) << _u64(1))
    w = (w[0] + _u64((n - 1) & 63), w[1])
    v = (v[0] + w[0], v[1])
    w = (w[0] + v[0], w[1])
    x, y, z, v, w = _round(data, n - 64, (x, y, z, v, w), mul, last=True)
    return _finish(_finish(v[0], w[0], mul) + _mix(y) * _K0 + z, _finish(v[1], w[1], mul) + x, mul)
