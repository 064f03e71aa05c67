"""Patterns in all strings of an array at once, by machine code that reads the bytes objects.

The execution layer offers the machine code (`install_searchers`), which follows the tables of
automata; where one lacks an entry, it stops at that string, and goes on when Python has computed
it. Loading it and building automata takes time: few strings are left to the other engines.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from weft._src.core.aliases import DTypeLike
from weft._src.core.flags import flags
from weft._src.core.tensor import Array
from weft._src.ops.strings.pattern_automata import Back, Forward, Walk
from weft._src.ops.strings.pattern_program import Program
from weft._src.ops.strings.pattern_syntax import NotCoveredError
from weft._src.ops.strings.re2_patterns import Template, re2_pattern

# The words of a job, which is all that machine code is given.
JOB = (
    "objects", "at", "stop", "bytes type", "results", "classes", "kinds", "border", "shift",
    "forward", "forward starts", "back", "back starts", "walk", "walk shift", "parts", "part count",
    "has groups", "all matches", "buffer", "capacity", "trace", "trace capacity", "incref",
    "decref", "new bytes", "status", "place",
)  # fmt: skip
# Why machine code stopped; `place` is that of an entry, or how much is needed.
DONE, NEEDS_FORWARD, NEEDS_BACK, NEEDS_WALK, NEEDS_BUFFER, NEEDS_TRACE, NOT_BYTES, FAILED = range(8)
SLOTS = 20

_AT_ONCE = 1 << 15  # strings, then Python looks for signals and other threads
_WORTH_AUTOMATA = 2_000  # strings a pattern has met
_WORTH_LOADING = 250_000  # strings that all patterns have met; loading takes 0.2 s


class Searchers(NamedTuple):
    """Machine code; each takes the address of a job."""

    full_match: Callable[[int], None]
    replace: Callable[[int], None]


# Set by the execution layer: loads the machine code; None where it cannot run.
load_searchers: Callable[[], Searchers | None]


def install_searchers(load: Callable[[], Searchers | None]) -> None:
    """The execution layer says where the machine code comes from."""
    global load_searchers  # noqa: PLW0603 - a hook, set once at import
    load_searchers = load


class _NotBytesError(Exception):
    """An array holds something else, if only objects of a class made from bytes."""


_PLACES = {name: place for place, name in enumerate(JOB)}
_Words: Any = ctypes.c_int64 * len(JOB)


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


@functools.cache
def _begun() -> list[int]:
    """The words of a job that are the same in all of them."""
    api = ctypes.pythonapi
    words = [0] * len(JOB)
    for name, function in (
        ("incref", api.Py_IncRef),
        ("decref", api.Py_DecRef),
        ("new bytes", api.PyBytes_FromStringAndSize),
    ):
        words[_PLACES[name]] = ctypes.cast(function, ctypes.c_void_p).value or 0
    words[_PLACES["bytes type"]] = id(bytes)
    return words


class _Job:
    """The words of a job by their names, and what they point to."""

    def __init__(self, words: Sequence[int], strings: Array, results: Array) -> None:
        """`words` are those that are known before."""
        self._words = _Words(*words)
        self._kept: dict[str, Array] = {}
        self.address = ctypes.addressof(self._words)
        self.strings = strings
        self.point("objects", strings)
        self.point("results", results)

    def __getitem__(self, name: str) -> int:
        return int(self._words[_PLACES[name]])

    def __setitem__(self, name: str, number: int) -> None:
        self._words[_PLACES[name]] = number

    def point(self, name: str, array: Array) -> None:
        """Hands over an array, which is kept as long as the job."""
        self._kept[name] = array
        self[name] = _address(array)

    def make_room(self, name: str, capacity: str, dtype: DTypeLike, size: int) -> None:
        """Hands over an empty array of at least this size."""
        self.point(name, np.empty(max(2 * size, 1 << 12), dtype))
        self[capacity] = len(self._kept[name])

    def run(self, search: Callable[[int], None], fill: dict[int, Callable[[int], None]]) -> None:
        """Runs to the end; `fill` are remedies by status. Long work is done in several calls."""
        while self["at"] < len(self.strings):
            self["stop"] = min(self["at"] + _AT_ONCE, len(self.strings))
            search(self.address)
            status = self["status"]
            if status == NOT_BYTES:
                raise _NotBytesError
            if status == FAILED:
                raise AssertionError(f"The automata disagree about string {self['at']}.")
            if status != DONE:
                fill[status](self["place"])


class SearchPattern:
    """A pattern as automata. Whatever they cannot do raises NotCoveredError."""

    def __init__(self, pattern: bytes) -> None:
        groups = re2_pattern(pattern).groups  # RE2 refuses what is no pattern
        program = self._program = Program(pattern)
        if program.groups != groups:
            raise NotCoveredError
        self._classes = np.frombuffer(program.class_of, np.uint8)
        kinds = [program.kinds[number] for number in program.class_of]
        self._kinds = np.array(kinds if program.has_edges else [0] * 256, np.uint8)
        self._whole = Forward(program, program.start, ordered=False)
        self._anywhere = Forward(program, program.search, ordered=True)
        self._of_whole, self._of_anywhere = self._begun(self._whole), self._begun(self._anywhere)
        self._back = Back(program)
        self._walk = Walk(self._back)

    def _begun(self, forward: Forward) -> list[int]:
        """The words of all jobs of this pattern: its tables stay where they are."""
        words = _begun().copy()
        for name, array in (
            ("classes", self._classes),
            ("kinds", self._kinds),
            ("forward", forward.table),
            ("forward starts", forward.starts),
        ):
            words[_PLACES[name]] = _address(array)
        words[_PLACES["border"]] = self._program.border
        return words

    def full_matches(self, search: Callable[[int], None], strings: Array) -> Array:
        """Whether each string matches as a whole."""
        out = np.empty(len(strings), np.bool_)
        job = _Job(self._of_whole, strings, out)
        job.run(search, {NEEDS_FORWARD: self._whole.fill})
        return out

    def replaced(
        self, search: Callable[[int], None], strings: Array, template: Template, all_matches: bool
    ) -> Array:
        """The strings with (the first or all) matches replaced."""
        if self._program.has_empty_loops:
            raise NotCoveredError
        out = np.empty(len(strings), object)
        forward, back = self._anywhere, self._back
        job = _Job(self._of_anywhere, strings, out)
        job.point("back", back.table)
        job.point("back starts", back.starts)
        job["shift"] = back.shift
        job["all matches"] = all_matches
        texts = [
            np.frombuffer(part, np.uint8) if isinstance(part, bytes) else part for part in template
        ]
        job.point("parts", _parts(texts))
        job["part count"] = len(template)
        fill: dict[int, Callable[[int], None]] = {
            NEEDS_FORWARD: forward.fill,
            NEEDS_BACK: back.fill,
            NEEDS_WALK: self._walk.fill,
            NEEDS_BUFFER: functools.partial(job.make_room, "buffer", "capacity", np.uint8),
            NEEDS_TRACE: functools.partial(job.make_room, "trace", "trace capacity", np.int32),
        }
        job["has groups"] = any(isinstance(part, int) and part > 0 for part in template)
        job.point("walk", self._walk.table)
        job["walk shift"] = self._walk.shift
        job.run(search, fill)
        return out


def _parts(texts: Sequence[Any]) -> Array:
    """Two words for each part: where text lies and its size; the number of a group and -1."""
    words = [(p, -1) if isinstance(p, int) else (p.ctypes.data, len(p)) for p in texts]
    return np.array(words or [(0, 0)], np.int64)


# --- whether it is worth it ----------------------------------------------------------------------


class _Worth:
    """Counts strings until machine code and automata are worth what they cost."""

    def __init__(self) -> None:
        self._loaded: Searchers | None = None
        self._is_asked = False
        self._seen = 0
        self._seen_by: dict[bytes, int] = {}

    def searchers(self, pattern: bytes, count: int) -> Searchers | None:
        """The machine code, if this pattern in so many strings is for it."""
        if flags.execution == "numpy":
            return None
        if flags.execution != "native":
            if len(self._seen_by) >= 256:
                self._seen_by.clear()
            self._seen += count
            seen = self._seen_by[pattern] = self._seen_by.get(pattern, 0) + count
            if seen < _WORTH_AUTOMATA or self._seen < _WORTH_LOADING:
                return None
        if not self._is_asked:
            self._loaded = load_searchers()
            self._is_asked = True
        return self._loaded


_worth = _Worth()


@functools.lru_cache(64)
def _search_pattern(pattern: bytes, use: str) -> list[SearchPattern]:
    """The pattern, in a list that is emptied when this use of it turns out to be one for RE2."""
    try:
        return [SearchPattern(pattern)]
    except (NotCoveredError, RecursionError):  # the latter for groups in groups in groups...
        return []


def _attempt(
    pattern: bytes, use: str, x: Array, run: Callable[[SearchPattern, Array], Array]
) -> Array | None:
    patterns = _search_pattern(pattern, use)
    try:
        for search in patterns[:1]:
            return run(search, np.ascontiguousarray(x.reshape(-1))).reshape(x.shape)
    except NotCoveredError:
        patterns.clear()
    except _NotBytesError:
        pass
    return None


def full_matches(x: Array, pattern: bytes) -> Array | None:
    """Whether each string matches as a whole; None if that is left to the other engines."""
    searchers = _worth.searchers(pattern, x.size)
    if searchers is None:
        return None
    search = searchers.full_match
    return _attempt(pattern, "match", x, lambda p, strings: p.full_matches(search, strings))


def replaced(x: Array, pattern: bytes, template: Template, all_matches: bool) -> Array | None:
    """The strings with matches replaced; None if that is left to the other engines."""
    searchers = _worth.searchers(pattern, x.size)
    if searchers is None:
        return None
    search = searchers.replace

    def run(found: SearchPattern, strings: Array) -> Array:
        return found.replaced(search, strings, template, all_matches)

    return _attempt(pattern, "replace", x, run)
