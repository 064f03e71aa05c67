"""The time."""

from __future__ import annotations

import time
from typing import Any

from weft._src.core.dtypes import float64
from weft._src.core.tensor import Tensor
from weft._src.ops import rules
from weft._src.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, define_op

timestamp_op = define_op(
    "Timestamp",
    (),
    infer=lambda: rules.scalar(float64),
    kernel=lambda xp: xp.array(time.time()),
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    host_io=True,
    fresh=True,
    self_contained=True,
)


def timestamp(name: str | None = None) -> Tensor:
    """The seconds since 1970, read when the op runs: in a graph anew in every call.

    Returns:
      A float64 scalar.

    >>> bool(tf.timestamp() > 1e9)
    True
    """
    found: Any = timestamp_op(name=name)
    return found
