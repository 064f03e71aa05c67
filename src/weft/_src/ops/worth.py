"""From how many elements on an eager call of an op may be worth compiling."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from weft._src.core.native_rules import Contraction, IndexMap, NativeRule, Pointwise

LARGE = 1 << 16  # elements of the first and the last input: NumPy goes over them once
MEDIUM = 1 << 13  # the same for kernels that go over them several times
# The same for special functions, of which SciPy computes ten in a microsecond, and for elementwise
# kernels of many passes: beside these a call of machine code, 3 us, is short.
SMALL = 1 << 9
NEVER = sys.maxsize
_ELEMENTARY = frozenset(
    {np.exp, np.expm1, np.log, np.log1p, np.sin, np.cos, np.tan, np.sinh, np.cosh, np.tanh,
     np.arcsin, np.arccos, np.arctan, np.arctan2, np.power, np.float_power, np.logaddexp}
)  # fmt: skip


def worth_compiling_from(op: Any) -> int:
    """NEVER for views and what is done on the host: machine code is no faster there."""
    if op.has_resources or op.host_io or not isinstance(op.native, NativeRule):
        return NEVER
    if isinstance(op.native, IndexMap) and not op.fresh:
        return NEVER
    takes_long = not op.cheap or (op.slow_kernel and op.ufunc is None)
    if isinstance(op.native, Pointwise) and takes_long:
        return SMALL
    return MEDIUM if op.slow_kernel else LARGE


def is_for_blas(op: Any, values: list[Any]) -> bool:
    """Whether it is a single product of matrices: machine code is no faster there, either."""
    return isinstance(op.native, Contraction) and max([v.ndim for v in values]) <= 2


def is_special(op: Any) -> bool:
    """Whether an elementwise op takes NumPy as long as several passes, as functions like exp do."""
    return bool(op.slow_kernel or not op.cheap or op.ufunc in _ELEMENTARY)
