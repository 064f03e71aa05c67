"""Runs small programs of users, and collects what Weft said about them."""

from __future__ import annotations

import contextlib
import io
import itertools
import linecache
import logging
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import weft as tf

_numbers = itertools.count()


@dataclass(frozen=True)
class Program:
    """A program with a known cause, what has to be said about it, and the remedy.

    `text` is run as a file of its own, in which `tf` and `np` are imported. `says` are regular
    expressions, each of which the explanation must contain; none of `never` may be in it.
    `change` is the remedy as an edit of the text, and `paste` says that the decorator line which is
    printed replaces "@tf.function". After either, `f` has at most `traces` traces.
    """

    name: str
    text: str
    says: tuple[str, ...]
    change: tuple[tuple[str, str], ...] = ()
    paste: bool = False
    traces: int = 1
    never: tuple[str, ...] = ()
    warns: bool = True  # whether the log says it, too

    def __str__(self) -> str:
        return self.name.replace(" ", "_")


class Run:
    """What happened when a program was run."""

    def __init__(self, text: str) -> None:
        self.namespace: dict[str, Any] = {"__name__": "program", "tf": tf}
        self.warnings: list[str] = []
        self.error: Exception | None = None
        source = "import numpy as np\nimport weft as tf\n" + textwrap.dedent(text)
        # As a notebook does it: the source of a program that has no file is kept here.
        file = f"/programs/{next(_numbers)}/program.py"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        with _listening(self.warnings), contextlib.redirect_stdout(io.StringIO()):
            try:
                exec(compile(source, file, "exec", dont_inherit=True), self.namespace)
            except Exception as error:  # noqa: BLE001 - what it says is what is looked at
                self.error = error

    @property
    def warned(self) -> str:
        return "\n".join(self.warnings)

    def explained(self, name: str = "f") -> str:
        """What `tf.explain` tells about a function of the program."""
        return repr(tf.explain(self.namespace[name]))


@contextlib.contextmanager
def _listening(messages: list[str]) -> Iterator[None]:
    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())

    logger, listener = logging.getLogger("weft"), Listener(logging.WARNING)
    logger.addHandler(listener)
    try:
        yield
    finally:
        logger.removeHandler(listener)


def printed_decorator(text: str) -> str:
    """The last decorator line in a text, whole."""
    starts = [found.start() for found in re.finditer(r"@tf\.function\(", text)]
    assert starts, f"no decorator line in:\n{text}"
    depth = 0
    for i in range(starts[-1], len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if text[i] == ")" and not depth:
            return text[starts[-1] : i + 1]
    raise AssertionError(f"a decorator line that does not end, in:\n{text}")


def changed(program: Program, said: str) -> str:
    """The text of a program after the remedy."""
    text = program.text
    if program.paste:
        line = printed_decorator(said)
        assert "@tf.function" in text
        text = re.sub(r"@tf\.function(\([^\n]*\))?", lambda _: line, text)
    for old, new in program.change:
        assert old in text, f"{old!r} is not in the program {program.name}"
        text = text.replace(old, new)
    return text


def missing(program: Program, said: str) -> list[str]:
    """What an explanation leaves out, and what it should not say."""
    out = [f"does not say: {part}" for part in program.says if not re.search(part, said)]
    return out + [f"must not say: {part}" for part in program.never if re.search(part, said)]


def outcome(program: Program) -> list[str]:
    """What is wrong with the explanation of a program: nothing, if it is as it should be."""
    run = Run(program.text)
    if run.error is not None:
        return [f"failed: {run.error!r}"]
    said = f"{run.warned}\n{run.explained()}"
    found = missing(program, said)
    if program.warns and not run.warnings:
        found.append("nothing was logged")
    if found:
        return [*found, said]
    after = Run(changed(program, run.explained()))
    if after.error is not None:
        return [f"the remedy fails: {after.error!r}", said]
    if after.warnings:
        return [f"the remedy leaves: {after.warned}", said]
    count = len(tf.explain(after.namespace["f"]).traces)
    if count > program.traces:
        return [f"with the remedy there are {count} traces", said, after.explained()]
    return []
