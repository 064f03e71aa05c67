"""Doing something in several threads at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def in_threads(work: Callable[[int], Any], count: int = 4) -> list[Any]:
    """The results of work(0), work(1), ..., begun together; what one raises is raised here."""
    together = threading.Barrier(count)

    def run(number: int) -> Any:
        together.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count), timeout=60))
