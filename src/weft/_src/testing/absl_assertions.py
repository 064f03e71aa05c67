"""What test cases of absl have beyond unittest's: texts, classes, mappings, files, commands."""

# ruff: noqa: N802, PT009 - unittest's way of naming and of asserting

from __future__ import annotations

import collections
import dataclasses
import json
import re
import subprocess
import tempfile
import urllib.parse
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

from weft._src.testing.plain_assertions import PlainAssertions

_Entered = TypeVar("_Entered")


class TemporaryPath(type(Path())):  # type: ignore[misc]
    """A path that is removed after the test."""

    @property
    def full_path(self) -> str:
        """The whole path as a text."""
        return str(self)

    def create_file(
        self, file_path: str | None = None, content: str | bytes | None = None, mode: str = "w"
    ) -> TemporaryPath:
        """A new file in this folder.

        Args:
          file_path: its name; None makes one up.
          content: what it holds; None is nothing.
          mode: "w" for text, "wb" for bytes.

        Returns:
          Its path.
        """
        made = self / (file_path or f"file_{uuid.uuid4().hex}")
        made.parent.mkdir(parents=True, exist_ok=True)
        text = content or ""
        made.write_bytes(text if isinstance(text, bytes) else text.encode())
        return made


class AbslAssertions(PlainAssertions):
    """Assertions and helpers under the names that absl's test cases have."""

    # --- texts -------------------------------------------------------------------------------

    def assertNotStartsWith(
        self, actual: Any, unexpected_start: Any, msg: str | None = None
    ) -> None:
        """A text that does not begin in a way.

        Args:
          actual: the text.
          unexpected_start: how it must not begin.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        if actual.startswith(unexpected_start):
            self._differs(f"{actual!r} starts with {unexpected_start!r}.", msg)

    def assertNotEndsWith(self, actual: Any, unexpected_end: Any, msg: str | None = None) -> None:
        """A text that does not end in a way.

        Args:
          actual: the text.
          unexpected_end: how it must not end.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        if actual.endswith(unexpected_end):
            self._differs(f"{actual!r} ends with {unexpected_end!r}.", msg)

    def assertRegexMatch(
        self, actual_str: str, regexes: Sequence[str], message: str | None = None
    ) -> None:
        """A text in which one of some regular expressions is found.

        Args:
          actual_str: the text.
          regexes: regular expressions.
          message: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        if not any(re.search(regex, actual_str) for regex in regexes):
            self._differs(f"{actual_str!r} matches none of {list(regexes)!r}.", message)

    def assertUrlEqual(self, a: str, b: str, msg: str | None = None) -> None:
        """Two addresses that are the same, whatever the order of their parameters.

        Args:
          a: one address.
          b: another one.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        first, second = urllib.parse.urlparse(a), urllib.parse.urlparse(b)
        same = first._replace(query="", params="") == second._replace(query="", params="")
        options = [
            (sorted(urllib.parse.parse_qsl(url.query, True)), sorted(url.params.split(";")))
            for url in (first, second)
        ]
        if not same or options[0] != options[1]:
            self._differs(f"{a!r} and {b!r} are different addresses.", msg)

    def assertJsonEqual(self, first: str, second: str, msg: str | None = None) -> None:
        """Two texts of JSON that hold the same.

        Args:
          first: one text.
          second: another one.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        self.assertEqual(json.loads(first), json.loads(second), msg)

    # --- classes and containers --------------------------------------------------------------

    def assertIsSubclass(self, cls: type, bases: Any, msg: str | None = None) -> None:
        """A class that is a subclass.

        Args:
          cls: the class.
          bases: a class, or a tuple of them.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        if not issubclass(cls, bases):
            self._differs(f"{cls!r} is no subclass of {bases!r}.", msg)

    def assertNotIsSubclass(self, cls: type, bases: Any, msg: str | None = None) -> None:
        """A class that is no subclass.

        Args:
          cls: the class.
          bases: a class, or a tuple of them.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        if issubclass(cls, bases):
            self._differs(f"{cls!r} is a subclass of {bases!r}.", msg)

    def assertItemsEqual(
        self, expected_seq: Iterable[Any], actual_seq: Iterable[Any], msg: str | None = None
    ) -> None:
        """The same elements, each as often, in any order.

        Args:
          expected_seq: some elements.
          actual_seq: others.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        self.assertCountEqual(expected_seq, actual_seq, msg)

    def assertContainsSubsequence(
        self, container: Iterable[Any], subsequence: Iterable[Any], msg: str | None = None
    ) -> None:
        """Elements that occur in an order, with others between them.

        Args:
          container: all elements.
          subsequence: some of them, in their order.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        everything, wanted = list(container), list(subsequence)
        rest = iter(everything)
        if not all(item in rest for item in wanted):
            self._differs(f"{wanted!r} is no subsequence of {everything!r}.", msg)

    def assertContainsExactSubsequence(
        self, container: Iterable[Any], subsequence: Iterable[Any], msg: str | None = None
    ) -> None:
        """Elements that occur in an order, with no others between them.

        Args:
          container: all elements.
          subsequence: some of them, one after the other.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        everything, wanted = list(container), list(subsequence)
        ends = range(len(wanted), len(everything) + 1)
        if not any(everything[end - len(wanted) : end] == wanted for end in ends):
            self._differs(f"{wanted!r} does not occur in {everything!r}.", msg)

    def assertMappingEqual(
        self, a: Mapping[Any, Any], b: Mapping[Any, Any], msg: str | None = None
    ) -> None:
        """Two mappings, of whatever classes, with the same keys and values.

        Args:
          a: one mapping.
          b: another one.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        for value in (a, b):
            self.assertIsInstance(value, collections.abc.Mapping, msg)
        self.assertEqual(dict(a), dict(b), msg)

    def assertDictAlmostEqual(
        self,
        first: Mapping[Any, float],
        second: Mapping[Any, float],
        places: int | None = None,
        msg: str | None = None,
        delta: float | None = None,
    ) -> None:
        """Two mappings with the same keys, and nearly the same numbers.

        Args:
          first: one mapping.
          second: another one.
          places: to how many decimal places the numbers are the same; None is seven.
          msg: what a failure says besides; None is nothing.
          delta: how much they may differ, in place of `places`.

        Raises:
          AssertionError: if it is not so.
        """
        self.assertEqual(set(first), set(second), msg)
        for key, value in first.items():
            limits: dict[str, Any] = {"places": places, "delta": delta}
            self.assertAlmostEqual(value, second[key], msg=msg, **limits)

    def assertDataclassEqual(self, first: Any, second: Any, msg: str | None = None) -> None:
        """Two dataclasses of one class with the same fields.

        Args:
          first: one dataclass.
          second: another one.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        for value in (first, second):
            if not dataclasses.is_dataclass(value) or isinstance(value, type):
                self._differs(f"{value!r} is no dataclass.", msg)
        self.assertIs(type(first), type(second), msg)
        for field in dataclasses.fields(first):
            ours, theirs = getattr(first, field.name), getattr(second, field.name)
            if ours != theirs:
                self._differs(f"The fields {field.name} differ: {ours!r} and {theirs!r}.", msg)

    # --- files, commands, contexts -----------------------------------------------------------

    def assertCommandSucceeds(
        self,
        command: str | Sequence[str],
        regexes: Sequence[bytes | str] = (b"",),
        env: Mapping[str, str] | None = None,
        close_fds: bool = True,
        msg: str | None = None,
    ) -> None:
        """A command that ends with 0 and writes something that matches.

        Args:
          command: a text for the shell, or a program with its arguments.
          regexes: regular expressions, one of which its output must match.
          env: its environment; None is that of the test.
          close_fds: whether files that are open here are closed there.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        code, output = _run(command, env, close_fds)
        if code:
            self._differs(f"{command!r} ended with {code}, and wrote {output!r}.", msg)
        self._matches(command, output, regexes, msg)

    def assertCommandFails(
        self,
        command: str | Sequence[str],
        regexes: Sequence[bytes | str],
        env: Mapping[str, str] | None = None,
        close_fds: bool = True,
        msg: str | None = None,
    ) -> None:
        """A command that does not end with 0 and writes something that matches.

        Args:
          command: a text for the shell, or a program with its arguments.
          regexes: regular expressions, one of which its output must match.
          env: its environment; None is that of the test.
          close_fds: whether files that are open here are closed there.
          msg: what a failure says besides; None is nothing.

        Raises:
          AssertionError: if it is not so.
        """
        code, output = _run(command, env, close_fds)
        if not code:
            self._differs(f"{command!r} succeeded, and wrote {output!r}.", msg)
        self._matches(command, output, regexes, msg)

    def _matches(
        self, command: Any, output: bytes, regexes: Sequence[bytes | str], msg: str | None
    ) -> None:
        wanted = [r.encode() if isinstance(r, str) else r for r in regexes]
        if not any(re.search(regex, output) for regex in wanted):
            self._differs(f"{command!r} wrote {output!r}, which matches none of {wanted!r}.", msg)

    def create_tempdir(self, name: str | None = None) -> TemporaryPath:
        """A new folder, which is removed after the test.

        Args:
          name: its name; None makes one up.

        Returns:
          Its path, with a method `create_file`; `full_path` is the path as a text.
        """
        made = self._own_folder() / (name or f"folder_{uuid.uuid4().hex}")
        made.mkdir(parents=True)
        return made

    def create_tempfile(
        self, file_path: str | None = None, content: str | bytes | None = None, mode: str = "w"
    ) -> TemporaryPath:
        """A new file, which is removed after the test.

        Args:
          file_path: its name; None makes one up.
          content: what it holds; None is nothing.
          mode: "w" for text, "wb" for bytes.

        Returns:
          Its path; `full_path` is the path as a text.
        """
        return self._own_folder().create_file(file_path, content, mode)

    def _own_folder(self) -> TemporaryPath:
        if not hasattr(self, "_folder"):
            self._folder = tempfile.TemporaryDirectory()
            self.addCleanup(self._folder.cleanup)
        return TemporaryPath(self._folder.name)

    def enter_context(self, manager: AbstractContextManager[_Entered]) -> _Entered:
        """Enters a context that is left after the test.

        Args:
          manager: a context manager.

        Returns:
          What it gives.
        """
        return self.enterContext(manager)


def _run(
    command: str | Sequence[str], env: Mapping[str, str] | None, close_fds: bool
) -> tuple[int, bytes]:
    done = subprocess.run(
        command, shell=isinstance(command, str), env=env, close_fds=close_fds, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.returncode, done.stdout
