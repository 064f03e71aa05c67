"""`tf.autograph.experimental`."""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

_P = ParamSpec("_P")
_R = TypeVar("_R")


class Feature(enum.Enum):
    """Optional features, accepted for compatibility: conversion is always complete."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"


@overload
def do_not_convert(func: Callable[_P, _R]) -> Callable[_P, _R]: ...
@overload
def do_not_convert(func: None = None) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]: ...
def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """Marks a function that AutoGraph leaves alone.

    Args:
      func: the function. None: a decorator is returned.

    Returns:
      The function itself, marked; around a callable that is no Python function, a function that
      calls it.

    >>> @tf.autograph.experimental.do_not_convert
    ... def f(x):
    ...     return x
    >>> f(3)
    3
    """

    def mark(inner: Callable[..., Any]) -> Callable[..., Any]:
        if not isinstance(inner, types.FunctionType):
            # Weft's own functions are not converted, and what they call is called as it is.
            @functools.wraps(inner)
            def call(*args: Any, **kwargs: Any) -> Any:
                return inner(*args, **kwargs)

            return call
        inner.__ag_do_not_convert__ = inner.__code__  # type: ignore[attr-defined]
        return inner

    return mark if func is None else mark(func)


def set_loop_options(
    parallel_iterations: Any = None,
    swap_memory: Any = None,
    maximum_iterations: Any = None,
    shape_invariants: Any = None,
) -> None:
    """As first statement of a loop, says how the loop is staged; does nothing when run as Python.

    Args:
      parallel_iterations: accepted for compatibility.
      swap_memory: accepted for compatibility.
      maximum_iterations: after how many rounds a staged loop ends, whatever its condition; None is
        no limit.
      shape_invariants: pairs of a variable of the loop and the shape that it keeps, with None for
        sizes that change.

    Raises:
      ShapeError: while tracing, if the value of a variable before the loop does not have its shape.

    >>> for i in range(2):
    ...     tf.autograph.experimental.set_loop_options(maximum_iterations=10)
    """
