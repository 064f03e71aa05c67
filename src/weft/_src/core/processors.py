"""How many threads there may be, and how large their caches are."""

from __future__ import annotations

import functools
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


LONGEST_VECTOR = 64  # bytes, of any processor that is known here


@functools.cache
def vector_bytes() -> int:
    """How long the vectors of an x86 processor are; where the system does not tell, the shortest.

    Machine code asks LLVM, which takes longer to load than this does.
    """
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            flags_line = next((line for line in file if line.startswith("flags")), "")
    except OSError:
        return 16
    found = set(flags_line.split())
    return LONGEST_VECTOR if "avx512f" in found else 32 if "avx2" in found else 16


_CACHES = "/sys/devices/system/cpu/cpu0/cache"


@functools.cache
def second_cache_bytes() -> int:
    """The size of the second-level cache of a processor; where the system does not tell, usual."""
    for number in range(8):
        try:
            folder = f"{_CACHES}/index{number}"
            with open(f"{folder}/level", encoding="ascii") as file:
                level = file.read().strip()
            with open(f"{folder}/size", encoding="ascii") as file:
                size = file.read().strip()
        except (OSError, ValueError):
            break
        if level == "2" and size.endswith("K") and size[:-1].isdigit():
            return int(size[:-1]) << 10
    return 512 << 10
