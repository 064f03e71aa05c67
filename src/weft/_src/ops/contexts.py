"""What the rules in op blocks are given by higher layers, as far as rules use it.

The classes themselves belong to these layers: `autodiff.sweep.VjpContext`, `graph.ir.Node`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from weft._src.core.tensor import SymbolicTensor, Tensor
from weft._src.ops.registry import Op


class VjpContext(Protocol):
    """What a gradient rule sees: the op's inputs, outputs and attributes."""

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """What the op was called with."""

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """What it gave."""

    @property
    def attrs(self) -> dict[str, Any]:
        """Its attributes."""

    def wants(self, i: int) -> bool:
        """Whether the gradient of input i is needed; if not, the rule may return None for it."""

    def zeros_like_output(self, i: int) -> Tensor:
        """The gradient of an output that nothing depends on."""


class RowNode(Protocol):
    """The node of one row that a batching rule does again for all rows."""

    @property
    def op(self) -> Op:
        """The op."""

    @property
    def inputs(self) -> Sequence[SymbolicTensor]:
        """The inputs of one row."""

    @property
    def outputs(self) -> Sequence[SymbolicTensor]:
        """The outputs of one row."""

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes of the op."""
