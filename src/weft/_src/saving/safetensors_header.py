"""The header of a safetensors file: what tensors there are, where their bytes lie, and texts.

    8 bytes, the length of the header; the header, JSON; the bytes of all tensors without a gap

Headers of others are read by patterns on the mapped file, one description at a time, and not by a
parser of JSON: what is no header is refused where it is met, and makes no objects before that.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from weft._src.core import dtypes
from weft._src.core.dtypes import DType
from weft._src.saving.sorted_table import damaged

MOST_HEADER_BYTES = 100_000_000  # the format allows no more
METADATA = "__metadata__"
_ALIGNMENT = 64  # of the bytes behind the header
_LARGEST = 2**63 - 1


class Stored(NamedTuple):
    """How the format stores a dtype; one that Weft does not have is only described."""

    name: str
    bits: int
    dtype: DType | None


KINDS = {
    kind.name: kind
    for kind in (
        Stored("BOOL", 8, dtypes.bool_),
        Stored("F4", 4, dtypes.float4_e2m1fn),
        Stored("F6_E2M3", 6, None),
        Stored("F6_E3M2", 6, None),
        Stored("U8", 8, dtypes.uint8),
        Stored("I8", 8, dtypes.int8),
        Stored("F8_E5M2", 8, dtypes.float8_e5m2),
        Stored("F8_E4M3", 8, dtypes.float8_e4m3fn),
        Stored("F8_E8M0", 8, None),
        Stored("F8_E4M3FNUZ", 8, dtypes.float8_e4m3fnuz),
        Stored("F8_E5M2FNUZ", 8, dtypes.float8_e5m2fnuz),
        Stored("I16", 16, dtypes.int16),
        Stored("U16", 16, dtypes.uint16),
        Stored("F16", 16, dtypes.float16),
        Stored("BF16", 16, dtypes.bfloat16),
        Stored("I32", 32, dtypes.int32),
        Stored("U32", 32, dtypes.uint32),
        Stored("F32", 32, dtypes.float32),
        Stored("C64", 64, dtypes.complex64),
        Stored("F64", 64, dtypes.float64),
        Stored("I64", 64, dtypes.int64),
        Stored("U64", 64, dtypes.uint64),
    )
}
BY_DTYPE = {kind.dtype: kind for kind in KINDS.values() if kind.dtype is not None}


class Described(NamedTuple):
    """A tensor as the header describes it; its place counts from the end of the header."""

    kind: Stored
    shape: tuple[int, ...]
    begin: int
    end: int


class Header(NamedTuple):
    """What a header says, and where the bytes of tensors begin."""

    tensors: dict[str, Described]  # as they lie in the file
    metadata: dict[str, str]
    data_at: int


# --- writing ------------------------------------------------------------------------------------


def header_bytes(tensors: dict[str, Described], metadata: dict[str, str]) -> bytes:
    """A header with its length, filled up with blanks so that tensors are aligned."""
    content: dict[str, Any] = {METADATA: metadata} if metadata else {}
    for name, (kind, shape, begin, end) in tensors.items():
        content[name] = {"dtype": kind.name, "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    return len(text).to_bytes(8, "little") + text


# --- reading ------------------------------------------------------------------------------------

_BLANK = rb"[ \t\n\r]*"
_NUMBER = rb"(?:0|[1-9][0-9]{0,19})"
_NUMBERS = rb"%b(?:%b,%b%b){0,63}" % (_NUMBER, _BLANK, _BLANK, _NUMBER)  # NumPy has 64 axes
_FIELD = re.compile(
    rb'%b"(dtype|shape|data_offsets)"%b:%b(?:"([A-Z0-9_]{1,24})"|(\[%b(?:%b)?%b\]))%b([,}])'
    % (_BLANK, _BLANK, _BLANK, _BLANK, _NUMBERS, _BLANK, _BLANK)
)
# All of a tensor, as most are written; what does not match is looked at part by part.
_TENSOR = re.compile(
    rb'"([^"\\\x00-\x1f]*)":\{"dtype":"([A-Z0-9_]{1,24})","shape":\[((?:%b)?)\],'
    rb'"data_offsets":\[(%b),(%b)\]\}([,}])' % (_NUMBERS, _NUMBER, _NUMBER)
)
_MARK = re.compile(rb"%b([^ \t\n\r])" % _BLANK)
_PLAIN = re.compile(rb'[^"\\\x00-\x1f]*')
_DIGITS = re.compile(rb"[0-9]+")


def read_header(data: Any, file: str) -> Header:
    """Reads the header of a mapped file; DataLossError if the file is not as the format wants it.

    Every tensor then lies within the file, has the bytes that its dtype and shape take, and
    overlaps no other; and every byte belongs to a tensor.
    """
    if len(data) < 8:
        raise damaged(file, f"it has {len(data)} bytes, and the length of its header alone takes 8")
    size = int.from_bytes(data[:8], "little")
    if size > MOST_HEADER_BYTES:
        raise damaged(
            file,
            f"its header would have {size} bytes, and {MOST_HEADER_BYTES} are allowed; "
            "is it a safetensors file?",
        )
    if size > len(data) - 8:
        raise damaged(file, f"its header would have {size} bytes, and {len(data) - 8} are there")
    tensors, metadata = _Reading(data, 8 + size, file).header()
    _check_places(tensors, len(data) - 8 - size, file)
    by_place = sorted(tensors.items(), key=lambda item: item[1][2:])
    return Header(dict(by_place), metadata, 8 + size)


class _Reading:
    """A header that is being read, from one place to the next."""

    def __init__(self, data: Any, end: int, file: str) -> None:
        self.data, self.end, self.file = data, end, file
        self.at = 8

    def header(self) -> tuple[dict[str, Described], dict[str, str]]:
        if self.data[8:9] != b"{":
            self.refuse("its header does not begin with '{'")
        tensors: dict[str, Described] = {}
        metadata: dict[str, str] | None = None
        for name, found in self.members():
            if name == METADATA:
                if metadata is not None:
                    self.refuse(f"{METADATA} is there twice")
                metadata = self.metadata()
            elif name in tensors:
                self.refuse(f"there are two tensors {name!r}")
            else:
                tensors[name] = found or self.tensor(name)
        if _MARK.match(self.data, self.at, self.end) is not None:
            self.refuse("there is more behind its end")
        return tensors, metadata or {}

    def members(self) -> Iterator[tuple[str, Described | None]]:
        """The names of an object; behind each the place is where its value begins.

        A tensor that is written as usual comes with its name.
        """
        self.mark(b"{")
        more = self.mark(b'"}')
        while more != b"}":
            match = _TENSOR.match(self.data, self.at - 1, self.end)
            if match is not None and (found := self.usual(match)) is not None:
                self.at = match.end()
                yield found
                more = match[6]
            else:
                name = self.text()
                self.mark(b":")
                yield name, None
                more = self.mark(b",}")
            if more == b",":
                self.mark(b'"')

    def usual(self, match: re.Match[bytes]) -> tuple[str, Described] | None:
        name, kind, shape, begin, end, _ = match.groups()
        stored = KINDS.get(kind.decode())
        if stored is None or name == METADATA.encode():
            return None
        try:
            text = name.decode()
        except UnicodeDecodeError:
            return None
        sizes = tuple([int(n) for n in shape.split(b",")]) if shape else ()
        return text, Described(stored, sizes, int(begin), int(end))

    def mark(self, allowed: bytes, otherwise: str | None = None) -> bytes:
        """The next sign, one of those that may stand there."""
        match = _MARK.match(self.data, self.at, self.end)
        if match is None or match[1] not in allowed:
            self.refuse(otherwise or f"{' or '.join(allowed.decode())} is wanted in its header")
        self.at = match.end()
        return bytes(match[1])

    def text(self) -> str:
        """A text, from behind the sign that begins it."""
        begin, is_plain = self.at, True
        end = _PLAIN.match(self.data, begin, self.end).end()  # type: ignore[union-attr]
        while self.data[end : end + 1] == b"\\" and end + 2 <= self.end:
            is_plain = False
            end = _PLAIN.match(self.data, end + 2, self.end).end()  # type: ignore[union-attr]
        if end >= self.end or self.data[end : end + 1] != b'"':
            self.refuse("a text does not end")
        self.at = end + 1
        written = bytes(self.data[begin:end])
        try:
            text = written.decode() if is_plain else json.loads(b'"' + written + b'"')
            text.encode()  # half of a pair of surrogates is no character
        except ValueError:
            self.refuse("a text is not UTF-8, or has an escape that JSON does not know")
        return str(text)

    def metadata(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, tensor in self.members():
            if tensor is not None:
                self.refuse(f"{name!r} in {METADATA} is no text")
            if name in found:
                self.refuse(f"{METADATA} has {name!r} twice")
            self.mark(b'"', f"{name!r} in {METADATA} is no text")
            found[name] = self.text()
        return found

    def tensor(self, name: str) -> Described:
        self.mark(b"{")
        found: dict[bytes, Any] = {}
        more = b","
        while more == b",":
            match = _FIELD.match(self.data, self.at, self.end)
            if match is None:
                self.refuse(
                    f"the tensor {name!r} is not described by dtype, shape and data_offsets"
                )
            field, kind, numbers, more = match.groups()
            if field in found or (kind is None) == (field == b"dtype"):
                self.refuse(f"the tensor {name!r} has {field.decode()} twice, or of the wrong kind")
            found[field] = kind or tuple([int(n) for n in _DIGITS.findall(numbers)])
            self.at = match.end()
        if len(found) != 3 or len(found[b"data_offsets"]) != 2:
            self.refuse(f"the tensor {name!r} needs a dtype, a shape and two data_offsets")
        stored = KINDS.get(found[b"dtype"].decode())
        if stored is None:
            self.refuse(f"the tensor {name!r} has the dtype {found[b'dtype'].decode()!r}")
        return Described(stored, found[b"shape"], *found[b"data_offsets"])

    def refuse(self, what: str) -> NoReturn:
        near = bytes(self.data[self.at : min(self.end, self.at + 24)])
        raise damaged(self.file, f"{what} (byte {self.at}, {near!r})")


def _check_places(tensors: dict[str, Described], size: int, file: str) -> None:
    """Tensors have the bytes that they need, and lie one behind the other."""
    at = 0
    for name, (kind, shape, begin, end) in sorted(tensors.items(), key=lambda item: item[1][2:]):
        if begin != at:
            what = "overlaps what is before it" if begin < at else "leaves a hole before it"
            raise damaged(file, f"the tensor {name!r} begins at byte {begin} and {what} ({at})")
        if end < begin or end > size:
            raise damaged(file, f"the tensor {name!r} ends at byte {end} of {size}")
        if math.prod([n for n in shape if n]) * kind.bits > _LARGEST:
            raise damaged(file, f"the tensor {name!r} has the shape {list(shape)}")
        if math.prod(shape) * kind.bits != 8 * (end - begin):
            raise damaged(
                file,
                f"the tensor {name!r} of dtype {kind.name} and shape {list(shape)} has "
                f"{end - begin} bytes",
            )
        at = end
    if at != size:
        raise damaged(file, f"{size - at} bytes at its end belong to no tensor")
