"""`shuffle`, and random numbers as a dataset: the order is that of TensorFlow for the same seeds.

Hot path. A buffer holds elements that wait; the next one is drawn from it and the buffer is filled
up. If the source is a table (rows of arrays that are there already), the buffer holds numbers of
rows, and a batch gathers its rows at once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, IntLike
from weft._src.core.dtypes import int64
from weft._src.core.random_numbers.philox import philox_words
from weft._src.core.specs import TensorSpec
from weft._src.data.core.base import (
    INPUT,
    DatasetBase,
    dataset_op,
    int64_scalar,
    make_dataset,
    number,
    refuse_unless,
    static_bool,
)
from weft._src.data.core.stage import INFINITE, UNKNOWN, Cursor, Run, Stage
from weft._src.data.core.structure import Values
from weft._src.ops.sampling.streams import seed_pair

if TYPE_CHECKING:
    from weft._src.data.dataset import Dataset

Seeds = tuple[int, int]  # the key, and the high half of the counter, of a stream of numbers
_LOW64 = (1 << 64) - 1


class Numbers:
    """Uniform 32-bit numbers; its position is how many have been drawn."""

    _PIECE = 4096

    def __init__(self, seeds: Seeds, drawn: int = 0) -> None:
        self.seeds = seeds
        self.drawn = drawn
        self._ready: list[int] = []
        self._at = 0

    def next(self) -> int:
        """One number."""
        if self._at >= len(self._ready):
            self._fill(64 if self.drawn < 1024 else self._PIECE)
        value = self._ready[self._at]
        self._at += 1
        self.drawn += 1
        return value

    def many(self, n: int) -> np.ndarray[Any, Any]:
        """The next n numbers as an array."""
        out = self._words(self.drawn, n)
        self.drawn += n
        self._ready, self._at = [], 0
        return out

    def _fill(self, n: int) -> None:
        self._ready, self._at = self._words(self.drawn, n).tolist(), 0

    def _words(self, first: int, n: int) -> np.ndarray[Any, Any]:
        key, high = self.seeds
        block, skip = divmod(first, 4)
        counter = ((high & _LOW64) << 64) + block
        return philox_words(key & _LOW64, counter, -(-(skip + n) // 4))[skip : skip + n]


class SeedSource:
    """The seeds of one iteration after the other: the same ones, or new ones each time."""

    def __init__(self, seeds: Seeds, renewed: bool) -> None:
        self._seeds, self._renewed = seeds, renewed
        self._numbers = Numbers(seeds)
        self._lock = threading.Lock()

    def take(self) -> Seeds:
        """The seeds of the next iteration."""
        if not self._renewed:
            return self._seeds
        with self._lock:
            return self._numbers.next(), self._numbers.next()


# --- shuffle -------------------------------------------------------------------------------------


class ShuffleStage(Stage):
    """The elements in another order."""

    __slots__ = ("buffer_size", "seeds", "source")

    def __init__(self, source: Stage, size: int, seeds: SeedSource) -> None:
        refuse_unless(
            size > 0 or size == UNKNOWN,
            "shuffle",
            f"buffer_size must be at least 1, or tf.data.UNKNOWN_CARDINALITY, got {size}.",
        )
        self.source, self.buffer_size, self.seeds = source, size, seeds

    def cursor(self, run: Run) -> Cursor:
        size = self.buffer_size
        if size == UNKNOWN:
            size = self.source.cardinality()
            refuse_unless(
                size != INFINITE, "shuffle", "all elements are to be shuffled, but there is no end."
            )
            size = 1 << 62 if size == UNKNOWN else max(size, 1)
        table = self.source.table()
        if table is not None:
            return _TableShuffleCursor(table, size, self.seeds.take())
        return _ShuffleCursor(self.source.cursor(run), size, self.seeds.take())

    def cardinality(self) -> int:
        return self.source.cardinality()


class _Buffer:
    """Items that wait, in the order of TensorFlow's ring: the drawn one changes places with the
    first, and the next item goes to the end.
    """

    def __init__(self, size: int, seeds: Seeds) -> None:
        self.size = size
        self.items: list[Any] = []
        self.first = 0  # items before it are gone
        self.numbers = Numbers(seeds)

    def __len__(self) -> int:
        return len(self.items) - self.first

    def draw(self) -> Any:
        """Takes out a random item."""
        items, first = self.items, self.first
        i = first + self.numbers.next() % (len(items) - first)
        item = items[i]
        items[i] = items[first]
        items[first] = None
        self.first = first + 1
        if self.first > 1024 and self.first > len(items) // 2:
            del items[: self.first]
            self.first = 0
        return item

    def save(self) -> Any:
        """What it holds, as data."""
        waiting = self.items[self.first :]
        return {"items": waiting, "seeds": self.numbers.seeds, "drawn": self.numbers.drawn}

    def restore(self, state: Any) -> None:
        """Takes over what was saved."""
        self.items, self.first = list(state["items"]), 0
        self.numbers = Numbers(state["seeds"], state["drawn"])


class _ShuffleCursor(Cursor):
    own = ("_ended",)
    inputs = ("_source",)

    def __init__(self, source: Cursor, size: int, seeds: Seeds) -> None:
        self._source = source
        self._buffer = _Buffer(size, seeds)
        self._ended = False

    def __next__(self) -> Values:
        buffer = self._buffer
        if not self._ended:
            missing = buffer.size - len(buffer)
            before = len(buffer.items)
            buffer.items.extend(islice(self._source, missing))
            self._ended = len(buffer.items) - before < missing
        if not len(buffer):
            raise StopIteration
        return buffer.draw()

    def save(self) -> dict[str, Any]:
        return {**super().save(), "buffer": self._buffer.save()}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self._buffer.restore(state["buffer"])


class _TableShuffleCursor(Cursor):
    """Rows of arrays: numbers of rows are shuffled, and rows gathered."""

    blocks = True

    def __init__(self, arrays: Sequence[Any], size: int, seeds: Seeds) -> None:
        self._arrays = arrays
        self._plain = all(a.dtype != object for a in arrays)
        self._size, self._seeds = size, seeds
        self._order: Iterator[int] = _shuffled_numbers(len(arrays[0]), size, seeds)
        self._at = 0

    def __next__(self) -> Values:
        i = next(self._order)
        self._at += 1
        if self._plain:
            return tuple([a[i] for a in self._arrays])
        return tuple([a[i, ...] for a in self._arrays])

    def rows(self, n: int) -> Values:
        numbers = list(islice(self._order, n))
        if not numbers:
            raise StopIteration
        self._at += len(numbers)
        return tuple([a[numbers] for a in self._arrays])

    def save(self) -> dict[str, Any]:
        return {"at": self._at, "seeds": self._seeds}

    def restore(self, state: dict[str, Any]) -> None:
        self._seeds, self._at = state["seeds"], state["at"]
        self._order = _shuffled_numbers(len(self._arrays[0]), self._size, self._seeds)
        next(islice(self._order, self._at, self._at), None)


_PIECE = 2048


def _shuffled_numbers(n: int, size: int, seeds: Seeds) -> Iterator[int]:
    """The numbers below n as a buffer of a size gives them; draws are made many at a time."""
    numbers = Numbers(seeds)
    size = min(size, n)
    items = list(range(n))
    for start in range(0, n, _PIECE):
        stop = min(n, start + _PIECE)
        # As many items as fit are waiting, fewer when the end is near.
        waiting = np.minimum(size, n - np.arange(start, stop))
        places = numbers.many(stop - start).astype(np.int64) % waiting
        for first, place in enumerate(places.tolist(), start):
            i = first + place
            item = items[i]
            items[i] = items[first]
            yield item


def _shuffle_kernel(
    xp: ArrayNamespace, source: Stage, buffer_size: Any, *, seeds: Seeds, reshuffle: bool
) -> Stage:
    return ShuffleStage(source, int(buffer_size), SeedSource(seeds, reshuffle))


shuffle_op = dataset_op("ShuffleDatasetV3", INPUT + number("buffer_size"), _shuffle_kernel)


# --- random --------------------------------------------------------------------------------------


class RandomStage(Stage):
    """Random numbers without end."""

    __slots__ = ("seeds",)

    def __init__(self, seeds: SeedSource) -> None:
        self.seeds = seeds

    def cursor(self, run: Run) -> Cursor:
        return _RandomCursor(self.seeds.take())

    def cardinality(self) -> int:
        return INFINITE


class _RandomCursor(Cursor):
    blocks = True

    def __init__(self, seeds: Seeds) -> None:
        self._numbers = Numbers(seeds)

    def __next__(self) -> Values:
        return (np.int64(self._numbers.next()),)

    def rows(self, n: int) -> Values:
        return (self._numbers.many(n).astype(np.int64),)

    def save(self) -> dict[str, Any]:
        return {"seeds": self._numbers.seeds, "drawn": self._numbers.drawn}

    def restore(self, state: dict[str, Any]) -> None:
        self._numbers = Numbers(state["seeds"], state["drawn"])


random_op = dataset_op(
    "RandomDatasetV2",
    (),
    lambda xp, *, seeds, rerandomize: RandomStage(SeedSource(seeds, rerandomize)),
)


class ShufflingMethods(DatasetBase):
    """Random order and random numbers."""

    def shuffle(
        self,
        buffer_size: IntLike,
        seed: IntLike | None = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> Dataset:
        """The elements in random order, each drawn from a buffer of the next `buffer_size` ones.

        With seeds the order is determined. Unless `reshuffle_each_iteration` is False, it is
        another one each time the dataset is iterated over.

        Args:
          buffer_size: the size of the buffer; `tf.data.UNKNOWN_CARDINALITY` holds all elements.
          seed: what the order depends on; None lets `tf.random.set_seed` or chance decide.
          reshuffle_each_iteration: whether each iteration has its own order; None is True.

        Returns:
          A dataset of the same elements.

        Raises:
          tf.errors.InvalidArgumentError: if `buffer_size` is less than 1.

        >>> dataset = tf.data.Dataset.range(5).shuffle(5, seed=3, reshuffle_each_iteration=False)
        >>> first, second = list(dataset.as_numpy_iterator()), list(dataset.as_numpy_iterator())
        >>> first == second, sorted(int(x) for x in first)
        (True, [0, 1, 2, 3, 4])
        """
        size = int64_scalar("shuffle", "buffer_size", buffer_size)
        renewed = reshuffle_each_iteration
        again = True if renewed is None else static_bool("shuffle", "reshuffle_each_iteration",
                                                         renewed)  # fmt: skip
        seeds = seed_pair("Dataset.shuffle", seed)
        return self._derived(shuffle_op, size, name=name, seeds=seeds, reshuffle=again)

    @staticmethod
    def random(
        seed: IntLike | None = None,
        rerandomize_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Random numbers from 0 to 2**32 - 1, as int64, without end.

        Args:
          seed: what the numbers depend on; None lets `tf.random.set_seed` or chance decide.
          rerandomize_each_iteration: whether numbers differ each time the dataset is iterated over;
            None is False, with or without a seed.
          name: the name of the node in a graph.

        Returns:
          A dataset of int64 scalars.

        >>> numbers = tf.data.Dataset.random(seed=4).take(3)
        >>> list(numbers.as_numpy_iterator()) == list(numbers.as_numpy_iterator())
        True
        """
        seeds = seed_pair("Dataset.random", seed)
        renewed = False if rerandomize_each_iteration is None else rerandomize_each_iteration
        again = static_bool("random", "rerandomize_each_iteration", renewed)
        made = random_op(seeds=seeds, rerandomize=again, name=name)
        return make_dataset(made, TensorSpec([], int64))
