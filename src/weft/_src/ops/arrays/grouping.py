"""`tf.tuple`, in a file of its own because of its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.core.aliases import TensorNest
from weft._src.core.convert import convert_to_tensor, items_of
from weft._src.ops.arrays import source


def tuple(
    tensors: TensorNest, control_inputs: Sequence[Any] | None = None, name: str | None = None
) -> list[Any]:
    """The same tensors as a list, made together by one operation; None stays None.

    Args:
      tensors: a list of tensors (or what becomes tensors) and None.
      control_inputs: accepted for compatibility, ignored: what has effects runs in program order.

    Returns:
      A list as long as `tensors`.

    Raises:
      TypeError: if `tensors` is no list.

    >>> [t.numpy() for t in tf.tuple([tf.constant(1), tf.constant(2.5)])]
    [np.int32(1), np.float32(2.5)]
    """
    tensors = items_of("tuple", tensors, "tensors")
    present = iter(
        source.identity_n_op(*[convert_to_tensor(t) for t in tensors if t is not None], name=name)
    )
    return [None if t is None else next(present) for t in tensors]
