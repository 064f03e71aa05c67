"""Assertions about Python values that tests of TensorFlow use, beyond those of unittest."""

# ruff: noqa: N802, PT009, PT027 - unittest's way of naming and of asserting

from __future__ import annotations

import contextlib
import itertools
import unittest
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from weft._src.core.aliases import TensorNest


class PlainAssertions(unittest.TestCase):
    """unittest's test case with more assertions about strings, containers and numbers."""

    # --- containers --------------------------------------------------------------------------

    def assertEmpty(self, container: Any, msg: str | None = None) -> None:
        """A container without elements.

        Args:
          container: what has a length.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        if len(container):
            self._differs(f"{container!r} has {len(container)} elements, expected none.", msg)

    def assertNotEmpty(self, container: Any, msg: str | None = None) -> None:
        """A container with elements.

        Args:
          container: what has a length.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        if not len(container):
            self._differs(f"{container!r} has no elements.", msg)

    def assertLen(self, container: Any, expected_len: int, msg: str | None = None) -> None:
        """A container with so many elements.

        Args:
          container: what has a length.
          expected_len: the length.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        if len(container) != expected_len:
            found = f"{container!r} has {len(container)} elements, expected {expected_len}."
            self._differs(found, msg)

    def assertContainsSubset(
        self, expected_subset: Iterable[Any], actual_set: Iterable[Any], msg: str | None = None
    ) -> None:
        """All of the expected elements are there.

        Args:
          expected_subset: the expected elements, which can be hashed.
          actual_set: what they must be in.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        missing = set(expected_subset) - set(actual_set)
        if missing:
            self._differs(f"{missing!r} are missing in {actual_set!r}.", msg)

    def assertNoCommonElements(
        self, expected_seq: Sequence[Any], actual_seq: Sequence[Any], msg: str | None = None
    ) -> None:
        """No element is in both.

        Args:
          expected_seq: elements that can be hashed.
          actual_seq: other such elements.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        common = set(expected_seq) & set(actual_seq)
        if common:
            self._differs(f"{common!r} are in both.", msg)

    def assertSameElements(
        self, expected_seq: Sequence[Any], actual_seq: Sequence[Any], msg: str | None = None
    ) -> None:
        """The same elements, however often and in whatever order.

        Args:
          expected_seq: elements that can be hashed.
          actual_seq: other such elements.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        different = set(expected_seq) ^ set(actual_seq)
        if different:
            self._differs(f"{different!r} are in only one of both.", msg)

    def assertSequenceStartsWith(
        self, prefix: Sequence[Any], whole: Sequence[Any], msg: str | None = None
    ) -> None:
        """A sequence that begins with the elements of another one.

        Args:
          prefix: the elements at the beginning.
          whole: the sequence.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        if list(whole)[: len(prefix)] != list(prefix):
            self._differs(f"{whole!r} does not start with {prefix!r}.", msg)

    def assertSequenceAlmostEqual(
        self,
        expected_seq: Sequence[Any],
        actual_seq: Sequence[Any],
        places: int | None = None,
        msg: str | None = None,
        delta: float | None = None,
    ) -> None:
        """Numbers that are equal up to rounding, in order.

        Args:
          expected_seq: numbers.
          actual_seq: as many numbers.
          places: how many decimal places count; None is 7, unless `delta` is given.
          msg: what a failure says besides; None is nothing.
          delta: how far apart numbers may be, instead of `places`.

        Raises:
          AssertionError: if it is not so.
        """
        self.assertLen(actual_seq, len(expected_seq), msg)
        how: Any = {"places": places, "msg": msg, "delta": delta}
        for expected, actual in zip(expected_seq, actual_seq, strict=True):
            self.assertAlmostEqual(expected, actual, **how)

    def assertSameStructure(
        self,
        a: TensorNest,
        b: TensorNest,
        aname: str = "a",
        bname: str = "b",
        msg: str | None = None,
    ) -> None:
        """The same dicts and sequences of the same values; the first difference is named.

        Args:
          a: dicts and sequences of values.
          b: what is compared with it.
          aname: what a failure calls `a`.
          bname: what a failure calls `b`.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        difference = _difference(a, b, aname, bname)
        if difference:
            self._differs(difference, msg)

    # --- strings and numbers -----------------------------------------------------------------

    def assertStartsWith(
        self, actual: Any, expected_start: TensorNest, msg: str | None = None
    ) -> None:
        """A string that begins with another one.

        Args:
          actual: the string.
          expected_start: the other one, or a tuple of such.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        if not actual.startswith(expected_start):
            self._differs(f"{actual!r} does not start with {expected_start!r}.", msg)

    def assertEndsWith(self, actual: Any, expected_end: TensorNest, msg: str | None = None) -> None:
        """A string that ends with another one.

        Args:
          actual: the string.
          expected_end: the other one, or a tuple of such.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        if not actual.endswith(expected_end):
            self._differs(f"{actual!r} does not end with {expected_end!r}.", msg)

    def assertContainsInOrder(
        self, strings: Sequence[Any], target: str, msg: str | None = None
    ) -> None:
        """A text in which the strings follow each other.

        Args:
          strings: the strings, in order; one alone need not be in a list.
          target: the text.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        wanted = [strings] if isinstance(strings, str) else strings
        place = 0
        for string in wanted:
            found = target.find(string, place)
            if found < 0:
                self._differs(f"{string!r} is not in {target!r} from character {place} on.", msg)
            place = found + len(string)

    def assertBetween(
        self, value: Any, minv: TensorNest, maxv: TensorNest, msg: str | None = None
    ) -> None:
        """A number between two others, or equal to one of them.

        Args:
          value: the number.
          minv: the least it may be.
          maxv: the most it may be.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        if not minv <= value <= maxv:
            self._differs(f"{value!r} is not between {minv!r} and {maxv!r}.", msg)

    def assertTotallyOrdered(self, *groups: Any) -> None:
        """Groups of equal values, each group less than the next one.

        Args:
          *groups: lists of values that must be equal, the least first.

        Raises:
          AssertionError: if it is not so.
        """
        for (i, smaller), (j, larger) in itertools.combinations(enumerate(groups), 2):
            for a, b in itertools.product(smaller, larger):
                if not (a < b and a <= b and b > a and b >= a and a != b):
                    self.fail(f"{a!r} of group {i} is not less than {b!r} of group {j}.")
        for group in groups:
            for a, b in itertools.product(group, group):
                if not (a == b and a <= b and a >= b and not a < b):
                    self.fail(f"{a!r} and {b!r} of one group are not equal.")

    @contextlib.contextmanager
    def assertRaisesWithLiteralMatch(
        self, expected_exception: type[BaseException], expected_exception_message: str
    ) -> Iterator[None]:
        """A context in which an exception with exactly this text must be raised.

        Args:
          expected_exception: the class of the exception.
          expected_exception_message: its text.

        Returns:
          A context manager.

        Raises:
          AssertionError: if no such exception is raised, or its text is another.
        """
        with self.assertRaises(expected_exception) as caught:
            yield
        self.assertEqual(str(caught.exception), expected_exception_message)

    def _differs(self, text: str, msg: str | None) -> None:
        self.fail(f"{msg}: {text}" if msg else text)


def _difference(a: TensorNest, b: TensorNest, aname: str, bname: str) -> str | None:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if set(a) != set(b):
            return f"{aname} and {bname} differ in the keys {set(a) ^ set(b)!r}."
        pairs: Any = [(a[key], b[key], f"[{key!r}]") for key in a]
    elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        if len(a) != len(b):
            return f"{aname} has length {len(a)}, {bname} has length {len(b)}."
        pairs = [(x, y, f"[{i}]") for i, (x, y) in enumerate(zip(a, b, strict=True))]
    else:
        return None if a == b else f"{aname} is {a!r}, {bname} is {b!r}."
    found = (_difference(x, y, aname + place, bname + place) for x, y, place in pairs)
    return next((text for text in found if text), None)
