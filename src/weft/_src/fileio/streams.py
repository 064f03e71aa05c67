"""Reading files from front to back, decompressed if they are GZIP or ZLIB, with errors by name."""

from __future__ import annotations

import zlib
from typing import Any

from weft._src.errors import ArgumentError, DataLossError
from weft._src.fileio.paths import file_errors

CHUNK = 1 << 18
WINDOW_BITS = {"GZIP": 31, "ZLIB": 15}


def compression_name(what: str, value: Any) -> str:
    """The name of a compression: "", "GZIP" or "ZLIB"."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if not isinstance(value, str) or value not in ("", "GZIP", "ZLIB"):
        raise ArgumentError(
            f'{what}: compression_type must be "", "GZIP" or "ZLIB", got {value!r}.'
        )
    return str(value)


class InputStream:
    """A file that is read from front to back; `offset` counts the (decompressed) bytes read."""

    def __init__(self, path: str, compression: str = "", what: str = "read") -> None:
        self.path = path
        self.offset = 0
        self._what = what
        with file_errors(what, path):
            self._file = open(path, "rb", buffering=0)  # noqa: SIM115 - closed by close()
        self._bits = WINDOW_BITS.get(compression)
        self._decompressor: Any = None if self._bits is None else zlib.decompressobj(self._bits)
        self._started = False
        self._input = b""

    def read(self, n: int) -> bytes:
        """Up to n bytes, fewer only at the end."""
        parts: list[bytes] = []
        left = n
        while left > 0:
            part = self._some(min(left, 1 << 24))  # never more memory than there is content
            if not part:
                break
            parts.append(part)
            left -= len(part)
        self.offset += n - left
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _some(self, n: int) -> bytes:
        with file_errors(self._what, self.path):
            if self._decompressor is None:
                return self._file.read(n) or b""
            return self._decompressed(n)

    def _decompressed(self, n: int) -> bytes:
        while True:
            if not self._input:
                self._input = self._file.read(CHUNK) or b""
                if not self._input:
                    if self._started:
                        raise self._lost("the compressed data is cut short")
                    return b""
            try:
                out: bytes = self._decompressor.decompress(self._input, n)
            except zlib.error as error:
                raise self._lost(f"the compressed data is corrupt ({error})") from error
            self._started = True
            if self._decompressor.eof:  # maybe another stream follows
                self._input = self._decompressor.unused_data
                self._decompressor = zlib.decompressobj(self._bits or 0)
                self._started = False
            else:
                self._input = self._decompressor.unconsumed_tail
            if out:
                return out

    def _lost(self, text: str) -> DataLossError:
        return DataLossError(
            None, None, f"{self._what}: {self.path}, at offset {self.offset}: {text}."
        )

    def skip(self, n: int) -> None:
        """Goes on by n bytes."""
        if self._decompressor is None:
            with file_errors(self._what, self.path):
                self._file.seek(n, 1)
            self.offset += n
            return
        while n > 0:
            got = len(self.read(min(n, CHUNK)))
            if not got:
                return
            n -= got

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):  # it may not have been found
            self._file.close()
