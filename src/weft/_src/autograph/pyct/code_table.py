"""Facts about code objects, for as long as these live."""

from __future__ import annotations

import types
import weakref
from typing import Generic, TypeVar

V = TypeVar("V")


class CodeTable(Generic[V]):
    """A table by identity: code objects of different files may be equal."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[types.CodeType], V]] = {}

    def __setitem__(self, code: types.CodeType, value: V) -> None:
        key, entries = id(code), self._entries
        entries[key] = (weakref.ref(code, lambda _: entries.pop(key, None)), value)

    def get(self, code: types.CodeType) -> V | None:
        """What is known of some code, None if nothing is."""
        found = self._entries.get(id(code))
        return None if found is None else found[1]

    def __contains__(self, code: types.CodeType) -> bool:
        return id(code) in self._entries
