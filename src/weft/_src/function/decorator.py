"""`tf.function`: the decorator, and what its arguments mean."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, overload

from weft._src.function.polymorphic import DEFAULT_MAX_TRACES, PolymorphicFunction

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _name_of(func: Callable[..., Any]) -> str:
    while isinstance(func, functools.partial):
        func = func.func
    return str(getattr(func, "__name__", type(func).__name__))


@overload
def function(
    func: Callable[_P, _R],
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: dict[str, Any] | None = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
    max_traces: int = DEFAULT_MAX_TRACES,
) -> PolymorphicFunction[_P, _R]: ...
@overload
def function(
    func: None = None,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: dict[str, Any] | None = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
    max_traces: int = DEFAULT_MAX_TRACES,
) -> Callable[[Callable[_P, _R]], PolymorphicFunction[_P, _R]]: ...
def function(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: dict[str, Any] | None = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
    max_traces: int = DEFAULT_MAX_TRACES,
) -> Any:
    """Turns a Python function into one that is traced into graphs and runs these.

    >>> @tf.function
    ... def double(x):
    ...     print("tracing")
    ...     return x + x
    >>> double(tf.constant(1)).numpy(), double(tf.constant(2)).numpy()
    tracing
    (np.int32(2), np.int32(4))
    """

    def decorate(inner: Any) -> PolymorphicFunction[..., Any]:
        if isinstance(inner, PolymorphicFunction):
            inner = inner.python_function
        if isinstance(inner, (staticmethod, classmethod)):
            inner = inner.__func__
        if not callable(inner):
            raise TypeError(f"tf.function takes a callable, got {inner!r}.")
        return PolymorphicFunction(
            inner,
            _name_of(inner),
            input_signature,
            autograph=autograph,
            jit_compile=jit_compile if jit_compile is not None else experimental_compile,
            reduce_retracing=bool(reduce_retracing or experimental_relax_shapes),
            follow_type_hints=bool(experimental_follow_type_hints),
            max_traces=max_traces,
            options={
                "experimental_implements": experimental_implements,
                "experimental_autograph_options": experimental_autograph_options,
                "experimental_attributes": experimental_attributes,
            },
        )

    return decorate if func is None else decorate(func)
