"""Runs a function eagerly and as `tf.function`: everything that can be seen must be the same."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import weft as tf


class Outcome:
    """What one run of a function did: its result or exception, its output, its variables."""

    def __init__(
        self, run: Callable[..., Any], args: Sequence[Any], variables: Sequence[Any]
    ) -> None:
        out = io.StringIO()
        self.result: Any = None
        self.error: Exception | None = None
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                self.result = run(*args)
            except Exception as e:  # noqa: BLE001 - the class is what is compared
                self.error = e
        self.printed = out.getvalue()
        self.variables = [v.numpy() for v in variables]


def agree(
    function: Callable[..., Any], *args: Any, variables: Sequence[Any] = (), calls: int = 2
) -> Any:
    """The result of the eager run, with which every call of the traced function must agree.

    An exception is the result, if there is one: in the graph it must be of the same class.
    """
    start = [v.numpy() for v in variables]
    traced = tf.function(function)
    eager = Outcome(function, args, variables)
    for _ in range(calls):
        for v, value in zip(variables, start, strict=True):
            v.assign(value)
        graph = Outcome(traced, args, variables)
        _compare(eager, graph)
    return eager.error if eager.error is not None else eager.result


def agree_on(function: Callable[..., Any], *rows: Sequence[Any]) -> None:
    """Every row of arguments, as Python values and as tensors; results of both must agree too."""
    for row in rows:
        plain = agree(function, *row)
        staged = agree(function, *[tf.constant(value) for value in row])
        if isinstance(plain, Exception) or isinstance(staged, Exception):
            assert isinstance(staged, type(plain)), (plain, staged)
        else:
            same(plain, staged)


def _compare(eager: Outcome, graph: Outcome) -> None:
    if eager.error is not None or graph.error is not None:
        if not isinstance(graph.error, type(eager.error)):
            raise AssertionError(
                f"eager: {eager.error!r} {eager.result!r}\ngraph: {graph.error!r} {graph.result!r}"
            ) from graph.error
    else:
        same(eager.result, graph.result)
    assert graph.printed == eager.printed
    for a, b in zip(eager.variables, graph.variables, strict=True):
        np.testing.assert_array_equal(a, b)


def same(a: Any, b: Any) -> None:
    """Two results: the same structure, the same values."""
    tf.nest.assert_same_structure(a, b)
    for x, y in zip(tf.nest.flatten(a), tf.nest.flatten(b), strict=True):
        if x is None or y is None:
            assert x is y, (x, y)
        elif isinstance(x, (str, bytes)) or isinstance(y, (str, bytes)):
            assert _text(x) == _text(y)
        else:
            np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-6)


def _text(value: Any) -> str:
    value = value.numpy() if hasattr(value, "numpy") else value
    return value.decode() if isinstance(value, bytes) else str(value)
