"""Functions as machine code, held against the kernels of the eager mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import weft as tf
from weft import nest
from weft._src.core.machine_jobs import by_numpy
from weft._src.execution.native.driver import Compiled, compile_graph
from weft._src.graph.tracing import trace


def run_native(function: Callable[..., Any], *arrays: Any) -> list[np.ndarray]:
    """The flat results of a function that is compiled as a whole, without NumPy's help."""
    compiled, values = compile_native(function, *arrays)
    out = compiled(*values)
    assert out is not None, "machine code refused its inputs"
    return list(out)


def compile_native(function: Callable[..., Any], *arrays: Any) -> tuple[Compiled, list[Any]]:
    """The machine code of a function for such arrays, and what it has to be called with."""
    tensors = [tf.constant(a) for a in arrays]
    graph = trace(function, [tf.TensorSpec(t.shape, t.dtype) for t in tensors])
    values = [t._value for t in (*tensors, *[outer for outer, _ in graph.captures])]
    compiled = compile_graph(graph, values, whole=True)
    assert isinstance(compiled, Compiled)
    return compiled, values


def check(
    function: Callable[..., Any],
    *arrays: Any,
    rtol: float = 0.0,
    atol: float = 0.0,
    signs: bool = True,
) -> list[np.ndarray]:
    """Machine code gives what the eager kernels give: dtypes, shapes, values, signs of zeros.

    `signs=False` lets zeros have either sign.
    """
    got = run_native(function, *arrays)
    with by_numpy():
        wanted = function(*[tf.constant(a) for a in arrays])
    compare(got, wanted, rtol=rtol, atol=atol, signs=signs)
    return got


def check_program(
    function: Callable[..., Any],
    *arrays: Any,
    variables: Sequence[tf.Variable] = (),
    rtol: float = 0.0,
) -> list[np.ndarray]:
    """The same for Python code with control flow and assignments, twice in a row."""
    start = [v.numpy() for v in variables]
    tensors = [tf.constant(a) for a in arrays]
    wanted = [(function(*tensors), [v.numpy() for v in variables]) for _ in range(2)]
    for v, value in zip(variables, start, strict=True):
        v.assign(value)
    compiled, values = compile_native(tf.autograph.to_graph(function), *arrays)
    for results, state in wanted:
        got = compiled(*values)
        assert got is not None, "machine code refused its inputs"
        compare(got, results, rtol=rtol)
        for v, value in zip(variables, state, strict=True):
            np.testing.assert_allclose(v.numpy(), value, rtol, err_msg=v.name)
    return list(got)


def compare(
    got: Sequence[Any], wanted: Any, *, rtol: float = 0.0, atol: float = 0.0, signs: bool = True
) -> None:
    """Flat results against a structure of tensors; exactly, unless a tolerance is given."""
    expected = [item for item in nest.flatten_with_paths(wanted) if item[1] is not None]
    assert len(got) == len(expected)
    for a, (name, tensor) in zip(got, expected, strict=True):
        b = tf.constant(tensor).numpy()
        assert (a.dtype, a.shape) == (b.dtype, np.shape(b)), name
        if b.dtype.kind not in "fV":
            np.testing.assert_array_equal(a, b, err_msg=name)
            continue
        a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
        np.testing.assert_allclose(a, b, rtol, atol, err_msg=name)
        if signs and rtol == atol == 0.0:
            numbers = ~np.isnan(b)
            np.testing.assert_array_equal(
                np.signbit(a[numbers]), np.signbit(b[numbers]), err_msg=f"{name}: sign"
            )
