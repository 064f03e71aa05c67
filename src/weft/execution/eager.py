"""Eager ops on large arrays: NumPy at first, machine code on all cores when that is worth it.

NumPy computes with one thread, which for a million elements is two to five times slower than it
need be. An op that is called again and again with such arrays is treated as a function of one node:
measured, compiled in the background, and left to NumPy if that turns out to be faster.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft import config
from weft.core import dtypes
from weft.core.location import user_location
from weft.core.native_rules import Contraction, IndexMap, NativeRule
from weft.core.shapes import Dim
from weft.core.specs import TensorSpec
from weft.errors import OpError
from weft.execution.tiers import TieredPlan
from weft.graph.ir import Graph, infer
from weft.ops.dispatch import run_kernel
from weft.ops.registry import STRUCTURED, Op

_MOST_PLANS = 256

_plans: dict[Any, TieredPlan | None] = {}


def run_large(op: Op, values: list[Any], attrs: dict[str, Any]) -> Any:
    """Runs an op on arrays of which at least one is large."""
    plan = None
    # With determinism asked for, the tier must not depend on what else the program has computed.
    if config.execution != "numpy" and not config.flags.deterministic:
        plan = _plan_for(op, values, attrs)
    if plan is None:
        return run_kernel(op, values, attrs)
    outputs = plan.run(*values)
    return outputs[0] if op.outputs == 1 else outputs


def _plan_for(op: Op, values: list[Any], attrs: dict[str, Any]) -> TieredPlan | None:
    """The plan for arrays of such types, None if there is nothing to gain."""
    for value in values:
        # Not for resources and other objects; strided arrays would have to be copied.
        if type(value) is not np.ndarray or not value.flags.c_contiguous:
            return None
    try:
        key = (op, *attrs.items(), *[(value.dtype, value.ndim) for value in values])
        return _plans[key]
    except KeyError:
        if len(_plans) >= _MOST_PLANS:
            return None
    except TypeError:  # an attribute that cannot be a key
        return None
    plan = _plans[key] = _new_plan(op, values, attrs) if _has_loops(op) else None
    return plan


def _has_loops(op: Op) -> bool:
    """Whether machine code could be faster: not for views, BLAS, and what is done on the host."""
    if op.kernel is STRUCTURED or op.host_io or op.has_resources:
        return False
    if not isinstance(op.native, NativeRule) or isinstance(op.native, Contraction):
        return False
    if isinstance(op.native, IndexMap) and not op.fresh:
        return False
    return not any(arg.is_shape for arg in op.args)


def _new_plan(op: Op, values: list[Any], attrs: dict[str, Any]) -> TieredPlan | None:
    graph = Graph(op.name)
    inputs = []
    for i, value in enumerate(values):
        dims = tuple([Dim() for _ in value.shape])
        spec = TensorSpec.of(dtypes.from_numpy(value.dtype), dims)
        inputs.append(graph.add_input(spec, f"input_{i}"))
    try:
        specs = infer(op, tuple(inputs), attrs)
    except (OpError, TypeError, ValueError):  # the kernel says what is wrong with the inputs
        return None
    node = graph.add_node(op, tuple(inputs), attrs, specs, op.name, user_location())
    graph.outputs = list(node.outputs)

    def kernel(*values: Any) -> Any:
        out = run_kernel(op, list(values), attrs)
        return (out,) if op.outputs == 1 else out

    return TieredPlan(graph, kernel)
