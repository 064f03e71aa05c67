"""CRC-32C, the checksum of TFRecord files.

A large amount of data goes through compiled code: the `google_crc32c` package if it is installed,
else a function of a few instructions that is compiled when enough data has come to be worth it
(about 0.1 s). Until then a table is enough. Another one looks for all whole records in a piece of a
file, and checks them.
"""

from __future__ import annotations

import ctypes
import functools
import platform
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

_POLYNOMIAL = 0x82F63B78  # Castagnoli's, with the lowest bit first
_WORTH_COMPILING = 1 << 16  # bytes; about 5 ms with the table
_WORTH_AN_ADDRESS = 1 << 12  # bytes; fewer are copied sooner than NumPy tells where they lie
_MASK_DELTA = 0xA282EAD8

Data = bytes | memoryview
Extend = Callable[[int, Any], int]


@functools.cache
def _table() -> list[int]:
    out = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0)
        out.append(crc)
    return out


def _extend_slowly(crc: int, data: Data) -> int:
    table = _table()
    crc ^= 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _installed() -> Extend | None:
    """The function of the google_crc32c package."""
    try:
        import google_crc32c
    except ImportError:
        return None
    return lambda crc, data: google_crc32c.extend(crc, bytes(data))  # no copy of what is bytes


# Eight bytes at a time with the processor's own instruction.
_IR_SSE42 = """
declare i64 @llvm.x86.sse42.crc32.64.64(i64, i64)
declare i32 @llvm.x86.sse42.crc32.32.8(i32, i8)

define i32 @crc32c(i32 %start, ptr %data, i64 %n) {
entry:
  %first = xor i32 %start, -1
  %wide = zext i32 %first to i64
  %words = lshr i64 %n, 3
  %some = icmp ne i64 %words, 0
  br i1 %some, label %long, label %rest
long:
  %i = phi i64 [ 0, %entry ], [ %i2, %long ]
  %c = phi i64 [ %wide, %entry ], [ %c2, %long ]
  %p = getelementptr i64, ptr %data, i64 %i
  %w = load i64, ptr %p, align 1
  %c2 = call i64 @llvm.x86.sse42.crc32.64.64(i64 %c, i64 %w)
  %i2 = add i64 %i, 1
  %more = icmp ult i64 %i2, %words
  br i1 %more, label %long, label %rest
rest:
  %after = phi i64 [ %wide, %entry ], [ %c2, %long ]
  %narrow = trunc i64 %after to i32
  %done = shl i64 %words, 3
  %left = icmp ult i64 %done, %n
  br i1 %left, label %short, label %end
short:
  %j = phi i64 [ %done, %rest ], [ %j2, %short ]
  %s = phi i32 [ %narrow, %rest ], [ %s2, %short ]
  %q = getelementptr i8, ptr %data, i64 %j
  %b = load i8, ptr %q
  %s2 = call i32 @llvm.x86.sse42.crc32.32.8(i32 %s, i8 %b)
  %j2 = add i64 %j, 1
  %again = icmp ult i64 %j2, %n
  br i1 %again, label %short, label %end
end:
  %last = phi i32 [ %narrow, %rest ], [ %s2, %short ]
  %out = xor i32 %last, -1
  ret i32 %out
}
"""

# One byte at a time with the table.
_IR_TABLE = """
@table = private constant [256 x i32] [{numbers}]

define i32 @crc32c(i32 %start, ptr %data, i64 %n) {{
entry:
  %first = xor i32 %start, -1
  %some = icmp ne i64 %n, 0
  br i1 %some, label %short, label %end
short:
  %j = phi i64 [ 0, %entry ], [ %j2, %short ]
  %s = phi i32 [ %first, %entry ], [ %s2, %short ]
  %q = getelementptr i8, ptr %data, i64 %j
  %b = load i8, ptr %q
  %wide = zext i8 %b to i32
  %mixed = xor i32 %s, %wide
  %low = and i32 %mixed, 255
  %e = getelementptr [256 x i32], ptr @table, i64 0, i32 %low
  %t = load i32, ptr %e
  %rest = lshr i32 %s, 8
  %s2 = xor i32 %t, %rest
  %j2 = add i64 %j, 1
  %again = icmp ult i64 %j2, %n
  br i1 %again, label %short, label %end
end:
  %last = phi i32 [ %first, %entry ], [ %s2, %short ]
  %out = xor i32 %last, -1
  ret i32 %out
}}
"""


# The whole records of %data from %at on: where their bytes begin, and how many there are, until one
# is cut short or its checksums are wrong. Lengths have any value, so none is added to before it is
# known to be small enough.
_IR_RECORDS = """
define internal i32 @masked(ptr %data, i64 %n) {
  %crc = call i32 @crc32c(i32 0, ptr %data, i64 %n)
  %low = lshr i32 %crc, 15
  %high = shl i32 %crc, 17
  %turned = or i32 %low, %high
  %out = add i32 %turned, -1568478504
  ret i32 %out
}

define i64 @records(ptr %data, i64 %at, i64 %n, ptr %starts, ptr %sizes, i64 %most) {
entry:
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %k2, %found ]
  %p = phi i64 [ %at, %entry ], [ %p2, %found ]
  %wanted = icmp ult i64 %k, %most
  %left = sub i64 %n, %p
  %framed = icmp uge i64 %left, 16
  %some = and i1 %wanted, %framed
  br i1 %some, label %header, label %end
header:
  %head = getelementptr i8, ptr %data, i64 %p
  %size = load i64, ptr %head, align 1
  %room = sub i64 %left, 16
  %whole = icmp ule i64 %size, %room
  br i1 %whole, label %check, label %end
check:
  %first.at = getelementptr i8, ptr %head, i64 8
  %first = load i32, ptr %first.at, align 1
  %first.is = call i32 @masked(ptr %head, i64 8)
  %first.fine = icmp eq i32 %first, %first.is
  br i1 %first.fine, label %body, label %end
body:
  %start = add i64 %p, 12
  %bytes = getelementptr i8, ptr %data, i64 %start
  %second.at = getelementptr i8, ptr %bytes, i64 %size
  %second = load i32, ptr %second.at, align 1
  %second.is = call i32 @masked(ptr %bytes, i64 %size)
  %second.fine = icmp eq i32 %second, %second.is
  br i1 %second.fine, label %found, label %end
found:
  %start.to = getelementptr i64, ptr %starts, i64 %k
  store i64 %start, ptr %start.to
  %size.to = getelementptr i64, ptr %sizes, i64 %k
  store i64 %size, ptr %size.to
  %k2 = add i64 %k, 1
  %framed.size = add i64 %size, 16
  %p2 = add i64 %p, %framed.size
  br label %next
end:
  ret i64 %k
}
"""


class _Machine:
    """Compiled code, which lives as long as this."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        word, place = ctypes.c_size_t, ctypes.c_void_p
        extend = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32, place, word)
        self._extend: Any = extend(engine.get_function_address("crc32c"))
        records = ctypes.CFUNCTYPE(word, ctypes.c_char_p, word, word, place, place, word)
        self._records: Any = records(engine.get_function_address("records"))

    def extend(self, crc: int, data: Data) -> int:
        """The checksum of more bytes."""
        if isinstance(data, bytes) or len(data) <= _WORTH_AN_ADDRESS:
            return int(self._extend(crc, bytes(data), len(data)))
        array = np.frombuffer(data, np.uint8)  # where it lies, also of what nobody may write
        return int(self._extend(crc, array.ctypes.data, array.size))

    def records(self, data: bytes, at: int) -> list[bytes]:
        """All whole records from a place on, as far as they are right."""
        most = (len(data) - at) // 16  # the shortest are empty
        places = np.empty((2, most), np.int64)
        starts, sizes = places.ctypes.data, places.ctypes.data + places.strides[0]
        count = self._records(data, at, len(data), starts, sizes, most)
        ends = (places[0, :count] + places[1, :count]).tolist()
        return [data[i:k] for i, k in zip(places[0, :count].tolist(), ends, strict=True)]


@functools.cache
def _machine() -> _Machine | None:
    """None where there is no LLVM: the table is slow, and right."""
    try:
        return _Machine(_compiled())
    except (ImportError, OSError, RuntimeError):
        return None


def whole_records(data: bytes, at: int) -> list[bytes]:
    """The records of a piece of a TFRecord file, up to one that is wrong or goes on behind it.

    None are found, and have to be read one by one, where there is no compiled code.
    """
    machine = _machine() if sys.byteorder == "little" else None
    return [] if machine is None else machine.records(data, at)


def _compiled() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    is_x86 = platform.machine().lower() in ("x86_64", "amd64")
    if is_x86 and features.get("sse4.2") and features.get("crc32"):
        source, wanted = _IR_SSE42, "+sse4.2,+crc32"
    else:
        source, wanted = _IR_TABLE.format(numbers=", ".join(f"i32 {n}" for n in _table())), ""
    target = llvm.Target.from_default_triple().create_target_machine(opt=2, features=wanted)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(source + _IR_RECORDS), target)
    engine.finalize_object()
    return engine


class _Chooser:
    """The function in use: the table at first, compiled code once much has been asked for."""

    def __init__(self) -> None:
        self._seen = 0
        self.extend: Extend = _installed() or self._count

    def _count(self, crc: int, data: Data) -> int:
        self._seen += len(data)
        if self._seen < _WORTH_COMPILING:
            return _extend_slowly(crc, data)
        machine = _machine()
        self.extend = _extend_slowly if machine is None else machine.extend
        return self.extend(crc, data)


_chooser = _Chooser()


def crc32c(data: Data, crc: int = 0) -> int:
    """The checksum of bytes; given that of what came before them, of both together.

    >>> from weft._src.fileio.crc32c import crc32c, masked_crc32c
    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    return _chooser.extend(crc, data)


def masked_crc32c(data: bytes) -> int:
    """The checksum as TFRecord files hold it: rotated, so that files in files are no trouble.

    >>> from weft._src.fileio.crc32c import masked_crc32c
    >>> hex(masked_crc32c(b"123456789"))
    '0xc78ab0e5'
    """
    return masked(_chooser.extend(0, data))


def masked(crc: int) -> int:
    """A checksum as files hold it."""
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF
