"""How native code computes an op, as plain data: no compiler is imported to define an op.

An op block says which loop form it has; `execution.native` knows how to generate each form.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pointwise:
    """One output element from the input elements at the same (broadcast) place.

    `scalar` names the scalar operation in the code generator's table.
    """

    scalar: str


@dataclass(frozen=True)
class Reduction:
    """Elements along axes combine with an associative operation, starting at its identity."""

    combine: str


@dataclass(frozen=True)
class IndexMap:
    """A view: each output element is one input element; `form` names the index arithmetic."""

    form: str


@dataclass(frozen=True)
class Contraction:
    """A matrix product: a small one becomes loops, a large one calls BLAS."""


@dataclass(frozen=True)
class Scan:
    """Elements along one axis combine with all before them."""

    combine: str


@dataclass(frozen=True)
class Special:
    """A form of its own, known to the code generator by name."""

    form: str
