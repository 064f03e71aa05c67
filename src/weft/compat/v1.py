"""`tf.compat.v1`: building graphs by hand, as far as that is still of use."""

from __future__ import annotations

from typing import Any

from weft.autodiff.gradients import gradients as gradients, hessians as hessians
from weft.compat import v1_logging as logging  # noqa: F401 - a public name
from weft.core.context import executing_eagerly as executing_eagerly, state
from weft.core.missing import missing_name as _missing_name
from weft.core.specs import TensorSpec
from weft.core.tensor import Tensor
from weft.graph.ir import Graph as Graph
from weft.graph.names import name_scope as name_scope, valid_name
from weft.ops.control.branch import case as case, cond as cond
from weft.ops.control.loop import while_loop as while_loop


def enable_eager_execution(
    config: Any = None, device_policy: Any = None, execution_mode: Any = None
) -> None:
    """Makes ops run at once, as they do anyway: the first line of many programs.

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


def __getattr__(name: str) -> Any:
    raise _missing_name(__name__, name, globals())
