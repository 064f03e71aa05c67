"""`tf.no_gradient`: saying that an op has none."""

from __future__ import annotations

from typing import Any

from weft._src.ops.registry import NOT_DIFFERENTIABLE, find_op


def no_gradient(op_type: Any) -> None:
    """Says that ops of a type are not differentiable.

    All ops of Weft say so themselves, or have a gradient, which cannot be taken from them.

    Args:
      op_type: the name of an op, such as "Floor".

    Raises:
      KeyError: if there is no such op, or if it has a gradient.
      TypeError: if `op_type` is no string.

    >>> tf.no_gradient("Floor")
    >>> tf.no_gradient("Exp")
    Traceback (most recent call last):
    KeyError: 'no_gradient: the op Exp has a gradient. Use tf.stop_gradient where it is not wanted.'
    """
    if not isinstance(op_type, str):
        raise TypeError(f"no_gradient: op_type must be a string, got {op_type!r}.")
    if find_op(op_type).vjp is not NOT_DIFFERENTIABLE:
        raise KeyError(
            f"no_gradient: the op {op_type} has a gradient. Use tf.stop_gradient where it is not "
            "wanted."
        )
