"""`tf.debugging.check_numerics`: numbers must be finite."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.context import set_checker
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import FLOATING
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import InvalidArgumentError
from weft._src.ops.contexts import VjpContext
from weft._src.ops.registry import HOST_ONLY, Op, args, define_op


def _check_numerics_kernel(xp: ArrayNamespace, x: Array, *, message: str) -> Array:
    if not xp.isfinite(x).all():
        found = [
            kind for kind, has in (("Inf", xp.isinf(x).any()), ("NaN", xp.isnan(x).any())) if has
        ]
        raise InvalidArgumentError(
            None, None, f"CheckNumerics: {message}: the tensor has {' and '.join(found)} values."
        )
    return x


def _check_numerics_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    return (check_numerics_op(g, message=f"the gradient of: {ctx.attrs['message']}"),)


check_numerics_op: Op = define_op(
    "CheckNumerics",
    args("tensor", FLOATING),
    infer=lambda x, *, message: x,
    kernel=_check_numerics_kernel,
    native=HOST_ONLY,
    xla=Lowered("check_numerics"),
    vjp=_check_numerics_vjp,
    host_io=True,  # it runs even if nobody uses what it returns
    trusts_kernel=True,
    elementwise=True,
    computes=False,
    guards=True,
)


def check_numerics(tensor: TensorLike, message: str, name: str | None = None) -> Tensor:
    """The same tensor; InvalidArgumentError if it holds NaN or infinity. So for its gradient.

    Args:
      tensor: a tensor of floating numbers.
      message: a string that the error shows.

    Returns:
      `tensor`.

    Raises:
      InvalidArgumentError: if an element (of the gradient, too) is not finite, in a graph when it
        runs.
      DTypeError: if the tensor is not floating.
      TypeError: if `message` is no string.

    >>> tf.debugging.check_numerics([1.0, float("nan")], "the loss")
    Traceback (most recent call last):
    weft.errors.InvalidArgumentError: CheckNumerics: the loss: the tensor has NaN values.
    """
    if not isinstance(message, str):
        raise TypeError(f"check_numerics: message must be a string, got {message!r}.")
    return check_numerics_op(convert_to_tensor(tensor), message=message, name=name)


def assert_all_finite(x: TensorLike, message: str, name: str | None = None) -> Tensor:
    """The same tensor; InvalidArgumentError if it holds NaN or infinity.

    Args:
      x: a tensor of floating numbers.
      message: a string that the error shows.

    Returns:
      `x`.

    Raises:
      InvalidArgumentError: if an element (of the gradient, too) is not finite, in a graph when it
        runs.
      DTypeError: if `x` is not floating.
      TypeError: if `message` is no string.

    >>> tf.debugging.assert_all_finite([1.0, 2.0], "must be finite").numpy()
    array([1., 2.], dtype=float32)
    """
    return check_numerics(x, message, name)


def _check_outputs(op: Op, outputs: Any) -> None:
    """Checks what an op computed: now, or by a node of the graph behind it."""
    if not op.computes:
        return
    for out in (outputs,) if op.outputs == 1 else outputs:
        if out.dtype in FLOATING:
            check_numerics_op(out, message=f"the result of the op {op.name}")


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """From now on NaN and infinity in the result of any op of this thread raise an error.

    Functions are checked if they are traced after this call. The limits are accepted, and not
    needed: errors name the user's line.

    Args:
      stack_height_limit: accepted for compatibility, ignored.
      path_length_limit: accepted for compatibility, ignored.

    >>> tf.debugging.enable_check_numerics()
    >>> tf.math.log(-1.0)
    Traceback (most recent call last):
    weft.errors.InvalidArgumentError: CheckNumerics: the result of the op Log: the tensor has NaN values.
    >>> tf.debugging.disable_check_numerics()
    """  # noqa: E501
    set_checker(_check_outputs)


def disable_check_numerics() -> None:
    """Undoes `enable_check_numerics`.

    >>> tf.debugging.disable_check_numerics()
    """
    set_checker(None)
