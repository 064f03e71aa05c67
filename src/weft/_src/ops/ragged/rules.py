"""What ops mean for ragged tensors: the table the dispatcher asks.

Elementwise ops run on the flat values; the ops below have rules of their own; all others refuse,
and say what to do instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft._src.core.convert import convert_to_tensor
from weft._src.core.location import called_function
from weft._src.core.native_rules import Pointwise
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

# Ops that work element by element (or along axes they add at the end) without a native loop form.
_ELEMENTWISE = frozenset(
    {"Angle", "AsString", "Bitcast", "CheckNumerics", "Complex", "Identity", "Imag", "Real"}
    | {"RegexFullMatch", "RegexReplace", "StopGradient", "StringJoin", "StringLength", "AddN"}
    | {"StringLower", "StringStrip", "StringToNumber", "StringUpper", "Substr"}
    | {"StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong"}
    | {"UnicodeTranscode"}
)


def apply(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], name: str | None) -> Any:
    """An op of which at least one input is ragged."""
    rule = _RULES.get(op.name)
    if rule is None and (isinstance(op.native, Pointwise) or op.name in _ELEMENTWISE):
        rule = elementwise.apply
    found = next(x for x in inputs if isinstance(x, RaggedTensor))
    if rule is None or (op.name in _FIRST_ONLY and _any_ragged(inputs[1:])):
        raise found.refusal(f"{called_function()} (op {op.name})")
    return rule(op, inputs, attrs, name)


def _any_ragged(inputs: Sequence[Any]) -> bool:
    return any(isinstance(x, RaggedTensor) for x in inputs)


def _concat(op: Op, inputs: Any, attrs: dict[str, Any], name: str | None) -> Any:
    return joining.concat(inputs, attrs["axis"])


def _pack(op: Op, inputs: Any, attrs: dict[str, Any], name: str | None) -> Any:
    return joining.stack(inputs, attrs["axis"])


def _expand_dims(op: Op, inputs: Any, attrs: dict[str, Any], name: str | None) -> RaggedTensor:
    return joining.expand_dims(inputs[0], attrs["axis"])


def _size(op: Op, inputs: Any, attrs: dict[str, Any], name: str | None) -> Tensor:
    return op(inputs[0].flat_values, name=name, **attrs)


def _rank(op: Op, inputs: Any, attrs: dict[str, Any], name: str | None) -> Tensor:
    (x,) = inputs
    return shapes.rank(x.flat_values) + convert_to_tensor(x.ragged_rank)


def _one_hot(op: Op, inputs: Any, attrs: dict[str, Any], name: str | None) -> RaggedTensor:
    """The new axis lies behind the ragged ones."""
    indices, *rest = inputs
    axis = attrs["axis"]
    if axis >= 0:
        if axis <= indices.ragged_rank:
            raise ShapeError(
                f"one_hot: axis must lie behind the {indices.ragged_rank} ragged axes of indices, "
                f"got {axis}."
            )
        attrs = attrs | {"axis": axis - indices.ragged_rank}
    return indices.with_flat_values(op(indices.flat_values, *rest, name=name, **attrs))


_RULES: dict[str, Callable[..., Any]] = {
    "ConcatV2": _concat,
    "Pack": _pack,
    "ExpandDims": _expand_dims,
    "Size": _size,
    "Rank": _rank,
    "OneHot": _one_hot,
    "Shape": shape.shape,
    "GatherV2": picking.gather,
    "GatherNd": picking.gather_nd,
    "MatMul": products.matmul,
    "ReverseV2": rearranging.reverse,
    "Tile": rearranging.tile,
    "Sort": rearranging.sort,
    "ArgSort": rearranging.argsort,
    "Cumsum": rearranging.scan,
    "Cumprod": rearranging.scan,
    "Where": rearranging.where,
    "Squeeze": rearranging.squeeze,
    "Reshape": rearranging.reshape,
    "Split": rearranging.split,
    "SplitV": rearranging.split,
    "DynamicPartition": rearranging.partition,
    "DenseBincount": reductions.bincount,
    "ReduceJoin": reductions.join,
    "Softmax": reductions.softmax,
    **dict.fromkeys(reductions.SEGMENTS, reductions.in_segments),
    **dict.fromkeys(reductions.REDUCTIONS, reductions.apply),
}

# Of these only the first input may be ragged.
_FIRST_ONLY = frozenset({"OneHot", "Tile", "Reshape", "SplitV", *reductions.SEGMENTS})

composite_rules[RaggedTensor] = apply
install_operators(RaggedTensor)
