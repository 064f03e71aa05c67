"""Choosing elements by a condition."""

from __future__ import annotations

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import BOOL, DATA
from weft._src.core.native_rules import Pointwise
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.ops import rules
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import operands
from weft._src.ops.indexing import masks
from weft._src.ops.registry import args, define_op


def _select_infer(condition: TensorSpec, x: TensorSpec, y: TensorSpec) -> TensorSpec:
    return x.with_dims(rules.broadcast_dims("where", condition.dims, x.dims, y.dims))


def _select_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor | None, ...]:
    condition, x, y = ctx.inputs
    zero = operands.zero(g)
    return (
        None,
        operands.sum_to(select_op(condition, g, zero), x) if ctx.wants(1) else None,
        operands.sum_to(select_op(condition, zero, g), y) if ctx.wants(2) else None,
    )


select_op = define_op(
    "SelectV2",
    args("condition", BOOL) + args("x y", DATA),
    infer=_select_infer,
    kernel=lambda xp, condition, x, y: xp.choose(condition, x, y),
    native=Pointwise("select"),
    vjp=_select_vjp,
    trusts_kernel=True,
    fresh=True,
)


def where(
    condition: TensorLike,
    x: TensorLike | None = None,
    y: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """x where the condition holds, else y; the indices where it holds if x and y are left out.

    Args:
      condition: a bool tensor; without `x` and `y` also one of numbers, which hold if they are not
        0.
      x: what to take where the condition holds.
      y: what to take where it does not, of the dtype of `x`.

    Returns:
      With `x` and `y` a tensor of the shape that all three broadcast to, with the dtype of `x`.
      Without them an int64 matrix with a row of indices for each element that holds, in order.

    Raises:
      ValueError: if only one of `x` and `y` is given.
      ShapeError: if the shapes cannot be broadcast together, or the condition alone is a scalar.
      DTypeError: if `x` and `y` have different dtypes, or the condition is not bool.

    >>> tf.where([True, False, True], [1, 2, 3], 0).numpy()
    array([1, 0, 3], dtype=int32)
    >>> tf.where([False, True, True]).numpy()
    array([[1],
           [2]])
    """
    condition = convert_to_tensor(condition)
    if x is None and y is None:
        return masks.where_op(condition, name=name)
    if x is None or y is None:
        raise ValueError("where: x and y must both be given, or both be left out.")
    x, y = operands.operands(x, y)
    return select_op(condition, x, y, name=name)
