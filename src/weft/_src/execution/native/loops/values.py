"""What a graph computes, as values of loop nests: the form between ops and machine code.

Every value says how one of its elements comes about. Elementwise and Indexed values need no memory
of their own: they are computed where they are used, unless `schedule` decides to keep them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from weft._src.core.dtypes import DType
from weft._src.execution.native.loops.memory import Buffer
from weft._src.execution.native.machine.builder import Builder, Scalar

if TYPE_CHECKING:
    from weft._src.execution.native.loops.program import Program

Shape = tuple[int, ...]
Index = tuple[Scalar, ...]


class NotCompilableError(Exception):
    """Something has no native form; says what, why, and at which line of the user."""

    def __init__(self, reason: str, node: Any = None, *, fails: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.node = node
        self.fails = fails  # whether it is an error on every tier, which NumPy reports

    def __str__(self) -> str:
        if self.node is None:
            return self.reason
        return f"{self.reason} ({self.node.name!r}, {self.node.location})"


class ElementSource(Protocol):
    """What formulas are given: the builder, and elements of other values."""

    b: Builder

    def at(self, value: Value, index: Sequence[Scalar]) -> Scalar:
        """The element of a value at an index."""
        ...


class Value:
    """A tensor of known dtype and shape."""

    __slots__ = ("dtype", "label", "shape")

    def __init__(self, dtype: DType, shape: Shape, label: str) -> None:
        self.dtype = dtype
        self.shape = shape
        self.label = label

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def operands(self) -> tuple[Value, ...]:
        """What it is computed from."""
        return ()

    def describe(self) -> str:
        """Its dtype and shape, for people."""
        return f"{self.label}: {self.dtype.name}[{', '.join(map(str, self.shape))}]"


class Stored(Value):
    """Elements that lie in memory, one after the other, before a nest reads them."""

    __slots__ = ()


class Uniform(Value):
    """One number everywhere."""

    __slots__ = ("number",)

    def __init__(self, dtype: DType, shape: Shape, label: str, number: Any) -> None:
        super().__init__(dtype, shape, label)
        self.number = number


class Elementwise(Value):
    """A rule of `scalars` applied to the operands, which broadcast."""

    __slots__ = ("_operands", "attrs", "rule", "rule_name")

    def __init__(
        self,
        dtype: DType,
        shape: Shape,
        label: str,
        rule_name: str,
        rule: Callable[..., Scalar],
        operands: Sequence[Value],
        attrs: dict[str, Any],
    ) -> None:
        super().__init__(dtype, shape, label)
        self.rule_name, self.rule, self._operands = rule_name, rule, tuple(operands)
        self.attrs = attrs

    @property
    def operands(self) -> tuple[Value, ...]:
        return self._operands


class Indexed(Value):
    """Elements picked from elsewhere: `formula(source, index)` computes the one at an index."""

    __slots__ = ("_operands", "formula", "kind")

    def __init__(
        self,
        dtype: DType,
        shape: Shape,
        label: str,
        kind: str,
        operands: Sequence[Value],
        formula: Callable[[ElementSource, Index], Scalar],
    ) -> None:
        super().__init__(dtype, shape, label)
        self.kind, self._operands, self.formula = kind, tuple(operands), formula

    @property
    def operands(self) -> tuple[Value, ...]:
        return self._operands


class Reshaped(Value):
    """The memory of another value under another shape."""

    __slots__ = ("source",)

    def __init__(self, source: Value, shape: Shape, label: str) -> None:
        super().__init__(source.dtype, shape, label)
        self.source = source

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.source,)


class Reduced(Value):
    """Elements of the source along axes, combined; those axes are gone."""

    __slots__ = ("axes", "combination", "source")

    def __init__(self, source: Value, axes: tuple[int, ...], combination: str, label: str) -> None:
        kept = tuple([n for i, n in enumerate(source.shape) if i not in axes])
        super().__init__(source.dtype, kept, label)
        self.source, self.axes, self.combination = source, axes, combination

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.source,)


class Part:
    """A piece of an assembled value: where each element of it goes."""

    __slots__ = ("combination", "is_whole", "others", "place", "source")

    def __init__(
        self,
        source: Value,
        place: Callable[[ElementSource, Index], Index],
        others: Sequence[Value] = (),
        combination: str | None = None,
        *,
        is_whole: bool = False,
    ) -> None:
        self.source, self.place, self.others = source, place, tuple(others)
        self.is_whole = is_whole  # every element goes where it is in the source
        # How it joins what lies there; places may then repeat.
        self.combination = combination


class Assembled(Value):
    """Memory written piece by piece, over a fill if the pieces do not cover it."""

    __slots__ = ("fill", "parts")

    def __init__(
        self, dtype: DType, shape: Shape, label: str, parts: Sequence[Part], fill: Value | None
    ) -> None:
        super().__init__(dtype, shape, label)
        self.parts, self.fill = tuple(parts), fill

    @property
    def operands(self) -> tuple[Value, ...]:
        filled = () if self.fill is None else (self.fill,)
        return (*filled, *[v for p in self.parts for v in (p.source, *p.others)])


class Kernel(ABC):
    """A step with code of its own, such as a matrix product; its operands lie in memory."""

    name = "kernel"
    may_fail = False  # whether it can leave the program

    def __init__(self, operands: Sequence[Value]) -> None:
        self.operands = tuple(operands)
        self.results: tuple[Stored, ...] = ()
        # Variables that it changes: (what stands for the new contents, for the old ones).
        self.renewed: list[tuple[Stored, Stored]] = []

    @property
    def work(self) -> int:
        """About how many nanoseconds it takes."""
        return sum(v.size for v in (*self.operands, *self.results))

    def prepare(self, memory: dict[int, Buffer]) -> None:
        """Called when the operands have got their memory; most kernels need nothing."""
        return

    def scratch_bytes(self) -> int:
        """The scratch memory it needs besides that of its results; planned when this is asked."""
        return 0

    def scratch_buffers(self) -> list[Buffer]:
        """The buffers in that memory."""
        return []

    @abstractmethod
    def emit(self, program: Program) -> None:
        """Writes its code into the program's main function."""
