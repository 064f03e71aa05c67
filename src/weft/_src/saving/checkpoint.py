"""`tf.train.Checkpoint`: the values of objects in files, and back."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from weft._src.core.aliases import PathLike
from weft._src.core.context import init_scope, state
from weft._src.core.dtypes import int64
from weft._src.fileio.paths import path_text
from weft._src.saving import background
from weft._src.saving.by_name import RestorationByName
from weft._src.saving.files import is_safetensors, numbered, open_checkpoint
from weft._src.saving.object_graph import OBJECT_GRAPH, Snapshot, snapshot_below
from weft._src.saving.restoring import Restoration
from weft._src.saving.safetensors import SafetensorsReader, stored_kind, write_safetensors
from weft._src.saving.sharding import checked_callback, sharded
from weft._src.saving.states import update_checkpoint_state
from weft._src.saving.status import CheckpointLoadStatus, InitializationOnlyStatus
from weft._src.saving.writing import write_bundle, write_files
from weft._src.state.tracking import AutoTrackable, is_trackable
from weft._src.state.variable import Variable


class CheckpointOptions:
    """How a checkpoint is written and read.

    >>> tf.train.CheckpointOptions(experimental_enable_async_checkpoint=True).enable_async
    True
    """

    def __init__(
        self,
        experimental_io_device: str | None = None,
        experimental_enable_async_checkpoint: bool = False,
        experimental_write_callbacks: list[Any] | None = None,
        enable_async: bool = False,
        experimental_skip_slot_variables: bool = False,
        experimental_sharding_callback: Any = None,
    ) -> None:
        self.experimental_io_device = experimental_io_device
        self.enable_async = experimental_enable_async_checkpoint or enable_async
        self.experimental_enable_async_checkpoint = self.enable_async
        self.experimental_write_callbacks = list(experimental_write_callbacks or ())
        self.experimental_skip_slot_variables = experimental_skip_slot_variables
        self.experimental_sharding_callback = checked_callback(experimental_sharding_callback)


_PLAIN = CheckpointOptions()
_WRITE = "tf.train.Checkpoint.write"


class Checkpoint(AutoTrackable):
    """Saves the values of the objects it is given, and restores them by the names that lead there.

    Objects are variables, modules, Keras models and optimizers, lists and dicts of them, tables and
    random generators. The files are those of TensorFlow: each library restores the other's. A name
    that ends in `.safetensors` gives a file of that kind, in which the names that lead to values
    are joined by dots; it holds no strings and no positions of datasets.

    >>> v = tf.Variable([1.0, 2.0])
    >>> checkpoint = tf.train.Checkpoint(v=v)
    >>> path = checkpoint.save("checkpoint")
    >>> _ = v.assign([0.0, 0.0])
    >>> _ = checkpoint.restore(path).assert_consumed()
    >>> v.numpy()
    array([1., 2.], dtype=float32)
    """

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        self._root = None
        for name, value in {"root": root, **kwargs}.items():
            if value is not None and not is_trackable(value) and not callable(value):
                raise ValueError(
                    f"tf.train.Checkpoint: {name} must be a variable, a module, a model, an "
                    f"optimizer, or a list or dict of such, got {value!r}."
                )
        for name, value in kwargs.items():
            setattr(self, name, value)
        self._root = root
        self._save_counter: Variable | None = None

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        found = super()._trackable_children(save_type, **kwargs)
        for private in ("_root", "_save_counter"):
            found.pop(private, None)
        if self._save_counter is not None:
            found["save_counter"] = self._save_counter
        return found

    @property
    def save_counter(self) -> Variable:
        """How often `save` was called, as a variable; it is saved too."""
        if self._save_counter is None:
            with init_scope():
                self._save_counter = Variable(0, dtype=int64, trainable=False, name="save_counter")
        return self._save_counter

    def _start(self) -> tuple[Any, dict[str, Any]]:
        """The object that is saved, and children that it has besides its own."""
        if self._root is None:
            return self, {}
        return self._root, self._trackable_children() | {"root": self._root}

    def write(self, file_prefix: PathLike, options: CheckpointOptions | None = None) -> str:
        """Writes a checkpoint under just this name; `save` counts them.

        Args:
          file_prefix: how the names of the files begin, or the name of a safetensors file.
          options: a `tf.train.CheckpointOptions`.

        Returns:
          The prefix, for `read` or `restore`.

        Raises:
          tf.errors.OpError: if the files cannot be written; those that were there stay.
          RuntimeError: if it is called while a function is traced.

        >>> tf.train.Checkpoint(v=tf.Variable(1.0)).write("written")
        'written'
        """
        return self._write(file_prefix, options or _PLAIN, after=())

    def _write(self, file_prefix: PathLike, options: CheckpointOptions, after: Any) -> str:
        if state.graph is not None:
            raise RuntimeError(
                "tf.train.Checkpoint.write and save write files at once, and a function is being "
                "traced. Call them outside of it."
            )
        prefix = path_text(_WRITE, file_prefix)
        root, extra = self._start()
        taken = snapshot_below(root, extra)
        callbacks = [*options.experimental_write_callbacks]
        flat = _flat(taken) if is_safetensors(prefix) else None

        def work() -> None:
            if flat is not None:
                write_safetensors(_WRITE, prefix, flat, {})
            else:
                graph = np.array(taken.graph().SerializeToString(), object)
                arrays = [*sorted(taken.arrays().items()), (OBJECT_GRAPH, graph)]
                sharding = options.experimental_sharding_callback
                if sharding is None:
                    write_bundle(prefix, arrays)
                else:
                    write_files(prefix, sharded(sharding, arrays, taken.owners()))
            for call in after:
                call(prefix)
            for callback in callbacks:
                callback(prefix) if _takes_argument(callback) else callback()

        background.writer.run(work, wait=not options.enable_async)
        return prefix

    def save(self, file_prefix: PathLike, options: CheckpointOptions | None = None) -> str:
        """Writes a checkpoint under a numbered name, and notes it as the newest of its folder.

        Args:
          file_prefix: how the names of the files begin; `-1`, `-2` and so on are appended.
          options: a `tf.train.CheckpointOptions`.

        Returns:
          The prefix with its number, for `restore`.

        Raises:
          tf.errors.OpError: if the files cannot be written; those that were there stay.
          RuntimeError: if it is called while a function is traced.

        >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        >>> checkpoint.save("saved"), checkpoint.save("saved")
        ('saved-1', 'saved-2')
        """
        if state.graph is not None:
            raise RuntimeError("tf.train.Checkpoint.save: a function is being traced.")
        prefix = path_text("tf.train.Checkpoint.save", file_prefix)
        number = int(self.save_counter.assign_add(1))
        try:
            return self._write(numbered(prefix, number), options or _PLAIN, after=[_note_newest])
        except BaseException:
            self.save_counter.assign_sub(1)
            raise

    def read(self, save_path: PathLike | None, options: CheckpointOptions | None = None) -> Any:
        """Restores what `write` wrote; like `restore`, without the counter.

        Args:
          save_path: the prefix.
          options: a `tf.train.CheckpointOptions`.

        Returns:
          A status: `assert_consumed()` and the like tell whether everything found its place.

        Raises:
          tf.errors.NotFoundError: if there is no such checkpoint.
          tf.errors.DataLossError: if it is damaged.
          ValueError: if a value has another shape or dtype than its variable.

        >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        >>> _ = checkpoint.read(checkpoint.write("read")).assert_consumed()
        """
        if state.graph is not None:
            raise RuntimeError("tf.train.Checkpoint.restore: a function is being traced.")
        if save_path is None:
            return InitializationOnlyStatus()
        background.writer.finish()
        prefix = path_text("tf.train.Checkpoint.restore", save_path)
        reader = open_checkpoint(prefix)
        root, extra = self._start()
        if isinstance(reader, SafetensorsReader) or OBJECT_GRAPH not in reader:
            return CheckpointLoadStatus(RestorationByName(reader, root, extra))
        return CheckpointLoadStatus(Restoration(reader, root, extra))

    def restore(self, save_path: PathLike | None, options: CheckpointOptions | None = None) -> Any:
        """Restores values from a checkpoint: at once, or when the objects they belong to come.

        Args:
          save_path: the prefix, as `save` returned it or `tf.train.latest_checkpoint` finds it;
            None restores nothing.
          options: a `tf.train.CheckpointOptions`.

        Returns:
          A status: `assert_consumed()` and the like tell whether everything found its place.
          One that is dropped without having been asked warns if something did not.

        Raises:
          tf.errors.NotFoundError: if there is no such checkpoint.
          tf.errors.DataLossError: if it is damaged.
          ValueError: if a value has another shape or dtype than its variable.

        >>> v = tf.Variable(1.0)
        >>> checkpoint = tf.train.Checkpoint(v=v)
        >>> path = checkpoint.save("restored")
        >>> _ = v.assign(5.0)
        >>> _ = checkpoint.restore(path).assert_consumed()
        >>> v.numpy()
        np.float32(1.0)
        """
        if save_path is not None:
            _ = self.save_counter  # so that it is restored
        return self.read(save_path, options)

    def sync(self) -> None:
        """Waits until what is written in the background is on the disk.

        Raises:
          tf.errors.OpError: if it could not be written.

        >>> tf.train.Checkpoint().sync()
        """
        background.writer.finish()


def _flat(taken: Snapshot) -> dict[str, Any]:
    """Values for a safetensors file; what it cannot hold is refused before anything is written."""
    found = taken.flat()
    for name, array in found.items():
        stored_kind(_WRITE, name, array)
    return found


def _takes_argument(callback: Any) -> bool:
    code = getattr(callback, "__code__", None)
    return code is not None and code.co_argcount - hasattr(callback, "__self__") > 0


def _note_newest(prefix: str) -> None:
    folder = os.path.dirname(prefix) or "."
    update_checkpoint_state(folder, prefix, [prefix])
