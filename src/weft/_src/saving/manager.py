"""`tf.train.CheckpointManager`: a folder of checkpoints, of which the newest are kept."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from typing import Any

from weft._src.core.aliases import PathLike
from weft._src.core.tensor import Tensor
from weft._src.errors import DataLossError, NotFoundError
from weft._src.fileio.paths import path_text
from weft._src.saving import background
from weft._src.saving.checkpoint import Checkpoint, CheckpointOptions
from weft._src.saving.files import delete, is_there, numbered, open_checkpoint
from weft._src.saving.states import get_checkpoint_state, update_checkpoint_state
from weft._src.state.variable import Variable

_log = logging.getLogger("weft")


class CheckpointManager:
    """Saves checkpoints into a folder, and deletes old ones.

    With a `checkpoint_name` that ends in `.safetensors` they are files of that kind.

    >>> v = tf.Variable(0.0)
    >>> manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), "manager", max_to_keep=2)
    >>> for step in range(3):
    ...     path = manager.save(checkpoint_number=step)
    >>> [os.path.basename(path) for path in manager.checkpoints]
    ['ckpt-1', 'ckpt-2']
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: PathLike,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Variable | None = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                f"tf.train.CheckpointManager: max_to_keep must be positive, or None to keep all, "
                f"got {max_to_keep}."
            )
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError(
                "tf.train.CheckpointManager: checkpoint_interval needs a step_counter."
            )
        self._checkpoint = checkpoint
        self._directory = path_text("tf.train.CheckpointManager", directory)
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._max_to_keep = max_to_keep
        self._keep_every = keep_checkpoint_every_n_hours
        self._step_counter, self._interval = step_counter, checkpoint_interval
        self._init_fn = init_fn
        self._last_step = last_checkpoint_step
        self._kept: dict[str, float] = {}  # when each was written, the newest last
        self._last_preserved = time.time()
        self._adopt()

    def _adopt(self) -> None:
        """Goes on with what an earlier process has left in the folder."""
        state = get_checkpoint_state(self._directory)
        if state is None:
            return
        paths = list(state.all_model_checkpoint_paths)
        stamps = list(state.all_model_checkpoint_timestamps)
        if len(stamps) != len(paths):
            stamps = [time.time()] * len(paths)
        for path, stamp in zip(paths, stamps, strict=True):
            if is_there(path):
                self._kept[path] = stamp
        if state.last_preserved_timestamp:
            self._last_preserved = state.last_preserved_timestamp

    @property
    def directory(self) -> str:
        """The folder."""
        return self._directory

    @property
    def checkpoint(self) -> Checkpoint:
        """What is saved."""
        return self._checkpoint

    @property
    def checkpoint_interval(self) -> int | None:
        """How many steps lie between two checkpoints at least."""
        return self._interval

    @property
    def checkpoints(self) -> list[str]:
        """The prefixes of those that are kept, the newest last."""
        return list(self._kept)

    @property
    def latest_checkpoint(self) -> str | None:
        """The newest one; None if there is none."""
        return self.checkpoints[-1] if self._kept else None

    def save(
        self,
        checkpoint_number: Any = None,
        check_interval: bool = True,
        options: CheckpointOptions | None = None,
        wait: bool = True,
    ) -> str | None:
        """Saves a checkpoint, and deletes what is too old.

        Args:
          checkpoint_number: the number in its name; None counts.
          check_interval: whether nothing is saved before `checkpoint_interval` steps have passed.
          options: a `tf.train.CheckpointOptions`.
          wait: whether it is on the disk when this returns; else it is written in the background,
            and a failure is raised by the next `save`, by `sync`, or told when the process ends.

        Returns:
          The prefix; None if nothing was saved because it is too early.

        Raises:
          tf.errors.OpError: if the files cannot be written; those that were there stay.

        >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        >>> manager = tf.train.CheckpointManager(checkpoint, "saves", max_to_keep=3)
        >>> manager.save(checkpoint_number=7)
        'saves/ckpt-7'
        """
        if self._interval is not None and check_interval and self._is_too_early():
            return None
        chosen = options or CheckpointOptions()
        if not wait:
            chosen = CheckpointOptions(
                enable_async=True,
                experimental_write_callbacks=chosen.experimental_write_callbacks,
            )
        counter = self._checkpoint.save_counter
        counter.assign_add(1)
        number = int(counter if checkpoint_number is None else _number(checkpoint_number))
        if self._step_counter is not None:
            self._last_step = int(self._step_counter)
        try:
            return self._checkpoint._write(numbered(self._prefix, number), chosen, [self._written])
        except BaseException:
            counter.assign_sub(1)
            raise

    def _is_too_early(self) -> bool:
        assert self._step_counter is not None
        assert self._interval is not None
        return self._last_step is not None and int(self._step_counter) < (
            self._last_step + self._interval
        )

    def _written(self, path: str) -> None:
        """A checkpoint is on the disk: it becomes the newest, and old ones may go."""
        self._kept.pop(path, None)
        self._kept[path] = time.time()
        going = self._too_old()
        self._note()
        for old in going:
            delete(old)

    def _too_old(self) -> list[str]:
        going = []
        while self._max_to_keep is not None and len(self._kept) > self._max_to_keep:
            path, stamp = next(iter(self._kept.items()))
            del self._kept[path]
            if self._keep_every is not None and stamp - 3600 * self._keep_every >= (
                self._last_preserved
            ):
                self._last_preserved = stamp  # it stays for good, and nobody counts it any more
            else:
                going.append(path)
        return going

    def _note(self) -> None:
        update_checkpoint_state(
            self._directory,
            self.checkpoints[-1],
            self.checkpoints,
            list(self._kept.values()),
            self._last_preserved,
        )

    def sync(self) -> None:
        """Waits until what is written in the background is on the disk.

        Raises:
          tf.errors.OpError: if it could not be written.

        >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        >>> manager = tf.train.CheckpointManager(checkpoint, "sync", max_to_keep=3)
        >>> _ = manager.save(wait=False)
        >>> manager.sync()
        """
        background.writer.finish()

    wait = sync

    def restore_or_initialize(self) -> str | None:
        """Restores the newest checkpoint that is whole; without one, calls `init_fn`.

        Returns:
          The prefix of what was restored; None if there was nothing.

        >>> v = tf.Variable(1.0)
        >>> manager = tf.train.CheckpointManager(
        ...     tf.train.Checkpoint(v=v), "restores", max_to_keep=3
        ... )
        >>> path = manager.save()
        >>> manager.restore_or_initialize() == path
        True
        """
        background.writer.finish()
        for path in reversed(self.checkpoints):
            try:
                open_checkpoint(path).verify()
                self._checkpoint.restore(path).expect_partial()
            except (DataLossError, NotFoundError) as error:
                _log.warning("%s is not whole, the one before it is taken: %s", path, error)
                continue
            if self._step_counter is not None:
                self._last_step = int(self._step_counter)
            return path
        if self._init_fn is not None:
            self._init_fn()
        return None


def _number(value: Any) -> Any:
    return value.numpy() if isinstance(value, (Tensor, Variable)) else value
