"""What ops mean for ragged tensors: the table the dispatcher asks.

Elementwise ops run on the flat values; the block of an op may name one of the rules below; all
others refuse, and say what to do instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft._src.core.convert import convert_to_tensor
from weft._src.core.location import called_function
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.dispatch import composite_rules
from weft._src.ops.operators import install_operators
from weft._src.ops.ragged import (
    elementwise,
    joining,
    picking,
    products,
    rearranging,
    reductions,
    shape,
)
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.registry import Op


def apply(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], name: str | None) -> Any:
    """An op of which at least one input is ragged."""
    rule = "elementwise" if op.elementwise and op.ragged is None else op.ragged
    if rule is None or (rule in _FIRST_ONLY and _any_ragged(inputs[1:])):
        found = next(x for x in inputs if isinstance(x, RaggedTensor))
        raise found.refusal(f"{called_function()} (op {op.name})")
    return RULES[rule](op, inputs, attrs, name)


def _any_ragged(inputs: Sequence[Any]) -> bool:
    return any(isinstance(x, RaggedTensor) for x in inputs)


def _concat(op: Op, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None) -> Any:
    return joining.concat(inputs, attrs["axis"])


def _stack(op: Op, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None) -> Any:
    return joining.stack(inputs, attrs["axis"])


def _expand_dims(
    op: Op, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None
) -> RaggedTensor:
    return joining.expand_dims(inputs[0], attrs["axis"])


def _size(op: Op, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None) -> Tensor:
    return op(inputs[0].flat_values, name=name, **attrs)


def _rank(op: Op, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None) -> Tensor:
    (x,) = inputs
    return shapes.rank(x.flat_values) + convert_to_tensor(x.ragged_rank)


def _one_hot(
    op: Op, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None
) -> RaggedTensor:
    """The new axis lies behind the ragged ones."""
    indices, *rest = inputs
    axis = attrs["axis"]
    if axis != -1:
        if axis <= indices.ragged_rank:
            raise ShapeError(
                f"one_hot: axis must lie behind the {indices.ragged_rank} ragged axes of indices, "
                f"got {axis}."
            )
        attrs = attrs | {"axis": axis - indices.ragged_rank}
    return indices.with_flat_values(op(indices.flat_values, *rest, name=name, **attrs))


# By the names that op blocks use: `ragged="concat"`.
RULES: dict[str, Callable[..., Any]] = {
    "argsort": rearranging.argsort,
    "bincount": reductions.bincount,
    "concat": _concat,
    "elementwise": elementwise.apply,
    "expand_dims": _expand_dims,
    "gather": picking.gather,
    "gather_nd": picking.gather_nd,
    "in_segments": reductions.in_segments,
    "join": reductions.join,
    "matmul": products.matmul,
    "one_hot": _one_hot,
    "partition": rearranging.partition,
    "rank": _rank,
    "reduction": reductions.apply,
    "reshape": rearranging.reshape,
    "reverse": rearranging.reverse,
    "scan": rearranging.scan,
    "shape": shape.shape,
    "size": _size,
    "softmax": reductions.softmax,
    "sort": rearranging.sort,
    "split": rearranging.split,
    "squeeze": rearranging.squeeze,
    "stack": _stack,
    "tile": rearranging.tile,
    "where": rearranging.where,
}

# Of these only the first input may be ragged.
_FIRST_ONLY = frozenset({"in_segments", "one_hot", "reshape", "split", "tile"})

composite_rules[RaggedTensor] = apply
install_operators(RaggedTensor)
