"""`prefetch`: elements are made in a thread while the consumer works on those before.

Where making an element takes less than handing it over, the consumer makes it itself; what was
measured decides, again and again.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from weft._src.core.aliases import IntLike
from weft._src.data.core.base import (
    INPUT,
    DatasetBase,
    dataset_op,
    int64_scalar,
    number,
    refuse_unless,
)
from weft._src.data.core.stage import Cursor, Run, Stage
from weft._src.data.core.structure import Values
from weft._src.data.core.workers import Shared, Stopwatch, stop_with

if TYPE_CHECKING:
    from weft._src.data.dataset import Dataset

_AUTO = 4  # elements ahead, where the number is left to us
_IDLE_SECONDS = 0.5


class PrefetchStage(Stage):
    """The same elements, made ahead."""

    __slots__ = ("buffer_size", "source")

    def __init__(self, source: Stage, size: int) -> None:
        refuse_unless(
            size >= -1,
            "prefetch",
            f"buffer_size must be at least 0, or tf.data.AUTOTUNE, got {size}.",
        )
        self.source, self.buffer_size = source, size

    def cursor(self, run: Run) -> Cursor:
        source = self.source.cursor(run)
        size = self.buffer_size
        return source if size == 0 else PrefetchCursor(source, size, run)

    def cardinality(self) -> int:
        return self.source.cardinality()


_END: Any = object()  # stands behind the last element


class _Channel:
    """What the thread and the consumer share."""

    __slots__ = ("buffer", "running", "shared", "size", "source", "watch")

    def __init__(self, source: Cursor, size: int, watch: Stopwatch) -> None:
        self.shared = Shared()
        self.source, self.size, self.watch = source, size, watch
        self.buffer: deque[Any] = deque()  # elements, and maybe an error or the end behind them
        self.running = True


def _produce(channel: _Channel) -> None:
    """The thread: ends when it is told to, at an error, or when elements are made quickly."""
    shared, buffer = channel.shared, channel.buffer
    changed = shared.changed
    while True:
        with changed:
            while len(buffer) >= channel.size and not shared.stopped:
                changed.wait(_IDLE_SECONDS)
            if shared.stopped or not channel.watch.long:
                break
        try:
            item: Any = channel.watch(next, channel.source)
        except StopIteration:
            item = _END
        except BaseException as error:  # noqa: BLE001 - belongs to the consumer
            item = error
        with changed:
            buffer.append(item)
            changed.notify_all()
            if item is _END or isinstance(item, BaseException):
                break
    with changed:
        channel.running = False
        changed.notify_all()


class PrefetchCursor(Cursor):
    """The consumer's side."""

    def __init__(self, source: Cursor, size: int, run: Run) -> None:
        self._source, self._run = source, run
        self._size = _AUTO if size < 0 else size
        # Rows of arrays are there already.
        self._watch = Stopwatch(long=not source.blocks)
        self._channel: _Channel | None = None
        self._restored: deque[Values] = deque()
        self._ended = False

    def __next__(self) -> Values:
        if self._restored:
            return self._restored.popleft()
        if self._ended:
            raise StopIteration
        channel = self._channel
        if channel is None:
            if not self._watch.long or self._run.uses_variables:
                return self._watch(next, self._source)
            channel = self._start()
        changed = channel.shared.changed
        with changed:
            while not channel.buffer and channel.running:
                changed.wait(_IDLE_SECONDS)
            item = channel.buffer.popleft() if channel.buffer else None
            changed.notify_all()
            if not channel.buffer and not channel.running:
                self._channel = None
        if item is None:
            return next(self)
        if item is _END:
            self._ended = True
            raise StopIteration
        if isinstance(item, BaseException):
            raise item
        return item

    def start(self) -> None:
        """Starts to make elements before the first one is asked for."""
        if self._run.uses_variables or self._channel is not None:
            return
        if self._watch.long and not self._ended:
            self._start()

    def _start(self) -> _Channel:
        channel = self._channel = _Channel(self._source, self._size, self._watch)
        channel.shared.start(_produce, channel)
        stop_with(self, channel.shared)
        return channel

    def save(self) -> dict[str, Any]:
        """Elements that are ready are part of the position."""
        ready = list(self._restored)
        if self._channel is not None:
            ready += self._stop()
        state = {"ready": ready, "ended": self._ended, "source": self._source.save()}
        self._restored = deque(ready)
        return state

    def _stop(self) -> list[Values]:
        """Ends the thread, after the element it is at; what is ready."""
        channel = self._channel
        assert channel is not None
        channel.shared.stop()
        for thread in channel.shared.threads:
            thread.join()
        self._channel = None
        items = list(channel.buffer)
        self._ended = self._ended or (bool(items) and items[-1] is _END)
        return [item for item in items if isinstance(item, tuple)]

    def restore(self, state: dict[str, Any]) -> None:
        if self._channel is not None:
            self._stop()
        self._restored = deque(state["ready"])
        self._ended = state["ended"]
        self._source.restore(state["source"])

    def close(self) -> None:
        if self._channel is not None:
            self._channel.shared.stop()
        self._source.close()


prefetch_op = dataset_op(
    "PrefetchDataset",
    INPUT + number("buffer_size"),
    lambda xp, source, buffer_size: PrefetchStage(source, int(buffer_size)),
)


class PrefetchingMethods(DatasetBase):
    """Elements ahead of time."""

    def prefetch(self, buffer_size: IntLike, name: str | None = None) -> Dataset:
        """Makes up to `buffer_size` elements ahead in a thread; `tf.data.AUTOTUNE` is -1.

        Args:
          buffer_size: how many elements wait at most; None is `tf.data.AUTOTUNE`.

        Returns:
          A dataset of the same elements.

        Raises:
          tf.errors.InvalidArgumentError: if `buffer_size` is less than -1.

        >>> list(tf.data.Dataset.range(3).prefetch(2).as_numpy_iterator())
        [np.int64(0), np.int64(1), np.int64(2)]
        """
        size = int64_scalar("prefetch", "buffer_size", -1 if buffer_size is None else buffer_size)
        return self._derived(prefetch_op, size, name=name)
