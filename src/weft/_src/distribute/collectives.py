"""Collectives as ops: what replicas compute together. Of one replica they are the identity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src import nest
from weft._src.core.aliases import ArrayNamespace
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import NUMERIC, PLAIN, int32
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.distribute import groups
from weft._src.ops import rules
from weft._src.ops.arrays.fill import zeros_like
from weft._src.ops.contexts import VjpContext
from weft._src.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, Op, args, define_op, each


def _reduce_kernel(xp: ArrayNamespace, *values: Array, how: str) -> tuple[Any, ...]:
    group, number = groups.current()
    if group is None or not values:
        return values
    return tuple(group.all_reduce(number, values, how))


def _reduce_vjp(ctx: VjpContext, *gradients: Tensor | None) -> Sequence[Tensor]:
    given = [zeros_like(x) if g is None else g for x, g in zip(ctx.inputs, gradients, strict=True)]
    return reduce_op(*given, how=ctx.attrs["how"])


# Values of all replicas added ("SUM"), averaged ("MEAN"), or that of the first ("FIRST"). Many at
# once: replicas meet once for all of them.
reduce_op: Op = define_op(
    "CollectiveReduce",
    each("*input", NUMERIC),
    infer=lambda *specs, how: specs,
    kernel=_reduce_kernel,
    native=HOST_ONLY,
    xla=Lowered("collective_reduce"),
    vjp=_reduce_vjp,
    outputs=None,
    host_io=True,  # all replicas must come here, in the same order
    self_contained=True,
)


def _gather_infer(x: TensorSpec, *, axis: int, size: int) -> TensorSpec:
    if x.dims is None:
        return x
    at = rules.normalize_axis("all_gather", axis, len(x.dims))
    return x.with_dims((*x.dims[:at], Dim(), *x.dims[at + 1 :]))


def _gather_kernel(xp: ArrayNamespace, x: Array, *, axis: int, size: int) -> Array:
    group, number = groups.current()
    if group is None:
        return x
    return np.concatenate([parts[0] for parts in group.all_gather(number, [x])], axis)


gather_op: Op = define_op(
    "CollectiveGather",
    args("input", PLAIN),
    infer=_gather_infer,
    kernel=_gather_kernel,
    native=HOST_ONLY,
    xla=Lowered("collective_gather"),
    vjp=lambda ctx, g: (own_part_op(reduce_op(g, how="SUM")[0], ctx.inputs[0], **ctx.attrs),),
    host_io=True,
    self_contained=True,
)


def _own_part_kernel(xp: ArrayNamespace, x: Array, like: Array, *, axis: int, size: int) -> Array:
    group, number = groups.current()
    if group is None:
        return x
    lengths = [parts[0] for parts in group.all_gather(number, [np.array(like.shape[axis])])]
    start = int(sum(lengths[:number]))
    return xp.take(x, xp.arange(start, start + like.shape[axis]), axis)


# What `all_gather` has put in the place of one's own value; those of others may be longer.
own_part_op: Op = define_op(
    "CollectiveOwnPart",
    args("input like", NUMERIC),
    infer=lambda x, like, *, axis, size: like,
    kernel=_own_part_kernel,
    native=HOST_ONLY,
    xla=Lowered("collective_own_part"),
    vjp=lambda ctx, h: (gather_op(h, **ctx.attrs), None),
    host_io=True,
    self_contained=True,
)


# The number of the replica that runs; not known while a function is traced for all of them.
replica_id_op: Op = define_op(
    "ReplicaId",
    (),
    infer=lambda: TensorSpec.of(int32, ()),
    kernel=lambda xp: np.array(groups.current()[1], np.int32),
    native=HOST_ONLY,
    xla=Lowered("replica_id"),
    vjp=NOT_DIFFERENTIABLE,
    host_io=True,
    self_contained=True,
)


# --- of structures ----------------------------------------------------------------------------


def all_reduced(how: str, value: Any) -> Any:
    """The values of all replicas combined, leaf by leaf; None stays None."""
    leaves = nest.flatten(value)
    wanted = [i for i, leaf in enumerate(leaves) if leaf is not None]
    tensors = [convert_to_tensor(leaves[i]) for i in wanted]  # gradients of some rows, too
    for i, total in zip(wanted, reduce_op(*tensors, how=how) if tensors else ()):
        leaves[i] = total
    return nest.pack_sequence_as(value, leaves)


def all_gathered(value: Any, axis: int, size: int) -> Any:
    """The values of all replicas joined along an axis, leaf by leaf."""
    return nest.map_structure(
        lambda x: gather_op(convert_to_tensor(x), axis=axis, size=size), value
    )
