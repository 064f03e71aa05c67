"""Parts of datasets, and datasets again and again: `take`, `skip`, `shard`, `repeat`."""

from __future__ import annotations

from collections.abc import Sequence
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
from weft._src.data.core.stage import INFINITE, UNKNOWN, Cursor, Run, Stage, join, scaled
from weft._src.data.core.structure import Values

if TYPE_CHECKING:
    from weft._src.data.dataset import Dataset


class _Counted(Stage):
    """A stage with a number of elements, or of rounds."""

    __slots__ = ("count", "source")

    def __init__(self, source: Stage, count: int) -> None:
        self.source, self.count = source, count


class _Countdown(Cursor):
    """A cursor that counts down the elements it takes from another."""

    own = ("_left",)
    inputs = ("_source",)

    def __init__(self, source: Cursor, count: int) -> None:
        self._source = source
        self._left = count
        self.blocks = source.blocks


# --- take ----------------------------------------------------------------------------------------


class TakeStage(_Counted):
    """The first elements; all of them if the count is negative."""

    __slots__ = ()

    def cursor(self, run: Run) -> Cursor:
        cursor = self.source.cursor(run)
        return cursor if self.count < 0 else _TakeCursor(cursor, self.count)

    def cardinality(self) -> int:
        n = self.source.cardinality()
        if self.count < 0:
            return n
        return self.count if n == INFINITE else scaled(n, lambda n: min(n, self.count))

    def table(self) -> Sequence[Any] | None:
        arrays = self.source.table()
        return arrays if arrays is None or self.count < 0 else [a[: self.count] for a in arrays]


class _TakeCursor(_Countdown):
    def __next__(self) -> Values:
        if self._left <= 0:
            raise StopIteration
        values = next(self._source)
        self._left -= 1
        return values

    def rows(self, n: int) -> Values:
        n = min(n, self._left)
        if n <= 0:
            raise StopIteration
        values = self._source.rows(n)
        self._left -= len(values[0])
        return values


take_op = dataset_op(
    "TakeDataset",
    INPUT + number("count"),
    lambda xp, source, count: TakeStage(source, int(count)),
)


# --- skip ----------------------------------------------------------------------------------------


class SkipStage(_Counted):
    """All but the first elements; none if the count is negative."""

    __slots__ = ()

    def cursor(self, run: Run) -> Cursor:
        return _SkipCursor(self.source.cursor(run), self.count)

    def cardinality(self) -> int:
        if self.count < 0:
            return 0
        return scaled(self.source.cardinality(), lambda n: max(0, n - self.count))

    def table(self) -> Sequence[Any] | None:
        arrays = self.source.table()
        if arrays is None:
            return None
        return [a[self.count :] if self.count >= 0 else a[:0] for a in arrays]


class _SkipCursor(_Countdown):
    def _skip(self) -> None:
        if self._left < 0:
            raise StopIteration
        while self._left:
            if self.blocks:
                self._left -= len(self._source.rows(min(self._left, 4096))[0])
            else:
                next(self._source)
                self._left -= 1

    def __next__(self) -> Values:
        if self._left:
            self._skip()
        return next(self._source)

    def rows(self, n: int) -> Values:
        if self._left:
            self._skip()
        return self._source.rows(n)


skip_op = dataset_op(
    "SkipDataset",
    INPUT + number("count"),
    lambda xp, source, count: SkipStage(source, int(count)),
)


# --- shard ---------------------------------------------------------------------------------------


class ShardStage(Stage):
    """Every n-th element."""

    __slots__ = ("index", "source", "total")

    def __init__(self, source: Stage, total: int, index: int) -> None:
        refuse_unless(total > 0, "shard", f"num_shards must be at least 1, got {total}.")
        refuse_unless(
            0 <= index < total,
            "shard",
            f"index must be between 0 and {total - 1} for num_shards {total}, got {index}.",
        )
        self.source, self.total, self.index = source, total, index

    def cursor(self, run: Run) -> Cursor:
        return _ShardCursor(self.source.cursor(run), self.total, self.index)

    def cardinality(self) -> int:
        return scaled(
            self.source.cardinality(), lambda n: max(0, -((self.index - n) // self.total))
        )

    def table(self) -> Sequence[Any] | None:
        arrays = self.source.table()
        return None if arrays is None else [a[self.index :: self.total] for a in arrays]


class _ShardCursor(Cursor):
    own = ("_skip",)
    inputs = ("_source",)

    def __init__(self, source: Cursor, total: int, index: int) -> None:
        self._source = source
        self._between = total - 1
        self._skip = index

    def __next__(self) -> Values:
        source = self._source
        while self._skip:
            next(source)
            self._skip -= 1
        values = next(source)
        self._skip = self._between
        return values


shard_op = dataset_op(
    "ShardDataset",
    INPUT + number("num_shards") + number("index"),
    lambda xp, source, num_shards, index: ShardStage(source, int(num_shards), int(index)),
)


# --- repeat --------------------------------------------------------------------------------------


class RepeatStage(_Counted):
    """The elements several times; for ever if the count is negative."""

    __slots__ = ()

    def cursor(self, run: Run) -> Cursor:
        return _RepeatCursor(self.source, self.count, run)

    def cardinality(self) -> int:
        n = self.source.cardinality()
        if self.count < 0:
            return n if n in (0, UNKNOWN) else INFINITE
        return 0 if self.count == 0 else scaled(n, lambda n: n * self.count)


class _RepeatCursor(Cursor):
    own = ("_left", "_empty")
    inputs = ("_now",)

    def __init__(self, source: Stage, count: int, run: Run) -> None:
        self._source, self._run = source, run
        self._left = count  # rounds, the current one included
        self._now: Cursor | None = source.cursor(run) if count else None
        self._empty = True  # whether this round has given nothing so far
        self.blocks = self._now is not None and self._now.blocks

    def __next__(self) -> Values:
        while self._now is not None:
            for values in self._now:
                self._empty = False
                return values
            self._next_round()
        raise StopIteration

    def rows(self, n: int) -> Values:
        got: list[Values] = []
        count = 0
        while count < n and self._now is not None:
            try:
                part = self._now.rows(n - count)
            except StopIteration:
                self._next_round()
                continue
            self._empty = False
            got.append(part)
            count += len(part[0])
        if not got:
            raise StopIteration
        return join(got)

    def _next_round(self) -> None:
        assert self._now is not None
        self._now.close()
        if self._left > 0:
            self._left -= 1
        # A round without elements would be followed by others, for ever.
        if self._left == 0 or (self._empty and self._left < 0):
            self._now = None
            return
        self._now = self._source.cursor(self._run)
        self._empty = True

    def restore(self, state: dict[str, Any]) -> None:
        if state["_now"] is None:
            self._now = None
        else:
            self._now = self._source.cursor(self._run)
        super().restore(state)


repeat_op = dataset_op(
    "RepeatDataset",
    INPUT + number("count"),
    lambda xp, source, count: RepeatStage(source, int(count)),
)


class SelectingMethods(DatasetBase):
    """Parts of a dataset, and a dataset several times."""

    def take(self, count: IntLike, name: str | None = None) -> Dataset:
        """The first `count` elements, all of them for -1.

        Args:
          count: an integer; any negative one takes all.

        Returns:
          A dataset of at most `count` elements.

        Raises:
          TypeError: if `count` is no integer.

        >>> list(tf.data.Dataset.range(10).take(2).as_numpy_iterator())
        [np.int64(0), np.int64(1)]
        """
        return self._derived(take_op, int64_scalar("take", "count", count), name=name)

    def skip(self, count: IntLike, name: str | None = None) -> Dataset:
        """All but the first `count` elements, none for -1.

        Args:
          count: an integer; any negative one skips all.

        Returns:
          A dataset of the elements that are left.

        Raises:
          TypeError: if `count` is no integer.

        >>> list(tf.data.Dataset.range(5).skip(3).as_numpy_iterator())
        [np.int64(3), np.int64(4)]
        """
        return self._derived(skip_op, int64_scalar("skip", "count", count), name=name)

    def shard(self, num_shards: IntLike, index: IntLike, name: str | None = None) -> Dataset:
        """Every `num_shards`-th element, from number `index` on.

        Args:
          num_shards: how many shards there are, at least 1.
          index: which of them this is, from 0 to `num_shards - 1`.

        Returns:
          A dataset of some of the elements.

        Raises:
          tf.errors.InvalidArgumentError: if `num_shards` or `index` is out of range.

        >>> list(tf.data.Dataset.range(7).shard(3, 1).as_numpy_iterator())
        [np.int64(1), np.int64(4)]
        """
        inputs = [
            int64_scalar("shard", "num_shards", num_shards),
            int64_scalar("shard", "index", index),
        ]
        return self._derived(shard_op, *inputs, name=name)

    def repeat(self, count: IntLike | None = None, name: str | None = None) -> Dataset:
        """The elements `count` times, without end for None or -1.

        Args:
          count: how many times; None or any negative number repeats without end.

        Returns:
          A dataset.

        Raises:
          TypeError: if `count` is no integer.

        >>> list(tf.data.Dataset.range(2).repeat(2).as_numpy_iterator())
        [np.int64(0), np.int64(1), np.int64(0), np.int64(1)]
        """
        rounds = int64_scalar("repeat", "count", -1 if count is None else count)
        return self._derived(repeat_op, rounds, name=name)
