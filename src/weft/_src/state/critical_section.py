"""`tf.CriticalSection`: code that only one thread at a time may run."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from weft._src import nest
from weft._src.core.context import state
from weft._src.core.convert import convert_to_tensor
from weft._src.core.holding import run_holding
from weft._src.core.tensor import EagerTensor
from weft._src.ops.state.mutex import MutexCell, mutex_lock_op

# Sections of the same shared name are the same section.
_shared: dict[str, MutexCell] = {}
_shared_lock = threading.Lock()


class CriticalSection:
    """Runs functions so that no two of them, in whatever threads, run at the same time.

    A traced function that runs a critical section is exclusive for the whole of its call.

    >>> section = tf.CriticalSection()
    >>> v = tf.Variable(1.0)
    >>> section.execute(lambda: v.assign(v * 2.0).value()).numpy()
    np.float32(2.0)
    """

    def __init__(
        self,
        name: str | None = None,
        shared_name: str | None = None,
        critical_section_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        if critical_section_def is not None:
            raise ValueError("CriticalSection: critical_section_def is not supported.")
        self._name = name or "critical_section"
        if shared_name is None:
            cell = MutexCell(self._name)
        else:
            with _shared_lock:
                cell = _shared.setdefault(shared_name, MutexCell(shared_name))
        self._handle = EagerTensor(cell)
        self._running = threading.local()

    @property
    def name(self) -> str:
        """The name given to it."""
        return self._name

    def execute(
        self,
        fn: Callable[[], Any],
        exclusive_resource_access: bool = True,
        name: str | None = None,
    ) -> Any:
        """The result of `fn()`, while nobody else is in this section.

        Args:
          fn: a function of nothing.
          exclusive_resource_access: accepted for compatibility.
          name: the name of the node in a graph.

        Returns:
          What `fn` returned, with tensors in place of its leaves; None stays None.

        Raises:
          TypeError: if `fn` is not callable.
          ValueError: if it is called inside of the same section, which would wait forever.

        >>> section, count = tf.CriticalSection(), tf.Variable(0)
        >>> section.execute(lambda: count.assign_add(1)).numpy()
        np.int32(1)
        """
        if not callable(fn):
            raise TypeError(f"CriticalSection.execute: fn must be callable, got {fn!r}.")
        if getattr(self._running, "inside", False):
            raise ValueError(
                f"The critical section {self._name!r} is executed inside of itself, which would "
                "wait forever. Call the function directly."
            )
        cell: MutexCell = self._handle._value
        self._running.inside = True
        try:
            if state.graph is not None:
                mutex_lock_op(self._handle, name=name)
                return _as_tensors(fn())
            return _as_tensors(run_holding([cell.lock], fn, (), "a critical section"))
        finally:
            self._running.inside = False

    def __repr__(self) -> str:
        return f"<tf.CriticalSection {self._name!r}>"


def _as_tensors(result: Any) -> Any:
    return nest.map_structure(
        lambda leaf: None if leaf is None else convert_to_tensor(leaf), result
    )
