"""Running a graph on the best tier there is: compiled when it is needed first, then kept."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Sequence
from typing import Any

from weft.execution.numpy.plan import NumpyPlan
from weft.graph.ir import Graph
from weft.graph.passes import optimize
from weft.graph.passes.forget import forget_gradients
from weft.ops.dispatch import install_structured_runner
from weft.ops.registry import Op

_lock = threading.Lock()
# The positions of the inputs that a graph writes.
_written: weakref.WeakKeyDictionary[Graph, tuple[int, ...]] = weakref.WeakKeyDictionary()


def plan_of(graph: Graph) -> NumpyPlan:
    """The executable form of a graph; the same one for every call."""
    plan: NumpyPlan | None = graph.plan
    if plan is None:
        with _lock:
            plan = graph.plan
            if plan is None:
                plan = graph.plan = NumpyPlan(optimize(forget_gradients(graph)))
    return plan


def _run_call(op: Op, values: list[Any], attrs: dict[str, Any]) -> Any:
    """A call of a graph made eagerly: gradients of functions are such calls."""
    if op.name != "PartitionedCall":
        raise AssertionError(f"{op.name} is only made while tracing.")
    body: Graph = attrs["body"]
    written = _written.get(body)
    if written is None:
        position = {id(x): i for i, x in enumerate(body.all_inputs)}
        written = _written[body] = tuple([position[id(t)] for t in body.effects.writes])
    plan = plan_of(body)
    if not written:
        return plan(*values)
    return run_locked(locks_of([values[i] for i in written]), plan, values)


def locks_of(cells: Iterable[Any]) -> list[Any]:
    """The locks of resources that a call writes, in a fixed order."""
    unique = {id(cell): cell.lock for cell in cells if hasattr(cell, "lock")}
    return [unique[key] for key in sorted(unique)]


def run_locked(locks: Sequence[Any], plan: NumpyPlan, values: Sequence[Any]) -> Any:
    """Runs a plan holding locks, so that a call is atomic. Not with an ExitStack: 0.5 us a lock."""
    held = 0
    try:
        for lock in locks:
            lock.acquire()
            held += 1
        return plan(*values)
    finally:
        for lock in locks[:held]:
            lock.release()


install_structured_runner(_run_call)
