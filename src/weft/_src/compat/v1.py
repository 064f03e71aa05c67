"""`tf.compat.v1`: building graphs by hand, as far as that is still of use."""

from __future__ import annotations

from typing import Any

from weft._src.compat import logging_v1 as logging  # noqa: F401 - a public name
from weft._src.core.aliases import TensorLike
from weft._src.core.context import state
from weft._src.core.convert import constant, convert_to_tensor
from weft._src.core.dtypes import int64
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.graph.ir import Graph
from weft._src.graph.names import valid_name
from weft._src.ops.arrays import selection, shape as shapes
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


_outside = Graph("default")


def get_default_graph() -> Graph:
    """The graph that is being built; outside of all, an empty one that nothing is put into.

    Returns:
      A `tf.Graph`.

    >>> with tf.Graph().as_default() as graph:
    ...     print(tf.compat.v1.get_default_graph() is graph)
    True
    """
    return _outside if state.graph is None else state.graph


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


def where(
    condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Elements of x where a condition holds, of y elsewhere; a vector of conditions chooses rows.

    Args:
      condition: bools of the shape of `x`, or one for each row of it.
      x: a tensor; None asks for the places where the condition holds.
      y: a tensor of the same shape and dtype.

    Returns:
      A tensor of the shape of `x`; without `x` and `y`, what `tf.where` gives.

    >>> tf.compat.v1.where([True, False], [[1, 2], [3, 4]], [[0, 0], [0, 0]]).numpy()
    array([[1, 2],
           [0, 0]], dtype=int32)
    """
    if x is None or y is None:
        return selection.where(condition, x, y, name=name)
    chosen, first = convert_to_tensor(condition), convert_to_tensor(x)
    if chosen.shape.rank == 1 and (first.shape.rank or 0) > 1:
        chosen = shapes.reshape(chosen, [-1] + [1] * (len(first.shape) - 1))
    return selection.where(chosen, first, y, name=name)
