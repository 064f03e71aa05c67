"""What can be asked of a traced function, beside calling it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src.core.display import html_of
from weft._src.core.lazily import cached_property
from weft._src.core.location import Location
from weft._src.function.captured_state import Change
from weft._src.function.code_reading import code_of
from weft._src.function.concrete import ConcreteFunction
from weft._src.function.function_type import FunctionType
from weft._src.function.history import History
from weft._src.function.signature import InputSignature, Parameters
from weft._src.function.trace_table import TraceTable

DEFAULT_MAX_TRACES = 1000


class Inspected:
    """The part of a `tf.function` that tells about it; `PolymorphicFunction` does the work."""

    _python_function: Callable[..., Any]
    _name: str
    _autograph: bool
    _jit_compile: bool | None
    _reduce_retracing: bool
    _follow_type_hints: bool
    _max_traces: int
    _parameters: Parameters
    _input_signature: InputSignature | None
    _traces: TraceTable
    _trace_count: int
    _evicted_calls: int
    _history: History

    def _changed_state(self) -> list[Change]:
        """The Python values whose change makes a trace necessary: none, unless they are guarded."""
        return []

    @cached_property
    def _label(self) -> str:
        code = code_of(self._python_function)
        if code is None:
            return self._name
        return f"{self._name} ({Location(code.co_filename, code.co_firstlineno, '').short})"

    @property
    def _decorator_options(self) -> dict[str, Any]:
        """The arguments of the decorator that are not left at their defaults."""
        given = {
            "autograph": (self._autograph, True),
            "jit_compile": (self._jit_compile, None),
            "reduce_retracing": (self._reduce_retracing, False),
            "experimental_follow_type_hints": (self._follow_type_hints, False),
            "max_traces": (self._max_traces, DEFAULT_MAX_TRACES),
        }
        return {name: value for name, (value, default) in given.items() if value != default}

    @property
    def name(self) -> str:
        """The name of the Python function."""
        return self._name

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """The specs given with `input_signature=`."""
        return None if self._input_signature is None else self._input_signature.specs

    @property
    def function_type(self) -> FunctionType:
        """The parameters of the Python function, annotated with the specs of an input signature."""
        parameters = list(self._parameters.signature.parameters.values())
        specs = self.input_signature or ()
        annotated = [p.replace(annotation=s) for p, s in zip(parameters, specs, strict=False)]
        return FunctionType([*annotated, *parameters[len(annotated) :]])

    def experimental_get_tracing_count(self) -> int:
        """How often the function has been traced.

        Returns:
          An int; traces that were dropped count.

        >>> f = tf.function(lambda x: x + 1)
        >>> _ = f(tf.constant(1)), f(tf.constant(2))
        >>> f.experimental_get_tracing_count()
        1
        """
        return self._trace_count

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures of all traces, for people.

        Args:
          verbose: whether results and captures are shown too, each on a line; else a trace is one
            line.

        Returns:
          The text, with an empty line between traces.
        """
        return "\n\n".join(c.pretty_printed_signature(verbose) for c in self._traces)

    def _list_all_concrete_functions(self) -> list[ConcreteFunction]:
        return list(self._traces)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The traces by name, which Keras asks for."""
        return {f"trace_{i}": trace for i, trace in enumerate(self._traces)}

    def _total_calls(self) -> int:
        return self._evicted_calls + sum([c.calls for c in self._traces])

    def cache_info(self) -> dict[str, int]:
        """How many traces there are, how many there may be, and how many calls they served.

        Returns:
          A dict: "traces" that are kept, "max_traces", how often it was "traced", and "calls".

        >>> f = tf.function(lambda x: x + 1)
        >>> _ = f(tf.constant(1)), f(tf.constant(2))
        >>> f.cache_info()
        {'traces': 1, 'max_traces': 1000, 'traced': 1, 'calls': 2}
        """
        return {
            "traces": len(self._traces),
            "max_traces": self._max_traces,
            "traced": self._trace_count,
            "calls": self._total_calls(),
        }

    _repr_html_ = html_of

    def __repr__(self) -> str:
        return f"<tf.function {self._label}: {len(self._traces)} traces>"
