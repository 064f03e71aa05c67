"""Random straight-line programs in every mode: eager, reference, NumPy plan, raw and optimised."""

from __future__ import annotations

from typing import Any

import numpy as np

import weft as tf
from fuzzing.random_graphs import Program, grow
from weft._src.execution import reference
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.passes import optimize
from weft._src.graph.tracing import trace
from weft._src.graph.verify import verify


def check_modes(seed: int) -> str | None:
    """Random straight-line programs: eager against reference and NumPy plans, with gradients.

    None if all agree, else the program and what differed.
    """
    program = grow(seed)
    try:
        check(program)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        return f"program {seed}: {type(error).__name__}: {str(error)[:600]}\n{program}"
    return None


def specs_of(tensors: list[Any]) -> dict[str, list[tf.TensorSpec]]:
    return {
        "static": [tf.TensorSpec(t.shape, t.dtype) for t in tensors],
        "unknown sizes": [tf.TensorSpec([None] * t.ndim, t.dtype) for t in tensors],
        "unknown rank": [tf.TensorSpec(None, t.dtype) for t in tensors],
    }


def same(a: Any, b: Any, exact: bool) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind != "f" or not exact:
        return bool(np.allclose(a, b, 1e-4, 1e-5, equal_nan=True))
    nan = np.isnan(a)
    if not np.array_equal(nan, np.isnan(b)):
        return False
    a, b = a[~nan], b[~nan]
    # NumPy's functions may differ in the last place between vector and scalar loops, not in a sign.
    close = np.allclose(a, b, 1e-6 if a.dtype == np.float32 else 1e-14, 0)
    return bool(close and np.array_equal(np.signbit(a), np.signbit(b)))


def check(program: Program) -> None:
    """Everything a program promises."""
    tensors = [tf.constant(a) for a in program.arrays]
    # With all values returned nothing hides; with few of them values die and buffers are reused.
    for run in (program.returning_all(), program):
        eager = [t._value for t in run(*tensors)]
        for name, specs in specs_of(tensors).items():
            _check_tiers(run, specs, tensors, eager, name, exact=True)
    if program.has_branches:
        return
    wanted = [i for i, t in enumerate(tensors) if t.dtype.is_floating]

    def gradients(*xs: Any) -> list[Any]:
        with tf.GradientTape() as tape:
            tape.watch([xs[i] for i in wanted])
            y = [t for t in program(*xs) if t.dtype.is_floating]
        if not y:
            return []
        found = tape.gradient(y, [xs[i] for i in wanted])
        return [tf.convert_to_tensor(g) for g in found if g is not None]

    if wanted:
        eager = [t._value for t in gradients(*tensors)]
        for name, specs in specs_of(tensors).items():
            _check_tiers(gradients, specs, tensors, eager, f"gradients, {name}", exact=False)


def _check_tiers(
    fn: Any, specs: Any, tensors: Any, eager: list[Any], name: str, *, exact: bool
) -> None:
    try:
        graph = trace(fn, specs)
    except (TypeError, ValueError) as error:
        if "rank" in name or "sizes" in name:  # something has to be known while tracing
            return
        raise AssertionError(f"{name}: tracing failed: {error}") from error
    verify(graph)
    values = [t._value.copy() for t in tensors] + [t._value for t, _ in graph.captures]
    plan, optimized = NumpyPlan(graph), NumpyPlan(optimize(graph))
    runs = {
        "reference": lambda: reference.run(graph, values),
        "plan": lambda: plan(*values),
        "optimised plan": lambda: optimized(*values),
        "optimised plan, again": lambda: optimized(*values),
    }
    for tier, run in runs.items():
        results = run()
        assert len(results) == len(eager), f"{name}, {tier}: {len(results)} results"
        for got, expected in zip(results, eager, strict=True):
            assert same(got, expected, exact), f"{name}, {tier}: {got!r}, eager {expected!r}"
        for value, tensor in zip(values, tensors):
            assert same(value, tensor._value, True), f"{name}, {tier}: an input was changed"
