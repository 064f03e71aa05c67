"""Running a graph on the best tier there is: compiled when it is needed first, then kept."""

from __future__ import annotations

import threading
from typing import Any

from weft.execution.numpy.plan import NumpyPlan
from weft.graph.ir import Graph
from weft.graph.passes import optimize
from weft.ops.dispatch import install_structured_runner
from weft.ops.registry import Op

_lock = threading.Lock()


def plan_of(graph: Graph) -> NumpyPlan:
    """The executable form of a graph; the same one for every call."""
    plan: NumpyPlan | None = graph.plan
    if plan is None:
        with _lock:
            plan = graph.plan
            if plan is None:
                plan = graph.plan = NumpyPlan(optimize(graph))
    return plan


def _run_call(op: Op, values: list[Any], attrs: dict[str, Any]) -> Any:
    """A call of a graph made eagerly: gradients of functions are such calls."""
    if op.name != "PartitionedCall":
        raise AssertionError(f"{op.name} is only made while tracing.")
    return plan_of(attrs["body"])(*values)


install_structured_runner(_run_call)
