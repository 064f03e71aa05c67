"""`PreemptionCheckpointHandler`: saves and ends a program that somebody asks to end.

A process is asked by a signal, or by a function that is looked at every second. The next step of
training begins with the question whether one of the workers was asked; if so all of them save
together, and end with a code that says that they want to be started again. A new process restores
what was saved when it makes its handler.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from weft._src.core.aliases import PathLike
from weft._src.core.dtypes import int64
from weft._src.distribute import groups
from weft._src.errors import InvalidArgumentError
from weft._src.saving.checkpoint import Checkpoint
from weft._src.saving.manager import CheckpointManager
from weft._src.state.variable import Variable

RESTART = 42  # the exit code of a process that wants to be started again; TensorFlow's
_RUNS = "checkpointed_runs"  # the name of the counter in checkpoints; TensorFlow's
_LOOK_EVERY = 1.0  # seconds between two questions to a watcher

_log = logging.getLogger("weft")
_R = TypeVar("_R")


class TerminationConfig:
    """How a `PreemptionCheckpointHandler` learns that a process is to end, and what it does then.

    Args:
      termination_watcher_fn: a function that says whether this process will be ended; it is asked
        every second. None listens for the signal SIGTERM instead.
      exit_fn: what ends the process once all is saved; None exits with the code 42, after which
        `weft launch` starts the job again. If it returns, the program goes on.
      grace_period: for how many seconds the process may go on after the signal: it saves at once,
        trains on, and saves again and ends before they are over. None or 0 ends at once.
      save_fn: what saves, in place of the checkpoint; it gets the arguments of
        `save_checkpoint_if_preempted`.

    >>> tf.distribute.experimental.TerminationConfig(grace_period=30).grace_period
    30
    """

    def __init__(
        self,
        termination_watcher_fn: Callable[[], bool] | None = None,
        exit_fn: Callable[[], Any] | None = None,
        grace_period: float | None = None,
        save_fn: Callable[..., Any] | None = None,
    ) -> None:
        for name, given in {
            "termination_watcher_fn": termination_watcher_fn,
            "exit_fn": exit_fn,
            "save_fn": save_fn,
        }.items():
            if given is not None and not callable(given):
                raise TypeError(f"TerminationConfig: {name} must be a function, got {given!r}.")
        if grace_period is not None and grace_period < 0:
            raise ValueError(
                f"TerminationConfig: grace_period must not be negative, got {grace_period}."
            )
        self.termination_watcher_fn = termination_watcher_fn
        self.exit_fn = exit_fn
        self.grace_period = grace_period
        self.save_fn = save_fn


class PreemptionCheckpointHandler:
    """Saves a checkpoint and ends the program when the process is told to end.

    Making one restores the newest checkpoint, so that a program that is started again goes on. All
    workers of a job make one, and call `run` for the same steps.

    Args:
      cluster_resolver: that of the strategy; accepted for compatibility, as a job knows itself.
      checkpoint_or_checkpoint_manager: a `tf.train.Checkpoint`, which needs `checkpoint_dir`, or a
        `tf.train.CheckpointManager`.
      checkpoint_dir: the folder for checkpoints; all workers must see the same.
      termination_config: a `tf.distribute.experimental.TerminationConfig`.

    >>> v = tf.Variable(0)
    >>> handler = tf.distribute.experimental.PreemptionCheckpointHandler(
    ...     None, tf.train.Checkpoint(v=v), "preempted"
    ... )
    >>> for _ in range(handler.total_run_calls, 3):
    ...     _ = handler.run(lambda: v.assign_add(1))
    >>> v.numpy(), handler.total_run_calls
    (np.int32(3), 3)
    >>> handler.close()
    """

    def __init__(
        self,
        cluster_resolver: Any,
        checkpoint_or_checkpoint_manager: Checkpoint | CheckpointManager,
        checkpoint_dir: PathLike | None = None,
        termination_config: TerminationConfig | None = None,
    ) -> None:
        self._config = termination_config or TerminationConfig()
        self._manager = _manager_of(checkpoint_or_checkpoint_manager, checkpoint_dir)
        self._group: groups.Group | None
        self._group, self._number = groups.job[-1] if groups.job else (None, 0)
        self._asked_at: float | None = None  # when this process was asked to end
        self._deadline: float | None = None  # when all have to end, once one of them was asked
        self._save_seconds = 0.0  # how long saving takes
        self._is_watched = False  # in the scope of `watch_preemption_scope`
        self._end = threading.Event()
        checkpoint = self._manager.checkpoint
        if not hasattr(checkpoint, _RUNS):
            setattr(checkpoint, _RUNS, Variable(0, dtype=int64, trainable=False, name=_RUNS))
        self._runs: Variable = getattr(checkpoint, _RUNS)
        if self._config.save_fn is None:
            self._manager.restore_or_initialize()
        self._before: Any = None
        self._listen()

    # --- being asked -------------------------------------------------------------------------

    def _listen(self) -> None:
        if self._config.termination_watcher_fn is not None:
            threading.Thread(target=self._watch, name="weft preemption", daemon=True).start()
            return
        try:
            self._before = signal.signal(signal.SIGTERM, self._note)
        except ValueError:
            raise RuntimeError(
                "PreemptionCheckpointHandler: it must be made in the main thread, where signals "
                "arrive. TerminationConfig(termination_watcher_fn=...) works in any."
            ) from None

    def _watch(self) -> None:
        watcher = self._config.termination_watcher_fn
        assert watcher is not None
        while not self._end.wait(_LOOK_EVERY):
            if watcher():
                self._note()
                return

    def _note(self, *_: Any) -> None:
        if self._asked_at is None:
            self._asked_at = time.monotonic()

    def close(self) -> None:
        """Stops listening: the signal does again what it did before."""
        self._end.set()
        if self._before is not None and signal.getsignal(signal.SIGTERM) == self._note:
            signal.signal(signal.SIGTERM, self._before)

    # --- training ----------------------------------------------------------------------------

    @property
    def total_run_calls(self) -> int:
        """How often `run` was called, by processes before this one, too."""
        if self._is_watched:
            raise NotImplementedError(
                "PreemptionCheckpointHandler: in watch_preemption_scope() nobody counts runs. Keep "
                "a variable of your own in the checkpoint."
            )
        return int(self._runs.numpy())

    def run(self, distributed_train_function: Callable[..., _R], *args: Any, **kwargs: Any) -> _R:
        """Calls a function, unless a worker was asked to end: then saves and ends instead.

        Args:
          distributed_train_function: a step of training, or any other piece of work.
          *args: its arguments.
          **kwargs: its keyword arguments.

        Returns:
          What the function returns.

        >>> handler = tf.distribute.experimental.PreemptionCheckpointHandler(
        ...     None, tf.train.Checkpoint(v=tf.Variable(0)), "runs"
        ... )
        >>> handler.run(lambda x: x + 1, 2)
        3
        >>> handler.close()
        """
        self._save_if_asked()
        result = distributed_train_function(*args, **kwargs)
        self._runs.assign_add(1)
        return result

    @contextlib.contextmanager
    def watch_preemption_scope(self) -> Iterator[None]:
        """Inside, the program says itself when to save: `save_checkpoint_if_preempted`.

        Returns:
          A context manager.

        >>> handler = tf.distribute.experimental.PreemptionCheckpointHandler(
        ...     None, tf.train.Checkpoint(v=tf.Variable(0)), "watched"
        ... )
        >>> with handler.watch_preemption_scope():
        ...     for _ in range(3):
        ...         handler.save_checkpoint_if_preempted()
        >>> handler.close()
        """
        self._is_watched = True
        try:
            yield
        finally:
            self._is_watched = False

    def save_checkpoint_if_preempted(self, *args: Any, **kwargs: Any) -> None:
        """Saves and ends the program if a worker was asked to end; all workers must call it.

        Args:
          *args: arguments of `save_fn`, or of `tf.train.CheckpointManager.save`.
          **kwargs: their keyword arguments.

        >>> handler = tf.distribute.experimental.PreemptionCheckpointHandler(
        ...     None, tf.train.Checkpoint(v=tf.Variable(0)), "checked"
        ... )
        >>> handler.save_checkpoint_if_preempted()
        >>> handler.close()
        """
        self._save_if_asked(*args, **kwargs)

    # --- saving ------------------------------------------------------------------------------

    def _save_if_asked(self, *args: Any, **kwargs: Any) -> None:
        left = self._seconds_left()
        if left is None:
            return
        is_first = self._deadline is None
        if is_first:
            self._deadline = time.monotonic() + left
            _log.warning("A worker was asked to end: saving a checkpoint.")
            self._save(*args, **kwargs)
            left -= self._save_seconds
        # As long as saving took, twice: a last step has to fit in, too.
        if left > 2 * self._save_seconds and self._config.grace_period:
            return
        if not is_first:
            self._save(*args, **kwargs)
        self._asked_at = self._deadline = None  # for programs that go on
        self._exit()

    def _seconds_left(self) -> float | None:
        """How long all workers may go on, as the first says that was asked; None: for ever.

        With several workers this is a collective of a few bytes.
        """
        grace = self._config.grace_period or 0.0
        own = np.inf
        if self._asked_at is not None:
            own = max(self._asked_at + grace - time.monotonic(), 0.0)
        if self._group is not None:
            found = self._group.all_gather(self._number, [np.array(own)])
            own = min(float(parts[0]) for parts in found)
        return None if np.isinf(own) else own

    def _save(self, *args: Any, **kwargs: Any) -> None:
        started = time.monotonic()
        if self._config.save_fn is not None:
            self._config.save_fn(*args, **kwargs)
        elif self._number == 0:
            self._manager.save(*args, **kwargs)
        else:  # values that workers have together are read together
            folder = tempfile.mkdtemp(prefix="weft-worker-")
            try:
                self._manager.checkpoint.write(os.path.join(folder, "ckpt"))
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        self._save_seconds = time.monotonic() - started
        if self._group is not None:
            found = self._group.all_gather(self._number, [np.array(self._save_seconds)])
            self._save_seconds = max(float(parts[0]) for parts in found)

    def _exit(self) -> None:
        if self._config.exit_fn is not None:
            self._config.exit_fn()
            return
        _log.warning("The checkpoint is saved; the process ends with exit code %d.", RESTART)
        sys.exit(RESTART)


def _manager_of(
    given: Checkpoint | CheckpointManager, checkpoint_dir: PathLike | None
) -> CheckpointManager:
    if isinstance(given, CheckpointManager):
        return given
    if not isinstance(given, Checkpoint):
        raise TypeError(
            "PreemptionCheckpointHandler: a tf.train.Checkpoint or a tf.train.CheckpointManager is "
            f"expected, got {given!r}."
        )
    if not checkpoint_dir:
        raise InvalidArgumentError(
            None,
            None,
            "PreemptionCheckpointHandler: a tf.train.Checkpoint needs checkpoint_dir, the folder "
            "that it is saved in.",
        )
    return CheckpointManager(given, checkpoint_dir, max_to_keep=1)
