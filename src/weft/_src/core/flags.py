"""Settings that are read on every call of a traced function."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

TIERS = ("auto", "numpy", "native", "xla", "verify")


class _Flags:
    """Read on every call of a traced function, so plain attributes of one object."""

    __slots__ = (
        "call_watcher", "deterministic", "execution", "guard_pages", "run_functions_eagerly",
        "soft_placement", "threads", "unusual_calls",
    )  # fmt: skip

    def __init__(self) -> None:
        self.run_functions_eagerly = False
        # Told of calls of traced functions: watcher(concrete function, call) -> call()'s result.
        self.call_watcher: Callable[[Any, Callable[[], Any]], Any] | None = None
        self.unusual_calls = False  # whether one of the two above is set
        self.deterministic = False
        # Which tier runs functions: "auto" (NumPy first, machine code when it is worth it),
        # "numpy", "native" (compiled at the first call), "xla" (programs of XLA, through jax), or
        # "verify" (every call also runs natively and on the reference interpreter, and their
        # difference is an error).
        self.execution = os.environ.get("WEFT_EXECUTION", "auto")
        # For tests: "end" or "start" of what machine code touches lies at a forbidden page.
        self.guard_pages = os.environ.get("WEFT_GUARD_PAGES", "")
        # Whether the CPU takes what a device cannot do, or is not there for.
        self.soft_placement = True
        self.threads = 0  # that share large loops; 0: as many as there are processors

    def set_run_functions_eagerly(self, value: bool) -> None:
        self.run_functions_eagerly = value
        self._update()

    def watch_calls(self, watcher: Callable[[Any, Callable[[], Any]], Any] | None) -> None:
        self.call_watcher = watcher
        self._update()

    def execution_wanted(self) -> str:
        """The tier that is set, checked."""
        if self.execution not in TIERS:
            raise ValueError(
                "weft.config.execution must be 'auto', 'numpy', 'native', 'xla' or 'verify', got "
                f"{self.execution!r}."
            )
        return self.execution

    def _update(self) -> None:
        self.unusual_calls = self.run_functions_eagerly or self.call_watcher is not None


flags = _Flags()
