"""Slices of a variable: reading `v[1:3]`, and assigning with `v[1:3].assign(value)`."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.cells import VariableCell
from weft._src.core.dtypes import DATA, INDEX, NUMERIC, RESOURCE, DType
from weft._src.core.shapes import Dims, format_dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import ShapeError
from weft._src.ops import graph_forms, rules
from weft._src.ops.contexts import VjpContext
from weft._src.ops.indexing import slicing
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, Op, args, define_op
from weft._src.ops.state import gathering


def _read_slice_infer(
    handle: TensorSpec,
    *positions: TensorSpec,
    dtype: DType,
    shape: Dims | None,
    index: tuple[Any, ...],
) -> TensorSpec:
    return slicing.strided_slice_infer(TensorSpec.of(dtype, shape), *positions, index=index)


def _read_slice_kernel(
    xp: ArrayNamespace,
    cell: VariableCell,
    *positions: Any,
    dtype: DType,
    shape: Dims | None,
    index: tuple[Any, ...],
) -> Array:
    return cell.read_part(lambda data: data[(*slicing.runtime_index(data, positions, index), ...)])


def _read_slice_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor | None, ...]:
    handle, *positions = ctx.inputs
    shape = gathering.shape_of(handle, ctx.attrs["dtype"], ctx.attrs["shape"])
    grad = slicing.strided_slice_grad_op(shape, g, *positions, index=ctx.attrs["index"])
    return (grad, *[None] * len(positions))


# Eagerly one op instead of a read and a slice: it is faster, and does not take a snapshot of a
# large variable, after which `v[i].assign(value)` would have to copy all of it.
read_slice_op: Op = define_op(
    "ResourceStridedSlice",
    args("resource", RESOURCE) + args("*positions", INDEX, is_shape=True),
    infer=_read_slice_infer,
    kernel=_read_slice_kernel,
    native=NO_NATIVE,
    xla=Lowered("read_slice"),
    vjp=_read_slice_vjp,
    reads=(0,),
    trusts_kernel=True,
    graphdef=graph_forms.strided_read,
)


def _check_fits(value: Dims | None, place: Dims | None) -> None:
    """ShapeError unless the value broadcasts to the shape of the slice."""
    if value is None or place is None:
        return
    fits = len(value) <= len(place)
    if fits:
        try:
            # Sizes of 1 in the value are stretched, those of the slice are not.
            wide = tuple(
                [p if v == 1 else v for v, p in zip(value[::-1], place[::-1], strict=False)]
            )
            rules.merge_dims("assign", wide[::-1], place[len(place) - len(value) :], "")
        except ShapeError:
            fits = False
    if not fits:
        raise ShapeError(
            f"strided_slice assign: a value of shape {format_dims(value)} does not fit the slice "
            f"of the variable, which has shape {format_dims(place)}."
        )


def _slice_op(name: str, allowed: frozenset[DType], ufunc: np.ufunc | None) -> Op:
    """The op that puts a value into a slice, or combines it with what is there."""

    def infer(
        handle: TensorSpec,
        value: TensorSpec,
        *positions: TensorSpec,
        shape: Dims | None,
        index: tuple[Any, ...],
    ) -> tuple[()]:
        variable = TensorSpec.of(value.dtype, shape)
        _check_fits(value.dims, slicing.strided_slice_infer(variable, *positions, index=index).dims)
        return ()

    def kernel(
        xp: ArrayNamespace,
        cell: VariableCell,
        value: Array,
        *positions: Any,
        shape: Dims | None,
        index: tuple[Any, ...],
    ) -> tuple[()]:
        def change(data: Array) -> None:
            # The ellipsis keeps a single element a view instead of a scalar.
            place = data[(*slicing.runtime_index(data, positions, index), ...)]
            _check_fits(value.shape, place.shape)
            if ufunc is None:
                place[...] = value
            else:
                ufunc(place, value, out=place)

        cell.modify(change)
        return ()

    return define_op(
        name,
        args("resource", RESOURCE)
        + args("value", allowed)
        + args("*positions", INDEX, is_shape=True),
        infer=infer,
        kernel=kernel,
        native=NO_NATIVE,
        xla=Lowered("assign_slice", combination=None if ufunc is None else ufunc.__name__),
        vjp=NOT_DIFFERENTIABLE,
        outputs=0,
        reads=(0,),
        writes=(0,),
        trusts_kernel=True,
        graphdef=graph_forms.strided_assign,
    )


assign_slice_op = _slice_op("ResourceStridedSliceAssign", DATA, None)
assign_add_slice_op = _slice_op("ResourceStridedSliceAssignAdd", NUMERIC, np.add)
assign_sub_slice_op = _slice_op("ResourceStridedSliceAssignSub", NUMERIC, np.subtract)
