"""Datasets side by side and one after the other: `zip`, `concatenate`, `enumerate`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from weft._src import nest
from weft._src.core.aliases import ArrayNamespace, IntLike
from weft._src.core.dtypes import variant
from weft._src.core.specs import TensorSpec
from weft._src.data.core import structure
from weft._src.data.core.base import (
    INPUT,
    DatasetBase,
    check_dataset,
    dataset_op,
    int64_scalar,
    make_dataset,
    number,
)
from weft._src.data.core.stage import INFINITE, Cursor, Run, Stage, together
from weft._src.data.core.structure import Values
from weft._src.data.sources.in_memory import RangeStage
from weft._src.ops.registry import args, each

if TYPE_CHECKING:
    from weft._src.data.dataset import Dataset


class ZipStage(Stage):
    """Elements of several stages side by side."""

    __slots__ = ("stages",)

    def __init__(self, stages: Sequence[Stage]) -> None:
        self.stages = tuple(stages)

    def cursor(self, run: Run) -> Cursor:
        return _ZipCursor([s.cursor(run) for s in self.stages])

    def cardinality(self) -> int:
        from_all = [s.cardinality() for s in self.stages]
        finite = [n for n in from_all if n != INFINITE]
        return min(finite) if finite else INFINITE

    def table(self) -> Sequence[Any] | None:
        tables = [s.table() for s in self.stages]
        if any(t is None for t in tables):
            return None
        arrays = [a for t in tables for a in t]  # type: ignore[union-attr]
        n = min(a.shape[0] for a in arrays)
        return [a[:n] for a in arrays]


class _ZipCursor(Cursor):
    own = ("_done",)

    def __init__(self, cursors: Sequence[Cursor]) -> None:
        self._cursors = cursors
        self._done = False
        self.blocks = all(cursor.blocks for cursor in cursors)

    def __next__(self) -> Values:
        if self._done:
            raise StopIteration
        out: list[Any] = []
        try:
            for cursor in self._cursors:
                out += next(cursor)
        except StopIteration:
            self._done = True
            raise
        return tuple(out)

    def rows(self, n: int) -> Values:
        if self._done:
            raise StopIteration
        if not self.blocks:  # one that ends early would leave the others too far
            return super().rows(n)
        got = []
        for cursor in self._cursors:
            try:
                got.append(cursor.rows(n))
            except StopIteration:
                self._done = True
                raise
        count = min(len(part[0]) for part in got)
        self._done = count < n
        return tuple([value[:count] for part in got for value in part])

    def save(self) -> dict[str, Any]:
        return {**super().save(), "cursors": [c.save() for c in self._cursors]}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        for cursor, saved in zip(self._cursors, state["cursors"], strict=True):
            cursor.restore(saved)

    def close(self) -> None:
        for cursor in self._cursors:
            cursor.close()


zip_op = dataset_op(
    "ZipDataset",
    each("*input_datasets", {variant}),
    lambda xp, *stages: ZipStage(stages),
)


# --- concatenate ---------------------------------------------------------------------------------


class ConcatenateStage(Stage):
    """The elements of one stage and then those of another."""

    __slots__ = ("first", "second")

    def __init__(self, first: Stage, second: Stage) -> None:
        self.first, self.second = first, second

    def cursor(self, run: Run) -> Cursor:
        return _ConcatenateCursor(self, run)

    def cardinality(self) -> int:
        return together(self.first.cardinality(), self.second.cardinality())


class _ConcatenateCursor(Cursor):
    own = ("_in_second",)
    inputs = ("_now",)

    def __init__(self, stage: ConcatenateStage, run: Run) -> None:
        self._stage, self._run = stage, run
        self._in_second = False
        self._now = stage.first.cursor(run)

    def __next__(self) -> Values:
        try:
            return next(self._now)
        except StopIteration:
            if self._in_second:
                raise
        self._turn()
        return next(self._now)

    def _turn(self) -> None:
        self._now.close()
        self._in_second = True
        self._now = self._stage.second.cursor(self._run)

    def restore(self, state: dict[str, Any]) -> None:
        if state["_in_second"] and not self._in_second:
            self._turn()
        super().restore(state)


concatenate_op = dataset_op(
    "ConcatenateDataset",
    INPUT + args("another_dataset", {variant}),
    lambda xp, first, second: ConcatenateStage(first, second),
)


# --- enumerate -----------------------------------------------------------------------------------


def _enumerate_kernel(xp: ArrayNamespace, input_dataset: Stage, start: Any) -> Stage:
    return ZipStage([RangeStage(int(start), None, 1, "int64"), input_dataset])


enumerate_op = dataset_op("EnumerateDataset", INPUT + number("start"), _enumerate_kernel)


class CombiningMethods(DatasetBase):
    """Several datasets as one."""

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Elements of several datasets side by side, as long as all have some.

        Args:
          *args: datasets, or one structure (of tuples and dicts) of them.
          datasets: that structure, by name.

        Returns:
          A dataset of tuples, or of structures like the given one; as long as the shortest of them.

        Raises:
          TypeError: if there are no datasets, or something else, or they are in a list.

        >>> numbers, letters = (
        ...     tf.data.Dataset.range(3),
        ...     tf.data.Dataset.from_tensor_slices(["a", "b"]),
        ... )
        >>> list(tf.data.Dataset.zip(numbers, letters).as_numpy_iterator())
        [(np.int64(0), b'a'), (np.int64(1), b'b')]
        """
        if (datasets is None) == (not args):
            raise TypeError("Dataset.zip takes datasets, or one nest of them.")
        given = datasets if datasets is not None else args[0] if len(args) == 1 else args
        for leaf in nest.flatten(given):
            check_dataset("zip", "each leaf", leaf)
        if _holds_list(given):
            raise TypeError(
                "Dataset.zip: datasets are given in tuples or dicts, not in lists, which stand "
                "for tensors."
            )
        flat = nest.flatten(given)
        spec = nest.map_structure(lambda d: d.element_spec, given)
        made = zip_op(*[d._variant for d in flat], name=name)
        return make_dataset(made, spec)

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """The elements of this dataset and then those of another.

        Args:
          dataset: the other one, whose elements have the same structure and dtypes.

        Returns:
          A dataset; sizes of elements that differ are unknown in its specs.

        Raises:
          TypeError: if `dataset` is no dataset, or its elements are of another type.

        >>> a, b = tf.data.Dataset.range(2), tf.data.Dataset.range(7, 9)
        >>> list(a.concatenate(b).as_numpy_iterator())
        [np.int64(0), np.int64(1), np.int64(7), np.int64(8)]
        """
        check_dataset("concatenate", "dataset", dataset)
        try:
            spec = structure.widened(self.element_spec, dataset.element_spec)
        except (TypeError, ValueError):
            raise TypeError(
                "Dataset.concatenate: the elements are of different types, "
                f"{self.element_spec!r} and {dataset.element_spec!r}."
            ) from None
        return self._derived(concatenate_op, dataset._variant, spec=spec, name=name)

    def enumerate(self, start: IntLike = 0, name: str | None = None) -> Dataset:
        """Pairs of a number and an element.

        Args:
          start: the number of the first element.

        Returns:
          A dataset of pairs (int64 scalar, element).

        Raises:
          TypeError: if `start` is no integer.

        >>> list(tf.data.Dataset.from_tensor_slices(["a", "b"]).enumerate(5).as_numpy_iterator())
        [(np.int64(5), b'a'), (np.int64(6), b'b')]
        """
        spec = (TensorSpec([], "int64"), self.element_spec)
        number = int64_scalar("enumerate", "start", start)
        return self._derived(enumerate_op, number, spec=spec, name=name)


def _holds_list(value: Any) -> bool:
    if isinstance(value, list):
        return True
    if not nest.is_nested(value):
        return False
    found: list[bool] = []
    nest.map_children(lambda child: found.append(_holds_list(child)), value)
    return any(found)
