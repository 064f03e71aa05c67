"""Assertions of `tf.test.TestCase` that come from absl: each holds once, and fails once."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
from typing import Any

import pytest

import weft as tf


@dataclasses.dataclass
class Pair:
    a: int
    b: int


class Case(tf.test.TestCase):
    def runTest(self) -> None: ...


OK = [sys.executable, "-c", "print('fine')"]
WRONG = [sys.executable, "-c", "raise SystemExit('broken')"]
# The name, arguments for which it holds, arguments for which it does not.
ROWS: list[tuple[str, tuple[Any, ...], tuple[Any, ...]]] = [
    ("assertNotStartsWith", ("abc", "b"), ("abc", "a")),
    ("assertNotEndsWith", ("abc", "b"), ("abc", "c")),
    ("assertRegexMatch", ("abc", ["x", "b."]), ("abc", ["x", "^b"])),
    (
        "assertUrlEqual",
        ("http://a/b?x=1&y=2", "http://a/b?y=2&x=1"),
        ("http://a/b?x=1", "http://a/b?x=2"),
    ),
    ("assertUrlEqual", ("http://a/b;p;q", "http://a/b;q;p"), ("http://a/b", "http://a/c")),
    ("assertJsonEqual", ('{"a": 1, "b": 2}', '{"b":2,"a":1}'), ("[1]", "[2]")),
    ("assertIsSubclass", (bool, int), (int, bool)),
    ("assertNotIsSubclass", (int, bool), (bool, (str, int))),
    ("assertItemsEqual", ([1, 2, 2], [2, 1, 2]), ([1, 2, 2], [1, 1, 2])),
    ("assertContainsSubsequence", ([1, 2, 3], [1, 3]), ([1, 2, 3], [3, 1])),
    ("assertContainsExactSubsequence", ([1, 2, 3], [2, 3]), ([1, 2, 3], [1, 3])),
    ("assertMappingEqual", ({"a": 1}, {"a": 1}), ({"a": 1}, {"a": 2})),
    ("assertDictAlmostEqual", ({"a": 1.0}, {"a": 1.0 + 1e-9}), ({"a": 1.0}, {"a": 1.1})),
    ("assertDictAlmostEqual", ({"a": 1.0}, {"a": 1.2}, None, None, 0.5), ({"a": 1.0}, {"b": 1.0})),
    ("assertDataclassEqual", (Pair(1, 2), Pair(1, 2)), (Pair(1, 2), Pair(1, 3))),
    ("assertCommandSucceeds", (OK, ["fine"]), (OK, ["other"])),
    ("assertCommandSucceeds", (OK,), (WRONG,)),
    ("assertCommandFails", (WRONG, [b"broken"]), (OK, [b"fine"])),
    ("assertCommandFails", (WRONG, ["broken"]), (WRONG, ["other"])),
]


@pytest.mark.parametrize(("name", "good", "bad"), ROWS)
def test_assertions(name: str, good: tuple[Any, ...], bad: tuple[Any, ...]) -> None:
    assertion = getattr(Case(), name)
    assertion(*good)
    with pytest.raises(AssertionError):
        assertion(*bad)


def test_files_are_there_during_the_test_only() -> None:
    paths: list[Any] = []
    left = []

    class Writing(tf.test.TestCase):
        def runTest(self) -> None:
            folder = self.create_tempdir("sub")
            paths.extend([folder, self.create_tempfile("a/b.txt", "text")])
            paths.append(folder.create_file(content=b"\xff"))
            assert [os.path.exists(p.full_path) for p in paths] == [True] * 3
            assert paths[1].read_text() == "text"
            assert paths[2].read_bytes() == b"\xff"
            entered = self.enter_context(contextlib.closing(_Closing(left)))
            assert isinstance(entered, _Closing)
            assert left == []

    result = Writing().run()
    assert result is not None
    assert result.wasSuccessful(), result.failures + result.errors
    assert not any(os.path.exists(p) for p in paths)
    assert left == [True]


class _Closing:
    def __init__(self, left: list[bool]) -> None:
        self._left = left

    def close(self) -> None:
        self._left.append(True)
