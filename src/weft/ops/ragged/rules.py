"""What ops mean for ragged tensors: the table the dispatcher asks.

Elementwise ops run on the flat values; the ops below have rules of their own; all others refuse,
and say what to do instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core.convert import convert_to_tensor
from weft.core.location import called_function
from weft.core.native_rules import Pointwise
from weft.core.tensor import Tensor
from weft.errors import ShapeError
from weft.ops.array import shape as shapes
from weft.ops.dispatch import composite_rules
from weft.ops.operators import install_operators
from weft.ops.ragged import elementwise, indexing, joining, reductions
from weft.ops.ragged.tensor import RaggedTensor
from weft.ops.registry import Op

# Ops that work element by element (or along axes they add at the end) without a native loop form.
_ELEMENTWISE = frozenset(
    {"Angle", "AsString", "CheckNumerics", "Complex", "Identity", "Imag", "OneHot", "Real"}
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
    if rule is None:
        found = next(x for x in inputs if isinstance(x, RaggedTensor))
        raise found.refusal(f"{called_function()} (op {op.name})")
    return rule(op, inputs, attrs, name)


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


def _gather(op: Op, inputs: Any, attrs: dict[str, Any], name: str | None) -> Any:
    """Rows by number; ragged indices of a tensor's rows."""
    params, indices = inputs
    if attrs["axis"] not in (None, 0) or attrs["batch_dims"]:
        raise ShapeError("gather: of a RaggedTensor only rows (axis=0, batch_dims=0) are gathered.")
    if isinstance(indices, RaggedTensor):
        return indices.with_flat_values(_gather(op, (params, indices.flat_values), attrs, name))
    if not isinstance(params, RaggedTensor):
        return op(params, indices, name=name, **attrs)
    if indices.shape.rank == 0:
        return params[indices]
    if indices.shape.rank != 1:
        raise ShapeError(
            "gather: the rows of a RaggedTensor are named by a vector of indices, got shape "
            f"{indices.shape}."
        )
    return indexing.gather_rows(params, indices)


_RULES: dict[str, Callable[..., Any]] = {
    "ConcatV2": _concat,
    "Pack": _pack,
    "ExpandDims": _expand_dims,
    "Size": _size,
    "Rank": _rank,
    "GatherV2": _gather,
    "ReduceJoin": reductions.join,
    "Softmax": reductions.softmax,
    **dict.fromkeys(reductions.REDUCTIONS, reductions.apply),
}

composite_rules[RaggedTensor] = apply
install_operators(RaggedTensor)
