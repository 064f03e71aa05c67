"""Checkpoints get onto the disk whole, or not at all.

The data goes into a new file, and then the index, by one `rename`: that is the moment at which the
new checkpoint replaces the old one. The names of data files carry their number (`-of-00001`), and
of two checkpoints under one name the second takes another number; so until that moment the old
index and the old data are both there, and TensorFlow reads either.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import logging
import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from weft._src.core import progress
from weft._src.errors import DataLossError, NotFoundError
from weft._src.fileio.paths import file_errors
from weft._src.messages.checkpoints import BundleEntryProto
from weft._src.saving.bundle import BundleReader, content, data_file, entry_of, index_bytes

Array = np.ndarray[Any, Any]
_log = logging.getLogger("weft")
_ALIGNMENT = 64  # of tensors in a data file, so that they can be used where they lie


def write_bundle(prefix: str, arrays: Sequence[tuple[str, Array]]) -> None:
    """Writes tensors under a prefix, instead of what was there."""
    told = progress.each(arrays, f"Saving {os.path.basename(prefix)}", len(arrays))
    with file_errors("Saving a checkpoint", prefix):
        _write_bundle(prefix, told)


def _write_bundle(prefix: str, arrays: Iterable[tuple[str, Array]]) -> None:
    folder = os.path.dirname(os.path.abspath(prefix))
    os.makedirs(folder, exist_ok=True)
    temporary = f"{prefix}.tmp-{uuid.uuid4().hex[:12]}"
    entries: dict[str, BundleEntryProto] = {}
    try:
        with open(f"{temporary}.data", "wb") as file:
            for key, array in arrays:
                entries[key] = _append(file, array)
            _to_disk(file)
        with _alone_in(folder):
            _put_in_place(prefix, temporary, entries)
    except BaseException:
        for name in (f"{temporary}.data", f"{temporary}.index"):
            with contextlib.suppress(OSError):
                os.remove(name)
        raise


def _put_in_place(prefix: str, temporary: str, entries: dict[str, BundleEntryProto]) -> None:
    folder = os.path.dirname(os.path.abspath(prefix))
    shards = 1 if _shards_of(prefix) != 1 else 2
    data_name = data_file(prefix, 0, shards)
    with open(f"{temporary}.index", "wb") as file:
        file.write(index_bytes(entries.items(), shards))
        _to_disk(file)
    _rename(f"{temporary}.data", data_name)
    sync_folder(folder)
    _rename(f"{temporary}.index", f"{prefix}.index")
    sync_folder(folder)
    for other in data_files(prefix):
        if other != data_name:
            with contextlib.suppress(OSError):
                os.remove(other)


@contextlib.contextmanager
def _alone_in(folder: str) -> Iterator[None]:
    """Others who put checkpoints in place in a folder wait; not every system can lock one.

    A lock of the folder itself leaves no file behind, and ends with the process.
    """
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def data_files(prefix: str) -> list[str]:
    """The data files there are under a prefix."""
    return glob.glob(f"{glob.escape(prefix)}.data-?????-of-?????")


def _shards_of(prefix: str) -> int | None:
    """The number that the checkpoint there has; None if there is none that can be read."""
    try:
        return BundleReader(prefix).shards
    except (NotFoundError, DataLossError):
        return None


def _append(file: Any, array: Array) -> BundleEntryProto:
    place = file.tell()
    padding = -place % _ALIGNMENT
    file.write(bytes(padding))
    pieces, crc = content(array)
    for piece in pieces:
        file.write(piece)
    offset = place + padding
    return entry_of(array, 0, offset, file.tell() - offset, crc)


def _to_disk(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: str) -> None:
    """Makes names of files last; not every system can."""
    try:
        handle = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError as e:
        if e.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EROFS):
            raise
    finally:
        os.close(handle)


def _rename(source: str, target: str) -> None:
    """Puts a file into the place of another in one step; where that cannot be, says so."""
    try:
        os.replace(source, target)
    except OSError as e:
        if e.errno not in (errno.ENOTSUP, errno.ENOSYS, errno.EPERM, errno.EXDEV):
            raise
        _log.warning(
            "%s cannot be put in its place by renaming (%s) and is copied: a program that is "
            "killed meanwhile leaves half a file.",
            target,
            e,
        )
        _copy(source, target)
        os.remove(source)


def _copy(source: str, target: str) -> None:
    with open(source, "rb") as old, open(target, "wb") as new:
        while piece := old.read(1 << 24):
            new.write(piece)
        _to_disk(new)


@contextlib.contextmanager
def whole_file(path: str, what: str) -> Iterator[Any]:
    """A file to write into, which takes the place of the one at `path` when all is written."""
    temporary = f"{path}.tmp-{uuid.uuid4().hex[:12]}"
    with file_errors(what, path):
        folder = os.path.dirname(os.path.abspath(path))
        os.makedirs(folder, exist_ok=True)
        try:
            with open(temporary, "wb") as file:
                yield file
                _to_disk(file)
            _rename(temporary, path)
            sync_folder(folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.remove(temporary)
            raise


def write_text(path: str, text: str) -> None:
    """Writes a small file in one step."""
    with whole_file(path, "Writing") as file:
        file.write(text.encode())
