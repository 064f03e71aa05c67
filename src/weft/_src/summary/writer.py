"""Summary writers: where summaries go."""

from __future__ import annotations

import contextlib
from typing import Any

from weft._src.core.aliases import ArrayNamespace, PathLike, TensorLike
from weft._src.core.dtypes import RESOURCE
from weft._src.core.tensor import EagerTensor
from weft._src.fileio.paths import path_text
from weft._src.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, args, define_op
from weft._src.summary import recording
from weft._src.summary.event_file import EventFile


def _flush_kernel(xp: ArrayNamespace, writer: EventFile) -> tuple[()]:
    writer.flush()
    return ()


def _close_kernel(xp: ArrayNamespace, writer: EventFile) -> tuple[()]:
    writer.close()
    return ()


flush_op = define_op(
    "FlushSummaryWriter",
    args("writer", RESOURCE),
    infer=lambda writer: (),
    kernel=_flush_kernel,
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    outputs=0,
    writes=(0,),
    host_io=True,
)

close_op = define_op(
    "CloseSummaryWriter",
    args("writer", RESOURCE),
    infer=lambda writer: (),
    kernel=_close_kernel,
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    outputs=0,
    writes=(0,),
    host_io=True,
)


class SummaryWriter:
    """Something summaries can be written to; made by `tf.summary.create_file_writer`.

    A function that is traced writes to the writer that was the default one while it was traced.
    """

    records = True

    def __init__(self, file: EventFile) -> None:
        self._handle = EagerTensor(file)
        self._file = file

    def as_default(self, step: TensorLike | None = None) -> contextlib.AbstractContextManager[Any]:
        """Summaries inside go to this writer; `step` is their step unless they name one.

        Args:
          step: an integer, a scalar tensor or a variable; None keeps the step that is set.

        Returns:
          A context manager, for this thread.

        Raises:
          RuntimeError: if the writer is closed.
        """
        self._check_open()
        return recording.writing_to(self, step)

    def set_as_default(self, step: TensorLike | None = None) -> None:
        """Summaries of this thread go to this writer from now on.

        Args:
          step: the default step from now on; None keeps the one that is set.

        Raises:
          RuntimeError: if the writer is closed.
        """
        self._check_open()
        recording.state.writer = self
        if step is not None:
            recording.state.step = step

    def init(self) -> None:
        """Nothing is left to do: the file is there as soon as the writer is."""

    def flush(self) -> None:
        """Makes sure that everything is in the file, which it is as soon as it is written."""
        flush_op(self._handle)

    def close(self) -> None:
        """Closes the file; nothing can be written after that."""
        close_op(self._handle)

    def _check_open(self) -> None:
        if self._file.closed:
            raise RuntimeError(
                f"The summary writer of {self._file.path} is closed. Make another one."
            )

    def __repr__(self) -> str:
        return f"<SummaryWriter {self._file.path}>"


class _NoopWriter(SummaryWriter):
    """A writer that writes nothing; `with` it, what is around it goes on."""

    records = False

    def __init__(self) -> None:
        pass

    def as_default(self, step: TensorLike | None = None) -> contextlib.AbstractContextManager[Any]:
        """Changes nothing.

        Args:
          step: accepted for compatibility.

        Returns:
          A context manager.
        """
        return contextlib.nullcontext(self)

    def flush(self) -> None:
        """There is nothing to do."""

    def close(self) -> None:
        """There is nothing to do."""

    def _check_open(self) -> None:
        pass

    def __repr__(self) -> str:
        return "<SummaryWriter of nothing>"


def create_file_writer(
    logdir: PathLike,
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
    experimental_trackable: bool = False,
    experimental_mesh: Any = None,
) -> SummaryWriter:
    """A writer of an event file in a folder, which is made if it is not there.

    Events never wait, so `max_queue` and `flush_millis` change nothing.

    Args:
      logdir: the folder.
      max_queue: a number of at least 0, or None; without effect.
      flush_millis: a number of at least 0, or None; without effect.
      filename_suffix: the end of the file name; None is ".v2".
      name: accepted for compatibility.
      experimental_trackable: accepted for compatibility.
      experimental_mesh: must be None.

    Returns:
      A `SummaryWriter`.

    Raises:
      ValueError: if `logdir` is None, or another argument is not as it says here.
      TypeError: if `logdir` is no file name.
      tf.errors.OpError: of the class that fits, if the file cannot be made.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with tf.summary.create_file_writer(folder).as_default():
    ...     bool(tf.summary.scalar("loss", 0.5, step=1))
    True
    >>> [name.startswith("events.out.tfevents.") for name in os.listdir(folder)]
    [True]
    """
    if logdir is None:
        raise ValueError("create_file_writer: logdir must be a folder, got None.")
    if experimental_mesh is not None:
        raise ValueError("create_file_writer: Weft has no meshes; leave experimental_mesh out.")
    for argument, value in (("max_queue", max_queue), ("flush_millis", flush_millis)):
        if value is not None and (not isinstance(value, int) or value < 0):
            raise ValueError(
                f"create_file_writer: {argument} must be a number of at least 0, got {value!r}."
            )
    suffix = ".v2" if filename_suffix is None else filename_suffix
    if not isinstance(suffix, str) or "/" in suffix:
        raise ValueError(
            f"create_file_writer: filename_suffix must be the end of a file name, got {suffix!r}."
        )
    return SummaryWriter(EventFile(path_text("create_file_writer", logdir), suffix))


def create_noop_writer() -> SummaryWriter:
    """A writer that writes nothing: for code that wants one where there is none.

    `with writer.as_default()` changes nothing: where another writer is the default one, summaries
    go on to that. `set_as_default()` switches them off.

    Returns:
      A `SummaryWriter`.

    >>> with tf.summary.create_noop_writer().as_default():
    ...     bool(tf.summary.scalar("loss", 0.5, step=1))
    False
    """
    return _NoopWriter()


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> None:
    """Flushes a writer, the default one unless another one is given.

    Args:
      writer: the writer; None is the default one. If there is none, nothing happens.
      name: accepted for compatibility.

    Raises:
      ValueError: if it is something else.

    >>> tf.summary.flush()
    """
    writer = recording.state.writer if writer is None else writer
    if writer is None:
        return
    if not isinstance(writer, SummaryWriter):
        raise ValueError(f"flush: writer must be a summary writer, got {writer!r}.")
    writer.flush()
