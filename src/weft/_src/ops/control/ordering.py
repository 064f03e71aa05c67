"""`tf.control_dependencies` and `tf.group`: effects happen in program order anyway."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from weft._src.ops.arrays import source


class _Accepted:
    """A context in which nothing is different."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc_info: object) -> None:
        return None


def control_dependencies(control_inputs: Any) -> _Accepted:
    """A context for what must happen after the given tensors and ops, as everything does.

    Effects happen in program order, eagerly and in functions. Functions among the inputs are
    called.

    Args:
      control_inputs: a list of tensors, operations and functions without arguments, or None.

    Returns:
      A context manager, in which nothing is different.

    Raises:
      TypeError: if `control_inputs` is no list.

    >>> v = tf.Variable(1.0)
    >>> with tf.control_dependencies([v.assign_add(1.0)]):
    ...     print(v.read_value().numpy())
    2.0
    """
    if control_inputs is None:
        return _Accepted()
    if not isinstance(control_inputs, Iterable) or getattr(control_inputs, "shape", None) == ():
        raise TypeError(
            "control_dependencies: control_inputs must be a list of tensors and ops, got "
            f"{control_inputs!r}."
        )
    for item in control_inputs:
        if callable(item):
            item()
    return _Accepted()


def group(*inputs: Any, **kwargs: Any) -> None:
    """Stands for the given tensors and ops as one; they happen in program order.

    Args:
      *inputs: tensors and operations, which have happened already.
      **kwargs: only `name`.

    Raises:
      ValueError: if other keyword arguments are given.

    >>> v = tf.Variable(1.0)
    >>> tf.group(v.assign_add(1.0), v.assign_add(2.0))
    >>> v.numpy()
    np.float32(4.0)
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"group does not take the arguments {sorted(kwargs)}.")
    source.no_op(name=name or "group_deps")
