"""How many threads there may be."""

from __future__ import annotations

import os

from weft._src.core.flags import flags


def processors() -> int:
    """How many threads can run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def is_one_idle() -> bool:
    """Whether a processor has nothing to do right now; False where the system does not tell."""
    try:
        with open("/proc/loadavg", encoding="ascii") as file:
            running = int(file.read().split()[3].partition("/")[0])  # this thread among them
    except (OSError, ValueError, IndexError):
        return False
    return running < processors()


def threads_per_op() -> int:
    """How many threads share the work of one op: as many as the user has set, or as can run."""
    return flags.threads or processors()
