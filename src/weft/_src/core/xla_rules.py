"""How XLA computes an op, as plain data: jax is not imported to define an op.

An op block says `xla=KERNEL` if its kernel runs on jax's arrays as it is, which the tables of ops
verify, or names a rule: `xla=Lowered("convolution")` is `@lowers("convolution")` in
`execution.xla.rules`. `tests/architecture/test_blocks.py` looks all of them up.
"""

from __future__ import annotations

from typing import Any


class XlaRule:
    """The name of a rule, and options that are passed to it. See `core.native_rules`."""

    __slots__ = ("name", "options")

    def __init__(self, name: str, **options: Any) -> None:
        self.name = name
        self.options = options

    def __repr__(self) -> str:
        arguments = [repr(self.name), *[f"{k}={v!r}" for k, v in self.options.items()]]
        return f"{type(self).__name__}({', '.join(arguments)})"


class Lowered(XlaRule):
    """A rule of its own, in `execution.xla.rules`."""

    __slots__ = ()


class _Kernel(XlaRule):
    __slots__ = ()

    def __repr__(self) -> str:
        return "KERNEL"


KERNEL = _Kernel("kernel")
