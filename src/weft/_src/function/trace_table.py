"""The traces of a function by the types of their arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from weft._src.function.trace_types import TraceType, families

Types = tuple[TraceType, ...]


class TraceTable:
    """Traces, found by types that are equal to theirs or that they serve.

    Most traces serve their own types only, and are found by a hash. The others stand in families,
    so that not all have to be asked.
    """

    def __init__(self) -> None:
        self._traces: dict[Types, Any] = {}
        self._serving: dict[Any, dict[Types, Any]] = {}

    def __len__(self) -> int:
        return len(self._traces)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._traces.values())

    def get(self, types: Types) -> Any:
        """The trace for exactly these types, None if there is none."""
        return self._traces.get(types)

    def add(self, types: Types, concrete: Any) -> None:
        """Keeps a trace."""
        self._traces[types] = concrete
        if any(t.serves_others for t in types):
            self._serving.setdefault(families(types), {})[types] = concrete

    def drop_oldest(self) -> Any:
        """Forgets the trace that was looked up longest ago, and returns it."""
        types = min(self._traces, key=lambda t: self._traces[t].last_call)
        family = families(types)
        if types in self._serving.get(family, {}):
            del self._serving[family][types]
        return self._traces.pop(types)

    def serving(self, types: Types) -> list[tuple[Types, Any]]:
        """All traces that serve these types."""
        family = families(types)
        # A type that says itself what serves it may be served by any other.
        asked = self._traces if family is None else self._serving.get(family, {})
        return [(known, concrete) for known, concrete in asked.items() if _serves(known, types)]


def _serves(known: Sequence[TraceType], types: Sequence[TraceType]) -> bool:
    return all(a.is_subtype_of(b) for a, b in zip(types, known, strict=True))


def find(tables: Sequence[TraceTable], types: Types) -> Any:
    """The trace for exactly these types, else the most specific one that serves them, or None."""
    for table in tables:
        exact = table.get(types)
        if exact is not None:
            return exact
    serving = [pair for table in tables for pair in table.serving(types)]
    for known, concrete in serving:
        if all(_serves(other, known) for other, _ in serving):
            return concrete
    return serving[0][1] if serving else None
