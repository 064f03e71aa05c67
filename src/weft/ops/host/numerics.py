"""`tf.debugging.check_numerics`: numbers must be finite."""

from __future__ import annotations

from typing import Any

from weft.core.convert import convert_to_tensor
from weft.core.dtypes import FLOATING
from weft.core.tensor import Array, Tensor
from weft.errors import InvalidArgumentError
from weft.ops.registry import HOST_ONLY, Op, args, define_op


def _check_numerics_kernel(xp: Any, x: Array, *, message: str) -> Array:
    if not xp.isfinite(x).all():
        found = [
            kind for kind, has in (("Inf", xp.isinf(x).any()), ("NaN", xp.isnan(x).any())) if has
        ]
        raise InvalidArgumentError(
            None, None, f"CheckNumerics: {message}: the tensor has {' and '.join(found)} values."
        )
    return x


def _check_numerics_vjp(ctx: Any, g: Tensor) -> tuple[Tensor]:
    return (check_numerics_op(g, message=f"the gradient of: {ctx.attrs['message']}"),)


check_numerics_op: Op = define_op(
    "CheckNumerics",
    args("tensor", FLOATING),
    infer=lambda x, *, message: x,
    kernel=_check_numerics_kernel,
    native=HOST_ONLY,
    vjp=_check_numerics_vjp,
    host_io=True,  # it runs even if nobody uses what it returns
    trusts_kernel=True,
)


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """The same tensor; InvalidArgumentError if it holds NaN or infinity. So for its gradient.

    >>> tf.debugging.check_numerics([1.0, float("nan")], "the loss")
    Traceback (most recent call last):
    weft.errors.InvalidArgumentError: CheckNumerics: the loss: the tensor has NaN values.
    """
    if not isinstance(message, str):
        raise TypeError(f"check_numerics: message must be a string, got {message!r}.")
    return check_numerics_op(convert_to_tensor(tensor), message=message, name=name)


def assert_all_finite(x: Any, message: str, name: str | None = None) -> Tensor:
    """The same tensor; InvalidArgumentError if it holds NaN or infinity.

    >>> tf.debugging.assert_all_finite([1.0, 2.0], "must be finite").numpy()
    array([1., 2.], dtype=float32)
    """
    return check_numerics(x, message, name)
