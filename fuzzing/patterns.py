"""Random regular expressions over random strings: automata in machine code against RE2."""

from __future__ import annotations

import random

import numpy as np

from weft._src.execution.native.string_search import load
from weft._src.ops.strings.pattern_search import Searchers, SearchPattern
from weft._src.ops.strings.pattern_syntax import NotCoveredError
from weft._src.ops.strings.re2_patterns import Re2Pattern, Template
from weft.errors import InvalidArgumentError

_ATOMS = (
    *"abkx0 ", ".", r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", r"\.", r"\n", "[a-c]", "[^ab]",
    "[x-]", "[]a]", "[^k-s]", r"[\d.]", r"[\W_]", "[[:alpha:]]", "[^[:^word:]]", "é", "[à-ü]",
    r"[\x{80}-\x{7ff}]", r"\x{65e5}", "日", "[^日]", r"\pL", r"\P{Greek}", r"[\pN ]", r"\C",
    r"\x41",
)  # fmt: skip
_EDGES = ("^", "$", r"\b", r"\B", r"\A", r"\z")
_REPEATS = ("*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,3}?", "{2,}", "{0}", "{,2}")
_OPENINGS = ("(", "(", "(", "(?:", "(?i:", "(?s:", "(?m:", "(?U:", "(?-m:", "(?P<n{}>")
_FLAGS = ("(?i)", "(?m)", "(?s)", "(?U)", "(?ms-i)")
_LETTERS = (
    *"aabbckKsxA01 _.-<\n", "é", "日", "ſ", "\u212a", "\U0001f600", "λ", "\t",
)  # fmt: skip
_BYTES = (b"\xc3", b"\x80", b"\xff", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xf4\xbf\xbf\xbf", b"\0")

_searchers: list[Searchers | None] = []


def random_pattern(rng: random.Random, depth: int = 3) -> str:
    """A pattern, mostly one that RE2 accepts."""
    out = rng.choice(_FLAGS) if rng.random() < 0.05 else ""
    for _ in range(rng.choice((0, 1, 1, 2, 2, 3))):
        chance = rng.random()
        if chance < 0.12:
            out += rng.choice(_EDGES)
            continue
        if chance < 0.4 and depth:
            opening = rng.choice(_OPENINGS).format(rng.randrange(10**6))
            out += f"{opening}{random_pattern(rng, depth - 1)})"
        else:
            out += rng.choice(_ATOMS)
        if rng.random() < 0.45:
            out += rng.choice(_REPEATS)
    if rng.random() < 0.2 and depth:
        out += f"|{random_pattern(rng, depth - 1)}"
    return out


def random_strings(rng: random.Random, count: int) -> list[bytes]:
    """Short strings, some of which are no text."""
    letters = rng.sample(_LETTERS, k=rng.randint(2, 6))
    out = []
    for _ in range(count):
        pieces = [c.encode() for c in rng.choices(letters, k=rng.randint(0, 8))]
        if rng.random() < 0.2:
            pieces.insert(rng.randint(0, len(pieces)), rng.choice(_BYTES))
        out.append(b"".join(pieces))
    return out


def random_template(rng: random.Random, groups: int) -> Template:
    """Text and groups that there are."""
    parts: list[bytes | int] = [b"<", 0, b">", *range(1, min(groups, 9) + 1)]
    rng.shuffle(parts)
    return parts[: rng.randint(0, len(parts))]


def check_pattern(seed: int) -> str | None:
    """Regular expressions in machine code against RE2."""
    rng = random.Random(seed)
    pattern, strings = random_pattern(rng).encode(), random_strings(rng, 6)
    try:
        judge = Re2Pattern(pattern, by_lines=False)
    except InvalidArgumentError:
        return None  # no pattern of RE2
    try:
        search = SearchPattern(pattern)
    except NotCoveredError:
        return None
    if not _searchers:
        _searchers.append(load())
    searchers = _searchers[0]
    if searchers is None:
        return None
    array = np.array([*strings, None], object)[:-1]
    found = search.full_matches(searchers.full_match, array).tolist()
    if found != judge.full_matches(strings):
        return f"{pattern!r} in {strings!r}: {found} are said to match"
    template = random_template(rng, judge.groups)
    for all_matches in (True, False):
        try:
            replaced = search.replaced(searchers.replace, array, template, all_matches).tolist()
        except NotCoveredError:
            return None
        if replaced != judge.replaced(strings, template, all_matches):
            return f"{pattern!r} -> {template!r} in {strings!r}: {replaced}"
    return None
