"""Division with a rounded quotient: down as in Python, or towards zero as in C."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.dtypes import REAL
from weft._src.core.native_rules import Pointwise
from weft._src.core.tensor import Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import InvalidArgumentError
from weft._src.ops import rules
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise.operands import operands, sum_to
from weft._src.ops.registry import NOT_DIFFERENTIABLE, args, define_op

Gradients = tuple[Tensor | None, ...]


def _refuse_zero(xp: ArrayNamespace, op: str, x: Any, y: Any) -> None:
    if y.dtype.kind in "iu" and not xp.all(y) and x.size:
        raise InvalidArgumentError(None, None, f"{op}: integer division by zero.")


def _floor_div_kernel(xp: ArrayNamespace, x: Any, y: Any) -> Any:
    _refuse_zero(xp, "FloorDiv", x, y)
    if x.dtype.kind in "iuO":
        return xp.floor_divide(x, y)
    return xp.floor(xp.divide(x, y))


floor_div_op = define_op(
    "FloorDiv",
    args("x y", REAL),
    infer=rules.broadcast("FloorDiv"),
    kernel=_floor_div_kernel,
    native=Pointwise("floor_divide", checks_divisor=True),
    xla=Lowered("floor_divide"),
    vjp=NOT_DIFFERENTIABLE,
    trusts_kernel=True,
    fresh=True,
    shape_arithmetic=True,
)


def floordiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x // y: the quotient rounded down, as in Python.

    Args:
      x: a tensor of real numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype.

    Raises:
      InvalidArgumentError: if integers are divided by zero.
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.math.floordiv(-7, 2).numpy()
    np.int32(-4)
    """
    return floor_div_op(*operands(x, y), name=name or "floordiv")


def _floor_mod_kernel(xp: ArrayNamespace, x: Any, y: Any) -> Any:
    _refuse_zero(xp, "FloorMod", x, y)
    return xp.mod(x, y)


def _floor_mod_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    x, y = ctx.inputs
    return sum_to(g, x), sum_to(-g * floor_div_op(x, y), y) if ctx.wants(1) else None


floor_mod_op = define_op(
    "FloorMod",
    args("x y", REAL),
    infer=rules.broadcast("FloorMod"),
    kernel=_floor_mod_kernel,
    native=Pointwise("floor_mod", checks_divisor=True),
    xla=Lowered("floor_mod"),
    vjp=_floor_mod_vjp,
    trusts_kernel=True,
    fresh=True,
    shape_arithmetic=True,
)


def floormod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x % y with the sign of y, as in Python.

    Args:
      x: a tensor of real numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype.

    Raises:
      InvalidArgumentError: if integers are divided by zero.
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.math.floormod(-7, 3).numpy()
    np.int32(2)
    """
    return floor_mod_op(*operands(x, y), name=name or "mod")


mod = floormod


def _truncate_div_kernel(xp: ArrayNamespace, x: Any, y: Any) -> Any:
    _refuse_zero(xp, "TruncateDiv", x, y)
    if x.dtype.kind == "u":
        return xp.floor_divide(x, y)
    if x.dtype.kind == "i":
        # Where the signs differ the floor is one too low, unless the division leaves no rest.
        rest = xp.remainder(x, y)
        too_low = (rest != 0) & ((x < 0) != (y < 0))
        return xp.add(xp.floor_divide(x, y), too_low.astype(x.dtype))
    return xp.trunc(xp.divide(x, y))


truncate_div_op = define_op(
    "TruncateDiv",
    args("x y", REAL),
    infer=rules.broadcast("TruncateDiv"),
    kernel=_truncate_div_kernel,
    native=Pointwise("truncate_div", checks_divisor=True),
    xla=Lowered("truncate_div"),
    vjp=NOT_DIFFERENTIABLE,
    trusts_kernel=True,
    fresh=True,
)


def truncatediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The quotient rounded towards zero, as in C.

    Args:
      x: a tensor of real numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype.

    Raises:
      InvalidArgumentError: if integers are divided by zero.
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.truncatediv(-7, 2).numpy()
    np.int32(-3)
    """
    return truncate_div_op(*operands(x, y), name=name)


def _truncate_mod_kernel(xp: ArrayNamespace, x: Any, y: Any) -> Any:
    _refuse_zero(xp, "TruncateMod", x, y)
    return xp.fmod(x, y)


def _truncate_mod_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    x, y = ctx.inputs
    return sum_to(g, x), sum_to(-g * truncate_div_op(x, y), y) if ctx.wants(1) else None


truncate_mod_op = define_op(
    "TruncateMod",
    args("x y", REAL),
    infer=rules.broadcast("TruncateMod"),
    kernel=_truncate_mod_kernel,
    native=Pointwise("truncate_mod", checks_divisor=True),
    xla=Lowered("truncate_mod"),
    vjp=_truncate_mod_vjp,
    trusts_kernel=True,
    fresh=True,
)


def truncatemod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """What is left of x after truncated division by y: it has the sign of x.

    Args:
      x: a tensor of real numbers.
      y: another one of the same dtype; a Python number or an array takes the dtype of a tensor.

    Returns:
      A tensor of the shape that `x` and `y` broadcast to, with their dtype.

    Raises:
      InvalidArgumentError: if integers are divided by zero.
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.truncatemod(-7, 3).numpy()
    np.int32(-1)
    """
    return truncate_mod_op(*operands(x, y), name=name)
