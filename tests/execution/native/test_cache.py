"""Compiled code on disk: found again, never trusted blindly, never in the way."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.execution.native.machine import cache, executable, llvm


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The texts LLVM had to compile."""
    texts: list[str] = []
    real = llvm.object_code

    def counted(text: str) -> bytes:
        texts.append(text)
        return real(text)

    executable.calling_code()  # the part that all programs share
    call(0.0)  # loads the functions of the library that it calls
    monkeypatch.setattr(llvm, "object_code", counted)
    monkeypatch.setattr(cache, "_refusals", {})
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
    monkeypatch.setattr(cache._room, "bytes", 0)
    call(3.0)
    (second,) = set(tmp_path.glob("*.o")) - {first}
    call(2.0)  # used again: now the second is the oldest
    os.utime(second, (1, 1))
    call(4.0)
    left = set(tmp_path.glob("*.o"))
    assert first in left
    assert second not in left
    assert len(left) == 2


def test_all_files_are_looked_at_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    """Not at every write: a thousand files would take longer to look at than one to compile."""
    looks = []
    monkeypatch.setattr(cache, "_trim", looks.append)
    monkeypatch.setattr(cache._room, "bytes", 0)
    use(monkeypatch, tmp_path)
    for number in range(4):
        call(float(number))
    assert len(compilations) == 4
    assert looks == [tmp_path]
    monkeypatch.setattr(cache._room, "bytes", 1)
    call(5.0)
    assert looks == [tmp_path, tmp_path]


def test_unfinished_files_are_not_used_and_go_when_their_writer_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    monkeypatch.setattr(cache._room, "bytes", 0)
    use(monkeypatch, tmp_path)
    being_written, abandoned, other = [tmp_path / name for name in ("a.part", "b.part", "notes")]
    for file in (being_written, abandoned, other):
        file.write_bytes(b"half of a file of another process")
    os.utime(abandoned, (1, 1))
    os.utime(other, (1, 1))
    call()
    call()
    assert len(compilations) == 1
    assert being_written.exists()
    assert other.exists()
    assert not abandoned.exists()


def test_the_code_of_another_function_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    use(monkeypatch, tmp_path)
    call(2.0)
    (first,) = tmp_path.glob("*.o")
    call(3.0)
    (second,) = set(tmp_path.glob("*.o")) - {first}
    second.write_bytes(first.read_bytes())
    call(3.0)  # and gives its own result
    assert len(compilations) == 3
    assert second.read_bytes() != first.read_bytes()


def test_folders_are_made_for_the_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    use(monkeypatch, tmp_path / "new" / "folder")
    call()
    (file,) = (tmp_path / "new" / "folder").glob("*.o")
    modes = [path.stat().st_mode & 0o777 for path in (file.parents[1], file.parent, file)]
    assert modes == [0o700, 0o700, 0o600]


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was logged about files; that functions are made anew on purpose is another matter."""
    messages = [record.getMessage() for record in caplog.records]
    return [message for message in messages if "was created and traced" not in message]


@pytest.mark.parametrize(
    ("what", "problem"),
    [("folder", "can be written by others (mode 777)"), ("file", "(mode 620)"), ("owner", "")],
)
def test_what_others_can_write_does_not_run(
    what: str,
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    compilations: list[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    use(monkeypatch, tmp_path)
    call(2.0)
    call(3.0)
    first, second = tmp_path.glob("*.o")
    if what == "folder":
        tmp_path.chmod(0o777)
    elif what == "file":
        first.chmod(0o620)
        second.chmod(0o620)
    else:  # nobody else is there to own it, so the user becomes somebody else
        owner = os.geteuid() or 1234
        monkeypatch.setattr(cache.os, "geteuid", lambda: owner + 1)
        monkeypatch.setattr(cache.os, "fstat", lambda fd, real=os.fstat: _owned(real(fd), owner))
        problem = f"belongs to the user with the number {owner}"
    cache.folder.cache_clear()
    call(2.0)
    call(3.0)
    assert len(compilations) == 4
    (message,) = said(caplog)
    assert str(tmp_path) in message
    assert problem in message
    assert "is not used" in message
    assert problem in cache.account()


def _owned(found: os.stat_result, owner: int) -> os.stat_result:
    values = list(found)
    values[4] = owner
    return os.stat_result(values)


def test_a_cache_that_cannot_be_written_is_read(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    compilations: list[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """As in an image of a container, whose files belong to root."""
    use(monkeypatch, tmp_path)
    call(2.0)

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(cache.os, "utime", refuse)
    monkeypatch.setattr(cache.tempfile, "mkstemp", refuse)
    call(2.0)
    assert len(compilations) == 1
    assert not said(caplog)
    for factor in (3.0, 4.0):
        call(factor)
    (message,) = said(caplog)
    assert "nothing can be kept in" in message
    assert "Read-only file system" in message


def test_a_full_disk_leaves_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    compilations: list[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    def full(*args: Any) -> Any:
        raise OSError(28, "No space left on device")

    use(monkeypatch, tmp_path)
    monkeypatch.setattr(cache.os, "replace", full)
    call()
    call()
    assert not list(tmp_path.iterdir())
    (message,) = said(caplog)
    assert "No space left on device" in message


def test_a_user_without_a_home(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    compilations: list[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(cache.Path, "home", unknown)
    use(monkeypatch, tmp_path)
    call()
    assert len(list(tmp_path.glob("*.o"))) == 1
    monkeypatch.delenv("WEFT_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    cache.folder.cache_clear()
    call()
    call()
    assert len(compilations) == 3
    assert said(caplog) == [
        "Compiled code on disk: this user has no home, so nothing is kept; set WEFT_CACHE_DIR"
    ]
    assert cache.account() == "off; this user has no home, so nothing is kept; set WEFT_CACHE_DIR"


def test_the_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    use(monkeypatch, tmp_path)
    call()
    assert cache.account().startswith(f"{tmp_path}, 1 files, 0.")
    use(monkeypatch, "")
    assert cache.account() == "off: WEFT_CACHE_DIR is set to nothing"


def test_other_processors_have_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    use(monkeypatch, tmp_path)
    call()
    monkeypatch.setattr(llvm, "_machine_name", lambda: "another processor")
    call()
    assert len(compilations) == 2
    assert len(list(tmp_path.glob("*.o"))) == 2


def test_files_of_another_form_are_never_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    """A folder is shared by versions of Weft: each must find its own files only."""
    use(monkeypatch, tmp_path)
    cache.code_for("text", "machine", lambda _: b"mine")
    monkeypatch.setattr(cache, "_FORMAT", "another form")
    assert cache.code_for("text", "machine", lambda _: b"other") == b"other"
