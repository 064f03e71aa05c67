"""Compiled code on disk: found again, never trusted blindly, never in the way."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.execution.native import cache, compiler


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The texts LLVM had to compile."""
    texts: list[str] = []
    real = compiler.object_code

    def counted(text: str) -> bytes:
        texts.append(text)
        return real(text)

    monkeypatch.setattr(compiler, "object_code", counted)
    cache.folder.cache_clear()
    yield texts
    cache.folder.cache_clear()


def use(monkeypatch: pytest.MonkeyPatch, where: Path | str) -> None:
    monkeypatch.setenv("WEFT_CACHE_DIR", str(where))
    cache.folder.cache_clear()


def call(factor: float = 2.0) -> Any:
    """A new function every time, with the same code."""
    out = tf.function(lambda x: tf.sin(x) * factor, jit_compile=True)(tf.constant([0.5, 1.0]))
    np.testing.assert_allclose(out, np.sin([0.5, 1.0]) * factor, rtol=1e-6)


def test_the_second_use_finds_the_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    use(monkeypatch, tmp_path / "new" / "folder")
    call()
    assert len(compilations) == 1
    assert len(list((tmp_path / "new" / "folder").glob("*.o"))) == 1
    call()
    assert len(compilations) == 1
    call(3.0)  # other code
    assert len(compilations) == 2


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "other"])
def test_damaged_files_are_compiled_again(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    use(monkeypatch, tmp_path)
    call()
    (file,) = tmp_path.glob("*.o")
    good = file.read_bytes()
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 1
    file.write_bytes(
        {"empty": b"", "cut": good[:-10], "flipped": bytes(flipped), "other": b"x" * 500}[damage]
    )
    call()
    assert len(compilations) == 2
    assert file.read_bytes() == good  # and is whole again
    call()
    assert len(compilations) == 2


def test_it_can_be_turned_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    use(monkeypatch, "")
    call()
    call()
    assert len(compilations) == 2
    assert not list(tmp_path.iterdir())


def test_the_usual_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    monkeypatch.delenv("WEFT_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache.folder.cache_clear()
    assert cache.folder() == tmp_path / "weft"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    cache.folder.cache_clear()
    assert cache.folder() == tmp_path / "home" / ".cache" / "weft"


def test_a_folder_that_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    use(monkeypatch, tmp_path / "file" / "folder")
    call()
    call()
    assert len(compilations) == 2


def test_a_folder_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    """Root may write everywhere, so the system call itself fails here."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise PermissionError("read-only")

    monkeypatch.setattr(cache.tempfile, "mkstemp", refuse)
    use(monkeypatch, tmp_path)
    call()
    call()
    assert len(compilations) == 2
    assert not list(tmp_path.iterdir())


def test_the_oldest_files_go_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    use(monkeypatch, tmp_path)
    call(2.0)
    (first,) = tmp_path.glob("*.o")
    size = first.stat().st_size
    monkeypatch.setattr(cache, "_MOST_BYTES", int(2.5 * size))
    call(3.0)
    (second,) = set(tmp_path.glob("*.o")) - {first}
    call(2.0)  # used again: now the second is the oldest
    os.utime(second, (1, 1))
    call(4.0)
    left = set(tmp_path.glob("*.o"))
    assert first in left
    assert second not in left
    assert len(left) == 2


def test_unfinished_files_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    use(monkeypatch, tmp_path)
    (tmp_path / "tmpabcdef").write_bytes(b"half of a file of another process")
    call()
    call()
    assert len(compilations) == 1


def test_other_processors_have_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    use(monkeypatch, tmp_path)
    call()
    monkeypatch.setattr(compiler, "_machine_name", lambda: "another processor")
    call()
    assert len(compilations) == 2
    assert len(list(tmp_path.glob("*.o"))) == 2
