"""Functions on XLA, held against the same functions run eagerly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import weft as tf
from support.xla import close
from weft import nest
from weft._src.execution.xla.driver import XlaPlan


def plan_of(function: Any, *arguments: Any) -> XlaPlan:
    """The plan that runs a function, which has been called."""
    plan = function.get_concrete_function(*arguments).graph.plan.run
    assert isinstance(plan, XlaPlan)
    return plan


def check_program(
    body: Callable[..., Any],
    *arrays: Any,
    variables: Sequence[tf.Variable] = (),
    times: int = 2,
    segments: bool = False,
) -> XlaPlan:
    """Several calls give what eager ones give, results and variables, as one program.

    With `segments`, NumPy has a part in it.
    """
    arguments = [tf.constant(x) for x in arrays]
    start = [v.numpy() for v in variables]
    eager = [body(*arguments) for _ in range(times)]
    after = [v.numpy() for v in variables]
    for variable, value in zip(variables, start, strict=True):
        variable.assign(value)
    function = tf.function(body)
    got = [function(*arguments) for _ in range(times)]
    for one, other in zip(nest.flatten(got), nest.flatten(eager), strict=True):
        close(np.asarray(one), np.asarray(other), "result")
    for variable, value in zip(variables, after, strict=True):
        close(variable.numpy(), value, variable.name)
    plan = plan_of(function, *arguments)
    if segments:
        assert plan.left_out is not None
        assert plan.versions
        assert plan.versions[0].segments, plan.versions[0].left_out
    else:
        assert plan.left_out is None, plan.left_out
        assert plan.program is not None
    return plan
