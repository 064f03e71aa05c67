"""`weft.export`: a function as a file that other programs run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.aliases import PathLike
from weft._src.errors import InvalidArgumentError, UnsupportedError
from weft._src.function.concrete import ConcreteFunction

_FORMATS = ("stablehlo",)


def export(function: Any, path: PathLike, format: str = "stablehlo") -> None:
    """Writes a function to a file as a program of StableHLO, which jax reads and XLA compiles.

    The program is one for the sizes of the trace. Variables are part of it, with their values now.
    `jax.export.deserialize(bytes).call(*arrays)` runs it, without Weft; it takes the tensors among
    the arguments, flat, and gives the results, flat.

    Args:
      function: a concrete function, or a `tf.function` that has exactly one trace.
      path: where the file goes; one that is there is replaced.
      format: "stablehlo", the only one.

    Raises:
      ValueError: if there is no such format, or the function has no trace, or several.
      InvalidArgumentError: if a size of an argument is not known.
      UnsupportedError: if the function writes variables.
      UnimplementedError: if XLA has no form of something in it, or jax is not installed.

    >>> import pathlib, tempfile, jax
    >>> f = tf.function(lambda x: tf.tanh(x) * 2.0, input_signature=[tf.TensorSpec([3])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tf.export(f, f"{folder}/f.stablehlo")
    ...     loaded = jax.export.deserialize(pathlib.Path(f"{folder}/f.stablehlo").read_bytes())
    >>> loaded.call(np.zeros(3, np.float32))[0]
    Array([0., 0., 0.], dtype=float32)
    """
    if format not in _FORMATS:
        raise ValueError(f"export: format must be 'stablehlo', got {format!r}.")
    from weft._src.execution.xla import runtime

    runtime.require("weft.export")
    from weft._src.execution.xla import stages

    concrete = _concrete(function)
    graph = concrete.graph
    if graph.effects.writes:
        raise UnsupportedError(
            f"export: {graph.name} writes variables, which are constants in a file. Return what "
            "changes instead."
        )
    values = [_like(x) for x in graph.inputs]
    captured = [t._value for t in concrete.captured_inputs]  # type: ignore[attr-defined]
    Path(os.fsdecode(path)).write_bytes(stages.exported(graph, [*values, *captured]))


def _concrete(function: Any) -> ConcreteFunction:
    if isinstance(function, ConcreteFunction):
        return function
    if not hasattr(function, "get_concrete_function"):
        raise ValueError(f"export: function must be a tf.function, got {function!r}.")
    if getattr(function, "input_signature", None) is not None:
        return function.get_concrete_function()
    traces = function._list_all_concrete_functions()
    if len(traces) != 1:
        raise ValueError(
            f"export: {function!r} has {len(traces)} traces. Choose one with "
            "get_concrete_function(tf.TensorSpec(...)), and export that."
        )
    return traces[0]


def _like(tensor: Any) -> Any:
    """An array of the type of an argument."""
    if tensor.dtype is dtypes.resource:
        raise UnsupportedError("export: a variable cannot be an argument; let it be captured.")
    if not tensor.spec.is_static:
        raise InvalidArgumentError(
            None,
            None,
            f"export: the argument {tensor.node.name!r} has shape {tensor.shape}; a program is for "
            "one shape. Use get_concrete_function with sizes that are known.",
        )
    return np.zeros(tensor.spec.dims, tensor.dtype.numpy_dtype)
