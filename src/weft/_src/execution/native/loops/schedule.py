"""Which values are kept in memory, which share a loop nest, and in what order all is done.

A value is computed where it is used unless something needs it in memory: a kernel, a write, a
reduction, or several uses that would each compute it anew. Kept values with the same index space
go into one nest if neither needs more of the other than the element at the same place.

What goes in is a block: values that are expressions of others, and writes of results. For example,
of x : [3, 5]

    s = sum(x, axis 1)         write e * 2 to result 0
    e = exp(x - s)             write sum(e) to result 1

What comes out are steps, and a place in memory for each value that is kept:

    0  nest over [3, 5]        s += x                               s in scratch memory
    1  nest over [3, 5]        e = exp(x - s)                       e in no memory at all
                               result 0 = e * 2, result 1 += e

The second nest cannot be part of the first one: it needs all of a row's sum. `e` is needed twice,
but only at the place where it is computed. Had a matrix product read it, it would be in memory, and
the product a step of its own. A value that lives in scratch memory gives its place to others after
its last reader; one that is last read by the nest that computes a result of its size is computed
right where that result will be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from weft._src.core.lazily import cached_property
from weft._src.execution.native.front.lowering.rules import copy_rule
from weft._src.execution.native.loops import scalars
from weft._src.execution.native.loops.blocks import (
    Assembly,
    Block,
    Item,
    Keep,
    Nest,
    Step,
    Write,
    base_of,
)
from weft._src.execution.native.loops.memory import Buffer, Guard, ScratchPlan
from weft._src.execution.native.loops.values import (
    Assembled,
    Elementwise,
    Indexed,
    Kernel,
    Reduced,
    Reshaped,
    Shape,
    Stored,
    Uniform,
    Value,
)
from weft._src.execution.native.pace import breathe

_KEEP_FROM = 4  # the cost from which a value with several uses is kept
_INLINE_LIMIT = 64
_NEST_LIMIT = 300
_ROOT_LIMIT = 12  # of a nest: LLVM's time grows faster than the number of stores in a loop


class Schedule:
    """The steps of a block and the memory of its values."""

    def __init__(self, block: Block, memory: dict[int, Buffer]) -> None:
        self.steps: list[Step] = []
        self.memory = memory  # shared by all blocks of a program
        self.kept: dict[int, int] = {}  # the step after which a value lies in memory
        self._nests: dict[Shape, list[int]] = {}
        self._leaves: dict[int, dict[int, tuple[Value, bool]]] = {}
        self._cost: dict[int, int] = {}
        self._readers: dict[int, list[tuple[int, bool]]] = {}
        self._read_at: set[tuple[int, int]] = set()  # the same, without the places
        self._alive: list[Value] = []  # so that ids stay unique
        self._uses = _count_uses(block)
        self._scratch: dict[int, tuple[Value, Buffer]] = {}
        self._guards: list[Guard] = []
        self._last_check = -1
        self._begun: dict[int, int] = {}  # where an assembled value gets its first part
        # Loop variables and results of branches of this block; their memory is planned here.
        self._local = {id(r) for k in block.items if isinstance(k, Kernel) for r in k.results}
        self._local |= {id(stored) for stored in block.local}
        for item in block.items:
            self._do(item)
        self._write(block.outputs)

    # --- items -------------------------------------------------------------------------------

    def _do(self, item: Item) -> None:
        if isinstance(item, Keep):
            self._keep(item.value)
        elif isinstance(item, Write):
            self._keep(item.value)
            self._copy(item)
            if item.renewed is not None:
                self._renew(item.renewed, item.target, len(self.steps) - 1)
        else:
            for operand in item.operands:
                self._keep(operand)
            item.prepare(self.memory)
            at = len(self.steps)
            self.steps.append(item)
            if item.may_fail:
                self._last_check = at
            for operand in item.operands:
                self._note_reader(base_of(operand), at, same_place=False)
            for result in item.results:
                self._allocate(result, at)
            for new, old in item.renewed:
                self._renew(new, old, at)

    def _renew(self, new: Stored, old: Stored, at: int) -> None:
        self.memory[id(new)] = self.memory[id(old)]
        self.kept[id(new)] = at

    def _write(self, writes: list[Write]) -> None:
        """All at once: no write may change what another one still reads."""
        targets = {id(w.target) for w in writes}
        moves: list[Write] = []
        for write in writes:
            value = write.value
            if isinstance(base_of(value), Stored) and id(base_of(value)) in targets:
                if base_of(value) is write.target:
                    continue
                value = _copied(value)
            self._keep(value)
            moves.append(Write(write.target, value, is_lasting=write.is_lasting))
        moved: list[Write] = []
        others: list[Write] = []
        for write in moves:
            (moved if self._redirect(write) else others).append(write)
        for write in others:
            self._copy(write)
        # Only now is it known what else is read to the end: a result may be part of another one.
        for write in moved:
            value = base_of(write.value)
            if self.memory[id(value)].final.slot is not None and not write.is_lasting:
                self._share_memory(value, self.kept[id(value)])

    def _redirect(self, write: Write) -> bool:
        """Lets a value be computed right where it has to be."""
        value, target = base_of(write.value), write.target
        buffer = self.memory.get(id(value))
        at = self.kept.get(id(value), -1)
        if buffer is None or id(value) not in self._scratch:
            return False
        if write.is_lasting and self._begun.get(id(value), at) <= self._last_check:
            return False
        readers = self._readers.get(id(target), [])
        if any(step > at or (step == at and not same) for step, same in readers):
            return False
        begun = self._begun.get(id(value), at + 1)
        # Updates of a variable may happen in its own memory: what is read there first is written.
        if any(
            step >= begun and not (same and step == begun and _updated_by(value) is target)
            for step, same in readers
        ):
            return False
        del self._scratch[id(value)]
        buffer.moved_to = self.memory[id(target)]
        return True

    def _share_memory(self, result: Value, at: int) -> None:
        """Lets what a result is made of lie where the result will: one array less to go through."""
        step = self.steps[at]
        if not isinstance(step, Nest) or step.roots != [result] or isinstance(result, Reduced):
            return
        parts = list(_in_order(result, lambda v: v is not result and self.is_read_at(v, at)))
        # In place nothing can be computed a second time, and the exact forms are slower.
        if any(isinstance(v, Elementwise) and scalars.is_doubtful(v.rule_name) for v in parts):
            return
        for source in [operand for part in parts for operand in part.operands]:
            if self._may_be_overwritten(source, result, at):
                del self._scratch[id(source)]
                self.memory[id(source)].moved_to = self.memory[id(result)].final
                self._share_memory(source, self.kept[id(source)])
                return

    def _may_be_overwritten(self, source: Value, result: Value, at: int) -> bool:
        """Whether a step is the last one that reads a value, each element where it writes one."""
        if id(source) not in self._scratch or id(source) in self._local:
            return False
        if not self.is_read_at(source, at):
            return False
        if source.size * source.dtype.size != result.size * result.dtype.size:
            return False
        if not isinstance(self.steps[self.kept[id(source)]], Nest):
            return False
        readers = self._readers[id(source)]
        return all(step < at or (step == at and same) for step, same in readers)

    def _copy(self, write: Write) -> None:
        copy = _copied(write.value)
        nest = Nest(copy.shape, [copy], 1)
        at = len(self.steps)
        self.steps.append(nest)
        self._alive.append(copy)
        self.memory[id(copy)] = buffer = self.memory[id(write.target)]
        self.kept[id(copy)] = at
        if buffer.slot is None and id(write.target) in self._local:
            self._scratch[id(write.target)] = (write.target, buffer)
            self._begun.setdefault(id(write.target), at)
            self.kept.setdefault(id(write.target), at)
        self._note_reader(base_of(write.value), at, same_place=False)

    # --- values ------------------------------------------------------------------------------

    def _keep(self, value: Value) -> None:
        """Has a value computed into memory."""
        for v in _in_order(value, lambda v: id(v) in self._leaves):
            self._visit(v)
        self._keep_now(value)

    def _keep_now(self, value: Value) -> None:
        value = base_of(value)
        if isinstance(value, Stored) or id(value) in self.kept:
            return
        if isinstance(value, Uniform):
            self._leaves[id(value)] = {}
        if isinstance(value, Assembled):
            return  # kept when it was visited
        self._place(value)

    def _visit(self, value: Value) -> None:
        """Decides about a value whose operands are decided."""
        breathe()
        self._alive.append(value)
        key = id(value)
        if isinstance(value, (Stored, Uniform)):
            self._leaves[key] = {key: (value, True)} if isinstance(value, Stored) else {}
            self._cost[key] = 0
            return
        if isinstance(value, Reshaped):
            self._keep_now(value.source)
            self._leaves[key] = {key: (value, True)}
            self._cost[key] = 0
            return
        if isinstance(value, Assembled):
            self._assemble(value)
            return
        leaves: dict[int, tuple[Value, bool]] = {}
        cost = _own_cost(value)
        for operand in value.operands:
            same_place = (
                operand.shape == value.shape and isinstance(value, Elementwise)
            ) or isinstance(value, Reduced)
            if id(operand) in self.kept:
                leaves[id(operand)] = (operand, same_place and _is(leaves, operand, True))
                continue
            cost += self._cost[id(operand)]
            for leaf_id, (leaf, same) in self._leaves[id(operand)].items():
                same = same and same_place
                leaves[leaf_id] = (leaf, same and _is(leaves, leaf, True))
        self._leaves[key], self._cost[key] = leaves, cost
        uses, widened = self._uses.get(key, (1, False))
        if (
            isinstance(value, Reduced)
            or (uses > 1 and cost >= _KEEP_FROM)
            or (widened and cost >= 2)
            or cost > _INLINE_LIMIT
        ):
            self._place(value)

    def _place(self, value: Value) -> None:
        """Puts a value into a nest."""
        space = value.source.shape if isinstance(value, Reduced) else value.shape
        leaves = self._leaves[id(value)]
        earliest = 0
        for leaf, same_place in leaves.values():
            earliest = max(earliest, self._earliest(leaf, space, same_place))
        cost = self._cost.get(id(value), 0) + 1
        at = self._find_nest(space, earliest, cost)
        nest = self.steps[at]
        assert isinstance(nest, Nest)
        nest.roots.append(value)
        nest.cost += cost
        for leaf, same_place in leaves.values():
            self._note_reader(base_of(leaf), at, same_place and not isinstance(leaf, Reshaped))
        self._allocate(value, at)
        self._leaves[id(value)] = {id(value): (value, True)}
        self._cost[id(value)] = 0

    def _earliest(self, leaf: Value, space: Shape, same_place: bool) -> int:
        base = base_of(leaf)
        at = self.kept.get(id(base), -1)
        if at < 0:
            return 0
        step = self.steps[at]
        fits = (
            same_place
            and base is leaf
            and isinstance(step, Nest)
            and step.space == space
            and not isinstance(base, Reduced)
        )
        return at if fits else at + 1

    def _find_nest(self, space: Shape, earliest: int, cost: int) -> int:
        known = self._nests.setdefault(space, [])
        for at in known:
            nest = self.steps[at]
            if at >= earliest and _has_room(nest, cost):
                return at
        at = len(self.steps)
        self.steps.append(Nest(space))
        known.append(at)
        return at

    def _assemble(self, value: Assembled) -> None:
        for operand in value.operands:
            if isinstance(operand, Reduced):
                self._keep_now(operand)
        pieces = [Assembly(value, part) for part in value.parts]
        if value.fill is not None:
            pieces.insert(0, Assembly(value, None))
        at = len(self.steps)
        self.steps.extend(pieces)
        last = len(self.steps) - 1
        updated = _updated_by(value)
        for operand in value.operands:
            if operand is updated:
                self._note_reader(operand, at, same_place=True)
                continue
            leaves = self._leaves[id(operand)]
            if id(operand) in self.kept:
                leaves = {id(operand): (operand, False)}
            for leaf, _ in leaves.values():
                self._note_reader(base_of(leaf), last, same_place=False)
        self._allocate(value, at, last)
        self._leaves[id(value)] = {id(value): (value, True)}
        self._cost[id(value)] = 0

    def _allocate(self, value: Value, at: int, ready: int | None = None) -> None:
        buffer = self.memory.get(id(value))
        if buffer is None:
            buffer = self.memory[id(value)] = Buffer(value.size * value.dtype.size)
        self.kept[id(value)] = at if ready is None else ready
        self._alive.append(value)
        self._scratch[id(value)] = (value, buffer)
        if ready is not None:
            self._begun[id(value)] = at

    def _note_reader(self, base: Value, step: int, same_place: bool) -> None:
        self._read_at.add((id(base), step))
        self._readers.setdefault(id(base), []).append((step, same_place))

    # --- results -----------------------------------------------------------------------------

    def is_read_at(self, value: Value, step: int) -> bool:
        """Whether a step takes a value from memory.

        A nest does so only if it was meant to when it was planned. A value that was kept for
        others afterwards, even by an earlier step, may have lost its memory by then.
        """
        if self.kept.get(id(value), step) >= step:
            return False
        is_nest = isinstance(self.steps[step], Nest)
        return not is_nest or (id(base_of(value)), step) in self._read_at

    def is_read_elsewhere(self, value: Value, nest: int) -> bool:
        """Whether a value has to be stored, or is only used in the nest that computes it."""
        if id(value) not in self._scratch:
            return True
        return any(step != nest for step, _ in self._readers.get(id(value), []))

    def works_in_place(self, at: int) -> bool:
        """Whether a nest writes to memory that it also reads."""
        nest = self.steps[at]
        assert isinstance(nest, Nest)
        roots = {id(root) for root in nest.roots}  # reading each other they need no memory
        written = {id(self.memory[root].final) for root in roots}
        return any(
            id(self.memory[key].final) in written
            for key in self._read_by_step.get(at, [])
            if key in self.memory and key not in roots
        )

    @cached_property
    def _read_by_step(self) -> dict[int, list[int]]:
        """What each step takes from memory, once all is planned."""
        found: dict[int, list[int]] = {}
        for key, step in self._read_at:
            found.setdefault(step, []).append(key)
        return found

    def plan_scratch(self) -> int:
        """Gives every scratch buffer its offset; the bytes needed in all."""
        plan = ScratchPlan()
        wanted: list[tuple[int, int, list[Buffer], int]] = []
        for value, buffer in self._scratch.values():
            start = self._begun.get(id(value), self.kept[id(value)])
            readers = [step for step, _ in self._readers.get(id(value), [])]
            last = max([self.kept[id(value)], *readers])
            wanted.append((start, last, [buffer], buffer.nbytes))
        for step, kernel in enumerate(self.steps):
            if isinstance(kernel, Nest):
                buffers = [*kernel.partial.values(), *([kernel.doubt] if kernel.doubt else [])]
                wanted += [(step, step, [buffer], buffer.nbytes) for buffer in buffers]
            if isinstance(kernel, Kernel):
                size = kernel.scratch_bytes()
                if size:
                    wanted.append((step, step, kernel.scratch_buffers(), size))
        for start, last, buffers, nbytes in sorted(wanted, key=lambda w: w[0]):
            offset = plan.place(nbytes, start, last)
            for buffer in buffers:
                buffer.offset += offset
        self._guards = plan.guards
        return plan.total

    def scratch_buffers(self) -> list[Buffer]:
        """All buffers in scratch memory, those of nested blocks too, and guards between them."""
        inner = [s.scratch_buffers() for s in self.steps if isinstance(s, Kernel)]
        inner += [[*s.partial.values()] for s in self.steps if isinstance(s, Nest)]
        inner += [[s.doubt] for s in self.steps if isinstance(s, Nest) and s.doubt is not None]
        own = [*[b for _, b in self._scratch.values()], *self._guards]
        return [*own, *[b for bs in inner for b in bs]]


def _updated_by(value: Value) -> Value | None:
    """What an assembled value is an update of, if that lies in memory."""
    if not isinstance(value, Assembled) or not value.parts or not value.parts[0].is_whole:
        return None
    source = value.parts[0].source
    return source if isinstance(source, Stored) else None


def _has_room(nest: Any, cost: int) -> bool:
    return nest.cost + cost <= _NEST_LIMIT and len(nest.roots) < _ROOT_LIMIT


def _is(leaves: dict[int, tuple[Value, bool]], value: Value, default: bool) -> bool:
    known = leaves.get(id(value))
    return default if known is None else known[1]


def _copied(value: Value) -> Elementwise:
    return Elementwise(value.dtype, value.shape, "copy", "copy", copy_rule, (value,), {})


def _own_cost(value: Value) -> int:
    if isinstance(value, Elementwise):
        return scalars.cost_of(value.rule_name)
    return 2 if isinstance(value, Indexed) and value.kind == "gather" else 1


def _in_order(value: Value, is_known: Callable[..., Any]) -> Iterator[Value]:
    """A value behind everything it is computed from, without what is known already."""
    done: set[int] = set()
    stack: list[tuple[Value, bool]] = [(value, False)]
    while stack:
        v, is_ready = stack.pop()
        if is_ready:
            yield v
            continue
        if id(v) in done or is_known(v):
            continue
        done.add(id(v))
        stack.append((v, True))
        stack.extend((operand, False) for operand in reversed(v.operands))


def _count_uses(block: Block) -> dict[int, tuple[int, bool]]:
    """How often each value is used, and whether by something with more elements."""
    uses: dict[int, tuple[int, bool]] = {}

    def use(v: Value, widened: bool) -> None:
        count, already = uses.get(id(v), (0, False))
        uses[id(v)] = (count + 1, already or widened)

    seen: set[int] = set()
    for demanded in _demanded(block):
        use(demanded, False)
        for v in _in_order(demanded, lambda v: id(v) in seen):
            seen.add(id(v))
            uses.setdefault(id(v), (0, False))
            for operand in v.operands:
                use(operand, operand.size > 1 and v.size > operand.size)
    return uses


def _demanded(block: Block) -> Iterable[Value]:
    for item in block.items:
        yield from item.operands if isinstance(item, Kernel) else (item.value,)
    for write in block.outputs:
        yield write.value
