"""What `tf.function` makes: a Python function that is traced once per kind of arguments.

Hot path: `PolymorphicFunction.__call__` makes a key of the arguments, looks it up, and runs the
trace. Everything else (binding, types, subtypes, tracing, explaining) happens when the key is new.
"""

from __future__ import annotations

import functools
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from weft._src.autograph import met
from weft._src.core import timeline
from weft._src.core.context import state
from weft._src.core.convert import convert_to_tensor
from weft._src.core.flags import flags
from weft._src.core.location import user_location
from weft._src.core.placed import MeshInput
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.core.tracebacks import hide_own_frames
from weft._src.execution.preloading import load_compiler
from weft._src.function import retracing, tracing
from weft._src.function.captured_state import PythonState, python_state_of
from weft._src.function.code_reading import actions_of
from weft._src.function.concrete import ConcreteFunction
from weft._src.function.creation import LaterCalls, first_trace
from weft._src.function.function_type import Callable as TracedCallable
from weft._src.function.history import History, TraceRecord
from weft._src.function.inspection import DEFAULT_MAX_TRACES, Inspected
from weft._src.function.keys import TENSORS, VALUES, UnhashableArgument
from weft._src.function.matching import (
    FIRST_REPEATS,
    Arrangement,
    Matcher,
    arrangement_of,
    matcher_of,
)
from weft._src.function.methods import BoundFunction, PerInstance, WeakMethod
from weft._src.function.pieces_of_code import piece_of
from weft._src.function.signature import InputSignature, P, Parameters
from weft._src.function.trace_table import TraceTable, find
from weft._src.function.trace_types import MetVariables, TraceType, keep_words, type_of
from weft._src.function.watched import WatchedTrace
from weft._src.graph.captured import CapturedArgument

_MEMO_LIMIT = 4096
_P = ParamSpec("_P")
_R = TypeVar("_R")
_Method = ParamSpec("_Method")
_Result = TypeVar("_Result")


class PolymorphicFunction(Inspected, Generic[_P, _R]):
    """A Python function and its traces; made by `tf.function`.

    To type checkers it is called like the Python function, and returns what that returns.
    """

    def __init__(
        self,
        python_function: Callable[_P, _R],
        name: str,
        input_signature: Sequence[Any] | None = None,
        *,
        autograph: bool = True,
        jit_compile: bool | None = None,
        reduce_retracing: bool = False,
        follow_type_hints: bool = False,
        max_traces: int = DEFAULT_MAX_TRACES,
        options: dict[str, Any] | None = None,
    ) -> None:
        self._python_function = python_function
        self._name = name
        self._autograph = autograph
        self._jit_compile = jit_compile
        self._reduce_retracing = reduce_retracing
        self._follow_type_hints = follow_type_hints
        self._max_traces = max_traces
        self._options = options or {}
        self._signature_argument = input_signature
        functools.update_wrapper(self, python_function, updated=())
        self._parameters = Parameters(python_function, name)
        # That of a method is about its instances' functions, which have no `self` any more.
        self._input_signature = (
            None
            if input_signature is None or self._parameters.is_method
            else InputSignature(input_signature, self._parameters)
        )
        self._memo_allowed = not follow_type_hints and self._parameters.has_fixed_defaults
        self._reset()
        load_compiler()

    def _reset(self) -> None:
        self._memo: dict[Any, tuple[ConcreteFunction, Arrangement | None]] = {}
        # A matcher for the arguments of many calls before, and what it would find in the memo.
        self._expected: tuple[Matcher, ConcreteFunction, Arrangement | None] | None = None
        self._met_last: Any = None
        self._repeats, self._repeats_needed = 0, FIRST_REPEATS
        self._traces = TraceTable()
        self._graph_traces: Any = weakref.WeakKeyDictionary()
        self._history = History()
        self._captured: set[int] = set()  # the ids of variables that traces reach by themselves
        self._created: list[Any] | None = None
        self._in_progress: set[tuple[TraceType, ...]] = set()
        self._trace_count = 0
        self._lookups = 0
        self._next_warning = retracing.MANY_TRACES
        self._evicted_calls = 0
        self._bound = PerInstance()

    # --- calling -------------------------------------------------------------------------------

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:  # costs nothing as long as nothing is raised
            if state.mode or flags.unusual_calls:
                return self._call_recorded(args, kwargs)
            expected = self._expected
            if expected is not None:
                matched = expected[0](args, kwargs)
                if matched is not None:
                    arrange = expected[2]
                    return expected[1].run(matched if arrange is None else arrange(matched))
            leaves: list[Any] = []
            encode = VALUES.encode
            try:
                key = tuple([encode(value, leaves) for value in args])
                if kwargs:
                    parts: list[Any] = []
                    for name, value in kwargs.items():
                        parts += (name, encode(value, leaves))
                    key = (*key, *parts)
                found = self._memo.get(key)
            except UnhashableArgument as e:
                raise self._unhashable(args, kwargs, e) from None
            except MeshInput:
                return self._call_recorded(args, kwargs)
            if found is None:
                return self._call_new(args, kwargs, key)
            if found is not self._met_last:
                self._met_last, self._repeats = found, 0
            self._repeats += 1
            if self._repeats == self._repeats_needed:
                self._expect(args, kwargs, found)
            concrete, arrange = found
            return concrete.run(leaves if arrange is None else arrange(leaves))
        except Exception as error:
            hide_own_frames(error)
            raise

    def _expect(self, args: tuple[Any, ...], kwargs: dict[str, Any], found: Any) -> None:
        """From now on calls like this one are recognised before a key is made of them."""
        match = matcher_of(args, kwargs)
        self._repeats_needed *= 2
        self._expected = None if match is None else (match, *found)

    def _call_new(self, args: tuple[Any, ...], kwargs: dict[str, Any], key: Any) -> Any:
        """A call with a key that has not been met: find a trace that serves it, or make one."""
        values, as_given = self._bind(args, kwargs)
        leaves: list[Any] = []
        for value in values:
            VALUES.encode(value, leaves)
        concrete = self._find_or_trace(values, leaves)
        if as_given and self._memo_allowed:
            if len(self._memo) >= _MEMO_LIMIT:
                self._memo.clear()
            self._memo[key] = (concrete, arrangement_of(self._parameters, args, kwargs))
        return concrete.run(leaves)

    def _call_recorded(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that a graph or a tape has to know of."""
        if flags.run_functions_eagerly:
            return self._python_function(*args, **kwargs)
        values, _ = self._bind(args, kwargs)
        tensors: list[Any] = []
        try:
            for value in values:
                TENSORS.encode(value, tensors)
        except UnhashableArgument as e:
            raise self._unhashable(args, kwargs, e) from None
        eager = all(isinstance(t, EagerTensor) for t in tensors)
        inputs = [t._value for t in tensors] if eager else None
        concrete = self._find_or_trace(values, inputs)
        return concrete.call_with_tensors(tensors)

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], bool]:
        """One value per parameter, converted where that was asked for; whether nothing changed."""
        values = self._parameters.bind(args, kwargs)
        converted = values
        if self._follow_type_hints:
            converted = self._convert_hinted(converted)
        if self._input_signature is not None:
            converted = self._input_signature.convert(converted)
        return converted, all(a is b for a, b in zip(values, converted, strict=True))

    def _convert_hinted(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Arguments annotated as tensors become tensors, so that numbers do not retrace."""
        out = list(values)
        for i, parameter in enumerate(self._parameters.parameters):
            hinted = parameter.annotation is Tensor or parameter.annotation in (
                "tf.Tensor",
                "Tensor",
            )
            if hinted and isinstance(out[i], (int, float, complex, str, bytes)):
                out[i] = convert_to_tensor(out[i])
        return tuple(out)

    def _unhashable(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], error: UnhashableArgument
    ) -> TypeError:
        values = self._parameters.bind(args, kwargs)
        for name, value in zip(self._parameters.names, values, strict=True):
            try:
                VALUES.encode(value, [])
            except UnhashableArgument:
                return TypeError(
                    f"{self._name}: the argument {name!r} holds a {error}, which is not hashable, "
                    "so calls with it cannot be told apart. Pass a tensor, a list or dict of "
                    f"tensors, or {_hashable_form(error)}."
                )
        return TypeError(f"{self._name}: an argument is not hashable: {error}.")

    # --- finding and making traces -------------------------------------------------------------

    def _find_or_trace(self, values: tuple[Any, ...], inputs: list[Any] | None) -> ConcreteFunction:
        variables = MetVariables(self._captured)
        types = tuple([type_of(value, variables) for value in values])
        if self._input_signature is not None:
            types = self._types_of_signature(types)
        with tracing.lock:
            concrete = find(self._tables(), types)
            if concrete is None:
                try:
                    concrete = self._trace(types, inputs)
                except CapturedArgument as e:
                    self._note_captured([e.variable])
                    return self._find_or_trace(values, inputs)
                self._note_captured(concrete.variables)
            self._lookups += 1
            concrete.last_call = self._lookups
            met.note_trace(concrete)
            return concrete

    def _note_captured(self, variables: Iterable[Any]) -> None:
        """Variables that traces reach by themselves are arguments of a kind of their own."""
        new = {id(variable) for variable in variables} - self._captured
        if new:
            self._captured |= new
            self._forget_calls()  # an argument that was one among many may be one of these

    def _forget_calls(self) -> None:
        """Which trace serves a call has to be found anew."""
        self._memo.clear()
        self._expected = self._met_last = None

    def _types_of_signature(self, types: tuple[TraceType, ...]) -> tuple[TraceType, ...]:
        assert self._input_signature is not None
        out = list(types)
        parameters = self._parameters.parameters
        specs = self._input_signature.specs
        for i, parameter in enumerate(parameters):
            if parameter.kind is P.VAR_POSITIONAL and len(specs) > i:
                out[i] = type_of(tuple(specs[i:]))
            elif i < len(specs) and parameter.kind in (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD):
                out[i] = type_of(specs[i])
        return tuple(out)

    def _tables(self) -> list[TraceTable]:
        here = self._graph_traces.get(state.graph) if state.graph is not None else None
        return [self._traces] if here is None else [here, self._traces]

    def _trace(self, given: tuple[TraceType, ...], inputs: list[Any] | None) -> ConcreteFunction:
        types = given
        if self._reduce_retracing and self._input_signature is None:
            types = self._generalised(types)
        if types in self._in_progress:
            raise RecursionError(
                f"{self._label} calls itself with the same kinds of arguments while it is being "
                "traced, so tracing would never end. End the recursion on a Python value."
            )
        why = retracing.explain_cause(self, types, given)
        retracing.check_allowed(self, why, given)
        location = user_location()
        start = time.perf_counter()
        self._in_progress.add(types)
        try:
            with met.collecting() as run:
                graph = self._trace_graph(types, inputs)
        finally:
            self._in_progress.discard(types)
        graph.jit_compile = self._jit_compile
        concrete = self._concrete(graph, types, python_state_of(run))
        self._store(types, concrete)
        self._trace_count += 1
        keep_words(given)
        record = TraceRecord(
            types,
            given,
            why,
            location,
            time.perf_counter() - start,
            len(graph.nodes),
            self._call_number(),
            concrete,
            actions_of(run),
        )
        self._history.add(record, limit=2 * self._max_traces)
        timeline.note("trace", self._label, start, location, why.cause)
        self._tell_if_frequent(record)
        return concrete

    def _concrete(
        self, graph: Any, types: tuple[TraceType, ...], python_state: PythonState
    ) -> ConcreteFunction:
        if not python_state.captured:
            return ConcreteFunction(graph, self._parameters, types)
        return WatchedTrace(graph, self._parameters, types, python_state, self._label)

    def _tell_if_frequent(self, record: TraceRecord) -> None:
        if self._trace_count >= self._next_warning and retracing.warn_if_frequent(self):
            self._next_warning = 2 * self._trace_count  # said again only when it has doubled
        piece = piece_of(self._python_function)
        if piece is not None:
            piece.note_trace(self, record.seconds, is_first=self._trace_count == 1)
            piece.warn_if_frequent(self._label)

    def _trace_graph(self, types: tuple[TraceType, ...], inputs: list[Any] | None) -> Any:
        if self._created is None:
            graph, self._created = first_trace(
                self._label, lambda policy: self._run_trace(types, policy), inputs
            )
            return graph
        return self._run_trace(types, LaterCalls(self._label))

    def _run_trace(self, types: tuple[TraceType, ...], policy: Any) -> Any:
        return tracing.trace(
            self._python_function, self._parameters, types, policy, autograph=self._autograph
        )

    def _generalised(self, types: tuple[TraceType, ...]) -> tuple[TraceType, ...]:
        """Sizes that differ from those of an earlier trace become unknown."""
        for record in self._history.joinable(types):
            joined = [a.join(b) for a, b in zip(record.types, types, strict=True)]
            if all(t is not None for t in joined):
                return tuple(joined)  # type: ignore[arg-type]
        return types

    def _store(self, types: tuple[TraceType, ...], concrete: ConcreteFunction) -> None:
        if tracing.captures_of_enclosing_trace(concrete.graph):
            # It uses tensors of the trace around it, so it lives and dies with that.
            self._graph_traces.setdefault(state.graph, TraceTable()).add(types, concrete)
            return
        while len(self._traces) >= self._max_traces:
            dropped = self._traces.drop_oldest()
            self._evicted_calls += dropped.calls
            self._memo = {k: v for k, v in self._memo.items() if v[0] is not dropped}
            self._expected = self._met_last = None
            self._history.drop(dropped)
        self._traces.add(types, concrete)

    def _call_number(self) -> int:
        """The number of the call that is traced; 0 long before a warning would look at it."""
        # Counting all calls takes a look at every trace.
        matters = self._trace_count + retracing.RECENT_CALLS >= self._next_warning
        return self._total_calls() + 1 if matters else 0

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for these arguments, which may be values or specs.

        Args:
          *args: the arguments of the function: values, or `tf.TensorSpec` in the place of tensors.
            None of them are needed if there is an input signature.
          **kwargs: its keyword arguments.

        Returns:
          The `ConcreteFunction`, traced now if there was none.

        Raises:
          SignatureError: if the arguments do not fit the function or its input signature. It is a
            TypeError and a ValueError too.

        >>> f = tf.function(lambda x: x + 1)
        >>> f.get_concrete_function(tf.TensorSpec([None], tf.int32))(tf.constant([1, 2])).numpy()
        array([2, 3], dtype=int32)
        """
        if self._input_signature is not None and not args and not kwargs:
            args = self._input_signature.specs
        try:
            values, _ = self._bind(args, kwargs)
            return self._find_or_trace(values, values_or_none(values))
        except Exception as error:
            hide_own_frames(error)
            raise

    def experimental_get_compiler_ir(self, *args: Any, **kwargs: Any) -> Callable[..., str]:
        """A function of a stage that tells what the function becomes for these arguments.

        `stage` is "graph", "loops", "llvm" or "asm" for machine code, "python" for the NumPy tier,
        "stablehlo", "hlo" or "optimized_hlo" for XLA.

        Args:
          *args: the arguments of the function, with tensors and no specs.
          **kwargs: its keyword arguments.

        Returns:
          A function of `stage`, "llvm" if it is left out, that returns a text. It raises ValueError
          for any other stage.

        Raises:
          ValueError: if there are specs among the arguments.

        >>> f = tf.function(lambda x: x * 2.0)
        >>> "fmul float" in f.experimental_get_compiler_ir(tf.constant([1.0, 2.0]))(stage="llvm")
        True
        """
        concrete = self.get_concrete_function(*args, **kwargs)
        values, _ = self._bind(args, kwargs)
        leaves = values_or_none(values)
        if leaves is None:
            raise ValueError(
                "experimental_get_compiler_ir: machine code depends on shapes; pass tensors "
                "instead of specs."
            )
        return lambda stage="llvm": concrete.compiler_ir(leaves, stage)

    def clear_cache(self) -> None:
        """Forgets all traces; variables the function created stay."""
        created = self._created
        self._reset()
        self._created = created

    @property
    def python_function(self) -> Callable[_P, _R]:
        """The Python function that is traced."""
        return self._python_function

    # --- methods -------------------------------------------------------------------------------

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(
        self: PolymorphicFunction[Concatenate[Any, _Method], _Result],
        instance: object,
        owner: type | None = None,
    ) -> BoundFunction[_Method, _Result]: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return BoundFunction(self._for_instance(instance), instance)

    def _for_instance(self, instance: object) -> PolymorphicFunction[..., Any]:
        """The traces of one instance; they do not keep it alive."""
        found = self._bound.get(instance)
        if found is None:
            found = self._clone(WeakMethod(self._python_function, instance))
            self._bound.set(instance, found)
        return found

    def _clone(
        self, python_function: Callable[_Method, _Result]
    ) -> PolymorphicFunction[_Method, _Result]:
        return type(self)(  # type: ignore[return-value]
            python_function,  # type: ignore[arg-type]
            self._name,
            self._signature_argument,
            autograph=self._autograph,
            jit_compile=self._jit_compile,
            reduce_retracing=self._reduce_retracing,
            follow_type_hints=self._follow_type_hints,
            max_traces=self._max_traces,
            options=self._options,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (
            type(self),
            self._python_function,
            self._name,
            self._signature_argument,
            self._autograph,
            self._jit_compile,
            self._reduce_retracing,
            self._follow_type_hints,
            self._max_traces,
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> PolymorphicFunction[_P, _R]:
        return self._clone(self._python_function)


def _hashable_form(error: UnhashableArgument) -> str:
    """What an object of the user has to be to be an argument."""
    if hasattr(error.kind, "__dataclass_fields__"):
        return f"make {error.kind.__name__} a @dataclass(frozen=True)"
    return "an object with __hash__"


def _rebuild(
    kind: type[PolymorphicFunction[..., Any]],
    python_function: Callable[..., Any],
    name: str,
    signature: Any,
    *options: Any,
) -> PolymorphicFunction[..., Any]:
    autograph, jit_compile, reduce_retracing, follow_type_hints, max_traces = options
    return kind(
        python_function,
        name,
        signature,
        autograph=autograph,
        jit_compile=jit_compile,
        reduce_retracing=reduce_retracing,
        follow_type_hints=follow_type_hints,
        max_traces=max_traces,
    )


def values_or_none(values: tuple[Any, ...]) -> list[Any] | None:
    """The values that go into the graph, None if some are only described by specs."""
    leaves: list[Any] = []
    try:
        for value in values:
            TENSORS.encode(value, leaves)
    except TypeError:
        return None
    if all(isinstance(t, EagerTensor) for t in leaves):
        types = [type_of(value) for value in values]
        expected = sum(len(list(t.leaf_specs())) for t in types)
        return [t._value for t in leaves] if len(leaves) == expected else None
    return None


TracedCallable.register(PolymorphicFunction)
