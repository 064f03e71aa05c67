r"""Regular expressions as trees, read the way RE2 reads them.

Only patterns that RE2 accepts are read here, so nothing is refused; what is not understood
(`NotCoveredError`) is left to RE2. Sets of characters are sorted tuples of ranges of code points.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

LAST = 0x10FFFF
Ranges = tuple[tuple[int, int], ...]


class NotCoveredError(Exception):
    """The pattern has to be left to RE2."""


# --- what a pattern is made of -------------------------------------------------------------------


@dataclass(frozen=True)
class Characters:
    """One character out of a set."""

    ranges: Ranges


@dataclass(frozen=True)
class AnyByte:
    r"""`\C`."""


@dataclass(frozen=True)
class Edge:
    """A place between characters; `kind` is one of the names in `pattern_program.EDGES`."""

    kind: str


@dataclass(frozen=True)
class Sequence:
    """One after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Choice:
    """The first alternative that leads to a match."""

    alternatives: tuple[Node, ...]


@dataclass(frozen=True)
class Group:
    """What is captured, with its number."""

    number: int
    inner: Node


@dataclass(frozen=True)
class Repeat:
    """So many times; `most` is None if there is no limit."""

    inner: Node
    least: int
    most: int | None
    greedy: bool


Node = Characters | AnyByte | Edge | Sequence | Choice | Group | Repeat


# --- sets of characters --------------------------------------------------------------------------


def merged(ranges: list[tuple[int, int]]) -> Ranges:
    """The ranges in order, those that touch made one."""
    out: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if out and low <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(high, out[-1][1]))
        else:
            out.append((low, high))
    return tuple(out)


def complement(ranges: Ranges) -> Ranges:
    """All other code points."""
    out, at = [], 0
    for low, high in ranges:
        if at < low:
            out.append((at, low - 1))
        at = high + 1
    return (*out, (at, LAST)) if at <= LAST else tuple(out)


def _of(text: str) -> Ranges:
    """Pairs of characters, each a range."""
    pairs = zip(text[::2], text[1::2], strict=True)
    return merged([(ord(low), ord(high)) for low, high in pairs])


_PERL = {"d": _of("09"), "w": _of("09AZ__az"), "s": _of("\t\n\f\r  ")}
_POSIX = {
    "alnum": _of("09AZaz"), "alpha": _of("AZaz"), "ascii": _of("\x00\x7f"),
    "blank": _of("\t\t  "), "cntrl": _of("\x00\x1f\x7f\x7f"), "digit": _of("09"),
    "graph": _of("!~"), "lower": _of("az"), "print": _of(" ~"), "punct": _of("!/:@[`{~"),
    "space": _of("\t\r  "), "upper": _of("AZ"), "word": _PERL["w"], "xdigit": _of("09AFaf"),
}  # fmt: skip
_CONTROLS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
# Two characters beyond ASCII are other forms of ASCII letters.
_FOLDED = {ord(c): (0x212A if c in "kK" else 0x17F,) for c in "kKsS"}


def _folded(ranges: Ranges) -> Ranges:
    """With the other case of every letter; that of letters beyond ASCII is RE2's business."""
    if ranges and ranges[-1][1] > 0x7F:
        raise NotCoveredError
    out = list(ranges)
    for low, high in ranges:
        for code in range(low, high + 1):
            if chr(code).isalpha():
                out += [(other, other) for other in (code ^ 0x20, *_FOLDED.get(code, ()))]
    return merged(out)


@functools.lru_cache(64)
def _named(name: str) -> Ranges:
    r"""A class of Unicode like `\pL`: RE2 says which code points are in it."""
    import re2

    codes = np.arange(LAST + 1, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    text = codes.encode("utf-8", "surrogatepass")
    found = re2.compile(f"(?:{name})+".encode()).finditer(text)
    return tuple([(_code_at(m.start()), _code_at(m.end()) - 1) for m in found])


def _code_at(place: int) -> int:
    """The code point that begins at a byte of the text of all code points."""
    code = 0
    for size, count in enumerate((0x80, 0x780, 0xF800, 0x100000), 1):
        if place < size * count:
            break
        place -= size * count
        code += count
    return code + place // size


# --- reading -------------------------------------------------------------------------------------

_COUNTED = re.compile(r"\{(\d{1,4})(,(\d{1,4})?)?\}")
_FLAGS = re.compile(r"\?([imsU]*)(-([imsU]+))?([:)])")
_NAME = re.compile(r"\?P?<\w+>")
_HEX = re.compile(r"x(?:([0-9a-fA-F]{2})|\{([0-9a-fA-F]{1,8})\})")
_UNICODE = re.compile(r"[pP](?:\{[^}]*\}|[A-Z])")
_POSIX_NAME = re.compile(r"\[:(\^?)([a-z]+):\]")


class _Reader:
    """Reads a pattern from front to back."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._flags: frozenset[str] = frozenset()
        self.groups = 0

    def _take(self, text: str) -> bool:
        found = self._pattern.startswith(text, self._at)
        self._at += len(text) * found
        return found

    def _find(self, form: re.Pattern[str]) -> Any:
        found = form.match(self._pattern, self._at)
        if found is not None:
            self._at = found.end()
        return found

    def _next(self) -> str:
        if self._at == len(self._pattern):
            raise NotCoveredError
        self._at += 1
        return self._pattern[self._at - 1]

    def whole(self) -> Node:
        """The tree of the pattern."""
        tree = self._alternatives()
        if self._at != len(self._pattern):
            raise NotCoveredError
        return tree

    def _alternatives(self) -> Node:
        out: list[Node] = []
        parts: list[Node] = []
        while self._at < len(self._pattern) and self._pattern[self._at] != ")":
            if self._take("|"):
                out.append(Sequence(tuple(parts)))
                parts = []
                continue
            part = self._part()
            if part is not None:
                parts.append(self._repeated(part))
        last = Sequence(tuple(parts))
        return Choice((*out, last)) if out else last

    def _part(self) -> Node | None:
        """The next part; None if it only changes flags."""
        character = self._next()
        if character == "(":
            return self._group()
        if character == "[":
            return Characters(self._class())
        if character == "\\":
            return self._escape()
        if character == ".":
            return Characters(((0, LAST),) if "s" in self._flags else ((0, 9), (11, LAST)))
        if character in "^$":
            scope = "line" if "m" in self._flags else "text"
            return Edge(f"{'begin' if character == '^' else 'end'} {scope}")
        return self._literal(ord(character))

    def _literal(self, code: int) -> Node:
        ranges: Ranges = ((code, code),)
        return Characters(_folded(ranges) if "i" in self._flags else ranges)

    def _group(self) -> Node | None:
        outer = self._flags
        number = 0
        if self._pattern[self._at : self._at + 1] != "?" or self._find(_NAME):
            self.groups += 1
            number = self.groups
        elif (found := self._find(_FLAGS)) is None:
            raise NotCoveredError
        else:
            self._flags = (outer | set(found[1])) - set(found[3] or "")
            if found[4] == ")":
                return None
        inner = self._alternatives()
        if not self._take(")"):
            raise NotCoveredError
        self._flags = outer
        return Group(number, inner) if number else inner

    def _escape(self) -> Node:
        character = self._next()
        edges = {"A": "begin text", "z": "end text", "b": "word", "B": "no word"}
        if character in edges:
            return Edge(edges[character])
        if character == "C":
            return AnyByte()
        self._at -= 1
        ranges = self._class_escape()
        return self._literal(self._escaped_code()) if ranges is None else Characters(ranges)

    def _class_escape(self) -> Ranges | None:
        r"""The set that `\d` or `\pL` is; None if something else follows."""
        found = self._find(_UNICODE)
        if found is not None:
            if "i" in self._flags:
                raise NotCoveredError
            return _named(f"\\{found.group()}")
        name = self._pattern[self._at : self._at + 1]
        if name.lower() not in _PERL or not name:
            return None
        self._at += 1
        return self._signed(_PERL[name.lower()], name.isupper())

    def _signed(self, ranges: Ranges, negated: bool) -> Ranges:
        ranges = _folded(ranges) if "i" in self._flags else ranges
        return complement(ranges) if negated else ranges

    def _escaped_code(self) -> int:
        """The character that follows a backslash."""
        found = self._find(_HEX)
        if found is not None:
            return int(found[1] or found[2], 16)
        character = self._next()
        if character in _CONTROLS:
            return _CONTROLS[character]
        if not character.isascii() or character.isalnum():
            raise NotCoveredError  # numbers in base 8, \Q
        return ord(character)

    def _class(self) -> Ranges:
        negated = self._take("^")
        out: list[tuple[int, int]] = []
        first = True
        while first or not self._take("]"):
            first = False
            out += self._class_part()
        ranges = merged(out)
        return complement(ranges) if negated else ranges

    def _class_part(self) -> Ranges:
        found = self._find(_POSIX_NAME)
        if found is not None:
            return self._signed(_POSIX[found[2]], bool(found[1]))
        if self._take("[:"):
            raise NotCoveredError
        if self._take("\\"):
            ranges = self._class_escape()
            if ranges is not None:
                return ranges
            self._at -= 1
        low = high = self._class_code()
        if self._pattern[self._at : self._at + 1] == "-" and not self._pattern.startswith(
            "-]", self._at
        ):
            self._at += 1
            high = self._class_code()
        if low > high:
            raise NotCoveredError
        ranges = ((low, high),)
        return _folded(ranges) if "i" in self._flags else ranges

    def _class_code(self) -> int:
        return self._escaped_code() if self._take("\\") else ord(self._next())

    def _repeated(self, part: Node) -> Node:
        """The part with the repetition that follows it."""
        limits = self._limits()
        if limits is None:
            return part
        greedy = self._take("?") == ("U" in self._flags)
        if self._limits() is not None:
            raise NotCoveredError
        return Repeat(part, *limits, greedy)

    def _limits(self) -> tuple[int, int | None] | None:
        for sign, limits in {"*": (0, None), "+": (1, None), "?": (0, 1)}.items():
            if self._take(sign):
                return limits
        found = self._find(_COUNTED)
        if found is None:
            return None
        least = int(found[1])
        return least, (int(found[3]) if found[3] else None) if found[2] else least


def tree_of(pattern: bytes) -> tuple[Node, int]:
    """The tree of a pattern that RE2 accepts, and how many groups it has."""
    reader = _Reader(pattern.decode())
    return reader.whole(), reader.groups
