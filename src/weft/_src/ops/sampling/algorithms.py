"""Which generator makes the numbers: Philox, always."""

from __future__ import annotations

import enum
from typing import Any

from weft._src.core.aliases import IntLike
from weft._src.errors import UnsupportedError


class Algorithm(enum.Enum):
    """The generators that TensorFlow names. Weft has Philox.

    >>> tf.random.Algorithm.PHILOX.value
    1
    """

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


def philox_like(op: str, alg: Any) -> Algorithm:
    """The algorithm an argument asks for; an error unless Philox can serve it."""
    found = _lookup(alg)
    if found is None:
        raise ValueError(
            f"{op}: alg must be 'philox' or 'auto_select' (or their tf.random.Algorithm), "
            f"got {alg!r}."
        )
    if found is Algorithm.THREEFRY:
        raise UnsupportedError(
            f"{op}: Weft has no ThreeFry generator. Use alg='philox', which TensorFlow also uses "
            "on the CPU."
        )
    return found


def _lookup(alg: str | IntLike) -> Algorithm | None:
    if isinstance(alg, Algorithm):
        return alg
    if isinstance(alg, str):
        return Algorithm.__members__.get(alg.upper()) if alg.islower() else None
    return next((a for a in Algorithm if a.value == alg), None)
