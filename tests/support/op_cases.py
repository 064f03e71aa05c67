"""The one helper behind the op tables: a row becomes a test in every mode.

    Case(tf.cumsum, [f32(2, 3, 4)], dict(axis=1), expect=lambda x: np.cumsum(x, 1))

checks: eager against NumPy; the traced graph with known sizes, unknown sizes and unknown rank, on
the reference interpreter (which also holds inferred types against actual ones), on the NumPy plan,
raw and optimised, against eager; gradients of order 1 and 2 against finite differences in float64;
and gradients computed in the traced graph against the eager ones.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import weft as tf
from weft import nest
from weft._src.execution import reference
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.passes import optimize
from weft._src.graph.tracing import trace
from weft._src.graph.verify import verify
from weft.testing import check_grads


@dataclass(frozen=True)
class Sample:
    """An input to be drawn at random (seeded by the case): shape, dtype, range."""

    shape: tuple[int, ...]
    dtype: Any
    low: float = -2.0
    high: float = 2.0

    def draw(self, rng: np.random.Generator, float_dtype: Any = None) -> np.ndarray:
        dtype = np.dtype(self.dtype)
        if dtype.kind == "b":
            return rng.uniform(size=self.shape) < 0.5
        if dtype.kind in "iu":
            return rng.integers(int(self.low), int(self.high), self.shape).astype(dtype)
        wide = np.complex128 if dtype.kind == "c" else np.float64
        value = rng.uniform(self.low, self.high, self.shape)
        if dtype.kind == "c":
            value = value + 1j * rng.uniform(self.low, self.high, self.shape)
        return np.asarray(value).astype(wide if float_dtype else dtype)


def f32(*shape: int, low: float = -2.0, high: float = 2.0) -> Sample:
    return Sample(shape, np.float32, low, high)


def f64(*shape: int, low: float = -2.0, high: float = 2.0) -> Sample:
    return Sample(shape, np.float64, low, high)


def c64(*shape: int, low: float = -2.0, high: float = 2.0) -> Sample:
    return Sample(shape, np.complex64, low, high)


def i32(*shape: int, low: int = -9, high: int = 10) -> Sample:
    return Sample(shape, np.int32, low, high)


def i64(*shape: int, low: int = -9, high: int = 10) -> Sample:
    return Sample(shape, np.int64, low, high)


def boolean(*shape: int) -> Sample:
    return Sample(shape, np.bool_)


@dataclass
class Case:
    """One row of an op table.

    fn: called with the inputs as tensors and `attrs` as keywords.
    inputs: Samples, or arrays / nested lists used as they are.
    expect: the same computation in NumPy, on the arrays (without attrs); None to skip.
    grad: whether gradients exist and are checked (False for ops without, or at rough points).
    second: whether second-order gradients are checked too.
    unknown_shapes: also trace with unknown sizes and rank.
    unknown_rank: False if the function needs a known rank, so that only sizes are unknown.
    """

    fn: Callable[..., Any]
    inputs: Sequence[Any]
    attrs: dict[str, Any] = field(default_factory=dict)
    expect: Callable[..., Any] | None = None
    grad: bool = True
    second: bool = True
    unknown_shapes: bool = True
    unknown_rank: bool = True
    rtol: float = 1e-5
    atol: float = 1e-6
    label: str = ""

    @property
    def id(self) -> str:
        shapes = "_".join(
            "x".join(map(str, s.shape)) or "scalar" if isinstance(s, Sample) else "value"
            for s in self.inputs
        )
        attrs = ",".join(f"{k}={v}" for k, v in self.attrs.items())
        name = getattr(self.fn, "__name__", "fn")
        return self.label or f"{name}-{shapes}-{attrs}".replace(" ", "")

    def arrays(self, *, wide: bool = False) -> list[Any]:
        rng = np.random.default_rng(zlib.crc32(self.id.encode()))
        return [s.draw(rng, wide) if isinstance(s, Sample) else np.asarray(s) for s in self.inputs]

    def call(self, *tensors: Any) -> Any:
        return self.fn(*tensors, **self.attrs)


def check_case(case: Case) -> None:
    """Everything a row promises."""
    arrays = case.arrays()
    tensors = [tf.convert_to_tensor(a) for a in arrays]
    eager = case.call(*tensors)
    if case.expect is not None:
        _compare(case, eager, case.expect(*arrays), "eager against NumPy")
    for specs in _specs(case, tensors):
        _check_tiers(case, case.call, specs, tensors, eager)
    if case.grad:
        _check_gradients(case)


def _specs(case: Case, tensors: list[tf.Tensor]) -> list[list[tf.TensorSpec]]:
    known = [tf.TensorSpec(t.shape, t.dtype) for t in tensors]
    if not case.unknown_shapes:
        return [known]
    sizes = [tf.TensorSpec([None] * t.ndim, t.dtype) for t in tensors]
    rank = [tf.TensorSpec(None, t.dtype) for t in tensors]
    return [known, sizes, rank] if case.unknown_rank else [known, sizes]


def _check_tiers(case: Case, fn: Any, specs: Any, tensors: Any, eager: Any) -> None:
    graph = trace(fn, specs)
    verify(graph)
    values = [t._value for t in tensors] + [t._value for t, _ in graph.captures]
    optimized = optimize(graph)
    where = f"specs {specs}"
    _compare_flat(case, reference.run(graph, values), eager, f"reference, {where}")
    _compare_flat(case, NumpyPlan(graph)(*values), eager, f"numpy plan, {where}")
    _compare_flat(case, NumpyPlan(optimized)(*values), eager, f"optimised numpy plan, {where}")


def _check_gradients(case: Case) -> None:
    wide = case.arrays(wide=True)
    check_grads(case.call, wide, order=2 if case.second else 1)
    tensors = [tf.convert_to_tensor(a) for a in wide]
    wanted = [i for i, t in enumerate(tensors) if t.dtype.is_differentiable]

    def gradients(*xs: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([xs[i] for i in wanted])
            y = case.call(*xs)
        found = tape.gradient(y, [xs[i] for i in wanted])
        return [tf.convert_to_tensor(g) for g in found if g is not None]

    eager = gradients(*tensors)
    for specs in _specs(case, tensors):
        _check_tiers(case, gradients, specs, tensors, eager)


def _compare_flat(case: Case, got: Sequence[Any], eager: Any, what: str) -> None:
    expected = [t for t in nest.flatten(eager) if t is not None]
    assert len(got) == len(expected), f"{what}: {len(got)} outputs, expected {len(expected)}"
    for value, tensor in zip(got, expected, strict=True):
        _compare(case, tf.convert_to_tensor(value), tensor.numpy(), what)


def _compare(case: Case, got: Any, expected: Any, what: str) -> None:
    flat_got = nest.flatten(got)
    flat_expected = nest.flatten(expected)
    assert len(flat_got) == len(flat_expected), f"{what}: numbers of results differ"
    for g, e in zip(flat_got, flat_expected, strict=True):
        e = np.asarray(e)
        value = np.asarray(g.numpy())
        assert value.shape == e.shape, f"{what}: shape {value.shape}, expected {e.shape}"
        if value.dtype.kind in "OSb" or e.dtype.kind in "OSU":
            assert value.tolist() == e.tolist(), what
            continue
        wide = np.complex128 if "c" in (value.dtype.kind, e.dtype.kind) else np.float64
        np.testing.assert_allclose(
            value.astype(wide), e.astype(wide), case.rtol, case.atol, err_msg=what
        )
