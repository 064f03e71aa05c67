"""The kinds of values that fields hold: what is taken for one, and its bytes."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable
from typing import Any

import numpy as np

from weft._src.messages.wire import (
    BYTES as STORED_AS_BYTES,
    FIXED32,
    FIXED64,
    VARINT,
    packed_numbers,
    packed_varints,
    unpacked_numbers,
    unpacked_varints,
    varint,
)


class Kind(ABC):
    """How values of one kind are checked, written, read and shown."""

    def __init__(self, stored: int, default: Any) -> None:
        self.stored, self.default = stored, default

    @property
    def is_packed(self) -> bool:
        """Whether lists of such values are one field."""
        return self.stored != STORED_AS_BYTES

    @abstractmethod
    def checked(self, value: Any, who: str) -> Any:
        """The value as it is kept; TypeError or ValueError if it is none of this kind."""

    def listed(self, values: Iterable[Any], who: str) -> Any:
        """Values as they are kept together: a list, or an array of numbers."""
        return [self.checked(value, who) for value in values]

    @abstractmethod
    def encode(self, value: Any) -> bytes:
        """The bytes of a value, without its key."""

    @abstractmethod
    def decode(self, content: Any) -> Any:
        """The value of a field's content: an int, or else bytes; IndexError if it is none."""

    def pack(self, values: Any) -> bytes:
        """The content of one field with all values."""
        return b"".join([self.encode(value) for value in values])

    def unpack(self, content: bytes) -> Any:
        """The values of one such field, as `listed` gives them; IndexError if these are none."""
        raise AssertionError("Values of this kind are never packed.")

    def shown(self, value: Any) -> str:
        """The value for people."""
        return str(value)


def _as_list(values: Iterable[Any]) -> list[Any]:
    """Arrays would take bytes for numbers in memory, and an iterator can be asked only once."""
    if type(values) is list:
        return values
    found: list[Any] = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return found


def _wrong(value: Any, who: str, wanted: str) -> TypeError:
    return TypeError(f"{who}: {value!r} has type {type(value).__name__}, {wanted}.")


class _Integer(Kind):
    """Whole numbers; those read from elsewhere lose the bits that are too many."""

    def __init__(self, letter: str) -> None:
        super().__init__(VARINT, 0)
        self._letter = letter
        self._dtype = np.dtype(letter)
        found = np.iinfo(self._dtype)
        self._least, self._most = int(found.min), int(found.max)

    def checked(self, value: Any, who: str) -> int:
        try:
            number = operator.index(value)
        except TypeError:
            raise _wrong(value, who, "an integer is expected") from None
        if not self._least <= number <= self._most:
            bits = 8 * self._dtype.itemsize
            raise ValueError(f"{who}: {number} does not fit {bits} bits.")
        return number

    def listed(self, values: Iterable[Any], who: str) -> array[Any]:
        values = _as_list(values)
        try:
            return array(self._letter, values)
        except (TypeError, OverflowError, ValueError):
            return array(self._letter, [self.checked(value, who) for value in values])

    def encode(self, value: int) -> bytes:
        return varint(value)

    def decode(self, content: int) -> int:
        bits = 8 * self._dtype.itemsize
        low = content & (1 << bits) - 1
        return low - (1 << bits) if low > self._most else low

    def pack(self, values: Any) -> bytes:
        return packed_varints(values)

    def unpack(self, content: bytes) -> array[Any]:
        if content.isascii():  # every byte below 128 is a number
            return array(self._letter, list(content))
        return array(self._letter, unpacked_varints(content).astype(self._dtype).tobytes())


class _Truth(Kind):
    """True or False."""

    def __init__(self) -> None:
        super().__init__(VARINT, False)

    def checked(self, value: Any, who: str) -> bool:
        if not isinstance(value, (bool, np.bool_, int)):
            raise _wrong(value, who, "True or False is expected")
        return bool(value)

    def encode(self, value: bool) -> bytes:
        return b"\1" if value else b"\0"

    def decode(self, content: int) -> bool:
        return content != 0

    def unpack(self, content: bytes) -> list[bool]:
        found: list[bool] = (unpacked_varints(content) != 0).tolist()
        return found

    def shown(self, value: bool) -> str:
        return "true" if value else "false"


class _Real(Kind):
    """Floats of 32 bits (the letter "f") or of 64 ("d")."""

    def __init__(self, letter: str, stored: int) -> None:
        super().__init__(stored, 0.0)
        self._letter = letter

    def checked(self, value: Any, who: str) -> float:
        found: float = self.listed([value], who)[0]
        return found

    def listed(self, values: Iterable[Any], who: str) -> array[Any]:
        values = _as_list(values)
        try:
            return array(self._letter, values)
        except (TypeError, ValueError, OverflowError):
            return array(self._letter, [self._number(value, who) for value in values])

    @staticmethod
    def _number(value: Any, who: str) -> float:
        try:
            if isinstance(value, (str, bytes)):
                raise TypeError
            return float(value)
        except OverflowError:  # of an integer
            return float("inf") if value > 0 else float("-inf")
        except (TypeError, ValueError):
            raise _wrong(value, who, "a number is expected") from None

    def encode(self, value: float) -> bytes:
        return packed_numbers(array(self._letter, (value,)))

    def decode(self, content: bytes) -> float:
        found: float = unpacked_numbers(content, self._letter)[0]
        return found

    def pack(self, values: Any) -> bytes:
        numbers = values if isinstance(values, array) else array(self._letter, values)
        return packed_numbers(numbers)

    def unpack(self, content: bytes) -> array[Any]:
        return unpacked_numbers(content, self._letter)

    def shown(self, value: float) -> str:
        text = str(np.float32(value)) if self._letter == "f" else repr(value)
        return text.removesuffix(".0")


class _Bytes(Kind):
    """Bytes."""

    def __init__(self) -> None:
        super().__init__(STORED_AS_BYTES, b"")

    def checked(self, value: Any, who: str) -> bytes:
        if not isinstance(value, bytes):
            raise _wrong(value, who, "bytes are expected; encode text with .encode()")
        return bytes(value)

    def encode(self, value: bytes) -> bytes:
        return varint(len(value)) + value

    def decode(self, content: bytes) -> bytes:
        return content

    def shown(self, value: bytes) -> str:
        escapes = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}
        text = "".join(
            [escapes.get(b) or (chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in value]
        )
        return f'"{text}"'


class _Text(_Bytes):
    """Text, in bytes as UTF-8."""

    def __init__(self) -> None:
        super().__init__()
        self.default = ""

    def checked(self, value: Any, who: str) -> Any:
        if type(value) is str and value.isascii():
            return value
        try:
            text = value.decode() if isinstance(value, bytes) else value
            if not isinstance(text, str):
                raise _wrong(value, who, "text is expected")
            text.encode()
        except UnicodeError as error:
            raise ValueError(f"{who}: {value!r} is no text that UTF-8 has: {error}.") from None
        return text

    def encode(self, value: Any) -> bytes:
        return super().encode(value.encode())

    def decode(self, content: bytes) -> Any:
        try:
            return content.decode()
        except UnicodeDecodeError:
            raise IndexError from None

    def shown(self, value: Any) -> str:
        return super().shown(value.encode())


class _SignedInteger(_Integer):
    """Whole numbers of which small negative ones take few bytes: 0, -1, 1, -2, ..."""

    def encode(self, value: int) -> bytes:
        return super().encode(value << 1 ^ value >> 63)

    def decode(self, content: int) -> int:
        return content >> 1 ^ -(content & 1)

    def pack(self, values: Any) -> bytes:
        return b"".join([self.encode(value) for value in values])

    def unpack(self, content: bytes) -> array[Any]:
        found = unpacked_varints(content)
        return array("q", [self.decode(int(number)) for number in found])


class _FixedInteger(_Integer):
    """Whole numbers of 32 bits that always take four bytes: checksums."""

    def __init__(self) -> None:
        super().__init__("I")
        self.stored = FIXED32

    def encode(self, value: int) -> bytes:
        return value.to_bytes(4, "little")

    def decode(self, content: bytes) -> int:  # type: ignore[override]
        return int.from_bytes(content, "little")

    def pack(self, values: Any) -> bytes:
        return b"".join([self.encode(value) for value in values])

    def unpack(self, content: bytes) -> array[Any]:
        if len(content) % 4:
            raise IndexError
        return array("I", np.frombuffer(content, "<u4").tolist())


INT32, INT64, UINT32, UINT64 = [_Integer(letter) for letter in "iqIQ"]
ENUM = INT32
FIXED_UINT32 = _FixedInteger()
SIGNED_INT64 = _SignedInteger("q")
BOOL = _Truth()
FLOAT, DOUBLE = _Real("f", FIXED32), _Real("d", FIXED64)
BYTES, STRING = _Bytes(), _Text()
