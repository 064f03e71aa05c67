"""Datasets made of elements: `flat_map` and `interleave`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from weft._src.core.aliases import ArrayNamespace, IntLike, SpecNest
from weft._src.core.processors import processors
from weft._src.core.tensor import Tensor
from weft._src.core.tracebacks import hides_own_frames
from weft._src.data.core import traced
from weft._src.data.core.base import (
    AUTOTUNE,
    CAPTURES,
    INPUT,
    DatasetBase,
    DatasetSpec,
    dataset_op,
    int64_scalar,
    number,
    refuse_unless,
)
from weft._src.data.core.stage import UNKNOWN, Cursor, Run, Stage, join
from weft._src.data.core.structure import Values
from weft._src.data.core.traced import Call, Traced
from weft._src.data.transforms.mapping import checked_parallel
from weft._src.data.transforms.prefetching import PrefetchCursor

if TYPE_CHECKING:
    from weft._src.data.dataset import Dataset

_MOST_OPEN = 1 << 16  # datasets at the same time

# --- flat_map ------------------------------------------------------------------------------------


class FlatMapStage(Stage):
    """The elements of a dataset for each element, one dataset after the other."""

    __slots__ = ("call", "source")

    def __init__(self, source: Stage, call: Call) -> None:
        self.source, self.call = source, call

    def cursor(self, run: Run) -> Cursor:
        return _FlatMapCursor(self.source.cursor(run), self.call.on(run), run)

    def cardinality(self) -> int:
        return 0 if self.source.cardinality() == 0 else UNKNOWN


class _FlatMapCursor(Cursor):
    own = ("_element",)
    inputs = ("_source", "_inner")

    def __init__(self, source: Cursor, call: Call, run: Run) -> None:
        self._source, self._call, self._run = source, call, run
        self._element: Values | None = None  # what the inner dataset was made of
        self._inner: Cursor | None = None

    def __next__(self) -> Values:
        while True:
            if self._inner is not None:
                for values in self._inner:
                    return values
            self._open(next(self._source))

    def rows(self, n: int) -> Values:
        parts: list[Values] = []
        left = n
        while left:
            try:
                if self._inner is None:
                    self._open(next(self._source))
            except StopIteration:
                break
            assert self._inner is not None
            try:
                part = self._inner.rows(left)
            except StopIteration:
                self._close_inner()
                continue
            parts.append(part)
            left -= len(part[0])
        if not parts:
            raise StopIteration
        return join(parts)

    def _open(self, element: Values) -> None:
        self._close_inner()
        self._element = element
        self._inner = self._call(element)[0].cursor(self._run)

    def _close_inner(self) -> None:
        if self._inner is not None:
            self._inner.close()
            self._inner = None

    def restore(self, state: dict[str, Any]) -> None:
        self._close_inner()
        if state["_inner"] is not None:
            self._open(state["_element"])
        super().restore(state)


flat_map_op = dataset_op(
    "FlatMapDataset",
    INPUT + CAPTURES,
    lambda xp, source, *captured, f: FlatMapStage(source, Call(f, captured)),
)


# --- interleave ----------------------------------------------------------------------------------


class InterleaveStage(Stage):
    """The elements of several datasets in turn, a block of each."""

    __slots__ = ("block", "call", "cycle", "parallel", "source")

    def __init__(
        self, source: Stage, cycle: int, block: int, call: Call, parallel: int | None
    ) -> None:
        if cycle == AUTOTUNE:
            cycle = processors()
        refuse_unless(cycle > 0, "interleave", f"cycle_length must be at least 1, got {cycle}.")
        refuse_unless(
            cycle <= _MOST_OPEN,
            "interleave",
            f"cycle_length must be at most {_MOST_OPEN}, got {cycle}.",
        )
        refuse_unless(block > 0, "interleave", f"block_length must be at least 1, got {block}.")
        self.source, self.cycle, self.block = source, cycle, block
        self.call, self.parallel = call, parallel

    def cursor(self, run: Run) -> Cursor:
        return _InterleaveCursor(self, run)

    def cardinality(self) -> int:
        return 0 if self.source.cardinality() == 0 else UNKNOWN


class _InterleaveCursor(Cursor):
    own = ("_turn", "_given", "_ended")
    inputs = ("_source",)

    def __init__(self, stage: InterleaveStage, run: Run) -> None:
        self._stage, self._run = stage, run
        self._call = stage.call.on(run)
        self._source = stage.source.cursor(run)
        # Open datasets with the element each was made of; None for a place that is free.
        self._open: list[tuple[Values, Cursor] | None] = [None] * stage.cycle
        self._turn = 0
        self._given = 0  # elements of the current block
        self._ended = False

    def __next__(self) -> Values:
        stage = self._stage
        while True:
            if stage.parallel is not None and not self._ended:
                self._open_all()
            here = self._open[self._turn]
            if here is None:
                if self._ended:
                    if not any(self._open):
                        raise StopIteration
                    self._move_on()
                    continue
                try:
                    element = next(self._source)
                except StopIteration:
                    self._ended = True
                    continue
                here = self._open[self._turn] = (element, self._start(element))
            for values in here[1]:
                self._given += 1
                if self._given == stage.block:
                    self._move_on()
                return values
            here[1].close()
            self._open[self._turn] = None
            self._move_on()

    def _open_all(self) -> None:
        """Fills the places that are free, in the order in which their turns come."""
        cycle = self._stage.cycle
        for k in range(cycle):
            place = (self._turn + k) % cycle
            if self._open[place] is None:
                try:
                    element = next(self._source)
                except StopIteration:
                    self._ended = True
                    return
                self._open[place] = (element, self._start(element))

    def _move_on(self) -> None:
        self._given = 0
        self._turn = (self._turn + 1) % self._stage.cycle

    def _start(self, element: Values) -> Cursor:
        cursor: Cursor = self._call(element)[0].cursor(self._run)
        if self._stage.parallel is None:
            return cursor
        # Each of the open datasets is read ahead in a thread of its own.
        ahead = PrefetchCursor(cursor, self._stage.block, self._run)
        ahead.start()
        return ahead

    def save(self) -> dict[str, Any]:
        opened = [None if x is None else (x[0], x[1].save()) for x in self._open]
        return {**super().save(), "open": opened}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        for i, saved in enumerate(state["open"]):
            if saved is None:
                self._open[i] = None
                continue
            cursor = self._start(saved[0])
            cursor.restore(saved[1])
            self._open[i] = (saved[0], cursor)

    def close(self) -> None:
        for here in self._open:
            if here is not None:
                here[1].close()
        super().close()


def _interleave_kernel(
    xp: ArrayNamespace, source: Stage, cycle: Any, block: Any, *captured: Any,
    f: Traced, num_parallel_calls: int | None,
) -> Stage:  # fmt: skip
    return InterleaveStage(source, int(cycle), int(block), Call(f, captured), num_parallel_calls)


interleave_op = dataset_op(
    "InterleaveDataset",
    INPUT + number("cycle_length") + number("block_length") + CAPTURES,
    _interleave_kernel,
)


class NestingMethods(DatasetBase):
    """A dataset for each element."""

    @hides_own_frames
    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of the datasets that the function makes, one dataset after the other.

        Args:
          map_func: a function of an element that returns a dataset.

        Returns:
          A dataset of the elements of these datasets.

        Raises:
          ValueError: if `map_func` is no function.
          TypeError: if it does not return a dataset.

        >>> dataset = tf.data.Dataset.range(1, 4).flat_map(tf.data.Dataset.range)
        >>> [int(x) for x in dataset]
        [0, 0, 1, 0, 1, 2]
        """
        f = dataset_function("flat_map", map_func, self.element_spec)
        spec = f.output_spec.element_spec
        return self._derived(flat_map_op, *f.captures, spec=spec, name=name, f=f)

    @hides_own_frames
    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: IntLike | None = None,
        block_length: IntLike | None = None,
        num_parallel_calls: IntLike | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements of the datasets that the function makes, of `cycle_length` ones in turn.

        Args:
          map_func: a function of an element that returns a dataset.
          cycle_length: how many datasets are open at once; None is `num_parallel_calls`, or without
            it the number of processors.
          block_length: how many elements in a row come from one dataset; None is 1.
          num_parallel_calls: how many datasets make elements at once, or `tf.data.AUTOTUNE`; None
            is one.
          deterministic: accepted for compatibility; the order is always the same.

        Returns:
          A dataset of the elements of these datasets.

        Raises:
          ValueError: if `map_func` is no function.
          TypeError: if it does not return a dataset.
          tf.errors.InvalidArgumentError: if `cycle_length` or `block_length` is less than 1.

        >>> dataset = tf.data.Dataset.range(1, 4).interleave(
        ...     lambda x: tf.data.Dataset.from_tensors(x).repeat(3), cycle_length=2, block_length=2
        ... )
        >>> [int(x) for x in dataset]
        [1, 1, 2, 2, 1, 2, 3, 3, 3]
        """
        parallel = checked_parallel("interleave", num_parallel_calls)
        if cycle_length is None:
            cycle_length = AUTOTUNE if parallel is None else parallel
        cycle: Tensor = int64_scalar("interleave", "cycle_length", cycle_length)
        block = int64_scalar("interleave", "block_length", 1 if block_length is None
                             else block_length)  # fmt: skip
        f = dataset_function("interleave", map_func, self.element_spec)
        return self._derived(
            interleave_op, cycle, block, *f.captures, spec=f.output_spec.element_spec, name=name,
            f=f, num_parallel_calls=parallel,
        )  # fmt: skip


def dataset_function(method: str, function: Callable[..., Any], element_spec: SpecNest) -> Traced:
    """A traced function that must return a dataset."""
    f = traced.of_element(function, element_spec, method)
    check_returns_dataset(method, f)
    return f


def check_returns_dataset(method: str, f: Traced) -> None:
    """TypeError unless the function returns a dataset."""
    if not isinstance(f.output_spec, DatasetSpec):
        raise TypeError(
            f"Dataset.{method}: the function must return a tf.data.Dataset, got {f.output_spec!r}. "
            "For tensors use map."
        )
