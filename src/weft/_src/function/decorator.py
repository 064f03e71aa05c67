"""`tf.function`: the decorator, and what its arguments mean."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, overload

from weft._src.function.guarded import GuardedFunction
from weft._src.function.inspection import DEFAULT_MAX_TRACES
from weft._src.function.polymorphic import PolymorphicFunction
from weft._src.ops.static import static_int

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
    guard: bool = False,
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
    guard: bool = False,
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
    guard: bool = False,
) -> Any:
    """Turns a Python function into one that is traced into graphs and runs these.

    Args:
      func: the function; None returns a decorator that takes it.
      input_signature: a list with a `tf.TensorSpec` (or nest) for each argument. There is one trace
        for them, and arguments that do not fit are refused. None traces for each new kind of
        arguments.
      autograph: whether `if`, `for` and `while` on tensors become part of the graph.
      jit_compile: True compiles at the first call, and calls raise `tf.errors.UnimplementedError`
        if that cannot be done; None and False leave it to Weft what is compiled, and when.
      reduce_retracing: whether sizes that differ between calls become unknown, instead of a new
        trace.
      experimental_implements: accepted for compatibility.
      experimental_autograph_options: accepted for compatibility.
      experimental_attributes: accepted for compatibility.
      experimental_relax_shapes: an older name of `reduce_retracing`.
      experimental_compile: an older name of `jit_compile`.
      experimental_follow_type_hints: whether numbers and strings for arguments that are annotated
        as `tf.Tensor` become tensors, so that each new value is not traced.
      max_traces: how many traces are kept; the one used least recently goes first.
      guard: whether every call compares the globals, closure variables and attributes that the
        function read while it was traced (as far as they are plain, immutable values), and traces
        again if one has changed. Otherwise some calls look, and a change is logged once.

    Returns:
      A function like `func`, with methods such as `get_concrete_function`; without `func` a
      decorator.

    Raises:
      TypeError: if `func` is no callable, or `input_signature` does not fit its arguments.
      ValueError: if `max_traces` is less than 1.

    >>> @tf.function
    ... def double(x):
    ...     print("tracing")
    ...     return x + x
    >>> double(tf.constant(1)).numpy(), double(tf.constant(2)).numpy()
    tracing
    (np.int32(2), np.int32(4))
    """
    if static_int("tf.function", max_traces, "max_traces") < 1:
        raise ValueError(f"tf.function: max_traces must be at least 1, got {max_traces}.")

    def decorate(inner: Any) -> PolymorphicFunction[..., Any]:
        if isinstance(inner, PolymorphicFunction):
            inner = inner.python_function
        if isinstance(inner, (staticmethod, classmethod)):
            inner = inner.__func__
        if not callable(inner):
            raise TypeError(f"tf.function takes a callable, got {inner!r}.")
        kind = GuardedFunction if guard else PolymorphicFunction
        return kind(
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
