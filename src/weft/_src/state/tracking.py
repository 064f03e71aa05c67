"""Objects that own others under names: what is saved, and found again, by the paths to it."""

from __future__ import annotations

from collections import OrderedDict, UserDict
from collections.abc import Callable
from typing import Any, TypeAlias

# Neither is a dict: Keras looks for what it saves in an object's lists and dicts, and would find
# each child a second time.
_NAMED = "_self_named_children"
_AWAITED = "_self_awaited_children"

# Takes a child that an object got: what was saved of it is restored.
Arrival = Callable[[Any], None]
Owner: TypeAlias = "Trackable | list[Any] | dict[Any, Any] | tuple[Any, ...]"


class Trackable:
    """An object with named children.

    Nothing happens when attributes are set: who wants the children asks for them, and finds what
    the object holds at that moment. An object whose children have other names than its attributes
    says so with `_track_trackable`. One that has values of its own, besides those of its children,
    has the methods `_serialize_to_tensors()`, a dict of them by name, and `_restore_from_tensors`,
    which takes such a dict: so Keras has it.
    """

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Makes an object a child of this one under a name."""
        named = self.__dict__.setdefault(_NAMED, UserDict())
        before = named.get(name)
        if before is not None and before is not trackable and not overwrite:
            raise ValueError(
                f"{type(self).__name__} has a child called {name!r} already: {before!r}."
            )
        named[name] = trackable
        arrived(self, name, trackable)
        return trackable

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The children by name."""
        return dict(self.__dict__.get(_NAMED, ()))


class AutoTrackable(Trackable):
    """An object whose attributes are its children, as far as they are trackable."""

    def _no_dependency(self, value: Any) -> Any:
        """A value that is to be an attribute and no child: modules of others ask for it.

        What has no variables is no child anyway.
        """
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if _AWAITED in self.__dict__:
            arrived(self, name, value)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        held = {
            name: value
            for name, value in self.__dict__.items()
            if name not in (_NAMED, _AWAITED) and is_trackable(value)
        }
        return held | super()._trackable_children(save_type, **kwargs)


def is_trackable(value: Any) -> bool:
    """Whether a value is an object with children, or a container that may hold such objects.

    Of containers just these kinds: classes derived from them are somebody else's business. A tuple
    counts if there is something trackable in it.
    """
    if isinstance(value, (Trackable, AwaitingList, AwaitingDict)):
        return True
    if type(value) in (list, dict, OrderedDict):
        return True
    return isinstance(value, tuple) and any(is_trackable(item) for item in value)


def children_of(owner: Owner) -> dict[str, Any]:
    """The children of an object or a container, by name."""
    if isinstance(owner, Trackable):
        found = owner._trackable_children()
    elif isinstance(owner, dict):
        found = {key: value for key, value in owner.items() if isinstance(key, str)}
    elif isinstance(owner, tuple):
        found = {}
        fields = getattr(owner, "_fields", ())
        for i, item in enumerate(owner):
            if i < len(fields):
                found[str(fields[i])] = item
            found[str(i)] = item
    else:
        return {
            name: item
            for name, item in zip(map(str, range(len(owner))), owner)
            if isinstance(item, Trackable) or is_trackable(item)  # in this order: it is quicker
        }
    return {name: child for name, child in found.items() if is_trackable(child)}


def has_named_children(owner: Trackable) -> bool:
    """Whether somebody gave an object children by `_track_trackable`."""
    return _NAMED in owner.__dict__


# --- children that are not there yet -------------------------------------------------------------


def await_child(owner: Owner, name: str, arrival: Arrival) -> Any:
    """Calls `arrival` with the child that the owner gets under a name.

    Returns what takes the owner's place: a list or a dict becomes one that tells of what it gets.
    """
    if isinstance(owner, Trackable):
        owner.__dict__.setdefault(_AWAITED, UserDict()).setdefault(name, []).append(arrival)
        return owner
    if isinstance(owner, list) and not isinstance(owner, AwaitingList):
        owner = AwaitingList(owner)
    elif isinstance(owner, dict) and not isinstance(owner, AwaitingDict):
        owner = AwaitingDict(owner)
    if isinstance(owner, (AwaitingList, AwaitingDict)):
        owner.awaited.setdefault(name, []).append(arrival)
    return owner


def arrived(owner: Any, name: str, child: Any) -> None:
    """Something has become a child; what was waiting for it goes on."""
    waiting = owner.__dict__.get(_AWAITED)
    if waiting and name in waiting and is_trackable(child):
        for arrival in waiting.pop(name):
            arrival(child)


class AwaitingList(list[Any]):
    """A list in the place of a user's list, for whose items values are waiting."""

    def __init__(self, items: Any = ()) -> None:
        super().__init__(items)
        self.awaited: dict[str, list[Arrival]] = {}

    def _arrived(self, start: int) -> None:
        for i in range(start, len(self)):
            if str(i) in self.awaited and is_trackable(self[i]):
                for arrival in self.awaited.pop(str(i)):
                    arrival(self[i])

    def append(self, item: Any) -> None:
        super().append(item)
        self._arrived(len(self) - 1)

    def extend(self, items: Any) -> None:
        start = len(self)
        super().extend(items)
        self._arrived(start)

    def __iadd__(self, items: Any) -> Any:  # type: ignore[misc]
        self.extend(items)
        return self

    def __reduce__(self) -> Any:
        return list, (list(self),)


class AwaitingDict(dict[Any, Any]):
    """A dict in the place of a user's dict, for whose values others are waiting."""

    def __init__(self, items: Any = ()) -> None:
        super().__init__(items)
        self.awaited: dict[str, list[Arrival]] = {}

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        if key in self.awaited and is_trackable(value):
            for arrival in self.awaited.pop(key):
                arrival(value)

    def update(self, *args: Any, **kwargs: Any) -> None:
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def __reduce__(self) -> Any:
        return dict, (dict(self),)
