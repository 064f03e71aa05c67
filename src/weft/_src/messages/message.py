"""Messages as objects: what all of them can do. What one holds is its table, `FIELDS`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from weft._src.messages.containers import MessageMap
from weft._src.messages.table import (
    Field,
    ManyMessages,
    ManyValues,
    MapField,
    OneMessage,
    declared,
)
from weft._src.messages.wire import (
    BYTES,
    DEEPEST,
    VARINT,
    behind_field,
    not_serialized,
    read_key,
    read_size,
    read_varint,
)


class _Declared(type):
    """Makes the table of a class fast to use, and its fields attributes."""

    def __new__(mcs, name: str, bases: tuple[type, ...], names: dict[str, Any]) -> Any:
        fields: tuple[Field, ...] = names.get("FIELDS", ())
        names.setdefault("__slots__", ())
        by_name = names["_by_name"] = {field.name: field for field in fields}
        names |= by_name
        for field in fields:
            others = [other for other in fields if other.group == field.group is not None]
            field.rivals = tuple([other.number for other in others if other is not field])
        names["_by_number"] = {field.number: field for field in fields}
        names["_by_key"] = {key: field for field in fields for key in field.keys}
        if fields:
            assert name not in declared, f"There are two messages called {name}."
        made = super().__new__(mcs, name, bases, names)
        if fields:
            declared[name] = made
        return made


class Message(metaclass=_Declared):
    """What all messages can do.

    Messages that stand in others are kept as bytes until somebody looks at them, fields that nobody
    knows as long as the message lives. Where one is put into another, its bytes are: that copies.
    """

    __slots__ = ("_depth", "_kept", "_made", "_owner", "_unknown")
    FIELDS: ClassVar[tuple[Field, ...]] = ()
    # Whether messages inside are read at once, so that errors are those of reading.
    READ_AT_ONCE: ClassVar[bool] = False
    _by_name: ClassVar[dict[str, Field]]
    _by_number: ClassVar[dict[int, Field]]
    _by_key: ClassVar[dict[int, Field]]

    def __init__(self, **fields: Any) -> None:
        self._kept: dict[int, Any] = {}  # by the number of the field
        self._made: dict[int, Any] | None = (
            None  # messages without content, because somebody looked
        )
        self._owner: tuple[Any, Any] | None = None  # whose part it becomes with its first content
        self._unknown = b""
        self._depth = 0
        by_name = self._by_name
        for name, value in fields.items():
            if value is not None:
                (by_name.get(name) or self._field(name)).put(self, value)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

        def __setattr__(self, name: str, value: Any) -> None: ...

    @classmethod
    def _field(cls, name: str) -> Field:
        field = cls._by_name.get(name)
        if field is None:
            raise ValueError(f"{cls.__name__} has no field {name!r}.")
        return field

    # --- what fields use -------------------------------------------------------------------------

    @classmethod
    def _of(cls, content: bytes, depth: int) -> Any:
        """The message of bytes that stood in another one."""
        if depth > DEEPEST:
            raise not_serialized(cls.__name__)
        made = cls()
        made._depth = depth
        made._merge(content)
        return made

    def _touch(self) -> None:
        """Something has changed."""
        if self._owner is not None:
            (message, field), self._owner = self._owner, None
            field.attach(message, self)

    def _choose(self, field: Field) -> None:
        """Of a group only this field is there."""
        if self._kept:
            for number in field.rivals:
                self._kept.pop(number, None)
        if self._made is not None:
            self._made.pop(field.number, None)

    def _merge(self, data: bytes) -> None:
        by_key = self._by_key
        unknown = []
        at, end = 0, len(data)
        try:
            while at < end:
                start = at
                key, at = read_key(data, at)
                field = by_key.get(key)
                if field is None:
                    at = behind_field(data, at, key)
                    unknown.append(data[start:at])
                    continue
                stored = key & 7
                content: Any
                if stored == BYTES:
                    size, at = read_size(data, at)
                    content, at = data[at : at + size], at + size
                elif stored == VARINT:
                    content, at = read_varint(data, at)
                else:
                    behind = behind_field(data, at, key)
                    content, at = data[at:behind], behind
                field.read(self, stored, content)
        except IndexError:
            raise not_serialized(type(self).__name__) from None
        if unknown:
            self._unknown += b"".join(unknown)

    def _complete(self) -> None:
        for number in list(self._kept):
            self._by_number[number].complete(self)

    # --- bytes -----------------------------------------------------------------------------------

    def SerializeToString(self, deterministic: bool | None = None) -> bytes:  # noqa: N802
        """The message as bytes.

        Args:
          deterministic: accepted for compatibility; the order is always the same.

        Returns:
          Bytes, empty if there is nothing in the message.
        """
        kept, by_number = self._kept, self._by_number
        if len(kept) == 1:
            ((number, only),) = kept.items()
            return by_number[number].encode(only) + self._unknown
        out = [by_number[number].encode(kept[number]) for number in sorted(kept)]
        return b"".join([*out, self._unknown])

    def MergeFromString(self, serialized: bytes) -> int:  # noqa: N802
        """Adds what the bytes hold.

        Args:
          serialized: what `SerializeToString` gave. Lists become longer, messages in it are merged,
            values and those in dicts replaced.

        Returns:
          The number of bytes.

        Raises:
          ParseError: if the bytes are no such message.
          TypeError: if they are no bytes.
        """
        if not isinstance(serialized, (bytes, bytearray, memoryview)):
            raise TypeError(f"{type(self).__name__}: bytes are expected, got {serialized!r}.")
        data = bytes(serialized)
        self._merge(data)
        self._touch()
        if self.READ_AT_ONCE:
            self._complete()
        return len(data)

    def ParseFromString(self, serialized: bytes) -> int:  # noqa: N802
        """Replaces the content by what the bytes hold.

        Args:
          serialized: what `SerializeToString` gave.

        Returns:
          The number of bytes.

        Raises:
          ParseError: if the bytes are no such message.
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
          ParseError: if the bytes are no such message.
          TypeError: if they are no bytes.
        """
        made = cls()
        made.MergeFromString(serialized)
        return made

    def SerializePartialToString(self, deterministic: bool | None = None) -> bytes:  # noqa: N802
        """The message as bytes; no field has to be there.

        Args:
          deterministic: accepted for compatibility; what is written is always the same.

        Returns:
          The bytes that `SerializeToString` gives.
        """
        return self.SerializeToString(deterministic)

    def IsInitialized(self) -> bool:  # noqa: N802
        """Whether all fields are there that have to be: there are none.

        Returns:
          True.
        """
        return True

    def ByteSize(self) -> int:  # noqa: N802
        """The number of bytes of the serialized message.

        Returns:
          The length of what `SerializeToString` gives.
        """
        return len(self.SerializeToString())

    # --- content ---------------------------------------------------------------------------------

    def Clear(self) -> None:  # noqa: N802
        """Makes the message empty."""
        self._kept, self._made, self._unknown = {}, None, b""

    def ClearField(self, field_name: str) -> None:  # noqa: N802
        """Removes what a field holds.

        Args:
          field_name: the name of the field.

        Raises:
          ValueError: if there is no field of that name.
        """
        number = self._field(field_name).number
        self._kept.pop(number, None)
        if self._made is not None:
            self._made.pop(number, None)

    def CopyFrom(self, other: Any) -> None:  # noqa: N802
        """Takes over the content of another message of the same class.

        Args:
          other: a message of the same class.

        Raises:
          TypeError: if it is something else.
        """
        self._check_same(other)
        self.ParseFromString(other.SerializeToString())

    def MergeFrom(self, other: Any) -> None:  # noqa: N802
        """Adds the content of another message of the same class.

        Args:
          other: a message of the same class.

        Raises:
          TypeError: if it is something else.
        """
        self._check_same(other)
        self.MergeFromString(other.SerializeToString())

    def _check_same(self, other: Any) -> None:
        if type(self) is not type(other):
            raise TypeError(
                f"{type(self).__name__}: a message of the same class is expected, got {other!r}."
            )

    def HasField(self, field_name: str) -> bool:  # noqa: N802
        """Whether a field is there.

        Args:
          field_name: the name of the field, which is no list and no dict.

        Returns:
          A bool.

        Raises:
          ValueError: if there is no such field.

        >>> tf.train.Feature(int64_list=tf.train.Int64List(value=[1])).HasField("float_list")
        False
        """
        field = self._field(field_name)
        if isinstance(field, (ManyValues, ManyMessages, MapField)):
            raise ValueError(f"{type(self).__name__}: {field_name} is a list or dict.")
        return field.number in self._kept

    def ListFields(self) -> list[tuple[Field, Any]]:  # noqa: N802
        """The fields that are there, in the order of their numbers, and what they hold.

        Returns:
          A list of pairs: a field, which has a `name` and a `number`, and its content.

        >>> [(field.name, value) for field, value in tf.train.Int64List(value=[1, 2]).ListFields()]
        [('value', [1, 2])]
        """
        fields = [self._by_number[number] for number in sorted(self._kept)]
        found = [(field, field.get(self)) for field in fields]
        several = (ManyValues, ManyMessages, MapField)
        return [(f, value) for f, value in found if not isinstance(f, several) or len(value)]

    def SetInParent(self) -> None:  # noqa: N802
        """Makes the message a field of the one it was taken from, empty as it is."""
        self._touch()

    def DiscardUnknownFields(self) -> None:  # noqa: N802
        """Forgets what was read of fields that nobody knows, in messages inside, too."""
        self._unknown = b""
        for field, value in self.ListFields():
            if isinstance(field, OneMessage):
                value.DiscardUnknownFields()
            elif isinstance(field, ManyMessages):
                for part in value:
                    part.DiscardUnknownFields()
            elif isinstance(value, MessageMap):
                for key in value:
                    value[key].DiscardUnknownFields()

    def WhichOneof(self, oneof_group: str) -> str | None:  # noqa: N802
        """Which field of a group is there.

        Args:
          oneof_group: the name of the group.

        Returns:
          The name of the field; None if none is there.

        Raises:
          ValueError: if there is no such group.

        >>> tf.train.Feature(int64_list=tf.train.Int64List(value=[1])).WhichOneof("kind")
        'int64_list'
        """
        members = [field for field in self.FIELDS if field.group == oneof_group]
        if not members:
            groups = sorted({field.group for field in self.FIELDS if field.group})
            raise ValueError(
                f"{type(self).__name__} has no oneof {oneof_group!r}; it has {groups}."
            )
        return next((field.name for field in members if field.number in self._kept), None)

    def _lines(self) -> Iterator[str]:
        for number in sorted(self._kept):
            yield from self._by_number[number].lines(self)

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
