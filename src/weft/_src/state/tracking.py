"""Objects that own others under names: what is saved, and found again, by the paths to it."""

from __future__ import annotations

from typing import Any


class Trackable:
    """An object with named children.

    Nothing happens when attributes are set: who wants the children asks for them, and finds what
    the object holds at that moment. An object whose children have other names than its attributes
    says so with `_track_trackable`.
    """

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Makes an object a child of this one under a name."""
        named = self.__dict__.setdefault("_self_named_children", {})
        before = named.get(name)
        if before is not None and before is not trackable and not overwrite:
            raise ValueError(
                f"{type(self).__name__} has a child called {name!r} already: {before!r}."
            )
        named[name] = trackable
        return trackable

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The children by name."""
        return dict(self.__dict__.get("_self_named_children", ()))


class AutoTrackable(Trackable):
    """An object whose attributes are its children, as far as they are trackable."""

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        held = {
            name: value
            for name, value in self.__dict__.items()
            if name != "_self_named_children" and holds_trackables(value)
        }
        return held | super()._trackable_children(save_type, **kwargs)


def holds_trackables(value: Any) -> bool:
    """Whether a value is trackable, or a list, tuple or dict that may hold what is."""
    return isinstance(value, (Trackable, list, tuple, dict))
