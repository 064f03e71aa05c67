"""Compiling a graph for the values of one call: as a whole if possible, else in segments."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from weft._src.core import dtypes
from weft._src.core.cells import VariableCell
from weft._src.core.replica_cells import OnReadCell
from weft._src.core.specs import TensorSpec
from weft._src.execution.native import progress
from weft._src.execution.native.front.segments import LEAST_NODES, Splitter
from weft._src.execution.native.front.specialize import specialize
from weft._src.execution.native.front.translate import Translation, translate
from weft._src.execution.native.loops.values import NotCompilableError as NotCompilableError
from weft._src.execution.native.machine import cache, library, llvm, outside, pool, support
from weft._src.execution.native.machine.executable import Executable
from weft._src.execution.native.machine.trampoline import full_text
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.ir import Graph
from weft._src.graph.passes import optimize
from weft._src.graph.passes.attention import fuse_attention
from weft._src.graph.passes.resizing import fuse_resizing
from weft._src.ops.registry import Op

Told = Callable[[int, int], None]
_RESOURCE = TensorSpec.of(dtypes.resource, ())


def types_of(
    graph: Graph, values: Sequence[Any]
) -> tuple[list[TensorSpec], list[TensorSpec | None]]:
    """The specs of inputs, and those of the variables among them."""
    specs: list[TensorSpec] = []
    variables: list[TensorSpec | None] = []
    for tensor, value in zip(graph.all_inputs, values, strict=True):
        variable = None
        if isinstance(value, OnReadCell):
            raise NotCompilableError("a variable has a value for each replica")
        if isinstance(value, VariableCell):
            if value.data is None:
                raise NotCompilableError(f"the variable {value.name!r} is not initialised")
            variable = _spec(value.data)
        if variable is not None:
            specs.append(_RESOURCE)
        elif tensor.dtype in (dtypes.resource, dtypes.variant):
            specs.append(tensor.spec)  # datasets, generators, stacks: for NumPy's steps
        else:
            specs.append(_spec(value))
        variables.append(variable)
    return specs, variables


def _spec(value: Any) -> TensorSpec:
    return TensorSpec.of(dtypes.from_numpy(value.dtype), value.shape)


class Compiled(Executable):
    """The machine code of a graph, and what is worth knowing about it."""

    segments = 1

    def __init__(self, translation: Translation, told: Told | None = None) -> None:
        started = time.perf_counter()
        self.translation = translation
        self.left_out: dict[Op, str] = {}
        self.text = full_text(translation)
        if told is not None:
            told(len(self.text), library.count_missing(self.text))
        self.steps = translation.program.steps
        if translation.program.uses_pool:
            pool.start()
        for name, address in outside.functions_for(self.text).items():
            llvm.add_symbol(name, address)
        reads = cache.reads.count
        super().__init__(translation, llvm.compile_text(self.text))
        self.is_from_disk = cache.reads.count > reads
        self.milliseconds = 1e3 * (time.perf_counter() - started)


class Segmented:
    """A plan of NumPy's in which segments of the graph are machine code."""

    def __init__(
        self,
        graph: Graph,
        specs: Sequence[TensorSpec],
        variables: list[TensorSpec | None],
        *,
        least_nodes: int = LEAST_NODES,
    ) -> None:
        started = time.perf_counter()
        self._kinds = [
            _kind(spec if variable is None else variable)
            for spec, variable in zip(specs, variables, strict=True)
        ]
        self.parts: list[Compiled] = []
        splitter = Splitter(self._compile_part, least_nodes)
        known = {
            id(x): v for x, v in zip(graph.all_inputs, variables, strict=True) if v is not None
        }
        split = splitter.split(graph, known)
        if not splitter.segments:
            reasons = "; ".join(splitter.left_out.values())
            raise NotCompilableError(f"nothing in {graph.name} can be compiled: {reasons}")
        self._plan = NumpyPlan(split)
        self.left_out = splitter.left_out
        self.milliseconds = 1e3 * (time.perf_counter() - started)

    def _compile_part(self, body: Graph, variables: list[TensorSpec | None]) -> Any:
        compiled = Compiled(translate(body, variables))
        self.parts.append(compiled)
        return _Part(compiled, body)

    @property
    def is_from_disk(self) -> bool:
        """Whether an earlier process had compiled all of it."""
        return all(part.is_from_disk for part in self.parts)

    @property
    def segments(self) -> int:
        """How many pieces of machine code there are."""
        return len(self.parts)

    @property
    def text(self) -> str:
        """The code of all segments."""
        return "\n".join(part.text for part in self.parts)

    @property
    def source(self) -> str:
        """The Python code that runs the segments."""
        return self._plan.source

    def call(self, *values: Any) -> Any:
        """The outputs, or NotImplemented for inputs of other types."""
        return self._plan(*values) if self.fits(values) else NotImplemented

    def __call__(self, *values: Any) -> Any:
        return self._plan(*values) if self.fits(values) else None

    def fits(self, values: Sequence[Any]) -> bool:
        """Whether the values have the types this was compiled for."""
        for value, kind in zip(values, self._kinds, strict=True):
            array = value.data if isinstance(value, VariableCell) else value
            if kind is not None and (array is None or (array.dtype, array.shape) != kind):
                return False
        return True


class _Part:
    """A segment: machine code, or NumPy where machine code does not apply."""

    def __init__(self, compiled: Compiled, body: Graph) -> None:
        self._compiled = compiled
        self._body = body
        self._plan: NumpyPlan | None = None

    def __call__(self, *values: Any) -> Any:
        out = self._compiled(*values)
        if out is not None:
            return out
        if self._plan is None:
            self._plan = NumpyPlan(self._body)
        return self._plan(*values)


def _kind(spec: TensorSpec) -> Any:
    if spec.dtype in (dtypes.resource, dtypes.variant):
        return None
    return spec.dtype.numpy_dtype, spec.dims


def translate_for(graph: Graph, values: Sequence[Any]) -> Translation:
    """The program of a graph for inputs like these."""
    specs, variables = types_of(graph, values)
    return translate(prepared(graph, specs, variables), variables)


def prepared(
    graph: Graph, specs: Sequence[TensorSpec], variables: Sequence[TensorSpec | None]
) -> Graph:
    """The graph for the types of a call, as it is compiled."""
    return fuse_resizing(fuse_attention(specialize(graph, specs, variables)))


def compile_graph(
    graph: Graph, values: Sequence[Any], *, whole: bool, told: Told | None = None
) -> Compiled | Segmented:
    """Machine code for a graph.

    Args:
      graph: what is compiled.
      values: of its inputs, or things with their dtypes and shapes.
      whole: whether NumPy may only look after random streams.
      told: called when LLVM begins, if the code is one piece: with its length, and the number of
        functions of the library that are compiled as well.
    """
    with progress.shown(graph.name):
        return _compiled(graph, values, whole, told)


def _compiled(
    graph: Graph, values: Sequence[Any], whole: bool, told: Told | None
) -> Compiled | Segmented:
    off = support.reason_off()
    if off is not None:
        raise NotCompilableError(f"the native tier is off: {off}")
    specs, variables = types_of(graph, values)
    special = prepared(graph, specs, variables)
    try:
        return Compiled(translate(special, variables), told)
    except NotCompilableError:
        if whole and not any(node.op.advances_stream for node in special.nodes):
            _refuse_streams_inside(special)
            raise
    made = Segmented(optimize(special), specs, variables, least_nodes=1 if whole else LEAST_NODES)
    others = [why for op, why in made.left_out.items() if not op.advances_stream]
    if whole and others:
        raise NotCompilableError(others[0])
    return made


def _refuse_streams_inside(graph: Graph) -> None:
    """Says what to do about random numbers in loops and branches."""
    for node in graph.nodes:
        for _, body in node.nested:
            for inner in body.nodes:
                if inner.op.advances_stream:
                    raise NotCompilableError(
                        "the state of a random stream is taken inside of a loop or branch; draw "
                        "before it, or use tf.random.stateless_* with tf.random.fold_in(seed, i)",
                        inner,
                    )
            _refuse_streams_inside(body)
