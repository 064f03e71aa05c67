"""`weft.explain(f)`: a readable account of all traces of a function."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

from weft._src.function.history import TraceRecord
from weft._src.function.methods import BoundFunction
from weft._src.function.polymorphic import PolymorphicFunction

_COLUMNS = ("#", "signature", "why", "called from", "ms", "nodes", "tier", "calls", "native")


class Explanation:
    """The traces of a function: as text, as HTML in notebooks, and as data."""

    def __init__(self, title: str, traces: list[dict[str, Any]]) -> None:
        self.title = title
        self.traces = traces

    def __repr__(self) -> str:
        lines = [self.title]
        for trace in self.traces:
            lines += [
                f"  {trace['#']}. {trace['signature']}",
                f"     why: {trace['why']}",
                f"     {trace['ms']:.2f} ms, {trace['nodes']} nodes",
                f"     called from {trace['called from']}",
                f"     {_use(trace)}",
            ]
            if trace["native"]:
                lines.append(f"     {trace['native']}")
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
        return f"<p><b>{title}</b></p><table><thead><tr>{head}</tr></thead>{rows}</table>"


def _use(trace: dict[str, Any]) -> str:
    if not trace["calls"]:
        return "not called yet"
    return f"{trace['calls']} calls on the {trace['tier']} tier"


def _cell(value: Any) -> str:
    text = f"{value:.2f}" if isinstance(value, float) else str(value)
    return html.escape(text)


def explain(function: Callable[..., Any]) -> Explanation:
    """All traces of a `tf.function`: signature, cause, call site, cost, and use.

    Args:
      function: a `tf.function`, or a method that is one.

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
    records = function._history.records
    traces = [_row(i, record) for i, record in enumerate(records, 1)]
    calls = sum(trace["calls"] for trace in traces)
    title = f"{function._label}: {len(traces)} traces, {calls} calls"
    return Explanation(title, traces)


def _row(number: int, record: TraceRecord) -> dict[str, Any]:
    concrete = record.concrete
    return {
        "#": number,
        "signature": concrete.pretty_printed_signature(verbose=False),
        "why": record.cause,
        "called from": str(record.location),
        "ms": record.seconds * 1e3,
        "nodes": record.nodes,
        "tier": "not run yet" if concrete.graph.plan is None else concrete.graph.plan.tier,
        "calls": concrete.calls,
        "native": "" if concrete.graph.plan is None else concrete.graph.plan.account(),
    }
