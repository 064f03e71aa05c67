"""A line on the terminal for those who wait for a compilation that takes long."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from weft._src.core import progress
from weft._src.execution.native.pace import is_in_background


@contextlib.contextmanager
def shown(name: str) -> Iterator[None]:
    """Says what is being compiled, and for how long, if somebody waits for it."""
    if is_in_background():
        yield
        return
    with progress.waiting(f"Compiling {name}"):
        yield
