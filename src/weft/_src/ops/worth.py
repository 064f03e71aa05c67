"""From how many elements on an eager call of an op may be worth compiling."""

from __future__ import annotations

import sys
from typing import Any

from weft._src.core.native_rules import Contraction, IndexMap, NativeRule, Pointwise

LARGE = 1 << 16  # elements of the first and the last input: NumPy goes over them once
MEDIUM = 1 << 13  # the same for kernels that go over them several times
SMALL = 1 << 10  # the same for special functions, of which SciPy computes ten in a microsecond
NEVER = sys.maxsize


def worth_compiling_from(op: Any) -> int:
    """NEVER for views, BLAS, and what is done on the host: machine code is no faster there."""
    if op.has_resources or op.host_io:
        return NEVER
    if not isinstance(op.native, NativeRule) or isinstance(op.native, Contraction):
        return NEVER
    if isinstance(op.native, IndexMap) and not op.fresh:
        return NEVER
    if isinstance(op.native, Pointwise) and not op.cheap:
        return SMALL
    return MEDIUM if op.slow_kernel else LARGE
