"""The table of lowering rules, and what all rules use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.dtypes import DType
from weft._src.core.native_rules import NativeRule, Pointwise
from weft._src.execution.native.loops import scalars
from weft._src.execution.native.loops.values import (
    ElementSource,
    Elementwise,
    Index,
    Indexed,
    NotCompilableError,
    Reduced,
    Reshaped,
    Shape,
    Uniform,
    Value,
)
from weft._src.execution.native.machine.builder import has_memory_type
from weft._src.graph.ir import Node
from weft._src.ops.registry import Op

Lowered = Value | Sequence[Value] | None
Rule = Callable[..., Lowered]  # of the lowering, the node and its inputs; options by keyword

_rules: dict[str, Rule] = {}


def lowers(name: str) -> Callable[[Rule], Rule]:
    """Registers a rule under the name that op blocks use for it: `native=Special("softmax")`."""

    def register(rule: Rule) -> Rule:
        if name in _rules:
            raise ValueError(f"Two lowering rules are named {name!r}.")
        _rules[name] = rule
        return rule

    return register


def lowering_rules() -> dict[str, Rule]:
    """All rules by their names."""
    return dict(_rules)


def rule_of(op: Op) -> Rule | None:
    """The rule that an op's block names, with its options; None if it has no native form."""
    native = op.native
    if not isinstance(native, NativeRule):
        return None
    if isinstance(native, Pointwise):
        return partial(_rules["pointwise"], name=native.name, **native.options)
    rule = _rules[native.name]
    return partial(rule, **native.options) if native.options else rule


def static_shape(node: Node, i: int = 0) -> Shape:
    """The shape of an output, which has to be known."""
    dims = node.outputs[i].spec.dims
    if dims is None or not all(isinstance(d, int) for d in dims):
        raise NotCompilableError(f"the shape of {node.name} ({node.op.name}) depends on data")
    return dims  # type: ignore[return-value]


def apply(name: str, *operands: Value, label: str = "", **attrs: Any) -> Value:
    """An elementwise value of operands that broadcast."""
    t = operands[-1].dtype
    rule = scalars.rule_for(name, t)
    if rule is None:
        raise NotCompilableError(f"{name} has no native form for {t.name}")
    shape = np.broadcast_shapes(*[v.shape for v in operands])
    numbers = [v.number for v in operands if isinstance(v, Uniform)]
    if name in _PREDICATES and len(numbers) == len(operands):  # so that checks may be needless
        return Uniform(dtypes.bool_, shape, label or name, bool(getattr(np, name)(*numbers)))
    return Elementwise(_result(name, t, attrs), shape, label or name, name, rule, operands, attrs)


_PREDICATES = frozenset({
    "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "isnan", "isinf",
    "isfinite",
})  # fmt: skip


def _result(name: str, t: DType, attrs: dict[str, Any]) -> DType:
    if name in _PREDICATES:
        return dtypes.bool_
    return attrs["dtype"] if name in ("cast", "order") else t


def number(like: Value, value: Any) -> Uniform:
    """A scalar of the dtype of another value."""
    return Uniform(like.dtype, (), str(value), value)


def reduced(x: Value, axes: tuple[int, ...], combination: str, label: str) -> Value:
    """A reduction; of nothing it is the identity."""
    if not axes:
        return x
    if x.size == 0:
        kept = tuple([n for i, n in enumerate(x.shape) if i not in axes])
        return Uniform(x.dtype, kept, label, identity_of(combination, x.dtype))
    if isinstance(x, Uniform) and combination in _OF_EQUALS:
        kept = tuple([n for i, n in enumerate(x.shape) if i not in axes])
        return Uniform(x.dtype, kept, label, x.number)
    return Reduced(x, axes, combination, label)


# What gives an element back if all are the same.
_OF_EQUALS = frozenset({"maximum", "minimum", "logical_and", "logical_or"})


def identity_of(combination: str, dtype: DType) -> Any:
    """What a reduction starts from."""
    if combination == "add" or combination == "logical_or":
        return 0
    if combination == "multiply" or combination == "logical_and":
        return 1
    if dtype.is_floating:
        return -np.inf if combination == "maximum" else np.inf
    info = np.iinfo(dtype.numpy_dtype)
    return info.min if combination == "maximum" else info.max


def reshaped(x: Value, shape: Shape, label: str = "reshape") -> Value:
    """The same elements in another shape."""
    if shape == x.shape:
        return x
    if isinstance(x, Uniform):
        return Uniform(x.dtype, shape, x.label, x.number)
    if isinstance(x, Reshaped):
        return reshaped(x.source, shape, label)
    if [n for n in shape if n != 1] == [n for n in x.shape if n != 1]:
        return _with_unit_axes(x, shape, label)
    return Reshaped(x, shape, label)


def in_memory(x: Value, shape: Shape | None = None) -> Value:
    """What a kernel reads, perhaps in another shape: no copy where only axes of size one differ."""
    shape = x.shape if shape is None else shape
    while isinstance(x, Indexed) and x.kind == _UNIT_AXES:
        (x,) = x.operands
    if shape == x.shape or isinstance(x, Uniform):
        return reshaped(x, shape)
    return Reshaped(x.source if isinstance(x, Reshaped) else x, shape, x.label)


_UNIT_AXES = "unit axes"


def _with_unit_axes(x: Value, shape: Shape, label: str) -> Value:
    """Axes of size one come or go: no element changes its place."""
    kept = [i for i, n in enumerate(shape) if n != 1]

    def formula(source: ElementSource, index: Index) -> Any:
        moving = iter(kept)
        zero = source.b.index(0)
        return source.at(x, [zero if n == 1 else index[next(moving)] for n in x.shape])

    return Indexed(x.dtype, shape, label, _UNIT_AXES, (x,), formula)


def expanded(x: Value, axes: tuple[int, ...]) -> Value:
    """A reduced value with its axes back, of size one."""
    shape = list(x.shape)
    for axis in axes:
        shape.insert(axis, 1)
    return reshaped(x, tuple(shape))


def broadcast(x: Value, shape: Shape, label: str = "broadcast") -> Value:
    """The value repeated along new axes and axes of size one."""
    if shape == x.shape:
        return x
    if isinstance(x, Uniform):
        return Uniform(x.dtype, shape, x.label, x.number)
    return Elementwise(x.dtype, shape, label, "copy", copy_rule, (x,), {})


def copy_rule(b: Any, t: DType, attrs: Any, x: Any) -> Any:
    """The rule of a copy."""
    return x


NARROW = frozenset({dtypes.float16, dtypes.bfloat16})


def cast_to(x: Value, dtype: DType) -> Value:
    """The value with elements of a dtype; the value itself if it has them."""
    if x.dtype is dtype:
        return x
    if isinstance(x, Uniform) and x.dtype.is_integer and dtype.is_integer:
        return Uniform(dtype, x.shape, x.label, np.array(x.number).astype(dtype.numpy_dtype)[()])
    return apply("cast", x, dtype=dtype)


def widened(x: Value) -> Value:
    """Narrow floats as float32: sums and products are computed in it."""
    return cast_to(x, dtypes.float32) if x.dtype in NARROW else x


def in_range(indices: Value, low: Value, high: Value) -> Value:
    """Whether all indices are in [low, high): one bool."""
    if isinstance(indices, Uniform) and isinstance(low, Uniform) and isinstance(high, Uniform):
        is_inside = not indices.size or low.number <= indices.number < high.number
        return Uniform(dtypes.bool_, (), "in range", is_inside)
    inside = apply(
        "logical_and", apply("greater_equal", indices, low), apply("less", indices, high)
    )
    return reduced(inside, tuple(range(len(inside.shape))), "logical_and", "in range")


def normalized_axes(axis: Any, rank: int) -> tuple[int, ...]:
    """An axis attribute as sorted, non-negative numbers; None means all."""
    if axis is None:
        return tuple(range(rank))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted({a % rank for a in axes})) if rank else ()


def check_dtype(node: Node) -> None:
    """Refuses what native code cannot hold, such as strings."""
    for tensor in (*node.inputs, *node.outputs):
        if not has_memory_type(tensor.dtype):
            raise NotCompilableError(
                f"{node.op.name} of {tensor.dtype.name} stays with NumPy", node
            )


def known(tensor: Any) -> np.ndarray[Any, Any]:
    """The value of a constant input."""
    if not tensor.node.is_const:
        raise NotCompilableError(
            f"{tensor.node.name} ({tensor.node.op.name}) is only known at run time"
        )
    return tensor.node.attrs["value"]
