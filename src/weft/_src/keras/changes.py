"""What is changed in modules of Keras after they were loaded, each with its reason."""

from __future__ import annotations

import functools
import inspect
import os
from importlib import import_module
from types import ModuleType
from typing import Any

import weft as tf
from weft._src.keras import training
from weft._src.keras.facade import module_of, tensorflow
from weft._src.keras.hook import Change

_ARRAYS = "keras.src.trainers.data_adapters.array_data_adapter"


def _lazy_modules(module: ModuleType) -> None:
    """Keras imports TensorFlow by name when it is first used, which no hook on imports sees."""
    for lazy, found in (
        (module.tensorflow, tensorflow()),
        (module.gfile, module_of("tensorflow.io.gfile")),
    ):
        lazy.module = found
        lazy._available = True


def _data_adapters(module: ModuleType) -> None:
    """Keras recognises datasets by the name of their class and its module."""

    def is_tf_dataset(x: Any) -> bool:
        return isinstance(x, (tf.data.Dataset, tf.distribute.DistributedDataset))

    vars(module)["is_tf_dataset"] = is_tf_dataset


def _kinds_of_data(module: ModuleType) -> None:
    """Tensors too are recognised by the module of their class."""
    vars(module).update(
        is_tensorflow_tensor=tf.is_tensor,
        is_tensorflow_ragged=lambda x: isinstance(x, tf.RaggedTensor),
        is_tensorflow_sparse=lambda x: isinstance(x, tf.SparseTensor),
    )


def _ragged_tensors(module: ModuleType) -> None:
    """So are ragged tensors, by the text of their class."""
    vars(module)["is_ragged_tensor"] = lambda x: isinstance(x, tf.RaggedTensor)


def _downloads(module: ModuleType) -> None:
    """Without a network it helps to know where a file is looked for."""
    get_file = module.get_file

    @functools.wraps(get_file)
    def get_file_or_say_where(*args: Any, **kwargs: Any) -> Any:
        try:
            return get_file(*args, **kwargs)
        except Exception as error:
            if "URL fetch failure" not in str(error):
                raise
            given = inspect.signature(get_file).bind(*args, **kwargs)
            given.apply_defaults()
            asked = given.arguments
            folder = os.path.expanduser(asked["cache_dir"] or module.config.keras_home())
            name = asked["fname"] or os.path.basename(asked["origin"])
            place = os.path.join(folder, asked["cache_subdir"], name)
            raise type(error)(
                f"{error}. Without a network, put the file there by hand: {place}"
            ) from None

    vars(module)["get_file"] = get_file_or_say_where


def _training(module: ModuleType) -> None:
    """Steps are called one by one, and batches of arrays are cut out of the arrays."""
    trainer, epochs = module.TensorFlowTrainer, module.TFEpochIterator

    def make_function(self: Any, step_function: Any) -> Any:
        return training.make_function(self, step_function, module.reduce_per_replica)

    def init(self: Any, distribute_strategy: Any = None, *args: Any, **kwargs: Any) -> None:
        super(epochs, self).__init__(*args, **kwargs)
        self._distribute_strategy = distribute_strategy
        adapter = self.data_adapter
        found = None
        alone = getattr(distribute_strategy, "num_replicas_in_sync", 1) == 1
        if alone and isinstance(adapter, import_module(_ARRAYS).ArrayDataAdapter):
            found = training.batches(adapter, module.array_slicing, module.tree)
        if found is None:
            found = adapter.get_tf_dataset()
            if not isinstance(found, tf.distribute.DistributedDataset):
                found = distribute_strategy.experimental_distribute_dataset(found)
        self._distributed_dataset = found

    trainer._make_function = make_function
    epochs.__init__ = init


CHANGES: dict[str, Change] = {
    "keras.src.utils.module_utils": _lazy_modules,
    "keras.src.trainers.data_adapters": _data_adapters,
    "keras.src.trainers.data_adapters.data_adapter_utils": _kinds_of_data,
    "keras.src.utils.file_utils": _downloads,
    "keras.src.utils.tf_utils": _ragged_tensors,
    "keras.src.backend.tensorflow.trainer": _training,
}
