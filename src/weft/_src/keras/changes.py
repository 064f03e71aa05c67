"""What is changed in modules of Keras after they were loaded, each with its reason."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import weft as tf
from weft._src.keras.facade import module_of, tensorflow
from weft._src.keras.hook import Change


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


CHANGES: dict[str, Change] = {
    "keras.src.utils.module_utils": _lazy_modules,
    "keras.src.trainers.data_adapters": _data_adapters,
}
