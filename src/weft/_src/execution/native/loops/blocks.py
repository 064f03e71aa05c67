"""What a program consists of: blocks of things to do, and the steps that are made of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from weft._src.execution.native.loops.memory import Buffer
from weft._src.execution.native.loops.values import (
    Assembled,
    Kernel,
    Part,
    Reshaped,
    Shape,
    Stored,
    Value,
)

_TRAFFIC = 4  # what reading and writing memory costs an element of a nest


@dataclass(eq=False)
class Write:
    """Elements that have to end up at a given place."""

    target: Stored
    value: Value
    renewed: Stored | None = None  # stands for the place once it is written
    is_lasting: bool = False  # a variable: must not change before all checks have passed


@dataclass(eq=False)
class Keep:
    """A value that has to be computed at this point, because what it reads will change."""

    value: Value


Item = Kernel | Write | Keep


@dataclass(eq=False)
class Block:
    """What is to be done, in order; branches and loop bodies are blocks of their own."""

    items: list[Item] = field(default_factory=list)
    outputs: list[Write] = field(default_factory=list)
    local: list[Stored] = field(default_factory=list)  # memory that steps of this block change


@dataclass(eq=False)
class Nest:
    """Loops over one index space in which several values are computed."""

    space: Shape
    roots: list[Value] = field(default_factory=list)
    cost: int = 0
    # Large nests are done in pieces of the outermost loop, by several threads: the iterations of a
    # piece, and where each piece leaves what it has summed up (and whether it is in doubt).
    grain: int | None = None
    partial: dict[int, Buffer] = field(default_factory=dict)
    doubt: Buffer | None = None

    @property
    def work(self) -> int:
        """About how many nanoseconds it takes."""
        return math.prod(self.space) * (self.cost + _TRAFFIC) // 32


@dataclass(eq=False)
class Assembly:
    """The fill of an assembled value, or one of its parts."""

    target: Assembled
    part: Part | None

    @property
    def repeats(self) -> bool:
        """Whether data decides about places, so that one may be written twice: the last wins."""
        return self.part is not None and bool(self.part.others)


Step = Nest | Assembly | Kernel


def base_of(value: Value) -> Value:
    """What owns the memory of a value."""
    while isinstance(value, Reshaped):
        value = value.source
    return value
