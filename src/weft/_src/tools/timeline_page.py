"""A page with the timeline of a program: traces, compilations and calls, with source lines."""

from __future__ import annotations

import html
import linecache
from collections.abc import Sequence

from weft._src.core.timeline import Event, Timeline
from weft._src.function.explain import Explanation

_WIDTH, _LANE, _LEFT = 1000.0, 26.0, 170.0
_MOST_DRAWN = 4000  # calls; the table counts all of them
_KINDS = {"trace": "traced", "compile": "compiled", "call": "called"}
_STYLE = """
:root{color-scheme:light dark;--back:#fff;--text:#1f2430;--soft:#5d6475;--line:#d5d9e2;
--box:#f5f6f9;--trace:#c2571a;--compile:#7a4fc0;--call:#2b7a4b}
@media (prefers-color-scheme:dark){:root{--back:#14161c;--text:#e6e8ee;--soft:#a3abbd;
--line:#343a48;--box:#1d2029;--trace:#f0975c;--compile:#b896f0;--call:#6cc794}}
body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:72rem;padding:1.2rem;
color:var(--text);background:var(--back)}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}
.wide{overflow-x:auto}
svg text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:var(--text)}
svg .axis{stroke:var(--line)}svg .soft{fill:var(--soft)}
.trace{fill:var(--trace)}.compile{fill:var(--compile)}.call{fill:var(--call)}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;vertical-align:top;padding:.25rem .6rem;
border-bottom:1px solid var(--line);font-size:.9rem}
td.n{text-align:right;white-space:nowrap}
code,pre{font:12.5px ui-monospace,Menlo,Consolas,monospace}
pre{background:var(--box);padding:.7rem;overflow-x:auto;white-space:pre-wrap}
.key span{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin:0 .35em 0 1em}
"""


def page(title: str, timeline: Timeline, explanations: Sequence[tuple[str, Explanation]]) -> str:
    """The page, which needs no other files.

    Args:
      title: of the page.
      timeline: what happened.
      explanations: of the functions that are told about, by name.
    """
    heading = html.escape(title)
    head = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{heading}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{_STYLE}</style></head><body><h1>{heading}</h1>"
    )
    parts = [
        head,
        _summary(timeline),
        f'<div class="wide">{_picture(timeline.events)}</div>',
        "<h2>What took how long</h2>",
        _table(timeline),
        "<h2>Functions</h2>",
        *[
            f"<h3><code>{html.escape(name)}</code></h3><pre>{html.escape(repr(told))}</pre>"
            for name, told in explanations
        ],
        "</body></html>",
    ]
    return "".join(parts)


def _summary(timeline: Timeline) -> str:
    counts = {kind: [e for e in timeline.events if e.kind == kind] for kind in _KINDS}
    told = [
        f"{len(found)} {kind}{'' if len(found) == 1 else 's'} in "
        f"{sum([e.seconds for e in found]) * 1e3:.1f} ms"
        for kind, found in counts.items()
    ]
    key = "".join(
        [f'<span style="background:var(--{kind})"></span>{word}' for kind, word in _KINDS.items()]
    )
    lost = f" {timeline.left_out} more were not noted." if timeline.left_out else ""
    return f'<p>{", ".join(told)}.{lost}</p><p class="key">{key}</p>'


# --- the picture ---------------------------------------------------------------------------------


def _picture(events: Sequence[Event]) -> str:
    """A lane for each function; what is too short to be seen is a thin line."""
    drawn = [e for e in events if e.kind != "call"]
    calls = [e for e in events if e.kind == "call"]
    step = max(1, len(calls) // _MOST_DRAWN)
    drawn += calls[::step]
    lanes = list(dict.fromkeys([_short(e.name) for e in sorted(drawn, key=lambda e: e.start)]))
    end = max([e.start + e.seconds for e in events], default=1.0) or 1.0
    height = _LANE * (len(lanes) + 1) + 6
    scale = (_WIDTH - _LEFT - 10) / end
    pieces = [_axis(end, scale, height)]
    for i, lane in enumerate(lanes):
        y = _LANE * (i + 1)
        shown = lane if len(lane) <= 22 else f"{lane[:21]}…"
        pieces.append(f'<text x="0" y="{y + 15:.0f}">{html.escape(shown)}</text>')
    for event in drawn:
        y = _LANE * (lanes.index(_short(event.name)) + 1) + 4
        x = _LEFT + event.start * scale
        width = max(event.seconds * scale, 1.5)
        pieces.append(
            f'<rect class="{event.kind}" x="{x:.1f}" y="{y:.0f}" width="{width:.1f}" height="16">'
            f"<title>{html.escape(_words(event))}</title></rect>"
        )
    label = f"{len(events)} events of {len(lanes)} functions in {end:.2f} seconds"
    return (
        f'<svg role="img" aria-label="{label}" width="{_WIDTH:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {_WIDTH:.0f} {height:.0f}">{"".join(pieces)}</svg>'
    )


def _axis(end: float, scale: float, height: float) -> str:
    pieces = []
    for i in range(6):
        at = end * i / 5
        x = _LEFT + at * scale
        shown = f"{at:.2f} s" if end >= 1 else f"{at * 1e3:.1f} ms"
        anchor = "end" if i == 5 else "middle" if i else "start"
        pieces.append(
            f'<line class="axis" x1="{x:.1f}" y1="18" x2="{x:.1f}" y2="{height:.0f}"/>'
            f'<text class="soft" x="{x:.1f}" y="12" text-anchor="{anchor}">{shown}</text>'
        )
    return "".join(pieces)


def _short(name: str) -> str:
    """Compilations know the name of a function only, traces its line as well."""
    return name.partition(" (")[0]


def _words(event: Event) -> str:
    where = f" at {event.where}" if event.where else ""
    detail = f": {event.detail}" if event.detail else ""
    return f"{_KINDS[event.kind]} {event.name} in {event.seconds * 1e3:.2f} ms{where}{detail}"


# --- the table -----------------------------------------------------------------------------------


def _table(timeline: Timeline) -> str:
    """Events of one kind at one line are one row, the longest first."""
    groups: dict[tuple[str, str, str, str], list[Event]] = {}
    for event in timeline.events:
        detail = "" if event.kind == "call" else event.detail
        groups.setdefault((event.kind, event.name, event.where, detail), []).append(event)
    rows = sorted(groups.items(), key=lambda item: -sum([e.seconds for e in item[1]]))
    head = "<tr><th>what</th><th>ms</th><th>times</th><th>line</th><th>why</th></tr>"
    return f'<div class="wide"><table>{head}{"".join([_row(*row) for row in rows])}</table></div>'


def _row(key: tuple[str, str, str, str], events: list[Event]) -> str:
    kind, name, where, detail = key
    total = sum([e.seconds for e in events]) * 1e3
    source = ""
    file, _, line = where.rpartition(":")
    if line.isdigit():
        text = linecache.getline(file, int(line)).strip()
        source = f"{html.escape(where)}<br><code>{html.escape(text)}</code>"
    return (
        f"<tr><td>{_KINDS[kind]} <code>{html.escape(name)}</code></td><td class=n>{total:.2f}</td>"
        f"<td class=n>{len(events)}</td><td>{source}</td><td>{html.escape(detail)}</td></tr>"
    )
