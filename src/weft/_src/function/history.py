"""The traces a function has had, and which of them is most like a new one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft._src.core.location import Location
from weft._src.function.differences import LEAST_DISTANCE, Difference, distance
from weft._src.function.trace_types import TensorType, TraceType, families

_NEWEST = 16  # records that are always looked at
_MOST_KINDS = 10_000  # of arguments that are counted
_MASK = 2**64 - 1


@dataclass
class TraceRecord:
    """What is remembered of one trace: `given` are the types before they were widened."""

    types: tuple[TraceType, ...]
    given: tuple[TraceType, ...]
    why: Why
    location: Location
    seconds: float
    nodes: int
    at_call: int
    concrete: Any
    acts: Callable[[], str | None]  # what tracing it did to Python, found out when it is asked
    is_dropped: bool = False


@dataclass
class Why:
    """Why a trace was made: what differs from the nearest earlier one, and in words."""

    cause: str
    differences: list[Difference] = field(default_factory=list)
    compared_with: tuple[TraceType, ...] | None = None
    was_dropped: bool = False  # there had been such a trace
    remedy: str = ""  # where it does not depend on the arguments


class History:
    """The records of a function, the oldest first.

    To compare a new trace with all earlier ones would make tracing slower with each of them. So
    only the newest ones are looked at, and those that an index finds: the newest one that is equal,
    and for each argument the newest one that differs in this argument only, and the newest such one
    that is of the same sort there. (Keys of the index are made of hashes; it only proposes.)
    """

    def __init__(self) -> None:
        self.records: list[TraceRecord] = []
        self._index: dict[Any, TraceRecord] = {}
        self._newest_of_family: dict[Any, TraceRecord] = {}
        self._dropped = 0  # records that are gone, but still in the index
        self._dropped_kinds: set[int] = set()  # the hashes of types whose traces were dropped

    def __len__(self) -> int:
        return len(self.records)

    def add(self, record: TraceRecord, *, limit: int) -> None:
        """Remembers a trace, and forgets the oldest ones beyond a limit."""
        self.records.append(record)
        self._dropped_kinds.discard(hash(record.types))
        self._note(record)
        self._drop(self.records[:-limit])

    @property
    def kinds(self) -> int:
        """How many kinds of arguments have been traced for, dropped ones included."""
        return len(self.records) + len(self._dropped_kinds)

    def has_dropped(self, types: Sequence[TraceType]) -> bool:
        """Whether there was a trace for these types, which has been dropped."""
        return hash(tuple(types)) in self._dropped_kinds

    def _note(self, record: TraceRecord) -> None:
        for key in _keys(record.types):
            self._index[key] = record
        self._newest_of_family[families(record.types)] = record

    def drop(self, concrete: Any) -> None:
        """Forgets the records of a trace."""
        self._drop([record for record in self.records if record.concrete is concrete])

    def _drop(self, records: Sequence[TraceRecord]) -> None:
        if not records:
            return
        for record in records:
            record.is_dropped, record.concrete = True, None
            if len(self._dropped_kinds) < _MOST_KINDS:
                self._dropped_kinds.add(hash(record.types))
        self.records = [record for record in self.records if not record.is_dropped]
        self._dropped += len(records)
        if self._dropped > len(self.records):  # seldom enough to begin anew
            self._index, self._newest_of_family, self._dropped = {}, {}, 0
            for record in self.records:
                self._note(record)

    def joinable(self, types: Sequence[TraceType]) -> Iterator[TraceRecord]:
        """Records with which types may have a common supertype, the newest ones first."""
        family = families(types)
        if family is None:
            yield from reversed(self.records)
        else:
            found = self._newest_of_family.get(family)
            if found is not None and not found.is_dropped:
                yield found

    def nearest(self, types: Sequence[TraceType]) -> TraceRecord:
        """The record that is most like a new trace, the newest one of several."""
        best, least = self.records[-1], -1
        for record in self._candidates(types):
            apart = distance(record.types, types)
            if least < 0 or apart < least:
                best, least = record, apart
            if least <= LEAST_DISTANCE:
                break
        return best

    def _candidates(self, types: Sequence[TraceType]) -> Iterator[TraceRecord]:
        keys = list(_keys(types))
        equal = self._index.get(keys[0])
        if equal is not None and not equal.is_dropped and equal.types == tuple(types):
            yield equal
        yield from reversed(self.records[-_NEWEST:])
        for key in keys[1:]:
            found = self._index.get(key)
            if found is not None and not found.is_dropped:
                yield found


def _keys(types: Sequence[TraceType]) -> Iterator[tuple[Any, ...]]:
    """The keys of a trace in the index; that of the whole first."""
    hashes = [hash((i, t)) for i, t in enumerate(types)]
    total = sum(hashes)
    yield (-1, total & _MASK)
    for i, t in enumerate(types):
        rest = (total - hashes[i]) & _MASK
        yield (i, rest, _sort(t))
        yield (i, rest)


def _sort(t: TraceType) -> Any:
    """What types that are near each other have in common."""
    return t.spec.dtype if isinstance(t, TensorType) else type(t)
