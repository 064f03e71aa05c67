"""Changing some rows or elements of a variable, in place and in one atomic step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.cells import VariableCell
from weft._src.core.dtypes import DATA, INDEX, NUMERIC, REAL, RESOURCE, DType, int32
from weft._src.core.native_rules import NativeRule, Special
from weft._src.core.shapes import Dims, format_dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array
from weft._src.core.xla_rules import Lowered, XlaRule
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.ops import graph_forms, rules
from weft._src.ops.elementwise import division
from weft._src.ops.indexing import gathering, scattering
from weft._src.ops.registry import (
    NO_NATIVE,
    NO_XLA,
    NOT_DIFFERENTIABLE,
    Absent,
    Op,
    args,
    define_op,
)

# Puts updates at an index of a buffer: (xp, buffer, index, updates) -> None.
Change = Callable[[Any, Array, tuple[Any, ...], Array], None]


def _spec(x: Array) -> TensorSpec:
    return TensorSpec.of(int32, x.shape)  # only the shape is looked at


def _put(xp: ArrayNamespace, data: Array, index: tuple[Any, ...], updates: Array) -> None:
    if index:
        data[index] = updates
    elif len(updates):  # every update is all of the data, and the last one stays
        data[...] = xp.reshape(updates, (-1, *data.shape))[-1]


def _combining(ufunc: np.ufunc) -> Change:
    def change(xp: ArrayNamespace, data: Array, index: tuple[Any, ...], updates: Array) -> None:
        scattering.combine(xp, ufunc, data, index, updates)

    return change


def _divide(xp: ArrayNamespace, data: Array, index: tuple[Any, ...], updates: Array) -> None:
    if data.dtype.kind not in "iu":
        scattering.combine(xp, xp.divide, data, index, updates)
        return
    if not xp.all(updates):
        raise InvalidArgumentError(None, None, "scatter_div: integer division by zero.")
    # One after the other: a repeated index divides what the one before it left.
    positions = xp.reshape(index[0], (-1,))
    rows = xp.broadcast_to(updates, (*index[0].shape, *data.shape[1:]))
    for i, row in zip(positions, xp.reshape(rows, (-1, *data.shape[1:])), strict=True):
        data[i] = division.truncate_div_op.kernel(xp, data[i], row)


# --- rows: indices along the first axis ---------------------------------------------------------


def _check_rows(op: str, shape: Dims | None, indices: TensorSpec, updates: TensorSpec) -> None:
    """ShapeError unless there is one row for each index, or a single number for all of them."""
    if shape is None:
        return
    if not shape:
        raise ShapeError(f"{op}: the variable must have at least one axis, it is a scalar.")
    if indices.dims is None or updates.dims is None or updates.dims == ():
        return
    wanted = (*indices.dims, *shape[1:])
    try:
        rules.merge_dims(op, wanted, updates.dims, "updates")
    except ShapeError:
        raise ShapeError(
            f"{op}: updates must be a scalar or have shape {format_dims(wanted)} for indices of "
            f"shape {indices.shape} into a variable of shape {format_dims(shape)}, got "
            f"{updates.shape}."
        ) from None


def _check_range(op: str, indices: Any, size: int) -> None:
    if indices.size:
        low, high = indices.min(), indices.max()
        if low < 0 or high >= size:
            raise InvalidArgumentError(
                None,
                None,
                f"{op}: index {low if low < 0 else high} is out of range; indices must be in "
                f"[0, {size}).",
            )


def _scatter_op(
    name: str,
    allowed: frozenset[DType],
    infer: Callable[..., Any],
    kernel: Callable[..., Any] | Absent,
    native: NativeRule | Absent,
    xla: XlaRule | Absent,
) -> Op:
    return define_op(
        name,
        args("resource", RESOURCE) + args("indices", INDEX) + args("updates", allowed),
        infer=infer,
        kernel=kernel,
        native=native,
        xla=xla,
        keeps_shape=True,
        vjp=NOT_DIFFERENTIABLE,
        outputs=0,
        reads=(0,),
        writes=(0,),
        trusts_kernel=True,
        graphdef=graph_forms.unbatched,
    )


def _row_op(
    name: str,
    op: str,
    allowed: frozenset[DType],
    change: Change,
    native: NativeRule | Absent,
    xla: XlaRule | Absent,
) -> Op:
    def infer(
        handle: TensorSpec, indices: TensorSpec, updates: TensorSpec, *, shape: Dims | None
    ) -> tuple[()]:
        _check_rows(op, shape, indices, updates)
        return ()

    def kernel(
        xp: ArrayNamespace, cell: VariableCell, indices: Any, updates: Any, *, shape: Dims | None
    ) -> tuple[()]:
        def change_rows(data: Array) -> None:
            _check_rows(op, data.shape, _spec(indices), _spec(updates))
            _check_range(op, indices, len(data))
            change(xp, data, (indices,), updates)

        cell.modify(change_rows)
        return ()

    return _scatter_op(name, allowed, infer, kernel, native, xla)


def _combining_row_op(name: str, op: str, allowed: frozenset[DType], ufunc: np.ufunc) -> Op:
    native = Special("scatter_variable", combination=ufunc.__name__)
    xla = Lowered("scatter_variable", combination=ufunc.__name__)
    return _row_op(name, op, allowed, _combining(ufunc), native, xla)


scatter_update_op = _row_op(
    "ResourceScatterUpdate",
    "scatter_update",
    DATA,
    _put,
    Special("scatter_variable", combination=None),
    Lowered("scatter_variable", combination=None),
)
scatter_add_op = _combining_row_op("ResourceScatterAdd", "scatter_add", NUMERIC, np.add)
scatter_sub_op = _combining_row_op("ResourceScatterSub", "scatter_sub", NUMERIC, np.subtract)
scatter_min_op = _combining_row_op("ResourceScatterMin", "scatter_min", REAL, np.minimum)
scatter_max_op = _combining_row_op("ResourceScatterMax", "scatter_max", REAL, np.maximum)
scatter_mul_op = _row_op(
    "ResourceScatterMul",
    "scatter_mul",
    NUMERIC,
    _combining(np.multiply),
    NO_NATIVE,
    Lowered("scatter_variable", combination="multiply"),
)
scatter_div_op = _row_op("ResourceScatterDiv", "scatter_div", NUMERIC, _divide, NO_NATIVE, NO_XLA)


# --- elements: each index is a vector -----------------------------------------------------------


def _element_op(name: str, op: str, allowed: frozenset[DType], ufunc: np.ufunc | None) -> Op:
    change = _put if ufunc is None else _combining(ufunc)

    def infer(
        handle: TensorSpec,
        indices: TensorSpec,
        updates: TensorSpec,
        *,
        shape: Dims | None,
        batch_dims: int,
    ) -> tuple[()]:
        if shape is not None:
            scattering.check_updates(op, shape, indices, updates, batch_dims)
        return ()

    def kernel(
        xp: ArrayNamespace,
        cell: VariableCell,
        indices: Array,
        updates: Any,
        *,
        shape: Dims | None,
        batch_dims: int,
    ) -> tuple[()]:
        def change_elements(data: Array) -> None:
            scattering.check_updates(op, data.shape, _spec(indices), _spec(updates), batch_dims)
            index = gathering.nd_index(xp, op, data.shape, indices, batch_dims)
            change(xp, data, index, updates)

        cell.modify(change_elements)
        return ()

    combination = None if ufunc is None else ufunc.__name__
    xla = Lowered("scatter_nd_variable", combination=combination)
    return _scatter_op(name, allowed, infer, kernel, NO_NATIVE, xla)


scatter_nd_update_op = _element_op("ResourceScatterNdUpdate", "scatter_nd_update", DATA, None)
scatter_nd_add_op = _element_op("ResourceScatterNdAdd", "scatter_nd_add", NUMERIC, np.add)
scatter_nd_sub_op = _element_op("ResourceScatterNdSub", "scatter_nd_sub", NUMERIC, np.subtract)
scatter_nd_min_op = _element_op("ResourceScatterNdMin", "scatter_nd_min", REAL, np.minimum)
scatter_nd_max_op = _element_op("ResourceScatterNdMax", "scatter_nd_max", REAL, np.maximum)
