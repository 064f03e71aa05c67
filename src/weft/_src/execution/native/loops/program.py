"""The main function of a module: steps in order, branches and loops between them.

`int main(void **table)`: slot 0 is scratch memory; then come arrays, constants, variables and
results. It returns 0, or the number of the check that failed.
"""

from __future__ import annotations

import math
from typing import Any

from weft._src.execution.native.loops import steps
from weft._src.execution.native.loops.blocks import Assembly, Block, Nest
from weft._src.execution.native.loops.memory import Buffer, Guard
from weft._src.execution.native.loops.nests import pointer_lines
from weft._src.execution.native.loops.schedule import Schedule
from weft._src.execution.native.loops.values import Kernel, Reduced, Stored, Value
from weft._src.execution.native.machine.builder import Module
from weft._src.execution.native.pace import breathe

_RELEASE_GIL_FROM = 20_000  # nanoseconds
_INLINED_STEPS = 40  # in larger programs steps stay functions, so that compile time stays linear


class Program:
    """Collects the code of one graph."""

    def __init__(self) -> None:
        self.module = Module()
        self.memory: dict[int, Buffer] = {}
        self.slots: list[Stored] = []  # what is expected at slot 1, 2, ...
        self.lines: list[str] = []
        self.checks: list[Any] = []  # the node of each check
        self.work = 0  # about how many nanoseconds a call takes
        self.has_loops = False
        self.uses_stacks = False
        self.uses_pool = False  # whether threads share some of the work
        self.scratch_bytes = 0
        self.guards: list[int] = []  # where forbidden pages lie in scratch memory
        self.schedules: list[Schedule] = []
        self._labels = 0

    # --- memory ------------------------------------------------------------------------------

    def slot(self, value: Stored) -> Stored:
        """Reserves a slot of the table for a value."""
        self.slots.append(value)
        self.memory[id(value)] = Buffer(value.size * value.dtype.size, len(self.slots))
        return value

    def scratch(self, value: Stored) -> Buffer:
        """A buffer in scratch memory whose owner plans where it lies."""
        buffer = self.memory[id(value)] = Buffer(value.size * value.dtype.size)
        return buffer

    # --- building ----------------------------------------------------------------------------

    def schedule(self, block: Block) -> Schedule:
        """The steps of a block."""
        schedule = Schedule(block, self.memory)
        self.schedules.append(schedule)
        return schedule

    def finish(self, block: Block) -> None:
        """Schedules and emits everything."""
        schedule = self.schedule(block)
        for each in self.schedules:
            for at, step in enumerate(each.steps):
                if isinstance(step, Nest) and 0 not in step.space:
                    steps.plan_pieces(each, at)
        self.scratch_bytes = schedule.plan_scratch()
        buffers = schedule.scratch_buffers()
        self.guards = [buffer.offset for buffer in buffers if isinstance(buffer, Guard)]
        self.lines = []
        self.emit(schedule)
        body = "\n".join(self.lines)
        self.module.functions.append(
            f"define i32 @weft_main(ptr %t) {{\nentry:\n{body}\nret i32 0\n}}"
        )

    @property
    def releases_gil(self) -> bool:
        """Whether other threads may run meanwhile; loops may take any time."""
        return self.has_loops or self.work > _RELEASE_GIL_FROM

    @property
    def steps(self) -> int:
        """The number of steps in all blocks."""
        return sum(len(s.steps) for s in self.schedules)

    def emit(self, schedule: Schedule) -> None:
        """Adds the steps of a block to the main function."""
        for at, step in enumerate(schedule.steps):
            breathe()
            if isinstance(step, Kernel):
                step.emit(self)
                self.work += step.work
            elif isinstance(step, Assembly):
                self._assembly(schedule, at, step)
            else:
                self._nest(schedule, at, step)

    def _nest(self, schedule: Schedule, at: int, nest: Nest) -> None:
        if math.prod(nest.space) == 0:
            return
        self.work += nest.work
        name = self.module.new_name("nest")
        # A nest that changes what it reads cannot be computed twice.
        exact = schedule.works_in_place(at)
        doubtful = steps.emit_nest(self.module, schedule, at, name, exact=exact)
        if not doubtful or exact:
            self._call_nest(schedule, at, name)
            return
        precise = self.module.new_name("exact_nest")
        steps.emit_nest(self.module, schedule, at, precise, exact=True)
        again, done = self.label("again"), self.label("done")
        doubt = self._call_nest(schedule, at, name)
        self.line(f"br i1 {doubt}, label %{again}, label %{done}")
        self.line(f"{again}:")
        self._call_nest(schedule, at, precise)
        self.line(f"br label %{done}")
        self.line(f"{done}:")

    def _call_nest(self, schedule: Schedule, at: int, name: str) -> str:
        """Calls the function of a nest, or lets threads share it; the register of its doubt."""
        nest = schedule.steps[at]
        assert isinstance(nest, Nest)
        doubt = f"%{self.label('doubt')}"
        if nest.grain is None or nest.doubt is None:
            self.line(f"{doubt} = call i1 @{name}(ptr %t)")
            return doubt
        mark = self.buffer_pointer(nest.doubt)
        self.line(f"store i8 0, ptr {mark}")
        self.call_shared(name, steps.outer_size(schedule, at), nest.grain)
        for root in nest.roots:
            if isinstance(root, Reduced) and id(root) in nest.partial:
                joining = self.module.new_name("joining")
                steps.emit_combination(self.module, schedule, at, root, joining)
                self.line(f"call i1 @{joining}(ptr %t)")
        raw = f"%{self.label('mark')}"
        self.line(f"{raw} = load i8, ptr {mark}")
        self.line(f"{doubt} = icmp ne i8 {raw}, 0")
        return doubt

    def call_shared(self, name: str, outer: int, grain: int) -> None:
        """Has threads share `void name(table, begin, end)`, in pieces of [0, outer)."""
        self.uses_pool = True
        self.module.declare("weft_parallel", "void", "ptr, ptr, i64, i64")
        self.line(f"call void @weft_parallel(ptr @{name}, ptr %t, i64 {outer}, i64 {grain})")

    def _assembly(self, schedule: Schedule, at: int, step: Assembly) -> None:
        source = step.target if step.part is None else step.part.source
        if source.size == 0 or self._is_in_place(schedule, step):
            return
        self.work += source.size // 4
        name = self.module.new_name("part")
        shared = steps.emit_assembly(self.module, schedule, at, name)
        if shared is None:
            self.line(f"call i1 @{name}(ptr %t)")
        else:
            self.call_shared(name, *shared)

    def _is_in_place(self, schedule: Schedule, step: Assembly) -> bool:
        """Whether a part already lies where it has to go: a variable that is updated."""
        if step.part is None or not step.part.is_whole:
            return False
        source = self.memory.get(id(step.part.source))
        target = self.memory[id(step.target)]
        return (
            isinstance(step.part.source, Stored)
            and source is not None
            and source.final is target.final
        )

    # --- lines of the main function ----------------------------------------------------------

    def line(self, text: str) -> None:
        """One line."""
        self.lines.append(text)

    def label(self, stem: str) -> str:
        """A new name for a block or a register."""
        self._labels += 1
        return f"{stem}.{self._labels}"

    def pointer(self, value: Value) -> str:
        """A register that points to a value."""
        return self.buffer_pointer(self.memory[id(value)])

    def buffer_pointer(self, buffer: Buffer) -> str:
        """A register that points to a buffer."""
        name = f"%{self.label('p')}"
        self.lines += pointer_lines(name, buffer)
        return name

    def text(self) -> str:
        """The module."""
        of_steps = "nounwind noinline" if self.steps > _INLINED_STEPS else "nounwind"
        # Kept apart: a function takes over the width of vectors of what it is inlined into.
        wide = 'nounwind noinline "prefer-vector-width"="512"'
        groups = [of_steps, wide, "nounwind"]
        lines = [f"attributes #{i} = {{ {group} }}" for i, group in enumerate(groups)]
        return "\n".join([self.module.text(), *lines])
