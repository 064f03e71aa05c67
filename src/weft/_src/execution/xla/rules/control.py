"""Branches, loops and calls. Variables that a branch or loop writes go through it as values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from weft._src.core import dtypes
from weft._src.execution.native.loops.values import NotCompilableError
from weft._src.execution.xla.lowering import Cell, Lowering, Value
from weft._src.execution.xla.rules import lowers
from weft._src.execution.xla.rules.counting import Steady, stays_in_range, steady, turns_of
from weft._src.execution.xla.stack_values import GUESSED, StackValue, traced, unified
from weft._src.graph.ir import Graph, Node

_ROUNDS = 6  # how often a loop is looked at until the lists in it have found their form


@lowers("call")
def _call(lowering: Lowering, node: Node, *inputs: Value) -> list[Any]:
    return lowering.run(node.attrs["body"], inputs)


@lowers("identities")
def _identities(lowering: Lowering, node: Node, *inputs: Value) -> Sequence[Any]:
    return inputs[: len(node.outputs)]


# --- branches ------------------------------------------------------------------------------------


@lowers("if")
def _if(lowering: Lowering, node: Node, condition: Value, *inputs: Value) -> Sequence[Any]:
    then, otherwise = node.attrs["branches"]
    if isinstance(condition, np.ndarray):
        return lowering.run(then if condition else otherwise, inputs)
    return _switch(lowering, node, condition.astype(jnp.int32), [otherwise, then], inputs)


@lowers("case")
def _case(lowering: Lowering, node: Node, index: Value, *inputs: Value) -> Sequence[Any]:
    branches = node.attrs["branches"]
    last = len(branches) - 1
    if isinstance(index, np.ndarray):
        return lowering.run(branches[index if 0 <= index <= last else last], inputs)
    at = jnp.where((index >= 0) & (index <= last), index, last).astype(jnp.int32)
    return _switch(lowering, node, at, list(branches), inputs)


class _Branch:
    """One of the graphs, as a function without arguments: what it uses is taken from around it."""

    def __init__(self, lowering: Lowering, graph: Graph, inputs: Value, keys: list[int]) -> None:
        self._around, self._graph, self._inputs, self._keys = lowering, graph, inputs, keys
        self.kinds: list[Any] = []  # what the results have to become

    def __call__(self) -> Any:
        inner = self._around.nested()
        out = inner.run(self._graph, self._inputs)
        # A handle is no value: all branches must return the same one, which is looked at outside.
        self.cells = [x if isinstance(x, Cell) else None for x in out]
        values = [None if isinstance(x, Cell) else traced(x) for x in out]
        for kind in self.kinds:
            values = [unified(x, other, 0) for x, other in zip(values, kind, strict=True)]
        self.checks, self.grows = inner.bad is not None, inner.full is not None
        state = {key: jnp.asarray(inner.state[key]) for key in self._keys}
        return values, state, _bit(inner.bad), _bit(inner.full)


def _switch(
    lowering: Lowering, node: Node, index: Value, graphs: list[Graph], inputs: Sequence[Any]
) -> Sequence[Any]:
    keys = _written(node, inputs)
    branches = [_Branch(lowering, graph, inputs, keys) for graph in graphs]
    if any(t.dtype is dtypes.variant for t in node.outputs):
        kinds = [jax.eval_shape(branch)[0] for branch in branches]
        for branch in branches:
            branch.kinds = kinds
    _refuse_unknown(node)
    values, state, bad, full = jax.lax.switch(index, branches)
    lowering.state.update(state)
    if any(branch.checks for branch in branches):
        lowering.check(bad)
    if any(branch.grows for branch in branches):
        lowering.check_room(full)
    return [c if v is None else v for v, c in zip(values, _agreed(node, branches), strict=True)]


def _agreed(node: Node, branches: list[_Branch]) -> list[Any]:
    """The handles that branches return."""
    first = branches[0].cells
    if any(b.cells != first for b in branches):
        raise NotCompilableError("branches return different variables", node)
    return first


def _written(node: Node, inputs: Sequence[Any]) -> list[int]:
    """The keys of the variables that a node with nested graphs writes."""
    position = {id(x): i for i, x in enumerate(node.inputs[node.op.nested_offset :])}
    cells = [inputs[position[id(t)]] for t in node.effects.writes]
    if not all(isinstance(cell, Cell) for cell in cells):
        raise NotCompilableError("what it writes is no variable", node)
    return [cell.key for cell in cells]


def _bit(value: Value) -> Any:
    return jnp.zeros((), bool) if value is None else value


def _refuse_unknown(node: Node) -> None:
    for out in node.outputs:
        if not out.spec.is_static and out.dtype is not dtypes.variant:
            raise NotCompilableError(f"the shape of a result of {node.name} depends on data", node)


# --- loops ---------------------------------------------------------------------------------------


@lowers("while")
def _while(lowering: Lowering, node: Node, *inputs: Value) -> Sequence[Any]:
    _refuse_unknown(node)
    loop = _Loop(lowering, node, inputs)
    values, state, bad, full = loop.run()
    lowering.state.update(state)
    if loop.checks:
        lowering.check(bad)
    if loop.grows:
        lowering.check_room(full)
    out = loop.with_steady_ends(values)
    return [f if f is not None else value for value, f in zip(out, loop.fixed, strict=True)]


class _Loop:
    """A loop whose variables, written variables and checks are carried from turn to turn."""

    def __init__(self, lowering: Lowering, node: Node, inputs: Sequence[Any]) -> None:
        self._around, self._node = lowering, node
        n = len(node.outputs)
        initial, self._captured = list(inputs[:n]), list(inputs[n:])
        # Handles of variables pass through unchanged.
        self.fixed = [x if isinstance(x, Cell) else None for x in initial]
        self._keys = _written(node, inputs)
        body = node.attrs["body"]
        found = [steady(body, i, x) for i, x in enumerate(initial)]
        self._times = turns_of(node, list(inputs), found)
        self._steady = [
            s if s is not None and _is_steady(s, x, self._times) else None
            for s, x in zip(found, initial, strict=True)
        ]
        # XLA counts the turns of a loop itself, and takes a counter that wraps for one that does
        # not. It does not recognise one that is carried in another dtype.
        self._wraps = [
            s is not None and self._times is None and isinstance(x, np.ndarray)
            for s, x in zip(found, initial, strict=True)
        ]
        self._turn: Any = None  # the number of the turn that is being traced, if there is one
        self._kinds: list[Any] = [x.dtype if isinstance(x, np.ndarray) else None for x in initial]
        self.checks = self.grows = False
        self._fits = True
        self._start = [
            None if isinstance(x, Cell) else self._carried(i, traced(_settled(x)))
            for i, x in enumerate(initial)
        ]
        if any(isinstance(x, StackValue) for x in self._start):
            self._find_form()

    def run(self) -> Any:
        """What is carried after the last turn."""
        carry = self._carry()
        if self._times is not None:
            return jax.lax.fori_loop(np.int32(0), np.int32(self._times), self._body_of_turn, carry)
        limit: int | None = self._node.attrs["maximum_iterations"]
        if limit is None:
            return jax.lax.while_loop(self._condition, self._body, carry)
        _, out = jax.lax.while_loop(
            lambda c: (c[0] < limit) & self._condition(c[1]),
            lambda c: (c[0] + 1, self._body(c[1])),
            (jnp.zeros((), jnp.int64), carry),
        )
        return out

    def _carry(self) -> Any:
        state = {key: jnp.asarray(self._around.state[key]) for key in self._keys}
        return self._start, state, _bit(None), _bit(None)

    def _find_form(self) -> None:
        """Looks at the body until lists have the elements, memory and flags it gives them."""
        times = GUESSED if self._times is None else self._times
        room = [_capacity(x) for x in self._start]
        for turn in range(_ROUNDS):
            self._fits = turn > 0
            turn_number = jax.ShapeDtypeStruct((), np.int32)
            after = jax.eval_shape(self._body_of_turn, turn_number, self._carry())[0]
            if _form(after) == _form(self._start):
                return
            if not turn:  # a loop inside of this one may append many at once
                more = [_growth(x, y) for x, y in zip(self._start, after, strict=True)]
                room = [n + max(times, 1) * m * self._around.scale for n, m in zip(room, more)]
            self._start = [
                unified(x, y, n) for x, y, n in zip(self._start, after, room, strict=True)
            ]
        raise NotCompilableError("the elements of a list have no one shape", self._node)

    # --- what need not be carried ------------------------------------------------------------

    def _carried(self, i: int, value: Any) -> Any:
        """What is carried of a loop variable: not what the number of the turn tells."""
        if self._wraps[i]:
            return value.astype(_other(self._kinds[i]))
        if self._steady[i] is None:
            return value
        return value.replace(length=None) if isinstance(value, StackValue) else None

    def _in_turn(self, inner: Lowering, i: int, value: Any, turn: Value) -> Any:
        """A loop variable as it is in a turn."""
        found = self._steady[i]
        if self._wraps[i]:
            return value.astype(self._kinds[i])
        if found is None:
            return value
        assert self._times is not None
        low, high = found.bounds(self._times)
        if isinstance(value, StackValue):
            if not found.step:
                return value.replace(length=np.asarray(found.start, np.int32))
            length = found.start + turn * found.step
            return value.replace(length=length.astype(jnp.int32), bounds=(low, high))
        number = (found.start + turn.astype(jnp.int64) * found.step).astype(self._kinds[i])
        return inner.bounded(number, low, high)

    def with_steady_ends(self, values: list[Any]) -> list[Any]:
        """What is carried after the last turn, with what the number of turns tells."""
        out = list(values)
        for i, found in enumerate(self._steady):
            if self._wraps[i]:
                out[i] = out[i].astype(self._kinds[i])
            if found is None:
                continue
            assert self._times is not None
            end = found.after(self._times)
            if isinstance(out[i], StackValue):
                out[i] = out[i].replace(length=np.asarray(end, np.int32))
            else:
                out[i] = np.asarray(end, self._kinds[i])
        return out

    def _body_of_turn(self, turn: Value, carry: Value) -> Any:
        self._turn = turn
        return self._body(carry)

    def _inside(self, carry: Value) -> tuple[Lowering, list[Any]]:
        values, state, _, _ = carry
        inner = self._around.nested()
        inner.state.update(state)
        loop = [
            self._in_turn(inner, i, v, self._turn) if f is None else f
            for i, (v, f) in enumerate(zip(values, self.fixed, strict=True))
        ]
        return inner, [*loop, *self._captured]

    def _condition(self, carry: Value) -> Any:
        inner, inputs = self._inside(carry)
        graph = self._node.attrs["cond"]
        if graph.effects.writes:
            raise NotCompilableError("the condition of a loop writes variables", self._node)
        goes_on = jnp.asarray(inner.run(graph, inputs)[0]).reshape(())
        if inner.bad is not None or inner.full is not None:
            raise NotCompilableError("the condition of a loop is checked while it runs", self._node)
        # What a failed check lets through may never end.
        return goes_on & ~(carry[2] | carry[3])

    def _body(self, carry: Value) -> Any:
        inner, inputs = self._inside(carry)
        out = inner.run(self._node.attrs["body"], inputs)
        if any(f is not None and f is not x for f, x in zip(self.fixed, out, strict=True)):
            raise NotCompilableError("a loop exchanges variables", self._node)
        values = [
            None if isinstance(x, Cell) else self._like(inner, self._carried(i, traced(x)), y)
            for i, (x, y) in enumerate(zip(out, carry[0], strict=True))
        ]
        self.checks |= inner.bad is not None
        self.grows |= inner.full is not None
        state = {key: jnp.asarray(inner.state[key]) for key in self._keys}
        return values, state, carry[2] | _bit(inner.bad), carry[3] | _bit(inner.full)

    def _like(self, inner: Lowering, value: Value, before: Value) -> Any:
        """With the flags and the memory of the value before; a list must not need more."""
        if not isinstance(value, StackValue):
            return value
        value = unified(value, before, 0)
        most = before.capacity
        if not self._fits or before.items is None or value.capacity <= most:
            return value
        if value.length is not None:  # else it is known, and fits
            inner.check_room(value.length > most)
        hidden = None if value.hidden is None else value.hidden[:most]
        return value.replace(items=jax.tree.map(lambda x: x[:most], value.items), hidden=hidden)


def _other(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Another dtype that tells all numbers of one apart."""
    return np.dtype(np.uint64 if dtype == np.int64 else np.int64)


def _is_steady(found: Steady, start: Value, times: int | None) -> bool:
    return times is not None and stays_in_range(found, start, times)


def _settled(value: Value) -> Any:
    """A stack as loops begin with it: nobody has appended yet."""
    return value.replace(grows=False) if isinstance(value, StackValue) else value


def _form(values: Value) -> tuple[Any, list[Any]]:
    """What two values of a loop variable must have in common."""
    leaves, structure = jax.tree.flatten(values)
    return structure, [x.shape for x in leaves]


def _growth(before: Any, after: Any) -> int:
    """How many elements a turn appends to a list, judged by its memory: one, or those of a loop."""
    if not isinstance(after, StackValue) or (before.items is None and after.is_guessed):
        return 1
    return max(after.capacity - before.capacity, 1)


def _capacity(stack: Value) -> int:
    """The memory of a stack; 0 for what is none."""
    return stack.capacity if isinstance(stack, StackValue) else 0
