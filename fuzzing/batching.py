"""Random functions of a row, done for all rows at once and one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import weft as tf
from fuzzing.random_graphs import Program, grow
from weft._src.graph.tracing import trace
from weft.errors import OpError

_ROUGH = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 1e-4, "float64": 1e-9}
_REFUSALS = (OpError, TypeError, ValueError)


def check_batching(seed: int) -> str | None:
    """Random graphs: all rows at once, in every mode, against a Python loop over the rows.

    None if both agree, else what differs.
    """
    rng = np.random.default_rng(seed)
    program = grow(seed, wide=True)
    n = int(rng.choice([1, 2, 3, 5]))
    rows = [_rows(rng, array, n) for array in program.arrays]
    is_row = [bool(rng.uniform() < 0.8) for _ in rows]
    is_row[0] = True
    with np.errstate(all="ignore"):
        problem = _check(program, rows, is_row, n)
        if problem is None:
            return None
        small, problem = _shrunk(program, rows, is_row, n, problem)
    shown = "\n".join([f"rows of v{i} = {a!r}" for i, a in enumerate(rows) if is_row[i]])
    return f"batching {seed}: {problem}\n{small}\n{shown}"


def _rows(rng: np.random.Generator, array: Any, n: int) -> Any:
    """Rows like an array: its elements in other orders."""
    if array.size == 0:
        return np.stack([array] * n)
    orders = [rng.integers(0, array.size, array.size) for _ in range(n)]
    return np.stack([array.reshape(-1)[order].reshape(array.shape) for order in orders])


def _shrunk(program: Program, rows: Any, is_row: Any, n: int, problem: str) -> tuple[Program, str]:
    for number in range(len(rows), program.size):
        alone = program.returning(number)
        found = _check(alone, rows, is_row, n)
        if found is not None:
            return alone, found
    return program, problem


def _check(program: Program, rows: list[Any], is_row: list[bool], n: int) -> str | None:
    fixed = [tf.constant(a[0]) for a in rows]
    moving = [tf.constant(a) for a, moves in zip(rows, is_row, strict=True) if moves]

    def of_row(parts: Any) -> Any:
        rest = iter(parts)
        full = [next(rest) if m else x for x, m in zip(fixed, is_row, strict=True)]
        return [tf.identity(x) for x in tf.nest.flatten(program(*full))]

    wanted = _loop(of_row, moving, n)
    if wanted is None or not _can_be_traced(of_row, moving):
        return None
    specs = [tf.TensorSpec([None, *x.shape[1:]], x.dtype) for x in moving]
    modes: dict[str, Callable[[], Any]] = {
        "eager": lambda: tf.vectorized_map(of_row, moving),
        "function": lambda: tf.function(lambda x: tf.vectorized_map(of_row, x))(moving),
        "any number of rows": lambda: tf.function(
            lambda x: tf.vectorized_map(of_row, x), input_signature=[specs]
        )(moving),
        "map_fn": lambda: tf.function(
            lambda x: tf.map_fn(of_row, x, fn_output_signature=[w.dtype for w in wanted])
        )(moving),
    }
    for mode, run in modes.items():
        problem = _compare(mode, run, wanted)
        if problem is not None:
            return problem
    return None


def _can_be_traced(of_row: Callable[[Any], Any], moving: list[Any]) -> bool:
    """Some programs ask for sizes that are known only when they run."""
    try:
        trace(of_row, [[tf.TensorSpec(x.shape[1:], x.dtype) for x in moving]])
    except _REFUSALS:
        return False
    return True


def _loop(of_row: Callable[[Any], Any], moving: list[Any], n: int) -> list[Any] | None:
    """The results of all rows, stacked; None if there are none, or they have different shapes."""
    try:
        found = [[x.numpy() for x in of_row([m[i] for m in moving])] for i in range(n)]
        return [np.stack(column) for column in zip(*found, strict=True)]
    except _REFUSALS:
        return None


def _compare(mode: str, run: Callable[[], Any], wanted: list[Any]) -> str | None:
    try:
        got = [x.numpy() for x in run()]
    except Exception as error:  # noqa: BLE001 - whatever it is, the loop did not raise it
        return f"{mode} raises {type(error).__name__}: {error}"
    for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{mode}: result {i} is {a.dtype}{a.shape}, not {b.dtype}{b.shape}"
        if not _close(a, b):
            return f"{mode}: result {i} is\n{a!r}, not\n{b!r}"
    return None


def _close(a: Any, b: Any) -> bool:
    tolerance = _ROUGH.get(a.dtype.name)
    if tolerance is None:
        return bool(np.array_equal(a, b))
    x, y = a.astype(np.float64), b.astype(np.float64)
    finite = y[np.isfinite(y)]
    scale = np.abs(finite).max(initial=1.0)
    return bool(np.allclose(x, y, tolerance, tolerance * min(scale, 1e3), equal_nan=True))
