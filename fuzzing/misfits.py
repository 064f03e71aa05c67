"""Ops whose inputs do not belong together: one axis of one input has another size.

Every tier refuses such a call, or all give the same; machine code runs between forbidden pages.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzzing import corpus, variation
from fuzzing.corpus import Call
from fuzzing.differential import Disagreement, Refused, check
from fuzzing.ops import SORTED_FIRST, report

_TRIES = 8


def check_misfit(seed: int) -> str | None:
    """Ops with one input of another size or rank: refused by all tiers, or the same in all.

    None if all agree, else a program that shows what differs.
    """
    rng = np.random.default_rng(seed)
    names = sorted(corpus.ops())
    calls = [call for call in corpus.ops()[names[seed % len(names)]] if len(call.arrays) > 1]
    if not calls:
        return None
    call = calls[rng.integers(len(calls))]
    for _ in range(_TRIES):
        arrays = misfitting(call, rng)
        try:
            check(call, arrays)
        except Refused:
            continue
        except Disagreement as found:
            return report(call, arrays, found, seed)
    return None


def misfitting(call: Call, rng: np.random.Generator) -> list[Any]:
    """The arrays of a call, one of them with another shape."""
    arrays = list(call.arrays)
    i = int(rng.integers(len(arrays)))
    shape = list(arrays[i].shape)
    way = rng.integers(4)
    if way == 0 or not shape:
        shape.insert(int(rng.integers(len(shape) + 1)), 1)
    elif way == 1:
        shape.pop(int(rng.integers(len(shape))))
    else:
        axis = int(rng.integers(len(shape)))
        shape[axis] = int(rng.choice([0, 1, shape[axis] + 1, max(shape[axis] - 1, 0), 13]))
    arrays[i] = variation.fitted(arrays[i], tuple(shape))
    if call.name.startswith(SORTED_FIRST):
        arrays[0] = variation.sorted_rows(arrays[0])
    return arrays
