"""Lowering of whole graphs: what each tensor has become, variables, checks, control flow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.dtypes import DType
from weft._src.execution.native.front.lowering import (  # the families register their rules
    attention as attention,
    bins as bins,
    control as control,
    depthwise as depthwise,
    diagonals as diagonals,
    movement as movement,
    pointwise as pointwise,
    pooling as pooling,
    products as products,
    rearranging as rearranging,
    reductions as reductions,
    resampling as resampling,
    sampling as sampling,
    scans as scans,
    scatters as scatters,
    sorting as sorting,
    stacks as stacks,
    state as state,
    windows as windows,
)
from weft._src.execution.native.front.lowering.rules import check_dtype, copy_rule, rule_of
from weft._src.execution.native.loops.blocks import Block, Keep, Write, base_of
from weft._src.execution.native.loops.kernels.checks import Check
from weft._src.execution.native.loops.kernels.control import Given
from weft._src.execution.native.loops.program import Program
from weft._src.execution.native.loops.stripes import Striping
from weft._src.execution.native.loops.values import (
    ElementSource,
    Elementwise,
    Index,
    Indexed,
    NotCompilableError,
    Shape,
    Stored,
    Uniform,
    Value,
)
from weft._src.execution.native.pace import breathe
from weft._src.graph.ir import Graph, Node

_MOST_KEPT = 1 << 28  # bytes of stripes that a program keeps


class Cell:
    """A variable: where its elements lie, and the value that was assigned last."""

    __slots__ = ("assigned", "name", "stored", "volatile")

    def __init__(self, stored: Stored, name: str) -> None:
        self.stored = stored
        self.name = name
        self.assigned: Value | None = None
        self.volatile = False  # changed by a branch or a loop: reads must be taken at once

    def renew(self) -> tuple[Stored, Stored]:
        """What stood for the contents, and what stands for them after a change."""
        old = self.stored
        self.stored = Stored(old.dtype, old.shape, old.label)
        return old, self.stored


class Lowering:
    """Turns nodes into values, block by block."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.block = Block()
        self.constants: list[np.ndarray[Any, Any]] = []
        self.constant_slots: list[Stored] = []
        self.lasting: dict[int, int] = {}  # inputs that stay as they are, and their positions
        self.stripes: list[tuple[int, Stored, Striping]] = []  # of these: position, slot, form
        self._stripes_of: dict[tuple[int, Striping], Stored] = {}
        self._kept_bytes = 0
        self.has_written = False
        self.loops: list[Given] = []  # what the bodies of the loops around are given
        self.repetitions = 0  # how often the loop around runs at most, if that is known
        self._last_uses: dict[int, Node | None] = {}

    # --- for the rules -----------------------------------------------------------------------

    def constant(self, label: str, array: np.ndarray[Any, Any]) -> Stored:
        """An array that the executable brings along."""
        stored = self.program.slot(Stored(dtypes.from_numpy(array.dtype), array.shape, label))
        self.constants.append(np.ascontiguousarray(array))
        self.constant_slots.append(stored)
        return stored

    def positions(self, shape: Shape, axis: int, dtype: DType) -> Value:
        """The index along an axis, as a value; dtype is int64."""

        def formula(source: ElementSource, index: Index) -> Any:
            return index[axis]

        return Indexed(dtype, shape, "positions", "positions", (), formula)

    def kept(self, value: Value) -> Value:
        """Has a value computed at this point."""
        if not isinstance(value, (Stored, Uniform)):
            self.block.items.append(Keep(value))
        return value

    def once(self, source: Value, make: Callable[[Value], Value]) -> Value:
        """make(source), before the loop if the source is the same in every iteration."""
        if not self.loops or source not in self.loops[-1]:
            return make(source)
        given = self.loops.pop()
        made = self.once(given[source], make)
        self.loops.append(given)
        stand_in = Stored(made.dtype, made.shape, made.label)
        given[stand_in] = made
        return stand_in

    def kept_stripes(self, value: Value, how: Striping) -> Stored | None:
        """The slot for the stripes of an input that stays as it is; None for other values.

        They are made for the first call, and again when the input is another array.
        """
        source = base_of(value)
        if id(source) in self.lasting or source in self.constant_slots:
            return self._slot_for_stripes(source, how)
        if not self.loops or source not in self.loops[-1]:
            return None
        given = self.loops.pop()
        made = self.kept_stripes(given[source], how)
        self.loops.append(given)
        if made is None:
            return None
        stand_in = Stored(made.dtype, made.shape, made.label)
        given[stand_in] = made
        return stand_in

    def _slot_for_stripes(self, source: Value, how: Striping) -> Stored | None:
        found = self._stripes_of.get((id(source), how))
        if found is not None:
            return found
        size = how.size * source.dtype.size
        if self._kept_bytes + size > _MOST_KEPT:
            return None
        self._kept_bytes += size
        if source in self.constant_slots:
            made = self.constant(
                "stripes", how.of(self.constants[self.constant_slots.index(source)])
            )
        else:
            made = self.program.slot(Stored(source.dtype, how.result_shape, "stripes"))
            self.stripes.append((self.lasting[id(source)], made, how))
        self._stripes_of[id(source), how] = made
        return made

    def is_invariant(self, value: Value) -> bool:
        """Whether the value is the same in every iteration of the loop around."""
        return bool(self.loops) and value in self.loops[-1]

    def check(self, node: Node, condition: Value) -> None:
        """What must hold; if it does not, NumPy runs the same nodes and says what is wrong."""
        if isinstance(condition, Uniform):
            if condition.number:
                return
            raise NotCompilableError(f"{node.name} fails for these inputs", fails=True)
        if self.has_written:
            raise NotCompilableError(f"{node.name} may fail after a variable has been changed")
        self.program.checks.append(node)
        self.add(Check(condition, len(self.program.checks)))

    def add(self, kernel: Any) -> Any:
        """Adds a step with code of its own."""
        self.block.items.append(kernel)
        return kernel

    def local(self, stored: Stored) -> None:
        """Memory that the current block sets up and others of its steps change."""
        self.block.local.append(stored)

    # --- graphs ------------------------------------------------------------------------------

    def lower(self, graph: Graph, inputs: list[Any]) -> list[Any]:
        """The values of a graph's outputs; inputs are values or cells."""
        env: dict[int, Any] = dict(zip(map(id, graph.all_inputs), inputs, strict=True))
        self._note_volatile(graph, env)
        self._note_last_uses(graph)
        for node in graph.body:
            results = self.lower_node(node, [env[id(x)] for x in node.inputs])
            for tensor, value in zip(node.outputs, results, strict=True):
                env[id(tensor)] = value
        return [env[id(out)] for out in graph.outputs]

    def _note_last_uses(self, graph: Graph) -> None:
        """Who uses a stack last may change it in place; results are used by somebody else."""
        for node in graph.nodes:
            for tensor in node.inputs:
                if tensor.dtype is dtypes.variant:
                    self._last_uses[id(tensor)] = node
        for tensor in graph.outputs:
            self._last_uses[id(tensor)] = None

    def may_change(self, node: Node, tensor: Any) -> bool:
        """Whether a node may change a stack it is given in place."""
        once = sum(1 for x in node.inputs if x is tensor) == 1
        return once and self._last_uses.get(id(tensor)) is node

    def _note_volatile(self, graph: Graph, env: dict[int, Any]) -> None:
        assigned = {
            id(env[id(t)])
            for node in graph.nodes
            if not any(True for _ in node.nested)
            for t in node.effects.writes
        }
        for node in graph.nodes:
            if not any(True for _ in node.nested):
                continue
            for tensor in (*node.effects.reads, *node.effects.writes):
                cell = env[id(tensor)]
                is_written = any(t is tensor for t in node.effects.writes)
                if is_written or id(cell) in assigned:
                    cell.volatile = True

    def lower_node(self, node: Node, inputs: list[Any]) -> list[Any]:
        """The values of a node's outputs."""
        rule = rule_of(node.op)
        if rule is None:
            raise NotCompilableError(f"{node.op.name} has no native form", node)
        if not node.op.has_resources and not _has_stacks(node):
            check_dtype(node)
        breathe()
        try:
            results = rule(self, node, inputs)
        except NotCompilableError as reason:
            if reason.node is None:
                reason.node = node
            raise
        if results is None:
            return []
        values = [results] if isinstance(results, Value) else list(results)
        _check_types(node, values)
        return values

    # --- variables ---------------------------------------------------------------------------

    def read(self, cell: Cell) -> Value:
        """The value of a variable here."""
        if cell.assigned is not None:
            return cell.assigned
        if not cell.volatile:
            return cell.stored
        stored = cell.stored
        copy = Elementwise(stored.dtype, stored.shape, cell.name, "copy", copy_rule, (stored,), {})
        return self.kept(copy)

    def assign(self, cell: Cell, value: Value) -> None:
        """Changes a variable; it is written when the block ends, unless somebody looks before."""
        if value.shape != cell.stored.shape:
            raise NotCompilableError(f"the variable {cell.name!r} changes its shape")
        if cell.volatile:
            self.has_written = True
            old, new = cell.renew()
            self.block.items.append(Write(old, value, new))
            return
        cell.assigned = value

    def flush(self, cells: list[Cell]) -> bool:
        """What was assigned is to be written when the current block ends; whether anything was."""
        changed = [cell for cell in cells if cell.assigned is not None]
        for cell in changed:
            assert cell.assigned is not None
            self.block.outputs.append(Write(cell.stored, cell.assigned, is_lasting=True))
            cell.assigned = None
        return bool(changed)


def _has_stacks(node: Node) -> bool:
    return any(t.dtype is dtypes.variant for t in (*node.inputs, *node.outputs))


def _check_types(node: Node, values: list[Any]) -> None:
    """Holds a rule to the inferred types: what follows would read the memory of others."""
    for tensor, value in zip(node.outputs, values, strict=False):
        if not isinstance(value, Value) or tensor.dtype in (dtypes.resource, dtypes.variant):
            continue
        spec = tensor.spec
        if value.dtype is not spec.dtype or (spec.is_static and value.shape != spec.dims):
            raise AssertionError(
                f"the native rule of {node.op.name} gives {value.dtype.name}{value.shape}, but "
                f"{node.name} is inferred to be {spec}"
            )
