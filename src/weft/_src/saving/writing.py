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
import itertools
import logging
import os
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from weft._src.core import progress
from weft._src.errors import DataLossError, NotFoundError
from weft._src.fileio.paths import file_errors
from weft._src.messages.checkpoints import BundleEntryProto, Extent, TensorSliceProto
from weft._src.saving.bundle import (
    BundleReader,
    content,
    data_file,
    entry_of,
    index_bytes,
    sliced_entry,
)
from weft._src.saving.sharding import extents_of
from weft._src.saving.slice_keys import ALL, slice_key

Array = np.ndarray[Any, Any]
_log = logging.getLogger("weft")
_ALIGNMENT = 64  # of tensors in a data file, so that they can be used where they lie


# What a file holds: keys, arrays, and which part of the tensor each is ("" is all of it).
Piece = tuple[str, Array, str]


def write_bundle(prefix: str, arrays: Sequence[tuple[str, Array]]) -> None:
    """Writes tensors under a prefix, instead of what was there."""
    write_files(prefix, [[(key, array, "") for key, array in arrays]])


def write_files(prefix: str, files: Sequence[Sequence[Piece]]) -> None:
    """Writes tensors and parts of tensors under a prefix, divided among files."""
    count = sum(map(len, files))
    told = iter(progress.each(itertools.chain(*files), f"Saving {os.path.basename(prefix)}", count))
    with file_errors("Saving a checkpoint", prefix):
        _write_files(prefix, [itertools.islice(told, len(pieces)) for pieces in files])


def _write_files(prefix: str, files: list[Iterator[Piece]]) -> None:
    folder = os.path.dirname(os.path.abspath(prefix))
    os.makedirs(folder, exist_ok=True)
    temporary = f"{prefix}.tmp-{uuid.uuid4().hex[:12]}"
    written = [f"{temporary}.data{number}" for number in range(len(files))]
    entries: dict[bytes, BundleEntryProto] = {}
    try:
        for number, (name, pieces) in enumerate(zip(written, files, strict=True)):
            with open(name, "wb") as file:
                for key, array, part in pieces:
                    _note(entries, key, part, _append(file, array, number))
                _to_disk(file)
        with _alone_in(folder):
            _put_in_place(prefix, temporary, written, entries)
    except BaseException:
        for name in (*written, f"{temporary}.index"):
            with contextlib.suppress(OSError):
                os.remove(name)
        raise


def _note(
    entries: dict[bytes, BundleEntryProto], key: str, part: str, entry: BundleEntryProto
) -> None:
    """Enters a tensor, or a part of one under a key of its own."""
    name = key.encode()
    if not part:
        entries[name] = entry
        return
    shape, extents = extents_of(key, part)
    whole = entries.setdefault(name, sliced_entry(entry, shape))
    places = [
        Extent(start=start) if length == ALL else Extent(start=start, length=length)
        for start, length in extents
    ]
    whole.slices.append(TensorSliceProto(extent=places))
    entries[slice_key(name, extents)] = entry


def _put_in_place(
    prefix: str, temporary: str, written: list[str], entries: dict[bytes, BundleEntryProto]
) -> None:
    folder = os.path.dirname(os.path.abspath(prefix))
    count = len(written)
    shards = count if _shards_of(prefix) != count else count + 1
    names = [data_file(prefix, number, shards) for number in range(count)]
    with open(f"{temporary}.index", "wb") as file:
        file.write(index_bytes(entries.items(), shards))
        _to_disk(file)
    for source, target in zip(written, names, strict=True):
        _rename(source, target)
    sync_folder(folder)
    _rename(f"{temporary}.index", f"{prefix}.index")
    sync_folder(folder)
    for other in data_files(prefix):
        if other not in names:
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


def _append(file: Any, array: Array, shard: int) -> BundleEntryProto:
    place = file.tell()
    padding = -place % _ALIGNMENT
    file.write(bytes(padding))
    pieces, crc = content(array)
    for piece in pieces:
        file.write(piece)
    offset = place + padding
    return entry_of(array, shard, offset, file.tell() - offset, crc)


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
