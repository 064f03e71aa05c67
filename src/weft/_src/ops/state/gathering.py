"""Reading some rows or elements of a variable, without a copy of all of it."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.cells import VariableCell
from weft._src.core.dtypes import INDEX, RESOURCE, DType, bool_, int32
from weft._src.core.native_rules import Special
from weft._src.core.shapes import Dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.ops import graph_forms
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.indexing import gathering, indexed_slices
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, Op, args, define_op
from weft._src.ops.state import variables


def shape_of(handle: Tensor, dtype: DType, shape: Dims | None) -> Tensor:
    """The shape of a variable; it is only read if the shape is not known."""
    if TensorSpec.of(dtype, shape).is_static:
        return shapes.shape_argument(shape)
    return shapes.shape_op(variables.read_op(handle, dtype=dtype, shape=shape), out_type=int32)


# --- rows ---------------------------------------------------------------------------------------


def _gather_infer(
    handle: TensorSpec, indices: TensorSpec, *, dtype: DType, shape: Dims | None
) -> TensorSpec:
    params = TensorSpec.of(dtype, shape)
    return gathering.gather_op.infer(params, indices, axis=0, batch_dims=0)


def _gather_kernel(
    xp: ArrayNamespace, cell: VariableCell, indices: Any, *, dtype: DType, shape: Dims | None
) -> Array:
    return cell.read_part(
        lambda data: gathering.gather_op.kernel(xp, data, indices, axis=0, batch_dims=0)
    )


def _gather_vjp(ctx: VjpContext, g: Tensor) -> tuple[Any, None]:
    handle, indices = ctx.inputs
    shape = shape_of(handle, **ctx.attrs)
    params = TensorSpec.of(ctx.attrs["dtype"], ctx.attrs["shape"])
    return indexed_slices.of_rows(g, indices, shape, params), None


gather_op: Op = define_op(
    "ResourceGather",
    args("resource", RESOURCE) + args("indices", INDEX),
    infer=_gather_infer,
    kernel=_gather_kernel,
    native=Special("gather_variable"),
    xla=Lowered("gather_variable"),
    vjp=_gather_vjp,
    reads=(0,),
    fresh=True,
    graphdef=graph_forms.without("shape"),
)


# --- elements -----------------------------------------------------------------------------------


def _gather_nd_infer(
    handle: TensorSpec, indices: TensorSpec, *, dtype: DType, shape: Dims | None
) -> TensorSpec:
    return gathering.gather_nd_op.infer(TensorSpec.of(dtype, shape), indices, batch_dims=0)


def _gather_nd_kernel(
    xp: ArrayNamespace, cell: VariableCell, indices: Any, *, dtype: DType, shape: Dims | None
) -> Array:
    return cell.read_part(
        lambda data: gathering.gather_nd_op.kernel(xp, data, indices, batch_dims=0)
    )


def _gather_nd_vjp(ctx: VjpContext, g: Tensor) -> tuple[Any, None]:
    handle, indices = ctx.inputs
    shape = shape_of(handle, **ctx.attrs)
    params = TensorSpec.of(ctx.attrs["dtype"], ctx.attrs["shape"])
    return gathering.nd_gradient(g, indices, shape, params, batch_dims=0), None


gather_nd_op: Op = define_op(
    "ResourceGatherNd",
    args("resource", RESOURCE) + args("indices", INDEX),
    infer=_gather_nd_infer,
    kernel=_gather_nd_kernel,
    native=NO_NATIVE,
    xla=Lowered("gather_nd_variable"),
    vjp=_gather_nd_vjp,
    reads=(0,),
    graphdef=graph_forms.without("shape"),
)


is_initialized_op = define_op(
    "VarIsInitializedOp",
    args("resource", RESOURCE),
    infer=lambda handle: TensorSpec.of(bool_, ()),
    kernel=lambda xp, cell: xp.array(cell.data is not None),
    native=NO_NATIVE,
    xla=Lowered("is_initialized"),
    vjp=NOT_DIFFERENTIABLE,
    reads=(0,),
    fresh=True,
)
