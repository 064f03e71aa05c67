"""Regular expressions: RE2's, in linear time, whichever engine runs them.

Expected values that are not plain to see were computed by TensorFlow.
"""

from __future__ import annotations

import random
import subprocess
import sys
from typing import Any

import pytest

import weft as tf
from weft._src.ops.strings.re2_patterns import re2_pattern
from weft._src.ops.strings.simple_patterns import simple_pattern

full_match, replace = tf.strings.regex_full_match, tf.strings.regex_replace

# --- what RE2 means ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "pattern", "rewrite", "every", "first"),
    [
        ("baac", "a*", "-", b"-b-c-", b"-baac"),
        ("aéb", "x*", "-", b"-a-\xc3\xa9-b-", b"-a\xc3\xa9b"),
        (b"a\xc3b", "x*", "-", b"-a-\xc3-b-", b"-a\xc3b"),
        (b"a\xc3b", r"\C", "-", b"---", b"-\xc3b"),
        (b"\xc3", ".", "-", b"\xc3", b"\xc3"),
        ("é", ".", "-", b"-", b"-"),
        ("a\nb", "^b", "-", b"a\nb", b"a\nb"),
        ("a\nb", "(?m)^b", "-", b"a\n-", b"a\n-"),
        ("a\nb", "a$", "-", b"a\nb", b"a\nb"),
        ("a\na", "a", "-", b"-\n-", b"-\na"),
        ("aé", r"\pL", "-", b"--", b"-\xc3\xa9"),
        ("é", r"\w", "-", b"\xc3\xa9", b"\xc3\xa9"),
        ("a\vb", r"\s", "-", b"a\vb", b"a\vb"),
        ("ab", r"\Qa\E", "-", b"-b", b"-b"),
        ("a.b]", "[.]|[]]", "-", b"a-b-", b"a-b]"),
        ("abab", "(?U)a.*", "-", b"-b-b", b"-bab"),
        ("abab", "a.*?", "-", b"-b-b", b"-bab"),
        ("aa", "a*?", "-", b"-a-a-", b"-aa"),
        ("ab", "(?P<n>a)", r"\1\1", b"aab", b"aab"),
        ("abc", "(b)|(c)", r"<\1|\2|\0>\\", b"a<b||b>\\<|c|c>\\", b"a<b||b>\\c"),
        ("ab", "a{,2}", "-", b"ab", b"ab"),
        ("aaa", "a{2}", "-", b"-a", b"-a"),
        (b"a\xed\xa0\x80b", "x*", "-", b"-a-\xed\xa0\x80-b-", b"-a\xed\xa0\x80b"),
        (b"\xe0\x80\x80", "x*", "-", b"-\xe0-\x80-\x80-", b"-\xe0\x80\x80"),
        (b"\xe0\x80\x80", ".", "-", b"-", b"-"),
        ("ab", r"(?:(?:|.)*)+?", r"<\0>", b"<ab>", b"<ab>"),
        ("ab", r"(?:|.)*", r"<\0>", b"<>a<>b<>", b"<>ab"),
        ("k\u212as", "(?i)K", "-", b"--s", b"-\xe2\x84\xaas"),
        ("ab", "(?:(a)|b)*", r"<\1>", b"<a>", b"<a>"),
    ],
)
@pytest.mark.parametrize("execution", ["numpy", "native"])
def test_replace(
    text: Any,
    pattern: str,
    rewrite: str,
    every: bytes,
    first: bytes,
    execution: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tf.config, "execution", execution)
    assert replace(text, pattern, rewrite).numpy() == every
    assert replace(text, pattern, rewrite, replace_global=False).numpy() == first
    # Among others, and in a graph; beside it is a string without a match.
    traced = tf.function(lambda x, p: replace(x, p, rewrite), jit_compile=False)
    both = tf.constant([text, b"", text])
    assert traced(both, tf.constant(pattern)).numpy().tolist()[::2] == [every, every]


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("a{1001}", r"invalid repetition size: \{1001\}"),
        ("a(?=b)", r"invalid perl operator: \(\?="),
        ("[[:foo:]]", r"invalid character class range: \[:foo:\]"),
        ("[b-a]", "invalid character class range: b-a"),
        ("(", r"missing \): \("),
        ("a**", r"bad repetition operator: \*\*"),
        (r"\8", r"invalid escape sequence"),
        ("\\", "trailing"),
        (b"\xff", "invalid UTF-8"),
        ("((((((((((a{100}){100}){100}){100}){100}){100}){100}){100}){100}){100})", "not valid"),
    ],
)
@pytest.mark.parametrize("execution", ["numpy", "native"])
def test_patterns_that_are_not_valid(
    pattern: Any, reason: str, execution: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tf.config, "execution", execution)
    for call in (full_match, lambda x, p: replace(x, p, "-")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"is not valid: .*{reason}|not v"):
            call("a", pattern)
    with pytest.raises(tf.errors.InvalidArgumentError, match=reason):
        full_match("a", pattern)


@pytest.mark.parametrize("rewrite", [r"\2", "\\", r"\x"])
def test_rewrites_that_are_not_valid(rewrite: str) -> None:
    for pattern in ("(a)", r"(a)\pL*"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="is no group of the pattern"):
            replace("a", pattern, rewrite)


# --- both engines say the same -------------------------------------------------------------------

_ATOMS = (
    *"abx0 ", ".", r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", r"\.", "[a-c]", "[^ab]", "[x-]",
    "[.-]", r"[\d.]", "(a|b)", "(ab?|x)", "(?:a|)", "(x)", "^", "$", r"\b",
)  # fmt: skip
_LETTERS = (*"abcx01 .-<", "é", "日", "\t")


def random_case(seed: int) -> tuple[bytes, list[bytes]]:
    rng = random.Random(seed)
    pattern = ""
    for _ in range(rng.randint(1, 4)):
        atom = rng.choice(_ATOMS)
        pattern += atom
        if not atom.startswith(("(", "^", "$", "\\b")):
            pattern += rng.choice(
                ("", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,3}?")
            )
    strings = ["".join(rng.choices(_LETTERS, k=rng.randint(0, 7))) for _ in range(5)]
    return pattern.encode(), [s.encode() for s in strings]


@pytest.mark.parametrize("first", range(0, 1500, 300))
def test_simple_patterns_mean_what_re2_says(first: int) -> None:
    simple_ones = 0
    for seed in range(first, first + 300):
        pattern, strings = random_case(seed)
        simple, judge = simple_pattern(pattern), re2_pattern(pattern)
        assert simple is not None, pattern
        alone = [judge.full_matches([s])[0] for s in strings]
        assert judge.full_matches(strings) == alone, pattern
        assert simple.full_matches(strings) in (None, alone), pattern  # None: left to RE2
        simple_ones += simple.full_matches(strings) is not None
        for every in (True, False):
            expected = [judge.replaced([s], [b"<", 0, b">"], every)[0] for s in strings]
            assert judge.replaced(strings, [b"<", 0, b">"], every) == expected, pattern
            found = simple.replaced(strings, ["<", 0, ">"], every)
            assert found in (None, expected), (pattern, strings)
            simple_ones += found is not None
    assert simple_ones > 500


def test_lines_stand_for_strings_only_where_they_can() -> None:
    strings = [b"ab", b"b\nab", b"", b"\xff"]
    assert re2_pattern(rb"\Aab").full_matches(strings) == [True, False, False, False]
    assert re2_pattern(rb"[^x]*").full_matches(strings) == [True, True, True, False]
    assert re2_pattern(rb"^a|b$").replaced(strings, [b"-"], True) == [
        b"--", b"b\na-", b"", b"\xff",
    ]  # fmt: skip


# --- the price -----------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|a)*b", "(a|aa)+b", "a?" * 30 + "a" * 30 + "b"])
def test_patterns_that_need_going_back_are_linear(pattern: str) -> None:
    # Going back and forth, these take hours.
    text = "a" * 3000
    assert not full_match(text, pattern).numpy()
    assert replace(text, pattern, "-").numpy() == text.encode()


@pytest.mark.parametrize("pattern", [".*.*.*.*=", r"\w*\d*\w*!", "a.*b.*c.*d", "<[^>]+>"])
def test_simple_patterns_are_left_to_re2_where_strings_are_long(pattern: str) -> None:
    simple = simple_pattern(pattern.encode())
    assert simple is not None
    assert simple.replaced([b"xy"], ["-"], True) == [b"xy"]
    assert simple.replaced([b"<1ab" * 5000], ["-"], True) is None
    text = "<1ab" * 5000
    assert replace(text, pattern, "-").numpy() == text.encode()


def test_re2_is_imported_when_it_is_needed() -> None:
    script = """
import sys, weft as tf
assert tf.strings.regex_full_match("ab", "a+b").numpy()
assert "re2" not in sys.modules
assert tf.strings.regex_full_match("ab", "(a+)+b").numpy()
assert "re2" in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)
