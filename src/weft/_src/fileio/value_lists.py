"""Messages in the manner of protocol buffers: what all can do, and lists of values."""

from __future__ import annotations

import operator
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, SupportsIndex, TypeVar

import numpy as np

from weft._src.core.aliases import TensorLike
from weft._src.core.wire import (
    BYTES,
    FIXED32,
    VARINT,
    bytes_field,
    fields,
    packed_floats,
    packed_integers,
    signed,
    varint,
)

T = TypeVar("T")


class RepeatedValues(list[T], Generic[T]):
    """The list of a message: checks what is put into it, and tells the message that it changed."""

    def __init__(self, check: Callable[[Any], T], changed: Callable[[], None]) -> None:
        super().__init__()
        self._check, self._changed = check, changed

    def append(self, value: Any) -> None:
        super().append(self._check(value))
        self._changed()

    def extend(self, values: Iterable[Any]) -> None:
        super().extend([self._check(value) for value in values])
        self._changed()

    def insert(self, index: SupportsIndex, value: Any) -> None:
        super().insert(index, self._check(value))
        self._changed()

    def __setitem__(self, index: Any, value: Any) -> None:
        checked = (
            [self._check(v) for v in value] if isinstance(index, slice) else self._check(value)
        )
        super().__setitem__(index, checked)
        self._changed()

    def __iadd__(self, values: Iterable[Any]) -> RepeatedValues[T]:  # type: ignore[override,misc]
        self.extend(values)
        return self

    def __reduce__(self) -> Any:
        return list, (list(self),)


class Message(ABC):
    """What all messages can do."""

    @abstractmethod
    def SerializeToString(self, deterministic: bool | None = None) -> bytes:  # noqa: N802
        """The message as bytes."""

    @abstractmethod
    def MergeFromString(self, serialized: bytes) -> int:  # noqa: N802
        """Adds what the bytes hold."""

    @abstractmethod
    def Clear(self) -> None:  # noqa: N802
        """Makes the message empty."""

    def ParseFromString(self, serialized: bytes) -> int:  # noqa: N802
        """Replaces the content by what the bytes hold.

        Args:
          serialized: what `SerializeToString` gave.

        Returns:
          The number of bytes.

        Raises:
          tf.errors.InvalidArgumentError: if the bytes are no such message.
          TypeError: if they are no bytes.
        """
        self.Clear()
        return self.MergeFromString(serialized)

    @classmethod
    def FromString(cls, serialized: bytes) -> Any:  # noqa: N802
        """The message that the bytes hold.

        Args:
          serialized: what `SerializeToString` gave.

        Returns:
          A message of this class.

        Raises:
          tf.errors.InvalidArgumentError: if the bytes are no such message.
          TypeError: if they are no bytes.
        """
        made = cls()
        made.MergeFromString(serialized)
        return made

    def CopyFrom(self, other: Any) -> None:  # noqa: N802
        """Takes over the content of another message of the same class.

        Args:
          other: a message of the same class.

        Raises:
          TypeError: if it is something else.
        """
        check_message(self, other)
        self.ParseFromString(other.SerializeToString())

    def MergeFrom(self, other: Any) -> None:  # noqa: N802
        """Adds the content of another message of the same class.

        Args:
          other: a message of the same class.

        Raises:
          TypeError: if it is something else.
        """
        check_message(self, other)
        self.MergeFromString(other.SerializeToString())

    def ByteSize(self) -> int:  # noqa: N802
        """The number of bytes of the serialized message.

        Returns:
          The length of what `SerializeToString` gives.
        """
        return len(self.SerializeToString())

    @abstractmethod
    def _lines(self) -> Iterator[str]: ...

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, Message)
        return self.SerializeToString() == other.SerializeToString()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "".join([f"{line}\n" for line in self._lines()])

    def __reduce__(self) -> Any:
        return type(self).FromString, (self.SerializeToString(),)


def check_message(mine: Message, other: Any) -> None:
    """TypeError unless both are of one class."""
    if type(mine) is not type(other):
        raise TypeError(
            f"{type(mine).__name__}: a message of the same class is expected, got {other!r}."
        )


def message_bytes(what: str, serialized: TensorLike) -> bytes:
    """TypeError unless these are bytes."""
    if not isinstance(serialized, (bytes, bytearray, memoryview)):
        raise TypeError(f"{what}: bytes are expected, got {serialized!r}.")
    return bytes(serialized)


# --- lists of values -----------------------------------------------------------------------------


class ValueList(Message):
    """A list of values of one kind."""

    value: RepeatedValues[Any]

    def __init__(self, value: Iterable[Any] | None = None) -> None:
        self._parent: Callable[[], None] = _nobody
        self.value = RepeatedValues(self._checked, self._changed)
        if value is not None:
            self.value.extend(value.tolist() if isinstance(value, np.ndarray) else value)

    @staticmethod
    @abstractmethod
    def _checked(value: Any) -> Any: ...

    def _changed(self) -> None:
        self._parent()

    def Clear(self) -> None:  # noqa: N802
        """Makes the list empty."""
        self.value.clear()

    def MergeFromString(self, serialized: bytes) -> int:  # noqa: N802
        """Adds what the bytes hold.

        Args:
          serialized: what `SerializeToString` gave.

        Returns:
          The number of bytes.

        Raises:
          tf.errors.InvalidArgumentError: if the bytes are no such message.
          TypeError: if they are no bytes.
        """
        data = message_bytes(type(self).__name__, serialized)
        self.value.extend(values_of(data, type(self)))
        return len(data)

    def _lines(self) -> Iterator[str]:
        for value in self.value:
            yield f"value: {self._shown(value)}"

    @staticmethod
    def _shown(value: Any) -> str:
        return repr(value)


def _nobody() -> None:
    """The parent of a message that is not part of another."""


class BytesList(ValueList):
    """Byte strings.

    >>> tf.train.BytesList(value=[b"ab", b"c"]).value
    [b'ab', b'c']
    """

    @staticmethod
    def _checked(value: Any) -> bytes:
        if not isinstance(value, bytes):
            raise TypeError(
                f"BytesList: {value!r} has type {type(value).__name__}, bytes are expected; "
                "encode text with .encode()."
            )
        return bytes(value)

    def SerializeToString(self, deterministic: bool | None = None) -> bytes:  # noqa: N802
        """The message as bytes.

        Args:
          deterministic: accepted for compatibility.

        Returns:
          Bytes.
        """
        return b"".join([bytes_field(1, value) for value in self.value])

    @staticmethod
    def _shown(value: bytes) -> str:
        escapes = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}
        text = "".join(
            [escapes.get(b) or (chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in value]
        )
        return f'"{text}"'


class FloatList(ValueList):
    """Numbers, stored as float32.

    >>> tf.train.FloatList(value=[1.5, 2]).value
    [1.5, 2.0]
    """

    @staticmethod
    def _checked(value: Any) -> float:
        try:
            if isinstance(value, (str, bytes)):
                raise TypeError
            with np.errstate(over="ignore"):
                return float(np.float32(value))
        except (TypeError, ValueError):
            raise TypeError(
                f"FloatList: {value!r} has type {type(value).__name__}, a number is expected."
            ) from None

    def SerializeToString(self, deterministic: bool | None = None) -> bytes:  # noqa: N802
        """The message as bytes.

        Args:
          deterministic: accepted for compatibility.

        Returns:
          Bytes, empty if the list is.
        """
        if not self.value:
            return b""
        return bytes_field(1, struct.pack(f"<{len(self.value)}f", *self.value))

    @staticmethod
    def _shown(value: float) -> str:
        text = str(np.float32(value))
        return text.removesuffix(".0")


class Int64List(ValueList):
    """Integers of 64 bits.

    >>> tf.train.Int64List(value=[1, -2]).value
    [1, -2]
    """

    @staticmethod
    def _checked(value: Any) -> int:
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError(
                f"Int64List: {value!r} has type {type(value).__name__}, an integer is expected."
            ) from None
        if not -(2**63) <= number < 2**63:
            raise ValueError(f"Int64List: {number} does not fit 64 bits.")
        return number

    def SerializeToString(self, deterministic: bool | None = None) -> bytes:  # noqa: N802
        """The message as bytes.

        Args:
          deterministic: accepted for compatibility.

        Returns:
          Bytes, empty if the list is.
        """
        if not self.value:
            return b""
        return bytes_field(1, b"".join([varint(value) for value in self.value]))


def values_of(data: bytes, kind: type[ValueList]) -> list[Any]:
    """The values in a serialized list, whose numbers may be packed together or not.

    A field that is stored in another way is one that nobody knows: it is left out.
    """
    out: list[Any] = []
    for number, stored, content in fields(data, kind.__name__):
        if number != 1:
            continue
        if kind is BytesList:
            if stored == BYTES:
                out.append(content)
        elif kind is FloatList:
            if stored in (BYTES, FIXED32):
                out.extend(packed_floats(content, "f", "FloatList"))
        elif stored == VARINT:
            out.append(signed(content))
        elif stored == BYTES:
            out.extend(packed_integers(content, "Int64List"))
    return out
