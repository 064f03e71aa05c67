"""How native code computes an op, as plain data: no compiler is imported to define an op.

An op block says which loop form it has; `execution.native` knows how to generate each form.
"""

from __future__ import annotations


class NativeRule:
    """A loop form and the name of what is done in it.

    (Not dataclasses: generating their methods took a tenth of the time of `import weft`.)
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.name == other.name

    def __hash__(self) -> int:
        return hash((type(self), self.name))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class Pointwise(NativeRule):
    """One output element from the input elements at the same (broadcast) place."""

    __slots__ = ()


class Reduction(NativeRule):
    """Elements along axes combine with an associative operation, starting at its identity."""

    __slots__ = ()


class IndexMap(NativeRule):
    """A view: each output element is one input element; the name is that of the arithmetic."""

    __slots__ = ()


class Scan(NativeRule):
    """Elements along one axis combine with all before them."""

    __slots__ = ()


class Contraction(NativeRule):
    """A matrix product: a small one becomes loops, a large one calls BLAS."""

    __slots__ = ()

    def __init__(self, name: str = "matmul") -> None:
        super().__init__(name)


class Special(NativeRule):
    """A form of its own, known to the code generator by name."""

    __slots__ = ()
