"""The line that tells how far something is: on terminals only, and only if it takes long."""

from __future__ import annotations

import io
import re
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import weft as tf
from weft._src.core import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    stream = Terminal()
    # Not in `sys` itself: pytest puts its own there after fixtures have run.
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_PULSE", 0.0)
    return stream


def test_a_bar(terminal: Terminal) -> None:
    assert list(progress.each("abcd", "Doing", 4)) == list("abcd")
    lines = terminal.getvalue().split("\r")
    assert "Doing: 0% |                    | 0/4 [00:00<?]" in lines
    assert any(
        line.startswith("Doing: 75% |###############     | 3/4 [00:00<00:00]") for line in lines
    )
    assert lines[-2].strip() == ""  # it is taken away at the end


def test_a_number_that_is_not_known(terminal: Terminal) -> None:
    assert list(progress.each(iter("ab"), "Doing")) == ["a", "b"]
    assert "Doing: 1 [00:00]" in terminal.getvalue()


def test_the_line_goes_when_somebody_stops(terminal: Terminal) -> None:
    for item in progress.each("abcd", "Doing", 4):
        if item == "c":
            break
    assert terminal.getvalue().endswith("\r")


def test_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr("sys.stderr", file)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    items = [1, 2]
    assert progress.each(items, "Doing") is items
    assert file.getvalue() == ""


def test_threads_beside_the_main_one_are_quiet(terminal: Terminal) -> None:
    seen: list[Any] = []
    thread = threading.Thread(target=lambda: seen.append(progress.is_seen()))
    thread.start()
    thread.join()
    assert seen == [False]


def test_short_things_are_quiet(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 60.0)
    assert list(progress.each("ab", "Doing", 2)) == ["a", "b"]
    assert terminal.getvalue() == ""


def test_saves_loads_and_passes(terminal: Terminal, tmp_path: Path) -> None:
    checkpoint = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable(2.0))
    path = checkpoint.write(str(tmp_path / "model.ckpt"))
    checkpoint.read(path).assert_consumed()
    tf.save(str(tmp_path / "x.safetensors"), {"a": tf.ones([2])})
    tf.data.Dataset.range(3).reduce(tf.constant(0, tf.int64), lambda total, x: total + x)
    assert [int(x) for x in tf.progress(tf.data.Dataset.range(3), "Looking")] == [0, 1, 2]
    told = terminal.getvalue()
    for what in (
        r"Saving model\.ckpt: \d+% ",
        r"Restoring model\.ckpt: \d+% ",
        r"Saving x\.safetensors: 0% ",
        r"Dataset\.reduce: \d+% .* 2/3 ",
        r"Looking: \d+% .* 2/3 ",
    ):
        assert re.search(what, told), what
