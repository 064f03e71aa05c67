"""The functions of a program's steps: nests and their pieces for threads, and assemblies."""

from __future__ import annotations

import math

from weft._src.execution.native.loops.blocks import Assembly, Nest, base_of
from weft._src.execution.native.loops.memory import Buffer
from weft._src.execution.native.loops.nests import NestWriter
from weft._src.execution.native.loops.schedule import Schedule
from weft._src.execution.native.loops.values import Elementwise, Reduced, Stored, Uniform, Value
from weft._src.execution.native.machine import pool
from weft._src.execution.native.machine.builder import Module

_PIECE = 32_768  # elements
_COPY_COST = 0.5  # nanoseconds to move an element


def merged_axes(schedule: Schedule, at: int) -> list[list[int]]:
    """Neighbouring axes along which all values of a nest run alike become one loop."""
    nest = schedule.steps[at]
    assert isinstance(nest, Nest)
    space = nest.space
    separate = [[i] for i in range(len(space))]
    values = _inlined(schedule, nest, at)
    if values is None:
        return separate
    together = [True] * (len(space) - 1)
    for value in values:
        aligned = (1,) * (len(space) - len(value.shape)) + value.shape
        for i in range(len(space) - 1):
            if (aligned[i] == space[i]) != (aligned[i + 1] == space[i + 1]):
                together[i] = False
    for root in nest.roots:
        if isinstance(root, Reduced):
            for i in range(len(space) - 1):
                if (i in root.axes) != (i + 1 in root.axes):
                    together[i] = False
    groups = [[0]] if space else []
    for i, merged in enumerate(together):
        if merged:
            groups[-1].append(i + 1)
        else:
            groups.append([i + 1])
    return groups


def _inlined(schedule: Schedule, nest: Nest, at: int) -> list[Value] | None:
    """Every value a nest touches; None if some are not elementwise."""
    own = {id(root) for root in nest.roots}
    stack = [root.source if isinstance(root, Reduced) else root for root in nest.roots]
    seen: dict[int, Value] = {}
    while stack:
        v = stack.pop()
        if id(v) in seen:
            continue
        seen[id(v)] = v
        in_memory = isinstance(v, (Stored, Uniform)) or base_of(v) is not v
        if in_memory or (schedule.is_read_at(v, at) and id(v) not in own):
            continue
        if not isinstance(v, Elementwise):
            return None
        stack.extend(v.operands)
    return [v for v in seen.values() if not isinstance(v, Uniform)]


def emit_nest(module: Module, schedule: Schedule, at: int, name: str, *, exact: bool) -> bool:
    """Adds the function of a nest to the module; whether its result can be in doubt."""
    nest = schedule.steps[at]
    assert isinstance(nest, Nest)
    writer = NestWriter(
        module, schedule, at, nest.space, merged_axes(schedule, at), exact=exact, nest=nest
    )
    elements = writer.compute(nest.roots)
    for root in nest.roots:
        if isinstance(root, Reduced):
            writer.reduce(root, elements[id(root)])
    for root in nest.roots:
        if not isinstance(root, Reduced) and schedule.is_read_elsewhere(root, at):
            dims = writer.dims_of(root)
            writer.store(root, writer.index, elements[id(root)], dims)
    module.functions.append(writer.function(name))
    return bool(writer.b.doubts)


def plan_pieces(schedule: Schedule, at: int) -> None:
    """Decides whether threads share a nest, and makes room for the sums of their pieces."""
    nest = schedule.steps[at]
    assert isinstance(nest, Nest)
    if nest.work < pool.SHARED_FROM:
        return
    groups = merged_axes(schedule, at)
    sizes = [math.prod([nest.space[i] for i in group]) for group in groups]
    loops = [g for g, n in enumerate(sizes) if n != 1]
    outer = sizes[loops[0]]
    grain = max(1, _PIECE * outer // math.prod(sizes))
    pieces = -(-outer // grain)
    sums = [root for root in nest.roots if isinstance(root, Reduced)]
    for root in sums:
        reduced = [groups[g][0] in root.axes for g in loops]
        if reduced[0] and not all(reduced):
            return  # pieces would add to the same elements
    if pieces < 2:
        return
    nest.grain, nest.doubt = grain, Buffer(64)
    for root in sums:
        if groups[loops[0]][0] in root.axes:
            nest.partial[id(root)] = Buffer(pieces * root.dtype.size)


def outer_size(schedule: Schedule, at: int) -> int:
    """The iterations of the outermost loop of a nest."""
    nest = schedule.steps[at]
    assert isinstance(nest, Nest)
    sizes = [math.prod([nest.space[i] for i in g]) for g in merged_axes(schedule, at)]
    return next(n for n in sizes if n != 1)


def emit_combination(module: Module, schedule: Schedule, at: int, root: Reduced, name: str) -> None:
    """Adds the function that joins what the pieces have summed up, in their order."""
    nest = schedule.steps[at]
    assert isinstance(nest, Nest)
    partial = nest.partial[id(root)]
    parts = Stored(root.dtype, (partial.nbytes // root.dtype.size,), "parts")
    schedule.memory[id(parts)] = partial
    writer = NestWriter(module, schedule, at, parts.shape, [[0]], exact=True)
    whole = Reduced(parts, (0,), root.combination, root.label)
    schedule.memory[id(whole)] = schedule.memory[id(root)]
    writer.reduce(whole, writer.at(parts, writer.index))
    module.functions.append(writer.function(name))
    del schedule.memory[id(parts)], schedule.memory[id(whole)]


def emit_assembly(module: Module, schedule: Schedule, at: int, name: str) -> tuple[int, int] | None:
    """Adds the function that writes one part of an assembled value, or its fill.

    If threads are to share it: its outermost iterations, and those of a piece.
    """
    step = schedule.steps[at]
    assert isinstance(step, Assembly)
    source = step.target.fill if step.part is None else step.part.source
    assert source is not None
    space = step.target.shape if step.part is None else source.shape
    groups = [list(range(len(space)))] if step.part is None and space else []
    if step.part is not None:
        groups = [[i] for i in range(len(space))]
    shared = _assembly_pieces(step, [math.prod([space[i] for i in group]) for group in groups])
    grain = None if shared is None else shared[1]
    writer = NestWriter(module, schedule, at, space, groups, exact=True, grain=grain)
    if step.part is None:
        element = writer.at(source, [writer.b.index(0) for _ in groups])
        dims: tuple[int, ...] = (step.target.size,) if space else ()
        writer.store(step.target, writer.index, element, dims)
    else:
        element = writer.at(source, writer.index)
        place = step.part.place(writer, writer.index)
        if step.part.combination is not None:
            writer.combine(step.target, place, element, step.part.combination)
        else:
            writer.store(step.target, place, element, step.target.shape, repeats=step.repeats)
    module.functions.append(writer.function(name))
    return shared


def _assembly_pieces(step: Assembly, sizes: list[int]) -> tuple[int, int] | None:
    """The outermost iterations and those of a piece, None where places may meet or it is small."""
    if step.repeats or (step.part is not None and step.part.combination is not None):
        return None
    total = math.prod(sizes)
    outer = next((n for n in sizes if n != 1), 1)
    grain = max(1, _PIECE * outer // max(total, 1))
    return (outer, grain) if total * _COPY_COST >= pool.SHARED_FROM and grain < outer else None
