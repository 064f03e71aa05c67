"""`assert` and `raise`: at once in Python code, when the graph runs in staged code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src.autograph.operators import staging
from weft._src.autograph.operators.conditional import condition_tensor
from weft._src.autograph.operators.state import is_symbolic
from weft._src.core.aliases import ArrayNamespace
from weft._src.core.xla_rules import Lowered
from weft._src.ops.host.asserting import Assert
from weft._src.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, define_op


def _raise_kernel(xp: ArrayNamespace, *, exception: BaseException) -> tuple[()]:
    raise exception.with_traceback(None)  # that of an earlier run


raise_op = define_op(
    "Raise",
    (),
    infer=lambda *, exception: (),
    kernel=_raise_kernel,
    native=HOST_ONLY,
    xla=Lowered("raise"),
    vjp=NOT_DIFFERENTIABLE,
    outputs=0,
    host_io=True,
)


def raise_stmt(exception: Any, cause: Any = None, has_cause: bool = False) -> None:
    """`raise exception from cause`; in a block that may not run, a failure when the graph runs."""
    frame = staging.current()
    if frame is not None:
        frame.raised = True
        if isinstance(exception, type):
            exception = exception()
        if has_cause:
            exception.__cause__ = cause
        raise_op(exception=exception)
        return
    if has_cause:
        raise exception from cause
    raise exception


def assert_stmt(test: Any, message: Callable[[], Any]) -> None:
    """`assert test, message`."""
    if is_symbolic(test):
        text = message()
        Assert(condition_tensor(test), ["the condition is False" if text is None else text])
    elif not test:
        text = message()
        error = AssertionError() if text is None else AssertionError(text)
        if staging.current() is None:
            raise error
        raise_stmt(error)
