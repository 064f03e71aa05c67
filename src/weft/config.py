"""Settings of the whole program; public as `tf.config`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any


class _Flags:
    """Read on every call of a traced function, so plain attributes of one object."""

    __slots__ = (
        "call_watcher", "deterministic", "run_functions_eagerly", "threads", "unusual_calls",
    )  # fmt: skip

    def __init__(self) -> None:
        self.run_functions_eagerly = False
        # Told of calls of traced functions: watcher(concrete function, call) -> call()'s result.
        self.call_watcher: Callable[[Any, Callable[[], Any]], Any] | None = None
        self.unusual_calls = False  # whether one of the two above is set
        self.deterministic = False
        self.threads = 0  # that share large loops; 0: as many as there are processors

    def set_run_functions_eagerly(self, value: bool) -> None:
        self.run_functions_eagerly = value
        self._update()

    def watch_calls(self, watcher: Callable[[Any, Callable[[], Any]], Any] | None) -> None:
        self.call_watcher = watcher
        self._update()

    def _update(self) -> None:
        self.unusual_calls = self.run_functions_eagerly or self.call_watcher is not None


flags = _Flags()

# Which tier runs functions: "auto" (NumPy first, machine code when it is worth it), "numpy",
# "native" (compiled at the first call), or "verify" (every call also runs natively and on the
# reference interpreter, and their difference is an error). Set it as
# `weft.config.execution = "numpy"`.
execution = os.environ.get("WEFT_EXECUTION", "auto")


def execution_wanted() -> str:
    """The tier that is set, checked."""
    if execution not in ("auto", "numpy", "native", "verify"):
        raise ValueError(
            "weft.config.execution must be 'auto', 'numpy', 'native' or 'verify', got "
            f"{execution!r}."
        )
    return execution


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Makes calls of a `tf.function` run its Python body itself, for debugging.

    >>> tf.config.run_functions_eagerly(True)
    >>> tf.config.functions_run_eagerly()
    True
    >>> tf.config.run_functions_eagerly(False)
    """
    flags.set_run_functions_eagerly(bool(run_eagerly))


def functions_run_eagerly() -> bool:
    """Whether functions run their Python body itself.

    >>> tf.config.functions_run_eagerly()
    False
    """
    return flags.run_functions_eagerly
