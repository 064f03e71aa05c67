"""Compiled code on disk, so that a second process does not wait for LLVM.

Files are named by a hash of the module's text, the processor and the versions. A file begins with
the hash of its contents: whatever was damaged or half written is compiled again. Writers write a
file of their own and rename it, so several at once do no harm.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

_MOST_BYTES = 256 * 2**20
_DIGEST = 32


@functools.cache
def folder() -> Path | None:
    """Where code is kept; None if WEFT_CACHE_DIR is set to nothing, or nothing can be written."""
    chosen = os.environ.get("WEFT_CACHE_DIR")
    if chosen == "":
        return None
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    path = Path(chosen) if chosen else Path(home) / "weft"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return path


def code_for(text: str, machine: str, compile_text: Callable[[str], bytes]) -> bytes:
    """The object code of a module, from disk or compiled now and kept."""
    where = folder()
    if where is None:
        return compile_text(text)
    name = hashlib.sha256(f"{machine} {text}".encode()).hexdigest()
    path = where / f"{name}.o"
    code = _read(path)
    if code is None:
        code = compile_text(text)
        _write(path, code)
    return code


def _read(path: Path) -> bytes | None:
    try:
        data = path.read_bytes()
        os.utime(path)  # what is used stays longest
    except OSError:
        return None
    digest, code = data[:_DIGEST], data[_DIGEST:]
    return code if hashlib.sha256(code).digest() == digest else None


def _write(path: Path, code: bytes) -> None:
    """Keeps code; not being able to is no error."""
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(code).digest() + code)
        Path(name).replace(path)
        _trim(path.parent)


def _trim(where: Path) -> None:
    """Drops what was not used for longest, once there is too much."""
    files = sorted(where.glob("*.o"), key=lambda p: p.stat().st_mtime)
    total = sum(p.stat().st_size for p in files)
    for path in files:
        if total <= _MOST_BYTES:
            return
        total -= path.stat().st_size
        path.unlink(missing_ok=True)
