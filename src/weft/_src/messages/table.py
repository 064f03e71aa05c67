"""What a message holds: its fields by number, name and kind. One description for all uses.

`one`, `many` and `mapping` declare fields; a field is also the attribute of the objects. What an
object keeps of a field that holds messages is their bytes, until somebody looks at them.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from weft._src.messages.containers import MessageMap, RepeatedMessages, RepeatedValues, ValueMap
from weft._src.messages.kinds import Kind
from weft._src.messages.wire import BYTES, fields, varint

if TYPE_CHECKING:
    from weft._src.messages.message import Message

declared: dict[str, type[Any]] = {}  # all messages by name, for those that refer to each other


class Field(ABC):
    """One field of a message."""

    def __init__(self, number: int, name: str, group: str | None = None) -> None:
        self.number, self.name, self.group = number, name, group
        self.rivals: tuple[int, ...] = ()  # the numbers of the other fields of the group
        self.stored = BYTES  # how it is written
        self.__doc__ = f"Field {number} of the message."

    @property
    def keys(self) -> list[int]:
        """The keys under which it is read."""
        return [self.number << 3 | self.stored]

    def _key(self, stored: int) -> bytes:
        return varint(self.number << 3 | stored)

    def __get__(self, message: Message, owner: type[Any] | None = None) -> Any:
        return self if message is None else self.get(message)

    def __set__(self, message: Message, value: Any) -> None:
        raise AttributeError(
            f"{type(message).__name__}: {self.name} is no single value; change its parts, or use "
            "CopyFrom."
        )

    def who(self, message: Message) -> str:
        """Which field of which message it is, for errors; that of a list of values is clear."""
        name = type(message).__name__
        return name if self.name == "value" else f"{name}.{self.name}"

    @abstractmethod
    def get(self, message: Message) -> Any:
        """What the attribute is."""

    @abstractmethod
    def put(self, message: Message, value: Any) -> None:
        """Takes over what a constructor is given, as a copy."""

    @abstractmethod
    def read(self, message: Message, stored: int, content: Any) -> None:
        """Adds what a field in bytes holds; IndexError if it is malformed."""

    @abstractmethod
    def encode(self, kept: Any) -> bytes:
        """The bytes of what is kept, keys included."""

    @abstractmethod
    def lines(self, message: Message) -> Iterator[str]:
        """What is kept, for people."""

    def complete(self, message: Message) -> None:  # noqa: B027 - values are complete
        """Reads all messages that are still bytes."""


class OneValue(Field):
    """A value that is there once; values that are the default are not written."""

    def __init__(self, number: int, name: str, kind: Kind, group: str | None) -> None:
        super().__init__(number, name, group)
        self.kind = kind
        self.stored = kind.stored
        self._start = self._key(self.stored)

    def get(self, message: Message) -> Any:
        return message._kept.get(self.number, self.kind.default)

    def __set__(self, message: Message, value: Any) -> None:
        self.put(message, value)
        message._touch()

    def put(self, message: Message, value: Any) -> None:
        self._keep(message, self.kind.checked(value, self.who(message)))

    def _keep(self, message: Message, value: Any) -> None:
        if self.group is not None:
            message._choose(self)
        elif value == self.kind.default:
            message._kept.pop(self.number, None)
            return
        message._kept[self.number] = value

    def read(self, message: Message, stored: int, content: Any) -> None:
        self._keep(message, self.kind.decode(content))

    def encode(self, kept: Any) -> bytes:
        return self._start + self.kind.encode(kept)

    def lines(self, message: Message) -> Iterator[str]:
        yield f"{self.name}: {self.kind.shown(self.get(message))}"


class ManyValues(Field):
    """A list of values: numbers in one field together, strings in one each."""

    def __init__(self, number: int, name: str, kind: Kind) -> None:
        super().__init__(number, name)
        self.kind = kind
        self._start = self._key(BYTES)

    @property
    def keys(self) -> list[int]:
        return sorted({self.number << 3 | stored for stored in (BYTES, self.kind.stored)})

    def get(self, message: Message) -> Any:
        kept = message._kept.get(self.number)
        if type(kept) is not RepeatedValues:
            kept = message._kept[self.number] = RepeatedValues(message, self, kept or ())
        return kept

    def __set__(self, message: Message, value: Any) -> None:
        if value is not message._kept.get(self.number):  # as it is behind `+=`
            super().__set__(message, value)

    def put(self, message: Message, value: Any) -> None:
        message._kept[self.number] = self.kind.listed(value, self.who(message))

    def read(self, message: Message, stored: int, content: Any) -> None:
        if stored == BYTES and self.kind.is_packed:
            values = self.kind.unpack(content)
        else:
            values = self.kind.decode(content)
            kept = message._kept.get(self.number)
            if kept is not None:
                kept.append(values)
                return
            values = self.kind.listed([values], "")
        kept = message._kept.setdefault(self.number, values)
        if kept is not values:
            kept.extend(values)

    def encode(self, kept: Any) -> bytes:
        if not kept:
            return b""
        if self.kind.is_packed:
            content = self.kind.pack(kept)
            return self._start + varint(len(content)) + content
        return b"".join([self._start + self.kind.encode(value) for value in kept])

    def lines(self, message: Message) -> Iterator[str]:
        for value in message._kept[self.number]:
            yield f"{self.name}: {self.kind.shown(value)}"


class _OfMessages(Field):
    """A field whose values are messages of one class."""

    def __init__(
        self, number: int, name: str, kind: type[Any] | str, group: str | None = None
    ) -> None:
        super().__init__(number, name, group)
        self._start = self._key(BYTES)
        self._kind = kind

    @functools.cached_property
    def cls(self) -> type[Any]:
        """The class of the messages."""
        return declared[self._kind] if isinstance(self._kind, str) else self._kind

    def bytes_of(self, message: Message, value: Any, place: str = "") -> bytes:
        """A message that is put into another: a copy of it, as bytes."""
        if type(value) is not self.cls:
            raise self.wrong_class(message, self.name + place, value)
        found: bytes = value.SerializeToString()
        return found

    def wrong_class(self, message: Message, place: str, value: Any) -> TypeError:
        """The error for something that is no such message."""
        return TypeError(
            f"{type(message).__name__}: {place} must be a {self.cls.__name__}, got {value!r} of "
            f"type {type(value).__name__}."
        )

    def made(self, message: Message, kept: Any) -> Any:
        """The message of what is kept: bytes, or the message itself."""
        return self.cls._of(kept, message._depth + 1) if isinstance(kept, bytes) else kept

    def encode(self, kept: Any) -> bytes:
        content = kept if isinstance(kept, bytes) else kept.SerializeToString()
        return self._start + varint(len(content)) + content


class OneMessage(_OfMessages):
    """A message that is there once, or not."""

    def get(self, message: Message) -> Any:
        kept = message._kept.get(self.number)
        if kept is not None:
            if isinstance(kept, bytes):
                kept = message._kept[self.number] = self.made(message, kept)
            return kept
        if message._made is None:
            message._made = {}
        made = message._made.get(self.number)
        if made is None:  # becomes part of this one with its first content
            made = message._made[self.number] = self.made(message, b"")
            made._owner = (message, self)
        return made

    def attach(self, message: Message, child: Any) -> None:
        """A message that was made by looking at it has got content."""
        message._choose(self)
        message._kept[self.number] = child
        message._touch()

    def put(self, message: Message, value: Any) -> None:
        content = self.bytes_of(message, value)
        message._choose(self)
        message._kept[self.number] = content

    def read(self, message: Message, stored: int, content: Any) -> None:
        message._choose(self)
        if self.number in message._kept:  # parts of one message may stand apart
            self.get(message)._merge(content)
        else:
            message._kept[self.number] = content

    def lines(self, message: Message) -> Iterator[str]:
        yield from block(self.name, self.get(message))

    def complete(self, message: Message) -> None:
        self.get(message)._complete()


class ManyMessages(_OfMessages):
    """A list of messages."""

    def get(self, message: Message) -> RepeatedMessages:
        return RepeatedMessages(message, self, message._kept.setdefault(self.number, []))

    def put(self, message: Message, value: Any) -> None:
        items = [self.bytes_of(message, v, f"[{i}]") for i, v in enumerate(value)]
        message._kept[self.number] = items

    def read(self, message: Message, stored: int, content: Any) -> None:
        message._kept.setdefault(self.number, []).append(content)

    def encode(self, kept: Any) -> bytes:
        return b"".join([super(ManyMessages, self).encode(item) for item in kept])

    def lines(self, message: Message) -> Iterator[str]:
        for item in self.get(message):
            yield from block(self.name, item)

    def complete(self, message: Message) -> None:
        for item in self.get(message):
            item._complete()


class MapField(Field):
    """Values or messages by key; each pair is a message of two fields. Sorted when written."""

    def __init__(
        self, number: int, name: str, key_kind: Kind, kind: Kind | type[Any] | str
    ) -> None:
        super().__init__(number, name)
        self.pair_key = OneValue(1, "key", key_kind, "pair")
        self.pair_value: Any = one(2, "value", kind, "pair")
        self.holds_messages = isinstance(self.pair_value, OneMessage)
        self._start = self._key(BYTES)

    def get(self, message: Message) -> Any:
        items = message._kept.setdefault(self.number, {})
        return (MessageMap if self.holds_messages else ValueMap)(message, self, items)

    def put(self, message: Message, value: Any) -> None:
        who = self.who(message)
        if not isinstance(value, Mapping):
            raise TypeError(f"{who}: a dict is expected, got {value!r}.")
        message._kept[self.number] = {
            self.pair_key.kind.checked(key, who): self.kept_of(message, key, item)
            for key, item in value.items()
        }

    def kept_of(self, message: Message, key: Any, value: Any) -> Any:
        """What is kept of a value."""
        if not self.holds_messages:
            return self.pair_value.kind.checked(value, self.who(message))
        if type(value) is not self.pair_value.cls:
            raise self.pair_value.wrong_class(message, f"{self.name}[{key!r}]", value)
        return value.SerializeToString()

    def read(self, message: Message, stored: int, content: Any) -> None:
        key = self.pair_key.kind.default
        value = b"" if self.holds_messages else self.pair_value.kind.default
        for number, how, part in fields(content, type(message).__name__):
            if number == 1 and how == self.pair_key.stored:
                key = self.pair_key.kind.decode(part)
            elif number == 2 and how == self.pair_value.stored:
                value = part if self.holds_messages else self.pair_value.kind.decode(part)
        message._kept.setdefault(self.number, {})[key] = value

    def encode(self, kept: Any) -> bytes:
        start, encode_key, encode_value = self._start, self.pair_key.encode, self.pair_value.encode
        out = []
        for key in sorted(kept):
            pair = encode_key(key) + encode_value(kept[key])
            out += [start, varint(len(pair)), pair]
        return b"".join(out)

    def lines(self, message: Message) -> Iterator[str]:
        found = self.get(message)
        for key in sorted(found):
            yield f"{self.name} {{"
            yield f"  key: {self.pair_key.kind.shown(key)}"
            if self.holds_messages:
                yield from _indented(block("value", found[key]))
            else:
                yield f"  value: {self.pair_value.kind.shown(found[key])}"
            yield "}"

    def complete(self, message: Message) -> None:
        if self.holds_messages:
            found = self.get(message)
            for key in found:
                found[key]._complete()


def _indented(lines: Iterator[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def block(name: str, message: Message) -> Iterator[str]:
    """A message in another, for people."""
    yield f"{name} {{"
    yield from _indented(message._lines())
    yield "}"


# --- declarations --------------------------------------------------------------------------------


def one(number: int, name: str, kind: Kind | type[Any] | str, group: str | None = None) -> Field:
    """A field that is there once. Of a group ("oneof") only one field is there.

    A message can be named by its class, or by the name of the class if that comes later.
    """
    if isinstance(kind, Kind):
        return OneValue(number, name, kind, group)
    return OneMessage(number, name, kind, group)


def many(number: int, name: str, kind: Kind | type[Any] | str) -> Field:
    """A field that is a list."""
    if isinstance(kind, Kind):
        return ManyValues(number, name, kind)
    return ManyMessages(number, name, kind)


def mapping(number: int, name: str, key_kind: Kind, kind: Kind | type[Any] | str) -> Field:
    """A field that is a dict."""
    return MapField(number, name, key_kind, kind)
