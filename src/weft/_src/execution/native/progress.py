"""A line on the terminal for those who wait for a compilation that takes long."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec

from weft._src.execution.native.pace import is_in_background

_PATIENCE = 2.0  # seconds after which something is said
_PULSE = 0.5  # seconds between two looks at the clock


@contextmanager
def shown(name: str) -> Iterator[None]:
    """Says what is being compiled, and for how long, if somebody sees it and tqdm is installed."""
    if is_in_background() or not sys.stderr.isatty() or find_spec("tqdm") is None:
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(name, done), name="weft-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _show(name: str, done: threading.Event) -> None:
    if done.wait(_PATIENCE):
        return
    line = f"Compiling {name}: {{elapsed}}"
    with import_module("tqdm").tqdm(bar_format=line, leave=False) as bar:
        while not done.wait(_PULSE):
            bar.refresh()
