"""Reading and assigning variables. A variable is a resource: its handle holds a `VariableCell`."""

from __future__ import annotations

import numpy as np

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.cells import VariableCell
from weft._src.core.dtypes import DATA, NUMERIC, RESOURCE, DType
from weft._src.core.native_rules import Special
from weft._src.core.resources import Resource
from weft._src.core.shapes import Dim, Dims, format_dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array
from weft._src.core.xla_rules import Lowered
from weft._src.errors import ShapeError
from weft._src.ops import graph_forms, rules
from weft._src.ops.registry import NO_NATIVE, NO_XLA, NOT_DIFFERENTIABLE, Op, args, define_op


def _read_infer(handle: TensorSpec, *, dtype: DType, shape: Dims | None) -> TensorSpec:
    return TensorSpec.of(dtype, shape)


read_op = define_op(
    "ReadVariableOp",
    args("resource", RESOURCE),
    infer=_read_infer,
    kernel=lambda xp, cell, *, dtype, shape: cell.read(),
    native=Special("read_variable"),
    xla=Lowered("read_variable"),
    rows_vjp=lambda ctx, g: (g,),
    # The gradient of a variable is the gradient of its handle: every read adds to it.
    vjp=lambda ctx, g: (g,),
    reads=(0,),
    trusts_kernel=True,
    computes=False,
    graphdef=graph_forms.without("shape"),
)


def _assign_infer(handle: TensorSpec, value: TensorSpec, *, shape: Dims | None) -> tuple[()]:
    rules.merge_dims("assign", shape, value.dims, "the variable and the value")
    return ()


def _check_shape(value: Array, shape: Dims | None) -> None:
    """A variable keeps its shape; where it is declared unknown, any size will do."""
    if shape == value.shape:
        return
    fits = shape is None or (
        len(shape) == len(value.shape)
        and all(isinstance(d, Dim) or d == n for d, n in zip(shape, value.shape, strict=True))
    )
    if not fits:
        raise ShapeError(
            f"assign: the variable has shape {format_dims(shape)}, the value {value.shape}."
        )


def _assign_kernel(
    xp: ArrayNamespace, cell: VariableCell, value: Array, *, shape: Dims | None
) -> tuple[()]:
    _check_shape(value, shape)
    cell.write(xp.asarray(value))
    return ()


assign_op = define_op(
    "AssignVariableOp",
    args("resource", RESOURCE) + args("value", DATA),
    infer=_assign_infer,
    kernel=_assign_kernel,
    native=Special("assign_variable"),
    xla=Lowered("assign_variable"),
    vjp=NOT_DIFFERENTIABLE,
    outputs=0,
    writes=(0,),
    graphdef=graph_forms.without("shape"),
)


def _update_op(name: str, ufunc: np.ufunc) -> Op:
    def kernel(
        xp: ArrayNamespace, cell: VariableCell, value: Array, *, shape: Dims | None
    ) -> tuple[()]:
        _check_shape(value, None if cell.data is None else cell.data.shape)
        cell.update(ufunc, value)
        return ()

    return define_op(
        name,
        args("resource", RESOURCE) + args("value", NUMERIC),
        infer=_assign_infer,
        kernel=kernel,
        native=Special("update_variable", combination=ufunc.__name__),
        xla=Lowered("update_variable", combination=ufunc.__name__),
        keeps_shape=True,
        vjp=NOT_DIFFERENTIABLE,
        outputs=0,
        reads=(0,),
        writes=(0,),
        graphdef=graph_forms.without("shape"),
    )


assign_add_op = _update_op("AssignAddVariableOp", np.add)
assign_sub_op = _update_op("AssignSubVariableOp", np.subtract)


def _destroy_kernel(xp: ArrayNamespace, resource: Resource) -> tuple[()]:
    """Tables and iterators go when nobody refers to them."""
    if isinstance(resource, VariableCell):
        resource.clear()
    return ()


destroy_op = define_op(
    "DestroyResourceOp",
    args("resource", RESOURCE),
    infer=lambda handle: (),
    kernel=_destroy_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    outputs=0,
    writes=(0,),
)
