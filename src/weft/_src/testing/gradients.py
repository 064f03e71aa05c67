"""Gradients against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft._src.autodiff.tape import GradientTape
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INEXACT
from weft._src.core.tensor import Tensor

Array = np.ndarray[Any, Any]


def check_grads(
    fn: Callable[..., Any],
    inputs: Sequence[Any],
    *,
    order: int = 2,
    eps: float = 1e-5,
    rtol: float = 1e-4,
    atol: float = 1e-5,
) -> None:
    """Compares the gradient of `fn`, and that gradient's own up to `order`, with differences.

    Inputs should be float64. Raises AssertionError naming the input and the order that differ.

    Args:
      fn: a function of tensors that returns a tensor or a list of them.
      inputs: its arguments; those that are neither floating nor complex are not moved.
      order: up to which derivative is checked.
      eps: how far inputs are moved to both sides.
      rtol: the relative tolerance; each further order has ten times as much.
      atol: the absolute tolerance; each further order has ten times as much.

    Raises:
      AssertionError: if a gradient has another value or shape.

    >>> tf.testing.check_grads(lambda x: tf.sin(x) * x, [np.array([0.5, 1.5])])
    """
    arrays = [np.array(x, copy=True) for x in inputs]
    differentiable = [i for i, x in enumerate(arrays) if x.dtype.kind in "fc"]
    _check(fn, arrays, differentiable, order, 1, eps, rtol, atol)


def _check(
    fn: Callable[..., Any],
    arrays: list[Array],
    wanted: list[int],
    order: int,
    level: int,
    eps: float,
    rtol: float,
    atol: float,
) -> None:
    outputs = _float_outputs(fn(*map(convert_to_tensor, arrays)))
    rng = np.random.default_rng(len(arrays) + level)
    weights = [_weight(rng, out) for out in outputs]
    gradient = _gradient_function(fn, weights, wanted)
    found = gradient(*map(convert_to_tensor, arrays))
    for i, g in zip(wanted, found, strict=True):
        expected = _differences(fn, weights, arrays, i, eps)
        if g is None:
            got = np.zeros_like(expected)
        else:
            assert g.shape == arrays[i].shape, (
                f"order {level}: the gradient of input {i} has shape {g.shape}, the input has "
                f"{arrays[i].shape}"
            )
            got = g.numpy()
        np.testing.assert_allclose(
            got, expected, rtol, atol, err_msg=f"gradient of input {i}, order {level}"
        )
    if level < order and any(g is not None for g in found):
        # The same slots must be differentiated again, so None stays out of the results.
        present = [k for k, g in enumerate(found) if g is not None]
        _check(
            lambda *xs: [gradient(*xs)[k] for k in present],
            arrays, wanted, order, level + 1, eps, rtol * 10, atol * 10,
        )  # fmt: skip


def _float_outputs(out: Any) -> list[Tensor]:
    flat = list(out) if isinstance(out, (list, tuple)) else [out]
    return [t for t in flat if t.dtype in INEXACT]


def _weight(rng: np.random.Generator, out: Tensor) -> Array:
    w = rng.uniform(0.5, 1.5, tuple(out.numpy().shape))
    return w.astype(out.dtype.numpy_dtype)


def _weighted_sum(fn: Callable[..., Any], weights: list[Array], arrays: list[Array]) -> float:
    outputs = _float_outputs(fn(*map(convert_to_tensor, arrays)))
    total = sum(np.sum(np.conj(w) * out.numpy()) for w, out in zip(weights, outputs, strict=True))
    return float(np.real(total))


def _gradient_function(
    fn: Callable[..., Any], weights: list[Array], wanted: list[int]
) -> Callable[..., list[Tensor | None]]:
    def gradient(*tensors: Tensor) -> list[Tensor | None]:
        sources = [tensors[i] for i in wanted]
        with GradientTape() as tape:
            tape.watch(sources)
            outputs = _float_outputs(fn(*tensors))
        found = tape.gradient(outputs, sources, output_gradients=weights)
        return [None if g is None else convert_to_tensor(g) for g in found]

    return gradient


def _differences(
    fn: Callable[..., Any], weights: list[Array], arrays: list[Array], i: int, eps: float
) -> Array:
    x = arrays[i]
    out = np.zeros_like(x)
    steps = (1.0, 1j) if x.dtype.kind == "c" else (1.0,)
    for at in np.ndindex(x.shape):
        for step in steps:
            values = []
            for side in (1, -1):
                moved = x.copy()
                moved[at] += side * eps * step
                values.append(_weighted_sum(fn, weights, [*arrays[:i], moved, *arrays[i + 1 :]]))
            out[at] += (values[0] - values[1]) / (2 * eps) * step
    return out
