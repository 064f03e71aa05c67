"""Names of several private modules that TensorFlow Probability reads, one or two of each."""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Callable
from typing import Any

import weft as tf

_log = logging.getLogger("tensorflow")
# `tensorflow.python.platform.tf_logging`
debug, info, warn, warning, error = (
    _log.debug, _log.info, _log.warning, _log.warning, _log.error,
)  # fmt: skip
INFO, WARN, ERROR = logging.INFO, logging.WARNING, logging.ERROR


def tf_export(*names: str, **kwargs: Any) -> Callable[[Any], Any]:
    """`tensorflow.python.util.tf_export`: a decorator that enters a name in TensorFlow's list."""
    return lambda function: function


def GraphOrParentsInXlaContext(graph: Any) -> bool:  # noqa: N802 - its name
    """`tensorflow.python.ops.control_flow_util`: XLA does not run what asks."""
    return False


def _case_helper(
    cond_fn: Callable[..., Any], pred_fn_pairs: Any, default: Any, exclusive: bool, name: str,
    allow_python_preds: bool = False, **kwargs: Any,
) -> Any:  # fmt: skip
    """`tensorflow.python.ops.control_flow_case`: `tf.case` with a condition of one's own."""
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    last = default
    if last is None:
        *pairs, (_, last) = pairs
    for predicate, function in reversed(pairs):
        last = functools.partial(cond_fn, predicate, function, last)
    return last()


def convert_variables_to_tensors(values: Any) -> Any:
    """`tensorflow.python.util.variable_utils`: the values of the variables in a nest."""
    return tf.nest.map_structure(
        lambda x: tf.convert_to_tensor(x) if isinstance(x, tf.Variable) else x, values
    )


def prevent_gradient(input: Any, message: str = "", name: str | None = None) -> Any:
    """`tensorflow.python.ops.array_ops`: a tensor whose gradient is an error."""

    @tf.custom_gradient
    def passed(x: Any) -> Any:
        def refuse(*_: Any) -> Any:
            raise LookupError(f"The gradient is asked for where there is none: {message}")

        return tf.identity(x), refuse

    return passed(input)


def pfor(loop_fn: Callable[[Any], Any], iters: Any, *args: Any, **kwargs: Any) -> Any:
    """`tensorflow.python.ops.parallel_for.control_flow_ops`: a function of numbers, all at once."""
    return tf.vectorized_map(loop_fn, tf.range(iters))


class BoolGauge:
    """`tensorflow.python.eager.monitoring`: counts who uses what; nobody does here."""

    def __init__(self, *args: Any) -> None:
        self._name = args[0]

    def get_cell(self, *labels: str) -> Any:
        """A counter that does not count."""
        return contextlib.nullcontext()


class TrackableDataStructure:
    """`tensorflow.python.trackable.data_structures`: wrappers of lists, which Weft does without."""


def do_not_doc_inheritable(obj: Any) -> Any:
    """`tensorflow.tools.docs.doc_controls`: a decorator for TensorFlow's documentation."""
    return obj


do_not_generate_docs = for_subclass_implementers = do_not_doc_inheritable
