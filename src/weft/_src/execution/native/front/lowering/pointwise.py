"""Elementwise ops, constants and casts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weft._src.core import dtypes
from weft._src.execution.native.front.lowering.rules import (
    Lowered,
    apply,
    broadcast,
    cast_to,
    lowers,
    number,
    reduced,
    reshaped,
    static_shape,
    widened,
)
from weft._src.execution.native.loops import scalars
from weft._src.execution.native.loops.values import Elementwise, NotCompilableError, Uniform, Value
from weft._src.graph.ir import Node

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering


@lowers("pointwise")
def _pointwise(
    lowering: Lowering,
    node: Node,
    inputs: list[Value],
    *,
    name: str,
    checks_divisor: bool = False,
    checks_range: bool = False,
) -> Lowered:
    """Any op whose native rule is Pointwise, by the scalar rule that it names."""
    t = inputs[-1].dtype
    rule = scalars.rule_for(name, t)
    if rule is None:
        raise NotCompilableError(f"{node.op.name} has no native form for {t.name}")
    shape = static_shape(node)
    if checks_divisor and t.is_integer and 0 not in shape:
        _check_divisor(lowering, node, inputs[1])
    if checks_range and node.attrs["range_given"]:
        _check_range(lowering, node, inputs[1], inputs[2])
    out = node.outputs[0].dtype
    return Elementwise(out, shape, node.name, name, rule, inputs, node.attrs)


def _check_divisor(lowering: Lowering, node: Node, divisor: Value) -> None:
    zero = Uniform(divisor.dtype, (), "0", 0)
    nonzero = apply("not_equal", divisor, zero)
    axes = tuple(range(len(divisor.shape)))
    lowering.check(node, reduced(nonzero, axes, "logical_and", "divisor"))


def _check_range(lowering: Lowering, node: Node, low: Value, high: Value) -> None:
    in_order = apply("logical_not", apply("greater", low, high))  # NaN is in order with anything
    axes = tuple(range(len(in_order.shape)))
    lowering.check(node, reduced(in_order, axes, "logical_and", "range"))


@lowers("bias_add")
def _bias_add(lowering: Lowering, node: Node, inputs: list[Value]) -> Lowered:
    x, bias = inputs
    if node.attrs.get("channels_first"):
        bias = reshaped(bias, (bias.size, *[1] * (len(x.shape) - 2)))
    return _pointwise(lowering, node, [x, bias], name="add")


@lowers("identity")
def _identity(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    static_shape(node)
    return inputs[0]


@lowers("identities")
def _identities(lowering: Lowering, node: Node, inputs: list[Value]) -> list[Value]:
    return inputs[: len(node.outputs)]


@lowers("constant")
def _constant(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    value = node.attrs["value"]
    flat = value.reshape(-1)
    # By bits: 0.0 and -0.0 differ, NaN is itself.
    if flat.size and (flat.size == 1 or bool((_bits(flat) == _bits(flat)[0]).all())):
        return Uniform(node.outputs[0].dtype, value.shape, node.name, flat[0])
    return lowering.constant(node.name, value)


def _bits(flat: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.ascontiguousarray(flat).view(f"u{flat.dtype.itemsize}")


@lowers("fill")
def _fill(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    return broadcast(inputs[1], static_shape(node), node.name)


@lowers("broadcast")
def _broadcast_to(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    return broadcast(inputs[0], static_shape(node), node.name)


@lowers("add_n")
def _add_n(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    out = inputs[0]
    for x in inputs[1:]:
        out = apply("add", out, x, label=node.name)
    return out


@lowers("nothing")
def _nothing(lowering: Lowering, node: Node, inputs: list[Value]) -> list[Value]:
    return []


@lowers("range")
def _range(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    start, _, delta = [widened(v) for v in inputs]
    shape = static_shape(node)
    steps = cast_to(lowering.positions(shape, 0, dtypes.int64), start.dtype)
    out = apply("add", start, apply("multiply", steps, delta), label=node.name)
    return cast_to(out, node.outputs[0].dtype)


@lowers("range_shape")
def _range_shape(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    start, limit, delta = inputs
    zero = number(delta, 0)
    ascends = apply("greater", delta, zero)
    in_order = apply(
        "select", ascends, apply("less_equal", start, limit), apply("greater_equal", start, limit)
    )
    lowering.check(node, apply("logical_and", apply("not_equal", delta, zero), in_order))
    span = apply("subtract", cast_to(limit, dtypes.int64), cast_to(start, dtypes.int64))
    steps = apply(
        "negative", apply("floor_divide", apply("negative", span), cast_to(delta, dtypes.int64))
    )
    # What does not fit, into the result or into 64 bits on the way, is NumPy's to refuse.
    out = node.outputs[0].dtype
    most = number(steps, np.iinfo(out.numpy_dtype).max if out is dtypes.int32 else 2**62)
    lowering.check(
        node,
        apply(
            "logical_and",
            apply("greater_equal", steps, number(steps, 0)),
            apply("less_equal", steps, most),
        ),
    )
    return reshaped(cast_to(steps, out), (1,), node.name)
