"""Datasets of datasets: `window` and `group_by_window`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from weft._src import nest
from weft._src.core.aliases import ArrayNamespace, IntLike
from weft._src.core.dtypes import int64
from weft._src.core.specs import TensorSpec
from weft._src.core.tracebacks import hides_own_frames
from weft._src.data.core import structure, traced
from weft._src.data.core.base import (
    CAPTURES,
    INPUT,
    DatasetBase,
    DatasetSpec,
    dataset_op,
    int64_scalar,
    number,
    refuse_unless,
    static_bool,
)
from weft._src.data.core.stage import Cursor, Run, Stage, scaled
from weft._src.data.core.structure import Values
from weft._src.data.core.traced import Call, Traced
from weft._src.data.sources.in_memory import ListStage, SliceStage
from weft._src.data.transforms.nesting import check_returns_dataset

if TYPE_CHECKING:
    from weft._src.data.dataset import Dataset

# --- window --------------------------------------------------------------------------------------


class WindowStage(Stage):
    """Runs of elements, each component of a run a dataset of its own."""

    __slots__ = ("drop", "length", "shift", "source", "stride", "widths")

    def __init__(
        self, source: Stage, size: int, shift: int, stride: int, drop: bool, widths: Any
    ) -> None:
        for name, value in (("size", size), ("shift", shift), ("stride", stride)):
            refuse_unless(value > 0, "window", f"{name} must be at least 1, got {value}.")
        self.source, self.length, self.shift, self.stride = source, size, shift, stride
        self.drop, self.widths = drop, widths

    def cursor(self, run: Run) -> Cursor:
        return _WindowCursor(self, run)

    def cardinality(self) -> int:
        def windows(n: int) -> int:
            if not self.drop:
                return -(-n // self.shift)
            reach = (self.length - 1) * self.stride + 1
            return 0 if n < reach else (n - reach) // self.shift + 1

        return scaled(self.source.cardinality(), windows)


class _WindowCursor(Cursor):
    own = ("_waiting", "_skip", "_ended")
    inputs = ("_source",)

    def __init__(self, stage: WindowStage, run: Run) -> None:
        self._stage = stage
        self._source = stage.source.cursor(run)
        self._waiting: deque[Values] = deque()
        self._skip = 0  # elements between two windows, still to be passed over
        self._ended = False

    def __next__(self) -> Values:
        stage, waiting = self._stage, self._waiting
        while self._skip and not self._ended:
            self._pull(keep=False)
        reach = (stage.length - 1) * stage.stride + 1
        while len(waiting) < reach and not self._ended:
            self._pull(keep=True)
        if not waiting or (stage.drop and len(waiting) < reach):
            waiting.clear()
            raise StopIteration
        window = list(waiting)[: reach : stage.stride]
        for _ in range(min(stage.shift, len(waiting))):
            waiting.popleft()
        self._skip = max(0, stage.shift - reach)
        return _parts(window, stage.widths)

    def _pull(self, *, keep: bool) -> None:
        for values in self._source:
            if keep:
                self._waiting.append(values)
            else:
                self._skip -= 1
            return
        self._ended = True


def _parts(window: list[Values], widths: tuple[int, ...]) -> Values:
    """A dataset for each leaf of the elements (which may be made of several tensors)."""
    out: list[Stage] = []
    first = 0
    for width in widths:
        out.append(dataset_of([values[first : first + width] for values in window]))
        first += width
    return tuple(out)


def dataset_of(elements: list[Values]) -> Stage:
    """A stage of elements that are there; numbers of one kind become the rows of an array."""
    first = elements[0] if elements else ()
    if first and all(isinstance(v, np.generic) for v in first):
        columns = [np.array(c, c[0].dtype) for c in zip(*elements, strict=True)]
        return SliceStage(columns)
    return ListStage(elements)


def _window_kernel(
    xp: ArrayNamespace, source: Stage, size: Any, shift: Any, stride: Any,
    *, drop_remainder: bool, widths: tuple[int, ...],
) -> Stage:  # fmt: skip
    return WindowStage(source, int(size), int(shift), int(stride), drop_remainder, widths)


window_op = dataset_op(
    "WindowDataset",
    INPUT + number("size") + number("shift") + number("stride"),
    _window_kernel,
)


# --- group_by_window -----------------------------------------------------------------------------


class GroupByWindowStage(Stage):
    """Elements collected by key; what a function makes of each full collection."""

    __slots__ = ("key", "reduce", "source", "window_size")

    def __init__(self, source: Stage, key: Call, reduce: Call, size: Call) -> None:
        self.source, self.key, self.reduce, self.window_size = source, key, reduce, size

    def cursor(self, run: Run) -> Cursor:
        return _GroupCursor(self, run)


class _GroupCursor(Cursor):
    own = ("_groups", "_sizes", "_ended", "_now")
    inputs = ("_source", "_inner")

    def __init__(self, stage: GroupByWindowStage, run: Run) -> None:
        self._run = run
        self._key, self._reduce, self._size = [
            call.on(run) for call in (stage.key, stage.reduce, stage.window_size)
        ]
        self._source = stage.source.cursor(run)
        self._groups: dict[int, list[Values]] = {}
        self._sizes: dict[int, int] = {}
        self._inner: Cursor | None = None
        self._now: tuple[int, list[Values]] | None = None  # what the inner dataset is made of
        self._ended = False

    def __next__(self) -> Values:
        while True:
            if self._inner is not None:
                for values in self._inner:
                    return values
                self._inner.close()
                self._inner = None
            if not self._ended:
                self._collect()
            elif self._groups:
                key = min(self._groups)
                self._open(key, self._groups.pop(key))
            else:
                raise StopIteration

    def _collect(self) -> None:
        for values in self._source:
            key = int(self._key(values)[0])
            if key not in self._sizes:
                size = int(self._size((np.int64(key),))[0])
                refuse_unless(
                    size > 0, "group_by_window",
                    f"the window size must be at least 1, got {size} for key {key}.",
                )  # fmt: skip
                self._sizes[key] = size
            group = self._groups.setdefault(key, [])
            group.append(values)
            if len(group) == self._sizes[key]:
                self._open(key, self._groups.pop(key))
                return
        self._ended = True

    def _open(self, key: int, group: list[Values]) -> None:
        self._now = (key, group)
        (made,) = self._reduce((np.int64(key), dataset_of(group)))
        self._inner = made.cursor(self._run)

    def restore(self, state: dict[str, Any]) -> None:
        if state["_inner"] is not None:
            self._open(*state["_now"])
        else:
            self._inner = None
        super().restore(state)


def _group_kernel(
    xp: ArrayNamespace,
    source: Stage,
    *captured: Any,
    key_func: Traced,
    reduce_func: Traced,
    size_func: Traced,
) -> Stage:
    functions = []
    first = 0
    for f in (key_func, reduce_func, size_func):
        n = len(f.captures)
        functions.append(Call(f, captured[first : first + n]))
        first += n
    return GroupByWindowStage(source, *functions)


group_by_window_op = dataset_op("GroupByWindowDataset", INPUT + CAPTURES, _group_kernel)


class WindowMethods(DatasetBase):
    """Datasets of datasets."""

    def window(
        self,
        size: IntLike,
        shift: IntLike | None = None,
        stride: IntLike = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Runs of `size` elements as datasets; each starts `shift` (`size`) after the one before.

        Args:
          size: how many elements a window has.
          shift: how many elements later the next window starts; None is `size`.
          stride: how far apart the elements of a window are.
          drop_remainder: whether smaller windows at the end are left out.

        Returns:
          A dataset whose elements are structures like the elements, with a dataset for each
          component.

        Raises:
          tf.errors.InvalidArgumentError: if `size`, `shift` or `stride` is less than 1.

        >>> for window in tf.data.Dataset.range(7).window(3, shift=2, drop_remainder=True):
        ...     print([int(x) for x in window])
        [0, 1, 2]
        [2, 3, 4]
        [4, 5, 6]
        """
        inputs = [
            int64_scalar("window", "size", size),
            int64_scalar("window", "shift", size if shift is None else shift),
            int64_scalar("window", "stride", stride),
        ]
        drop = static_bool("window", "drop_remainder", drop_remainder)
        leaves = nest.flatten(self.element_spec)
        widths = tuple([len(structure.flat_specs(leaf)) for leaf in leaves])
        spec = nest.map_structure(DatasetSpec, self.element_spec)
        return self._derived(
            window_op, *inputs, spec=spec, name=name, drop_remainder=drop, widths=widths
        )

    @hides_own_frames
    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: IntLike | None = None,
        window_size_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Collects elements of equal key; `reduce_func(key, dataset)` makes a dataset of each lot.

        Args:
          key_func: a function of an element that returns one int64, the key.
          reduce_func: a function of a key and the dataset of at most so many elements, which
            returns a dataset.
          window_size: how many elements a lot has; the last ones may have fewer.
          window_size_func: a function of a key that returns that number as one int64, instead.

        Returns:
          A dataset of the elements of the datasets made.

        Raises:
          ValueError: if not one of `window_size` and `window_size_func` is given, or keys or sizes
            are not one int64.
          TypeError: if `reduce_func` does not return a dataset.
          tf.errors.InvalidArgumentError: when iterating, if a window size is less than 1.

        >>> dataset = tf.data.Dataset.range(6).group_by_window(
        ...     key_func=lambda x: x % 2, reduce_func=lambda key, rows: rows.batch(2), window_size=2
        ... )
        >>> [batch.numpy().tolist() for batch in dataset]
        [[0, 2], [1, 3], [4], [5]]
        """
        if (window_size is None) == (window_size_func is None):
            raise ValueError(
                "Dataset.group_by_window: give window_size or window_size_func, one of them."
            )
        if window_size_func is None:
            fixed = int64_scalar("group_by_window", "window_size", window_size)
            window_size_func = lambda key: fixed  # noqa: E731
        key = traced.of_element(key_func, self.element_spec, "group_by_window")
        check_int64("Dataset.group_by_window", "key_func", key)
        scalar = TensorSpec([], int64)
        reduce = Traced(reduce_func, (scalar, DatasetSpec(self.element_spec)), "group_by_window")
        check_returns_dataset("group_by_window", reduce)
        size = Traced(window_size_func, (scalar,), "group_by_window")
        check_int64("Dataset.group_by_window", "window_size_func", size)
        return self._derived(
            group_by_window_op, *key.captures, *reduce.captures, *size.captures,
            spec=reduce.output_spec.element_spec, name=name,
            key_func=key, reduce_func=reduce, size_func=size,
        )  # fmt: skip


def check_int64(method: str, name: str, f: Traced) -> None:
    """ValueError unless a function returns one int64."""
    spec = f.output_spec
    if not isinstance(spec, TensorSpec) or spec.dtype is not int64 or spec.rank not in (None, 0):
        raise ValueError(
            f"{method}: {name} must return one int64, got {spec!r}. Convert it with "
            "tf.cast(x, tf.int64)."
        )
