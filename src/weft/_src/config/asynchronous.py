"""`tf.experimental.async_scope` and its kin: ops are done when they return, whatever is asked."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def async_scope() -> Iterator[None]:
    """Ops inside may be done later, and are all done at the end: here each is when it returns.

    Returns:
      A context manager.

    >>> with tf.experimental.async_scope():
    ...     tf.constant(1) + 1
    <tf.Tensor: shape=(), dtype=int32, numpy=2>
    """
    yield


def async_clear_error() -> None:
    """Forgets the error of an op that was to be done later: an op raises its own, so there is none.

    >>> tf.experimental.async_clear_error()
    """


@contextlib.contextmanager
def function_executor_type(executor_type: str | None) -> Iterator[None]:
    """Calls inside ask for an executor of TensorFlow; here `tf.config.execution` decides.

    Args:
      executor_type: the name of an executor of TensorFlow, or None; without effect.

    Returns:
      A context manager.

    Raises:
      TypeError: if it is no string.

    >>> with tf.experimental.function_executor_type("SINGLE_THREADED_EXECUTOR"):
    ...     tf.function(lambda x: x + 1)(1)
    <tf.Tensor: shape=(), dtype=int32, numpy=2>
    """
    if executor_type is not None and not isinstance(executor_type, str):
        raise TypeError(
            f"function_executor_type: executor_type must be a string, got {executor_type!r}."
        )
    yield
