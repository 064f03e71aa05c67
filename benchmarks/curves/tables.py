"""The curves as tables, and what they say of all programs together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.curves.measuring import Cell, Curves
from benchmarks.harness import Row

Marks = tuple[int, ...]
_STARTS = {False: "from the first call", True: "with import and setup"}
_CLEARLY = 0.8  # below this a ratio is no matter of noise


@dataclass(frozen=True)
class Ratio:
    """A cell of the summary: the time of the best peer to Weft's."""

    title: str
    mark: int
    value: float

    def __str__(self) -> str:
        return f"{self.value:.2f}  call {self.mark:,}: {self.title}"


def duration(seconds: float) -> str:
    """A time for people, with three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size or unit == "us":
            number = seconds / size
            digits = 0 if number >= 100 else 1 if number >= 10 else 2
            return f"{number:,.{digits}f} {unit}"
    raise AssertionError


def program_table(curves: Curves, marks: Marks) -> str:
    """A program: libraries and numbers of calls, without and with the import."""
    lines = [f"{curves.number}. {curves.title}"]
    for with_import, start in _STARTS.items():
        lines.append(_line(f"  {start}", [f"{mark:,}" for mark in marks]))
        for library in curves.runs:
            cells = [curves.cell(library, mark, with_import) for mark in marks]
            lines.append(_line(f"    {library}", [_shown(cell) for cell in cells]))
        ratios = [curves.ratio(mark, with_import) for mark in marks]
        if any(r is not None for r in ratios):
            shown = ["-" if r is None else f"{r:.2f}x" for r in ratios]
            lines.append(_line("    best peer / weft", shown))
    lines += _memory(curves)
    lines += [f"  {who} failed: {_last_line(why)}" for who, why in curves.failures.items()]
    lines += _tiers(curves)
    return "\n".join(lines)


def _memory(curves: Curves) -> list[str]:
    """What each library needed at the most, above what it had after its import, and in all."""
    lines = []
    for label, of in (
        ("above the import", curves.peak),
        ("without libraries", curves.own),
        ("in all", curves.most),
    ):
        peaks = {library: of(library) for library in curves.runs}
        told = [f"{library} {peak / 2**20:,.0f} MB" for library, peak in peaks.items() if peak]
        lines += [f"  peak {label}: {', '.join(told)}"] if told else []
    return lines


def _line(label: str, cells: list[str]) -> str:
    return f"{label:46}" + "".join(f"{cell:>11}" for cell in cells)


def _shown(cell: Cell | None) -> str:
    if cell is None:
        return "-"
    return duration(cell.seconds) if cell.measured else f"~{duration(cell.seconds)}"


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["without a word"])[-1]


def _tiers(curves: Curves) -> list[str]:
    """Where Weft's functions run in the end, and what compiling them took: of the last run."""
    runs = curves.runs.get("weft")
    if not runs:
        return []
    last = runs[-1]
    told = [
        f"  weft: {trace['nodes']} nodes traced in {trace['ms']:.1f} ms, "
        f"{trace['tier']} tier after {last.done:,} calls; {trace['native'] or 'not compiled'}"
        for trace in last.about
    ]
    return [*told, *[f"  weft says: {line}" for line in last.warnings.splitlines()]]


def ratios_of(all_curves: list[Curves], marks: Marks, with_import: bool) -> list[Ratio]:
    """All cells of the summary in which there is something to compare."""
    return [
        Ratio(f"{curves.number}. {curves.title}", mark, ratio)
        for curves in all_curves
        for mark in marks
        if (ratio := curves.ratio(mark, with_import)) is not None
    ]


def summary(all_curves: list[Curves], marks: Marks) -> str:
    """How often Weft is at least as fast as the best peer, and where it is not."""
    blocks = ["\n".join(_summed_up(all_curves, marks, with_import)) for with_import in _STARTS]
    return "\n\n".join(blocks)


def _summed_up(all_curves: list[Curves], marks: Marks, with_import: bool) -> Iterator[str]:
    ratios = ratios_of(all_curves, marks, with_import)
    if not ratios:
        yield f"No peer to compare with, {_STARTS[with_import]}."
        return
    yield _line(f"Best peer / weft, {_STARTS[with_import]}", [f"{mark:,}" for mark in marks])
    for curves in all_curves:
        shown = [curves.ratio(mark, with_import) for mark in marks]
        yield _line(
            f"  {curves.number}. {curves.title}"[:46],
            ["-" if r is None else f"{r:.2f}" for r in shown],
        )
    good = sum(r.value >= 1 for r in ratios)
    yield f"At least 1 in {good} of {len(ratios)} cells, {good / len(ratios):.0%}."
    below = sorted([r for r in ratios if r.value < 1], key=lambda r: r.value)
    yield from _listed(f"Below {_CLEARLY}:", [r for r in below if r.value < _CLEARLY])
    yield from _listed(f"From {_CLEARLY} to 1:", [r for r in below if r.value >= _CLEARLY])


def _listed(head: str, ratios: list[Ratio]) -> list[str]:
    return [head, *[f"  {ratio}" for ratio in ratios]] if ratios else [f"{head} none"]


def row(curves: Curves, marks: Marks) -> Row:
    """A program as one line: the worst of its cells."""
    ratios = [(mark, ratio) for mark in marks if (ratio := curves.ratio(mark, False)) is not None]
    if ratios:
        detail = ", ".join(f"{mark:,}: {ratio:.2f}x" for mark, ratio in ratios)
    else:
        cells = [(mark, curves.cell("weft", mark, False)) for mark in marks]
        detail = ", ".join(f"{mark:,}: {_shown(cell)}" for mark, cell in cells)
    worst = min((ratio for _, ratio in ratios), default=None)
    return Row(f"best peer / calls until a result: {curves.title}", worst, ">= 1", detail)
