"""The curves as a picture: an SVG of small panels, one for each program."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from benchmarks.curves.measuring import Cell, Curves

_WIDTH, _COLUMNS = 1280, 4
_HEAD, _MARGIN = 92, 20
_PANEL_HEIGHT = 276
_TITLE_WIDTH = 34  # letters in a line
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 14, 42, 46  # around the lines in a panel
_COLOURS = {"weft": "#c2185b", "tensorflow": "#e08600", "jax": "#1e66c8", "torch": "#4a8c2a"}
_NAMES = {"weft": "Weft", "tensorflow": "TensorFlow", "jax": "JAX", "torch": "torch.compile"}
_STYLE = """
text { font-family: 'Helvetica Neue', Helvetica, Arial, sans-serif; fill: #222; }
.head { font-size: 20px; font-weight: 600; } .note { font-size: 13px; fill: #555; }
.title { font-size: 12.5px; font-weight: 600; } .tick { font-size: 11px; fill: #555; }
.grid { stroke: #e4e4e4; } .frame { stroke: #999; fill: none; }
"""
_UNITS = (("s", 0), ("ms", -3), ("µs", -6), ("ns", -9))


@dataclass(frozen=True)
class Box:
    """Where the lines of a panel lie, and which powers of ten its axes run over."""

    left: float
    top: float
    right: float
    bottom: float
    calls: tuple[int, int]
    seconds: tuple[int, int]

    def x(self, calls: float) -> float:
        """The place of a number of calls."""
        low, high = self.calls
        return self.left + (self.right - self.left) * (math.log10(calls) - low) / (high - low)

    def y(self, seconds: float) -> float:
        """The place of a time."""
        low, high = self.seconds
        return self.bottom - (self.bottom - self.top) * (math.log10(seconds) - low) / (high - low)


def picture(all_curves: list[Curves], marks: tuple[int, ...], with_import: bool) -> str:
    """An SVG with a panel for each program and a line for each library."""
    rows = math.ceil(len(all_curves) / _COLUMNS)
    height = _HEAD + rows * _PANEL_HEIGHT + _MARGIN
    libraries = [who for who in _COLOURS if any(curves.runs.get(who) for curves in all_curves)]
    panels = [
        line
        for i, curves in enumerate(all_curves)
        for line in _panel(i, curves, marks, with_import, libraries)
    ]
    size = f'width="{_WIDTH}" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" {size}>',
        f"<style>{_STYLE}</style>",
        f'<rect {size} fill="#fff"/>',
        *_header(libraries, with_import),
        *panels,
        "</svg>\n",
    ]
    return "\n".join(lines)


def _header(libraries: list[str], with_import: bool) -> Iterator[str]:
    """What is shown, and which line is whose."""
    start = "with the import of the library" if with_import else "from the first call on"
    yield _text(_MARGIN, 34, f"Time until call N has returned, {start}", "head")
    note = "Default mode, fresh process, empty caches, median. Dashed, hollow: extrapolated."
    yield _text(_MARGIN, 56, note, "note")
    place = float(_MARGIN)
    for library in libraries:
        yield (
            f'<line x1="{place}" x2="{place + 26}" y1="76" y2="76" stroke="{_COLOURS[library]}" '
            f'stroke-width="{_thickness(library)}"/>'
        )
        yield _text(place + 32, 80, _NAMES[library], "note")
        place += 50 + 8 * len(_NAMES[library])


def _panel(
    i: int, curves: Curves, marks: tuple[int, ...], with_import: bool, libraries: list[str]
) -> Iterator[str]:
    """Axes and lines of a program."""
    lines = {who: _cells(curves, who, marks, with_import) for who in libraries}
    found = [cell.seconds for cells in lines.values() for cell in cells]
    if not found:
        return
    box = _box(i, marks, found)
    yield from _axes(box, f"{curves.number}. {curves.title}", is_first=i % _COLUMNS == 0)
    for who in reversed(libraries):  # Weft's is drawn last, above the others
        yield from _line(box, marks, lines[who], who)


def _cells(curves: Curves, who: str, marks: tuple[int, ...], with_import: bool) -> list[Cell]:
    cells = [curves.cell(who, mark, with_import) for mark in marks]
    return [cell for cell in cells if cell is not None]


def _box(i: int, marks: tuple[int, ...], seconds: list[float]) -> Box:
    row, column = divmod(i, _COLUMNS)
    width = (_WIDTH - 2 * _MARGIN) / _COLUMNS
    left, top = _MARGIN + column * width, _HEAD + row * _PANEL_HEIGHT
    low, high = math.floor(math.log10(min(seconds))), math.ceil(math.log10(max(seconds)))
    return Box(
        left + _LEFT, top + _TOP, left + width - _RIGHT, top + _PANEL_HEIGHT - _BOTTOM,
        _powers(marks), (low, max(high, low + 1)),
    )  # fmt: skip


def _powers(marks: tuple[int, ...]) -> tuple[int, int]:
    low, high = math.floor(math.log10(min(marks))), math.ceil(math.log10(max(marks)))
    return low, max(high, low + 1)


def _axes(box: Box, title: str, is_first: bool) -> Iterator[str]:
    for i, line in enumerate(textwrap.wrap(title, _TITLE_WIDTH)):
        yield _text(box.left, box.top - _TOP + 16 + 15 * i, line, "title")
    for power in range(box.seconds[0], box.seconds[1] + 1):
        y = box.y(10.0**power)
        yield f'<path class="grid" d="M{box.left:.1f} {y:.1f}H{box.right:.1f}"/>'
        yield _text(box.left - 6, y + 4, _power_of_time(power), "tick", "end")
    for power in range(box.calls[0], box.calls[1] + 1):
        x = box.x(10.0**power)
        yield f'<path class="grid" d="M{x:.1f} {box.top:.1f}V{box.bottom:.1f}"/>'
        yield _text(x, box.bottom + 15, f"{10**power:,}", "tick", "middle")
    yield (
        f'<rect class="frame" x="{box.left:.1f}" y="{box.top:.1f}" '
        f'width="{box.right - box.left:.1f}" height="{box.bottom - box.top:.1f}"/>'
    )
    yield _text((box.left + box.right) / 2, box.bottom + 31, "calls", "tick", "middle")
    if is_first:
        middle = (box.top + box.bottom) / 2
        x = box.left - _LEFT + 4
        yield (
            f'<g transform="rotate(-90 {x:.1f} {middle:.1f})">'
            f"{_text(x, middle, 'time until returned', 'tick', 'middle')}</g>"
        )


def _line(box: Box, marks: tuple[int, ...], cells: list[Cell], who: str) -> Iterator[str]:
    """Points and the lines between them, dashed to those that were not measured."""
    colour, width = _COLOURS[who], _thickness(who)
    points = [
        (box.x(mark), box.y(c.seconds), c.measured) for mark, c in zip(marks, cells, strict=False)
    ]
    for (x1, y1, _), (x2, y2, is_measured) in itertools.pairwise(points):
        dashes = "" if is_measured else ' stroke-dasharray="4 3"'
        yield (
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"{dashes}/>'
        )
    for x, y, is_measured in points:
        fill = colour if is_measured else "#fff"
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{fill}" stroke="{colour}"/>'


def _thickness(who: str) -> float:
    return 2.6 if who == "weft" else 1.5


def _power_of_time(power: int) -> str:
    """A power of ten seconds for people: 10 ms."""
    unit, base = next((u for u in _UNITS if power >= u[1]), _UNITS[-1])
    return f"{10 ** (power - base):,} {unit}"


def _text(x: float, y: float, text: str, style: str, anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}">'
        f"{escape(text)}</text>"
    )
