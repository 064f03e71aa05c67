"""From how many elements on an eager call of an op may be worth compiling."""

from __future__ import annotations

import sys
from typing import Any

from weft._src.core.native_rules import Contraction, IndexMap, NativeRule

LARGE = 1 << 16  # elements of the first and the last input: NumPy goes over them once
MEDIUM = 1 << 13  # the same for kernels that go over them several times
NEVER = sys.maxsize


def worth_compiling_from(op: Any) -> int:
    """NEVER for views, BLAS, and what is done on the host: machine code is no faster there."""
    if op.has_resources or op.host_io:
        return NEVER
    if not isinstance(op.native, NativeRule) or isinstance(op.native, Contraction):
        return NEVER
    if isinstance(op.native, IndexMap) and not op.fresh:
        return NEVER
    return MEDIUM if op.slow_kernel else LARGE
