"""What memory there is, asked before something large is made.

A few bytes can ask for any amount of memory: a shape is short. A result that does not fit is
refused before the work begins, by name, and not by the operating system half a minute later.
Small results are never asked about.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from weft._src.core.dtypes import from_numpy
from weft._src.errors import ResourceExhaustedError

MAPPED_FROM = 1 << 17  # bytes: a block of its own for glibc, at first
_UNTOUCHED = 16 << 20
_ASKED_ABOVE = 256 * 2**20  # bytes: asking takes a millisecond, making these a hundred times that

_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB")
_CONTROL_GROUPS = Path("/sys/fs/cgroup")
_PROCESS = Path("/proc/self")
_MACHINE = Path("/proc/meminfo")


def check(op: str, shape: Sequence[int], dtype: np.dtype[Any]) -> None:
    """ResourceExhaustedError if a result of this shape and dtype does not fit into memory."""
    size = math.prod(shape) * dtype.itemsize
    if size > limits.asked_above:
        name = from_numpy(dtype).name
        check_bytes(op, size, f"of shape {list(shape)} and dtype {name}")


def check_bytes(op: str, size: int, what: str) -> None:
    """ResourceExhaustedError if so many bytes for a result do not fit into memory."""
    try:
        check_array(size, what)
    except TooLargeError as error:
        raise ResourceExhaustedError(None, None, f"{op}: {error}") from None


class TooLargeError(MemoryError):
    """There is not as much memory as an array takes. Who called says which op it was for."""

    def __init__(self, message: str, output: int = 0) -> None:
        super().__init__(message)
        self.output = output


def check_array(size: int, what: str, output: int = 0) -> None:
    """TooLargeError if there is no memory for so many bytes, of a function's output maybe."""
    if size <= limits.asked_above:
        return
    there = available()
    if size > there:
        raise TooLargeError(
            f"a result {what} takes {in_words(size)}, but {in_words(there)} of memory are "
            "available. Make it smaller, or in parts.",
            output,
        )


def in_words(size: int) -> str:
    """A number of bytes for people.

    >>> in_words(3 * 2**30)
    '3.0 GiB'
    """
    if size < 1024:
        return f"{size} bytes"
    power = min(size.bit_length() // 10, len(_UNITS))
    return f"{size / 1024**power:,.1f} {_UNITS[power - 1]}"


@functools.cache
def keep_what_is_freed() -> None:
    """Has results find the memory of earlier ones, up to 32 MB, once for the process.

    glibc gives back to the system what lies free beyond twice the largest block that it was given
    back so far, and the pages of the next result have to be cleared again: a quarter of the time of
    a training step with some images. So it is given such a block, which nobody has touched. For
    other allocators that means nothing.
    """
    np.empty(_UNTOUCHED, np.uint8)


class _Limits:
    """From which size on memory is asked about, and what a test allows."""

    asked_above = _ASKED_ABOVE
    allowed = 2**62


limits = _Limits()


@contextlib.contextmanager
def limited_to(size: int) -> Iterator[None]:
    """As if there were only so many bytes for each result: for tests of what happens then."""
    before = limits.asked_above, limits.allowed
    limits.asked_above, limits.allowed = min(size, _ASKED_ABOVE), size
    try:
        yield
    finally:
        limits.asked_above, limits.allowed = before


def available() -> int:
    """How many bytes this process can still have: the least that anything allows."""
    there = [*_of_the_machine(), *_of_control_groups(), *_of_the_process()]
    return max(0, min(limits.allowed, *there))


def _of_the_machine() -> Iterator[int]:
    found = _numbers(_MACHINE)
    if "MemAvailable:" in found:
        yield (found["MemAvailable:"] + found.get("SwapFree:", 0)) * 1024
    else:
        yield 2**62  # nobody knows, so nothing is refused


def _of_the_process() -> Iterator[int]:
    try:
        resource = importlib.import_module("resource")
    except ImportError:  # not on every system
        return
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most != resource.RLIM_INFINITY:
        used = _numbers(_PROCESS / "status").get("VmSize:", 0) * 1024
        yield most - used


def _of_control_groups() -> Iterator[int]:
    """What is left in the groups this process is in: of version 2, or of version 1 for memory."""
    for line in _lines(_PROCESS / "cgroup"):
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if not controllers:
            names = ("memory.max", "memory.current", "inactive_file")
            yield from _of_groups(_CONTROL_GROUPS, path, names)
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            yield from _of_groups(_CONTROL_GROUPS / "memory", path, names)


def _of_groups(root: Path, path: str, names: tuple[str, str, str]) -> Iterator[int]:
    most, used, cached = names
    group = root / path.strip("/")
    # Inside a container the path may be one of the machine around it: the root then is the group.
    for folder in (group, *group.parents):
        limit = "".join(_lines(folder / most))
        if limit.isdigit():
            taken = "".join(_lines(folder / used))
            pages = _numbers(folder / "memory.stat").get(cached, 0)  # given back when needed
            yield int(limit) - int(taken or 0) + pages
        if folder == root:
            return


def _numbers(path: Path) -> dict[str, int]:
    """The numbers of a file with a name and a number in each line."""
    parts = [line.split() for line in _lines(path)]
    return {p[0]: int(p[1]) for p in parts if len(p) > 1 and p[1].isdigit()}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []  # another system, or nothing that may be read
