"""`tf.compat.v1`: building graphs by hand, as far as that is still of use."""

from __future__ import annotations

from typing import Any

from weft._src.compat import logging_v1 as logging  # noqa: F401 - a public name
from weft._src.core.context import state
from weft._src.core.convert import constant
from weft._src.core.dtypes import int64
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.graph.ir import Graph
from weft._src.graph.names import valid_name
from weft._src.ops.sparse.tensor import SparseTensor


def enable_eager_execution(
    config: Any = None, device_policy: Any = None, execution_mode: Any = None
) -> None:
    """Makes ops run at once, as they do anyway: the first line of many programs.

    Args:
      config: accepted for compatibility.
      device_policy: accepted for compatibility.
      execution_mode: accepted for compatibility.

    Raises:
      ValueError: if a graph is being built.

    >>> tf.compat.v1.enable_eager_execution()
    """
    if state.graph is not None:
        raise ValueError("tf.compat.v1.enable_eager_execution: a graph is being built.")


def enable_v2_behavior() -> None:
    """Makes TensorFlow 1 behave as TensorFlow 2: there is nothing to do.

    >>> tf.compat.v1.enable_v2_behavior()
    """


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor of the graph that is being built, whose value is given when it runs.

    Args:
      dtype: the dtype of the values.
      shape: their shape, with None for unknown sizes; None alone is an unknown rank.
      name: the name of the tensor; None is "Placeholder".

    Returns:
      A symbolic tensor, the next input of the graph.

    Raises:
      RuntimeError: if no graph is being built.

    >>> with tf.Graph().as_default() as graph:
    ...     x = tf.compat.v1.placeholder(tf.float32, (None, 5), name="x")
    ...     y = tf.matmul(x, tf.ones([5, 2]))
    >>> y.shape
    TensorShape([None, 2])
    """
    if state.graph is None:
        raise RuntimeError(
            "tf.compat.v1.placeholder needs a graph to be built: `with tf.Graph().as_default():`. "
            "In a tf.function, arguments are the placeholders."
        )
    graph: Graph = state.graph
    return graph.add_input(TensorSpec(shape, dtype), valid_name(name or "Placeholder"))


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """A sparse tensor of the graph that is being built, whose parts are given when it runs.

    Args:
      dtype: the dtype of the values.
      shape: the dense shape, with None for unknown sizes; None alone is an unknown rank.
      name: the name of the parts; None is "Placeholder".

    Returns:
      A `tf.SparseTensor` of symbolic tensors, the next three inputs of the graph.

    Raises:
      RuntimeError: if no graph is being built.

    >>> with tf.Graph().as_default():
    ...     x = tf.compat.v1.sparse_placeholder(tf.float32, (None, 5))
    >>> x.shape
    TensorShape([None, 5])
    """
    known = TensorShape(shape)
    name = name or "Placeholder"
    indices = placeholder(int64, (None, known.rank), f"{name}/indices")
    values = placeholder(dtype, (None,), f"{name}/values")
    if known.is_fully_defined():
        dense_shape = constant(known, int64)
    else:
        dense_shape = placeholder(int64, (known.rank,), f"{name}/shape")
    out = SparseTensor(indices, values, dense_shape)
    out.set_shape(known)
    return out


def reset_default_graph() -> None:
    """Forgets the graph that TensorFlow 1 builds by default: there is none, each has its `with`.

    Raises:
      ValueError: if a graph is being built.

    >>> tf.compat.v1.reset_default_graph()
    """
    if state.graph is not None:
        raise ValueError("tf.compat.v1.reset_default_graph: a graph is being built.")
