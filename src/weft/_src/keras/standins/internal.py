"""`tf.__internal__`: base classes of Keras' layers and variables, and its scratch graphs."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import weft as tf
from weft._src.core import xp
from weft._src.core.context import building, state
from weft._src.core.tensor import EagerTensor as EagerTensor, SymbolicTensor
from weft._src.graph.ir import Graph
from weft._src.keras.standins.composites import CompositeTensor as CompositeTensor
from weft._src.state.tracking import AutoTrackable, Trackable


class TensorLike:
    """The base of Keras' variables: what acts as a tensor (`tf.is_tensor`), but is none."""

    is_tensor_like = True


def _tracked_by_hand(method: Callable[..., Any]) -> Callable[..., Any]:
    """Attributes that the method sets do not become children of the object."""

    @functools.wraps(method)
    def untracked(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = getattr(self, "_self_setattr_tracking", True)
        self._self_setattr_tracking = False
        try:
            return method(self, *args, **kwargs)
        finally:
            self._self_setattr_tracking = before

    return untracked


tracking = SimpleNamespace(
    Trackable=Trackable,
    AutoTrackable=AutoTrackable,
    no_automatic_dependency_tracking=_tracked_by_hand,
)
types = SimpleNamespace(Tensor=TensorLike)
tf2 = SimpleNamespace(enabled=lambda: True)
decorator = SimpleNamespace(
    # The function behind a decorator of TensorFlow's; Keras asks for callables of the user.
    unwrap=lambda function: ([], getattr(function, "python_function", function))
)


class FuncGraph:
    """A graph in which Keras calls a layer to learn the shapes of its results.

    It must see the tensors of the graph around it: a model that is built while a step of training
    is traced captures what that has computed.
    """

    def __init__(self, name: str) -> None:
        self._graph = Graph(name) if state.graph is None else state.graph.nested(name)

    @contextlib.contextmanager
    def as_default(self) -> Iterator[Graph]:
        """Ops called inside are added to the graph."""
        with building(self._graph):
            yield self._graph


def _known(pred: Any) -> Any:
    """The value of a condition that is made of sizes and constants; None if it is not known."""
    found = tf.get_static_value(pred)
    if found is None and isinstance(pred, SymbolicTensor) and pred.node.op.elementwise:
        inputs = [_known(x) for x in pred.node.inputs]
        if all(x is not None for x in inputs):
            return pred.node.op.kernel(xp, *inputs, **pred.node.attrs)
    return found


def _smart_cond(
    pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None = None
) -> Any:
    """A condition that is known while tracing is decided there."""
    known = _known(pred) if tf.is_tensor(pred) else pred
    if known is None:
        return tf.cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return true_fn() if known else false_fn()


smart_cond = SimpleNamespace(smart_cond=_smart_cond)
eager_context = SimpleNamespace(eager_mode=tf.init_scope)


def _maybe_merge_call(
    function: Callable[..., Any], strategy: Any, *args: Any, **kwargs: Any
) -> Any:
    """Calls a function of all replicas; a strategy of one replica has nothing to merge."""
    context = tf.distribute.get_replica_context()
    if context is not None and strategy.extended._use_merge_call():
        return context.merge_call(function, args=args, kwargs=kwargs)
    return function(strategy, *args, **kwargs)


distribute = SimpleNamespace(
    interim=SimpleNamespace(maybe_merge_call=_maybe_merge_call),
    strategy_supports_no_merge_call=lambda: (
        not (tf.distribute.get_strategy().extended._use_merge_call())
    ),
)
