"""`ConcreteFunction`: one trace, callable.

Hot path: `run` is the call of a plan and the packing of its results.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from weft._src import nest
from weft._src.autodiff.calls import call_graph
from weft._src.core.context import state
from weft._src.core.conversions import how_to_convert
from weft._src.core.convert import convert_to_tensor
from weft._src.core.display import html_of
from weft._src.core.dtypes import resource
from weft._src.core.flags import flags
from weft._src.core.placed import MeshInput
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import EagerTensor, SymbolicTensor, Tensor
from weft._src.core.tracebacks import hide_own_frames
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.execution.mesh_names import meshes_of
from weft._src.execution.runner import locked_inputs, locks_of, plan_of, run_locked
from weft._src.function.captured_state import PythonState
from weft._src.function.function_type import Callable, FunctionType, of_trace
from weft._src.function.keys import TENSORS
from weft._src.function.packing import pack_tensors, pack_values
from weft._src.function.signature import P, Parameters
from weft._src.function.trace_types import (
    CompositeType,
    LiteralType,
    NestType,
    ObjectType,
    TensorType,
    TraceType,
    type_of,
)
from weft._src.graph.ir import Graph

_numbers = itertools.count()

_STAGES_OF_XLA = ("stablehlo", "hlo", "optimized_hlo")


class ConcreteFunction(Callable):
    """A function traced for one kind of arguments; made by `tf.function`.

    >>> double = tf.function(lambda x: x + x).get_concrete_function(tf.TensorSpec([None]))
    >>> double(tf.constant([1.0, 2.0])).numpy()
    array([2., 4.], dtype=float32)
    """

    python_state = PythonState(())  # what it took from around the function

    def __init__(self, graph: Graph, parameters: Parameters, types: Sequence[TraceType]) -> None:
        self.graph = graph
        self.types = tuple(types)
        self.calls = 0
        self.recorded_calls = 0  # those of them that a tape or another graph has recorded
        self.last_call = 0
        self._parameters = parameters
        self.name = f"__inference_{graph.name}_{next(_numbers)}"
        self._captured_values: tuple[Any, ...] = ()
        self._locked_cells: tuple[Any, ...] = ()
        self._locked_arguments: tuple[int, ...] = ()
        self._locks: list[Any] = []
        self._plan: Any = None
        self._pack = pack_values(graph.structured_outputs)
        # A graph refers to cells only; the variables themselves must not die under it.
        self._variables = [
            cell.variable for cell in self._captured_cells() if cell.variable is not None
        ]

    # --- running -------------------------------------------------------------------------------

    def run(self, values: list[Any]) -> Any:
        """Runs on the values of the inputs; nothing is checked.

        Args:
          values: the arrays of the inputs, flat and in order, without captures.

        Returns:
          What the Python function returned, with tensors in place.
        """
        self.calls += 1
        plan = self._plan
        if plan is None:
            try:
                plan = self._prepare()
            except MeshInput:
                return self._run_on_mesh(values)
        if self._locked_cells or self._locked_arguments:
            return self._pack(self._run_locked(plan, values))
        return self._pack(plan.run(*values, *self._captured_values))

    def _prepare(self) -> Any:
        if meshes_of(self.graph):
            self.run = self._run_on_mesh  # type: ignore[method-assign]
            raise MeshInput
        plan = plan_of(self.graph)
        self._captured_values = tuple([t._value for t in self.captured_inputs])  # type: ignore[attr-defined]
        n = len(self.graph.inputs)
        locked = locked_inputs(self.graph)
        self._locked_cells = tuple([self._captured_values[i - n] for i in locked if i >= n])
        self._locked_arguments = tuple([i for i in locked if i < n])
        self._locks = locks_of(self._locked_cells)
        self._plan = plan
        return plan

    def _run_on_mesh(self, values: list[Any]) -> Any:
        """A call of a function that names devices which compute together, or their variables."""
        return self._call_recorded([EagerTensor(value) for value in values])

    def _run_locked(self, plan: Any, values: list[Any]) -> Any:
        """A call that writes variables is atomic: it holds their locks, taken in a fixed order."""
        locks = self._locks
        if self._locked_arguments:
            arguments = [values[i] for i in self._locked_arguments]
            locks = locks_of([*self._locked_cells, *arguments])
        return run_locked(locks, plan, [*values, *self._captured_values])

    def call_with_tensors(self, tensors: Sequence[Tensor]) -> Any:
        """A call that is recorded: in a graph that is being built, by tapes, or by a watcher.

        Args:
          tensors: the inputs, flat and in order, without captures.

        Returns:
          What the Python function returned, with tensors in place.
        """
        watcher = flags.call_watcher
        if watcher is not None and state.graph is None:
            return watcher(self, lambda: self._call_recorded(tensors))
        return self._call_recorded(tensors)

    def _call_recorded(self, tensors: Sequence[Tensor]) -> Any:
        self.calls += 1
        self.recorded_calls += bool(state.mode)  # and not only watched
        inputs = [*tensors, *self.captured_inputs]
        out = call_graph(self.graph, inputs, name=self.graph.name)
        return pack_tensors(self.graph.structured_outputs)(out)

    # --- calling with checks -------------------------------------------------------------------

    def add_to_graph(self, g: Any = None) -> None:
        """Makes the function known to a graph: nothing is to be done, since calls hold it.

        Args:
          g: a graph, or None for the one that is being built.
        """

    def add_gradient_functions_to_graph(self, g: Any = None) -> None:
        """Makes the gradient known to a graph: nothing is to be done.

        Args:
          g: a graph, or None for the one that is being built.
        """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            tensors = self._bind(args, kwargs)
            if state.mode or flags.call_watcher is not None:
                return self.call_with_tensors(tensors)
            return self.run([t._value for t in tensors])  # type: ignore[attr-defined]
        except Exception as error:
            hide_own_frames(error)
            raise

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
        flat = self._bind_flat(args, kwargs)
        if flat is not None:
            return flat
        try:
            return self._bind_structured(args, kwargs)
        except TypeError:
            flat = self._bind_by_input(args, kwargs)
            if flat is None:
                raise
            return flat

    def _bind_structured(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
        own, others = set(self._parameters.names), self._by_tensor_name()
        kwargs = {k if k in own else others.get(k, k): v for k, v in kwargs.items()}
        try:
            bound = self._parameters.signature.bind_partial(*args, **kwargs).arguments
        except TypeError as e:
            wrong = self._parameters.misfit(args, kwargs) or e
            raise TypeError(f"{self._shown_signature()}: {wrong}.") from None
        tensors: list[Tensor] = []
        for name, trace_type in zip(self._parameters.names, self.types, strict=True):
            if name in bound:
                self._collect(name, trace_type, bound[name], tensors)
            elif any(True for _ in trace_type.leaf_specs()):
                raise TypeError(f"{self._shown_signature()}: the argument {name!r} is missing.")
        return tensors

    def _bind_flat(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor] | None:
        """Tensors only, in order, where Python arguments stand between them."""
        specs = [spec for t in self.types for spec in t.leaf_specs()]
        if kwargs or len(args) != len(specs) or not any(self._is_fixed(t) for t in self.types):
            return None
        if not all(isinstance(a, Tensor) for a in args) or len(args) == len(self.types):
            return None
        return [self._checked(f"input {i}", s, a) for i, (s, a) in enumerate(zip(specs, args))]

    def _bind_by_input(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor] | None:
        """One tensor for each input, in order and then by name, whatever nests they stand in."""
        names = [tensor.op.name for tensor in self.graph.inputs]
        placed, named = names[: len(args)], names[len(args) :]
        if len(placed) < len(args) or set(named) != set(kwargs):
            return None
        given = [*args, *[kwargs[name] for name in named]]
        if not all(isinstance(value, Tensor) for value in given):
            return None
        inputs = zip(names, self.graph.inputs, given, strict=True)
        return [self._checked(name, tensor.spec, value) for name, tensor, value in inputs]

    @staticmethod
    def _is_fixed(trace_type: TraceType) -> bool:
        return isinstance(trace_type, (LiteralType, ObjectType))

    def _by_tensor_name(self) -> dict[str, str]:
        """Tensors may be passed by the name of their spec, too."""
        return {
            t.spec.name: name
            for name, t in zip(self._parameters.names, self.types, strict=True)
            if isinstance(t, TensorType) and t.spec.name
        }

    def _collect(self, name: str, wanted: TraceType, value: Any, tensors: list[Tensor]) -> None:
        if isinstance(wanted, TensorType):
            tensors.append(self._checked(name, wanted.spec, value))
        elif isinstance(wanted, NestType):
            try:
                nest.assert_same_structure(wanted.structure, value)
            except (TypeError, ValueError) as e:
                raise TypeError(f"{self._shown_signature()}: the argument {name!r}: {e}") from None
            for item, leaf in zip(wanted.items, nest.flatten(value), strict=True):
                self._collect(name, item, leaf, tensors)
        elif isinstance(wanted, (LiteralType, ObjectType)):
            if not _is_fixed_to(wanted, value):
                raise TypeError(
                    f"{self._shown_signature()}: the argument {name!r} was traced as "
                    f"{wanted.words} and is fixed to it, got {value!r}. Trace the function for "
                    "that value, or leave the argument out."
                )
        else:
            leaves: list[Any] = []
            TENSORS.encode(value, leaves)
            tensors.extend(leaves)

    def _checked(self, name: str, spec: TensorSpec, value: Any) -> Tensor:
        try:
            tensor = convert_to_tensor(value, dtype_hint=spec.dtype)
        except (TypeError, ValueError) as e:
            raise TypeError(f"{self._shown_signature()}: the argument {name!r}: {e}") from None
        if tensor.dtype is not spec.dtype:
            raise InvalidArgumentError(
                None,
                None,
                f"{self._shown_signature()}: the argument {name!r} must be {spec.dtype.name}, got "
                f"{tensor.dtype.name}. {how_to_convert(name, tensor.dtype, spec.dtype)}",
            )
        if not tensor.shape.is_compatible_with(spec.shape):
            raise ShapeError(
                f"{self._shown_signature()}: the argument {name!r} must have shape {spec.shape}, "
                f"got {tensor.shape}."
            )
        return tensor

    def compiler_ir(self, values: Sequence[Any], stage: str) -> str:
        """What the function becomes for inputs like these, as text.

        Args:
          values: the arrays of the inputs, flat and in order, without captures.
          stage: "graph", "loops", "llvm" or "asm" for machine code, "python" for the NumPy tier,
            "stablehlo", "hlo" or "optimized_hlo" for XLA.

        Returns:
          The text.

        Raises:
          ValueError: if the stage is another one.
        """
        plan = plan_of(self.graph)
        if stage == "python":
            return str(plan.source)
        captured = [t._value for t in self.captured_inputs]  # type: ignore[attr-defined]
        if stage in _STAGES_OF_XLA:
            from weft._src.execution.xla import runtime

            runtime.require(f"experimental_get_compiler_ir(stage={stage!r})")
            from weft._src.execution.xla import stages as stages_of_xla

            return stages_of_xla.text_of(plan.graph, [*values, *captured], stage)
        from weft._src.execution.native import stages

        if stage not in stages.STAGES:
            known = ", ".join(map(repr, (*stages.STAGES, "python", *_STAGES_OF_XLA)))
            raise ValueError(
                f"experimental_get_compiler_ir: stage must be one of {known}, got {stage!r}."
            )
        return str(stages.text_of(plan.graph, [*values, *captured], stage))

    # --- looking -------------------------------------------------------------------------------

    @property
    def inputs(self) -> list[SymbolicTensor]:
        """The inputs of the graph, captures included."""
        return self.graph.all_inputs

    @property
    def outputs(self) -> list[SymbolicTensor]:
        """The outputs of the graph, flat."""
        return list(self.graph.outputs)

    @property
    def structured_outputs(self) -> Any:
        """The outputs in the structure the function returned."""
        return self.graph.structured_outputs

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of the outputs, in the structure the function returned."""
        return nest.map_structure(lambda t: None if t is None else t.dtype, self.structured_outputs)

    @property
    def output_shapes(self) -> Any:
        """The shapes of the outputs, in the structure the function returned."""
        return nest.map_structure(lambda t: None if t is None else t.shape, self.structured_outputs)

    @property
    def captured_inputs(self) -> list[Tensor]:
        """What the function uses from outside: eager tensors and the handles of variables."""
        return [outer for outer, _ in self.graph.captures]

    def _captured_cells(self) -> list[Any]:
        return [
            t._value
            for t in self.captured_inputs
            if isinstance(t, EagerTensor) and t.dtype is resource and hasattr(t._value, "variable")
        ]

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables the function uses."""
        return tuple(self._variables)

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The trainable ones among them."""
        return tuple([v for v in self._variables if v.trainable])

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """(positional, keyword): specs for tensors, the fixed values for Python arguments."""
        names = self._parameters.input_names
        values = [_signature_value(t, name) for t, name in zip(self.types, names, strict=True)]
        args, kwargs = self._parameters.spread(values)
        return tuple(args), kwargs

    @property
    def function_type(self) -> FunctionType:
        """What it was traced for and what it returns, as a `tf.types.experimental.FunctionType`."""
        parameters = self._parameters.parameters
        outputs = self.graph.structured_outputs
        return of_trace(parameters, self.types, outputs, self.captured_inputs)

    @property
    def function_def(self) -> str:
        """The graph as text."""
        return str(self.graph)

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """The parameters and results, for people.

        Args:
          verbose: whether results and captures are shown too, each on a line; else it is one line.

        Returns:
          The text.

        >>> f = tf.function(lambda x: x + 1).get_concrete_function(tf.TensorSpec([], tf.int32))
        >>> print(f.pretty_printed_signature(verbose=False))
        <lambda>(x: TensorSpec(shape=(), dtype=tf.int32, name=None))
        """
        if not verbose:
            return self._shown_signature()
        lines = ["Input Parameters:"]
        for parameter, trace_type in zip(self._parameters.parameters, self.types, strict=True):
            lines.append(f"  {parameter.name} ({parameter.kind.name}): {trace_type!r}")
        lines += ["Output Type:", f"  {_output_text(self.graph.structured_outputs)}", "Captures:"]
        captured = [f"  {t.spec!r}" for t in self.captured_inputs]
        return "\n".join([*lines, *(captured or ["  None"])])

    def _shown_signature(self) -> str:
        parts = [
            f"{'**' if p.kind is P.VAR_KEYWORD else '*' if p.kind is P.VAR_POSITIONAL else ''}"
            f"{p.name}: {t!r}"
            for p, t in zip(self._parameters.parameters, self.types, strict=True)
        ]
        return f"{self.graph.name}({', '.join(parts)})"

    _repr_html_ = html_of

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self._shown_signature()}>"

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature()}"


def _is_fixed_to(wanted: TraceType, value: Any) -> bool:
    """Whether a value is the one that a trace was made for."""
    try:
        given = type_of(value)
    except TypeError:  # it has no hash
        return False
    return given == wanted


def _signature_value(trace_type: TraceType, name: str) -> Any:
    if isinstance(trace_type, TensorType):
        spec = trace_type.spec
        return TensorSpec(spec.shape, spec.dtype, spec.name or name)
    if isinstance(trace_type, (LiteralType, ObjectType)):
        return trace_type.value
    if isinstance(trace_type, NestType):
        named = zip(trace_type.items, trace_type.leaf_names(name), strict=True)
        items = [_signature_value(item, leaf_name) for item, leaf_name in named]
        return nest.pack_sequence_as(trace_type.structure, items)
    if isinstance(trace_type, CompositeType):
        return trace_type.spec
    return trace_type


def _output_text(structure: Any) -> str:
    def show(leaf: Any) -> Any:
        return None if leaf is None else TensorSpec(leaf.shape, leaf.dtype)

    return repr(nest.map_structure(show, structure))
