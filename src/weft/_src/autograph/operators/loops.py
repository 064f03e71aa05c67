"""`while` and `for`: graph loops if the condition or what is iterated over is a tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft._src import nest
from weft._src.autograph.operators import staging
from weft._src.autograph.operators.conditional import condition_tensor, if_exp, if_stmt
from weft._src.autograph.operators.grown_list import GrownList, as_grown
from weft._src.autograph.operators.python_builtins import Filtered, Rows, rows_of
from weft._src.autograph.operators.state import (
    as_tensor,
    can_be_tensor,
    dummy,
    flatten,
    is_internal,
    is_symbolic,
)
from weft._src.autograph.operators.undefined import Undefined, is_undefined
from weft._src.core.context import building, state
from weft._src.core.conversions import how_to_convert
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import int32
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import SymbolicTensor, Tensor
from weft._src.errors import DTypeError, LoopConversionError, ShapeError
from weft._src.graph.ir import Graph
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.arrays.ranges import range_op
from weft._src.ops.control.loop import while_op
from weft._src.ops.control.tensor_array import TensorArray
from weft._src.ops.elementwise import casting
from weft._src.ops.host.asserting import Assert

Thunk = Callable[[], Any]
GetState = Callable[[], tuple[Any, ...]]
SetState = Callable[[tuple[Any, ...]], None]


class LoopOptions:
    """What `tf.autograph.experimental.set_loop_options` said of a loop."""

    def __init__(
        self,
        parallel_iterations: Any = None,
        swap_memory: Any = None,
        maximum_iterations: Any = None,
        shape_invariants: Any = None,
    ) -> None:
        self.maximum_iterations = maximum_iterations
        self.shape_invariants = list(shape_invariants or [])

    def shape_of(self, value: Any) -> TensorShape | None:
        """The shape a variable is said to keep."""
        for variable, shape in self.shape_invariants:
            if variable is value:
                return TensorShape(shape)
        return None


def while_stmt(
    test: Thunk,
    body: Thunk,
    get_state: GetState,
    set_state: SetState,
    names: Sequence[str],
    needed: Sequence[str],
    used_after: Sequence[str],
    appended: Sequence[str],
    options: Callable[[], LoopOptions] | None,
) -> None:
    """A `while` statement."""
    while True:
        goes_on = _probe(test, get_state, set_state)
        if is_symbolic(goes_on):
            # Also where a tensor has decided about a `break`: the iterations that are left follow.
            StagedLoop(
                test, body, get_state, set_state, names, needed, used_after, appended, options
            ).run()
            return
        if not goes_on:
            return
        body()


def _probe(test: Thunk, get_state: GetState, set_state: SetState) -> Any:
    """The condition. Computed in a graph that is thrown away, so that if it is a tensor, all that
    the test does happens in the loop only.
    """
    if state.graph is None:
        return test()
    before = get_state()
    graph = state.graph.nested("probe")
    with building(graph), staging.block():
        goes_on = test()
    if all(node.is_const for node in graph.body):
        return goes_on  # the test ran as Python
    set_state(before)
    return goes_on if is_symbolic(goes_on) else test()


# A Python iterable may have no end; so many iterations are traced after one that may be the last.
_GUARDED_ITERATIONS = 1000


def _python_for(
    iterated: Any, extra_test: Thunk, body: Callable[[Any], None], guard: Callable[..., None]
) -> None:
    """A loop over Python's values that is left early; if a tensor says so, others are guarded."""
    guarded = 0
    for item in iterated:
        goes_on = extra_test()
        if is_symbolic(goes_on):
            guarded += 1
            if guarded > _GUARDED_ITERATIONS:
                raise LoopConversionError(
                    "A tensor decides when to leave a for loop over Python values that has more "
                    f"than {_GUARDED_ITERATIONS} iterations, all of which would be traced. Make "
                    "the loop's iterable a tensor, e.g. `for i in tf.range(n):`."
                )
            guard(goes_on, lambda item=item: body(item))
        elif goes_on:
            body(item)
        else:
            break


def for_stmt(
    iterated: Any,
    extra_test: Thunk | None,
    body: Callable[[Any], None],
    get_state: GetState,
    set_state: SetState,
    names: Sequence[str],
    needed: Sequence[str],
    used_after: Sequence[str],
    appended: Sequence[str],
    options: Callable[[], LoopOptions] | None,
) -> None:
    """A `for` statement."""
    if isinstance(iterated, Filtered):
        predicate, every = iterated.predicate, body
        iterated = iterated.iterable

        def body(item: Any) -> None:
            if_stmt(
                predicate(item), lambda: every(item), lambda: None,
                get_state, set_state, names, needed, appended,
            )  # fmt: skip

    stage = getattr(iterated, "__autograph_for__", None)
    if stage is not None and state.graph is not None:
        stage(extra_test, body, get_state, set_state, names, needed, used_after, appended, options)
    elif is_symbolic(iterated) or (
        isinstance(iterated, (TensorArray, GrownList, Rows)) and state.graph
    ):
        elements = _elements(iterated)
        _StagedFor(
            elements,
            extra_test,
            body,
            get_state,
            set_state,
            names,
            needed,
            used_after,
            appended,
            options,
        ).run()
    elif extra_test is None:
        for item in iterated:
            body(item)
    else:

        def guard(goes_on: Any, iteration: Thunk) -> None:
            if_stmt(goes_on, iteration, lambda: None, get_state, set_state, names, needed, appended)

        _python_for(iterated, extra_test, body, guard)


def _elements(iterated: Any) -> tuple[Tensor, Callable[[Tensor], Any]]:
    """How many elements there are, and how to get one."""
    tensor = iterated
    if isinstance(tensor, SymbolicTensor) and tensor.node.op is range_op:
        start, _, delta = tensor.node.inputs
        return shapes.shape(tensor)[0], lambda i: start + _cast_like(i, delta) * delta
    rows = rows_of(iterated)
    assert rows is not None
    return rows.size(), rows.read


def _cast_like(i: Tensor, like: Tensor) -> Tensor:
    return i if i.dtype is like.dtype else casting.cast(i, like.dtype)


class _Var:
    """One variable of a staged loop: its value before, and how it is carried."""

    def __init__(
        self, name: str, value: Any, shape: TensorShape | None, grows: bool, needed: bool
    ) -> None:
        self.name = name
        self.before = value
        self.undefined = is_undefined(value)
        if grows:
            value = as_grown(value)
        leaves = [] if self.undefined else flatten(value)
        self.needed = needed
        self.carried = needed and not self.undefined and all(map(can_be_tensor, leaves))
        self.structure = value
        self.initial = [as_tensor(leaf) for leaf in leaves] if self.carried else []
        self.specs = [_relaxed(t.spec, shape) for t in self.initial]


def _relaxed(spec: TensorSpec, shape: TensorShape | None) -> TensorSpec:
    if shape is None:
        return spec
    if not spec.shape.is_subtype_of(shape):
        raise ShapeError(
            f"set_loop_options: a variable of shape {spec.shape} does not fit the shape {shape}."
        )
    return TensorSpec.of(spec.dtype, shape.dims_or_none)


class StagedLoop:
    """A `while` in the graph: traces the body once and builds the node."""

    op = while_op
    name = "while"
    # Whether sizes that an iteration changes become unknown, instead of being an error.
    relaxes_shapes = False

    def __init__(
        self, test: Thunk, body: Thunk, get_state: GetState, set_state: SetState,
        names: Sequence[str], needed: Sequence[str], used_after: Sequence[str],
        appended: Sequence[str], options: Any,
    ) -> None:  # fmt: skip
        self.appended, self.needed = appended, frozenset(needed)
        self.test, self.body = test, body
        self.get_state, self.set_state = get_state, set_state
        self.names, self.used_after = names, used_after
        self.options = LoopOptions() if options is None else options()
        limit = self.options.maximum_iterations
        self._limit = limit if is_symbolic(limit) else None
        self._static_limit = None if limit is None or is_symbolic(limit) else int(limit)

    # What a `for` adds: a counter that is carried along.
    def counter(self) -> list[Tensor]:
        return [convert_to_tensor(0, dtype=int32)]

    def run(self) -> None:
        values = self.get_state()
        self.variables = [
            _Var(
                name,
                value,
                self.options.shape_of(value),
                name in self.appended,
                name in self.needed,
            )
            for name, value in zip(self.names, values, strict=True)
        ]
        initial = [*self.counter(), *[t for v in self.variables for t in v.initial]]
        self._relaxed = True
        while self._relaxed:
            self._relaxed = False
            carried = [spec for v in self.variables if v.carried for spec in v.specs]
            specs = [initial[0].spec, *carried]
            body = self._trace_body(specs)
        self._settle_undefined(body, initial, specs)
        condition = self._trace_condition(specs)
        graphs = (condition, body)
        union = {id(t): t for g in graphs for t, _ in g.captures}
        for graph in graphs:
            graph.align_captures(list(union.values()))
        out = self.op(
            *initial, *union.values(), cond=condition, body=body,
            maximum_iterations=self._static_limit, name=self.name,
        )  # fmt: skip
        self._hand_on(out)

    def _enter(self, graph: Graph, specs: list[TensorSpec]) -> list[Tensor]:
        """Placeholders for all that is carried, set as the values of the variables."""
        inputs = [graph.add_input(spec, "loop_var") for spec in specs]
        position = 1
        values: list[Any] = []
        for v in self.variables:
            if v.carried:
                n = len(v.specs)
                leaves = inputs[position : position + n]
                values.append(nest.pack_sequence_as(v.structure, leaves, expand_composites=True))
                position += n
            else:
                values.append(v.before)
        self.set_state(tuple(values))
        return inputs  # type: ignore[return-value]

    def _trace_body(self, specs: list[TensorSpec]) -> Graph:
        graph: Graph = state.graph.nested(f"{self.name}_body", self.name)
        before = self.get_state()
        with building(graph), staging.block():
            inputs = self._enter(graph, specs)
            entered = self.get_state()
            self.run_body(inputs[0])
            self._after = self.get_state()
            graph.outputs = [graph.capture(inputs[0] + 1)]
            for v, start, value in zip(self.variables, entered, self._after, strict=True):
                graph.outputs += self._outputs_of(graph, v, start, value)
        self.set_state(before)
        return graph

    def run_body(self, counter: Tensor) -> None:
        self.body()

    def _outputs_of(self, graph: Graph, v: _Var, start: Any, value: Any) -> list[Any]:
        if v.carried:
            return self._checked(graph, v, value)
        if value is start or not v.needed:
            return []
        if not v.undefined:
            if is_undefined(value):
                return []
            raise TypeError(
                f"{v.name!r} is {_kind(v.before)} before a staged loop and {_kind(value)} after an "
                "iteration. Only tensors (and numbers) can change in such a loop; define it as a "
                "tensor before."
            )
        if is_undefined(value):
            return []
        leaves = flatten(value)
        if value is None or not all(can_be_tensor(leaf) for leaf in leaves):
            return []
        v.structure = value
        tensors = [graph.capture(as_tensor(leaf)) for leaf in leaves]
        v.specs = [t.spec for t in tensors]
        return tensors

    def _checked(self, graph: Graph, v: _Var, value: Any) -> list[Any]:
        if is_undefined(value):
            value._fail()
        try:
            nest.assert_same_structure(v.structure, value, expand_composites=True)
        except (TypeError, ValueError) as e:
            raise TypeError(
                f"{v.name!r} has another structure after an iteration of the loop: {e}"
            ) from None
        if isinstance(value, GrownList):
            self._widen(v, value)
        out = []
        for i, (spec, leaf) in enumerate(zip(v.specs, flatten(value), strict=True)):
            tensor = as_tensor(leaf, spec.dtype)
            if tensor.dtype is not spec.dtype:
                raise DTypeError(
                    f"{v.name!r} has dtype {spec.dtype.name} before the loop, but dtype "
                    f"{tensor.dtype.name} after one iteration. "
                    f"{how_to_convert(v.name, tensor.dtype, spec.dtype)}"
                )
            if self.relaxes_shapes and not tensor.shape.is_subtype_of(spec.shape):
                shape = spec.shape.most_specific_compatible_shape(tensor.shape)
                v.specs[i] = TensorSpec(shape, spec.dtype)
                self._relaxed = True
            elif not tensor.shape.is_subtype_of(spec.shape):
                wide = spec.shape.most_specific_compatible_shape(tensor.shape)
                sizes = "None" if wide.rank is None else str(list(wide))
                raise ShapeError(
                    f"{v.name!r} has shape {spec.shape} before the loop, but shape {tensor.shape} "
                    "after one iteration. If its shape is meant to change, begin the body of the "
                    "loop with tf.autograph.experimental.set_loop_options(shape_invariants="
                    f"[({v.name}, tf.TensorShape({sizes}))])"
                )
            out.append(graph.capture(tensor))
        return out

    def _widen(self, v: _Var, value: GrownList) -> None:
        """What an iteration reads from a list may be of any type that iterations append."""
        before: GrownList = v.structure
        wider = before.widened(value)
        if before.dtype is None and not value.is_mixed:
            return  # all elements have the type that this iteration knew when it read them
        if wider._type_spec != before._type_spec:
            v.structure = wider
            self._relaxed = True

    def _settle_undefined(
        self, body: Graph, initial: list[Tensor], specs: list[TensorSpec]
    ) -> None:
        """Variables that get their first value in the loop are carried like the others from now."""
        position = 1
        for v in self.variables:
            if v.undefined and v.specs:
                for k, spec in enumerate(v.specs):
                    initial.insert(position + k, dummy(spec))
                    specs.insert(position + k, spec)
                    body.add_input(spec, "loop_var")
                    body.inputs.insert(position + k, body.inputs.pop())
                v.carried = True
            position += len(v.specs) if v.carried else 0

    def _trace_condition(self, specs: list[TensorSpec]) -> Graph:
        graph: Graph = state.graph.nested(f"{self.name}_cond", self.name)
        before = self.get_state()
        with building(graph), staging.block():
            inputs = self._enter(graph, specs)
            goes_on = (
                self.condition(inputs[0])
                if self._limit is None
                else if_exp(inputs[0] < self._limit, lambda: self.condition(inputs[0]), _false)
            )
            graph.outputs = [graph.capture(condition_tensor(goes_on))]
        self.set_state(before)
        return graph

    def condition(self, counter: Tensor) -> Any:
        return self.test()

    def _hand_on(self, out: Sequence[Tensor]) -> None:
        position = 1
        results: list[Any] = []
        for v, after in zip(self.variables, self._after, strict=True):
            if not v.carried:
                keep = v.needed and v.undefined and not _traced(after)
                results.append(after if keep else v.before)
                continue
            n = len(v.specs)
            leaves = list(out[position : position + n])
            # Lists and arrays have learnt the type of their elements in the body.
            results.append(nest.pack_sequence_as(after, leaves, expand_composites=True))
            position += n
            if v.undefined and v.name in self.used_after and not is_internal(v.name):
                Assert(
                    out[0] > 0,
                    [f"'{v.name}' is first defined in a loop that did not run, and used after it."],
                )
        self.set_state(tuple(results))


def _false() -> bool:
    return False


def _traced(value: Any) -> bool:
    return isinstance(value, Undefined) or any(isinstance(leaf, Tensor) for leaf in flatten(value))


def _kind(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


class _StagedFor(StagedLoop):
    """A `for` in the graph: a `while` over the numbers of the elements."""

    def __init__(
        self, elements: tuple[Tensor, Callable[[Tensor], Any]], extra_test: Thunk | None,
        body: Callable[[Any], None], get_state: GetState, set_state: SetState,
        names: Sequence[str], needed: Sequence[str], used_after: Sequence[str],
        appended: Sequence[str], options: Any,
    ) -> None:  # fmt: skip
        self._count, self._read = elements
        self._extra_test, self._loop_body = extra_test, body
        super().__init__(
            lambda: True,
            lambda: None,
            get_state,
            set_state,
            names,
            needed,
            used_after,
            appended,
            options,
        )

    def run_body(self, counter: Tensor) -> None:
        self._loop_body(self._read(counter))

    def condition(self, counter: Tensor) -> Any:
        more = counter < self._count
        if self._extra_test is None:
            return more
        goes_on = self._extra_test()
        return more & convert_to_tensor(goes_on)
