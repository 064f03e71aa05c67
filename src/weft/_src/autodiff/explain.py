"""`weft.explain_gradient(tape, target, source)`: why a gradient is None.

Looks for the way from the source to the target that the gradient would have to go back: through
what the tape recorded, and across the breaks that it noted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from weft._src.autodiff.breaks import Break, Breaks
from weft._src.autodiff.sweep import Record, backward
from weft._src.autodiff.tape import GradientTape
from weft._src.core.aliases import TensorNest
from weft._src.core.context import building, recording, state
from weft._src.core.location import Location
from weft._src.core.tensor import SymbolicTensor, Tensor
from weft._src.graph.ir import Graph, Node, outermost
from weft._src.ops.arrays import fill
from weft._src.ops.arrays.source import stop_gradient_op
from weft._src.ops.registry import STRUCTURED, Absent, Op


class GradientExplanation:
    """Whether a gradient exists, and if not, why: `print` it.

    `reason` is one of "connected", "not watched", "numpy", "integer", "stop_gradient", "not
    differentiable", "variable overwritten", "not connected", "used up".
    """

    def __init__(self, reason: str, text: str, location: Location | None = None) -> None:
        self.reason = reason
        self.location = location
        self._text = text

    @property
    def connected(self) -> bool:
        """Whether the target has a gradient with respect to the source."""
        return self.reason == "connected"

    def __repr__(self) -> str:
        if self.location is None:
            return self._text
        line = f"\n    {self.location.text}" if self.location.text else ""
        return f"{self._text}\n  at {self.location}{line}"


def explain_gradient(tape: GradientTape, target: TensorNest, source: Tensor) -> GradientExplanation:
    """Why `tape.gradient(target, source)` is None: where the path between them broke.

    Also works right after `gradient` has used up a tape that is not persistent.

    Args:
      tape: the `tf.GradientTape` that recorded the computation.
      target: the tensor or variable whose gradient was asked for; one, no nest.
      source: the tensor or variable for which the gradient was None.

    Returns:
      A `GradientExplanation` with a `reason` ("connected", "not watched", "not connected",
      "stop_gradient", "integer", "numpy", ...), a sentence about it, and the line of the user's
      code where the path broke, if there is one.

    Raises:
      TypeError: if `tape` is no tape, or if target or source are neither tensor nor variable.

    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = tf.stop_gradient(x) * 2.0
    >>> why = tf.explain_gradient(tape, y, x)
    >>> why.reason
    'stop_gradient'
    """
    if not isinstance(tape, GradientTape):
        raise TypeError(f"explain_gradient: expected a tf.GradientTape, got {tape!r}.")
    start, end = _key(source, "source"), _key(target, "target")
    records, watched = tape._records, tape._watched
    if records is None:
        records, watched = tape.breaks.records, tape.breaks.watched
    if records is None:
        return GradientExplanation(
            "used up",
            "The tape was used up, and there was a gradient for every source. Make it persistent, "
            "tf.GradientTape(persistent=True), to ask it again.",
        )
    if _has_gradient(records, end, start):
        return GradientExplanation("connected", "The target has a gradient for this source.")
    if id(start) not in watched:
        return _not_watched(tape, source, start)
    path = _Search(records, tape.breaks).path(start, end)
    if path is None:
        return _unconnected(records, tape.breaks, start, end, watched)
    return _blocked(path)


def _key(value: Any, name: str) -> Tensor:
    tensor = getattr(value, "handle", value)
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"explain_gradient: the {name} must be a tensor or variable, got {value!r}."
        )
    return tensor if state.graph is None else state.graph.capture(tensor)


def _has_gradient(records: list[Record], target: Tensor, source: Tensor) -> bool:
    if not target.dtype.is_differentiable:
        return False
    scratch = None if state.graph is None else state.graph.nested("explanation")
    with building(scratch), recording(()):
        return backward(records, [target], [fill.ones_like(target)], [source])[0] is not None


# --- nothing leads from the source to the target -------------------------------------------------


def _not_watched(tape: GradientTape, source: Any, start: Tensor) -> GradientExplanation:
    if hasattr(source, "handle"):
        left = _where_it_left(tape.breaks, {id(outermost(start)): True, id(start): True})
        if left is not None:
            return left
        if not source.trainable and tape._watch_variables:
            why = "it is not trainable. Call tape.watch(variable), or create it trainable."
        elif not tape._watch_variables:
            why = "the tape has watch_accessed_variables=False. Call tape.watch(variable)."
        else:
            why = "it was not read while the tape recorded."
        return GradientExplanation(
            "not watched", f"The variable {source.name!r} is not watched: {why}"
        )
    return GradientExplanation(
        "not watched",
        "The source is a tensor that the tape does not watch. Call tape.watch(tensor) before "
        "anything is computed from it. If it was a variable: `v = v + 1` makes a tensor of it, "
        "where v.assign_add(1) keeps it.",
    )


def _unconnected(
    records: list[Record], breaks: Breaks, start: Tensor, end: Tensor, watched: dict[int, Any]
) -> GradientExplanation:
    reached = _Search(records, breaks).reached(start)
    left = _where_it_left(breaks, reached)
    if left is not None:
        return left
    text = "The target was not computed from the source while the tape recorded"
    if id(end) in watched:
        text += ": it was computed from other things that the tape watches."
    else:
        text += (
            ", nor from anything else that the tape watches. What happens before tape.watch, "
            "outside of the `with` block or in tape.stop_recording() is not recorded."
        )
    return GradientExplanation("not connected", text)


def _where_it_left(breaks: Breaks, reached: dict[int, Any]) -> GradientExplanation | None:
    for tensor, location in breaks.left:
        if id(tensor) in reached:
            return GradientExplanation(
                "numpy",
                "The value was taken out as a NumPy array or a Python number; what is computed "
                "from that has no gradient. Use the tf functions instead, or "
                "tf.custom_gradient.",
                location,
            )
    return None


# --- the way from the source to the target -------------------------------------------------------


class _Step(NamedTuple):
    """One op on the way: what it was called on and what came out, as positions; or a break."""

    op: Op
    attrs: dict[str, Any]
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    taken: Tensor | None  # the input and the output that the way goes through
    made: Tensor | None
    location: Location | None


class _Search:
    """Everything that the source influences, in the order in which it did, with the first cause."""

    def __init__(self, records: Sequence[Record], breaks: Breaks) -> None:
        self._records = records
        self._breaks = breaks
        self._cause: dict[int, tuple[int, _Step] | None] = {}
        self._active: dict[int, int] = {}  # number of a break -> the id that leads to it

    def reached(self, start: Tensor) -> dict[int, Any]:
        """The ids of all tensors that the source influences."""
        self._cause = {id(start): None}
        while self._advance():
            pass
        return self._cause

    def _advance(self) -> bool:
        before = len(self._cause) + len(self._active)
        for number, cut in enumerate(self._breaks.breaks):
            through = next((i for i in cut.inputs if i in self._cause), None)
            if through is not None:
                self._active.setdefault(number, through)
        for op, inputs, attrs, outputs in self._records:
            through_input = next((x for x in inputs if self._known(x)), None)
            if through_input is None:
                continue
            for out in outputs:
                step = _Step(op, attrs, inputs, outputs, through_input, out, _location(outputs))
                self._cause.setdefault(id(out), (id(through_input), step))
        return len(self._cause) + len(self._active) > before

    def _known(self, tensor: Tensor) -> bool:
        """Whether a tensor is influenced; one that is behind a break gets this as its cause."""
        if id(tensor) in self._cause:
            return True
        for number in sorted(self._breaks.behind(tensor)):
            if number in self._active:
                step = _break_step(self._breaks.breaks[number])
                self._cause[id(tensor)] = (self._active[number], step)
                return True
        return False

    def path(self, start: Tensor, end: Tensor) -> list[_Step] | None:
        """The steps from the source to the target; None if there is no way."""
        self.reached(start)
        if not self._known(end):
            return None
        steps: list[_Step] = []
        at = id(end)
        while True:
            cause = self._cause[at]
            if cause is None:
                return steps[::-1]
            at, step = cause
            steps.append(step)


def _break_step(cut: Break) -> _Step:
    return _Step(cut.op, {}, (), (), None, None, cut.location)


def _location(outputs: Sequence[Tensor]) -> Location | None:
    first = outputs[0] if outputs else None
    return first.node.location if isinstance(first, SymbolicTensor) else None


def _blocked(path: Sequence[_Step]) -> GradientExplanation:
    """The first step through which no gradient can come back."""
    for step in path:
        if isinstance(step.op.vjp, Absent):
            return _without_gradient(step.op, step.location)
        if step.made is not None and not step.made.dtype.is_differentiable:
            return _integer(step.made, step.location)
        inner = _inside(step)
        if inner is not None:
            return inner
    step = path[-1]
    return GradientExplanation(
        "not differentiable",
        f"The gradient of {step.op.name} is nothing for this input.",
        step.location,
    )


def _without_gradient(op: Op, location: Location | None) -> GradientExplanation:
    if op is stop_gradient_op:
        return GradientExplanation(
            "stop_gradient", "The path goes through tf.stop_gradient.", location
        )
    if op.writes:
        return GradientExplanation(
            "variable overwritten",
            "The path goes through an assignment to a variable. Gradients do not: what is read "
            "from the variable afterwards depends on the variable only. Use the value itself.",
            location,
        )
    return GradientExplanation(
        "not differentiable", f"The path goes through {op.name}, which has no gradient.", location
    )


def _integer(made: Tensor, location: Location | None) -> GradientExplanation:
    return GradientExplanation(
        "integer",
        f"The path goes through a tensor of dtype {made.dtype.name}: only floating and complex "
        "numbers have gradients.",
        location,
    )


# --- inside of functions, branches and loops -----------------------------------------------------


def _inside(step: _Step) -> GradientExplanation | None:
    if step.op.kernel is not STRUCTURED or step.taken is None or step.made is None:
        return None
    at = next(i for i, x in enumerate(step.inputs) if x is step.taken) - step.op.nested_offset
    out = next(i for i, x in enumerate(step.outputs) if x is step.made)
    for value in step.attrs.values():
        for graph in value if isinstance(value, tuple) else (value,):
            if isinstance(graph, Graph) and at >= 0 and out < len(graph.outputs):
                found = _in_graph(graph, graph.all_inputs[at], graph.outputs[out])
                if found is not None:
                    return found
    return None


def _in_graph(graph: Graph, start: Tensor, end: Tensor) -> GradientExplanation | None:
    """What is in the way between an input and an output of a graph; None if nothing is."""
    records = [(n.op, n.inputs, n.attrs, _changed(n)) for n in graph.body]
    path = _Search(records, Breaks()).path(start, end)
    if path is None:
        return None
    if not any(_stops(step) for step in path):
        return None
    return _blocked(path)


def _changed(node: Node) -> tuple[Tensor, ...]:
    """The outputs, and the variables that a node writes."""
    return (*node.outputs, *node.effects.writes)


def _stops(step: _Step) -> bool:
    if isinstance(step.op.vjp, Absent) or step.op.kernel is STRUCTURED:
        return True
    return step.made is not None and not step.made.dtype.is_differentiable
