"""`weft.explain(f)`: a readable account of all traces of a function."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any

from weft._src.function.concrete import ConcreteFunction
from weft._src.function.history import TraceRecord
from weft._src.function.methods import BoundFunction
from weft._src.function.pieces_of_code import piece_of
from weft._src.function.polymorphic import PolymorphicFunction
from weft._src.function.remedies import Adviser

_COLUMNS = (
    *("#", "signature", "why", "remedy", "called from", "ms", "nodes", "calls by tier", "native"),
    "reads",
)
_TIERS = {
    "numpy": "NumPy",
    "native": "machine code",
    "recorded": "a tape or in another function, whose graph has taken it in",
}


class Explanation:
    """The traces of a function: as text, as HTML in notebooks, and as data.

    `traces` is a list of dicts, one for each trace; `notes` says what is about all of them.
    """

    def __init__(self, title: str, traces: list[dict[str, Any]], notes: Sequence[str] = ()) -> None:
        self.title = title
        self.traces = traces
        self.notes = list(notes)

    def __repr__(self) -> str:
        lines = [self.title, *[f"  {note}" for note in self.notes]]
        for trace in self.traces:
            lines += [f"  {trace['#']}. {trace['signature']}", f"     why: {trace['why']}"]
            if trace["remedy"]:
                lines.append(f"     remedy: {trace['remedy']}")
            lines += [
                f"     {trace['ms']:.2f} ms, {trace['nodes']} nodes",
                f"     called from {trace['called from']}",
                f"     {_use(trace)}",
            ]
            lines += [f"     {trace[key]}" for key in ("native", "reads") if trace[key]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th style='text-align:left'>{c}</th>" for c in _COLUMNS)
        rows = "".join(
            "<tr>"
            + "".join(f"<td style='text-align:left'>{_cell(trace[c])}</td>" for c in _COLUMNS)
            + "</tr>"
            for trace in self.traces
        )
        title = html.escape(self.title)
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return f"<p><b>{title}</b></p>{notes}<table><thead><tr>{head}</tr></thead>{rows}</table>"


def _use(trace: dict[str, Any]) -> str:
    """How often it was called, and who served the calls."""
    if not trace["calls"]:
        return "not called yet"
    calls = f"{trace['calls']} call{'' if trace['calls'] == 1 else 's'}"
    return f"{calls}: {trace['calls by tier']}"


def _cell(value: Any) -> str:
    text = f"{value:.2f}" if isinstance(value, float) else str(value)
    return html.escape(text)


def explain(function: Callable[..., Any]) -> Explanation:
    """All traces of a `tf.function`: signature, cause, remedy, call site, cost, and use.

    Args:
      function: a `tf.function`, or a method that is one: of an instance, or of the class for all
        instances that live.

    Returns:
      An `Explanation`: `print` it, or look at its list `traces` of dicts.

    Raises:
      TypeError: if it is something else.

    >>> @tf.function
    ... def f(x):
    ...     return x + 1
    >>> _ = f(tf.constant(1)), f(tf.constant(1.5))
    >>> tf.explain(f).traces[1]["why"]
    "the dtype of 'x' was int32 and is now float32"
    """
    if isinstance(function, BoundFunction):
        function = function._function
    if not isinstance(function, PolymorphicFunction):
        raise TypeError(f"explain takes a tf.function, got {function!r}.")
    parts = [function, *function._bound.values()]
    traces = [row for part in parts for row in _rows(part)]
    for number, row in enumerate(traces, 1):
        row["#"] = number
    calls = sum(trace["calls"] for trace in traces)
    instances = f"{len(parts) - 1} instances, " if len(parts) > 1 else ""
    title = f"{function._label}: {instances}{len(traces)} traces, {calls} calls"
    piece = piece_of(function._python_function)
    account = "" if piece is None else piece.account(function._label)
    return Explanation(title, traces, [account] if account else [])


def _rows(function: PolymorphicFunction[..., Any]) -> list[dict[str, Any]]:
    adviser = Adviser(function)
    return [_row(adviser, record) for record in list(function._history.records)]


class CallsByTier(dict[str, int]):
    """The calls of one trace by who served them: "numpy", "native", or "recorded"."""

    def __str__(self) -> str:
        return ", ".join([f"{n} on {_TIERS[tier]}" for tier, n in self.items() if n])


def _calls_by_tier(concrete: ConcreteFunction) -> dict[str, int]:
    plan = concrete.graph.plan
    served = {"numpy": 0, "native": 0} if plan is None else plan.calls_by_tier
    return {**served, "recorded": concrete.recorded_calls}


def _row(adviser: Adviser, record: TraceRecord) -> dict[str, Any]:
    concrete = record.concrete
    return {
        "#": 0,
        "signature": concrete.pretty_printed_signature(verbose=False),
        "why": record.why.cause,
        "remedy": adviser.remedy(record.why, record.given),
        "called from": str(record.location),
        "ms": record.seconds * 1e3,
        "nodes": record.nodes,
        "tier": "not run yet" if concrete.graph.plan is None else concrete.graph.plan.tier,
        "calls": concrete.calls,
        "calls by tier": CallsByTier(_calls_by_tier(concrete)),
        "reads": concrete.python_state.account(),
        "native": "" if concrete.graph.plan is None else concrete.graph.plan.account(),
    }
