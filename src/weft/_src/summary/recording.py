"""What the thread's summaries go to: the default writer, the step, whether to record."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import bool_
from weft._src.core.tensor import Tensor
from weft._src.errors import DTypeError, ShapeError


class _State(threading.local):
    """One per thread."""

    def __init__(self) -> None:
        self.writer: Any = None
        self.step: Any = None
        self.condition: Any = True


state = _State()


@contextlib.contextmanager
def writing_to(writer: Any, step: Any) -> Iterator[Any]:
    """Summaries inside go to the writer; with a step, that is the default one."""
    outer_writer, outer_step = state.writer, state.step
    state.writer = writer
    if step is not None:
        state.step = step
    try:
        yield writer
    finally:
        state.writer = outer_writer
        if step is not None:
            state.step = outer_step


@contextlib.contextmanager
def record_if(condition: TensorLike) -> Iterator[None]:
    """Inside, summaries are recorded only where the condition holds.

    It is a truth value, a tensor, a variable, or a function of nothing that gives one of these
    and is asked each time. The innermost condition is the one that counts.

    Args:
      condition: the condition, a bool scalar or a function that gives one.

    Returns:
      A context manager, for this thread.

    Raises:
      DTypeError: on entering it, if the condition is no truth value.
      ShapeError: if it is no scalar.

    >>> with tf.summary.record_if(False):
    ...     bool(tf.summary.should_record_summaries())
    False
    """
    if not callable(condition) or isinstance(condition, Tensor):
        _truth("record_if", condition)
    outer = state.condition
    state.condition = condition
    try:
        yield
    finally:
        state.condition = outer


def _truth(op: str, condition: Any) -> Tensor:
    value = convert_to_tensor(condition)
    if value.dtype is not bool_:
        raise DTypeError(
            f"{op}: condition must be a truth value, a tensor of one, or a function that gives "
            f"one, got {condition!r}."
        )
    if value.shape.rank not in (None, 0):
        raise ShapeError(f"{op}: condition must be a scalar, got shape {value.shape}.")
    return value


def should_record_summaries() -> Tensor:
    """Whether summaries are recorded now: False if there is no default writer.

    Returns:
      A bool scalar.

    >>> bool(tf.summary.should_record_summaries())
    False
    """
    if state.writer is None or not state.writer.records:
        return convert_to_tensor(False)
    condition = state.condition
    if callable(condition) and not isinstance(condition, Tensor):
        condition = condition()
    return _truth("should_record_summaries", condition)


def set_step(step: TensorLike) -> None:
    """Sets the step that summaries of this thread have by default.

    A number is fixed in functions when they are traced; give a `tf.Variable` to have it read each
    time they run.

    Args:
      step: an integer, a scalar tensor or a variable; None is no step.

    >>> tf.summary.experimental.set_step(7)
    >>> tf.summary.experimental.get_step()
    7
    >>> tf.summary.experimental.set_step(None)
    """
    state.step = step


def get_step() -> Any:
    """The default step of this thread as it was set, None if it was not.

    Returns:
      The number, tensor or variable, or None.

    >>> tf.summary.experimental.get_step() is None
    True
    """
    return state.step
