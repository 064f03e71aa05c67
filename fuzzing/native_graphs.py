"""Random graphs on the native tier, held against the reference interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import weft as tf
from fuzzing.random_graphs import Program, grow
from weft._src.core.flags import flags
from weft._src.core.tensor import EagerTensor
from weft._src.execution import reference
from weft._src.execution.native import verify
from weft._src.execution.native.driver import compile_graph
from weft._src.graph.ir import Graph
from weft._src.graph.tracing import trace
from weft.errors import OpError

Compiler = Callable[..., Any]  # of a graph, values, and whether it must be one piece: see verify


def check_graph(seed: int) -> str | None:
    """Random graphs: machine code between guard pages against the reference interpreter.

    None if both agree, else what differs.
    """
    flags.guard_pages = "end"
    try:
        return check_with(compile_graph, seed)
    finally:
        flags.guard_pages = ""


def check_with(compiler: Compiler, seed: int) -> str | None:
    """The random graph of a seed, as a compiler makes it, against the reference interpreter."""
    program = grow(seed, wide=True)
    tensors = [tf.constant(a) for a in program.arrays]
    kinds = ([tf.TensorSpec(t.shape, t.dtype) for t in tensors],)
    if seed % 3 == 0:  # sizes that are only known at run time
        kinds = ([tf.TensorSpec([None] * t.ndim, t.dtype) for t in tensors],)
    for specs in kinds:
        for run in (program, program.returning_all()):
            problem = _check(compiler, run, specs, tensors)
            if problem is not None:
                small, problem = _shrunk(compiler, run, specs, tensors, problem)
                return f"graph {seed}: {problem}\n{small}"
    return None


def _shrunk(
    compiler: Compiler,
    program: Program,
    specs: list[tf.TensorSpec],
    tensors: list[tf.Tensor],
    problem: str,
) -> tuple[Program, str]:
    """The first value that differs alone, or else a program with fewer results."""
    for number in range(len(tensors), program.size):
        alone = program.returning(number)
        found = _check(compiler, alone, specs, tensors)
        if found is not None:
            return alone, found
    for number in program.returned:
        fewer = program.returning(*[n for n in program.returned if n != number])
        found = _check(compiler, fewer, specs, tensors) if fewer.returned else None
        if found is not None:
            return _shrunk(compiler, fewer, specs, tensors, found)
    return program, problem


def _check(
    compiler: Compiler, program: Program, specs: list[tf.TensorSpec], tensors: list[tf.Tensor]
) -> str | None:
    try:
        graph = trace(program, specs)
    except (TypeError, ValueError):
        return None  # something has to be known while tracing
    values = [_value(t) for t in (*tensors, *[outer for outer, _ in graph.captures])]
    try:
        with np.errstate(all="ignore"):
            verify.check(graph, values, compiler)
    except OpError:
        return None  # an error of the program itself
    except verify.TierDifferenceError as difference:
        # Where each node agrees, all may differ only because something cancels out.
        is_each_right = verify.first_difference(graph, values, compiler) is None
        return None if is_each_right and _is_unstable(graph, values) else str(difference)
    return None


_NUDGES, _LAST_PLACES = 8, 2.0**-22


def _is_unstable(graph: Graph, values: list[Any]) -> bool:
    """Whether the reference gives something else, too, if its numbers change in the last places."""
    if not all(isinstance(value, np.ndarray | np.generic) for value in values):
        return False  # running it changes variables
    rng = np.random.default_rng(0)
    wanted = reference.run(graph, values)
    tolerance = verify.roughest(graph)
    with np.errstate(all="ignore"):
        for _ in range(_NUDGES):
            nudged = [_nudged(value, rng) for value in values]
            if verify.difference(reference.run(graph, nudged), wanted, tolerance) is not None:
                return True
    return False


def _nudged(value: Any, rng: np.random.Generator) -> Any:
    array = np.asarray(value)
    if array.dtype.kind != "f":
        return value
    return (array * (1 + _LAST_PLACES * rng.choice([-1, 1], array.shape))).astype(array.dtype)


def _value(tensor: tf.Tensor) -> Any:
    assert isinstance(tensor, EagerTensor)
    return tensor._value
