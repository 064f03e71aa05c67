"""`tf.test.compute_gradient`: Jacobians by gradients and by finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.autodiff.tape import GradientTape
from weft._src.core.aliases import TensorNest
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INEXACT
from weft._src.core.tensor import Array, Tensor
from weft._src.ops.arrays import shape as shapes


def compute_gradient(
    f: Callable[..., Any], x: TensorNest, delta: float | None = None
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """The Jacobians of `f` with respect to each of the inputs, and estimates of them.

    Each is a matrix with a row per element of the result and a column per element of the input.
    The estimates are differences over `delta` (1/1024) to both sides.

    Args:
      f: a function of as many tensors as `x` has, that returns one tensor.
      x: a list of floating or complex inputs.
      delta: how far inputs are moved; None is 1/1024.

    Returns:
      Two tuples of matrices, one for each input: what the tape gives, and the estimates.

    Raises:
      ValueError: if `x` is no list, or an input is neither floating nor complex.
      TypeError: if `f` is not callable.

    >>> exact, estimated = tf.test.compute_gradient(lambda x: x * x, [[1.0, 3.0]])
    >>> exact[0]
    array([[2., 0.],
           [0., 6.]], dtype=float32)
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError(f"compute_gradient: x must be a list of inputs, got {x!r}.")
    if not callable(f):
        raise TypeError(f"compute_gradient: f must be callable, got {f!r}.")
    inputs = [convert_to_tensor(value) for value in x]
    for i, value in enumerate(inputs):
        if value.dtype not in INEXACT:
            raise ValueError(f"compute_gradient: x[{i}] must be floating, got {value.dtype.name}.")
    step = 1.0 / 1024 if delta is None else float(delta)
    exact = tuple([_exact(f, inputs, i) for i in range(len(inputs))])
    estimated = tuple([_estimated(f, inputs, i, step) for i in range(len(inputs))])
    return exact, estimated


def _flat(f: Callable[..., Any], inputs: list[Tensor]) -> Tensor:
    return shapes.reshape(convert_to_tensor(f(*inputs)), [-1])


def _exact(f: Callable[..., Any], inputs: list[Tensor], i: int) -> Array:
    with GradientTape(persistent=True) as tape:
        tape.watch(inputs[i])
        out = _flat(f, inputs)
    count = out.shape.num_elements() or 0
    size = inputs[i].shape.num_elements() or 0
    found = np.zeros((count, size), inputs[i].dtype.numpy_dtype)
    for row in range(count):
        seed = np.zeros(count, out.dtype.numpy_dtype)
        seed[row] = 1
        g = tape.gradient(out, inputs[i], output_gradients=convert_to_tensor(seed))
        if g is not None:
            found[row] = np.asarray(convert_to_tensor(g)).reshape(-1)
    return found


def _estimated(f: Callable[..., Any], inputs: list[Tensor], i: int, step: float) -> Array:
    base = inputs[i].numpy()
    base = np.asarray(base)
    columns = []
    for place in range(base.size):
        sides = []
        for sign in (step, -step):
            moved = base.copy()
            moved.reshape(-1)[place] += sign
            changed = [*inputs[:i], convert_to_tensor(moved), *inputs[i + 1 :]]
            sides.append(np.asarray(_flat(f, changed)).astype(np.complex128))
        columns.append((sides[0] - sides[1]) / (2 * step))
    count = _flat(f, inputs).shape.num_elements() or 0
    matrix = np.stack(columns, 1) if columns else np.zeros((count, 0), np.complex128)
    kept = matrix if inputs[i].dtype.is_complex else matrix.real
    return kept.astype(inputs[i].dtype.numpy_dtype)
