"""Tensors in files as TensorFlow's checkpoints hold them: an index, and data files beside it.

`prefix.index` is a sorted table that says of each tensor what it is, in which of the files
`prefix.data-00000-of-00002` its bytes lie, and their checksum. Every read verifies it.
"""

from __future__ import annotations

import math
import mmap
import operator
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from weft._src.core import dtypes, progress
from weft._src.core.dtypes import DType
from weft._src.errors import DataLossError, NotFoundError, ParseError, UnimplementedError
from weft._src.fileio.crc32c import crc32c, masked
from weft._src.messages.checkpoints import BundleEntryProto, BundleHeaderProto
from weft._src.messages.graphs import VersionDef
from weft._src.messages.tensors import shape_message
from weft._src.messages.wire import packed_varints, read_varint
from weft._src.saving.slice_keys import ALL, slice_key
from weft._src.saving.sorted_table import damaged, table_bytes, table_entries

Array = np.ndarray[Any, Any]
_VERSION = 1
_LITTLE = 0
_MOST_AXES = 64


def data_file(prefix: str, shard: int, count: int) -> str:
    """The name of a data file."""
    return f"{prefix}.data-{shard:05d}-of-{count:05d}"


# --- reading ------------------------------------------------------------------------------------


class _Entry(NamedTuple):
    """What the index says of a tensor: its type, and where it lies, in parts if it has slices."""

    dtype: DType
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int
    crc32c: int
    slices: list[list[tuple[int, int]]]


class BundleReader:
    """The tensors of a checkpoint, each read when it is asked for."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._index_file = f"{prefix}.index"
        try:
            data = Path(self._index_file).read_bytes()
        except FileNotFoundError:
            raise NotFoundError(
                None, None, f"There is no checkpoint {prefix!r}: {self._index_file} is missing."
            ) from None
        entries = dict(table_entries(data, self._index_file))
        if b"" not in entries:
            raise damaged(self._index_file, "it does not say how many data files there are")
        header = self._message(BundleHeaderProto, entries.pop(b""), "the first entry")
        if header.endianness != _LITTLE:
            raise DataLossError(
                None,
                None,
                f"{self._index_file} was written on a machine with the other byte order. Load and "
                "save it there with TensorFlow's SavedModel, which has no byte order.",
            )
        if header.version.min_consumer > _VERSION:
            raise DataLossError(
                None,
                None,
                f"{self._index_file} has version {header.version.producer} of the format, and "
                f"readers of version {header.version.min_consumer} or later are wanted; this one "
                f"is {_VERSION}.",
            )
        self.shards: int = header.num_shards
        self._entries = entries
        self._known: dict[bytes, _Entry] = {}  # entries that were asked for
        self._files: dict[int, memoryview] = {}

    def _message(self, kind: Any, data: bytes, what: str) -> Any:
        try:
            return kind.FromString(data)
        except ParseError:
            raise damaged(self._index_file, f"{what} is no {kind.__name__}") from None

    def names(self) -> list[str]:
        """The names of all tensors, in their order; parts of tensors are not among them."""
        return [key.decode(errors="replace") for key in self._entries if not key.startswith(b"\0")]

    def __contains__(self, key: str) -> bool:
        return key.encode() in self._entries

    def _entry(self, key: str | bytes) -> _Entry:
        """What the index says of a tensor."""
        name = key.encode() if isinstance(key, str) else key
        known = self._known.get(name)
        if known is None:
            if name not in self._entries:
                raise NotFoundError(None, None, f"There is no tensor {key!r} in {self.prefix}.")
            known = self._known[name] = self._parsed(name)
        return known

    def _parsed(self, name: bytes) -> _Entry:
        try:
            entry = BundleEntryProto.FromString(self._entries[name])
            shape = tuple([int(dim.size) for dim in entry.shape.dim])
            slices = [
                [(int(e.start), int(e.length) if e.HasField("length") else ALL) for e in one.extent]
                for one in entry.slices
            ]
        except ParseError:
            raise damaged(self._index_file, f"the entry of {name!r} cannot be read") from None
        try:
            dtype = dtypes.as_dtype(int(entry.dtype))
        except TypeError:
            raise damaged(self._index_file, f"{name!r} has dtype number {entry.dtype}") from None
        if len(shape) > _MOST_AXES or any(size < 0 for size in shape):
            raise damaged(self._index_file, f"{name!r} has the shape {list(shape)}")
        if not 0 <= entry.shard_id < self.shards:
            raise damaged(
                self._index_file, f"{name!r} is in file {entry.shard_id} of {self.shards}"
            )
        return _Entry(dtype, shape, entry.shard_id, entry.offset, entry.size, entry.crc32c, slices)

    def dtype_and_shape(self, key: str) -> tuple[DType, tuple[int, ...]]:
        """The type of a tensor."""
        entry = self._entry(key)
        return entry.dtype, entry.shape

    def read(self, key: str | bytes) -> Array:
        """A tensor; DataLossError if its bytes are not those that were written."""
        entry = self._entry(key)
        dtype, shape = entry.dtype, entry.shape
        if entry.slices:
            return self._joined(key, entry)
        data = self._content(key, entry)
        if dtype in (dtypes.variant, dtypes.resource):
            raise UnimplementedError(
                None,
                None,
                f"{key!r} in {self.prefix} is a {dtype.name}, which only TensorFlow can read.",
            )
        if dtype is dtypes.string:
            return self._strings(key, data, shape, entry)
        if len(data) != math.prod(shape) * dtype.size:
            raise damaged(
                self._index_file,
                f"{key!r} of dtype {dtype.name} and shape {list(shape)} has {len(data)} bytes",
            )
        self._verify(key, entry, crc32c(data))
        return as_array(data, dtype, shape, f"{key!r} in {self.prefix}")

    def _joined(self, key: str | bytes, entry: _Entry) -> Array:
        """A tensor that was written in parts, each under a key of its own."""
        name = key.encode() if isinstance(key, str) else key
        dtype, shape = entry.dtype, entry.shape
        places = [self._place(name, extents, shape) for extents in entry.slices]
        sizes = [math.prod([stop - start for start, stop in place]) for place, _ in places]
        room = sum(
            [len(self._mapped(shard)) for shard in {self._entry(k).shard for _, k in places}]
        )
        least = 1 if dtype is dtypes.string else dtype.size  # bytes of a number in a file
        if sum(sizes) != math.prod(shape) or sum(sizes) * least > room:
            raise damaged(self._index_file, f"the parts of {key!r} do not make up {list(shape)}")
        whole = np.empty(shape, dtype.numpy_dtype)
        filled = np.zeros(shape, np.bool_)
        for place, part_key in places:
            here = tuple([slice(start, stop) for start, stop in place])
            part = self.read(part_key)
            if part.dtype != whole.dtype or part.shape != whole[here].shape or filled[here].any():
                raise damaged(self._index_file, f"a part of {key!r} does not fit at {place}")
            whole[here], filled[here] = part, True
        return whole

    def _place(
        self, name: bytes, extents: list[tuple[int, int]], shape: tuple[int, ...]
    ) -> tuple[list[tuple[int, int]], bytes]:
        """From where to where a part goes along each axis, and its key."""
        place = [
            (start, start + (size if length == ALL else length))
            for (start, length), size in zip(extents, shape, strict=False)
        ]
        inside = all(0 <= start <= stop <= n for (start, stop), n in zip(place, shape))
        if len(extents) != len(shape) or not inside:
            raise damaged(self._index_file, f"a part of {name!r} is at {extents} of {list(shape)}")
        key = slice_key(name, extents)
        if key not in self._entries or self._entry(key).slices:
            raise damaged(self._index_file, f"the part of {name!r} at {place} is missing")
        return place, key

    def verify(self) -> None:
        """Reads everything; DataLossError or NotFoundError at the first that is not as written."""
        for key in progress.each(self._entries, "Reading the checkpoint", len(self._entries)):
            if self._entry(key).dtype is not dtypes.variant:
                self.read(key)

    def _content(self, key: str | bytes, entry: _Entry) -> memoryview:
        file = self._mapped(entry.shard)
        if not 0 <= entry.offset <= entry.offset + entry.size <= len(file):
            name = data_file(self.prefix, entry.shard, self.shards)
            end = entry.offset + entry.size
            raise damaged(name, f"{key!r} ends at byte {end}, and the file has {len(file)}")
        return file[entry.offset : entry.offset + entry.size]

    def _mapped(self, shard: int) -> memoryview:
        """A data file, of which the system reads what is looked at."""
        if shard not in self._files:
            name = data_file(self.prefix, shard, self.shards)
            try:
                with open(name, "rb") as file:
                    empty = not os.fstat(file.fileno()).st_size
                    content: Any = (
                        b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                    )
            except FileNotFoundError:
                raise NotFoundError(
                    None, None, f"The checkpoint {self.prefix!r} is not whole: {name} is missing."
                ) from None
            self._files[shard] = memoryview(content)
        return self._files[shard]

    def _verify(self, key: str | bytes, entry: _Entry, crc: int) -> None:
        found = masked(crc)
        if found != entry.crc32c:
            raise damaged(
                data_file(self.prefix, entry.shard, self.shards),
                f"the checksum of {key!r} is {found:#010x}, and {entry.crc32c:#010x} was written",
            )

    def _strings(
        self, key: str | bytes, data: memoryview, shape: tuple[int, ...], entry: _Entry
    ) -> Array:
        """Lengths, their checksum, and the bytes of all strings."""
        name = data_file(self.prefix, entry.shard, self.shards)
        count = math.prod(shape)
        if count > len(data):  # each length takes a byte at least
            raise damaged(name, f"{key!r} has {len(data)} bytes for {count} strings")
        raw = bytes(data)
        at, lengths, crc = 0, [], 0
        try:
            for _ in range(count):
                length, at = read_varint(raw, at)
                lengths.append(length)
        except IndexError:
            raise damaged(name, f"the lengths of the strings {key!r} are not whole") from None
        crc = crc32c(b"".join([_length_bytes(n) for n in lengths]))
        stored = raw[at : at + 4]
        if stored != masked(crc).to_bytes(4, "little"):
            raise damaged(name, f"the checksum of the lengths of {key!r} is not the one written")
        begin = at + 4
        if sum(lengths) != len(raw) - begin:
            raise damaged(name, f"the strings {key!r} do not fill their place")
        self._verify(key, entry, crc32c(memoryview(raw)[at:], crc))
        out = np.empty(count, object)
        for i, length in enumerate(lengths):
            out[i] = raw[begin : begin + length]
            begin += length
        return out.reshape(shape)


def as_array(data: Any, dtype: DType, shape: tuple[int, ...], what: str) -> Array:
    """The bytes of a tensor as an array, where they lie; DataLossError if they are no numbers."""
    raw = np.frombuffer(data, np.uint8)
    if dtype is dtypes.bool_ and raw.size and np.max(raw) > 1:
        raise DataLossError(None, None, f"{what} has bytes that are neither 0 nor 1, as bool.")
    return raw.view(dtype.numpy_dtype).reshape(shape)


def _length_bytes(length: int) -> bytes:
    """A length as it enters the checksum."""
    return length.to_bytes(4 if length <= 0xFFFFFFFF else 8, "little")


# --- writing ------------------------------------------------------------------------------------


def content(array: Array) -> tuple[list[Any], int]:
    """The bytes of a tensor in pieces, and their checksum."""
    if array.dtype == object:
        strings = [bytes(x) for x in array.reshape(-1)]
        lengths = [len(x) for x in strings]
        crc = crc32c(b"".join([_length_bytes(n) for n in lengths]))
        stored = masked(crc).to_bytes(4, "little")
        crc = crc32c(stored, crc)
        joined = b"".join(strings)
        return [packed_varints(lengths), stored, joined], crc32c(joined, crc)
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    return [data], crc32c(data)


def entry_of(array: Array, shard: int, offset: int, size: int, crc: int) -> BundleEntryProto:
    """What the index says of a tensor."""
    return BundleEntryProto(
        dtype=dtypes.from_numpy(array.dtype).as_datatype_enum
        if array.dtype != object
        else dtypes.string.as_datatype_enum,
        shape=shape_message(array.shape),
        shard_id=shard,
        offset=offset,
        size=size,
        crc32c=masked(crc),
    )


def sliced_entry(part: BundleEntryProto, shape: tuple[int, ...]) -> BundleEntryProto:
    """What the index says of a tensor that is written in parts; `slices` are still to be added."""
    return BundleEntryProto(dtype=part.dtype, shape=shape_message(shape))


def index_bytes(entries: Iterable[tuple[bytes, BundleEntryProto]], shards: int) -> bytes:
    """The index of a bundle."""
    header = BundleHeaderProto(num_shards=shards, version=VersionDef(producer=_VERSION))
    return table_bytes(_sorted(header, entries))


def _sorted(
    header: BundleHeaderProto, entries: Iterable[tuple[bytes, BundleEntryProto]]
) -> Iterator[tuple[bytes, bytes]]:
    yield b"", header.SerializeToString()
    for key, entry in sorted(entries, key=operator.itemgetter(0)):
        yield key, entry.SerializeToString()
