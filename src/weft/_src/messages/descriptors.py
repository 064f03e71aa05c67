"""Messages of others, known by their descriptors: what `tf.io.decode_proto` reads and writes.

A descriptor is a message itself (`FileDescriptorSet`), of which the few fields that matter are read
from its bytes. Messages that Weft has classes of are known without one.
"""

from __future__ import annotations

import functools
import struct
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from weft._src.errors import InvalidArgumentError
from weft._src.messages import kinds, wire
from weft._src.messages.table import ManyMessages, ManyValues, MapField, OneValue, declared

# By number, as descriptors tell them: the name, and how it is stored.
TYPES = {
    1: ("double", wire.FIXED64), 2: ("float", wire.FIXED32), 3: ("int64", wire.VARINT),
    4: ("uint64", wire.VARINT), 5: ("int32", wire.VARINT), 6: ("fixed64", wire.FIXED64),
    7: ("fixed32", wire.FIXED32), 8: ("bool", wire.VARINT), 9: ("string", wire.BYTES),
    11: ("message", wire.BYTES), 12: ("bytes", wire.BYTES), 13: ("uint32", wire.VARINT),
    14: ("enum", wire.VARINT), 15: ("sfixed32", wire.FIXED32), 16: ("sfixed64", wire.FIXED64),
    17: ("sint32", wire.VARINT), 18: ("sint64", wire.VARINT),
}  # fmt: skip
_STORED = dict(TYPES.values())
_FORMATS = {
    "double": "d", "float": "f", "fixed64": "Q", "fixed32": "I", "sfixed64": "q", "sfixed32": "i",
}  # fmt: skip
_BITS = {"int32": 32, "enum": 32, "uint32": 32, "sint32": 32}
_SIGNED = frozenset({"int32", "int64", "enum"})
TEXTS = frozenset({"string", "bytes", "message"})
_REPEATED = 3


class FieldInfo(NamedTuple):
    """A field of a message: its number, type, whether there may be many, and its default."""

    name: str
    number: int
    type: str
    repeated: bool = False
    packed: bool = False
    default: Any = None

    def values_of(self, stored: int, content: Any) -> list[Any]:
        """The values that one field in bytes holds; none if it is stored in another way."""
        wanted = _STORED[self.type]
        if stored == wanted:
            return [self._value(content)]
        if stored != wire.BYTES or not self.repeated:
            return []
        if wanted == wire.VARINT:
            return [self._value(int(n)) for n in wire.unpacked_varints(content)]
        size = struct.calcsize(_FORMATS[self.type])
        if len(content) % size:
            raise IndexError
        return [self._value(content[i : i + size]) for i in range(0, len(content), size)]

    def _value(self, content: Any) -> Any:
        if self.type in TEXTS:
            return content
        if self.type in _FORMATS:
            return struct.unpack(f"<{_FORMATS[self.type]}", content)[0]
        if self.type == "bool":
            return content != 0
        bits = _BITS.get(self.type, 64)
        number = content & ((1 << bits) - 1)
        if self.type.startswith("sint"):
            return number >> 1 ^ -(number & 1)
        return number - (1 << bits) if self.type in _SIGNED and number >> bits - 1 else number

    def written(self, values: list[Any]) -> bytes:
        """The bytes of a field with these values, keys included."""
        encoded = [self._encoded(value) for value in values]
        if self.packed and values:
            content = b"".join(encoded)
            return self._key(wire.BYTES) + wire.varint(len(content)) + content
        key = self._key(_STORED[self.type])
        return b"".join([key + part for part in encoded])

    def _key(self, stored: int) -> bytes:
        return wire.varint(self.number << 3 | stored)

    def _encoded(self, value: Any) -> bytes:
        if self.type in TEXTS:
            return wire.varint(len(value)) + value
        if self.type in _FORMATS:
            return struct.pack(f"<{_FORMATS[self.type]}", value)
        number = int(value)
        if self.type.startswith("sint"):
            number = number << 1 ^ number >> 63
        return wire.varint(number)


Message = dict[str, FieldInfo]


# --- descriptors in bytes ------------------------------------------------------------------------


def _parts(data: bytes, what: str) -> dict[int, list[Any]]:
    out: dict[int, list[Any]] = {}
    for number, _, content in wire.fields(data, what):
        out.setdefault(number, []).append(content)
    return out


def _text(parts: dict[int, list[Any]], number: int) -> str:
    return str(parts.get(number, [b""])[-1], "utf-8", "replace")


def _default(kind: str, text: str, enums: dict[str, dict[str, int]], type_name: str) -> Any:
    """The default that a descriptor writes as text."""
    if kind == "enum":
        return enums.get(type_name, {}).get(text, 0)
    if kind == "bool":
        return text == "true"
    if kind in ("float", "double"):
        return float(text)
    if kind == "bytes":  # with escapes, as in C
        return text.encode("latin-1", "replace").decode("unicode_escape").encode("latin-1")
    return text.encode() if kind == "string" else int(text)


class _File:
    """The messages and enumerations of one file."""

    def __init__(self, data: bytes) -> None:
        parts = _parts(data, "FileDescriptorProto")
        self._packs = _text(parts, 12) in ("proto3", "editions")
        self.messages: dict[str, dict[int, list[Any]]] = {}
        self.enums: dict[str, dict[str, int]] = {}
        package = _text(parts, 2)
        self._add(f"{package}." if package else "", parts.get(4, []), parts.get(5, []))

    def _add(self, prefix: str, messages: list[bytes], enums: list[bytes]) -> None:
        for data in enums:
            parts = _parts(data, "EnumDescriptorProto")
            values = [_parts(value, "EnumValueDescriptorProto") for value in parts.get(2, [])]
            numbers = {_text(value, 1): value.get(2, [0])[-1] for value in values}
            self.enums[f".{prefix}{_text(parts, 1)}"] = numbers
        for data in messages:
            parts = _parts(data, "DescriptorProto")
            name = f"{prefix}{_text(parts, 1)}"
            self.messages[name] = parts
            self._add(f"{name}.", parts.get(3, []), parts.get(4, []))

    def fields_of(self, name: str, enums: dict[str, dict[str, int]]) -> Message:
        out = {}
        for data in self.messages[name].get(2, []):
            parts = _parts(data, "FieldDescriptorProto")
            number, kind = parts.get(3, [0])[-1], TYPES.get(parts.get(5, [0])[-1])
            if kind is None:
                continue  # groups
            repeated = parts.get(4, [1])[-1] == _REPEATED
            options = _parts(parts.get(8, [b""])[-1], "FieldOptions")
            packed = options.get(2, [self._packs])[-1]
            default = None
            if 7 in parts:
                default = _default(kind[0], _text(parts, 7), enums, _text(parts, 6))
            can_pack = repeated and kind[0] not in TEXTS
            field = _text(parts, 1)
            out[field] = FieldInfo(
                field, number, kind[0], repeated, bool(packed and can_pack), default
            )
        return out


# --- where they come from ------------------------------------------------------------------------

_KINDS = {
    id(kinds.BOOL): "bool", id(kinds.BYTES): "bytes", id(kinds.DOUBLE): "double",
    id(kinds.FIXED_UINT32): "fixed32", id(kinds.FLOAT): "float", id(kinds.INT32): "int32",
    id(kinds.INT64): "int64", id(kinds.SIGNED_INT64): "sint64", id(kinds.STRING): "string",
    id(kinds.UINT32): "uint32", id(kinds.UINT64): "uint64",
}  # fmt: skip


def _own(name: str) -> Message | None:
    """A message that Weft has a class of."""
    cls = declared.get(name.removeprefix("tensorflow."))
    if cls is None or not name.startswith("tensorflow."):
        return None
    out = {}
    for field in cls.FIELDS:
        many = isinstance(field, (ManyValues, ManyMessages, MapField))
        kind = "message"
        if isinstance(field, (OneValue, ManyValues)):
            kind = _KINDS.get(id(field.kind), "int32")
        packed = many and kind not in TEXTS
        out[field.name] = FieldInfo(field.name, field.number, kind, many, packed)
    return out


@functools.lru_cache(maxsize=64)
def message(op: str, name: str, source: bytes) -> Message:
    """The fields of a message by name, from a descriptor source as `tf.io.decode_proto` has it."""
    found = _own(name) if source in (b"", b"local://") else _described(op, name, source)
    if found is None:
        raise InvalidArgumentError(
            None,
            None,
            f"{op}: there is no descriptor of the message {name!r}. Give its file as "
            "descriptor_source: the path of a FileDescriptorSet (protoc --descriptor_set_out "
            "--include_imports), or b'bytes://' and its bytes.",
        )
    return found


def _described(op: str, name: str, source: bytes) -> Message | None:
    try:
        if source.startswith(b"bytes://"):
            data = source[len(b"bytes://") :]
        else:
            data = Path(source.decode()).read_bytes()
        files = [_File(part) for part in wire.contents(data, 1, "FileDescriptorSet")]
        enums = {key: value for file in files for key, value in file.enums.items()}
        return next((file.fields_of(name, enums) for file in files if name in file.messages), None)
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidArgumentError(
            None, None, f"{op}: descriptor_source is no serialized FileDescriptorSet: {error}"
        ) from error


def read(data: bytes, fields: list[FieldInfo]) -> list[list[Any]]:
    """The values of some fields of a serialized message; ParseError if it is none."""
    out: list[list[Any]] = [[] for _ in fields]
    places: dict[int, int] = {}
    for i, field in enumerate(fields):
        places.setdefault(field.number, i)
    try:
        for number, stored, content in wire.fields(data, "message"):
            place = places.get(number)
            if place is not None:
                values = fields[place].values_of(stored, content)
                out[place] = out[place] + values if fields[place].repeated else values or out[place]
    except (IndexError, struct.error):
        raise wire.not_serialized("message") from None
    return out


def filled(values: list[list[Any]], field: FieldInfo, dtype: np.dtype[Any]) -> Any:
    """Rows of values as a matrix; what is missing is the default of the field."""
    width = max([1, *map(len, values)])
    default = field.default
    if default is None or field.repeated:
        default = b"" if field.type in TEXTS else 0
    out = np.full((len(values), width), default, dtype)
    for row, found in zip(out, values, strict=True):
        row[: len(found)] = found
    return out
