"""Counting and grouping: `assert_cardinality`, `group_by_reducer`, `pad_to_cardinality`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from weft._src import nest
from weft._src.core.aliases import ArrayNamespace, IntLike
from weft._src.core.dtypes import int64
from weft._src.core.specs import TensorSpec
from weft._src.data.core import structure, traced
from weft._src.data.core.base import (
    CAPTURES,
    INPUT,
    check_dataset,
    dataset_op,
    int64_scalar,
    number,
)
from weft._src.data.core.stage import Cursor, Run, Stage
from weft._src.data.core.structure import Values
from weft._src.data.core.traced import Call, Traced
from weft._src.data.dataset import Dataset
from weft._src.data.transforms.windows import check_int64
from weft._src.errors import FailedPreconditionError
from weft._src.ops.arrays import fill

Transformation: TypeAlias = "Callable[[Dataset], Dataset]"

# --- assert_cardinality --------------------------------------------------------------------------


class AssertCardinalityStage(Stage):
    """The elements, which must be as many as is said."""

    __slots__ = ("count", "source")

    def __init__(self, source: Stage, count: int) -> None:
        self.source, self.count = source, count

    def cursor(self, run: Run) -> Cursor:
        return _CountingCursor(self.source.cursor(run), self.count)

    def cardinality(self) -> int:
        return self.count


class _CountingCursor(Cursor):
    own = ("_given",)
    inputs = ("_source",)

    def __init__(self, source: Cursor, count: int) -> None:
        self._source, self._count = source, count
        self._given = 0

    def __next__(self) -> Values:
        for values in self._source:
            self._given += 1
            if 0 <= self._count < self._given:
                raise self._wrong(f"more than {self._count}")
            return values
        if self._given != self._count:
            raise self._wrong(str(self._given))
        raise StopIteration

    def _wrong(self, found: str) -> FailedPreconditionError:
        expected = self._count if self._count >= 0 else "infinitely many"
        return FailedPreconditionError(
            None, None, f"assert_cardinality: {expected} elements were expected, there are {found}."
        )


assert_cardinality_op = dataset_op(
    "AssertCardinalityDataset",
    INPUT + number("cardinality"),
    lambda xp, source, count: AssertCardinalityStage(source, int(count)),
)


def assert_cardinality(expected_cardinality: IntLike) -> Transformation:
    """A transformation that says how many elements there are.

    Args:
      expected_cardinality: the number, or `tf.data.experimental.INFINITE_CARDINALITY`.

    Returns:
      A function from a dataset to the same one with this cardinality, for `Dataset.apply`. When it
      is iterated over, it raises `tf.errors.FailedPreconditionError` if the number is another one.

    >>> dataset = tf.data.Dataset.range(4).filter(lambda x: x > 1)
    >>> len(dataset.apply(tf.data.experimental.assert_cardinality(2)))
    2
    """
    count = int64_scalar("assert_cardinality", "expected_cardinality", expected_cardinality)
    return lambda dataset: check_dataset("apply", "dataset", dataset)._derived(
        assert_cardinality_op, count, name=None
    )


# --- group_by_reducer ----------------------------------------------------------------------------


class Reducer:
    """Three functions that make one value of many: `init(key)`, `reduce(state, x)`, `finalize`.

    >>> reducer = tf.data.experimental.Reducer(
    ...     init_func=lambda key: np.int64(0),
    ...     reduce_func=lambda total, x: total + x,
    ...     finalize_func=lambda total: total,
    ... )
    >>> sums = tf.data.Dataset.range(5).apply(
    ...     tf.data.experimental.group_by_reducer(lambda x: x % 2, reducer)
    ... )
    >>> list(sums.as_numpy_iterator())
    [np.int64(6), np.int64(4)]
    """

    def __init__(
        self,
        init_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        finalize_func: Callable[..., Any],
    ) -> None:
        self.init_func = init_func
        self.reduce_func = reduce_func
        self.finalize_func = finalize_func


class GroupByReducerStage(Stage):
    """One value for each key."""

    __slots__ = ("calls", "source")

    def __init__(self, source: Stage, calls: Sequence[Call]) -> None:
        self.source, self.calls = source, calls

    def cursor(self, run: Run) -> Cursor:
        return _ReducerCursor(self, run)


class _ReducerCursor(Cursor):
    own = ("_states", "_ended")
    inputs = ("_source",)

    def __init__(self, stage: GroupByReducerStage, run: Run) -> None:
        self._calls = [call.on(run) for call in stage.calls]
        self._source = stage.source.cursor(run)
        self._states: dict[int, Values] = {}
        self._ended = False

    def __next__(self) -> Values:
        key_of, init, reduce, finalize = self._calls
        if not self._ended:
            for values in self._source:
                key = key_of(values)
                place = int(key[0])
                before = self._states.get(place)
                if before is None:
                    before = init(key)
                self._states[place] = reduce((*before, *values))
            self._ended = True
        if not self._states:
            raise StopIteration
        first = min(self._states)
        return finalize(self._states.pop(first))


def _reducer_kernel(xp: ArrayNamespace, source: Stage, *captured: Any, functions: Any) -> Stage:
    calls = []
    first = 0
    for f in functions:
        n = len(f.captures)
        calls.append(Call(f, captured[first : first + n]))
        first += n
    return GroupByReducerStage(source, calls)


group_by_reducer_op = dataset_op("GroupByReducerDataset", INPUT + CAPTURES, _reducer_kernel)


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Transformation:
    """A transformation that makes one element of all elements of a key, in the order of keys.

    Args:
      key_func: a function of an element that returns its key, an int64 scalar.
      reducer: a `tf.data.experimental.Reducer`: how the state of a key begins, what an element does
        to it, and what is made of it at the end.

    Returns:
      A function from a dataset to one with an element for each key, for `Dataset.apply`. It raises
      ValueError if `key_func` does not return one int64, and TypeError if `reduce_func` returns
      other types than `init_func`.

    >>> count = tf.data.experimental.Reducer(lambda key: 0, lambda n, x: n + 1, lambda n: n)
    >>> counts = tf.data.experimental.group_by_reducer(lambda x: x % 3, count)
    >>> list(tf.data.Dataset.range(7).apply(counts).as_numpy_iterator())
    [np.int32(3), np.int32(2), np.int32(2)]
    """

    def apply(dataset: Dataset) -> Dataset:
        spec = dataset.element_spec
        key = traced.of_element(key_func, spec, "group_by_reducer")
        check_int64("group_by_reducer", "key_func", key)
        init = Traced(reducer.init_func, (TensorSpec([], int64),), "group_by_reducer")
        reduce = Traced(reducer.reduce_func, (init.output_spec, spec), "group_by_reducer")
        if reduce.output_spec != init.output_spec:
            raise TypeError(
                f"group_by_reducer: reduce_func must return what init_func does, "
                f"{init.output_spec!r}, got {reduce.output_spec!r}."
            )
        finalize = traced.of_element(reducer.finalize_func, init.output_spec, "group_by_reducer")
        functions = (key, init, reduce, finalize)
        captured = [t for f in functions for t in f.captures]
        return dataset._derived(
            group_by_reducer_op, *captured, spec=finalize.output_spec, name=None,
            functions=functions,
        )  # fmt: skip

    return apply


# --- pad_to_cardinality --------------------------------------------------------------------------


def pad_to_cardinality(cardinality: int, mask_key: str = "valid") -> Transformation:
    """A transformation that adds empty elements up to a number, and says which are real.

    Args:
      cardinality: how many elements there shall be.
      mask_key: the key of the bool scalar in each element that says whether it is real.

    Returns:
      A function for `Dataset.apply`, of a dataset of dicts. It raises ValueError if the dataset has
      more elements or an unknown number of them, or if its elements are no dicts or have the key.

    >>> rows = tf.data.Dataset.from_tensor_slices({"a": [1, 2]})
    >>> padded = rows.apply(tf.data.experimental.pad_to_cardinality(3))
    >>> [(int(x["a"]), bool(x["valid"])) for x in padded]
    [(1, True), (2, True), (0, False)]
    """

    def apply(dataset: Dataset) -> Dataset:
        spec = dataset.element_spec
        n = int(dataset.cardinality())
        if n < 0 or n > cardinality or not isinstance(spec, dict) or mask_key in spec:
            raise ValueError(
                f"pad_to_cardinality: a dataset of at most {cardinality} dicts without "
                f"{mask_key!r} is expected, got {n} elements of {spec!r}."
            )
        zeros = nest.map_structure(_zeros, spec)
        filled = Dataset.from_tensors(zeros).repeat(cardinality - n)
        real = Dataset.from_tensors(True).repeat(n)
        mask = real.concatenate(Dataset.from_tensors(False).repeat(cardinality - n))
        both = Dataset.zip(dataset.concatenate(filled), mask)
        return both.map(lambda element, valid: {**element, mask_key: valid})

    return apply


def _zeros(spec: TensorSpec) -> Any:
    dims = [0 if d is None else d for d in structure.sizes(spec) or []]
    return fill.zeros(dims, spec.dtype)
