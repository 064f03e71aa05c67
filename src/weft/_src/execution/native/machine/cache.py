"""Compiled code on disk, so that a second process does not wait for LLVM.

A file is named by its key: a hash of the module's text, the processor and the versions. It begins
with a hash of all that follows, the key and the code: whatever was damaged, half written or given
another name is compiled again. Writers write a file of their own and rename it, so several at once
do no harm. What is read will run, so it is read only where nobody else can write.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import stat
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

_MOST_BYTES = 256 * 2**20
_LOOKED_AFTER = 8 * 2**20  # bytes that a process writes until it looks at all files again
_FORMAT = "checksum, key, code"  # in the key: versions of Weft with other files share a folder
_DIGEST = 32  # bytes of a hash
_UNFINISHED = ".part"  # how names of files end that are being written
_ABANDONED = 3600  # seconds after which an unfinished file has lost its writer

_log = logging.getLogger("weft")


class _Reads(threading.local):
    """How often a thread has found code on disk."""

    count = 0


class _Room:
    """How much may be written before somebody looks whether there is too much."""

    bytes = 0


reads = _Reads()
_room = _Room()
_refusals: dict[str, str] = {}  # what was said, by what it was about


def _refuse(subject: str, reason: str) -> None:
    """Says once why something is not done; the program goes on without it."""
    if subject not in _refusals:
        _refusals[subject] = reason
        _log.warning("Compiled code on disk: %s", reason)


@functools.cache
def folder() -> Path | None:
    """Where code is kept; None if WEFT_CACHE_DIR is set to nothing, or there is no safe place."""
    path = _place()
    if path is None:
        return None
    try:
        _make(path)
        problem = _danger(path.stat())
    except OSError as error:
        _refuse("folder", f"{path} cannot be made or looked at ({error}), so nothing is kept")
        return None
    if problem:
        _refuse("folder", f"{path} {problem}, so it is not used; set WEFT_CACHE_DIR, or correct it")
        return None
    return path


def _place() -> Path | None:
    """The folder that is asked for, by the environment or by custom."""
    chosen = os.environ.get("WEFT_CACHE_DIR")
    if chosen is not None:
        return Path(chosen).absolute() if chosen else None
    caches = os.environ.get("XDG_CACHE_HOME")
    if caches:
        return Path(caches).absolute() / "weft"
    try:
        return Path.home() / ".cache" / "weft"
    except RuntimeError:  # a user whom the system does not know, as in containers
        _refuse("folder", "this user has no home, so nothing is kept; set WEFT_CACHE_DIR")
        return None


def _make(path: Path) -> None:
    """The folder and those around it, for the user alone."""
    missing = [p for p in (path, *path.parents) if not p.exists()]
    for part in reversed(missing):
        part.mkdir(mode=0o700, exist_ok=True)


def _danger(found: os.stat_result) -> str:
    """What would let somebody else decide which code runs; nothing if all is well."""
    if found.st_uid not in (0, os.geteuid()):
        return f"belongs to the user with the number {found.st_uid}"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"can be written by others (mode {stat.S_IMODE(found.st_mode):o})"
    return ""


def code_for(text: str, machine: str, compile_text: Callable[[str], bytes]) -> bytes:
    """The object code of a module, from disk or compiled now and kept."""
    where = folder()
    if where is None:
        return compile_text(text)
    key = hashlib.sha256(f"{_FORMAT} {machine} {text}".encode())
    path = where / f"{key.hexdigest()}.o"
    code = _read(path, key.digest())
    if code is not None:
        reads.count += 1
    else:
        code = compile_text(text)
        _write(path, key.digest(), code)
    return code


def _read(path: Path, key: bytes) -> bytes | None:
    try:
        with path.open("rb") as file:
            problem = _danger(os.fstat(file.fileno()))
            data = b"" if problem else file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        _refuse("read", f"{path} cannot be read ({error}) and is compiled again")
        return None
    if problem:
        _refuse("read", f"{path} {problem}, so it is not used")
        return None
    with contextlib.suppress(OSError):  # a cache that cannot be written is a cache, too
        os.utime(path)  # what is used stays longest
    digest, contents = data[:_DIGEST], data[_DIGEST:]
    if hashlib.sha256(contents).digest() != digest or contents[:_DIGEST] != key:
        return None
    return contents[_DIGEST:]


def _write(path: Path, key: bytes, code: bytes) -> None:
    """Keeps code; not being able to is no error."""
    contents = key + code
    unfinished = None
    try:
        handle, unfinished = tempfile.mkstemp(suffix=_UNFINISHED, dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(contents).digest() + contents)
        os.replace(unfinished, path)
    except OSError as error:
        _refuse("write", f"nothing can be kept in {path.parent} ({error})")
        if unfinished is not None:
            with contextlib.suppress(OSError):
                os.unlink(unfinished)
        return
    # To look at a thousand files takes ten milliseconds, longer than many of them saves.
    _room.bytes -= len(code)
    if _room.bytes <= 0:
        _trim(path.parent)
        _room.bytes = min(_LOOKED_AFTER, _MOST_BYTES // 4)


def _trim(where: Path) -> None:
    """Drops what was left unfinished and, once there is too much, what was not used for longest."""
    for path, found in _files(where, _UNFINISHED):
        if time.time() - found.st_mtime > _ABANDONED:
            _drop(path)
    files = sorted(_files(where, ".o"), key=lambda pair: pair[1].st_mtime)
    total = sum([found.st_size for _, found in files])
    for path, found in files:
        if total <= _MOST_BYTES:
            return
        total -= found.st_size
        _drop(path)


def _files(where: Path, ending: str) -> list[tuple[Path, os.stat_result]]:
    """Files and what is known about them; other processes may be dropping some meanwhile."""
    found = []
    for path in where.glob(f"*{ending}"):
        with contextlib.suppress(OSError):
            found.append((path, path.stat()))
    return found


def _drop(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def account() -> str:
    """Where code is kept, how much, and what was refused: for people."""
    where = folder()
    if where is not None:
        files = _files(where, ".o")
        size = sum([found.st_size for _, found in files]) / 2**20
        writable = "" if os.access(where, os.W_OK) else ", read-only"
        text = f"{where}, {len(files)} files, {size:.1f} MB{writable}"
    else:
        text = "off: WEFT_CACHE_DIR is set to nothing" if not _refusals else "off"
    return "; ".join([text, *_refusals.values()])
