"""Elements combined by the number of the bin they belong to: segments, counts, histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft._src.core import dtypes
from weft._src.core.dtypes import DType
from weft._src.execution.native.front.lowering.rules import (
    apply,
    broadcast,
    cast_to,
    identity_of,
    lowers,
    number,
    reduced,
    reshaped,
    static_shape,
    widened,
)
from weft._src.execution.native.loops.values import (
    Assembled,
    ElementSource,
    Index,
    Indexed,
    Part,
    Shape,
    Uniform,
    Value,
)
from weft._src.execution.native.machine.builder import Scalar, is_unsigned
from weft._src.graph.ir import Node

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering


def _binned(
    rows: Value, ids: Value, is_counted: Value, shape: Shape, combination: str, label: str
) -> Value:
    """Rows combined by their ids; those that are not counted go to the first bin, as nothing."""
    rank = len(ids.shape)
    start = number(rows, identity_of(combination, rows.dtype))
    inner = (*ids.shape, *[1] * (len(rows.shape) - rank))
    counted = apply("select", reshaped(is_counted, inner), rows, start)
    places = apply("select", is_counted, ids, number(ids, 0))

    def place(source: ElementSource, index: Index) -> Index:
        return (source.at(places, index[:rank]), *index[rank:])

    parts = [Part(counted, place, (places,), combination)]
    return Assembled(rows.dtype, shape, label, parts, start)


def _accumulator(dtype: DType) -> DType:
    """Single numbers are summed in float64, as NumPy's `bincount` does."""
    return dtypes.float64 if dtype.is_floating else dtype


@lowers("segments")
def _segments(lowering: Lowering, node: Node, inputs: list[Value], *, combination: str) -> Value:
    data, ids, _ = inputs
    dtype, shape = data.dtype, static_shape(node)
    rows = cast_to(ids, dtypes.int64)
    lowering.check(node, _all(apply("less", rows, number(rows, shape[0]))))
    is_counted = apply("greater_equal", rows, number(rows, 0))
    wide = widened(data)
    if combination == "add" and len(data.shape) == len(ids.shape):
        wide = cast_to(data, _accumulator(dtype))
    if 0 in shape:
        return Uniform(dtype, shape, node.name, 0)
    out = _binned(wide, rows, is_counted, shape, combination, node.name)
    if combination in ("maximum", "minimum") and dtype.is_floating:
        # A bin without rows has the extreme finite number, one of infinities an infinity.
        flags = broadcast(is_counted, is_counted.shape)
        met = _binned(flags, rows, is_counted, shape[:1], "logical_or", f"{node.name}/met")
        empty = dtype.min if combination == "maximum" else dtype.max
        inner = (shape[0], *[1] * (len(shape) - 1))
        out = apply("select", reshaped(met, inner), out, number(out, float(empty)))
    return cast_to(out, dtype)


def _all(condition: Value) -> Value:
    return reduced(condition, tuple(range(len(condition.shape))), "logical_and", "in range")


@lowers("spread_segments")
def _spread(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    g, ids = inputs
    shape = static_shape(node)
    rows = cast_to(ids, dtypes.int64)
    if not g.size:
        return Uniform(g.dtype, shape, node.name, 0)
    lowering.check(node, _all(apply("less", rows, number(rows, g.shape[0]))))
    rank = len(ids.shape)

    def formula(source: ElementSource, index: Index) -> Scalar:
        b = source.b
        row = source.at(rows, index[:rank])
        is_dropped = b.compare("slt", row, b.index(0))
        out = source.at(g, (b.select(is_dropped, b.index(0), row), *index[rank:]))
        return b.select(is_dropped, b.like(out, 0), out)

    return Indexed(g.dtype, shape, node.name, "gather", (g, rows), formula)


@lowers("bincount")
def _bincount(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x, _, weights = inputs
    shape, dtype = static_shape(node), node.outputs[0].dtype
    values = cast_to(x, dtypes.int64)
    lowering.check(node, _all(apply("greater_equal", values, number(values, 0))))
    if 0 in shape or not x.size:
        return Uniform(dtype, shape, node.name, 0)
    is_counted = apply("less", values, number(values, shape[-1]))
    rank, is_binary = len(x.shape), node.attrs["binary_output"]
    amounts = (
        cast_to(weights, _accumulator(dtype))
        if weights.shape == x.shape and weights.size and not is_binary
        else Uniform(dtypes.int64, x.shape, "1", 1)
    )
    rows = apply("select", is_counted, amounts, number(amounts, 0))
    places = apply("select", is_counted, values, number(values, 0))

    def place(source: ElementSource, index: Index) -> Index:
        return (*index[: rank - 1], source.at(places, index))

    parts = [Part(rows, place, (places,), "add")]
    out: Value = Assembled(rows.dtype, shape, node.name, parts, number(rows, 0))
    if is_binary:
        out = apply("greater", out, number(out, 0))
    return cast_to(out, dtype)


@lowers("histogram")
def _histogram(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    values, ends, _ = [cast_to(v, dtypes.float64) if i < 2 else v for i, v in enumerate(inputs)]
    shape, dtype = static_shape(node), node.outputs[0].dtype
    low, high = [_entry(ends, i) for i in range(2)]
    lowering.check(node, lowering.kept(apply("less", low, high)))
    bins = number(values, float(shape[0]))
    width = lowering.kept(apply("divide", apply("subtract", high, low), bins))
    places = apply("divide", apply("subtract", values, low), width)
    lowering.check(node, _all(apply("equal", places, places)))  # no NaN
    last = number(places, float(shape[0] - 1))
    inside = apply("minimum", apply("maximum", places, number(places, 0.0)), last)
    ids = reshaped(cast_to(inside, dtypes.int64), (values.size,))
    ones = Uniform(dtypes.int64, ids.shape, "1", 1)

    def place(source: ElementSource, index: Index) -> Index:
        return (source.at(ids, index),)

    parts = [Part(ones, place, (ids,), "add")]
    return cast_to(Assembled(ones.dtype, shape, node.name, parts, number(ones, 0)), dtype)


def _entry(vector: Value, i: int) -> Value:
    def formula(source: ElementSource, index: Index) -> Scalar:
        return source.at(vector, (source.b.index(i),))

    return Indexed(vector.dtype, (), f"entry {i}", "slice", (vector,), formula)


@lowers("bound")
def _bound(lowering: Lowering, node: Node, inputs: list[Value], *, is_lower: bool) -> Value:
    found = bound(lowering, node, *inputs, is_lower=is_lower)
    return cast_to(found, node.outputs[0].dtype)


def bound(
    lowering: Lowering, node: Node, sequence: Value, values: Value, *, is_lower: bool
) -> Value:
    """Where values go in sorted rows, before equal elements or behind them."""
    n = sequence.shape[-1]
    if not n:
        return Uniform(dtypes.int64, values.shape, node.name, 0)
    order = ("u" if is_unsigned(sequence.dtype) else "s") + ("lt" if is_lower else "le")

    def is_before(b: Any, x: Scalar, value: Scalar) -> Scalar:
        """Whether x stands before the place of the value; NaN comes last."""
        if not x.is_float:
            return b.compare(order, x, value)
        value_is_nan = b.compare("uno", value, value)
        if is_lower:
            last = b.binary("and", value_is_nan, b.compare("ord", x, x))
            return b.binary("or", b.compare("olt", x, value), last)
        return b.binary("or", b.compare("ole", x, value), value_is_nan)

    def formula(source: ElementSource, index: Index) -> Scalar:
        b = source.b
        value = source.at(values, index)
        at = b.index(0)
        for step in [1 << k for k in reversed(range(n.bit_length()))]:
            further = b.add(at, b.index(step))
            fits = b.compare("sle", further, b.index(n))
            last = b.select(fits, b.sub(further, b.index(1)), b.index(n - 1))
            x = source.at(sequence, (*index[:-1], last._replace(is_wild=False)))
            at = b.select(b.binary("and", fits, is_before(b, x, value)), further, at)
        return at

    operands = (sequence, values)
    return lowering.kept(
        Indexed(dtypes.int64, values.shape, node.name, "gather", operands, formula)
    )
