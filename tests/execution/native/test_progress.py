"""The line that says what is being compiled."""

from __future__ import annotations

import io
import time

import pytest

from weft._src.core import progress as lines
from weft._src.execution.native import pace, progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def said(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch, *, patience: float = 0.0) -> str:
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(lines, "_PATIENCE", patience)
    monkeypatch.setattr(lines, "_PULSE", 0.01)
    with progress.shown("my_function"):
        until = time.monotonic() + (30 if patience == 0.0 and stream.isatty() else 0.1)
        while "my_function" not in stream.getvalue() and time.monotonic() < until:
            time.sleep(0.01)
    return stream.getvalue()


def test_a_long_compilation_is_named_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Compiling my_function: 00:0" in said(Terminal(), monkeypatch)


def test_a_short_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(Terminal(), monkeypatch, patience=60.0) == ""


def test_nothing_is_written_to_files(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(io.StringIO(), monkeypatch) == ""


def test_nothing_is_said_of_what_nobody_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "is_in_background", lambda: True)
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(lines, "_PATIENCE", 0.0)
    with progress.shown("my_function"):
        time.sleep(0.1)
    assert stream.getvalue() == ""
    assert not pace.is_in_background()
