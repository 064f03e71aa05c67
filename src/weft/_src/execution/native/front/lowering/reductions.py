"""Reductions, and what is made of several of them: means, norms, softmax and its losses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from weft._src.core import dtypes
from weft._src.execution.native.front.lowering.rules import (
    apply,
    cast_to,
    expanded,
    in_range,
    lowers,
    normalized_axes,
    number,
    reduced,
    reshaped,
    static_shape,
    widened,
)
from weft._src.execution.native.loops.kernels.search import FirstPlace, is_searchable
from weft._src.execution.native.loops.values import (
    ElementSource,
    Indexed,
    NotCompilableError,
    Stored,
    Value,
)
from weft._src.graph.ir import Node

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering


def _finished(node: Node, x: Value, i: int = 0) -> Value:
    """The result in the dtype and shape of the node: axes that were kept are back."""
    return reshaped(cast_to(x, node.outputs[i].dtype), static_shape(node, i), node.name)


def _axes(node: Node, x: Value) -> tuple[int, ...]:
    return normalized_axes(node.attrs["axis"], len(x.shape))


@lowers("reduction")
def _plain(lowering: Lowering, node: Node, inputs: list[Value], *, combination: str) -> Value:
    (x,) = inputs
    wide = widened(x) if combination in ("add", "multiply") else x
    return _finished(node, reduced(wide, _axes(node, x), combination, node.name))


def _sum(x: Value, axes: tuple[int, ...], label: str) -> Value:
    return reduced(x, axes, "add", label)


@lowers("mean")
def _mean(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    (x,) = inputs
    axes = _axes(node, x)
    if x.dtype.is_integer:
        raise NotCompilableError("Mean of integers stays with NumPy")
    count = math.prod([x.shape[a] for a in axes])
    total = _sum(widened(x), axes, node.name)
    return _finished(node, apply("divide", total, number(total, float(count))))


@lowers("first_place")
def _first_place(lowering: Lowering, node: Node, inputs: list[Value], *, best: str) -> Value:
    """Along the last axis a search; else two reductions, for the best and its least place."""
    (x,) = inputs
    if x.size == 0 or not x.shape:
        raise NotCompilableError(f"{node.op.name} of this stays with NumPy")
    axis = node.attrs["axis"] % len(x.shape)
    worst = -math.inf if best == "maximum" else math.inf
    x = cast_to(x, dtypes.uint8) if x.dtype is dtypes.bool_ else widened(x)
    if axis == len(x.shape) - 1 and is_searchable(x.shape[axis], x.dtype):
        result = Stored(dtypes.int64, x.shape[:-1], node.name)
        lowering.add(FirstPlace(x, result, best))
        return _finished(node, result)
    if x.dtype.is_floating:  # NaN is never the best, as long as there is another
        x = apply("select", apply("isnan", x), number(x, worst), x)
        # As integers: LLVM vectorises no search for the largest float that may be NaN.
        x = apply("order", x, dtype=dtypes.int32 if x.dtype is dtypes.float32 else dtypes.int64)
    extreme = expanded(reduced(x, (axis,), best, node.name), (axis,))
    kind = dtypes.int32 if x.shape[axis] < dtypes.int32.max else dtypes.int64
    places = cast_to(lowering.positions(x.shape, axis, dtypes.int64), kind)
    found = apply("select", apply("equal", x, extreme), places, number(places, x.shape[axis]))
    return _finished(node, reduced(found, (axis,), "minimum", node.name))


@lowers("l2_loss")
def _l2_loss(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    wide = widened(inputs[0])
    total = _sum(apply("square", wide), tuple(range(len(wide.shape))), node.name)
    return _finished(node, apply("multiply", total, number(total, 0.5)))


@lowers("euclidean_norm")
def _norm(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    wide = widened(inputs[0])
    if not wide.dtype.is_floating:
        raise NotCompilableError("EuclideanNorm of integers stays with NumPy")
    total = _sum(apply("square", wide), _axes(node, wide), node.name)
    return _finished(node, apply("sqrt", total))


@lowers("bias_add_grad")
def _bias_add_grad(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    (g,) = inputs
    channel = 1 if node.attrs["channels_first"] else len(g.shape) - 1
    axes = tuple([a for a in range(len(g.shape)) if a != channel])
    return _finished(node, _sum(widened(g), axes, node.name))


@lowers("sum_to_shape")
def _sum_to_shape(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x = inputs[0]
    shape = static_shape(node)
    lead = len(x.shape) - len(shape)
    repeated = [lead + i for i, n in enumerate(shape) if n == 1 and x.shape[lead + i] != 1]
    total = _sum(widened(x), (*range(lead), *repeated), node.name)
    return _finished(node, total)


# --- softmax and its kin --------------------------------------------------------------------


def _shifted(x: Value, axes: tuple[int, ...], label: str) -> tuple[Value, Value]:
    """x less its maximum along axes (0 where that is infinite), and that maximum."""
    top = expanded(reduced(x, axes, "maximum", f"{label}/max"), axes)
    usable = apply("select", apply("isfinite", top), top, number(top, 0.0))
    return apply("subtract", x, usable), usable


def _log_sum_exp(x: Value, axes: tuple[int, ...], label: str) -> Value:
    """With the axes kept."""
    shifted, top = _shifted(x, axes, label)
    total = expanded(_sum(apply("exp", shifted), axes, f"{label}/sum"), axes)
    return apply("add", apply("log", total), top)


@lowers("logsumexp")
def _logsumexp(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    wide = widened(inputs[0])
    axes = _axes(node, wide)
    if wide.size == 0:
        raise NotCompilableError("LogSumExp of nothing stays with NumPy")
    return _finished(node, _log_sum_exp(wide, axes, node.name)) if axes else inputs[0]


def _softmax_parts(x: Value, axis: int, label: str) -> tuple[Value, Value, Value]:
    """(x - max, exp of it, sum of that), axes kept.

    The sum lies between 1 and the number of elements: multiplying by its inverse is safe.
    """
    top = expanded(reduced(x, (axis,), "maximum", f"{label}/max"), (axis,))
    shifted = apply("subtract", x, top)
    powers = apply("exp", shifted, label=f"{label}/exp")
    return shifted, powers, expanded(_sum(powers, (axis,), f"{label}/sum"), (axis,))


@lowers("softmax")
def _softmax(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    if not inputs[0].size:
        return inputs[0]
    wide = widened(inputs[0])
    _, powers, total = _softmax_parts(wide, node.attrs["axis"] % len(wide.shape), node.name)
    out = apply("multiply", powers, apply("reciprocal", total), label=node.name)
    return cast_to(out, node.outputs[0].dtype)


@lowers("log_softmax")
def _log_softmax(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    if not inputs[0].size:
        return inputs[0]
    wide = widened(inputs[0])
    shifted, _, total = _softmax_parts(wide, node.attrs["axis"] % len(wide.shape), node.name)
    out = apply("subtract", shifted, apply("log", total), label=node.name)
    return cast_to(out, node.outputs[0].dtype)


@lowers("softmax_cross_entropy")
def _cross_entropy(lowering: Lowering, node: Node, inputs: list[Value]) -> list[Value]:
    logits, labels = [widened(v) for v in inputs]
    last = len(logits.shape) - 1
    shifted, powers, total = _softmax_parts(logits, last, node.name)
    terms = apply("multiply", labels, apply("subtract", apply("log", total), shifted))
    loss = _sum(terms, (len(terms.shape) - 1,), f"{node.name}/loss")  # labels may have more axes
    slope = apply("subtract", apply("multiply", powers, apply("reciprocal", total)), labels)
    return [_finished(node, loss), _finished(node, slope, 1)]


@lowers("sparse_softmax_cross_entropy")
def _sparse_cross_entropy(lowering: Lowering, node: Node, inputs: list[Value]) -> list[Value]:
    logits, labels = widened(inputs[0]), inputs[1]
    last = len(logits.shape) - 1
    rows = apply("cast", labels, dtype=dtypes.int64)
    lowering.check(node, in_range(rows, number(rows, 0), number(rows, logits.shape[last])))
    shifted, powers, total = _softmax_parts(logits, last, node.name)

    def own_logit(source: ElementSource, index: Any) -> Any:
        return source.at(shifted, (*index, source.at(rows, index)))

    own = Indexed(
        logits.dtype, rows.shape, f"{node.name}/own", "gather", (shifted, rows), own_logit
    )
    loss = apply("subtract", reshaped(apply("log", total), rows.shape), own)

    def is_target(source: ElementSource, index: Any) -> Any:
        hit = source.b.compare("eq", source.at(rows, index[:-1]), index[-1])
        one, zero = [source.at(number(logits, x), ()) for x in (1.0, 0.0)]
        return source.b.select(hit, one, zero)

    hot = Indexed(logits.dtype, logits.shape, f"{node.name}/hot", "one_hot", (rows,), is_target)
    slope = apply("subtract", apply("multiply", powers, apply("reciprocal", total)), hot)
    return [_finished(node, loss), _finished(node, slope, 1)]


@lowers("in_top_k")
def _in_top_k(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    scores, targets = widened(inputs[0]), cast_to(inputs[1], dtypes.int64)
    most = cast_to(inputs[2], dtypes.int64)
    classes = scores.shape[1]
    known = apply(
        "logical_and",
        apply("greater_equal", targets, number(targets, 0)),
        apply("less", targets, number(targets, classes)),
    )
    if not classes:
        return known

    def own_score(source: ElementSource, index: Any) -> Any:
        at = source.b.select(source.at(known, index), source.at(targets, index), source.b.index(0))
        return source.at(scores, (*index, at))

    own = Indexed(
        scores.dtype, targets.shape, f"{node.name}/own", "gather", (scores, targets, known),
        own_score,
    )  # fmt: skip
    above = cast_to(apply("greater", scores, expanded(own, (1,))), dtypes.int64)
    is_among = apply("less", _sum(above, (1,), f"{node.name}/above"), most)
    finite = reduced(apply("isfinite", scores), (1,), "logical_and", f"{node.name}/finite")
    return apply("logical_and", known, apply("logical_and", is_among, finite))
