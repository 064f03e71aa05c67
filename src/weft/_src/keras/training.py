"""How `fit`, `evaluate` and `predict` get their batches and run their steps on Weft.

Keras puts taking the next batch into the compiled function, and has arrays go through a pipeline
of datasets. Both are right where calling a function is dear and data has to get to an accelerator;
here a call takes a microsecond or two, so a batch is cut out of the arrays and given to the
function of one step. What is computed, and with which random numbers, is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

import weft as tf
from weft._src.core.tensor import EagerTensor


def make_function(trainer: Any, step_function: Callable[..., Any], reduce: Any) -> Any:
    """What `Trainer._make_function` returns: a function of an iterator that runs a step or more."""

    @tf.autograph.experimental.do_not_convert
    def one_step_on_data(data: Any) -> Any:
        outputs = trainer.distribute_strategy.run(step_function, args=(data,))
        return reduce(outputs, trainer.distribute_strategy, reduction="auto")

    if not trainer.run_eagerly:
        one_step_on_data = tf.function(
            one_step_on_data, reduce_retracing=True, jit_compile=trainer.jit_compile
        )
    step = trainer._autoconvert_optionals(one_step_on_data)

    def function(iterator: Any) -> Any:
        outputs = missing = object()
        for _ in range(trainer.steps_per_execution):
            # The first batch that is missing ends the epoch, and any other one this execution.
            try:
                data = next(iterator)
            except (StopIteration, tf.errors.OutOfRangeError):
                if outputs is missing:
                    raise
                break
            outputs = step(data)
        return outputs

    return function


class ArrayBatches:
    """The batches of arrays that Keras' pipeline would make, in the same order."""

    def __init__(self, adapter: Any, arrays: Any, tree: ModuleType) -> None:
        self._arrays = arrays
        self._tree = tree
        self._batch_size: int = adapter._batch_size
        self._rows: int = adapter._num_samples
        self._is_shuffled = bool(adapter._shuffle)
        # The numbers of the rows, as the pipeline draws them: once for each time it is run.
        self._orders = tf.data.Dataset.range(1).map(self._order)

    def _order(self, _: Any) -> Any:
        return tf.random.shuffle(tf.range(self._rows, dtype=tf.int64))

    def __iter__(self) -> Iterator[Any]:
        flat = [None if x is None else x._value for x in self._tree.flatten(self._arrays)]
        pack = self._tree.pack_sequence_as
        order = next(iter(self._orders))._value if self._is_shuffled else None
        for start in range(0, self._rows, self._batch_size):
            rows = slice(start, start + self._batch_size)
            yield pack(self._arrays, [_taken(array, order, rows) for array in flat])


def _taken(array: Any, order: Any, rows: slice) -> Any:
    if array is None:
        return None
    return EagerTensor(array[rows] if order is None else np.take(array, order[rows], axis=0))


def batches(adapter: Any, slicing: ModuleType, tree: ModuleType) -> ArrayBatches | None:
    """The batches of an adapter of dense arrays; None if they are something else."""
    if adapter._shuffle == "batch":  # each batch draws numbers of its own
        return None
    sliceable = slicing.convert_to_sliceable(adapter._inputs, target_backend="tensorflow")
    arrays = tree.lists_to_tuples(sliceable)
    leaves = tree.flatten(arrays)
    if not all(x is None or isinstance(x, (np.ndarray, tf.Tensor)) for x in leaves):
        return None
    return ArrayBatches(adapter, tree.map_structure(_tensor, arrays), tree)


def _tensor(x: Any) -> Any:
    """A tensor with the values of an array; what changes the array later does not change it."""
    return None if x is None else tf.convert_to_tensor(x)
