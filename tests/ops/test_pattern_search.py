"""Regular expressions in machine code: what RE2 says, safely, and only where it is worth it."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.support.threads import in_threads

import weft as tf
from fuzzing.patterns import check_pattern, random_pattern
from weft._src.ops.strings import pattern_search
from weft._src.ops.strings.pattern_automata import Walk
from weft._src.ops.strings.pattern_search import SearchPattern, load_searchers
from weft._src.ops.strings.pattern_syntax import NotCoveredError
from weft._src.ops.strings.re2_patterns import Re2Pattern, Template

full_match, replace = tf.strings.regex_full_match, tf.strings.regex_replace


@pytest.fixture(name="native")
def _native(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every count of strings is worth it."""
    monkeypatch.setattr(tf.config, "execution", "native")


def strings_of(items: list[bytes]) -> np.ndarray[Any, Any]:
    out = np.empty(len(items), object)
    out[:] = items
    return out


def replaced(pattern: bytes, items: list[bytes], template: Template) -> list[bytes]:
    searchers = load_searchers()
    assert searchers is not None
    search = SearchPattern(pattern)
    found: list[bytes] = search.replaced(
        searchers.replace, strings_of(items), template, True
    ).tolist()
    return found


# --- it means what RE2 says ----------------------------------------------------------------------


@pytest.mark.parametrize("first", range(0, 600, 200))
def test_random_patterns_mean_what_re2_says(first: int) -> None:
    for seed in range(first, first + 200):
        assert check_pattern(seed) is None


def test_most_random_patterns_are_covered() -> None:
    covered = 0
    for seed in range(200):
        try:
            SearchPattern(random_pattern(random.Random(seed)).encode())
        except NotCoveredError:
            continue
        covered += 1
    assert covered > 180


def test_a_wrong_automaton_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    best = Walk._best

    def no_slots(self: Walk, *args: Any) -> int:
        return best(self, *args) & 0xFFFFFFFF

    monkeypatch.setattr(Walk, "_best", no_slots)
    assert any(check_pattern(seed) for seed in range(40))


@pytest.mark.parametrize(
    "pattern",
    [
        rb"\b\w+\b", rb"(?m)^(.)|(.)$", rb"(a|ab)(c|bcd)(d*)", rb"(?:(a)|(b)|c)+?c", rb"(?i)(K)s+",
        rb"([^<]*)<([^>]+)>", rb"(\d{1,3})\.(\d{1,3})", rb"(\pL+)(\PL)", rb"[\x{100}-\x{20000}]+",
        rb"(?s)(.)(?-s:.)", rb"()|a", rb"\B(.)\B", rb"(\C)\C", rb"[[:^alpha:]]([[:punct:]])", b"",
    ],
)  # fmt: skip
def test_groups_are_those_of_re2(pattern: bytes) -> None:
    rng = random.Random(pattern)
    letters = [*b"abcdks<> 019.\n_", *"éK日\U00020000".encode()]
    items = [bytes(rng.choices(letters, k=rng.randint(0, 12))) for _ in range(300)]
    items += [text.encode() for text in ("aébK日\U00020000", "", "<é> 日ab")]
    judge = Re2Pattern(pattern, by_lines=False)
    template: Template = [b"[", *range(judge.groups + 1), b"]"]
    assert replaced(pattern, items, template) == judge.replaced(items, template, True)


# --- every way to it -----------------------------------------------------------------------------


def _spied(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    seen: list[Any] = []
    attempt = pattern_search._attempt

    def spying(*args: Any) -> Any:
        seen.append(attempt(*args))
        return seen[-1]

    monkeypatch.setattr(pattern_search, "_attempt", spying)
    return seen


CALLS: list[tuple[Callable[[Any], Any], list[Any]]] = [
    (lambda x: full_match(x, "a+"), [True, False, False, True]),
    (lambda x: tf.raw_ops.RegexFullMatch(input=x, pattern="a+"), [True, False, False, True]),
    (lambda x: tf.raw_ops.StaticRegexFullMatch(input=x, pattern="a+"), [True, False, False, True]),
    (lambda x: replace(x, "(a+)b?", r"<\1>"), [b"<a>", b"b", b"", b"<aa>"]),
    (
        lambda x: tf.raw_ops.StaticRegexReplace(input=x, pattern="a", rewrite="-"),
        [b"-", b"b", b"", b"--"],
    ),
]


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize(("call", "expected"), CALLS)
def test_eager_graphs_and_raw_ops(
    call: Callable[[Any], Any], expected: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = _spied(monkeypatch)
    x = tf.constant(["a", "b", "", "aa"])
    assert call(x).numpy().tolist() == expected
    assert tf.function(call)(x).numpy().tolist() == expected
    assert tf.function(call)(tf.reshape(x, [2, 1, 2])).shape == [2, 1, 2]
    assert len(seen) == 3
    assert all(out is not None for out in seen)


@pytest.mark.usefixtures("native")
def test_any_strides_and_shapes() -> None:
    items = np.array([[b"ab", b"b"], [b"a", b""], [b"aab", b"bab"]], object)
    for view in (items, items.T, items[::-1, 1], items[:, :0], items[0, 0:1].reshape(())):
        x = tf.constant(view)
        out = replace(x, "a", "-")
        assert out.shape == view.shape
        expected = [s.replace(b"a", b"-") for s in view.reshape(-1).tolist()]
        assert tf.reshape(out, [-1]).numpy().tolist() == expected
        assert full_match(x, "a*b").shape == view.shape


@pytest.mark.usefixtures("native")
def test_long_strings_and_results() -> None:
    long = b"ab" * 50_000
    out = replace([long, b"x", long], "(a)(b)", r"\2\1" * 20).numpy().tolist()
    assert out == [b"ba" * 20 * 50_000, b"x", b"ba" * 20 * 50_000]
    assert full_match([long, long + b"a"], "(ab)+").numpy().tolist() == [True, False]


@pytest.mark.usefixtures("native")
def test_more_is_read_than_at_one_go() -> None:
    items = [b"ab" * 4_000_000, b"x"] * 6
    assert full_match(items, "(ab)+").numpy().tolist() == [True, False] * 6
    out = replace(items, "^ab", "").numpy()
    assert [len(s) for s in out] == [7_999_998, 1] * 6


# --- objects -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("native")
def test_strings_without_a_match_stay_the_same_objects() -> None:
    x = strings_of([bytes(20), b"abc" * 10])

    def counts() -> list[int]:
        return [sys.getrefcount(x[i]) for i in range(2)]

    before = counts()
    out = pattern_search.replaced(x, b"b", [b"-"], True)
    assert out is not None
    assert out[0] is x[0]
    assert counts() == [before[0] + 1, before[1]]
    del out
    assert counts() == before


@pytest.mark.usefixtures("native")
def test_no_reference_is_lost() -> None:
    x = tf.constant([b"abc", b"xyz"] * 5000)
    before = sys.getrefcount(None)
    for _ in range(3):
        replace(x, "(b)", r"\1\1")
    assert abs(sys.getrefcount(None) - before) < 5000


class _Bytes(bytes):
    """Not exactly bytes."""


@pytest.mark.parametrize("other", [_Bytes(b"ab"), "ab", None, 3])
def test_other_objects_are_refused(other: Any) -> None:
    searchers = load_searchers()
    assert searchers is not None
    strings = np.array([b"ab", other], object)
    search = SearchPattern(b"a.*")
    with pytest.raises(pattern_search._NotBytesError):
        search.full_matches(searchers.full_match, strings)
    with pytest.raises(pattern_search._NotBytesError):
        search.replaced(searchers.replace, strings, [b"-"], True)


@pytest.mark.usefixtures("native")
def test_classes_made_from_bytes_are_left_to_others() -> None:
    x = np.array([b"ab", _Bytes(b"ab")], object)
    assert pattern_search.full_matches(x, b"a.") is None
    x[1] = b"ab"
    found = pattern_search.full_matches(x, b"a.")
    assert found is not None
    assert found.tolist() == [True, True]


def test_nothing_is_read_behind_a_string() -> None:
    """Bytes objects without the zero that CPython puts behind them, before a forbidden page."""
    script = r"""
import ctypes, random
import numpy as np
import weft as tf
from weft._src.execution.native.machine import guarded
from weft._src.ops.strings.pattern_search import SearchPattern, load_searchers

def guarded_string(text):
    header = ctypes.string_at(id(text), bytes.__basicsize__ - 1)
    pages = guarded._Pages.of(len(header) + len(text))
    place = pages.place(len(header) + len(text))
    pages[place : place + len(header) + len(text)] = header + text
    ctypes.c_ssize_t.from_address(pages.address + place).value = 1 << 20  # lives for ever
    return pages, pages.address + place

rng = random.Random(0)
texts = [bytes(rng.choices(b"ab<>\xc3\xa9\xe6", k=k % 9)) for k in range(120)]
kept = [guarded_string(text) for text in texts]
strings = np.empty(len(texts), object)
addresses = (ctypes.c_void_p * len(kept))(*[address for _, address in kept])
ctypes.memmove(strings.ctypes.data, addresses, 8 * len(kept))
plain = np.array([*texts, None], object)[:-1]
searchers = load_searchers()
patterns = (rb"a*", rb"(a+)(b?)", rb".", rb"\b", rb"$", rb"(?s).*", rb"\C", rb"<([^>]*)>?", rb"\pL")
for pattern in patterns:
    search = SearchPattern(pattern)
    for template in ([b"-"], [0, 0], [1] if b"([" in pattern or b"(a" in pattern else [0]):
        out, expected = [
            search.replaced(searchers.replace, x, template, True).tolist() for x in (strings, plain)
        ]
        assert [len(text) for text in out] == [len(text) for text in expected]
    out = [search.full_matches(searchers.full_match, x).tolist() for x in (strings, plain)]
    assert out[0] == out[1]
strings[...] = None
print("fine")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr[-2000:]


# --- what it is not for --------------------------------------------------------------------------


@pytest.mark.usefixtures("native")
def test_too_many_states_are_left_to_re2(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = _spied(monkeypatch)
    rng = random.Random(0)
    items = ["".join(rng.choices("ab", k=60)) for _ in range(3000)]
    pattern = "[ab]*a[ab]{18}"
    expected = [s[-19] == "a" for s in items]
    assert full_match(items, pattern).numpy().tolist() == expected
    assert seen == [None]
    assert pattern_search._search_pattern(pattern.encode(), "match") == []


@pytest.mark.parametrize(
    "pattern", [rb"\Qa\E", rb"\101", "(?i)é".encode(), rb"(?i)\pL", rb"\x{e9}|[^\x{e9}]"]
)
def test_what_is_not_covered_says_so(pattern: bytes) -> None:
    with pytest.raises(NotCoveredError):
        SearchPattern(pattern)


@pytest.mark.usefixtures("native")
def test_many_groups_in_groups_are_left_to_re2() -> None:
    for depth in (50, 200, 600, 900):
        pattern = "(" * depth + "a" + ")" * depth
        assert full_match(["a", "b"], pattern).numpy().tolist() == [True, False]
        assert replace(["ab"], pattern, r"<\1>").numpy().tolist() == [b"<a>b"]


def test_sets_that_make_up_all_characters_are_left_to_re2() -> None:
    """RE2 makes one set of them, which accepts bytes that are no text."""
    for pattern in ("日|[^日]", "(?:é日|é[^日])", r"\pL|\PL"):
        with pytest.raises(NotCoveredError):
            SearchPattern(pattern.encode())
    SearchPattern("日|[^a]|é".encode())


def test_without_machine_code_it_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.config, "execution", "numpy")
    monkeypatch.setattr(pattern_search, "_attempt", None)
    assert full_match(["ab"] * 300_000, "a+b").numpy().all()


def test_few_strings_do_not_load_llvm() -> None:
    script = """
import sys, weft as tf
x = tf.constant(["ab", "c"] * 5000)
for _ in range(3):
    assert tf.strings.regex_full_match(x, "a+b").numpy().sum() == 5000
assert "llvmlite" not in sys.modules
x = tf.constant(["ab", "c"] * 150_000)
assert tf.strings.regex_full_match(x, "a+b").numpy().sum() == 150_000
assert "llvmlite" in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_threads_share_a_pattern() -> None:
    rng = random.Random(0)
    items = [bytes(rng.choices(b"abc01 .", k=rng.randint(0, 30))) for _ in range(2000)]
    pattern = rb"(\w+)[ .](\d{1,2}|[a-c]+b)"
    expected = Re2Pattern(pattern).replaced(items, [2, b"|", 1], True)
    search, searchers = SearchPattern(pattern), load_searchers()
    assert searchers is not None
    run = searchers.replace
    for out in in_threads(
        lambda _: search.replaced(run, strings_of(items), [2, b"|", 1], True).tolist()
    ):
        assert out == expected
