"""Picking elements along one axis with an index per element: what sorting needs for gradients."""

from __future__ import annotations

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.dtypes import DATA, INDEX, NUMERIC
from weft._src.core.native_rules import Special
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array
from weft._src.core.xla_rules import Lowered
from weft._src.ops import batching, rules
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.registry import Op, args, define_op


def _take_along_infer(x: TensorSpec, indices: TensorSpec, *, axis: int) -> TensorSpec:
    return x.with_dims(indices.dims)


take_along_op: Op = define_op(
    "TakeAlongAxis",
    args("x", DATA) + args("indices", INDEX),
    infer=_take_along_infer,
    kernel=lambda xp, x, indices, *, axis: xp.take_along_axis(x, indices, axis),
    native=Special("take_along"),
    xla=Lowered("take_along"),
    vjp=lambda ctx, g: (
        put_along_op(
            shapes.shape_op(ctx.inputs[0], out_type=ctx.inputs[1].dtype),
            g,
            ctx.inputs[1],
            axis=ctx.attrs["axis"],
        ),
        None,
    ),
    trusts_kernel=True,
    fresh=True,
    batch=batching.joined_along_axis,
)


def _put_along_infer(
    shape: TensorSpec, g: TensorSpec, indices: TensorSpec, *, axis: int
) -> TensorSpec:
    return g.with_dims(rules.dims_from_value("PutAlongAxis", shape))


def _put_along_kernel(
    xp: ArrayNamespace, shape: Array, g: Array, indices: Array, *, axis: int
) -> Array:
    out = xp.zeros(tuple(shape.tolist()), g.dtype)
    xp.put_along_axis(out, indices, g, axis)
    return out


# Zeros of a shape with values put at indices that do not repeat along the axis.
put_along_op: Op = define_op(
    "PutAlongAxis",
    args("shape", INDEX, is_shape=True) + args("values", NUMERIC) + args("indices", INDEX),
    infer=_put_along_infer,
    kernel=_put_along_kernel,
    native=Special("put_along"),
    xla=Lowered("put_along"),
    vjp=lambda ctx, g: (
        None,
        take_along_op(g, ctx.inputs[2], axis=ctx.attrs["axis"]),
        None,
    ),
    trusts_kernel=True,
    fresh=True,
    batch=batching.put_along_axis,
)
