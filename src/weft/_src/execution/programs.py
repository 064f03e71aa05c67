"""Eager calls of functions made of many ops (`ops/programs.py`): graphs, after some calls.

A program is made for dtypes and ranks, and for the numbers that decide about sizes; what it is
compiled for beyond that is the plan's business.
"""

from __future__ import annotations

import functools
from typing import Any

from weft._src.core import dtypes
from weft._src.core.convert import convert_to_tensor
from weft._src.core.flags import flags
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import EagerTensor
from weft._src.errors import OpError
from weft._src.execution.tiers import TieredPlan
from weft._src.graph.tracing import trace
from weft._src.ops.dispatch import as_value
from weft._src.ops.programs import Program

# Calls that are made op by op: to trace a function takes as long, and more where nothing was
# traced before.
_CALLS_BEFORE = 16
_MOST_PLANS = 64

_plans: dict[Any, TieredPlan] = {}
_calls: dict[Any, int] = {}  # of programs that have no plan


def run_program(function: Program, tensors: tuple[Any, ...], sizes: tuple[int, ...]) -> Any:
    """The results of a function for eager tensors, of which those at `sizes` are constants."""
    values = [x._value for x in tensors]
    key = (function, *[(v.dtype, v.ndim) for v in values])
    if sizes:
        key += tuple([values[at].tobytes() for at in sizes])
    plan = _plans.get(key)
    if plan is None:
        if not _is_worth_a_plan(key):
            return function(*tensors)
        plan = _plans[key] = _new_plan(function, tensors, sizes)
    if sizes:
        values = [value for at, value in enumerate(values) if at not in sizes]
    try:
        outputs = plan.run(*values)
    except OpError:
        return function(*tensors)  # which says what is wrong in the words of its ops
    if len(outputs) == 1:
        return EagerTensor(as_value(outputs[0]))
    return tuple([EagerTensor(as_value(value)) for value in outputs])


def _is_worth_a_plan(key: Any) -> bool:
    calls = _calls.pop(key, 0) + 1
    if calls <= _CALLS_BEFORE and flags.execution != "native":
        _make_room(_calls)
        _calls[key] = calls
        return False
    _make_room(_plans)
    return True


def _make_room(kept: dict[Any, Any]) -> None:
    """The oldest leaves, if there are too many; another thread may have been faster."""
    if len(kept) >= _MOST_PLANS:
        kept.pop(next(iter(kept), None), None)


def _new_plan(function: Program, tensors: tuple[Any, ...], sizes: tuple[int, ...]) -> TieredPlan:
    count = len(tensors)
    others = [at for at in range(count) if at not in sizes]
    known = {at: tensors[at].numpy() for at in sizes}  # and not the others, which would be kept
    specs = []
    for at in others:
        value = tensors[at]._value
        specs.append(
            TensorSpec.of(dtypes.from_numpy(value.dtype), tuple([Dim() for _ in value.shape]))
        )

    def with_sizes(*given: Any) -> Any:
        arguments = dict(zip(others, given, strict=True))
        for at, value in known.items():  # constants: an eager tensor would be captured
            arguments[at] = convert_to_tensor(value)
        return function(*[arguments[at] for at in range(count)])

    return TieredPlan(trace(functools.update_wrapper(with_sizes, function), specs))
