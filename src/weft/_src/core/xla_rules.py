"""How XLA computes an op, as plain data: jax is not imported to define an op.

An op block says `xla=KERNEL` if its kernel runs on jax's arrays as it is, which the tables of ops
verify, or names a rule: `xla=Lowered("convolution")` is `@lowers("convolution")` in
`execution.xla.rules`. `tests/architecture/test_blocks.py` looks all of them up.
"""

from __future__ import annotations

from weft._src.core.named_rules import NamedRule


class XlaRule(NamedRule):
    """How a program of XLA computes an op; see `core.native_rules`."""

    __slots__ = ()


class Lowered(XlaRule):
    """A rule of its own, in `execution.xla.rules`."""

    __slots__ = ()


class _Kernel(XlaRule):
    __slots__ = ()

    def __repr__(self) -> str:
        return "KERNEL"


KERNEL = _Kernel("kernel")
