"""How native code computes an op, as plain data: no compiler is imported to define an op.

An op block says which loop form it has, and names what computes it there: for a `Pointwise` op a
scalar rule (`@rule("exp")` in `execution.native.loops.scalars`), for all others a lowering
(`@lowers("softmax")` in `execution.native.front.lowering`). `tests/architecture/test_blocks.py`
looks all of them up.
"""

from __future__ import annotations

from typing import Any


class NativeRule:
    """A loop form, the name of what is done in it, and options that are passed to that.

    (Not dataclasses: generating their methods took a tenth of the time of `import weft`.)
    """

    __slots__ = ("name", "options")

    def __init__(self, name: str, **options: Any) -> None:
        self.name = name
        self.options = options

    def __repr__(self) -> str:
        arguments = [repr(self.name), *[f"{k}={v!r}" for k, v in self.options.items()]]
        return f"{type(self).__name__}({', '.join(arguments)})"


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
