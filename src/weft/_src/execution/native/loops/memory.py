"""Where values lie: slots of the table a call is given, or scratch memory planned once."""

from __future__ import annotations

from weft._src.core.flags import flags

_ALIGNMENT = 64
PAGE = 4096
_WIDEST = 16  # bytes of an element


class Buffer:
    """A place for the elements of one value."""

    __slots__ = ("moved_to", "nbytes", "offset", "slot")

    def __init__(self, nbytes: int, slot: int | None = None) -> None:
        self.nbytes = nbytes
        self.slot = slot  # of the table; None for scratch
        self.offset = 0  # in scratch
        self.moved_to: Buffer | None = None  # where its value is computed instead

    @property
    def table_slot(self) -> int:
        """The slot of a buffer that is known to have one."""
        assert self.slot is not None
        return self.slot

    @property
    def final(self) -> Buffer:
        """The buffer that is used in the end."""
        buffer = self
        while buffer.moved_to is not None:
            buffer = buffer.moved_to
        return buffer


class Guard(Buffer):
    """A page behind a buffer that nobody may touch."""

    __slots__ = ()


def padded_bytes(nbytes: int) -> int:
    """The size of a part of scratch memory, such that the next one begins where it may."""
    step = PAGE if flags.guard_pages else _ALIGNMENT
    return max(step, -(-nbytes // step) * step)


class ScratchPlan:
    """Gives scratch buffers offsets so that those which live at the same time do not overlap."""

    def __init__(self) -> None:
        self.total = 0
        self.guards: list[Guard] = []  # if there are to be some
        self._free: list[tuple[int, int]] = []  # (offset, size), by offset
        self._ending: dict[int, list[tuple[int, int]]] = {}
        self._step = 0

    def place(self, nbytes: int, first: int, last: int) -> int:
        """The offset of a buffer that lives from one step to another; first never decreases."""
        if flags.guard_pages:
            return self._place_before_guard(nbytes)
        while self._step < first:
            for offset, size in self._ending.pop(self._step, ()):
                self._release(offset, size)
            self._step += 1
        size = padded_bytes(nbytes)
        offset = self._take(size)
        self._ending.setdefault(last, []).append((offset, size))
        return offset

    def _place_before_guard(self, nbytes: int) -> int:
        """Pages of its own for every buffer: it ends where a page begins that is forbidden."""
        guard = Guard(PAGE)
        guard.offset = self.total + padded_bytes(nbytes)
        self.guards.append(guard)
        self.total = guard.offset + PAGE
        return guard.offset - -(-nbytes // _WIDEST) * _WIDEST

    def _take(self, size: int) -> int:
        fitting = [(free, offset) for offset, free in self._free if free >= size]
        if not fitting:
            offset = self.total
            self.total += size
            return offset
        free, offset = min(fitting)
        self._free.remove((offset, free))
        if free > size:
            self._insert(offset + size, free - size)
        return offset

    def _release(self, offset: int, size: int) -> None:
        merged = []
        for start, length in self._free:
            if start + length == offset:
                offset, size = start, length + size
            elif offset + size == start:
                size += length
            else:
                merged.append((start, length))
        self._free = merged
        self._insert(offset, size)

    def _insert(self, offset: int, size: int) -> None:
        self._free.append((offset, size))
        self._free.sort()
