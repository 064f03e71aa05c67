"""Ops on stacks whose elements differ in length: `TensorArray.concat` and `TensorArray.split`."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core.dtypes import DATA, INDEX, DType, int64
from weft.core.shapes import Dim, Dims
from weft.core.specs import TensorSpec
from weft.core.stack import Stack
from weft.core.tensor import Array, Tensor
from weft.errors import InvalidArgumentError, ShapeError
from weft.ops import rules
from weft.ops.control.stack import STACK, VARIANT, static_sizes
from weft.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, Op, args, define_op


def _concat_kernel(
    xp: Any, stack: Stack, like: Stack, *, dtype: DType, shape: Dims | None
) -> Array:
    rows = [
        stack.read(i) if stack.has_written(i) else np.zeros_like(like.read(i))
        for i in range(like.length)
    ]
    if any(row.ndim == 0 for row in rows):
        raise ShapeError("TensorArray.concat: scalar elements cannot be joined; use stack().")
    if not rows:
        return np.zeros((0, *(static_sizes(shape and shape[1:]) or ())), dtype.numpy_dtype)
    if len({row.shape[1:] for row in rows}) > 1:
        found = ", ".join([str(row.shape) for row in rows[:4]])
        raise ShapeError(
            f"TensorArray.concat: elements may differ in their first size only, got shapes {found}."
        )
    return np.concatenate(rows)


# All elements joined along their first axis; those not written are zeros shaped as in `like`.
concat_op: Op = define_op(
    "StackConcat",
    args("input_handle like", VARIANT),
    infer=lambda stack, like, *, dtype, shape: TensorSpec.of(
        dtype, None if shape is None else (Dim(), *shape[1:])
    ),
    kernel=_concat_kernel,
    native=HOST_ONLY,
    vjp=lambda ctx, g: (split_op(g, row_lengths_op(ctx.inputs[1])), None),
    fresh=True,
)

row_lengths_op: Op = define_op(
    "StackRowLengths",
    args("input_handle", VARIANT),
    infer=lambda stack: TensorSpec.of(int64, (Dim(),)),
    kernel=lambda xp, stack: np.array([len(stack.read(i)) for i in range(stack.length)], np.int64),
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def _split_kernel(xp: Any, tensor: Array, lengths: Array) -> Stack:
    sizes = lengths.tolist()
    if min(sizes, default=0) < 0 or sum(sizes) != len(tensor):
        raise InvalidArgumentError(
            None,
            None,
            f"TensorArray.split: lengths must be >= 0 and add up to {len(tensor)}, got {sizes}.",
        )
    out = Stack.reserve(tensor.dtype, len(sizes))
    for i, part in enumerate(np.split(tensor, np.cumsum(sizes)[:-1]) if sizes else []):
        out = out.write(i, part)
    return out


def _split_infer(tensor: TensorSpec, lengths: TensorSpec) -> TensorSpec:
    if tensor.rank == 0:
        raise ShapeError("TensorArray.split: the tensor must have at least one axis.")
    rules.check_rank("TensorArray.split", lengths, 1, name="lengths")
    return STACK


def _split_vjp(ctx: Any, g: Tensor) -> tuple[Any, ...]:
    x = ctx.inputs[0]
    return concat_op(g, ctx.outputs[0], dtype=x.dtype, shape=x.spec.dims), None


# Pieces of a tensor, of the given lengths along its first axis.
split_op: Op = define_op(
    "StackSplit",
    args("tensor", DATA) + args("lengths", INDEX),
    infer=_split_infer,
    kernel=_split_kernel,
    native=HOST_ONLY,
    vjp=_split_vjp,
    fresh=True,
)
