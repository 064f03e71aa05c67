"""What a recorded call of a raw op is (see `support.raw_calls`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

i32, i64, f32 = np.int32, np.int64, np.float32


class Call(NamedTuple):
    """An op, its arguments, and which of them must be known while tracing.

    Of `variables` the op gets the handles; what they hold afterwards belongs to the result.
    """

    op: str
    arguments: dict[str, Any]
    static: tuple[str, ...] = ()
    variables: dict[str, np.ndarray] = {}  # noqa: RUF012 - nobody changes it


def numbers(*shape: int, low: float = -1.0, high: float = 1.0, dtype: Any = f32) -> np.ndarray:
    """Numbers that are the same for ever: a congruential generator, scrambled by the shape."""
    count = int(np.prod(shape))
    state = np.arange(count, dtype=np.uint64) * np.uint64(2654435761) + np.uint64(sum(shape))
    state = (state ^ (state >> np.uint64(15))) * np.uint64(2246822519) % np.uint64(1 << 32)
    share = (state >> np.uint64(8)).astype(np.float64) / (1 << 24)
    return (low + share * (high - low)).reshape(shape).astype(dtype)


def texts(*items: bytes) -> np.ndarray:
    """A vector of strings."""
    return np.array([*items, b""], object)[:-1]
