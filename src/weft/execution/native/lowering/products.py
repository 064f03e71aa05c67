"""Matrix products and contractions."""

from __future__ import annotations

import math
from typing import Any

from weft.core import dtypes
from weft.execution.native.kernels.products import Product
from weft.execution.native.lowering.movement import transposed
from weft.execution.native.lowering.rules import apply, broadcast, lowers, reshaped, static_shape
from weft.execution.native.values import NotCompilableError, Stored, Uniform, Value
from weft.graph.ir import Node

_NARROW = frozenset({dtypes.float16, dtypes.bfloat16})


def product(
    lowering: Any, label: str, a: Value, b: Value, ta: bool = False, tb: bool = False
) -> Value:
    """a @ b of matrices, or of batches of matrices whose batch shapes broadcast."""
    dtype = a.dtype
    if dtype in _NARROW:
        a, b = [apply("cast", v, dtype=dtypes.float32) for v in (a, b)]
    if dtype is dtypes.bool_:
        raise NotCompilableError("a product of bools")
    m, k = a.shape[-2:][::-1] if ta else a.shape[-2:]
    n = b.shape[-2] if tb else b.shape[-1]
    batch = _batch_shape(a.shape[:-2], b.shape[:-2])
    shape = (*batch, m, n)
    count = math.prod(batch)
    if 0 in (count, m, n) or k == 0:
        return Uniform(dtype, shape, label, 0)
    a, strided_a = _batched(a, batch)
    b, strided_b = _batched(b, batch)
    result = Stored(a.dtype, shape, label)
    strides = (m * k if strided_a else 0, k * n if strided_b else 0)
    lowering.add(Product(a, b, result, (count, m, n, k), (ta, tb), strides))
    return apply("cast", result, dtype=dtype) if dtype in _NARROW else result


def _batch_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    rank = max(len(a), len(b))
    wide = [(1,) * (rank - len(s)) + s for s in (a, b)]
    return tuple([y if x == 1 else x for x, y in zip(*wide, strict=True)])


def _batched(x: Value, batch: tuple[int, ...]) -> tuple[Value, bool]:
    """The operand with the whole batch in memory, or one matrix that all share."""
    own = x.shape[:-2]
    if math.prod(own) == 1:
        return x, False
    return broadcast(x, (*batch, *x.shape[-2:])), True


@lowers("MatMul")
def _matmul(lowering: Any, node: Node, inputs: list[Value]) -> Value:
    a, b = inputs
    attrs = node.attrs
    out = product(lowering, node.name, a, b, attrs["transpose_a"], attrs["transpose_b"])
    return reshaped(out, static_shape(node))


def contracted(
    lowering: Any, label: str, x: Value, y: Value, left: list[int], right: list[int]
) -> Value:
    """The sum over pairs of axes, as one matrix product."""
    keep_x = [i for i in range(len(x.shape)) if i not in left]
    keep_y = [i for i in range(len(y.shape)) if i not in right]
    depth = math.prod([x.shape[i] for i in left])
    rows = transposed(x, (*keep_x, *left))
    columns = transposed(y, (*right, *keep_y))
    shape_x = tuple([x.shape[i] for i in keep_x])
    shape_y = tuple([y.shape[i] for i in keep_y])
    a = reshaped(rows, (math.prod(shape_x), depth))
    b = reshaped(columns, (depth, math.prod(shape_y)))
    return reshaped(product(lowering, label, a, b), (*shape_x, *shape_y))


@lowers("Einsum", "Tensordot")
def _einsum(lowering: Any, node: Node, inputs: list[Value]) -> Value:
    raise NotCompilableError(f"{node.op.name} stays with NumPy")
