"""Loads the compiler when a program makes its first function.

LLVM and the native tier take 60 to 80 ms to load. When `import weft` loads them, those pay who only
compute eagerly; when the function that is compiled first waits for them, its calls run on NumPy
that much longer, beside a thread that needs the interpreter as well. Who decorates a function is
going to call it: there it belongs to starting the program, as the imports do.
"""

from __future__ import annotations

import functools
import time

from weft._src.core import machine_offers
from weft._src.core.flags import flags
from weft._src.execution import forking
from weft._src.execution.estimates import experience


def load_compiler() -> None:
    """Called whenever a function is made; does something the first time only."""
    if flags.execution in ("auto", "native"):
        _load()


@functools.cache
def _load() -> None:
    began = time.thread_time()
    try:
        with forking.lock:
            from weft._src.execution.native import driver  # noqa: F401
            from weft._src.execution.native.machine import executable, support
    except (ImportError, OSError):
        return  # the native tier says what is missing, if a function needs it
    if support.reason_off() is None:
        executable.calling_code()
        machine_offers.compiler_is_loaded()
        experience.note_loading(time.thread_time() - began)
