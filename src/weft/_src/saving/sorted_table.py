"""The index of a checkpoint: a sorted table of keys and values, in the form LevelDB has for it.

    block*  block of handles  48 bytes

A block holds entries (the length of what a key shares with the one before, of what is its own, of
the value; then both), the places of the entries whose keys are whole, and how many these are;
behind it stand a byte for its compression and a checksum. The last entries are an empty block, a
block with the place of each block under its last key, and the places of these two.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from weft._src.errors import DataLossError
from weft._src.fileio.crc32c import crc32c, masked, masked_crc32c
from weft._src.messages.wire import read_varint, varint

_FOOTER = 48
_MAGIC = 0xDB4775248B80FB57
_TRAILER = 5
_BLOCK_SIZE = 1 << 18
_WHOLE_KEY_EVERY = 16


def table_bytes(entries: Iterable[tuple[bytes, bytes]]) -> bytes:
    """A table of entries, which come in the order of their keys."""
    out = bytearray()
    handles: list[tuple[bytes, bytes]] = []
    block = Block(_WHOLE_KEY_EVERY)
    for key, value in entries:
        if block.size >= _BLOCK_SIZE:
            handles.append((block.last_key, _append(out, block)))
            block = Block(_WHOLE_KEY_EVERY)
        block.add(key, value)
    if not block.is_empty:
        handles.append((block.last_key, _append(out, block)))
    meta = _append(out, Block(1))
    index = Block(1)
    for key, handle in handles:
        index.add(key, handle)
    places = meta + _append(out, index)
    return bytes(out) + places.ljust(_FOOTER - 8, b"\0") + struct.pack("<Q", _MAGIC)


class Block:
    """A block that is being written."""

    def __init__(self, whole_key_every: int) -> None:
        self._data = bytearray()
        self._whole = [0]  # places of entries with whole keys
        self._every = whole_key_every
        self._count = 0
        self.last_key = b""

    @property
    def size(self) -> int:
        return len(self._data)

    @property
    def is_empty(self) -> bool:
        return not self._count

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self._count % self._every == 0:
            if self._count:
                self._whole.append(len(self._data))
        else:
            most = min(len(key), len(self.last_key))
            while shared < most and key[shared] == self.last_key[shared]:
                shared += 1
        self._data += varint(shared) + varint(len(key) - shared) + varint(len(value))
        self._data += key[shared:] + value
        self.last_key = key
        self._count += 1

    def bytes(self) -> bytes:
        ends = struct.pack(f"<{len(self._whole) + 1}I", *self._whole, len(self._whole))
        return bytes(self._data) + ends


def _append(out: bytearray, block: Block) -> bytes:
    """Writes a block; the bytes that say where it lies."""
    data = block.bytes() + b"\0"  # not compressed
    handle = varint(len(out)) + varint(len(data) - 1)
    out += data + struct.pack("<I", masked_crc32c(data))
    return handle


# --- reading ------------------------------------------------------------------------------------


def table_entries(data: bytes, file: str) -> Iterator[tuple[bytes, bytes]]:
    """The entries of a table in their order; DataLossError, naming the file, if it is damaged."""
    try:
        yield from _entries(data, file)
    except (IndexError, struct.error):
        raise damaged(file, "an entry leads outside of its block") from None


def damaged(file: str, what: str) -> DataLossError:
    """The error of a file that is not as it was written."""
    return DataLossError(None, None, f"{file} is damaged: {what}.")


def _entries(data: bytes, file: str) -> Iterator[tuple[bytes, bytes]]:
    if len(data) < _FOOTER:
        raise damaged(file, f"it has {len(data)} bytes, and its last part alone is {_FOOTER} long")
    footer = data[-_FOOTER:]
    (magic,) = struct.unpack_from("<Q", footer, _FOOTER - 8)
    if magic != _MAGIC:
        raise damaged(file, "it does not end as an index does; is it the index of a checkpoint?")
    _, at = _handle(footer, 0)
    (offset, size), _ = _handle(footer, at)
    last: bytes | None = None
    for _, handle in _block_entries(_block(data, offset, size, file)):
        (offset, size), _ = _handle(handle, 0)
        for key, value in _block_entries(_block(data, offset, size, file)):
            if last is not None and key <= last:
                raise damaged(file, f"the key {key!r} comes after {last!r}")
            last = key
            yield key, value


def _handle(data: bytes, at: int) -> tuple[tuple[int, int], int]:
    offset, at = read_varint(data, at)
    size, at = read_varint(data, at)
    return (offset, size), at


def _block(data: bytes, offset: int, size: int, file: str) -> bytes:
    end = offset + size + _TRAILER
    if end > len(data) - _FOOTER:
        raise damaged(file, f"a block ends at byte {end} of {len(data)}")
    block = data[offset : offset + size + 1]
    (stored,) = struct.unpack_from("<I", data, offset + size + 1)
    found = masked(crc32c(block))
    if stored != found:
        raise damaged(
            file, f"the checksum of a block is {found:#010x}, and {stored:#010x} was written"
        )
    if block[-1]:
        raise damaged(file, f"a block is compressed by method {block[-1]}, which no index is")
    return block[:-1]


def _block_entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    (whole,) = struct.unpack_from("<I", block, len(block) - 4)
    end = len(block) - 4 * (whole + 1)
    if end < 0:
        raise IndexError
    at, key = 0, b""
    while at < end:
        shared, at = read_varint(block, at)
        own, at = read_varint(block, at)
        size, at = read_varint(block, at)
        if shared > len(key) or at + own + size > end:
            raise IndexError
        key = key[:shared] + block[at : at + own]
        yield key, block[at + own : at + own + size]
        at += own + size
