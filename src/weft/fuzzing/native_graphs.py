"""Random graphs on the native tier, held against the reference interpreter."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import weft as tf
from weft.core.tensor import EagerTensor
from weft.errors import OpError
from weft.execution.native import verify
from weft.fuzzing.random_graphs import Program, grow
from weft.graph.tracing import trace


def check_graph(seed: int) -> str | None:
    """None if native code agrees with the reference on a random graph, else what differs."""
    program = grow(seed, wide=True)
    tensors = [tf.constant(a) for a in program.arrays]
    kinds = ([tf.TensorSpec(t.shape, t.dtype) for t in tensors],)
    if seed % 3 == 0:  # sizes that are only known at run time
        kinds = ([tf.TensorSpec([None] * t.ndim, t.dtype) for t in tensors],)
    for specs in kinds:
        for run in (program, program.returning_all()):
            problem = _check(run, specs, tensors)
            if problem is not None:
                return f"graph {seed}: {problem}\n{program}"
    return None


def _check(program: Program, specs: list[tf.TensorSpec], tensors: list[tf.Tensor]) -> str | None:
    try:
        graph = trace(program, specs)
    except (TypeError, ValueError):
        return None  # something has to be known while tracing
    values = [_value(t) for t in (*tensors, *[outer for outer, _ in graph.captures])]
    try:
        with np.errstate(all="ignore"):
            verify.check(graph, values)
    except OpError:
        return None  # an error of the program itself
    except verify.TierDifferenceError as difference:
        return str(difference)
    return None


def _value(tensor: tf.Tensor) -> Any:
    assert isinstance(tensor, EagerTensor)
    return tensor._value


def run(count: int, first: int = 0) -> int:
    """Checks many graphs and prints those that differ; 1 if there are any."""
    failed = 0
    for seed in range(first, first + count):
        problem = check_graph(seed)
        if problem is not None:
            failed += 1
            sys.stdout.write(problem + "\n")
    sys.stdout.write(f"{count} graphs, {failed} disagreements\n")
    return 1 if failed else 0
