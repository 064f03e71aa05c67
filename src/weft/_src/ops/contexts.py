"""What the rules in op blocks are given by higher layers, as far as rules use it.

The classes themselves belong to these layers: `autodiff.sweep.VjpContext`, `graph.ir.Node`,
`graph.batching.Batch`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from weft._src.core.aliases import ShapeLike
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


class RowBatch(Protocol):
    """The rows a batching rule works on, and what it does with them beside the op of the node."""

    exact: bool

    def expand(self, x: Tensor, missing: int) -> Tensor:
        """Axes of size one behind the rows."""

    def reshape_rows(self, x: Tensor, dims: Sequence[int]) -> Tensor:
        """Every row in another shape."""

    def stack(self, x: Tensor) -> Tensor:
        """The same for every row."""

    def list_with_rows(self, x: Tensor) -> Tensor:
        """A list without rows, to which elements with rows are added: it has to be empty."""

    def all_stacked(self, inputs: Sequence[Any], stacked: Sequence[bool]) -> list[Any]:
        """All inputs with rows."""

    def one_row(self, x: Tensor) -> Tensor:
        """The first row, for what asks for its shape only."""

    def flat_rows(self, x: Tensor) -> Tensor:
        """Every row as a vector."""

    def dims_with_rows(self, dims: Any) -> Any:
        """The sizes of an element, as an attribute has them, with the number of rows in front."""

    def with_rows(self, shape: ShapeLike, ones: int = 0) -> Tensor:
        """A shape (sizes, or a tensor of them) with the number of rows in front."""

    def before(self, x: Tensor, first: Any) -> Tensor:
        """Settings per axis, with one for the rows in front."""

    def reshape(self, x: Tensor, shape: Tensor) -> Tensor:
        """The elements in another shape."""

    def broadcast_to(self, x: Tensor, shape: Tensor) -> Tensor:
        """The tensor repeated to a shape."""

    def transpose(self, x: Tensor, order: Sequence[int]) -> Tensor:
        """The axes in another order."""

    def merged(self, x: Tensor) -> Tensor:
        """The rows and the first axis of a row as one axis."""

    def rows_in(self, x: Tensor) -> Any:
        """The size of the first axis of a row."""

    def unmerged(self, x: Tensor, inner: Any) -> Tensor:
        """The first axis as rows and the first axis of a row again."""

    def merged_shape(self, shape: Tensor) -> Tensor:
        """The shape of images of a row as that of the images of all rows."""

    def times_rows(self, count: Tensor) -> Tensor:
        """So many for each row."""

    def with_row_numbers(self, indices: Tensor) -> Tensor:
        """Places in a row as places in all rows."""

    def numbered_by_row(self, ids: Tensor, count: Tensor) -> Tensor:
        """Numbers below `count` made different for every row; those out of range stay so."""

    def picked(self, x: Tensor, i: Tensor, x_rows: bool, i_rows: bool) -> Tensor:
        """x[i] for a number i per row."""

    def sum(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        """A sum over axes."""

    def outer(self, x: Tensor, y: Tensor, turn_x: bool, turn_y: bool) -> Tensor:
        """Products of columns and rows: every element is one product."""

    def half_of_squares(self, x: Tensor) -> Tensor:
        """Half of the sum of the squares of each row."""

    def asserted(self, node: RowNode, inputs: list[Any], stacked: list[bool]) -> list[Any]:
        """Checks all rows at once, and reports the first one that fails."""
