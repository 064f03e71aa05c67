"""A hashable stand-in for values whose `==` is elementwise."""

from __future__ import annotations

from typing import Any


class Reference:
    """Wraps a tensor or variable so that it can be a dictionary key or set member.

    >>> x = tf.constant([1, 2])
    >>> {x.ref(): "mine"}[x.ref()]
    'mine'
    """

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def deref(self) -> Any:
        """The tensor or variable itself."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"
