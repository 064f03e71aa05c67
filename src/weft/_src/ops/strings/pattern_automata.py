"""Programs of patterns as automata, whose tables are filled as far as strings need them.

Three automata find everything RE2 does: one goes forward and finds where the match with the highest
priority ends, one goes back from there and finds where it begins, and one walks from the beginning
to the end and notes where groups are, choosing at every byte the first way from which the end can
be reached: what the second one has met tells which these are.

An entry of a table is 0 as long as it is not known. Edges depend on the next byte, so what is true
of a place is told by the entry for the byte behind it (before it, going back).
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from weft._src.ops.strings.pattern_program import (
    BORDER,
    BYTES,
    CHOICE,
    EDGE,
    MATCH,
    SLOT,
    Program,
    edges_between,
    kind_of,
)
from weft._src.ops.strings.pattern_syntax import NotCoveredError

_MOST_STATES = 2048
_MOST_STATES_WALKED = 512  # of `Back`, for patterns with groups: the table of `Walk` has all pairs
_MOST_WORK = 2_000_000  # for filling a table, about a second
DEAD, DEAD_AND_FOUND = -1, -2
FOUND = 1  # the lowest bit of an entry; the others are the place of the next state's row


class Automaton:
    """States in the order in which they were met, and what each does with each class of bytes.

    Threads may meet the same state at once: a number is known by its key before anyone sees it.
    """

    def __init__(self, program: Program, most_states: int = _MOST_STATES) -> None:
        self.program = program
        self.most_states = most_states
        self.shift = program.border.bit_length()  # rows of a power of two, with the border
        self.table = np.zeros(most_states << self.shift, np.int32)
        self.keys: dict[int, Any] = {}
        self._numbers: dict[Hashable, int] = {}
        self._unused = itertools.count(1)
        self._work = itertools.count(step=100 + len(program.steps))

    def row_of(self, key: Hashable) -> int:
        """The place of a state's row."""
        number = self._numbers.get(key)
        if number is None:
            new = next(self._unused)
            if new >= self.most_states:
                raise NotCoveredError
            self.keys[new] = key
            number = self._numbers.setdefault(key, new)
        return number << self.shift

    def fill(self, place: int) -> None:
        """Computes an entry."""
        if next(self._work) >= _MOST_WORK:
            raise NotCoveredError
        symbol = place & (1 << self.shift) - 1
        found, key = self._step(self.keys[place >> self.shift], symbol)
        if key is None:
            self.table[place] = DEAD_AND_FOUND if found else DEAD
        else:
            self.table[place] = self.row_of(key) << 1 | (FOUND if found else 0)

    def _step(self, key: Any, symbol: int) -> tuple[bool, Hashable]:
        """Whether there is a match before the symbol; the next state, None if there is none."""
        raise NotImplementedError


class Forward(Automaton):
    """States are steps in the order of their priority, the kind of the byte before, and whether
    an edge has to be decided.

    With `ordered` a match ends everything of lower priority, so the last match that is found is
    RE2's; without, the entries for the border tell whether whole strings match.
    """

    def __init__(self, program: Program, start: int, ordered: bool) -> None:
        super().__init__(program)
        self._ordered = ordered
        starts = [self.row_of(self._key([start], kind)) for kind in range(BORDER + 1)]
        self.starts = np.array(starts, np.int32)

    def _key(self, steps: list[int], kind: int) -> tuple[tuple[int, ...], int, bool]:
        """Where edges decide, all ways are followed anew when they are known: which way is the
        first one to a step depends on them.
        """
        reached = self._reached(steps, None)
        if any(self.program.steps[i].does == EDGE for i in reached):
            return tuple(steps), kind, True
        return tuple(reached), 0, False

    def _reached(self, first: Iterable[int], edges: frozenset[str] | None) -> list[int]:
        """Steps that consume a byte, and those that wait for an edge as long as none are known."""
        steps = self.program.steps
        out: list[int] = []
        seen = set()
        stack = list(first)[::-1]
        while stack:
            i = stack.pop()
            if i in seen:
                continue
            seen.add(i)
            step = steps[i]
            if step.does in (CHOICE, SLOT) or (edges and step.what in edges and step.does == EDGE):
                stack += step.then[::-1]
            elif step.does != EDGE or edges is None:
                out.append(i)
                if step.does == MATCH and self._ordered:
                    break
        return out if self._ordered else sorted(out)

    def _step(self, key: Any, symbol: int) -> tuple[bool, Hashable]:
        program = self.program
        reached, before, waits = key
        kind = program.kinds[symbol]
        if waits:
            reached = self._reached(reached, edges_between(before, kind))
        found = program.match in reached
        if symbol == program.border:
            return found, None
        accepting = set(program.accepting[symbol])
        then = [program.steps[i].then[0] for i in reached if i in accepting]
        following = self._key(list(dict.fromkeys(then)), kind)
        return found, following if following[0] else None


class Back(Automaton):
    """States are the steps from which the end can be reached, and the kind of the byte behind."""

    def __init__(self, program: Program) -> None:
        super().__init__(program, _MOST_STATES_WALKED if program.groups else _MOST_STATES)
        self._reachable: dict[tuple[int, frozenset[str]], int] = {}
        end = 1 << program.match
        starts = [self.row_of((end, self._kind(kind))) for kind in range(BORDER + 1)]
        self.starts = np.array(starts, np.int32)

    def _kind(self, kind: int) -> int:
        return kind if self.program.has_edges else 0

    def _reaches(self, first: int, edges: frozenset[str]) -> int:
        """A bit for every step that consumes a byte, or ends, right behind this one."""
        known = self._reachable.get((first, edges))
        if known is None:
            known = self._reachable[first, edges] = self._found_from(first, edges)
        return known

    def _found_from(self, first: int, edges: frozenset[str]) -> int:
        out, seen, stack = 0, set(), [first]
        while stack:
            i = stack.pop()
            step = self.program.steps[i]
            if i in seen or (step.does == EDGE and step.what not in edges):
                continue
            seen.add(i)
            if step.does in (BYTES, MATCH):
                out |= 1 << i
            else:
                stack += step.then
        return out

    def _step(self, key: Any, symbol: int) -> tuple[bool, Hashable]:
        program = self.program
        alive, behind = key
        kind = program.kinds[symbol]
        edges = edges_between(self._kind(kind), behind)
        found = bool(self._reaches(program.start, edges) & alive)
        if symbol == program.border:
            return found, None
        before = 0
        for i in program.accepting[symbol]:
            if self._reaches(program.steps[i].then[0], edges) & alive:
                before |= 1 << i
        return found, (before, self._kind(kind)) if before else None


class Walk:
    """From a step and a state of `Back` to the next step, with the slots on the way.

    Its states are: 1, the end; 2 + kind, the beginning behind a byte of this kind; and the steps
    that consume a byte, from `_FIRST` on.
    """

    _FIRST = 2 + BORDER + 1

    def __init__(self, back: Back) -> None:
        self._back = back
        self._steps = back.program.steps
        self.shift = (back.most_states - 1).bit_length()
        self.table = np.zeros((self._FIRST + len(self._steps)) << self.shift, np.int64)

    def fill(self, place: int) -> None:
        """Computes an entry: the next state, and above 32 bits one for every slot."""
        state, met = place >> self.shift, place & (1 << self.shift) - 1
        alive, behind = self._back.keys[met]
        if state < self._FIRST:
            kind, first = state - 2, self._back.program.start
        else:
            step = self._steps[state - self._FIRST]
            kind, first = kind_of(int(step.what)), step.then[0]
        kind = kind if self._back.program.has_edges else 0
        self.table[place] = self._best(first, edges_between(kind, behind), alive)

    def _best(self, first: int, edges: frozenset[str], alive: int) -> int:
        """The way of the highest priority."""
        seen = set()
        stack = [(first, 0)]
        while stack:
            i, slots = stack.pop()
            step = self._steps[i]
            if i in seen or (step.does == EDGE and step.what not in edges):
                continue
            seen.add(i)
            if alive >> i & 1:
                following = 1 if step.does == MATCH else self._FIRST + i
                return slots << 32 | following
            if step.does == SLOT:
                slots |= 1 << int(step.what)
            stack += [(then, slots) for then in step.then[::-1] if step.does != BYTES]
        raise AssertionError("No way leads to the end that was found.")
