"""`weft.explain_gradient(tape, target, source)`: why a gradient is None.

Looks for the way from the source to the target that the gradient would have to go back: through
what the tape recorded, and across the breaks that it noted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from weft._src.autodiff.breaks import Break, Breaks
from weft._src.autodiff.custom import custom_gradient_op
from weft._src.autodiff.sweep import Record, backward
from weft._src.autodiff.tape import GradientTape
from weft._src.core.aliases import TensorNest
from weft._src.core.context import building, recording, state
from weft._src.core.dtypes import resource, variant
from weft._src.core.location import Location
from weft._src.core.tensor import SymbolicTensor, Tensor
from weft._src.graph.ir import Graph, Node
from weft._src.graph.origins import outermost
from weft._src.ops.arrays import fill
from weft._src.ops.arrays.source import identity_op, stop_gradient_op
from weft._src.ops.control.loop import while_op
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
    search = _Search(records, tape.breaks)
    path = search.path(start, end)
    if path is None:
        return _unconnected(records, tape.breaks, start, end, watched)
    return _blocked(path, search)


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
            why = (
                "it was not read while the tape recorded. Compute all that leads to the target "
                "inside of the `with` block."
            )
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
    made: Tensor | None  # the output that the way goes through
    location: Location | None


class _Search:
    """Everything that the source influences, with the first cause.

    Ways on which every op has a gradient come first: if one leads to the target, the break is in a
    nested graph of an op on it, and not in a comparison, say, that also saw the source.
    """

    def __init__(self, records: Sequence[Record], breaks: Breaks) -> None:
        self._records = records
        self._breaks = breaks
        self._cause: dict[int, tuple[int, _Step] | None] = {}
        self._active: dict[int, int] = {}  # number of a break -> the id that leads to it

    def reached(self, start: Tensor) -> dict[int, Any]:
        """The ids of all tensors that the source influences."""
        self._cause = {id(start): None}
        while self._advance_smoothly():
            pass
        while self._advance():
            pass
        return self._cause

    def _advance_smoothly(self) -> bool:
        """Along ops with a gradient, through what can have one."""
        before = len(self._cause)
        for op, inputs, attrs, outputs in self._records:
            if isinstance(op.vjp, Absent):
                continue
            through = next((x for x in inputs if id(x) in self._cause and _carries(x)), None)
            if through is not None:
                carrying = [out for out in outputs if _carries(out)]
                self._note(op, inputs, attrs, outputs, through, carrying)
        return len(self._cause) > before

    def _advance(self) -> bool:
        before = len(self._cause) + len(self._active)
        for number, cut in enumerate(self._breaks.breaks):
            through_break = next((i for i in cut.inputs if i in self._cause), None)
            if through_break is not None:
                self._active.setdefault(number, through_break)
        for op, inputs, attrs, outputs in self._records:
            known = [x for x in inputs if self._known(x)]
            if known:
                through = next((x for x in known if _carries(x)), known[0])
                self._note(op, inputs, attrs, outputs, through, outputs)
        return len(self._cause) + len(self._active) > before

    def _note(
        self,
        op: Op,
        inputs: Sequence[Tensor],
        attrs: dict[str, Any],
        outputs: Sequence[Tensor],
        through: Tensor,
        reached: Sequence[Tensor],
    ) -> None:
        for out in reached:
            if id(out) not in self._cause:
                location = self._location(outputs, out)
                step = _Step(op, attrs, inputs, outputs, out, location)
                self._cause[id(out)] = (id(through), step)

    def _location(self, outputs: Sequence[Tensor], out: Tensor) -> Location | None:
        """Where an op was called: nodes know it, and casts to integers were noted."""
        first = outputs[0]
        if isinstance(first, SymbolicTensor):
            return first.node.location
        return self._breaks.casts.get(id(out))

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

    def knows(self, tensor: Tensor) -> bool:
        """Whether a tensor was reached."""
        return id(tensor) in self._cause

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


def _carries(tensor: Tensor) -> bool:
    """Whether a gradient may come back through a tensor; for a variable it is that of its value."""
    return tensor.dtype.is_differentiable or tensor.dtype in (resource, variant)


def _break_step(cut: Break) -> _Step:
    return _Step(cut.op, {}, (), (), None, cut.location)


def _blocked(path: Sequence[_Step], search: _Search) -> GradientExplanation:
    """The first step through which no gradient can come back."""
    found = _obstacle(path, search)
    if found is not None:
        return found
    own = _custom_gradient(path, search)
    if own is not None:
        return GradientExplanation(
            "not differentiable",
            f"The path goes through {own.attrs['gradient'].name}, whose gradient is written with "
            "tf.custom_gradient and None for this input. Return one.",
            own.location,
        )
    step = next((step for step in path if _gives_nothing(step, search)), path[-1])
    what = f"The gradient of {step.op.name} is nothing for this input."
    return GradientExplanation("not differentiable", what, step.location)


def _custom_gradient(path: Sequence[_Step], search: _Search) -> _Step | None:
    """A step whose gradient the user has written, here or in a nested graph."""
    for step in path:
        if step.op is custom_gradient_op:
            return step
        for inner, inside in _ways(step, search):
            found = _custom_gradient(inner, inside)
            if found is not None:
                return found
    return None


def _gives_nothing(step: _Step, search: _Search) -> bool:
    """Whether the gradient rule of an op that was called returns None for all that was reached."""
    if step.made is None:
        return False
    record = (step.op, tuple(step.inputs), step.attrs, tuple(step.outputs))
    reached = [x for x in step.inputs if search.knows(x) and _carries(x)]
    return not any(_has_gradient([record], step.made, x) for x in reached)


def _obstacle(path: Sequence[_Step], search: _Search) -> GradientExplanation | None:
    for step in path:
        if isinstance(step.op.vjp, Absent):
            return _without_gradient(step.op, step.location)
        if step.made is not None and not _carries(step.made):
            return _integer(step.made, step.location)
        inner = _inside(step, search)
        if inner is not None:
            return inner
    return None


def _without_gradient(op: Op, location: Location | None) -> GradientExplanation:
    if op is stop_gradient_op:
        return GradientExplanation(
            "stop_gradient",
            "The path goes through tf.stop_gradient. Leave it out where a gradient is wanted.",
            location,
        )
    if op.writes:
        return GradientExplanation(
            "variable overwritten",
            "The path goes through an assignment to a variable. Gradients do not: what is read "
            "from the variable afterwards depends on the variable only. Use the value itself.",
            location,
        )
    instead = op.smooth or "tf.custom_gradient can give it one."
    return GradientExplanation(
        "not differentiable",
        f"The path goes through {op.name}, which has no gradient. {instead}",
        location,
    )


def _integer(made: Tensor, location: Location | None) -> GradientExplanation:
    return GradientExplanation(
        "integer",
        f"The path goes through a tensor of dtype {made.dtype.name}: only floating and complex "
        "numbers have gradients. Leave the cast out, and compute with floating numbers.",
        location,
    )


# --- inside of functions, branches and loops -----------------------------------------------------


def _inside(step: _Step, search: _Search) -> GradientExplanation | None:
    """What is in the way in the nested graphs of an op, from any input that was reached."""
    if step.op.kernel is not STRUCTURED or step.made is None or not _nested(step):
        return None
    ways = _ways(step, search)
    if not ways:
        return GradientExplanation(
            "not connected",
            f"{_nested(step)[0].name} gets the source, but what it gives does not depend on it.",
            step.location,
        )
    return next((found for path, inside in ways if (found := _obstacle(path, inside))), None)


def _ways(step: _Step, search: _Search) -> list[tuple[list[_Step], _Search]]:
    """The ways through the nested graphs of an op, from each input that was reached."""
    if step.made is None:
        return []
    places = [i - step.op.nested_offset for i, x in enumerate(step.inputs) if search.knows(x)]
    found = [
        _way_through(step, graph, graph.all_inputs[at], _end(step, graph))
        for graph in _nested(step)
        for at in places
        if at >= 0
    ]
    return [way for way in found if way is not None]


def _end(step: _Step, graph: Graph) -> Tensor:
    """What an output of an op is inside of it; for a variable that it writes, the variable."""
    out = next(i for i, x in enumerate(step.outputs) if x is step.made)
    if out < len(graph.outputs):
        return graph.outputs[out]
    at = next(i for i, x in enumerate(step.inputs) if x is step.made)
    return graph.all_inputs[at - step.op.nested_offset]


def _nested(step: _Step) -> list[Graph]:
    """The graphs that compute what an op gives; the condition of a loop does not."""
    named = [(k, v) for k, v in step.attrs.items() if not (step.op is while_op and k == "cond")]
    values = [v for _, value in named for v in (value if isinstance(value, tuple) else (value,))]
    return [value for value in values if isinstance(value, Graph)]


def _way_through(
    step: _Step, graph: Graph, start: Tensor, end: Tensor
) -> tuple[list[_Step], _Search] | None:
    """The way from an input to an output of a graph, None if there is none."""
    records: list[Record] = [(n.op, n.inputs, n.attrs, _changed(n)) for n in graph.body]
    if step.op is while_op:  # the next iteration goes on with what this one gave
        pairs = zip(graph.outputs, graph.inputs, strict=False)
        records += [(identity_op, (out,), {}, (again,)) for out, again in pairs]
    search = _Search(records, Breaks())
    path = None if start is end else search.path(start, end)
    return None if path is None else (path, search)


def _changed(node: Node) -> tuple[Tensor, ...]:
    """The outputs, and the variables that a node writes."""
    return (*node.outputs, *node.effects.writes)
