"""Indices of true elements, and selecting by a mask: results whose size depends on the data."""

from __future__ import annotations

from typing import Any

from weft.core.dtypes import BOOL, NUMERIC, int64
from weft.core.shapes import Dim
from weft.core.specs import TensorSpec
from weft.core.tensor import Tensor
from weft.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, args, define_op


def _where_infer(condition: TensorSpec) -> TensorSpec:
    rank = condition.rank
    return TensorSpec.of(int64, (Dim(), Dim() if rank is None else rank))


def _where_kernel(xp: Any, condition: Any) -> Any:
    return xp.argwhere(condition).astype(xp.int64)


where_op = define_op(
    "Where",
    args("condition", NUMERIC | BOOL),
    infer=_where_infer,
    kernel=_where_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    trusts_kernel=True,
    fresh=True,
)


def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Tensor:
    """The elements (or rows) for which the mask holds.

    >>> tf.boolean_mask([1, 2, 3], [True, False, True]).numpy()
    array([1, 3], dtype=int32)
    """
    raise NotImplementedError
