"""Loads the compiler beside the program, between the first function that is made and its calls.

LLVM and the native tier take 60 ms to load. When a function waits for them they are late; when
`import weft` loads them, everybody pays. A program that makes a function most often goes on with
reading data and making variables, which leaves Python's lock free most of the time: they are
loaded meanwhile, if a processor has nothing to do, in small pieces, between which a fork gets in.
When a function is called, tracing it needs the lock, and loading stops; what is left is loaded
when something is compiled.
"""

from __future__ import annotations

import atexit
import importlib
import os
import threading

from weft._src.core.flags import flags
from weft._src.core.processors import is_one_idle
from weft._src.execution import forking
from weft._src.execution.turns import short_turns

_PATIENCE = 0.01  # seconds: a function that is called at once is not held up at all
# In this order none of them takes longer than some 30 ms.
_PIECES = (
    "llvmlite.binding.ffi",
    "llvmlite.binding",
    "weft._src.execution.native.machine.support",
    "weft._src.execution.native.machine.llvm",
    "weft._src.execution.native.loops.scalars",
    "weft._src.execution.native.front.lowering.rules",
    "weft._src.execution.native.front.lowering.graphs",
    "weft._src.execution.native.driver",
)


class _Preloading:
    """What there is to know of the one time that a process does it."""

    def __init__(self) -> None:
        self._asked = False
        self._thread: threading.Thread | None = None
        self._ending = threading.Event()

    def begin(self) -> None:
        """Called whenever a function is made; does something the first time only."""
        if self._asked:
            return
        self._asked = True
        if flags.execution in ("auto", "native") and os.name == "posix" and is_one_idle():
            self._thread = threading.Thread(target=self._load, name="weft-loading", daemon=True)
            self._thread.start()

    def _load(self) -> None:
        if not self._ending.wait(_PATIENCE):
            with short_turns():
                self._load_pieces()

    def _load_pieces(self) -> None:
        for piece in _PIECES:
            if self._ending.is_set():
                return
            try:
                with forking.lock:
                    importlib.import_module(piece)
            except (ImportError, OSError):
                return  # the native tier says what is missing, if a function needs it
        from weft._src.execution.native.machine import executable, support

        if not self._ending.is_set() and support.reason_off() is None:
            executable.calling_code()

    def give_way(self) -> None:
        """Called when a function is traced: no more pieces."""
        self._ending.set()

    def stop(self) -> None:
        """No library must be half loaded while the process takes itself apart."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join()

    def after_fork(self) -> None:
        """The child has no such thread; what the parent has loaded by then it has, too."""
        self._thread = None
        self._ending = threading.Event()  # that thread may have held the lock of the old one
        self._ending.set()


preloading = _Preloading()
atexit.register(preloading.stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=preloading.after_fork)
