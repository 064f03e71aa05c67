"""Picking slices of a tensor by number: gather and gather_nd."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import ArrayNamespace, AxisLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DATA, INDEX, NUMERIC, int16, int32
from weft._src.core.native_rules import Special
from weft._src.core.shapes import Dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.ops import batching, graph_forms, rules, static
from weft._src.ops.arrays import joining, shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import casting
from weft._src.ops.indexing import bad_indices, indexed_slices, scattering
from weft._src.ops.registry import Op, args, define_op


def batch_positions(xp: ArrayNamespace, sizes: tuple[int, ...], rank: int) -> list[Array]:
    """Index arrays that say "this batch" when they stand beside an index of the given rank."""
    positions = []
    for i, size in enumerate(sizes):
        shape = [1] * rank
        shape[i] = size
        positions.append(xp.reshape(xp.arange(size), shape))
    return positions


# --- gather ------------------------------------------------------------------------------------


def normalized(
    axis: int | None, batch_dims: int, params_rank: int, indices_rank: int
) -> tuple[int, int]:
    """The axis and the number of batch axes, both non-negative and checked."""
    if params_rank == 0:
        raise ShapeError("gather: params must have at least one axis, got a scalar.")
    if not -indices_rank <= batch_dims <= indices_rank:
        raise ShapeError(
            f"gather: batch_dims {batch_dims} is out of range for indices of rank {indices_rank}."
        )
    batch = batch_dims + indices_rank if batch_dims < 0 else batch_dims
    at = rules.normalize_axis("gather", batch if axis is None else axis, params_rank)
    if batch > at:
        raise ShapeError(f"gather: batch_dims {batch} must be at most axis, which is {at}.")
    return at, batch


def _gather_infer(
    params: TensorSpec, indices: TensorSpec, *, axis: int | None, batch_dims: int
) -> TensorSpec:
    if params.dims is None or indices.dims is None:
        return params.with_dims(None)
    at, batch = normalized(axis, batch_dims, len(params.dims), len(indices.dims))
    lead = tuple(
        [
            rules.unify("gather", p, i, f"the sizes of batch axis {k} in params and indices")
            for k, (p, i) in enumerate(zip(params.dims[:batch], indices.dims, strict=False))
        ]
    )
    return params.with_dims(
        (*lead, *params.dims[batch:at], *indices.dims[batch:], *params.dims[at + 1 :])
    )


def _check_batches(params: Any, indices: Any, batch: int) -> None:
    if params.shape[:batch] != indices.shape[:batch]:
        raise ShapeError(
            f"gather: the first {batch} sizes of params {params.shape} and indices "
            f"{indices.shape} must be equal (batch_dims)."
        )


def _check_range(indices: Any, size: int) -> None:
    if indices.size:
        low, high = indices.min(), indices.max()
        if low < 0 or high >= size:
            raise InvalidArgumentError(
                None,
                None,
                f"gather: index {low if low < 0 else high} is out of range; indices must be in "
                f"[0, {size}).",
            )


def _gather_kernel(
    xp: ArrayNamespace, params: Array, indices: Any, *, axis: int | None, batch_dims: int
) -> Any:
    at, batch = normalized(axis, batch_dims, params.ndim, indices.ndim)
    if indices.dtype == object:  # shape arithmetic
        indices = indices.astype(xp.int64)
    _check_range(indices, params.shape[at])
    if not batch:
        return xp.take(params, indices, at)
    _check_batches(params, indices, batch)
    rows = xp.moveaxis(params, at, batch)
    positions = batch_positions(xp, params.shape[:batch], indices.ndim)
    return xp.moveaxis(rows[(*positions, indices, ...)], *moves(at, batch, indices.ndim))


def moves(at: int, batch: int, indices_rank: int) -> tuple[list[int], list[int]]:
    """The axes between batch and axis come behind the indices when picked, before them after."""
    between = range(at - batch)
    return [indices_rank + i for i in between], [batch + i for i in between]


def _gather_vjp(ctx: VjpContext, g: Tensor) -> tuple[Any, None]:
    params, indices = ctx.inputs
    shape = shapes.shape_op(params, out_type=int32)
    if not ctx.attrs["axis"] and not ctx.attrs["batch_dims"]:
        return indexed_slices.of_rows(g, indices, shape, params.spec), None
    return gather_grad_op(shape, g, indices, **ctx.attrs), None


gather_op: Op = define_op(
    "GatherV2",
    args("params", DATA) + args("indices", INDEX | {int16}),
    infer=_gather_infer,
    kernel=_gather_kernel,
    native=Special("gather"),
    xla=Lowered("gather"),
    vjp=_gather_vjp,
    trusts_kernel=True,
    fresh=True,
    shape_arithmetic=True,
    ragged="gather",
    batch=batching.gathered,
    graphdef=graph_forms.gather,
)


def gather(
    params: TensorLike,
    indices: TensorLike,
    validate_indices: Any = None,
    axis: AxisLike | None = None,
    batch_dims: Any = 0,
    name: str | None = None,
) -> Tensor:
    """The slices of params along an axis that the indices name.

    Args:
      params: a tensor of rank 1 or more, or a variable, of which only the named rows are read.
      indices: int16, int32 or int64, of any shape; not counted from the end.
      validate_indices: accepted for compatibility, ignored: indices are always checked.
      axis: the axis that is indexed; None means the first behind the batch axes.
      batch_dims: how many first axes `params` and `indices` share; counted from the rank of
        `indices` if negative.

    Returns:
      A tensor of the dtype of `params` whose shape is that of `params` with the axis replaced by
      the axes of `indices` (without the batch axes).

    Raises:
      InvalidArgumentError: if an index is out of range.
      ShapeError: if `params` is a scalar, an axis is out of range, or the batch axes differ.

    >>> tf.gather([10, 20, 30, 40], [3, 0, 0]).numpy()
    array([40, 10, 10], dtype=int32)
    >>> tf.gather([[1, 2], [3, 4]], [[1], [0]], batch_dims=1).numpy()
    array([[2],
           [3]], dtype=int32)
    """
    batch = joining.single_axis("gather", batch_dims, "batch_dims")
    try:
        at = None if axis is None else joining.single_axis("gather", axis)
    except static.UnknownWhileTracingError as unknown:
        if batch:
            raise
        places = convert_to_tensor(indices, dtype_hint=int32)
        return unknown.instead("gather", convert_to_tensor(params), places, axis)
    if hasattr(params, "sparse_read") and not at and not batch:
        return params.sparse_read(indices, name=name)  # a variable: the other rows are not read
    return gather_op(
        convert_to_tensor(params),
        convert_to_tensor(indices, dtype_hint=int32),
        axis=at,
        batch_dims=batch,
        name=name,
    )


def pick(x: Tensor, indices: Tensor, axis: int, name: str | None = None) -> Tensor:
    """`gather` for functions that happen to be made of it: its gradient is a tensor, not rows."""
    if x.spec.rank is not None:
        axis -= x.spec.rank if axis >= 0 else 0
    else:
        x = shapes.reshape(x, shapes.shape_op(x, out_type=int32))
    return gather_op(x, indices, axis=axis, batch_dims=0, name=name)


def _gather_grad_infer(
    shape: TensorSpec, g: TensorSpec, indices: TensorSpec, *, axis: int | None, batch_dims: int
) -> TensorSpec:
    return g.with_dims(rules.dims_from_value("GatherGrad", shape))


def _gather_grad_kernel(
    xp: ArrayNamespace, shape: Array, g: Array, indices: Any, *, axis: int | None, batch_dims: int
) -> Array:
    sizes = tuple(shape.tolist())
    at, batch = normalized(axis, batch_dims, len(sizes), indices.ndim)
    out = xp.zeros(sizes, g.dtype)
    positions = batch_positions(xp, sizes[:batch], indices.ndim)
    places, sources = moves(at, batch, indices.ndim)
    xp.scatter_add(
        xp.moveaxis(out, at, batch), (*positions, indices), xp.moveaxis(g, sources, places)
    )
    return out


gather_grad_op = define_op(
    "GatherGrad",
    args("shape", INDEX, is_shape=True) + args("dy", NUMERIC) + args("indices", INDEX | {int16}),
    infer=_gather_grad_infer,
    kernel=_gather_grad_kernel,
    native=Special("gather_grad"),
    xla=Lowered("gather_grad"),
    vjp=lambda ctx, g: (None, gather_op(g, ctx.inputs[2], **ctx.attrs), None),
    trusts_kernel=True,
    fresh=True,
    batch=batching.inexact(batching.gathered_back),
    graphdef=graph_forms.gather_grad,
)

# --- gather_nd ---------------------------------------------------------------------------------


def nd_result_dims(
    op: str, params: Dims, indices: Dims, batch_dims: int, *, name: str = "params"
) -> Dims | None:
    """The shape of what indices pick: one slice for each vector along their last axis."""
    if not indices:
        raise ShapeError(f"{op}: indices must have at least one axis, got a scalar.")
    if not 0 <= batch_dims < len(indices):
        raise ShapeError(
            f"{op}: batch_dims must be at least 0 and less than the rank of indices, "
            f"{len(indices)}, got {batch_dims}."
        )
    for k in range(batch_dims):
        rules.unify(op, params[k], indices[k], f"the sizes of batch axis {k}")
    depth = indices[-1]
    if not isinstance(depth, int):
        return None
    if batch_dims + depth > len(params):
        raise ShapeError(
            f"{op}: indices have {depth} entries (their last size), but {name} have only "
            f"{len(params) - batch_dims} axes to index."
        )
    return (*indices[:-1], *params[batch_dims + depth :])


def _gather_nd_infer(params: TensorSpec, indices: TensorSpec, *, batch_dims: int) -> TensorSpec:
    if params.dims is None or indices.dims is None:
        return params.with_dims(None)
    return params.with_dims(nd_result_dims("gather_nd", params.dims, indices.dims, batch_dims))


def nd_index(
    xp: ArrayNamespace, op: str, shape: tuple[int, ...], indices: Array, batch_dims: int = 0
) -> tuple[Any, ...]:
    """The NumPy index that vectors of indices stand for, after checking their range."""
    nd_result_dims(op, shape, indices.shape, batch_dims)
    sizes = shape[batch_dims : batch_dims + indices.shape[-1]]
    if indices.size:
        # By columns first: loops over the few numbers of each vector take longer than all else.
        columns = [indices[..., i] for i in range(indices.shape[-1])]
        if any(c.min() < 0 or c.max() >= n for c, n in zip(columns, sizes, strict=True)):
            bad = xp.logical_or(indices < 0, indices >= xp.array(sizes))
            first = tuple(xp.argwhere(bad)[0][:-1].tolist())
            raise InvalidArgumentError(
                None,
                None,
                f"{op}: indices{list(first)} = {indices[first].tolist()} is out of range for "
                f"axes of sizes {list(sizes)}.",
            )
    rank = indices.ndim - 1
    positions = batch_positions(xp, shape[:batch_dims], rank)
    if not indices.shape[-1]:  # nothing else would tell how often each batch is picked
        positions = [xp.broadcast_to(p, indices.shape[:-1]) for p in positions]
    return (*positions, *[indices[..., i] for i in range(indices.shape[-1])])


def _gather_nd_kernel(xp: ArrayNamespace, params: Array, indices: Array, *, batch_dims: int) -> Any:
    index = nd_index(xp, "gather_nd", params.shape, indices, batch_dims)
    if indices.shape[-1] == 0 and not batch_dims:  # every vector picks all of params
        return xp.broadcast_to(params, (*indices.shape[:-1], *params.shape))
    return params[(*index, ...)]


def _gather_nd_vjp(ctx: VjpContext, g: Tensor) -> tuple[Any, None]:
    params, indices = ctx.inputs
    shape = shapes.shape_op(params, out_type=indices.dtype)
    return nd_gradient(g, indices, shape, params.spec, **ctx.attrs), None


def nd_gradient(
    g: Tensor, indices: Tensor, shape: Tensor, params: TensorSpec, *, batch_dims: int
) -> Any:
    """The gradient of gather_nd: some rows if vectors of one entry pick these, else a tensor."""
    if not batch_dims and indices.spec.dims is not None and indices.spec.dims[-1] == 1:
        rows = shapes.squeeze(indices, [-1])
        return indexed_slices.of_rows(g, rows, shape, params)
    return scattering.scatter_nd_op(indices, g, shape, batch_dims=batch_dims)


gather_nd_op: Op = define_op(
    "GatherNd",
    args("params", DATA) + args("indices", INDEX),
    infer=_gather_nd_infer,
    kernel=_gather_nd_kernel,
    native=Special("gather_nd"),
    xla=Lowered("gather_nd"),
    vjp=_gather_nd_vjp,
    trusts_kernel=True,
    ragged="gather_nd",
    batch=batching.gathered_nd,
    graphdef=graph_forms.unbatched,
)


def gather_nd(
    params: TensorLike,
    indices: TensorLike,
    batch_dims: Any = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Tensor:
    """The elements (or slices) of params that the vectors of indices name.

    Args:
      params: the tensor.
      indices: int16, int32 or int64; the last axis holds indices for the first axes of `params`
        (behind the batch axes), not counted from the end.
      batch_dims: how many first axes `params` and `indices` share.
      bad_indices_policy: "IGNORE" gives zeros for indices out of range; "", "DEFAULT" and "ERROR"
        make them an error.

    Returns:
      A tensor of the dtype of `params` and of shape [*indices.shape[:-1], the axes of params that
      are not indexed].

    Raises:
      InvalidArgumentError: if an index is out of range.
      ShapeError: if `indices` is a scalar or longer than `params` has axes, or the batch axes
        differ.
      ValueError: if there is no such policy.

    >>> tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy()
    array([2, 3], dtype=int32)
    """
    x, places = convert_to_tensor(params), convert_to_tensor(indices, dtype_hint=int32)
    if places.dtype is int16:
        places = casting.cast(places, int32)
    batch = joining.single_axis("gather_nd", batch_dims, "batch_dims")
    if bad_indices.are_ignored("gather_nd", bad_indices_policy):
        return bad_indices.gathered(x, places, batch)
    return gather_nd_op(x, places, batch_dims=batch, name=name)
