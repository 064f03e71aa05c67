"""What machine code calls: LLVM loads it with an address of 0 for a function that is not there."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator

_MAGIC = b"\x7fELF\x02\x01"  # 64 bits, little-endian
_SYMBOLS = 2  # the kind of a section with symbols
_process = ctypes.CDLL(None)


def undefined(code: bytes) -> Iterator[str]:
    """The names that an ELF object takes from elsewhere; none of other kinds of files."""
    if not code.startswith(_MAGIC):
        return
    (sections,) = struct.unpack_from("<Q", code, 40)
    size, count = struct.unpack_from("<HH", code, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", code, sections + size * i) for i in range(count)]
    for _, kind, _, _, start, length, link, *_ in headers:
        if kind != _SYMBOLS:
            continue
        names = headers[link][4]
        for at in range(start + 24, start + length, 24):  # the first one is nobody's
            name, _, _, section = struct.unpack_from("<IBBH", code, at)
            if not section and name:
                end = code.index(b"\0", names + name)
                yield code[names + name : end].decode()


def is_in_process(name: str) -> bool:
    """Whether a library of this process has a function of that name."""
    return hasattr(_process, name)
