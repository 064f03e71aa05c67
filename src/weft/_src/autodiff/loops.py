"""Gradients of loops in graphs.

A loop that is to be differentiated counts its iterations and pushes what the gradient reads on
stacks, one for each value that differs between iterations and is not cheaply computed again; a
value that is the same in all of them is returned once. The gradient is a loop that pops.

    while i < n:                      count, stack = 0, []
        y = sin(y) * w                while i < n:
        i = i + 1                         push(stack, y); y = sin(y) * w; i = i + 1; count += 1

                                      gy = gradient of the result, gw = 0
                                      repeat count times:
                                          y = pop(stack)
                                          gw = gw + gy * sin(y)        sin(y) is computed again
                                          gy = gy * w * cos(y)

Only `y` is pushed: `sin(y)` is cheap, `w` and `n` do not change, and nothing else is read. What has
to be pushed is a smallest cut between what is expensive and what the gradient reads (`recompute`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.autodiff.bodies import DifferentiableBody, differentiable
from weft._src.autodiff.calls import call_graph
from weft._src.autodiff.invariants import hoist_reads
from weft._src.autodiff.partial import added, dense
from weft._src.autodiff.recompute import (
    expensive_behind,
    invariant_values,
    values_to_keep,
    with_recomputed,
)
from weft._src.autodiff.sweep import VjpContext, takes_gradient
from weft._src.autodiff.zeros import placeholder_value, shape_for, zeros_for
from weft._src.core import dtypes
from weft._src.core.context import building
from weft._src.core.convert import convert_to_tensor
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import SymbolicTensor, Tensor
from weft._src.graph.ir import Graph
from weft._src.graph.rewrite import Rewriter, copied
from weft._src.ops.control import stack
from weft._src.ops.control.loop import LOOPS, while_loop
from weft._src.ops.elementwise import arithmetic
from weft._src.ops.registry import register_vjp

Attrs = dict[str, Any]


class LoopBody(DifferentiableBody):
    """The body of a loop: its first inputs are the variables, one for each of its outputs."""

    def __init__(self, body: Graph, *, repeatedly: bool) -> None:
        self.n = len(body.outputs)
        self.variables: list[SymbolicTensor] = []  # whose values are pushed, too
        self.once: list[SymbolicTensor] = []  # saved values that are the same in every iteration
        super().__init__(body, repeatedly=repeatedly)

    @property
    def pushed(self) -> list[SymbolicTensor]:
        """What is pushed in every iteration."""
        once = {id(t) for t in self.once}
        return [*self.variables, *[t for t in self.saved if id(t) not in once]]

    def is_passed_on(self, i: int) -> bool:
        """Whether a variable keeps the value it had before the loop."""
        return self.flat.outputs[i] is self.flat.all_inputs[i]

    def _is_there(self, tensor: Any) -> bool:
        position = self.input_position(tensor)
        if position is not None and (position >= self.n or self.is_passed_on(position)):
            return True
        return any(t is tensor for t in (*self.variables, *self.saved))

    _is_kept_anyway = _is_there

    def _keep_more(self, used: list[SymbolicTensor]) -> bool:
        flat = self.flat
        inputs = enumerate(flat.all_inputs)
        unchanging = [x for i, x in inputs if i >= self.n or self.is_passed_on(i)]
        invariant = invariant_values(flat, unchanging)
        kept = values_to_keep(flat, used, lambda t: self._is_there(t) or id(t) in invariant)
        self.variables += [t for t in kept if self.input_position(t) is not None]
        self.saved += [t for t in kept if self.input_position(t) is None]
        once = expensive_behind(used, self._is_there)
        self.once += once
        self.saved += once
        return bool(kept or once)

    def _finished(self, step: Any) -> Any:
        return step.replaced(with_recomputed(step.graph, self.flat, self._is_there))


# --- the loop that saves -------------------------------------------------------------------------


def prepare_while(inputs: Sequence[Any], attrs: Attrs, repeatedly: bool) -> tuple[Any, Attrs, int]:
    """The inputs and attributes of a loop that saves, and how many outputs it had before."""
    body: Graph = attrs["body"]
    n = len(body.outputs)
    if body.saving is not None:
        return inputs, attrs, n
    inputs, attrs = hoist_reads(inputs, attrs)
    made = differentiable(attrs["body"], LoopBody, repeatedly=repeatedly)
    room = [
        TensorSpec([], dtypes.int32),
        *[TensorSpec([], dtypes.variant)] * len(made.pushed),
        *[t.spec for t in made.once],
    ]
    new_body, mapped = _with_room(made.flat, n, room)
    with building(new_body):
        count, *stacks = new_body.inputs[n : n + 1 + len(made.pushed)]
        pushed = [stack.push_op(s, mapped[t]) for s, t in zip(stacks, made.pushed, strict=True)]
        counted = arithmetic.add_op(count, convert_to_tensor(1))
    outputs = [mapped[t] for t in made.flat.outputs]
    new_body.outputs = [*outputs, counted, *pushed, *[mapped[t] for t in made.once]]
    new_cond, mapped_cond = _with_room(attrs["cond"], n, room)
    new_cond.outputs = [mapped_cond[t] for t in attrs["cond"].outputs]
    new_body.saving = made
    empty = [stack.reserve_op(convert_to_tensor(0), dtype=t.dtype) for t in made.pushed]
    more = [convert_to_tensor(0), *empty, *[placeholder_value(t.spec) for t in made.once]]
    return (
        (*inputs[:n], *more, *inputs[n:]),
        {**attrs, "cond": new_cond, "body": new_body},
        n,
    )


def _with_room(graph: Graph, at: int, room: Sequence[TensorSpec]) -> tuple[Graph, Rewriter]:
    """A copy of a loop's graph with more variables behind its own: a counter and saved values."""
    mapped = copied(graph)
    new = mapped.new
    inputs = new.all_inputs
    new._captures.clear()
    more = [new.add_input(spec, "saved") for spec in room]
    new.inputs = [*inputs[:at], *more, *inputs[at:]]
    return new, mapped


# --- the loop that goes back ---------------------------------------------------------------------


def _while_vjp(ctx: VjpContext, *gs: Tensor | None) -> tuple[Tensor | None, ...]:
    return _LoopGradient(ctx, gs).run()


class _LoopGradient:
    """The loop that goes backwards through the iterations of another one."""

    def __init__(self, ctx: VjpContext, gs: Sequence[Tensor | None]) -> None:
        self._ctx, self._gs = ctx, gs
        self._made: LoopBody = ctx.attrs["body"].saving
        self._n = n = self._made.n
        self._pushed = self._made.pushed
        first_once = n + 1 + len(self._pushed)
        self._first_outer = first_once + len(self._made.once)
        inputs = self._made.flat.all_inputs
        # Of each input of the body, what it is outside: where it goes in, and the tensor there.
        self._position = [i if i < n else self._first_outer + i - n for i in range(len(inputs))]
        takes = [i for i, x in enumerate(inputs) if takes_gradient(x)]
        self._variables = [i for i in takes if i < n and not self._made.is_passed_on(i)]
        self._outer = [i for i in takes if i >= n or self._made.is_passed_on(i)]
        self._outer = [i for i in self._outer if ctx.wants(self._position[i])]
        self._saved_gradients = dict(
            zip(map(id, self._pushed), gs[n + 1 : first_once], strict=True)
        )
        self._once_gradients = list(gs[first_once : self._first_outer])

    def _outside(self, i: int) -> Tensor:
        return self._ctx.inputs[self._position[i]]

    def run(self) -> tuple[Tensor | None, ...]:
        step, outer, by_rows = self._step()
        state, shapes = self._start(outer, by_rows)

        def backwards(*state: Any) -> Any:
            return self._iteration(step, outer, by_rows, *state)

        _, carried, sums, *_ = while_loop(
            lambda k, *_: k > 0, backwards, state, shape_invariants=shapes
        )
        return self._by_input(carried, dict(zip(outer, sums, strict=True)), by_rows)

    def _step(self) -> tuple[Any, list[int], list[int]]:
        """The gradient of one iteration, and the inputs from outside it adds to: some in place."""
        made = self._made
        inputs = made.flat.all_inputs
        once = dict(zip(map(id, made.once), self._once_gradients, strict=True))
        given = tuple(
            [i in self._variables for i in range(self._n)]
            + [(once | self._saved_gradients)[id(t)] is not None for t in made.saved]
        )
        wanted = tuple([i in self._variables or i in self._outer for i in range(len(inputs))])
        step = made.step(given, wanted)
        # Stacks, and tensors that are read row by row, are added to in place.
        outer = [i for i in self._outer if step.connected[i]]
        by_rows = [i for i in outer if inputs[i].dtype is dtypes.variant or step.rows_only[i]]
        self._specs = {i: step.gradient_spec(i) for i in outer}
        if by_rows:
            step = made.step(given, wanted, tuple([i in by_rows for i in range(len(inputs))]))
        return step, outer, by_rows

    def _start(self, outer: list[int], by_rows: list[int]) -> tuple[Any, Any]:
        """What the loop begins with, behind the last iteration, and the shapes it keeps."""
        ctx, inputs = self._ctx, self._made.flat.all_inputs
        carried = [
            zeros_for(ctx.outputs[i]) if self._gs[i] is None else self._gs[i]
            for i in self._variables
        ]
        sums = [
            stack.zeros_op() if i in by_rows else zeros_for(self._outside(i), self._specs[i])
            for i in outer
        ]
        stacks = list(ctx.outputs[self._n + 1 : self._n + 1 + len(self._pushed)])
        gradient_stacks = [g for g in self._saved_gradients.values() if g is not None]
        last = [g for g in self._once_gradients if g is not None]
        state = (ctx.outputs[self._n], carried, sums, stacks, gradient_stacks, last)
        shapes = (
            TensorShape([]),
            [inputs[i].shape for i in self._variables],
            [s.shape for s in sums],
            [TensorShape([])] * len(stacks),
            [TensorShape([])] * len(gradient_stacks),
            [g.shape for g in last],
        )
        return state, shapes

    def _by_input(
        self, carried: list[Tensor], sums: dict[int, Tensor], by_rows: list[int]
    ) -> tuple[Tensor | None, ...]:
        """The gradients in the order of the loop's inputs."""
        inputs = self._made.flat.all_inputs
        found: list[Tensor | None] = [None] * len(self._ctx.inputs)
        for i, g in zip(self._variables, carried, strict=True):
            found[i] = g
        for i in range(self._n):
            if self._made.is_passed_on(i):
                found[i] = self._gs[i]
        for i, g in sums.items():
            if i in by_rows and inputs[i].dtype is not dtypes.variant:
                spec = self._specs[i]
                g = stack.to_shape_op(g, shape_for(self._outside(i), spec), dtype=spec.dtype)
            at = self._position[i]
            found[at] = g if found[at] is None else added(found[at], g)  # type: ignore[arg-type]
        return tuple(found)

    def _iteration(
        self, step: Any, outer: list[int], by_rows: list[int],
        k: Tensor, carried: list[Tensor], sums: list[Tensor],
        stacks: list[Tensor], gradient_stacks: list[Tensor], last: list[Tensor],
    ) -> Any:  # fmt: skip
        made, ctx = self._made, self._ctx
        popped = [
            stack.pop_op(s, dtype=t.dtype, shape=t.spec.dims)
            for s, t in zip(stacks, self._pushed, strict=True)
        ]
        value = {id(t): v for t, (_, v) in zip(self._pushed, popped, strict=True)}
        first_once = self._first_outer - len(made.once)
        value |= {id(t): ctx.outputs[first_once + i] for i, t in enumerate(made.once)}
        remaining = iter(gradient_stacks)
        rest: list[Any] = []
        arrived: dict[int, Tensor] = {}  # the gradients of what was saved in this iteration
        for t in self._pushed:
            if self._saved_gradients[id(t)] is not None:
                left, g = stack.pop_op(next(remaining), dtype=t.dtype, shape=t.spec.dims)
                rest.append(left)
                arrived[id(t)] = g
        at_end = iter(last)
        for t, once in zip(made.once, self._once_gradients, strict=True):
            if once is not None:
                arrived[id(t)] = next(at_end)

        def found(tensor: SymbolicTensor) -> Tensor:
            if id(tensor) in value:
                return value[id(tensor)]
            position = made.input_position(tensor)
            assert position is not None
            return self._outside(position)

        total = dict(zip(outer, sums, strict=True))
        results = step.gradients(
            call_graph(
                step.graph,
                [
                    *carried,
                    *[arrived[id(t)] for t in made.saved if id(t) in arrived],
                    *[total[i] for i in by_rows],
                    *[found(t) for t in step.uses],
                ],
            )
        )
        inputs = made.flat.all_inputs
        new = []
        for i, g in zip(self._variables, carried, strict=True):
            mine: Any = zeros_for(g) if results[i] is None else dense(results[i])
            if id(inputs[i]) in arrived:
                mine = _add(mine, arrived[id(inputs[i])])
            if mine.dtype is not dtypes.variant:
                mine.set_shape(inputs[i].shape)
            new.append(mine)
        summed = [results[i] if i in by_rows else _add(total[i], dense(results[i])) for i in outer]
        nothing = [zeros_for(g) for g in last]  # for the iterations before the last one
        return k - 1, new, summed, [left for left, _ in popped], rest, nothing


def _add(a: Tensor, b: Tensor) -> Tensor:
    out = added(a, b)
    if a.dtype is not dtypes.variant:
        out.set_shape(a.shape)
    return out


for _loop in LOOPS:
    register_vjp(_loop, _while_vjp)
