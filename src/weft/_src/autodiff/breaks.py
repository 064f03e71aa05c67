"""What a tape notes beside its records, so that `explain_gradient` can tell where a path broke.

Ops without a gradient are not recorded, and nothing that is computed from their results. Only the
place of such a break is kept, and which tensors are behind which breaks: weakly, so that a tape
holds no values on their account.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

from weft._src.autodiff.sweep import Record
from weft._src.core.location import Location, user_location
from weft._src.core.tensor import SymbolicTensor, Tensor
from weft._src.ops.arrays.shape import rank_op, shape_op, size_op
from weft._src.ops.registry import Op

# They see no values, so nobody would take them for a part of the path; and they are frequent.
_SHAPES_ONLY = frozenset({rank_op, shape_op, size_op})


class Break(NamedTuple):
    """One op that lets no gradient through, called on something that the tape watches."""

    op: Op
    inputs: tuple[int, ...]  # the ids of the watched ones
    location: Location


class Breaks:
    """The breaks of one tape."""

    def __init__(self) -> None:
        self.breaks: list[Break] = []
        # id of a tensor -> the tensor, and the numbers of the breaks that it is behind.
        self.severed: dict[int, tuple[weakref.ref[Tensor], frozenset[int]]] = {}
        self.casts: dict[int, Location] = {}  # of eager tensors that a cast made integers
        self.left: list[tuple[Tensor, Location]] = []
        self.records: list[Record] | None = None  # of a tape that is used up
        self.watched: dict[int, Any] = {}

    def note(
        self, op: Op, inputs: Sequence[Tensor], outputs: Sequence[Tensor], watched: dict[int, Any]
    ) -> None:
        """An op without a gradient was called."""
        if op in _SHAPES_ONLY:
            return
        cut = tuple([id(x) for x in inputs if id(x) in watched])
        numbers = self._behind(inputs)
        if cut:
            location = user_location()
            if outputs and isinstance(outputs[0], SymbolicTensor):
                location = outputs[0].node.location
            numbers |= {len(self.breaks)}
            self.breaks.append(Break(op, cut, location))
        if numbers:
            self._mark((*outputs, *[inputs[i] for i in op.writes]), numbers)

    def note_cast(self, made: Tensor) -> None:
        """A cast was recorded; to integers, it is where gradients end. The tape keeps `made`."""
        if not made.dtype.is_differentiable:
            self.casts[id(made)] = user_location()

    def follow(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """An op was called on nothing that is watched, but maybe on something behind a break."""
        numbers = self._behind(inputs)
        if numbers:
            self._mark(outputs, numbers)

    def behind(self, tensor: Tensor) -> frozenset[int]:
        """The numbers of the breaks that a tensor is behind."""
        found = self.severed.get(id(tensor))
        return found[1] if found is not None and found[0]() is tensor else frozenset()

    def _behind(self, tensors: Sequence[Tensor]) -> frozenset[int]:
        numbers: frozenset[int] = frozenset()
        if self.severed:
            for tensor in tensors:
                numbers |= self.behind(tensor)
        return numbers

    def _mark(self, tensors: Sequence[Tensor], numbers: frozenset[int]) -> None:
        for tensor in tensors:
            self.severed[id(tensor)] = (weakref.ref(tensor), numbers | self.behind(tensor))

    def keep(self, records: list[Record] | None, watched: dict[int, Any]) -> None:
        """A gradient was None: what is known must outlive the use of the tape."""
        self.records, self.watched = records, watched
