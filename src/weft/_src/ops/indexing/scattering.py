"""Writing updates into a tensor at indices: scatter_nd and tensor_scatter_nd_*."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.core import memory
from weft._src.core.aliases import ArrayNamespace, ShapeLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DATA, INDEX, NUMERIC, PLAIN, REAL, DType, int32
from weft._src.core.native_rules import Special
from weft._src.core.shapes import Dims, format_dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import ShapeError
from weft._src.ops import batching, graph_forms, rules
from weft._src.ops.arrays import fill, shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import casting, comparison
from weft._src.ops.indexing import bad_indices, gathering
from weft._src.ops.registry import Absent, Op, args, define_op

Gradients = tuple[Tensor | None, ...]


def check_updates(
    op: str, shape: Dims, indices: TensorSpec, updates: TensorSpec, batch_dims: int = 0
) -> None:
    """ShapeError unless the updates have the shape of what the indices name."""
    if indices.dims is None:
        return
    wanted = gathering.nd_result_dims(op, shape, indices.dims, batch_dims, name="tensor axes")
    if wanted is None or updates.dims is None:
        return
    try:
        rules.merge_dims(op, wanted, updates.dims, "updates")
    except ShapeError:
        raise ShapeError(
            f"{op}: updates must have shape {format_dims(wanted)} for indices of shape "
            f"{indices.shape} into shape {format_dims(shape)}, got {updates.shape}."
        ) from None


def _spec(x: Array) -> TensorSpec:
    return TensorSpec.of(int32, x.shape)  # only the shape is looked at


# --- scatter_nd --------------------------------------------------------------------------------


def _scatter_nd_infer(
    indices: TensorSpec, updates: TensorSpec, shape: TensorSpec, *, batch_dims: int
) -> TensorSpec:
    dims = rules.dims_from_value("scatter_nd", shape)
    if dims is not None:
        check_updates("scatter_nd", dims, indices, updates, batch_dims)
    return updates.with_dims(dims)


def _scatter_nd_kernel(
    xp: ArrayNamespace, indices: Array, updates: Array, shape: Array, *, batch_dims: int
) -> Array:
    sizes = tuple(shape.tolist())
    if any(size < 0 for size in sizes):
        raise ValueError("the type rule says what is wrong")
    memory.check("scatter_nd", sizes, updates.dtype)
    check_updates("scatter_nd", sizes, _spec(indices), _spec(updates), batch_dims)
    index = gathering.nd_index(xp, "scatter_nd", sizes, indices, batch_dims)
    if updates.dtype == object:
        out = xp.full(sizes, b"", object)
    else:
        out = xp.zeros(sizes, updates.dtype)
    combine(xp, xp.add, out, index, updates)
    return out


def combine(
    xp: ArrayNamespace, ufunc: Any, out: Array, index: tuple[Any, ...], updates: Array
) -> None:
    """Combines updates into `out`, in place; an empty index means all of `out` each time."""
    if index:
        xp.scatter_with(ufunc, out, index, updates)
    elif updates.size:
        for update in xp.reshape(updates, (-1, *out.shape)):
            out[...] = ufunc(out, update)


def _scatter_nd_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    return None, gathering.gather_nd_op(g, ctx.inputs[0], **ctx.attrs), None


scatter_nd_op: Op = define_op(
    "ScatterNd",
    args("indices", INDEX) + args("updates", PLAIN) + args("shape", INDEX, is_shape=True),
    infer=_scatter_nd_infer,
    kernel=_scatter_nd_kernel,
    native=Special("scatter_nd"),
    xla=Lowered("scatter_nd"),
    vjp=_scatter_nd_vjp,
    trusts_kernel=True,
    fresh=True,
    batch=batching.inexact(batching.scattered),
    graphdef=graph_forms.unbatched,
)


def scatter_nd(
    indices: TensorLike,
    updates: TensorLike,
    shape: ShapeLike,
    bad_indices_policy: str = "",
    name: str | None = None,
) -> Tensor:
    """Zeros of a shape with updates added at indices; repeated indices add up.

    Args:
      indices: an int32 or int64 tensor; its last axis holds indices for the first axes of the
        result.
      updates: a tensor of shape [*indices.shape[:-1], the other axes of the result].
      shape: the shape of the result: a list, `tf.TensorShape` or int32 or int64 vector.
      bad_indices_policy: "IGNORE" leaves indices out of range out; "", "DEFAULT" and "ERROR" make
        them an error.

    Returns:
      A tensor of this shape, with the dtype of `updates`; strings start empty and are joined.

    Raises:
      InvalidArgumentError: if an index is out of range; negative ones are.
      ShapeError: if the shapes do not fit, or a size is negative.
      ValueError: if there is no such policy.

    >>> tf.scatter_nd([[1], [3], [1]], [5, 6, 7], [5]).numpy()
    array([ 0, 12,  0,  6,  0], dtype=int32)
    """
    places, new = convert_to_tensor(indices, dtype_hint=int32), convert_to_tensor(updates)
    size = shapes.shape_argument(shape)
    if bad_indices.are_ignored("scatter_nd", bad_indices_policy):
        places, new = bad_indices.kept(places, new, size)
    return scatter_nd_op(places, new, size, batch_dims=0, name=name)


# --- tensor_scatter_nd_* -----------------------------------------------------------------------


def _scatter_into(
    name: str,
    op: str,
    allowed: frozenset[DType],
    ufunc: np.ufunc | None,
    vjp: Callable[..., Any] | Absent,
) -> Op:
    """An op that returns a tensor with updates combined into it at indices."""

    def infer(tensor: TensorSpec, indices: TensorSpec, updates: TensorSpec) -> TensorSpec:
        if tensor.dims is not None:
            check_updates(op, tensor.dims, indices, updates)
        return tensor

    def kernel(xp: ArrayNamespace, tensor: Array, indices: Array, updates: Array) -> Array:
        check_updates(op, tensor.shape, _spec(indices), _spec(updates))
        index = gathering.nd_index(xp, op, tensor.shape, indices)
        out = xp.array(tensor)
        if ufunc is not None:
            combine(xp, ufunc, out, index, updates)
        elif index:
            out[index] = updates
        elif updates.size:
            out[...] = xp.reshape(updates, (-1, *out.shape))[-1]
        return out

    tensor, updates = args("tensor updates", allowed)
    combination = None if ufunc is None else ufunc.__name__
    return define_op(
        name,
        (tensor, *args("indices", INDEX), updates),
        batch=batching.inexact(batching.updated),
        infer=infer,
        kernel=kernel,
        native=Special("tensor_scatter", combination=combination),
        xla=Lowered("tensor_scatter", combination=combination),
        vjp=vjp,
        trusts_kernel=True,
        fresh=True,
    )


def _update_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    _, indices, updates = ctx.inputs
    kept = update_op(g, indices, fill.zeros_like(updates)) if ctx.wants(0) else None
    return kept, None, gathering.gather_nd_op(g, indices, batch_dims=0)


def _sub_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    return g, None, -gathering.gather_nd_op(g, ctx.inputs[1], batch_dims=0)


def _extremum_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    """Whatever equals the result shares the gradient equally."""
    tensor, indices, updates = ctx.inputs
    out = ctx.outputs[0]
    from_tensor = casting.cast(comparison.equal(tensor, out), g.dtype)
    there = gathering.gather_nd_op(out, indices, batch_dims=0)
    from_updates = casting.cast(comparison.equal(updates, there), g.dtype)
    share = g / add_op(from_tensor, indices, from_updates)
    at_updates = gathering.gather_nd_op(share, indices, batch_dims=0)
    return share * from_tensor, None, at_updates * from_updates


update_op: Op = _scatter_into(
    "TensorScatterUpdate", "tensor_scatter_nd_update", DATA, None, _update_vjp
)
add_op = _scatter_into(
    "TensorScatterAdd",
    "tensor_scatter_nd_add",
    NUMERIC,
    np.add,
    lambda ctx, g: (g, None, gathering.gather_nd_op(g, ctx.inputs[1], batch_dims=0)),
)
sub_op = _scatter_into("TensorScatterSub", "tensor_scatter_nd_sub", NUMERIC, np.subtract, _sub_vjp)
min_op = _scatter_into("TensorScatterMin", "tensor_scatter_nd_min", REAL, np.minimum, _extremum_vjp)
max_op = _scatter_into("TensorScatterMax", "tensor_scatter_nd_max", REAL, np.maximum, _extremum_vjp)


def _scatter(
    op: Op, tensor: TensorLike, indices: TensorLike, updates: TensorLike, policy: str, name: Any
) -> Tensor:
    x, places = convert_to_tensor(tensor), convert_to_tensor(indices, dtype_hint=int32)
    new = updates if isinstance(updates, Tensor) else convert_to_tensor(updates, dtype=x.dtype)
    if bad_indices.are_ignored(op.name, policy):
        places, new = bad_indices.kept(places, new, shapes.shape(x))
    return op(x, places, new, name=name)


def tensor_scatter_nd_update(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None
) -> Tensor:
    """A tensor with updates put in at indices; the last of repeated indices wins.

    Args:
      tensor: the tensor.
      indices: an int32 or int64 tensor; its last axis holds indices for the first axes of `tensor`.
      updates: of the dtype of `tensor` and of shape [*indices.shape[:-1], the other axes of
        tensor].

    Returns:
      A tensor of the shape and dtype of `tensor`, which itself does not change.

    Raises:
      InvalidArgumentError: if an index is out of range; negative ones are.
      ShapeError: if the shapes do not fit.

    >>> tf.tensor_scatter_nd_update([1, 2, 3, 4], [[1], [3]], [20, 40]).numpy()
    array([ 1, 20,  3, 40], dtype=int32)
    """
    return _scatter(update_op, tensor, indices, updates, "", name)


def tensor_scatter_nd_add(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str = "",
    name: str | None = None,
) -> Tensor:
    """A tensor with updates added at indices; repeated indices add up.

    Args:
      tensor: a tensor of numbers.
      indices: an int32 or int64 tensor; its last axis holds indices for the first axes of `tensor`.
      updates: of the dtype of `tensor` and of shape [*indices.shape[:-1], the other axes of
        tensor].
      bad_indices_policy: "IGNORE" leaves indices out of range out; "", "DEFAULT" and "ERROR" make
        them an error.

    Returns:
      A tensor of the shape and dtype of `tensor`, which itself does not change.

    Raises:
      InvalidArgumentError: if an index is out of range; negative ones are.
      ShapeError: if the shapes do not fit.
      ValueError: if there is no such policy.

    >>> tf.tensor_scatter_nd_add([1, 2, 3], [[0], [0]], [10, 20]).numpy()
    array([31,  2,  3], dtype=int32)
    """
    return _scatter(add_op, tensor, indices, updates, bad_indices_policy, name)


def tensor_scatter_nd_sub(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str = "",
    name: str | None = None,
) -> Tensor:
    """A tensor with updates subtracted at indices; repeated indices add up.

    Args:
      tensor: a tensor of numbers.
      indices: an int32 or int64 tensor; its last axis holds indices for the first axes of `tensor`.
      updates: of the dtype of `tensor` and of shape [*indices.shape[:-1], the other axes of
        tensor].
      bad_indices_policy: "IGNORE" leaves indices out of range out; "", "DEFAULT" and "ERROR" make
        them an error.

    Returns:
      A tensor of the shape and dtype of `tensor`, which itself does not change.

    Raises:
      InvalidArgumentError: if an index is out of range; negative ones are.
      ShapeError: if the shapes do not fit.
      ValueError: if there is no such policy.

    >>> tf.tensor_scatter_nd_sub([1, 2, 3], [[0], [0]], [10, 20]).numpy()
    array([-29,   2,   3], dtype=int32)
    """
    return _scatter(sub_op, tensor, indices, updates, bad_indices_policy, name)


def tensor_scatter_nd_min(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str = "",
    name: str | None = None,
) -> Tensor:
    """A tensor with the smaller of element and update at indices.

    Args:
      tensor: a tensor of real numbers.
      indices: an int32 or int64 tensor; its last axis holds indices for the first axes of `tensor`.
      updates: of the dtype of `tensor` and of shape [*indices.shape[:-1], the other axes of
        tensor].
      bad_indices_policy: "IGNORE" leaves indices out of range out; "", "DEFAULT" and "ERROR" make
        them an error.

    Returns:
      A tensor of the shape and dtype of `tensor`, which itself does not change.

    Raises:
      InvalidArgumentError: if an index is out of range; negative ones are.
      ShapeError: if the shapes do not fit.
      ValueError: if there is no such policy.

    >>> tf.tensor_scatter_nd_min([1, 2, 3], [[0], [2]], [5, 0]).numpy()
    array([1, 2, 0], dtype=int32)
    """
    return _scatter(min_op, tensor, indices, updates, bad_indices_policy, name)


def tensor_scatter_nd_max(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str = "",
    name: str | None = None,
) -> Tensor:
    """A tensor with the larger of element and update at indices.

    Args:
      tensor: a tensor of real numbers.
      indices: an int32 or int64 tensor; its last axis holds indices for the first axes of `tensor`.
      updates: of the dtype of `tensor` and of shape [*indices.shape[:-1], the other axes of
        tensor].
      bad_indices_policy: "IGNORE" leaves indices out of range out; "", "DEFAULT" and "ERROR" make
        them an error.

    Returns:
      A tensor of the shape and dtype of `tensor`, which itself does not change.

    Raises:
      InvalidArgumentError: if an index is out of range; negative ones are.
      ShapeError: if the shapes do not fit.
      ValueError: if there is no such policy.

    >>> tf.tensor_scatter_nd_max([1, 2, 3], [[0], [2]], [5, 0]).numpy()
    array([5, 2, 3], dtype=int32)
    """
    return _scatter(max_op, tensor, indices, updates, bad_indices_policy, name)
