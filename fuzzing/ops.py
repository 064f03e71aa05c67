"""Ops and public functions with random dtypes, sizes and numbers, in every mode.

A case that fails is made smaller as long as it fails, and printed as a program.
"""

from __future__ import annotations

import functools
import json
import os
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from fuzzing import corpus, variation
from fuzzing.campaign import all_frames
from fuzzing.corpus import Call
from fuzzing.differential import TIERS, Disagreement, Refused, check
from weft._src.core.dtypes import DType, from_numpy

_TRIES = 6  # the last one leaves everything but the dtype as it is
_MOST_SHRINKS = 80
_MOST_SECONDS = 20.0  # of work, to make a case smaller

SORTED_FIRST = ("LowerBound", "UpperBound", "searchsorted")  # of unsorted rows they mean nothing

compared: Counter[tuple[str, str, str]] = Counter()  # by op or function, tier, class of dtype
_reaching: dict[tuple[str, str, str], set[int]] = {}  # the calls, by number, that got there


def read_counts(path: Path) -> None:
    """Adds what earlier runs compared; nothing, if there is no such file yet."""
    if path.exists():
        for name, tier, kind, times, calls in json.loads(path.read_text(encoding="utf-8")):
            compared[name, tier, kind] += times
            _reaching.setdefault((name, tier, kind), set()).update(calls)


def write_counts(path: Path) -> None:
    """Writes what was compared, in this run and in those that were read."""
    rows = [
        [*key, times, sorted(_reaching.get(key, ()))] for key, times in sorted(compared.items())
    ]
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.write_text(json.dumps(rows), encoding="utf-8")
    os.replace(unfinished, path)


@functools.cache
def cells() -> tuple[tuple[str, str], ...]:
    """Every op with every class of dtypes it takes."""
    found = []
    for name, calls in corpus.ops().items():
        for kind, members in variation.CLASSES.items():
            if any(_groups_for(call, members) for call in calls):
                found.append((name, kind))
    return tuple(found)


_tried: Counter[tuple[str, str]] = Counter()  # cells for which seeds were asked for
_MOST_SKIPPED = 500  # seeds, until one has a call that is known to get there


def seeds_of_rare_cells(start: int, least: int) -> list[int]:
    """Seeds, from `start` on, of cells that a tier they have has seen less often than wanted.

    Some tiers see one call in twenty (machine code with a shape that is an input, say). So those
    seeds are taken that choose a call which got there before; after fifty times the number wanted,
    a cell is left as it is. The seeds are those of one round.
    """
    rare: dict[tuple[str, str], set[int]] = {}
    for (name, tier, kind), times in compared.items():
        if times < least:
            rare.setdefault((name, kind), set()).update(_reaching.get((name, tier, kind), ()))
    seen = {(name, kind) for name, _, kind in compared}
    every = cells()
    found = []
    for place, cell in enumerate(every):
        if (cell in rare or cell not in seen) and _tried[cell] < 50 * least:
            seed = _next_seed(start, place, cell, rare.get(cell, set()))
            found.append(seed)
            _tried[cell] += 1
    return found


_next_round: Counter[tuple[str, str]] = Counter()


def _next_seed(start: int, place: int, cell: tuple[str, str], wanted: set[int]) -> int:
    """The next seed of a cell that chooses one of the calls wanted; any, if there are none."""
    first = start // len(cells()) + 1
    for _ in range(_MOST_SKIPPED):
        seed = (first + _next_round[cell]) * len(cells()) + place
        _next_round[cell] += 1
        if not wanted or _chosen(seed)[0] in wanted:
            break
    return seed


def _groups_for(call: Call, members: tuple[DType, ...]) -> list[int]:
    """The groups of arrays that may have one of some dtypes."""
    return [group for group in dict.fromkeys(call.groups) if call.allowed(group) & set(members)]


def check_op(seed: int) -> str | None:
    """Ops with random dtypes, sizes and numbers: all tiers, gradients, wider types.

    None if all agree, else a program that shows what differs.
    """
    number, call, kind, rng = _chosen(seed)
    return _try(call, kind, seed, rng, number)


def _chosen(seed: int) -> tuple[int, Call, str, np.random.Generator]:
    """What a seed stands for: a call, its number among those of the cell, a class of dtypes."""
    cell = cells()[seed % len(cells())]
    rng = np.random.default_rng(seed)
    calls = _calls_of(*cell)
    number = int(rng.integers(len(calls)))
    return number, calls[number], cell[1], rng


@functools.cache
def _calls_of(name: str, kind: str) -> list[Call]:
    members = variation.CLASSES[kind]
    return [call for call in corpus.ops()[name] if _groups_for(call, members)]


def check_function(seed: int) -> str | None:
    """Public functions with random dtypes, sizes and numbers: all tiers, gradients, NumPy.

    None if all agree, else a program that shows what differs.
    """
    rng = np.random.default_rng(seed)
    calls = corpus.functions()
    kinds = [kind for kind in variation.CLASSES if kind != "string"]
    kind = kinds[rng.integers(len(kinds))]
    return _try(calls[seed % len(calls)], kind, seed, rng)


def _try(call: Call, kind: str, seed: int, rng: np.random.Generator, number: int = 0) -> str | None:
    for attempt in range(_TRIES):
        arrays = _varied(call, kind, rng, wildness=_TRIES - 1 - attempt)
        try:
            tiers = _checked(call, arrays)
        except Refused:
            continue
        except Disagreement as found:
            return report(call, *_shrunk(call, arrays, found), seed)
        for tier in tiers:
            compared[call.name, tier, kind] += 1
            _reaching.setdefault((call.name, tier, kind), set()).add(number)
        return None
    return None


def _checked(call: Call, arrays: list[Any]) -> list[str]:
    try:
        with all_frames():  # the innermost one tells whose mistake it is
            return check(call, arrays)
    except (Disagreement, Refused):
        raise
    except Exception as error:
        if traceback.extract_tb(error.__traceback__)[-1].filename.startswith(str(corpus.TESTS)):
            raise Refused("the function of the table is for other arrays") from error
        raise Disagreement(f"raises {type(error).__name__}: {error}") from error


def _varied(call: Call, kind: str, rng: np.random.Generator, *, wildness: int) -> list[Any]:
    members = variation.CLASSES[kind]
    groups = _groups_for(call, members)
    group = groups[rng.integers(len(groups))] if groups else None  # data, or indices
    arrays = list(call.arrays)
    if wildness and rng.random() < 0.6 and not _takes_shapes(call):
        arrays = variation.resized(arrays, rng)
    choices = [] if group is None else sorted(call.allowed(group) & set(members), key=str)
    dtype = choices[rng.integers(len(choices))] if choices else None
    for i, array in enumerate(arrays):
        if dtype is not None and call.groups[i] == group:
            arrays[i] = variation.cast(array, dtype)
            if wildness and rng.random() < 0.7:
                arrays[i] = variation.redrawn(arrays[i], rng)
            if wildness > 1 and rng.random() < 0.3 and not _is_shape(call, i):
                alone = call.op is not None and call.op.elementwise
                arrays[i] = variation.with_specials(arrays[i], rng, extremes=alone)
    if call.name.startswith(SORTED_FIRST):
        arrays[0] = variation.sorted_rows(arrays[0])
    return arrays


def _takes_shapes(call: Call) -> bool:
    """Whether an input is a shape: with more sizes it asks for more than there is."""
    return any(_is_shape(call, i) for i in range(len(call.arrays)))


def _is_shape(call: Call, i: int) -> bool:
    return call.op is not None and call.op.arg(i).is_shape


# --- smaller ------------------------------------------------------------------------------------


def _shrunk(call: Call, arrays: list[Any], found: Disagreement) -> tuple[list[Any], Disagreement]:
    """The smallest arrays that were found for which modes still differ."""
    until = time.process_time() + _MOST_SECONDS
    for _ in range(_MOST_SHRINKS):
        for smaller in _simpler(arrays):
            if time.process_time() > until:
                return arrays, found
            try:
                _checked(call, smaller)
            except Refused:
                continue
            except Disagreement as again:
                arrays, found = smaller, again
                break
        else:
            break
    return arrays, found


def _simpler(arrays: list[Any]) -> list[list[Any]]:
    """Arrays with one size less, or with simpler numbers."""
    out = []
    for n in sorted({n for a in arrays for n in a.shape if n > 1}, reverse=True):
        for less in {n // 2, n - 1}:
            shapes = [tuple([less if m == n else m for m in a.shape]) for a in arrays]
            out.append([variation.fitted(a, s) for a, s in zip(arrays, shapes, strict=True)])
    for i, a in enumerate(arrays):
        if a.dtype == object or not a.size:
            continue
        for number in (0, 1):
            plain = np.full_like(a, number)
            if not np.array_equal(plain, a):
                out.append([plain if k == i else b for k, b in enumerate(arrays)])
    return out


def report(call: Call, arrays: list[Any], found: Disagreement, seed: int) -> str:
    """A program that shows what differs."""
    lines = [
        f"--- seed {seed}: {call.name}: {str(found)[:800]}",
        "import functools, numpy as np, weft as tf",
        "from fuzzing import corpus",
        "from weft._src.ops.registry import find_op",
        f"f = {call.text}",
    ]
    for i, a in enumerate(arrays):
        known = from_numpy(a.dtype)
        dtype = "object" if a.dtype == object else f"tf.as_dtype({known.name!r}).numpy_dtype"
        lines.append(f"x{i} = np.array({a.tolist()!r}, {dtype}).reshape({a.shape})")
    given = ", ".join(f"tf.constant(x{i})" for i in range(len(arrays)))
    return "\n".join([*lines, f"print(f({given}))", ""])


def summary() -> str:
    """A table of how often each op was compared, by class of dtype and tier."""
    rows = sorted({(name, kind) for name, _, kind in compared})
    lines = [f"{'op':32} {'dtypes':8} " + " ".join(f"{tier:>13}" for tier in TIERS)]
    for name, kind in rows:
        counts = [compared[name, tier, kind] for tier in TIERS]
        lines.append(f"{name[:32]:32} {kind:8} " + " ".join(f"{n or '-':>13}" for n in counts))
    never = [f"{name} {kind}" for name, kind in cells() if (name, kind) not in set(rows)]
    total = sum(compared.values())
    lines.append(f"{total} comparisons of {len(rows)} ops with classes of dtypes")
    rarest = sorted(compared.items(), key=lambda item: item[1])[:5]
    lines.append("rarest: " + ", ".join([f"{' '.join(key)} {n}" for key, n in rarest]))
    return "\n".join([*lines, *([f"never: {', '.join(never)}"] if never else [])])
