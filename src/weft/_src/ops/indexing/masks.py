"""Indices of true elements, and selecting by a mask: results whose size depends on the data."""

from __future__ import annotations

import math
from typing import Any

from weft._src.core.aliases import ArrayNamespace, AxisLike, TensorLike
from weft._src.core.composite import CompositeTensor
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import BOOL, NUMERIC, int64
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.ops import rules, static
from weft._src.ops.arrays import joining, shape as shapes
from weft._src.ops.indexing import gathering
from weft._src.ops.reduce import products
from weft._src.ops.registry import DATA_SHAPED, NO_NATIVE, NOT_DIFFERENTIABLE, args, define_op


def _where_infer(condition: TensorSpec) -> TensorSpec:
    rules.check_rank_at_least("where", condition, 1, name="condition")
    rank = condition.rank
    return TensorSpec.of(int64, (Dim(), Dim() if rank is None else rank))


def _where_kernel(xp: ArrayNamespace, condition: Any) -> Any:
    if not condition.ndim:
        raise ShapeError("where: condition must have at least one axis, got a scalar.")
    return xp.argwhere(condition).astype(xp.int64, copy=False)


where_op = define_op(
    "Where",
    args("condition", NUMERIC | BOOL),
    infer=_where_infer,
    kernel=_where_kernel,
    native=NO_NATIVE,
    xla=DATA_SHAPED,
    vjp=NOT_DIFFERENTIABLE,
    trusts_kernel=True,
    fresh=True,
    ragged="where",
)


def boolean_mask(
    tensor: TensorLike, mask: TensorLike, axis: AxisLike | None = None, name: str = "boolean_mask"
) -> Tensor:
    """The elements (or slices) for which the mask holds; it lies over the axes from `axis` on.

    Args:
      tensor: the tensor.
      mask: a bool tensor of rank 1 or more; its shape is that of the axes it covers.
      axis: the first axis that it covers; None means 0.

    Returns:
      A tensor of the dtype of `tensor` in which one axis, for the elements that hold, stands in the
      place of those that are covered.

    Raises:
      ShapeError: if the mask is a scalar, or its shape is another one.
      ValueError: if the rank of the mask is not known while tracing.
      TypeError: for sparse and ragged tensors.

    >>> tf.boolean_mask([1, 2, 3], [True, False, True]).numpy()
    array([1, 3], dtype=int32)
    """
    x, mask = convert_to_tensor(tensor), convert_to_tensor(mask)
    for value in (x, mask):
        if isinstance(value, CompositeTensor):
            raise TypeError(
                f"boolean_mask does not take a {type(value).__name__}. For ragged tensors there is "
                "tf.ragged.boolean_mask, for sparse ones tf.sparse.retain."
            )
    rank = mask.spec.rank
    if rank is None:
        raise ValueError("boolean_mask: the rank of the mask must be known while tracing.")
    if rank == 0:
        raise ShapeError("boolean_mask: the mask must have at least one axis, got a scalar.")
    try:
        at = 0 if axis is None else joining.single_axis("boolean_mask", axis)
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead("boolean_mask", boolean_mask, x, mask, axis)
    if x.spec.dims is not None:
        at = rules.normalize_axis("boolean_mask", at, max(len(x.spec.dims), 1))
        covered = x.spec.dims[at : at + rank]
        rules.merge_dims("boolean_mask", covered, mask.spec.dims, "the mask and what it covers")
    elif at < 0:
        raise ValueError("boolean_mask: a negative axis needs a tensor whose rank is known.")
    if x.spec.is_static and mask.spec.is_static:  # all eager calls: nothing is left to run time
        dims: Any = x.spec.dims
        if rank > 1:
            x = shapes.reshape(x, [*dims[:at], math.prod(dims[at : at + rank]), *dims[at + rank :]])
            mask = shapes.reshape(mask, [-1])
        return gathering.pick(x, where_op(mask)[:, 0], at, name)
    sizes = shapes.shape(x)
    count = shapes.expand_dims(products.reduce_prod(sizes[at : at + rank]), 0)
    if rank > 1:
        x = shapes.reshape(x, joining.concat([sizes[:at], count, sizes[at + rank :]], 0))
    # Reshaping to the number of covered elements refuses a mask of another size at run time.
    where = where_op(shapes.reshape(mask, count))
    return gathering.pick(x, where[:, 0], at, name)
