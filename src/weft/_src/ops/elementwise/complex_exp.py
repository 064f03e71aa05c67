"""exp of complex numbers, by functions of real ones: NumPy's own takes ten times as long."""

from __future__ import annotations

import numpy as np

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.machine_jobs import MachineJob
from weft._src.core.tensor import Array

_WORDS = ("all x", "all out")
_MACHINE = {
    np.dtype(np.complex64): MachineJob("complex_exp_float", _WORDS),
    np.dtype(np.complex128): MachineJob("complex_exp_double", _WORDS),
}
_NUMPY_TAKES = 2e-8  # seconds for a number
_WORTH_CALLING = 64  # numbers
_PIECE = 1 << 14  # numbers that a thread does at once


def kernel(xp: ArrayNamespace, x: Array) -> Array:
    """exp of numbers of any kind."""
    if x.dtype not in _MACHINE or type(x) is not np.ndarray or x.size < _WORTH_CALLING:
        return xp.exp(x)
    x = np.ascontiguousarray(x)
    out = np.empty(x.shape, x.dtype)
    run = _MACHINE[x.dtype].after(x.size * _NUMPY_TAKES)
    if run is not None:
        run((x, out), x.size, _PIECE)
    else:
        _by_numpy(x, out)
    # Infinity times 0, and sizes that overflow before they are made smaller, need more care.
    parts = out.reshape(-1).view(x.real.dtype)
    if not np.isfinite(parts).all():
        doubtful = ~np.isfinite(out)
        out[doubtful] = np.exp(x[doubtful])
    return out


def _by_numpy(x: Array, out: Array) -> None:
    real, imaginary = np.ascontiguousarray(x.real), np.ascontiguousarray(x.imag)
    size = np.exp(real, out=real)
    np.multiply(size, np.cos(imaginary), out=out.real)
    np.multiply(size, np.sin(imaginary), out=out.imag)
