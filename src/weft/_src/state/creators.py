"""How variables come to be: creators that step in between, and what a variable is meant for."""

from __future__ import annotations

import contextlib
import enum
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from weft._src.core.context import state


class VariableSynchronization(enum.Enum):
    """When the copies of a variable on several devices are brought together."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How the copies of a variable on several devices are brought together."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


class InterceptedClass(type):
    """The class of `tf.Variable`: creating one goes through the creators that are in force."""

    @property
    def __signature__(cls) -> inspect.Signature:
        """How it is called; Python would say `(*args, **kwargs)` because of the method below."""
        signature = inspect.signature(cls.__init__)  # type: ignore[misc]
        return signature.replace(parameters=list(signature.parameters.values())[1:])

    if not TYPE_CHECKING:  # to type checkers a variable is made by its `__init__`

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            creators = state.variable_creators
            if not creators or not cls.__dict__.get("asks_creators"):
                return super().__call__(*args, **kwargs)
            bound = cls.__signature__.bind(*args, **kwargs)
            bound.apply_defaults()
            return _create(super().__call__, creators, bound.arguments)


def _create(
    make: Callable[..., Any], creators: tuple[Callable[..., Any], ...], arguments: dict[str, Any]
) -> Any:
    """What the innermost creator makes, which may ask the next one."""
    if not creators:
        return make(**arguments)
    *outer, innermost = creators

    def next_creator(**changed: Any) -> Any:
        return _create(make, tuple(outer), changed)

    return innermost(next_creator, **arguments)


@contextlib.contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """Inside, a new `tf.Variable` is whatever `variable_creator(next_creator, **kwargs)` returns.

    Args:
      variable_creator: a function of `next_creator`, which makes the variable or asks the scope
        around this one, and of the keyword arguments of `tf.Variable`.

    Returns:
      A context manager, for this thread.

    Raises:
      TypeError: on entering it, if `variable_creator` is not callable.

    >>> def double_precision(next_creator, **kwargs):
    ...     kwargs["dtype"] = tf.float64
    ...     return next_creator(**kwargs)
    >>> with tf.variable_creator_scope(double_precision):
    ...     v = tf.Variable(1.0)
    >>> v.dtype
    tf.float64
    """
    if not callable(variable_creator):
        raise TypeError(
            f"variable_creator_scope: variable_creator must be callable, got {variable_creator!r}."
        )
    outer = state.variable_creators
    state.variable_creators = (*outer, variable_creator)
    try:
        yield
    finally:
        state.variable_creators = outer
