"""Gradients of branches and loops in graphs.

A node that is to be differentiated is replaced by one that also returns what its gradient needs: a
branch returns its inner values (the other branches something in their place), a loop pushes those
of every iteration on stacks. The gradient of a conditional is a conditional on the same condition;
that of a loop is a loop that pops the stacks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.autodiff import bodies
from weft.autodiff.bodies import DifferentiableBody, differentiable
from weft.autodiff.calls import call_graph
from weft.autodiff.invariants import hoist_reads
from weft.autodiff.sweep import takes_gradient
from weft.core import dtypes
from weft.core.context import building
from weft.core.convert import convert_to_tensor
from weft.core.shapes import TensorShape
from weft.core.specs import TensorSpec
from weft.core.tensor import SymbolicTensor, Tensor
from weft.graph.ir import Graph, Node, is_resource
from weft.graph.rewrite import Rewriter, copied
from weft.ops.array import fill
from weft.ops.control import stack
from weft.ops.control.branch import case_op, cond, if_op, switch_case
from weft.ops.control.loop import while_loop, while_op
from weft.ops.dispatch import install_structured_preparation
from weft.ops.math import arithmetic
from weft.ops.registry import Op, register_vjp
from weft.ops.state.variables import read_op

Attrs = dict[str, Any]


class _Saving:
    """How a node with saved values is put together, kept with its (first) nested graph."""

    def __init__(
        self, bodies_: Sequence[DifferentiableBody], n_outputs: int, n_loop: int = 0
    ) -> None:
        self.bodies = list(bodies_)
        self.n_outputs = n_outputs  # what the node returned before
        self.n_loop = n_loop


def prepare(
    op: Op, inputs: Sequence[Any], attrs: Attrs, repeatedly: bool
) -> tuple[Any, Attrs, int]:
    """The inputs and attributes of a node that saves, and how many outputs it had before."""
    if op is while_op:
        return _prepare_while(inputs, attrs, repeatedly)
    branches: tuple[Graph, ...] = attrs["branches"]
    n = len(branches[0].outputs)
    if branches[0].saving is not None:
        return inputs, attrs, n
    made = [differentiable(branch, repeatedly=repeatedly) for branch in branches]
    graphs = tuple([_branch_with_saved(k, made) for k in range(len(made))])
    for graph in graphs:
        graph.saving = _Saving(made, n)
    return inputs, {**attrs, "branches": graphs}, n


def _branch_with_saved(k: int, made: Sequence[DifferentiableBody]) -> Graph:
    mapped = copied(made[k].flat)
    graph = mapped.new
    outputs = [mapped[t] for t in made[k].flat.outputs]
    with building(graph):
        for j, body in enumerate(made):
            outputs += [
                mapped[t] if j == k else graph.capture(_placeholder_value(t.spec))
                for t in body.saved
            ]
    graph.outputs = outputs
    return graph


def _placeholder_value(spec: TensorSpec) -> Tensor:
    """What a branch returns in place of a value that only another branch has."""
    if spec.dtype is dtypes.variant:
        return stack.reserve_op(convert_to_tensor(0), dtype=dtypes.float32)
    dims = [] if spec.dims is None else [d if type(d) is int else 0 for d in spec.dims]
    return fill.zeros(dims, spec.dtype)


def _zeros(tensor: Tensor, like: TensorSpec | None = None) -> Tensor:
    """A gradient of zeros for a tensor, a stack, or (given its type) a variable's handle."""
    if tensor.dtype is dtypes.variant:
        return stack.zeros_op()
    if is_resource(tensor):
        assert like is not None
        if like.is_static:
            return fill.zeros(like.shape, like.dtype)
        return fill.zeros_like(read_op(tensor, dtype=like.dtype, shape=like.dims))
    if tensor.spec.is_static:  # needs no value, so none has to be saved for it
        return fill.zeros(tensor.shape, tensor.dtype)
    return fill.zeros_like(tensor)


# --- branches ------------------------------------------------------------------------------------


def _branches_vjp(choose: Callable[[Tensor, list[Any]], Any]) -> Callable[..., Any]:
    def vjp(ctx: Any, *gs: Tensor | None) -> tuple[Tensor | None, ...]:
        saving: _Saving = ctx.attrs["branches"][0].saving
        selector, *inputs = ctx.inputs
        wanted = tuple([ctx.wants(i + 1) and takes_gradient(x) for i, x in enumerate(inputs)])
        steps = [_branch_step(saving, k, gs, wanted) for k in range(len(saving.bodies))]
        reached = [i for i in range(len(inputs)) if any(step.connected[i] for step, _ in steps)]
        if not reached:
            return (None,) * len(ctx.inputs)
        functions = [
            _branch_gradient(ctx, saving, k, step, seeds, reached, steps)
            for k, (step, seeds) in enumerate(steps)
        ]
        found = dict(zip(reached, choose(selector, functions), strict=True))
        return (None, *[found.get(i) for i in range(len(inputs))])

    return vjp


def _branch_step(saving: _Saving, k: int, gs: Sequence[Any], wanted: tuple[bool, ...]) -> Any:
    """The backward graph of a branch, and the gradients that it starts from."""
    mine = list(gs[: saving.n_outputs])
    position = saving.n_outputs
    for j, body in enumerate(saving.bodies):
        if j == k:
            mine += gs[position : position + len(body.saved)]
        position += len(body.saved)
    given = tuple([g is not None for g in mine])
    return saving.bodies[k].step(given, wanted), [g for g in mine if g is not None]


def _branch_gradient(
    ctx: Any,
    saving: _Saving,
    k: int,
    step: Any,
    seeds: list[Tensor],
    reached: list[int],
    steps: Any,
) -> Callable[[], list[Tensor]]:
    body = saving.bodies[k]
    offset = saving.n_outputs + sum(len(b.saved) for b in saving.bodies[:k])
    saved = {id(t): offset + i for i, t in enumerate(body.saved)}
    saved |= {id(t): i for i, t in reversed(list(enumerate(body.flat.outputs)))}

    def value(tensor: SymbolicTensor) -> Tensor:
        position = body.input_position(tensor)
        if position is not None:
            return ctx.inputs[position + 1]
        return ctx.outputs[saved[id(tensor)]]

    def gradient() -> list[Tensor]:
        found = iter(call_graph(step.graph, [*seeds, *[value(t) for t in step.uses]]))
        by_input = {i: next(found) for i, c in enumerate(step.connected) if c}
        out = []
        for i in reached:
            like = next(_gradient_spec(s, i) for s, _ in steps if s.connected[i])
            out.append(by_input[i] if i in by_input else _zeros(ctx.inputs[i + 1], like))
        return out

    return gradient


def _gradient_spec(step: Any, i: int) -> TensorSpec:
    position = sum(step.connected[:i])
    return step.graph.outputs[position].spec


register_vjp(if_op, _branches_vjp(lambda selector, fns: cond(selector, *fns)))
register_vjp(case_op, _branches_vjp(switch_case))


# --- loops ---------------------------------------------------------------------------------------


def _prepare_while(inputs: Sequence[Any], attrs: Attrs, repeatedly: bool) -> tuple[Any, Attrs, int]:
    body: Graph = attrs["body"]
    n = len(body.outputs)
    if body.saving is not None:
        return inputs, attrs, n
    inputs, attrs = hoist_reads(inputs, attrs)
    body = attrs["body"]
    made = differentiable(body, repeatedly=repeatedly)
    kept = _per_iteration(made, n)
    extra = 1 + len(kept)  # a count of iterations, and a stack for each value
    new_body, mapped = _with_room(made.flat, n, extra)
    with building(new_body):
        count, *stacks = new_body.inputs[n : n + extra]
        pushed = [stack.push_op(s, mapped[t]) for s, t in zip(stacks, kept, strict=True)]
        counted = arithmetic.add_op(count, convert_to_tensor(1))
    outputs = [mapped[t] for t in made.flat.outputs]
    new_body.outputs = [*outputs, counted, *pushed]
    new_cond, mapped_cond = _with_room(attrs["cond"], n, extra)
    new_cond.outputs = [mapped_cond[t] for t in attrs["cond"].outputs]
    new_body.saving = _Saving([made], n, n_loop=n)
    empty = [stack.reserve_op(convert_to_tensor(0), dtype=dtypes.float32) for _ in kept]
    more = [convert_to_tensor(0), *empty]
    return (
        (*inputs[:n], *more, *inputs[n:]),
        {**attrs, "cond": new_cond, "body": new_body},
        n,
    )


def _per_iteration(made: DifferentiableBody, n: int) -> list[SymbolicTensor]:
    """The values that change from iteration to iteration and that the gradient may need."""
    variables = made.flat.all_inputs[:n]
    used = {id(t) for t in _all_uses(made)}
    return [*[x for x in variables if id(x) in used], *made.saved]


def _all_uses(made: DifferentiableBody) -> list[SymbolicTensor]:
    every_output = tuple([takes_gradient(t) for t in made.outputs])
    every_input = (True,) * len(made.flat.all_inputs)
    return made.step(every_output, every_input).uses


def _with_room(graph: Graph, at: int, extra: int) -> tuple[Graph, Rewriter]:
    """A copy of a loop's graph with more variables behind its own: a counter and stacks."""
    mapped = copied(graph)
    new = mapped.new
    inputs = new.all_inputs
    new._captures.clear()
    counter = new.add_input(TensorSpec([], dtypes.int32), "count")
    stacks = [new.add_input(TensorSpec([], dtypes.variant), "saved") for _ in range(extra - 1)]
    new.inputs = [*inputs[:at], counter, *stacks, *inputs[at:]]
    return new, mapped


def _while_vjp(ctx: Any, *gs: Tensor | None) -> tuple[Tensor | None, ...]:
    return _LoopGradient(ctx, gs).run()


class _LoopGradient:
    """The loop that goes backwards through the iterations of another one."""

    def __init__(self, ctx: Any, gs: Sequence[Tensor | None]) -> None:
        self._ctx, self._gs = ctx, gs
        saving: _Saving = ctx.attrs["body"].saving
        self._made = saving.bodies[0]
        self._n = saving.n_loop
        self._kept = _per_iteration(self._made, self._n)
        self._outside = ctx.inputs[self._n + 1 + len(self._kept) :]

    def run(self) -> tuple[Tensor | None, ...]:
        ctx, n = self._ctx, self._n
        inputs = self._made.flat.all_inputs
        variables = [i for i in range(n) if takes_gradient(inputs[i])]
        saved_gradients = self._gs[n + 1 :]
        given = tuple(
            [i in variables for i in range(n)]
            + [self._has_saved_gradient(t) for t in self._made.saved]
        )
        first = n + 1 + len(self._kept)
        wanted = tuple(
            [i in variables for i in range(n)]
            + [takes_gradient(x) and ctx.wants(first + i) for i, x in enumerate(self._outside)]
        )
        step = self._made.step(given, wanted)
        outer = [i for i in range(n, len(inputs)) if step.connected[i]]
        carried = [
            self._gs[i] if self._gs[i] is not None else _zeros(ctx.outputs[i]) for i in variables
        ]
        sums = [_zeros(self._outside[i - n], _gradient_spec(step, i)) for i in outer]
        stacks = list(ctx.outputs[n + 1 : n + 1 + len(self._kept)])
        gradient_stacks = [g for g in saved_gradients if g is not None]
        state = (ctx.outputs[n], carried, sums, stacks, gradient_stacks)
        shapes = (
            TensorShape([]),
            [inputs[i].shape for i in variables],
            [s.shape for s in sums],
            [TensorShape([])] * len(stacks),
            [TensorShape([])] * len(gradient_stacks),
        )

        def backwards(k: Any, carried: Any, sums: Any, stacks: Any, gradient_stacks: Any) -> Any:
            return self._iteration(
                step, variables, outer, k, carried, sums, stacks, gradient_stacks
            )

        _, carried, sums, _, _ = while_loop(
            lambda k, *_: k > 0, backwards, state, shape_invariants=shapes
        )
        found: list[Tensor | None] = [None] * len(ctx.inputs)
        for i, g in zip(variables, carried, strict=True):
            found[i] = g
        for i, g in zip(outer, sums, strict=True):
            found[first + i - n] = g
        return tuple(found)

    def _has_saved_gradient(self, tensor: SymbolicTensor) -> bool:
        position = next(i for i, t in enumerate(self._kept) if t is tensor)
        return self._gs[self._n + 1 + position] is not None

    def _iteration(
        self, step: Any, variables: list[int], outer: list[int],
        k: Tensor, carried: list[Tensor], sums: list[Tensor],
        stacks: list[Tensor], gradient_stacks: list[Tensor],
    ) -> Any:  # fmt: skip
        popped = [
            stack.pop_op(s, dtype=t.dtype, shape=t.spec.dims)
            for s, t in zip(stacks, self._kept, strict=True)
        ]
        value = {id(t): v for t, (_, v) in zip(self._kept, popped, strict=True)}
        remaining = iter(gradient_stacks)
        popped_gradients: list[Any] = []
        seeds = list(carried)
        at_start: dict[int, Tensor] = {}  # of variables, whose values were saved too
        for t in self._kept:
            if not self._has_saved_gradient(t):
                continue
            rest, g = stack.pop_op(next(remaining), dtype=t.dtype, shape=t.spec.dims)
            popped_gradients.append(rest)
            position = self._made.input_position(t)
            if position is None:
                seeds.append(g)
            else:
                at_start[position] = g

        def found(tensor: SymbolicTensor) -> Tensor:
            if id(tensor) in value:
                return value[id(tensor)]
            position = self._made.input_position(tensor)
            assert position is not None
            return self._outside[position - self._n]

        results = iter(call_graph(step.graph, [*seeds, *[found(t) for t in step.uses]]))
        by_input = {i: next(results) for i, c in enumerate(step.connected) if c}
        inputs = self._made.flat.all_inputs
        new = []
        for i, g in zip(variables, carried, strict=True):
            made = by_input.get(i)
            made = _zeros(g) if made is None else made
            if i in at_start:
                made = _add(made, at_start[i])
            if made.dtype is not dtypes.variant:
                made.set_shape(inputs[i].shape)  # type: ignore[attr-defined]
            new.append(made)
        added = [_add(s, by_input[i]) for i, s in zip(outer, sums, strict=True)]
        return k - 1, new, added, [rest for rest, _ in popped], popped_gradients


def _add(a: Tensor, b: Tensor) -> Tensor:
    if a.dtype is dtypes.variant:
        return stack.add_stacks_op(a, b)
    out = arithmetic.add_op(a, b)
    out.set_shape(a.shape)
    return out


register_vjp(while_op, _while_vjp)


# --- where it is used ----------------------------------------------------------------------------


def _prepare_graph(graph: Graph, repeatedly: bool) -> Graph:
    """The graph with all its branches and loops saving what their gradients need."""
    if not any(node.op in (if_op, case_op, while_op) for node in graph.nodes):
        return graph
    rewriter = Rewriter(graph)
    with building(rewriter.new):
        for node in graph.nodes:
            if node.op in (if_op, case_op, while_op):
                _rewrite(rewriter, node, repeatedly)
            elif node.op.name != "Placeholder":
                rewriter.copy(node)
    return rewriter.finish()


def _rewrite(rewriter: Rewriter, node: Node, repeatedly: bool) -> None:
    inputs = [rewriter[x] for x in node.inputs]
    new_inputs, attrs, n = prepare(node.op, inputs, node.attrs, repeatedly)
    _, out = rewriter.new.add_op(node.op, tuple(new_inputs), attrs, node.name)
    rewriter.new.nodes[-1].location = node.location
    for old, new in zip(node.outputs, out[:n], strict=True):
        rewriter[old] = new


bodies.prepare_control_flow.append(_prepare_graph)
install_structured_preparation(prepare)
