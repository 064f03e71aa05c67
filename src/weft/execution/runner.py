"""Running a graph on the best tier there is: compiled when it is needed first, then kept."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterable, Iterator
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
    with locked([values[i] for i in written]):
        return plan(*values)


@contextlib.contextmanager
def locked(cells: Iterable[Any]) -> Iterator[None]:
    """Holds the locks of resources that a call writes, taken in a fixed order, so it is atomic."""
    unique = {id(cell): cell for cell in cells if hasattr(cell, "lock")}
    with contextlib.ExitStack() as stack:
        for key in sorted(unique):
            stack.enter_context(unique[key].lock)
        yield


install_structured_runner(_run_call)
