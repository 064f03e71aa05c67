"""How native code computes an op, as plain data: no compiler is imported to define an op.

An op block says which loop form it has, and names what computes it there: for a `Pointwise` op a
scalar rule (`@rule("exp")` in `execution.native.loops.scalars`), for all others a lowering
(`@lowers("softmax")` in `execution.native.front.lowering`). `tests/architecture/test_blocks.py`
looks all of them up.
"""

from __future__ import annotations

from weft._src.core.named_rules import NamedRule


class NativeRule(NamedRule):
    """A loop form, the name of what is done in it, and options that are passed to that."""

    __slots__ = ()


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


class Special(NativeRule):
    """A form of its own."""

    __slots__ = ()
