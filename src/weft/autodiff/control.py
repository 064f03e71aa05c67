"""Gradients of branches and loops in graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from weft.errors import UnsupportedError
from weft.ops.control.branch import case_op, if_op
from weft.ops.control.loop import while_op
from weft.ops.registry import Op, register_vjp


def _refuse(op: Op) -> Callable[..., Any]:
    def vjp(ctx: Any, *gs: Any) -> NoReturn:
        raise UnsupportedError(
            f"Weft cannot yet differentiate through {op.name} in a graph. Compute the gradient "
            "eagerly (outside of the traced function), where control flow runs as Python."
        )

    return vjp


for _op in (if_op, case_op, while_op):
    register_vjp(_op, _refuse(_op))
