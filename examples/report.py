"""The report of the demo: one HTML file with everything in it, drawings and charts as SVG."""

from __future__ import annotations

import html
import json
import math
import platform
from collections.abc import Sequence
from pathlib import Path

from telling import Block, Story, Timing

import weft as tf

_STYLE = """
:root{color-scheme:light dark;--ink:#1f2430;--soft:#5d6475;--line:#d9dde6;--paper:#fff;
--panel:#f6f7fa;--accent:#2c5fb3;--eager:#b9c3d6}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9f0;--soft:#a7afc0;--line:#343b4d;
--paper:#14171f;--panel:#1d212c;--accent:#7aa7f0;--eager:#566078}}
*{box-sizing:border-box}
body{font:16px/1.55 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0}
main{max-width:1080px;margin:0 auto;padding:2.5rem 1.5rem 5rem}
h1{font-size:2rem;margin:0 0 .3rem}
h2{margin:3.2rem 0 .6rem;padding-top:1rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:1.4rem 0 .3rem;color:var(--soft);font-weight:600}
p{max-width:46rem}.soft{color:var(--soft)}a{color:var(--accent)}
nav ol{columns:2;padding-left:0;list-style:none}
pre{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:.8rem 1rem;
overflow:auto;max-height:30rem;white-space:pre-wrap;
font:12.5px/1.5 ui-monospace,Menlo,Consolas,monospace}
table{border-collapse:collapse;font-size:14px;width:100%;margin-top:1rem}
th,td{text-align:left;padding:.35rem .7rem .35rem 0;border-bottom:1px solid var(--line);
vertical-align:top}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:6px;padding:.8rem;
background:#fff;color:#1f2430}
.wide{overflow-x:auto}
.step{display:grid;grid-template-columns:minmax(0,5fr) minmax(0,7fr);gap:0 1.2rem;align-items:start}
.step>pre:first-child{background:none;border-style:dashed}
@media(max-width:760px){.step{grid-template-columns:minmax(0,1fr)}nav ol{columns:1}
main{padding:1.2rem .9rem 3rem}}
.scroll svg{display:block;margin:0 auto;max-width:none}
.traces td{font:12px/1.45 ui-monospace,Menlo,Consolas,monospace;overflow-wrap:break-word}
.traces td:nth-child(n+5){white-space:nowrap}.traces td:nth-child(4){word-break:break-all}
figure{margin:1rem 0}figcaption{color:var(--soft);font-size:14px;margin-top:.4rem}
"""
_EAGER, _TRACED = "var(--eager)", "var(--accent)"
_PEERS = Path(__file__).parent / "recorded" / "peers.json"


def page(stories: Sequence[Story], seconds: float) -> str:
    """The whole report."""
    timings = [timing for story in stories for timing in story.timings]
    links = "".join(
        f'<li><a href="#story-{i}">{html.escape(s.title)}</a></li>' for i, s in enumerate(stories)
    )
    told = "".join(_story(i, story) for i, story in enumerate(stories))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Weft demo</title><style>{_STYLE}</style></head><body><main>"
        "<h1>Weft: the demo's report</h1>"
        f'<p class="soft">Weft {tf.__version__}, Python {platform.python_version()}, '
        f"{html.escape(platform.machine())}. All stories took {seconds:.0f} seconds.</p>"
        f"<nav><ol>{links}</ol></nav>"
        "<h2>Eager against function</h2>"
        "<p>The same Python code, run line by line and as a traced graph. A call of the function "
        "starts on generated NumPy code; where that pays, machine code takes over.</p>"
        f'<figure><div class="wide">{chart(timings)}</div>'
        "<figcaption>Time of one call, on a logarithmic scale."
        f"</figcaption></figure>{_table(timings)}"
        '<p class="soft">The first call includes tracing. "Pays after" is the number of calls '
        f"after which the function has been faster in sum.</p>{_peers()}{told}</main></body></html>"
    )


def _table(timings: Sequence[Timing]) -> str:
    names = ("eager", "function", "speed-up", "first call", "pays after", "traces")
    head = "".join(f'<th class="number">{name}</th>' for name in names)
    rows = "".join(f"<tr>{_row(timing)}</tr>" for timing in timings)
    return (
        '<div class="wide"><table><thead><tr><th>program</th>'
        f"{head}<th>tier</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _peers() -> str:
    """What fourteen programs took in other libraries, as it was recorded."""
    recorded = json.loads(_PEERS.read_text(encoding="utf-8"))
    versions = recorded["versions"]
    head = "".join(
        f'<th class="number">{html.escape(f"{name} {version}")}</th>'
        for name, version in versions.items()
    )
    rows = ""
    for program in recorded["programs"]:
        times = {name: told["call"] for name, told in program["libraries"].items()}
        best = min(times.values())
        cells = "".join(_peer_cell(times.get(name), best) for name in versions)
        rows += f"<tr><td>{html.escape(program['title'])}</td>{cells}</tr>"
    return (
        "<h2>Beside other libraries</h2><p>Average time of a call in the last second of 10,000, "
        "the first one included, with <code>@tf.function</code>, <code>jax.jit</code> and "
        "<code>torch.compile</code> and nothing else; the shortest is bold. Recorded, not measured "
        f"now: {html.escape(recorded['about'])}"
        f'</p><div class="wide"><table><thead><tr><th>program</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _peer_cell(seconds: float | None, best: float) -> str:
    if seconds is None:
        return '<td class="number">-</td>'
    text = time_text(seconds)
    return f'<td class="number">{f"<b>{text}</b>" if seconds == best else text}</td>'


def _row(timing: Timing) -> str:
    pays = timing.pays_after
    cells = (
        time_text(timing.eager),
        time_text(timing.traced),
        f"{timing.speed_up:,.1f}x",
        time_text(timing.first_call),
        "never" if pays is None else f"{pays:,} call{'s' if pays > 1 else ''}",
        str(timing.traces),
    )
    numbers = "".join(f'<td class="number">{cell}</td>' for cell in cells)
    return f"<td>{html.escape(timing.name)}</td>{numbers}<td>{timing.tier}</td>"


def time_text(seconds: float) -> str:
    """A time with a fitting unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds * 1e6:,.1f} µs"


def chart(timings: Sequence[Timing]) -> str:
    """Two bars for each program, as SVG."""
    left, right, row, bar, top = 250, 90, 46, 15, 30
    width = 1000
    times = [t for timing in timings for t in (timing.eager, timing.traced)]
    low = math.floor(math.log10(min(times)))
    high = math.ceil(math.log10(max(times)))
    height = top + row * len(timings) + 30

    def x(seconds: float) -> float:
        return left + (math.log10(seconds) - low) / (high - low) * (width - left - right)

    parts = [
        f'<rect x="{left}" y="4" width="12" height="12" fill="{_EAGER}"/>',
        f'<text x="{left + 18}" y="14">eager</text>',
        f'<rect x="{left + 80}" y="4" width="12" height="12" fill="{_TRACED}"/>',
        f'<text x="{left + 98}" y="14">function</text>',
    ]
    for power in range(low, high + 1):
        at = x(10.0**power)
        parts.append(
            f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{top - 4}" y2="{height - 24}" '
            f'stroke="var(--line)"/><text x="{at:.1f}" y="{height - 8}" text-anchor="middle" '
            f'class="axis">{_power_text(power)}</text>'
        )
    for i, timing in enumerate(timings):
        y = top + i * row
        name = html.escape(timing.name)
        parts.append(f'<text x="{left - 12}" y="{y + 20}" text-anchor="end">{name}</text>')
        bars = ((timing.eager, _EAGER, 0), (timing.traced, _TRACED, bar + 2))
        for seconds, colour, offset in bars:
            note = time_text(seconds) + (f", {timing.speed_up:,.0f}x" if offset else "")
            parts.append(
                f'<rect x="{left}" y="{y + offset}" width="{max(x(seconds) - left, 1):.1f}" '
                f'height="{bar}" rx="2" fill="{colour}"/>'
                f'<text x="{x(seconds) + 6:.1f}" y="{y + offset + 12}" class="axis">{note}</text>'
            )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {width} {height}" '
        'style="min-width:640px" width="100%" '
        'role="img" aria-label="Times of one call, eager and as a function">'
        "<style>.chart text{font:13px system-ui,sans-serif;fill:var(--ink)}"
        ".chart .axis{font-size:11.5px;fill:var(--soft)}</style>"
        f"{''.join(parts)}</svg>"
    )


def _power_text(power: int) -> str:
    unit, base = ("s", 0) if power >= 0 else ("ms", -3) if power >= -3 else ("µs", -6)
    return f"{10 ** (power - base):,} {unit}" if power >= base else f"10^{power} s"


def _story(number: int, story: Story) -> str:
    blocks = "".join(_block(block) for block in story.blocks)
    measured = _table(story.timings) if story.timings else ""
    return f'<h2 id="story-{number}">{html.escape(story.title)}</h2>{blocks}{measured}'


def _block(block: Block) -> str:
    """What was told, with the code that led to it beside it."""
    if block.kind == "text" or not block.code:
        return _told(block)
    code = f"<pre>{html.escape(block.code)}</pre>"
    return f'<div class="step">{code}<div>{_told(block)}</div></div>'


def _told(block: Block) -> str:
    title = f"<h3>{html.escape(block.title)}</h3>" if block.title else ""
    if block.kind == "text":
        return f"<p>{html.escape(block.content)}</p>"
    if block.kind == "svg":
        return f'{title}<div class="scroll">{block.content}</div>'
    if block.kind == "html":
        return f'<div class="scroll traces">{block.content}</div>'
    return f"{title}<pre>{html.escape(block.content)}</pre>"
