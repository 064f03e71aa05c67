"""The stages of compilation as text, for people: graph, loops, LLVM IR, machine code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.errors import UnimplementedError
from weft._src.execution.native.driver import prepared, translate_for, types_of
from weft._src.execution.native.loops.blocks import Assembly, Nest
from weft._src.execution.native.loops.schedule import Schedule
from weft._src.execution.native.loops.values import Kernel, NotCompilableError, Value
from weft._src.execution.native.machine import llvm
from weft._src.execution.native.machine.trampoline import full_text
from weft._src.graph.ir import Graph

STAGES = ("graph", "loops", "llvm", "asm")


def text_of(graph: Graph, values: Sequence[Any], stage: str) -> str:
    """One stage of the compilation of a graph for inputs like these."""
    if stage == "graph":
        return str(prepared(graph, *types_of(graph, values)))
    try:
        translation = translate_for(graph, values)
    except NotCompilableError as reason:
        raise UnimplementedError(
            None,
            None,
            f"experimental_get_compiler_ir: {graph.name} is not compiled as a whole, {reason}. "
            'The stages "graph" and "python" show what it becomes.',
        ) from None
    if stage == "loops":
        return _loops(translation.program.schedules)
    text = full_text(translation)
    return text if stage == "llvm" else llvm.assembly(text)


def _loops(schedules: list[Schedule]) -> str:
    """The nests and kernels of every block; the main block is the last."""
    lines: list[str] = []
    for number, schedule in enumerate(schedules):
        lines.append("main:" if number == len(schedules) - 1 else f"block {number}:")
        for step in schedule.steps:
            lines.append(f"  {_step(schedule, step)}")
            if isinstance(step, Nest):
                lines += [f"    {_root(schedule, root)}" for root in step.roots]
    return "\n".join(lines)


def _step(schedule: Schedule, step: Nest | Assembly | Kernel) -> str:
    if isinstance(step, Nest):
        sizes = ", ".join(map(str, step.space))
        return f"for each index of [{sizes}]:" if step.space else "once:"
    if isinstance(step, Assembly):
        what = "fill" if step.part is None else f"part {step.part.source.describe()}"
        return f"{step.target.describe()} <- {what}"
    results = ", ".join(v.describe() for v in step.results)
    operands = ", ".join(v.label for v in step.operands)
    return f"{step.name}({operands}){f' -> {results}' if results else ''}"


def _root(schedule: Schedule, root: Value) -> str:
    buffer = schedule.memory[id(root)].final
    place = f"scratch+{buffer.offset}" if buffer.slot is None else f"slot {buffer.slot}"
    operands = ", ".join(v.label for v in root.operands)
    return f"{root.describe()} <- {_action(root)}({operands})  [{place}]"


def _action(root: Value) -> str:
    for name in ("rule_name", "combination", "kind"):
        if hasattr(root, name):
            return str(getattr(root, name))
    return type(root).__name__.lower()
