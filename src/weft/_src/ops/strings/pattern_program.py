"""Regular expressions as small programs over bytes, with the priorities that RE2 gives.

A program is a list of steps. Some consume a byte, all others lead to steps at the same place: a
choice (in order of priority), an edge that has to hold, a slot that notes where a group begins or
ends. Characters beyond ASCII are sequences of bytes, accepted exactly as far as RE2 does.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field

from weft._src.ops.strings.pattern_syntax import (
    LAST,
    AnyByte,
    Characters,
    Choice,
    Edge,
    Group,
    Node,
    NotCoveredError,
    Ranges,
    Repeat,
    Sequence,
    merged,
    tree_of,
)

_MOST_STEPS = 3000
_MOST_GROUPS = 9  # more cannot be asked for by a replacement
_EVERY_BYTE = (1 << 256) - 1

# --- what stands beside a place ------------------------------------------------------------------

OTHER, WORD, LINE_END, BORDER = range(4)  # kinds of bytes; the last is the border of the text


def _bytes_of(text: bytes) -> int:
    return sum([1 << byte for byte in text])


_KIND_MASKS = {
    WORD: _bytes_of(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"),
    LINE_END: _bytes_of(b"\n"),
}
_KIND_MASKS[OTHER] = _EVERY_BYTE & ~_KIND_MASKS[WORD] & ~_KIND_MASKS[LINE_END]


@functools.cache
def edges_between(before: int, after: int) -> frozenset[str]:
    """The edges that hold between two kinds of bytes."""
    same = (before == WORD) == (after == WORD)
    out = {"no word" if same else "word"}
    for side, kind in (("begin", before), ("end", after)):
        out |= {f"{side} text", f"{side} line"} if kind == BORDER else set()
        out |= {f"{side} line"} if kind == LINE_END else set()
    return frozenset(out)


# --- characters as bytes -------------------------------------------------------------------------

_Bytes = tuple[tuple[int, int], ...]  # a range for each byte
_CONTINUED = (0x80, 0xBF)
# RE2 takes overlong and too large forms for characters where all beyond ASCII are allowed.
_BEYOND_ASCII: list[_Bytes] = [
    ((0xC2, 0xDF), _CONTINUED),
    ((0xE0, 0xEF), _CONTINUED, _CONTINUED),
    ((0xF0, 0xF4), _CONTINUED, _CONTINUED, _CONTINUED),
]
_LAST_OF_SIZE = (0x7F, 0x7FF, 0xFFFF)


def _encoded(code: int) -> bytes:
    return chr(code).encode("utf-8", "surrogatepass")


def _sequences(low: int, high: int) -> list[_Bytes]:
    """The encodings of a range of code points."""
    if (low, high) == (0x80, LAST):
        return _BEYOND_ASCII
    for last in _LAST_OF_SIZE:
        if low <= last < high:
            return _sequences(low, last) + _sequences(last + 1, high)
    if high < 0x80:
        return [((low, high),)]
    for bits in (18, 12, 6):  # parts that agree on leading bytes
        rest = (1 << bits) - 1
        if low & ~rest != high & ~rest:
            if low & rest:
                return _sequences(low, low | rest) + _sequences((low | rest) + 1, high)
            if high & rest != rest:
                return _sequences(low, (high & ~rest) - 1) + _sequences(high & ~rest, high)
    return [tuple(zip(_encoded(low), _encoded(high), strict=True))]


def _has_all(ranges: Ranges) -> bool:
    """Whether all characters beyond ASCII are among these."""
    return bool(ranges) and ranges[-1][0] <= 0x80 and ranges[-1][1] == LAST


@functools.lru_cache(256)
def _all_sequences(ranges: Ranges) -> tuple[_Bytes, ...]:
    return tuple([s for low, high in ranges for s in _sequences(low, high)])


# --- the program ---------------------------------------------------------------------------------

BYTES, CHOICE, EDGE, SLOT, MATCH = range(5)


@dataclass
class Step:
    """What is done, with which bytes, edge or slot, and where it goes on."""

    does: int
    what: int | str = 0
    then: list[int] = field(default_factory=list)


class Program:
    """The steps of a pattern; `start` is the first one, `search` one that begins anywhere."""

    def __init__(self, pattern: bytes) -> None:
        tree, self.groups = tree_of(pattern)
        self.steps: list[Step] = []
        # Loops over what can be empty: RE2's order of the ways through these is its own.
        self.has_empty_loops = False
        self._survey(tree)
        self.match = self._add(Step(MATCH))
        self.start = self._compiled(tree, self.match)
        again = self._add(Step(CHOICE))
        self.search = again
        self.steps[again].then = [self.start, *self._of_bytes(_EVERY_BYTE, again)]
        self._number_bytes()

    def _survey(self, tree: Node) -> None:
        """Looks for edges: with these a step has to know the kind of the byte it consumes."""
        nodes = list(_nodes(tree))
        self.has_edges = any(isinstance(node, Edge) for node in nodes)
        # RE2 makes one set of alternatives that are sets. All beyond ASCII is a special one.
        sets = [node.ranges for node in nodes if isinstance(node, Characters)]
        parts = [r for ranges in sets if not _has_all(ranges) for r in ranges]
        if any(isinstance(node, Choice) for node in nodes) and _has_all(merged(parts)):
            raise NotCoveredError

    def _add(self, step: Step) -> int:
        if len(self.steps) >= _MOST_STEPS:
            raise NotCoveredError
        self.steps.append(step)
        return len(self.steps) - 1

    def _choice(self, then: list[int]) -> int:
        return then[0] if len(then) == 1 else self._add(Step(CHOICE, then=then))

    def _of_bytes(self, mask: int, then: int) -> list[int]:
        masks = [mask & kind for kind in _KIND_MASKS.values()] if self.has_edges else [mask]
        return [self._add(Step(BYTES, part, [then])) for part in masks if part]

    # Each of these adds the steps of a node and returns the first; `then` is what follows.

    def _compiled(self, node: Node, then: int) -> int:
        if isinstance(node, Characters):
            return self._characters(_all_sequences(node.ranges), then, {})
        if isinstance(node, AnyByte):
            return self._choice(self._of_bytes(_EVERY_BYTE, then))
        if isinstance(node, Edge):
            return self._add(Step(EDGE, node.kind, [then]))
        if isinstance(node, Sequence):
            for part in reversed(node.parts):
                then = self._compiled(part, then)
            return then
        if isinstance(node, Choice):
            return self._choice([self._compiled(part, then) for part in node.alternatives])
        if isinstance(node, Group):
            return self._group(node, then)
        return self._repeat(node, then)

    def _characters(
        self, sequences: tuple[_Bytes, ...], then: int, known: dict[tuple[_Bytes, ...], int]
    ) -> int:
        """Sequences by their first bytes; what can follow several of these is there once."""
        if sequences in known:
            return known[sequences]
        rests: dict[tuple[int, int], list[_Bytes]] = {}
        for first, *rest in sequences:
            rests.setdefault(first, []).append(tuple(rest))
        masks: dict[int, int] = {}
        for (low, high), tails in rests.items():
            ends = tails == [()]
            target = then if ends else self._characters(tuple(tails), then, known)
            masks[target] = masks.get(target, 0) | (1 << high + 1) - (1 << low)
        steps = [step for target, mask in masks.items() for step in self._of_bytes(mask, target)]
        known[sequences] = self._choice(steps)
        return known[sequences]

    def _group(self, node: Group, then: int) -> int:
        if node.number > _MOST_GROUPS:
            return self._compiled(node.inner, then)
        end = self._add(Step(SLOT, 2 * node.number + 1, [then]))
        return self._add(Step(SLOT, 2 * node.number, [self._compiled(node.inner, end)]))

    def _repeat(self, node: Repeat, then: int) -> int:
        least, most = node.least, node.most
        if most is None:
            self.has_empty_loops |= _can_be_empty(node.inner)
            body, again = self._loop(node, then)
            first = body if least else again
            least = max(least - 1, 0)
        else:
            first = then
            for _ in range(most - least):
                first = self._optional(self._compiled(node.inner, first), then, node.greedy)
        for _ in range(least):
            first = self._compiled(node.inner, first)
        return first

    def _loop(self, node: Repeat, then: int) -> tuple[int, int]:
        """The first step of what is repeated, and the choice behind it."""
        again = self._add(Step(CHOICE))
        body = self._compiled(node.inner, again)
        self.steps[again].then = [body, then] if node.greedy else [then, body]
        return body, again

    def _optional(self, first: int, then: int, greedy: bool) -> int:
        return self._choice([first, then] if greedy else [then, first])

    def _number_bytes(self) -> None:
        """Bytes that no step tells apart share a number."""
        users: dict[int, list[int]] = {}
        for i, step in enumerate(self.steps):
            if step.does == BYTES:
                users.setdefault(int(step.what), []).append(i)
        blocks = list(_KIND_MASKS.values()) if self.has_edges else [_EVERY_BYTE]
        for mask in users:
            blocks = [part for b in blocks for part in (b & mask, b & ~mask) if part]
        self.class_of = bytearray(256)
        self.kinds = [BORDER] * (len(blocks) + 1)  # the last number is the border of the text
        for number, block in enumerate(blocks):
            self.kinds[number] = kind_of(block)
            for byte in range(256):
                if block >> byte & 1:
                    self.class_of[byte] = number
        if len(blocks) > 255:
            raise NotCoveredError
        self.border = len(blocks)
        self.accepting = [
            [i for mask, steps in users.items() if mask & block for i in steps] for block in blocks
        ]


def _nodes(tree: Node) -> Iterator[Node]:
    yield tree
    inner: tuple[Node, ...] = ()
    if isinstance(tree, Sequence):
        inner = tree.parts
    elif isinstance(tree, Choice):
        inner = tree.alternatives
    elif isinstance(tree, Group | Repeat):
        inner = (tree.inner,)
    for part in inner:
        yield from _nodes(part)


def kind_of(mask: int) -> int:
    """The kind of some bytes that are all of one kind; OTHER if they are not."""
    return next((kind for kind, all_such in _KIND_MASKS.items() if not mask & ~all_such), OTHER)


def _can_be_empty(node: Node) -> bool:
    if isinstance(node, Characters | AnyByte):
        return False
    if isinstance(node, Sequence):
        return all(_can_be_empty(part) for part in node.parts)
    if isinstance(node, Choice):
        return any(_can_be_empty(part) for part in node.alternatives)
    if isinstance(node, Group):
        return _can_be_empty(node.inner)
    return isinstance(node, Edge) or node.least == 0 or _can_be_empty(node.inner)
