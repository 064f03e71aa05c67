"""Running a graph on the best tier there is: compiled when it is needed first, then kept."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from weft._src.core import blas
from weft._src.core.holding import run_holding
from weft._src.core.machine_jobs import MachineJob, install_loader
from weft._src.core.placed import MeshInput
from weft._src.execution import forking
from weft._src.execution.background import worker
from weft._src.execution.eager import run_large
from weft._src.execution.mesh_names import meshes_of
from weft._src.execution.programs import run_program
from weft._src.execution.tiers import TieredPlan
from weft._src.graph.ir import Graph
from weft._src.ops.dispatch import install_large_runner, install_structured_runner
from weft._src.ops.nn import window_machine
from weft._src.ops.programs import install_program_runner
from weft._src.ops.registry import Op
from weft._src.ops.strings.packed import Group, Packers, install_packers
from weft._src.ops.strings.pattern_search import Searchers, install_searchers

_lock = threading.Lock()


def _new_lock() -> None:
    """After a fork no other thread is left that could release the old one."""
    global _lock  # noqa: PLW0603
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)

# The positions of the resources that a call has to lock, for graphs that write some.
_locked: weakref.WeakKeyDictionary[Graph, tuple[int, ...]] = weakref.WeakKeyDictionary()


def plan_of(graph: Graph) -> TieredPlan:
    """The executable form of a graph; the same one for every call."""
    plan: TieredPlan | None = graph.plan
    if plan is None:
        with _lock:
            plan = graph.plan
            if plan is None:
                plan = graph.plan = TieredPlan(graph)
    return plan


def _run_call(op: Op, values: list[Any], attrs: dict[str, Any]) -> Any:
    """A call of a graph made eagerly: gradients of functions are such calls."""
    if op.name != "PartitionedCall":
        raise AssertionError(f"{op.name} is only made while tracing.")
    body: Graph = attrs["body"]
    locked = _locked.get(body)
    if locked is None:
        if meshes_of(body):
            raise MeshInput
        locked = _locked[body] = locked_inputs(body)
    plan = plan_of(body)
    if not locked:
        return plan.run(*values)
    return run_locked(locks_of([values[i] for i in locked]), plan, values)


def locked_inputs(graph: Graph) -> tuple[int, ...]:
    """The positions of the resources a call holds: all it touches, if it writes any.

    Also those that are only read: two functions that each write what the other one reads would
    wait for each other.
    """
    effects = graph.effects
    if not effects.writes:
        return ()
    touched = {id(t) for t in (*effects.reads, *effects.writes)}
    return tuple([i for i, x in enumerate(graph.all_inputs) if id(x) in touched])


def locks_of(cells: Iterable[Any]) -> list[Any]:
    """The locks of resources that a call writes, in a fixed order."""
    unique = {id(cell): cell.lock for cell in cells if hasattr(cell, "lock")}
    return [unique[key] for key in sorted(unique)]


def run_locked(locks: Sequence[Any], plan: TieredPlan, values: Sequence[Any]) -> Any:
    """Runs a plan holding locks, so that a call is atomic."""
    return run_holding(locks, plan.run, values, plan.who)


def _load_searchers() -> Searchers | None:
    """Machine code for strings; LLVM is imported when it is needed first."""
    with forking.lock:
        from weft._src.execution.native import string_search
    return string_search.load()


def _load_window_kernels(take: Callable[[window_machine.Kernels], None]) -> None:
    """Hands machine code for convolutions over when LLVM has been imported, in the background."""

    def work() -> None:
        with forking.lock:
            from weft._src.execution.native import window_kernels
        take(window_kernels.WindowKernels())

    worker.submit(work)


def _load_product_kernels(take: Callable[[blas.Products], None]) -> None:
    """The same for products."""

    def work() -> None:
        with forking.lock:
            from weft._src.execution.native import product_kernels
        take(product_kernels.ProductKernels())

    worker.submit(work)


def _load_packers(group: Group, take: Callable[[Packers], None], waits: bool) -> None:
    """Loads machine code for strings, in the background if nobody waits for it."""

    def work() -> None:
        with forking.lock:
            from weft._src.execution.native import string_packing
        packers = string_packing.load(group)
        if packers is not None:
            take(packers)

    _done(work, waits)


def _load_job(job: MachineJob, waits: bool) -> None:
    """Loads machine code for arrays, in the background if nobody waits for it."""

    def work() -> None:
        with forking.lock:
            from weft._src.execution.native import array_jobs
        array_jobs.load(job)

    _done(work, waits)


def _done(work: Callable[[], None], waits: bool) -> None:
    """Does something, in the background if nobody waits for it."""
    if waits:
        work()
    else:
        worker.submit(work)


install_structured_runner(_run_call)
install_large_runner(run_large)
install_program_runner(run_program)
install_searchers(_load_searchers)
window_machine.offer.install(_load_window_kernels)
blas.offer.install(_load_product_kernels)
install_packers(_load_packers)
install_loader(_load_job)
