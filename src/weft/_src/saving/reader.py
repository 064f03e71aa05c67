"""Single tensors of checkpoints: `tf.train.load_checkpoint` and its kin."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from weft._src.core.aliases import PathLike
from weft._src.core.dtypes import DType, plain
from weft._src.fileio.paths import path_text
from weft._src.saving.files import Reader, open_checkpoint
from weft._src.saving.states import latest_checkpoint

Array = np.ndarray[Any, Any]


class CheckpointReader:
    """Reads tensors of a checkpoint by their names.

    >>> path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write("reader")
    >>> reader = tf.train.load_checkpoint(path)
    >>> reader.get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE")
    array([1., 2.], dtype=float32)
    """

    def __init__(self, bundle: Reader) -> None:
        self._bundle = bundle

    def get_tensor(self, tensor_str: str) -> Any:
        """The value of a tensor.

        Args:
          tensor_str: its name.

        Returns:
          An array of its own; bytes for a single string.

        Raises:
          tf.errors.NotFoundError: if there is no tensor of that name.
          tf.errors.DataLossError: if its bytes are not those that were written.

        >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).write("get")
        >>> tf.train.load_checkpoint(path).get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE")
        np.float32(1.0)
        """
        found = np.array(plain(self._bundle.read(tensor_str)))
        return found if found.ndim else found[()]

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether there is a tensor of a name.

        Args:
          tensor_str: the name.

        Returns:
          A bool.

        >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).write("has")
        >>> tf.train.load_checkpoint(path).has_tensor("w")
        False
        """
        return tensor_str in self._bundle

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shapes of all tensors.

        Returns:
          A dict from names to lists of sizes.

        >>> path = tf.train.Checkpoint(v=tf.Variable([1.0])).write("shapes")
        >>> reader = tf.train.load_checkpoint(path)
        >>> reader.get_variable_to_shape_map()["v/.ATTRIBUTES/VARIABLE_VALUE"]
        [1]
        """
        return {key: list(self._bundle.dtype_and_shape(key)[1]) for key in self._bundle.names()}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """The dtypes of all tensors.

        Returns:
          A dict from names to dtypes.

        >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).write("dtypes")
        >>> reader = tf.train.load_checkpoint(path)
        >>> reader.get_variable_to_dtype_map()["v/.ATTRIBUTES/VARIABLE_VALUE"]
        tf.float32
        """
        return {key: self._bundle.dtype_and_shape(key)[0] for key in self._bundle.names()}

    def debug_string(self) -> bytes:
        """All tensors with dtype and shape, a line each.

        Returns:
          Bytes.

        >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).write("debug")
        >>> b"VARIABLE_VALUE (float32) []" in tf.train.load_checkpoint(path).debug_string()
        True
        """
        lines = []
        for key in self._bundle.names():
            dtype, shape = self._bundle.dtype_and_shape(key)
            lines.append(f"{key} ({dtype.name}) {list(shape)}")
        return "\n".join(lines).encode()


def load_checkpoint(ckpt_dir_or_file: PathLike) -> CheckpointReader:
    """A reader for a checkpoint.

    Args:
      ckpt_dir_or_file: its prefix, or a folder, of which the newest is taken.

    Returns:
      A `CheckpointReader`.

    Raises:
      ValueError: if the folder has no checkpoint.
      tf.errors.NotFoundError: if there is no such checkpoint.
      tf.errors.DataLossError: if its index is damaged.

    >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).write("load")
    >>> tf.train.load_checkpoint(path).has_tensor("v/.ATTRIBUTES/VARIABLE_VALUE")
    True
    """
    path = path_text("tf.train.load_checkpoint", ckpt_dir_or_file)
    if os.path.isdir(path):
        found = latest_checkpoint(path)
        if found is None:
            raise ValueError(f"tf.train.load_checkpoint: the folder {path!r} has no checkpoint.")
        path = found
    return CheckpointReader(open_checkpoint(path))


def load_variable(ckpt_dir_or_file: PathLike, name: str) -> Any:
    """The value of one tensor of a checkpoint.

    Args:
      ckpt_dir_or_file: its prefix, or a folder, of which the newest is taken.
      name: the name of the tensor; `:0` at its end is ignored.

    Returns:
      An array.

    Raises:
      tf.errors.NotFoundError: if there is no such checkpoint, or no such tensor.

    >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).write("one")
    >>> tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE")
    np.float32(1.0)
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def list_variables(ckpt_dir_or_file: PathLike) -> list[tuple[str, list[int]]]:
    """The names and shapes of all tensors of a checkpoint.

    Args:
      ckpt_dir_or_file: its prefix, or a folder, of which the newest is taken.

    Returns:
      A list of pairs, sorted by name.

    Raises:
      tf.errors.NotFoundError: if there is no such checkpoint.

    >>> path = tf.train.Checkpoint(v=tf.Variable([1.0])).write("list")
    >>> tf.train.list_variables(path)[-1]
    ('v/.ATTRIBUTES/VARIABLE_VALUE', [1])
    """
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    return sorted(shapes.items())
