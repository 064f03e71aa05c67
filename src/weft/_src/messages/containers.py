"""The lists and dicts of messages: they check what is put into them, and tell their message."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, SupportsIndex

if TYPE_CHECKING:
    from weft._src.messages.message import Message


class RepeatedValues(list[Any]):
    """Values of one kind."""

    def __init__(self, message: Message, field: Any, values: Iterable[Any]) -> None:
        super().__init__(values)
        self._message, self._field = message, field

    def _checked(self, values: Iterable[Any]) -> list[Any]:
        return list(self._field.kind.listed(values, self._field.who(self._message)))

    def append(self, value: Any) -> None:
        super().append(self._checked([value])[0])
        self._message._touch()

    def extend(self, values: Iterable[Any]) -> None:
        super().extend(self._checked(values))
        self._message._touch()

    def insert(self, index: SupportsIndex, value: Any) -> None:
        super().insert(index, self._checked([value])[0])
        self._message._touch()

    def __setitem__(self, index: Any, value: Any) -> None:
        is_slice = isinstance(index, slice)
        checked = self._checked(value if is_slice else [value])
        super().__setitem__(index, checked if is_slice else checked[0])
        self._message._touch()

    def __iadd__(self, values: Iterable[Any]) -> Self:  # type: ignore[misc]
        self.extend(values)
        return self

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        return list, (list(self),)


class RepeatedMessages(Sequence[Any]):
    """Messages of one class; those put into it are copied."""

    def __init__(self, message: Message, field: Any, items: list[Any]) -> None:
        self._message, self._field, self._items = message, field, items

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self._items)))]
        found = self._items[index]
        if isinstance(found, bytes):
            found = self._items[index] = self._field.made(self._message, found)
        return found

    def __delitem__(self, index: Any) -> None:
        del self._items[index]

    def append(self, value: Any) -> None:
        """Adds a copy of a message."""
        self.extend([value])

    def extend(self, values: Iterable[Any]) -> None:
        """Adds copies of messages."""
        field, message = self._field, self._message
        self._items += [field.bytes_of(message, value) for value in values]
        message._touch()

    def add(self, **fields: Any) -> Any:
        """Adds a new message, and gives it."""
        made = self._field.cls(**fields)
        made._depth = self._message._depth + 1
        self._items.append(made)
        self._message._touch()
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (RepeatedMessages, list, tuple)) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


class _Map(Mapping[Any, Any]):
    """What both kinds of dicts can do."""

    def __init__(self, message: Message, field: Any, items: dict[Any, Any]) -> None:
        self._message, self._field, self._items = message, field, items

    def _checked(self, key: Any) -> Any:
        return self._field.pair_key.kind.checked(key, self._field.who(self._message))

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __contains__(self, key: object) -> bool:
        return self._checked(key) in self._items

    def __delitem__(self, key: Any) -> None:
        del self._items[self._checked(key)]

    def get(self, key: Any, default: Any = None) -> Any:
        """What a key has; the default if it is not there."""
        if key not in self:  # asking for it would make it
            return default
        return self[key]

    def pop(self, key: Any, *default: Any) -> Any:
        """Removes a key, and gives what it had; KeyError if it is not there, without a default."""
        if key not in self:
            return self._items.pop(key, *default)
        found = self[key]
        del self[key]
        return found

    def clear(self) -> None:
        """Removes all."""
        self._items.clear()

    @abstractmethod
    def MergeFrom(self, other: Any) -> None:  # noqa: N802
        """Takes over all of another dict; what both have is that of the other one."""

    def __repr__(self) -> str:
        return repr(dict(self))


class ValueMap(_Map):
    """Values by key."""

    def __getitem__(self, key: Any) -> Any:
        return self._items[self._checked(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._items[self._checked(key)] = self._field.kept_of(self._message, key, value)
        self._message._touch()

    def MergeFrom(self, other: Any) -> None:  # noqa: N802
        """Takes over all of another dict; what both have is that of the other one."""
        for key in other:
            self[key] = other[key]


class MessageMap(_Map):
    """Messages by key; asking for one that is not there makes it."""

    def __getitem__(self, key: Any) -> Any:
        key = self._checked(key)
        found = self._items.get(key, b"")
        if isinstance(found, bytes):
            is_new = key not in self._items
            found = self._items[key] = self._field.pair_value.made(self._message, found)
            if is_new:
                self._message._touch()
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        place = f"{self._field.name}[{key!r}]"
        raise ValueError(
            f"{type(self._message).__name__}: assign to a part, or use {place}.CopyFrom(message)."
        )

    def MergeFrom(self, other: Any) -> None:  # noqa: N802
        """Takes over all of another dict; what both have is that of the other one."""
        for key in other:
            self[key].CopyFrom(other[key])
