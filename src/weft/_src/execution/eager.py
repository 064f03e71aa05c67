"""Eager ops on large arrays: NumPy at first, machine code on all cores when that is worth it.

NumPy computes with one thread, which for a million elements is two to five times slower than it
need be. An op that is called again and again with such arrays is treated as a function of one node:
measured, compiled in the background, and left to NumPy if that turns out to be faster.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.flags import flags
from weft._src.core.location import Location, user_location
from weft._src.core.memory import limits
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.errors import OpError
from weft._src.execution.tiers import TieredPlan
from weft._src.graph.ir import Graph, infer
from weft._src.ops.arrays.shape import transpose_op
from weft._src.ops.arrays.source import const_op
from weft._src.ops.dispatch import check_memory, infer_from_values, run_kernel
from weft._src.ops.registry import Op
from weft._src.ops.worth import is_for_blas

_MOST_PLANS = 256
_MOST_FIXED = 64  # numbers in an input that decides about shapes
_REVERSED: dict[str, Any] = {"perm": None}

_plans: dict[Any, TieredPlan | None] = {}


def run_large(op: Op, values: list[Any], attrs: dict[str, Any]) -> Any:
    """Runs an op on arrays of which at least one is large."""
    # Two arrays of ten thousand elements can make one of a hundred millions.
    if op.trusts_kernel and math.prod([v.size for v in values]) > limits.asked_above >> 4:
        check_memory(op, infer_from_values(op, values, attrs))
    plan = turned = None
    # With determinism asked for, the tier must not depend on what else the program has computed.
    if flags.execution != "numpy" and not flags.deterministic:
        turned = _turned(values)
    if turned is not None:
        plan = _plan_for(op, values, attrs, turned)
    if plan is None or turned is None:
        return run_kernel(op, values, attrs)
    fixed = _fixed(op, len(values))
    given = zip(values, turned, fixed, strict=True)
    outputs = plan.run(*[v.T if t else v for v, t, is_fixed in given if not is_fixed])
    return outputs[0] if op.outputs == 1 else outputs


def _turned(values: list[Any]) -> tuple[bool, ...] | None:
    """Which arrays are transposed views of contiguous ones.

    None if there are others: resources and such, and strided arrays, which would have to be copied.
    """
    turned = []
    for value in values:
        if type(value) is not np.ndarray:
            return None
        flags = value.flags
        if not flags.c_contiguous and not flags.f_contiguous:
            return None
        turned.append(not flags.c_contiguous)
    return tuple(turned)


@functools.cache
def _fixed(op: Op, count: int) -> tuple[bool, ...]:
    """Which inputs decide about shapes: machine code is made for the numbers in them."""
    return tuple([op.arg(i).is_shape for i in range(count)])


def _plan_for(
    op: Op, values: list[Any], attrs: dict[str, Any], turned: tuple[bool, ...]
) -> TieredPlan | None:
    """The plan for arrays of such types, None if there is nothing to gain."""
    fixed = _fixed(op, len(values))
    if any(f and v.size > _MOST_FIXED for v, f in zip(values, fixed, strict=True)):
        return None
    kinds = [
        (v.dtype, v.ndim, v.tobytes() if f else None) for v, f in zip(values, fixed, strict=True)
    ]
    try:
        key = (op, *attrs.items(), *kinds, turned)
        return _plans[key]
    except KeyError:
        if len(_plans) >= _MOST_PLANS:
            _plans.pop(next(iter(_plans)), None)
    except TypeError:  # an attribute that cannot be a key
        return None
    made = None if is_for_blas(op, values) else _new_plan(op, values, attrs, turned)
    plan = _plans[key] = made
    return plan


def _new_plan(
    op: Op, values: list[Any], attrs: dict[str, Any], turned: tuple[bool, ...]
) -> TieredPlan | None:
    """A graph of the op, in which transposed views are transposed again."""
    graph = Graph(op.name)
    location = user_location()
    fixed = _fixed(op, len(values))
    known = [v.copy() if is_fixed else None for v, is_fixed in zip(values, fixed, strict=True)]
    inputs = []
    for i, (value, is_turned, number) in enumerate(zip(values, turned, known, strict=True)):
        if number is not None:
            inputs.append(_node(graph, const_op, (), {"value": number}, location))
            continue
        dims = tuple([Dim() for _ in value.shape])
        given = graph.add_input(TensorSpec.of(dtypes.from_numpy(value.dtype), dims), f"input_{i}")
        if is_turned:
            given = _node(graph, transpose_op, (given,), _REVERSED, location)
        inputs.append(given)
    try:
        specs = infer(op, tuple(inputs), attrs)
    except (OpError, TypeError, ValueError):  # the kernel says what is wrong with the inputs
        return None
    node = graph.add_node(op, tuple(inputs), attrs, specs, op.name, location)
    graph.outputs = list(node.outputs)

    def kernel(*given: Any) -> Any:
        rest = iter(given)
        arrays = [next(rest) if value is None else value for value in known]
        arrays = [v.T if t else v for v, t in zip(arrays, turned, strict=True)]
        out = run_kernel(op, arrays, attrs)
        return (out,) if op.outputs == 1 else out

    return TieredPlan(graph, kernel)


def _node(
    graph: Graph, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], location: Location
) -> Any:
    specs = infer(op, inputs, attrs)
    return graph.add_node(op, inputs, attrs, specs, op.name.lower(), location).outputs[0]
