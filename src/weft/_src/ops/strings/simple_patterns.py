r"""Simple regular expressions, for all strings of a tensor at once.

Most patterns are sequences of characters, classes and groups, some of them repeated. Python's `re`
runs these over all strings joined to one text, which takes a fifth of the time that a call for
each string does. It backtracks, though, so the price of the worst string is computed beforehand: a
repeat can be left in one way only if what follows begins with other characters. Patterns and
strings for which the price may be high, and whatever is written in an unusual way, belong to RE2.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

_LONGEST = 200  # bytes of a pattern: more is hardly simple
_MOST_STEPS = 512  # that backtracking may take for each character of a string

# Sets of characters are numbers: a bit for each ASCII character, and one for all others.
_OTHER = 1 << 128
_LINE_END = 1 << 10
_ANY = (_OTHER << 1) - 1 - _LINE_END


def _set(characters: str) -> int:
    return functools.reduce(lambda out, c: out | 1 << ord(c), characters, 0)


_DIGITS = _set("0123456789")
_WORD = _DIGITS | _set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_SPACE = _set("\t\f\r ")  # a line end, too; but no string holds any where these patterns are used
_CLASSES = {
    "d": _DIGITS, "D": _ANY & ~_DIGITS, "w": _WORD, "W": _ANY & ~_WORD, "s": _SPACE,
    "S": _ANY & ~_SPACE, "t": _set("\t"), "r": _set("\r"), "f": _set("\f"),
}  # fmt: skip


_COUNTED = re.compile(r"\{(\d{1,3})(?:,(\d{1,3}))?\}")


class NotSimpleError(Exception):
    """The pattern has to be left to RE2."""


# --- what a pattern is made of -------------------------------------------------------------------


@dataclass(frozen=True)
class Characters:
    """One character out of a set; `repeat` is like "", "*", "+", "?", "{2,3}", lazy with "?"."""

    allowed: int
    repeat: str = ""


@dataclass(frozen=True)
class Edge:
    """A place between characters: `^`, `$` or a word boundary, as Python writes it."""

    text: str


@dataclass(frozen=True)
class Group:
    """Alternatives, each a sequence."""

    alternatives: tuple[tuple[Part, ...], ...]
    captures: bool


Part = Characters | Edge | Group


class _Reader:
    """Reads a pattern from front to back."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def peek(self, text: str) -> bool:
        return self._pattern.startswith(text, self._at)

    def take(self, text: str) -> bool:
        found = self.peek(text)
        self._at += len(text) * found
        return found

    def next(self) -> str:
        if self.at_end():
            raise NotSimpleError
        self._at += 1
        return self._pattern[self._at - 1]

    def at_end(self) -> bool:
        return self._at == len(self._pattern)

    def alternatives(self) -> tuple[tuple[Part, ...], ...]:
        out: list[tuple[Part, ...]] = []
        parts: list[Part] = []
        while not self.at_end() and not self.peek(")"):
            if self.take("|"):
                out.append(tuple(parts))
                parts = []
            else:
                parts.append(self._part())
        return (*out, tuple(parts))

    def _part(self) -> Part:
        character = self.next()
        if character in "^$":
            return self._alone(Edge(f"(?m:{character})"))
        if character == "\\" and self.take("b"):
            return self._alone(Edge("\\b"))
        if character == "(":
            captures = not self.take("?:")
            group = Group(self.alternatives(), captures)
            if not self.take(")"):
                raise NotSimpleError
            return self._alone(group)
        allowed = _ANY if character == "." else self._set_of(character, ")]{}*+?|")
        return Characters(allowed, self._repeat())

    def _alone(self, part: Part) -> Part:
        if self._repeat():
            raise NotSimpleError
        return part

    def _repeat(self) -> str:
        kind = self._count() or next((c for c in "*+?" if self.take(c)), "")
        kind += "?" if kind and self.take("?") else ""
        if kind and any(self.peek(c) for c in "*+?{"):
            raise NotSimpleError
        return kind

    def _count(self) -> str:
        if not self.peek("{"):
            return ""
        found = _COUNTED.match(self._pattern, self._at)
        if found is None:
            raise NotSimpleError
        least, most = int(found[1]), int(found[2] or found[1])
        if not most or least > most:
            raise NotSimpleError
        self._at = found.end()
        return found.group()

    def _set_of(self, character: str, special: str) -> int:
        if character == "[":
            return self._class()
        if character == "\\":
            escaped = self.next()
            if escaped in _CLASSES:
                return _CLASSES[escaped]
            if escaped.isalnum() or escaped == "\n":
                raise NotSimpleError
            return _set(escaped)
        if character in special or character == "\n":
            raise NotSimpleError
        return _set(character)

    def _class(self) -> int:
        negated = self.take("^")
        out = 0
        while not (out and self.take("]")):
            if self.peek("-]"):
                out |= _set(self.next())
                continue
            if self.peek("["):
                raise NotSimpleError  # maybe a class with a name
            character = self.next()
            first = self._set_of(character, "]-^")
            if self.peek("-") and not self.peek("-]"):
                self.next()
                last = self.next()
                if not (character.isalnum() and last.isalnum() and character <= last):
                    raise NotSimpleError
                first = (_set(last) << 1) - first
            out |= first
        return (_ANY & ~out) if negated else out & ~_LINE_END


# --- what it costs -------------------------------------------------------------------------------


class _Traits(NamedTuple):
    """Of a part, or of a sequence to its end: with what it can begin, whether it can be empty."""

    first: int
    empty: bool


class _Cost:
    """How often backtracking may begin anew: repeats that can be left in many ways, choices."""

    def __init__(self) -> None:
        self.repeats = 0
        self.choices = 1
        self.prefers_empty = False  # somewhere fewer characters are tried before more
        self.goes_on = False  # something follows a repeat, so that it can fail behind it

    def sequence(self, parts: Sequence[Part], follow: _Traits) -> _Traits:
        """The traits of parts and what follows them."""
        for part in reversed(parts):
            follow = self._part(part, follow)
        return follow

    def _part(self, part: Part, follow: _Traits) -> _Traits:
        if isinstance(part, Edge):
            self.goes_on = True
            return _Traits(follow.first, follow.empty)
        if isinstance(part, Group):
            return self._group(part, follow)
        if part.repeat:
            self.repeats += bool(part.allowed & follow.first)
            self.goes_on |= bool(follow.first)
            self.prefers_empty |= part.repeat.endswith("?") and part.repeat != "?"
        if part.repeat.startswith(("*", "?", "{0")):
            return _Traits(part.allowed | follow.first, follow.empty)
        return _Traits(part.allowed, False)

    def _group(self, group: Group, follow: _Traits) -> _Traits:
        found = [self.sequence(parts, follow) for parts in group.alternatives]
        union = 0
        for traits in found:
            if traits.first & union or traits.empty:
                self.choices *= len(found)
            union |= traits.first
        self.prefers_empty |= len(found) > 1
        return _Traits(union, any(traits.empty for traits in found))


# --- as Python writes it -------------------------------------------------------------------------


def _written(parts: Sequence[Part], captures: bool) -> str:
    return "".join([_written_part(part, captures) for part in parts])


def _written_part(part: Part, captures: bool) -> str:
    if isinstance(part, Edge):
        return part.text
    if isinstance(part, Group):
        inner = "|".join([_written(parts, captures) for parts in part.alternatives])
        return f"({inner})" if captures and part.captures else f"(?:{inner})"
    return _written_set(part.allowed) + part.repeat


def _written_set(allowed: int) -> str:
    if allowed.bit_count() == 1 and allowed != _OTHER:
        return re.escape(chr(allowed.bit_length() - 1))
    if allowed == _ANY:
        return "."
    out, start = "", None
    for code in range(129):
        inside = bool(allowed >> code & 1) and code < 128
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            out += f"\\x{start:02x}-\\x{code - 1:02x}"
            start = None
    return f"[{out}\\x80-\\U0010ffff]" if allowed & _OTHER else f"[{out}]"


# --- running it ----------------------------------------------------------------------------------


class SimplePattern:
    """A pattern in Python's form, over strings that are lines of one text."""

    def __init__(self, pattern: str) -> None:
        if len(pattern) > _LONGEST:
            raise NotSimpleError
        reader = _Reader(pattern)
        alternatives = reader.alternatives()
        if not reader.at_end():
            raise NotSimpleError
        whole = Group(alternatives, captures=False)
        self._cost = _Cost()
        self._can_be_empty = self._cost.sequence([whole], _Traits(0, True)).empty
        one_line = _written([whole], captures=False)
        self._lines = re.compile(f"{one_line}(\n)|[^\n]*\n", re.ASCII)
        self._matches = re.compile(f"({_written([whole], captures=True)})", re.ASCII)
        self.groups = self._matches.groups - 1

    def full_matches(self, strings: list[bytes]) -> list[bool] | None:
        """Whether each string matches as a whole; None if that has to be left to RE2."""
        text = self._joined(strings, self._steps(strings))
        return None if text is None else list(map(bool, self._lines.findall(f"{text}\n")))

    def replaced(
        self, strings: list[bytes], template: Sequence[str | int], all_matches: bool
    ) -> list[bytes] | None:
        """The strings with (the first or all) matches replaced; None if RE2 has to do it."""
        if self._can_be_empty and self._cost.prefers_empty:
            return None  # Python goes on behind an empty match in another way
        steps = self._steps(strings) * (self._longest(strings) if self._cost.goes_on else 1)
        text = self._joined(strings, steps)
        if text is None:
            return None
        # Text, match, its groups, text, match, its groups, ..., text.
        found = self._matches.split(text)
        stride = self.groups + 2
        between, groups = found[::stride], [found[1 + i :: stride] for i in range(stride - 1)]
        kept = self._kept(between, groups[0], all_matches)
        columns = [_column(part, groups, kept) for part in template]
        if kept is not None:
            columns.append([m if not k else "" for m, k in zip(groups[0], kept)])
        out = [""] * (len(between) + len(columns) * len(groups[0]))
        out[:: len(columns) + 1] = between
        for i, column in enumerate(columns):
            out[i + 1 :: len(columns) + 1] = column
        return "".join(out).encode().split(b"\n")

    def _kept(self, between: list[str], matches: list[str], all_matches: bool) -> list[bool] | None:
        """Which matches are replaced; None if all are."""
        if not all_matches:  # the first one of each string: before it a line has ended
            return [i == 0 or "\n" in text for i, text in enumerate(between[:-1])]
        if self._can_be_empty:  # nothing is no match right behind a match
            pairs = zip(between, matches)
            return [i == 0 or bool(text or match) for i, (text, match) in enumerate(pairs)]
        return None

    def _steps(self, strings: list[bytes]) -> int:
        """How many steps backtracking may take for each character."""
        repeats = self._longest(strings) ** self._cost.repeats if self._cost.repeats else 1
        return repeats * self._cost.choices

    @staticmethod
    def _longest(strings: list[bytes]) -> int:
        return max(map(len, strings), default=0)

    @staticmethod
    def _joined(strings: list[bytes], steps: int) -> str | None:
        """All strings as lines; None if they are no lines of text, or it takes too long."""
        joined = b"\n".join(strings)
        if not strings or steps > _MOST_STEPS or joined.count(b"\n") != len(strings) - 1:
            return None
        try:
            return joined.decode()
        except UnicodeDecodeError:
            return None


def _column(part: str | int, groups: list[list[str]], kept: list[bool] | None) -> list[str]:
    """What a part of the replacement is for each match."""
    if isinstance(part, str):
        column = [part] * len(groups[0])
    else:
        column = groups[part]
        if None in column:  # a group in an alternative that was not taken
            column = [text or "" for text in column]
    return column if kept is None else [text if k else "" for text, k in zip(column, kept)]


@functools.lru_cache(256)
def simple_pattern(pattern: bytes) -> SimplePattern | None:
    """The pattern if it is simple."""
    try:
        return SimplePattern(pattern.decode("ascii"))
    except (NotSimpleError, UnicodeDecodeError):
        return None
