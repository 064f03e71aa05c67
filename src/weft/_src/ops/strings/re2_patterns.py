"""Regular expressions run by RE2, in a time that grows with the text only.

A call of RE2 takes a microsecond, so where lines can stand for strings it searches all of them at
once: what does not match then costs next to nothing.
"""

from __future__ import annotations

import functools
import itertools
import re
from bisect import bisect_right
from collections.abc import Callable
from typing import Any

from weft._src.errors import InvalidArgumentError

Template = list[bytes | int]  # text, and numbers of groups

# What speaks of the whole text, or changes what lines are; groups with a name or without are fine.
_NOT_OF_LINES = re.compile(rb"\\[AzQC]|\(\?(?!:|P<|i:|i\))")


class Re2Pattern:
    """A pattern of RE2; InvalidArgumentError, with RE2's reason, if it is none.

    Without `by_lines` every string is searched by itself.
    """

    def __init__(self, pattern: bytes, by_lines: bool = True) -> None:
        self._pattern = pattern
        self._whole = _compiled(pattern, pattern)
        self._by_lines = by_lines and _NOT_OF_LINES.search(pattern) is None
        self.groups: int = self._whole.groups

    def full_matches(self, strings: list[bytes]) -> list[bool]:
        """Whether each string matches as a whole."""
        text = self._joined(strings)
        if text is None:
            return [self._whole.fullmatch(s) is not None for s in strings]
        search = self._for_lines(b"(?m)^(?:%b)$").search
        starts = [0, *itertools.accumulate([len(s) + 1 for s in strings])]
        out = [False] * len(strings)
        at = 0
        while at <= len(text) and (match := search(text, at)) is not None:
            out[bisect_right(starts, match.start()) - 1] = True
            at = match.end() + 1
        return out

    def replaced(self, strings: list[bytes], template: Template, all_matches: bool) -> list[bytes]:
        """The strings with (the first or all) matches replaced."""
        text = self._joined(strings)
        if text is None:
            search = self._whole.search
            return [_replaced(s, search, template, all_matches, b"") for s in strings]
        search = self._for_lines(b"(?m)%b").search
        return _replaced(text, search, template, all_matches, b"\n").split(b"\n")

    def _joined(self, strings: list[bytes]) -> bytes | None:
        """All strings as lines; None if they are none."""
        if not self._by_lines or not strings:
            return None
        joined = b"\n".join(strings)
        return joined if joined.count(b"\n") == len(strings) - 1 else None

    @functools.cache  # noqa: B019 - two forms at most
    def _for_lines(self, form: bytes) -> Any:
        return _compiled(form % self._pattern, self._pattern, never_nl=True)


def _compiled(form: bytes, pattern: bytes, **chosen: bool) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    for name, value in chosen.items():
        setattr(options, name, value)
    try:
        return re2.compile(form, options)
    except re2.error as error:
        reason = error.args[0] if error.args else "it cannot be read"
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
        raise InvalidArgumentError(
            None, None, f"The regular expression {pattern!r} is not valid: {text}."
        ) from None


def _replaced(
    text: bytes,
    search: Callable[[bytes, int], Any],
    template: Template,
    all_matches: bool,
    line_end: bytes,
) -> bytes:
    """A text with matches replaced: all, or the first one of each line, if it has lines.

    By RE2's rule nothing is no match right behind a match: the search goes on with the next
    character.
    """
    out: list[bytes] = []
    at, last = 0, -1
    while at <= len(text) and (match := search(text, at)) is not None:
        start, end = match.span()
        if start == end == last:
            size = _character_size(text, at)
            out.append(text[at : at + size])
            at += size
            continue
        out.append(text[at:start])
        out += [part if isinstance(part, bytes) else match[part] or b"" for part in template]
        at = last = end
        if not all_matches:
            at = text.find(line_end, end) + 1 if line_end else 0
            if not at:
                return b"".join([*out, text[end:]])
            out.append(text[end:at])
    return b"".join([*out, text[at:]])


def _character_size(text: bytes, at: int) -> int:
    """How many bytes the character at a place has; one if it is none."""
    lead = text[at] if at < len(text) else 0
    size = 1 + (lead >= 0xC2) + (lead >= 0xE0) + (lead >= 0xF0)
    try:
        text[at : at + size].decode("utf-8", "surrogatepass")  # as RE2 sees it
    except UnicodeDecodeError:
        return 1
    return size


@functools.lru_cache(256)
def re2_pattern(pattern: bytes) -> Re2Pattern:
    """The pattern, compiled once."""
    return Re2Pattern(pattern)
