"""Whether a program computes the same in all libraries."""

from __future__ import annotations

from benchmarks.curves.measuring import results
from benchmarks.programs import Program

TOLERANCE = 1e-3


def checked(program: Program, pythons: dict[str, str]) -> dict[str, str]:
    """What is wrong in each library, compared with the first of them; nothing if all is well."""
    found: dict[str, list[list[float]]] = {}
    wrong: dict[str, str] = {}
    for library, python in pythons.items():
        try:
            found[library] = results(program, library, python)
        except RuntimeError as e:
            wrong[library] = str(e)
    wanted = next(iter(found.values()), [])
    differing = {library: difference(wanted, digests) for library, digests in found.items()}
    return wrong | {library: text for library, text in differing.items() if text}


def difference(wanted: list[list[float]], found: list[list[float]]) -> str:
    """The first difference between the digests of two results; nothing if they are the same."""
    if len(wanted) != len(found):
        return f"{len(found)} arrays instead of {len(wanted)}"
    for i, (ours, theirs) in enumerate(zip(wanted, found, strict=True)):
        scale = abs(ours[0])  # the root mean square
        if any(
            abs(a - b) > TOLERANCE * (abs(a) + scale) for a, b in zip(ours, theirs, strict=True)
        ):
            return f"array {i}: {_numbers(theirs)} instead of {_numbers(ours)}"
    return ""


def _numbers(digest: list[float]) -> str:
    return "[" + ", ".join(f"{number:.5g}" for number in digest) + "]"
