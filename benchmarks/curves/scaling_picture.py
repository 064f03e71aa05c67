"""Steps on several replicas as a picture: what was measured, and a model of many devices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT, _TOP, _BOTTOM = 980, 430, 92, 370
_LEFT_PANEL, _RIGHT_PANEL = (70.0, 440.0), (560.0, 930.0)
_COLOURS = ("#c2185b", "#1e66c8", "#4a8c2a")
_STYLE = """
text { font-family: 'Helvetica Neue', Helvetica, Arial, sans-serif; fill: #222; font-size: 12px; }
.head { font-size: 17px; font-weight: 600; } .tick { font-size: 11px; fill: #555; }
.grid { stroke: #e4e4e4; } .frame { stroke: #999; fill: none; }
"""
EXTRAPOLATED = (8, 64, 1024)
# Of the extrapolation: work on each device, gradients, network; nobody has measured them here.
COMPUTE_MS, MEGABYTES, GB_PER_S, LATENCY_MS = 100.0, 100.0, 20.0, 0.02
_GRADIENTS = 5.4  # megabytes, of the MLP that is measured


@dataclass
class Measured:
    """Milliseconds: of steps by kind and replicas, of sums by processes and bytes."""

    steps: dict[str, dict[int, float]]
    sums: dict[int, dict[int, float]]


def step_ms(
    n: int, compute_ms: float, megabytes: float, gb_per_s: float, latency_ms: float, *, ring: bool
) -> float:
    """The model: what one replica computes, and a sum of all gradients.

    Args:
      n: how many replicas there are.
      compute_ms: what a step takes without a sum.
      megabytes: of gradients.
      gb_per_s: of the connection between two of them.
      latency_ms: of a message.
      ring: whether each sends parts to the next one; else all send to the first one, and back.
    """
    if ring:
        return compute_ms + 2 * (n - 1) * (latency_ms + megabytes / n / gb_per_s)
    return compute_ms + (n - 1) * (latency_ms + 2 * megabytes / gb_per_s)


def fitted(found: Measured) -> Callable[[int], float]:
    """The model of processes on this machine, with latency and bandwidth from the sums of two."""
    alone = next(iter(found.steps.values()))[1]
    two = found.sums[2]
    sizes = sorted(two)
    latency = two[sizes[0]]
    gb_per_s = 2 * sizes[-1] / 1e6 / (two[sizes[-1]] - latency)
    return lambda n: step_ms(n, alone * n, _GRADIENTS, gb_per_s, latency, ring=False)


@dataclass(frozen=True)
class _Axes:
    """A panel: logarithmic both ways."""

    left: float
    right: float
    counts: tuple[int, int]
    times: tuple[float, float]

    def x(self, n: float) -> float:
        low, high = [math.log2(k) for k in self.counts]
        return self.left + (self.right - self.left) * (math.log2(n) - low) / (high - low)

    def y(self, ms: float) -> float:
        low, high = [math.log10(t) for t in self.times]
        return _BOTTOM - (_BOTTOM - _TOP) * (math.log10(ms) - low) / (high - low)

    def frame(self, ticks: list[int], times: list[int], title: str) -> Iterator[str]:
        for n in ticks:
            yield f'<path class="grid" d="M{self.x(n):.1f} {_TOP}V{_BOTTOM}"/>'
            yield _text(self.x(n), _BOTTOM + 16, f"{n:,}", "tick", "middle")
        for ms in times:
            yield f'<path class="grid" d="M{self.left} {self.y(ms):.1f}H{self.right}"/>'
            yield _text(self.left - 6, self.y(ms) + 4, f"{ms:,} ms", "tick", "end")
        yield (
            f'<rect class="frame" x="{self.left}" y="{_TOP}" width="{self.right - self.left}" '
            f'height="{_BOTTOM - _TOP}"/>'
        )
        yield _text(self.left, _TOP - 12, title, "")
        yield _text((self.left + self.right) / 2, _BOTTOM + 34, "replicas", "tick", "middle")

    def line(
        self, points: dict[int, float], colour: str, *, dashed: bool, label: str, above: bool
    ) -> Iterator[str]:
        """A line; dashed and hollow where nothing was measured."""
        places = [(self.x(n), self.y(ms)) for n, ms in points.items()]
        path = "L".join([f"{x:.1f} {y:.1f}" for x, y in places])
        dashes = ' stroke-dasharray="5 4"' if dashed else ""
        yield f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>'
        fill = "#fff" if dashed else colour
        for x, y in places:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{fill}" stroke="{colour}"/>'
        x, y = places[-1]
        yield _text(x - 8, y - 10 if above else y + 18, label, "tick", "end")


def picture(found: Measured) -> str:
    """An SVG: measured steps beside the model on the left, an extrapolation on the right."""
    model = fitted(found)
    counts = sorted(next(iter(found.steps.values())))
    lines = found.steps
    everything = [ms for times in lines.values() for ms in times.values()]
    everything += [model(n) for n in counts]
    here = _Axes(*_LEFT_PANEL, (counts[0], counts[-1]), _span(everything))
    parts = list(
        here.frame(counts, _times(here.times), "Measured on one machine; the ideal is n times one")
    )
    for (title, times), colour in zip(lines.items(), _COLOURS, strict=True):
        parts += here.line(times, colour, dashed=False, label="", above=True)
        row = _COLOURS.index(colour)
        parts.append(_text(here.left + 12, _TOP + 20 + 16 * row, title, "tick", colour=colour))
    parts += here.line({n: model(n) for n in counts}, "#888", dashed=True, label="", above=False)
    parts.append(_text(here.left + 12, _TOP + 68, "processes, by the model", "tick", colour="#888"))
    parts += _extrapolation()
    head = "A step with more replicas, each with the same work"
    size = f'width="{_WIDTH}" height="{_HEIGHT}"'
    lines_of_text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" {size}>',
        f"<style>{_STYLE}</style>",
        f'<rect {size} fill="#fff"/>',
        _text(20, 36, head, "head"),
        *parts,
        "</svg>\n",
    ]
    return "\n".join(lines_of_text)


def _extrapolation() -> Iterator[str]:
    """What the model says of devices that nobody here has."""
    given = (COMPUTE_MS, MEGABYTES, GB_PER_S, LATENCY_MS)
    counts = (1, *EXTRAPOLATED)
    ring = {n: step_ms(n, *given, ring=True) for n in counts}
    first = {n: step_ms(n, *given, ring=False) for n in counts}
    axes = _Axes(*_RIGHT_PANEL, (1, 1024), _span([*ring.values(), *first.values()]))
    title = "EXTRAPOLATED, measured nowhere: 100 ms, 100 MB, 20 GB/s"
    yield from axes.frame(list(counts), _times(axes.times), title)
    yield from axes.line(first, "#888", dashed=True, label="through one worker", above=True)
    yield from axes.line(ring, _COLOURS[1], dashed=True, label="a ring", above=True)
    for n in EXTRAPOLATED:
        yield _text(axes.x(n), axes.y(ring[n]) + 18, f"{ring[n]:.0f} ms", "tick", "middle")


def _span(times: list[float]) -> tuple[float, float]:
    low, high = math.log10(min(times) / 1.5), math.log10(max(times))  # with room for numbers below
    return 10.0 ** math.floor(low), 10.0 ** math.ceil(high)


def _times(span: tuple[float, float]) -> list[int]:
    low, high = [round(math.log10(t)) for t in span]
    return [10**power for power in range(low, high + 1)]


def _text(
    x: float, y: float, text: str, kind: str, anchor: str = "start", colour: str | None = None
) -> str:
    style = f' style="fill:{colour}"' if colour else ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} class="{kind}"{style}>{escape(text)}</text>'
