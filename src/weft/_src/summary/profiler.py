"""`tf.profiler.experimental`: a trace of what runs between start and stop, for trace viewers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Self

from weft._src.core.flags import flags
from weft._src.errors import AlreadyExistsError, UnavailableError
from weft._src.fileio.paths import path_text
from weft._src.summary.profiling import Profile as Spans, Span


class ProfilerOptions(NamedTuple):
    """What of TensorFlow's profiler can be chosen; accepted, since there is one kind of trace.

    >>> tf.profiler.experimental.ProfilerOptions().host_tracer_level
    2
    """

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    device_tracer_level: int = 1
    delay_ms: int | None = None


class _Session:
    """Watches calls of functions; `Trace` adds what users name."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.spans = Spans()

    def __call__(self, concrete: Any, call: Callable[[], Any]) -> Any:
        return self.spans.watch(concrete.graph.name, call)


def _current() -> _Session | None:
    watcher = flags.call_watcher
    return watcher if isinstance(watcher, _Session) else None


def start(logdir: Any, options: ProfilerOptions | None = None) -> None:
    """Begins to note which functions run, and how long their nodes take.

    Args:
      logdir: the folder for the trace.
      options: accepted for compatibility.

    Raises:
      AlreadyExistsError: if it has begun already, or `tf.summary.trace_on` has.

    >>> import tempfile
    >>> tf.profiler.experimental.start(tempfile.mkdtemp())
    >>> tf.profiler.experimental.stop()
    """
    folder = path_text("profiler.start", logdir)
    if flags.call_watcher is not None:
        raise AlreadyExistsError(
            None,
            None,
            "profiler.start: a profiler or a trace is on already. End it with "
            "tf.profiler.experimental.stop() or tf.summary.trace_off().",
        )
    flags.watch_calls(_Session(folder))


def stop(save: bool = True) -> None:
    """Ends the profile and writes it.

    The file is `plugins/profile/<time>/<host>.trace.json.gz` in the folder of `start`; trace
    viewers such as Perfetto open it.

    Args:
      save: whether it is written.

    Raises:
      UnavailableError: if none has begun.

    >>> import glob, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.profiler.experimental.start(folder)
    >>> _ = tf.function(lambda x: x + 1)(1)
    >>> tf.profiler.experimental.stop()
    >>> len(glob.glob(folder + "/plugins/profile/*/*.trace.json.gz"))
    1
    """
    session = _current()
    if session is None:
        raise UnavailableError(
            None, None, "profiler.stop: no profile has begun. Use tf.profiler.experimental.start()."
        )
    flags.watch_calls(None)
    if save:
        session.spans.save(session.folder)


class Profile:
    """A context manager: what runs inside is written as a trace.

    >>> import tempfile
    >>> with tf.profiler.experimental.Profile(tempfile.mkdtemp()):
    ...     _ = tf.function(lambda x: x + 1)(1)
    """

    def __init__(self, logdir: Any, options: ProfilerOptions | None = None) -> None:
        self._logdir, self._options = logdir, options

    def __enter__(self) -> None:
        start(self._logdir, self._options)

    def __exit__(self, *_: object) -> None:
        stop()


class Trace:
    """A context manager that gives a part of the program a name in the trace.

    >>> with tf.profiler.experimental.Trace("step", step_num=3):
    ...     _ = tf.constant(1)
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        if not isinstance(name, str):
            raise TypeError(f"profiler.Trace: name must be text, got {name!r}.")
        self._name, self._details = name, dict(kwargs)
        self._began = 0

    def set_metadata(self, **kwargs: Any) -> None:
        """Adds what is shown behind the name.

        Args:
          **kwargs: names and values.
        """
        self._details.update(kwargs)

    def __enter__(self) -> Self:
        self._began = time.perf_counter_ns()
        return self

    def __exit__(self, *_: object) -> None:
        session = _current()
        if session is None:
            return
        shown = ",".join(f"{key}={value}" for key, value in self._details.items())
        name = f"{self._name}#{shown}#" if shown else self._name
        span = Span(name, "trace", self._began, time.perf_counter_ns(), threading.get_ident())
        session.spans.spans.append(span)
