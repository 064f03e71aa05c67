"""The base of objects in the shape of protocol buffer messages."""

from __future__ import annotations


class Message:
    """Plain objects whose repr shows their fields; equal if these are equal."""

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{k}={v!r}" for k, v in vars(self).items() if v not in (None, [], {}, "")
        )
        return f"{type(self).__name__}({shown})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    __hash__ = None  # type: ignore[assignment]
