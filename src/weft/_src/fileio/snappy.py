"""Files compressed with Snappy, as TensorFlow writes snapshots: blocks, each behind its length."""

from __future__ import annotations

from weft._src.errors import ParseError
from weft._src.fileio.paths import file_errors
from weft._src.fileio.streams import CHUNK, InputStream
from weft._src.messages.wire import read_varint

_LITERAL, _NEAR, _FAR = 0, 1, 2  # kinds of parts; 3 is a copy from anywhere
_LONG = 60  # lengths of literals from which on they are bytes of their own


def decompressed(block: bytes) -> bytes:
    r"""What a block holds; ParseError if it is corrupt.

    >>> decompressed(b"\x06\x04ab\x01\x02")
    b'ababab'
    """
    out = bytearray()
    try:
        size, at = read_varint(block, 0, longest=5)
        while at < len(block) and len(out) <= size:
            at = _part(block, at, out)
    except IndexError:
        raise ParseError("a block of Snappy is cut short") from None
    if at != len(block) or len(out) != size:
        raise ParseError(f"a block of Snappy does not hold the {size} bytes it should")
    return bytes(out)


def _part(block: bytes, at: int, out: bytearray) -> int:
    """Adds one part to what was decompressed; the place behind it."""
    tag = block[at]
    kind, length = tag & 3, tag >> 2
    at += 1
    if kind == _LITERAL:
        if length >= _LONG:
            width = length - _LONG + 1
            length = int.from_bytes(block[at : at + width], "little")
            at += width
        out += block[at : at + length + 1]
        return at + length + 1
    if kind == _NEAR:
        back = (tag >> 5) << 8 | block[at]
        length, width = (length & 7) + 4, 1
    else:
        width = 2 if kind == _FAR else 4
        back = int.from_bytes(block[at : at + width], "little")
        length += 1
    if not 0 < back <= len(out):
        raise ParseError("a block of Snappy repeats what is not there")
    piece = out[len(out) - back : len(out) - back + length]
    # A copy may reach into itself: then what is there is repeated.
    out += piece if back >= length else (piece * (length // back + 1))[:length]
    return at + width


class SnappyStream(InputStream):
    """A file of such blocks, read from front to back."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(path, "", what)
        self._block, self._at = b"", 0  # what was decompressed, and how far it was read

    def _some(self, n: int) -> bytes:
        while self._at == len(self._block):
            header = self._from_file(4)
            if not header:
                return b""
            size = int.from_bytes(header, "big")
            block = self._from_file(size)
            if len(header) < 4 or len(block) < size:
                raise self._lost("the compressed data is cut short")
            try:
                self._block, self._at = decompressed(block), 0
            except ParseError as error:
                raise self._lost(f"the compressed data is corrupt ({error})") from error
        out = self._block[self._at : self._at + n]
        self._at += len(out)
        return out

    def _from_file(self, n: int) -> bytes:
        """Up to n bytes as they stand there; a length that is wrong takes no memory."""
        parts: list[bytes] = []
        while n > 0:
            with file_errors(self._what, self.path):
                part = self._file.read(min(n, CHUNK)) or b""
            if not part:
                break
            parts.append(part)
            n -= len(part)
        return b"".join(parts)

    def skip(self, n: int) -> None:
        """Goes on by n bytes."""
        while n > 0 and (got := len(self.read(min(n, CHUNK)))):
            n -= got
