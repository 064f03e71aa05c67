"""`reduce`, and what functions with a state that is carried along have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src.autodiff.calls import call_graph
from weft._src.core import progress
from weft._src.core.aliases import SpecNest, TensorNest
from weft._src.core.context import state
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.core.tracebacks import hides_own_frames
from weft._src.data.core import structure
from weft._src.data.core.base import DatasetBase
from weft._src.data.core.iterators import get_next_op, has_next_op, iterate, run_of
from weft._src.data.core.traced import Call, Traced
from weft._src.ops.control.loop import reduce_dataset_op
from weft._src.ops.control.nested import NestedTrace, share_captures

_MAX_RELAXATIONS = 20


def carried_state(method: str, initial_state: TensorNest) -> tuple[list[Tensor], Any]:
    """The tensors a state starts with, and its spec."""
    try:
        element = structure.normalize(initial_state)
    except (TypeError, ValueError) as e:
        raise type(e)(f"Dataset.{method}: initial_state: {e}") from None
    return structure.flatten_element(element), structure.spec_of_element(element)


def trace_step(
    method: str,
    function: Callable[..., Any],
    state_spec: SpecNest,
    element: TensorNest,
    *,
    pair: bool = False,
) -> tuple[Traced, Any]:
    """A function of (state, element), and the spec of the state.

    Sizes of the state that the function changes become unknown. With `pair` the function returns
    (state, output).
    """
    for _ in range(_MAX_RELAXATIONS):
        f = Traced(function, (state_spec, element), method)
        if pair and not (isinstance(f.output_spec, tuple) and len(f.output_spec) == 2):
            raise TypeError(
                f"Dataset.{method}: the function must return (new state, output), got "
                f"{f.output_spec!r}."
            )
        new = f.output_spec[0] if pair else f.output_spec
        try:
            wider = structure.widened(state_spec, new)
        except (TypeError, ValueError):
            raise TypeError(
                f"Dataset.{method}: the function must return a state of the type of initial_state, "
                f"{state_spec!r}, got {new!r}."
            ) from None
        if wider == state_spec:
            return f, state_spec
        state_spec = wider
    raise AssertionError("a shape has more dimensions than can be relaxed")


class FoldingMethods(DatasetBase):
    """A whole dataset as one value."""

    @hides_own_frames
    def reduce(
        self, initial_state: TensorNest, reduce_func: Callable[..., Any], name: str | None = None
    ) -> Any:
        """The last state of `state = reduce_func(state, element)` over all elements.

        Args:
          initial_state: the state before the first element: a tensor or a structure of tensors.
          reduce_func: a function of (state, element) that returns the new state; it is traced once.

        Returns:
          The last state: `initial_state`, as tensors, if there are no elements.

        Raises:
          TypeError: if the function returns something of another type than `initial_state`.

        >>> tf.data.Dataset.range(5).reduce(np.int64(0), lambda total, x: total + x).numpy()
        np.int64(10)
        """
        initial, spec = carried_state("reduce", initial_state)
        f, spec = trace_step("reduce", reduce_func, spec, self.element_spec)
        if state.graph is not None or not isinstance(self._variant, EagerTensor):
            return self._reduce_in_graph(initial, spec, f, name or reduce_dataset_op.name)
        call = Call(f, [t._value for t in f.captures if isinstance(t, EagerTensor)])
        values = tuple([t._value for t in initial if isinstance(t, EagerTensor)])
        cursor = self._stage.cursor(run_of(self._options))
        try:
            for element in progress.each(
                cursor, "Dataset.reduce", max(self._stage.cardinality(), 0)
            ):
                values = call((*values, *element))
        finally:
            cursor.close()
        return structure.pack(spec, [structure.eager_tensor(value) for value in values])

    def _reduce_in_graph(self, initial: list[Tensor], spec: SpecNest, f: Traced, name: str) -> Any:
        iterator = iterate(self)
        element_specs = tuple(structure.flat_specs(self.element_spec))
        specs = structure.flat_specs(spec)

        def body(*carried: Tensor) -> Any:
            element = get_next_op(iterator._handle, specs=element_specs)
            return list(call_graph(f.graph, [*carried, *element, *f.captures], name=f.name))

        goes_on = NestedTrace(
            lambda *_: has_next_op(iterator._handle),
            f"{name}_cond",
            specs,
            tuple(initial),
            scope=name,
        )
        step = NestedTrace(body, f"{name}_body", specs, tuple(initial), scope=name)
        captured = share_captures([goes_on, step])
        out = reduce_dataset_op(
            *initial, *captured, cond=goes_on.graph, body=step.graph,
            maximum_iterations=None, name=name,
        )  # fmt: skip
        return structure.pack(spec, out)
