"""How the stories are told: what they say goes to the terminal and into the report.

A story is a function of one argument, the `Story` it tells. Each can be run on its own
(`python examples/gaussian_fit.py`); `demo.py` runs them all.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import logging
import math
import textwrap
import timeit
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import weft as tf
from weft._src.tools.drawing import graph_svg

SECONDS = 0.4  # how long each side of a comparison is timed
BOLD, PLAIN = "\033[1m", "\033[0m"


@dataclass
class Timing:
    """One program, run eagerly and as a function."""

    name: str
    eager: float  # seconds for a call
    traced: float
    first_call: float  # seconds, tracing included
    traces: int
    tier: str

    @property
    def speed_up(self) -> float:
        """How many times faster the function is."""
        return self.eager / self.traced

    @property
    def pays_after(self) -> int | None:
        """The number of calls after which tracing has paid; None for never."""
        gain = self.eager - self.traced
        return max(1, math.ceil((self.first_call - self.traced) / gain)) if gain > 0 else None


@dataclass
class Block:
    """A piece of a story: what it is ("text", "output", "svg", "html", ...), and its content."""

    kind: str
    content: str
    title: str = ""
    code: str = ""  # the lines of the story that led to it


@dataclass
class Story:
    """What has been told so far."""

    title: str
    blocks: list[Block] = field(default_factory=list)
    timings: list[Timing] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._told_to = 0  # the line up to which the code of the story has been shown
        print(f"\n{BOLD}{self.title}{PLAIN}\n{'=' * len(self.title)}")

    def say(self, text: str) -> None:
        """A paragraph."""
        print(f"\n{text}")
        self._add("text", text)

    def show(self, text: Any, title: str = "") -> None:
        """Output, code, a table: shown as it is."""
        if title:
            print(f"-- {title}")
        print("\n".join(f"    {line}" for line in str(text).splitlines()))
        self._add("output", str(text), title)

    @contextlib.contextmanager
    def listening(self, title: str = "") -> Iterator[None]:
        """Shows whatever is printed or logged inside."""
        heard = io.StringIO()
        handler = logging.StreamHandler(heard)
        logger = logging.getLogger("weft")
        logger.addHandler(handler)
        propagate, logger.propagate = logger.propagate, False
        try:
            with contextlib.redirect_stdout(heard):
                yield
        finally:
            logger.removeHandler(handler)
            logger.propagate = propagate
            self.show(heard.getvalue().rstrip("\n"), title)

    def failure(self, call: Callable[[], Any]) -> None:
        """Shows the error of a call that must fail."""
        try:
            call()
        except Exception as error:  # noqa: BLE001 - the point is to show it
            self.show(f"{type(error).__name__}: {error}", "the error")
        else:
            raise AssertionError("This was expected to fail.")

    def graph(self, concrete: Any, title: str) -> None:
        """Draws a graph (in the report; on the terminal only its size)."""
        print(f"-- {title}: a graph of {len(concrete.graph.nodes)} nodes, drawn in the report")
        self._add("svg", graph_svg(concrete.graph, title), title)

    def traces(self, function: Any) -> None:
        """Explains all traces of a function."""
        explanation = tf.explain(function)
        print("\n".join(f"    {line}" for line in repr(explanation).splitlines()))
        self._add("html", explanation._repr_html_(), explanation.title)

    def _add(self, kind: str, content: str, title: str = "") -> None:
        self.blocks.append(Block(kind, content, title, self._code_since_last()))

    def _code_since_last(self) -> str:
        """The lines of the function `tell` from where the last block was told up to here."""
        frame = inspect.currentframe()
        while frame is not None and frame.f_code.co_name != "tell":
            frame = frame.f_back
        if frame is None:
            return ""
        lines, first = inspect.getsourcelines(frame.f_code)
        begin, self._told_to = max(self._told_to, first + 1), _end_of_statement(frame) + 1
        return textwrap.dedent("".join(lines[begin - first : self._told_to - first])).strip("\n")

    def compare(
        self, name: str, program: Callable[..., Any], *args: Any, traced: Any = None
    ) -> Timing:
        """Times a Python function eagerly and as `tf.function` (`traced`, if there is one)."""
        fresh = tf.function(program)
        first = timeit.timeit(lambda: fresh(*args), number=1)
        traced = fresh if traced is None else traced
        _call_for(SECONDS, traced, args)  # long enough for machine code, where it pays
        plan = traced.get_concrete_function(*args).graph.plan
        plan.wait()
        _call_for(SECONDS / 10, traced, args)  # its first calls are on trial
        timing = Timing(
            name,
            _best(SECONDS, program, args),
            _best(SECONDS, traced, args),
            first,
            traced.experimental_get_tracing_count(),
            plan.tier,
        )
        print(
            f"-- {name}: eager {timing.eager * 1e6:,.0f} us, function {timing.traced * 1e6:,.1f} us"
            f" ({timing.tier}), {timing.speed_up:.1f}x faster"
        )
        self.timings.append(timing)
        return timing


def _end_of_statement(frame: FrameType) -> int:
    """The last line of what a frame is executing: a call may be written over several."""
    lines, first = inspect.getsourcelines(frame.f_code)
    tree = ast.parse(textwrap.dedent("".join(lines)))
    here = frame.f_lineno - first + 1
    inside = [
        node for node in ast.walk(tree) if isinstance(node, ast.stmt) and hasattr(node, "lineno")
    ]
    ends = [n.end_lineno or here for n in inside if n.lineno <= here <= (n.end_lineno or 0)]
    return first - 1 + min(ends, default=here)


def _call_for(seconds: float, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    end = timeit.default_timer() + seconds
    while timeit.default_timer() < end:
        function(*args)


def _best(seconds: float, function: Callable[..., Any], args: tuple[Any, ...]) -> float:
    """Seconds for a call: the best of five rounds that take the given time together."""
    one = timeit.timeit(lambda: function(*args), number=1)
    number = max(1, int(seconds / 5 / max(one, 1e-7)))
    return min(timeit.repeat(lambda: function(*args), number=number, repeat=5)) / number


def table(timings: list[Timing]) -> str:
    """The timings as text."""
    head = f"{'program':<34}{'eager':>12}{'function':>12}{'speed-up':>10}{'first call':>13}"
    lines = [f"{head}{'traces':>8}  tier", "-" * 97]
    lines += [
        f"{t.name:<34}{t.eager * 1e6:>9,.0f} us{t.traced * 1e6:>9,.1f} us{t.speed_up:>9.1f}x"
        f"{t.first_call * 1e3:>10,.1f} ms{t.traces:>8}  {t.tier}"
        for t in timings
    ]
    return "\n".join(lines)


def run_alone(tell: Callable[[Story], None], title: str) -> None:
    """Tells one story on the terminal."""
    story = Story(title)
    tell(story)
    if story.timings:
        print(f"\n{table(story.timings)}")
