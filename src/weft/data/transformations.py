"""`tf.data.experimental`: older forms of methods, for `Dataset.apply`, and a few more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft import nest
from weft.core.dtypes import int64
from weft.core.specs import TensorSpec
from weft.core.tensor import Tensor
from weft.data import structure, traced
from weft.data.base import (
    CAPTURES,
    INPUT,
    check_dataset,
    dataset_op,
    int64_scalar,
    make_dataset,
    number,
)
from weft.data.dataset import Dataset
from weft.data.iterators import Iterator
from weft.data.optional import Optional
from weft.data.stage import Cursor, Run, Stage
from weft.data.structure import Values
from weft.data.traced import Call, Debug, Traced
from weft.errors import FailedPreconditionError, InvalidArgumentError, UnsupportedError
from weft.io.examples import parse_example
from weft.ops.array import fill

Transformation = Callable[[Any], Any]

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


def assert_cardinality(expected_cardinality: Any) -> Transformation:
    """A transformation that says how many elements there are; FailedPreconditionError if not.

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


def _reducer_kernel(xp: Any, source: Stage, *captured: Any, functions: Any) -> Stage:
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

    >>> count = tf.data.experimental.Reducer(lambda key: 0, lambda n, x: n + 1, lambda n: n)
    >>> counts = tf.data.experimental.group_by_reducer(lambda x: x % 3, count)
    >>> list(tf.data.Dataset.range(7).apply(counts).as_numpy_iterator())
    [np.int32(3), np.int32(2), np.int32(2)]
    """

    def apply(dataset: Any) -> Any:
        spec = dataset.element_spec
        key = traced.of_element(key_func, spec, "group_by_reducer")
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

    >>> rows = tf.data.Dataset.from_tensor_slices({"a": [1, 2]})
    >>> padded = rows.apply(tf.data.experimental.pad_to_cardinality(3))
    >>> [(int(x["a"]), bool(x["valid"])) for x in padded]
    [(1, True), (2, True), (0, False)]
    """

    def apply(dataset: Any) -> Any:
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


# --- older forms ---------------------------------------------------------------------------------


def _method(name: str, *args: Any, **kwargs: Any) -> Transformation:
    return lambda dataset: getattr(dataset, name)(*args, **kwargs)


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """`Dataset.bucket_by_sequence_length` as a transformation.

    >>> rows = tf.data.Dataset.range(1, 3).map(lambda n: tf.fill([n], n))
    >>> bucket = tf.data.experimental.bucket_by_sequence_length(tf.size, [5], [2, 2])
    >>> next(iter(rows.apply(bucket))).shape
    TensorShape([2, 2])
    """
    return _method(
        "bucket_by_sequence_length", element_length_func, bucket_boundaries, bucket_batch_sizes,
        padded_shapes, padding_values, pad_to_bucket_boundary, no_padding, drop_remainder,
    )  # fmt: skip


def enumerate_dataset(start: Any = 0) -> Transformation:
    """`Dataset.enumerate` as a transformation.

    >>> len(tf.data.Dataset.range(3).apply(tf.data.experimental.enumerate_dataset()))
    3
    """
    return _method("enumerate", start)


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: Any = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Transformation:
    """`Dataset.group_by_window` as a transformation.

    >>> group = tf.data.experimental.group_by_window(lambda x: x % 2, lambda k, d: d.batch(3), 3)
    >>> [batch.numpy().tolist() for batch in tf.data.Dataset.range(4).apply(group)]
    [[0, 2], [1, 3]]
    """
    return _method("group_by_window", key_func, reduce_func, window_size, window_size_func)


def ignore_errors(log_warning: bool = False) -> Transformation:
    """`Dataset.ignore_errors` as a transformation.

    >>> [int(x) for x in tf.data.Dataset.range(2).apply(tf.data.experimental.ignore_errors())]
    [0, 1]
    """
    return _method("ignore_errors", log_warning)


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: bool = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """`map` and then `batch`, as one transformation.

    >>> both = tf.data.experimental.map_and_batch(lambda x: x * 2, 2)
    >>> [batch.numpy().tolist() for batch in tf.data.Dataset.range(3).apply(both)]
    [[0, 2], [4]]
    """

    def apply(dataset: Any) -> Any:
        return dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)

    return apply


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: bool = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """`Dataset.interleave` as a transformation.

    >>> twice = tf.data.experimental.parallel_interleave(
    ...     lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2
    ... )
    >>> [int(x) for x in tf.data.Dataset.range(2).apply(twice)]
    [0, 1, 0, 1]
    """
    return _method("interleave", map_func, cycle_length, block_length, cycle_length)


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """`Dataset.scan` as a transformation.

    >>> running = tf.data.experimental.scan(np.int64(0), lambda total, x: (total + x, total + x))
    >>> [int(x) for x in tf.data.Dataset.range(4).apply(running)]
    [0, 1, 3, 6]
    """
    return _method("scan", initial_state, scan_func)


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """`shuffle` and then `repeat`, as one transformation.

    >>> twice = tf.data.experimental.shuffle_and_repeat(3, count=2)
    >>> len(tf.data.Dataset.range(3).apply(twice))
    6
    """
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def snapshot(
    path: Any,
    compression: str = "AUTO",
    reader_func: Callable[..., Any] | None = None,
    shard_func: Callable[..., Any] | None = None,
) -> Transformation:
    """`Dataset.snapshot` as a transformation.

    >>> import tempfile
    >>> kept = tf.data.Dataset.range(2).apply(tf.data.experimental.snapshot(tempfile.mkdtemp()))
    >>> [int(x) for x in kept]
    [0, 1]
    """
    return _method("snapshot", path, compression, reader_func, shard_func)


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """`Dataset.take_while` as a transformation.

    >>> few = tf.data.experimental.take_while(lambda x: x < 2)
    >>> [int(x) for x in tf.data.Dataset.range(9).apply(few)]
    [0, 1]
    """
    return _method("take_while", predicate)


def unbatch() -> Transformation:
    """`Dataset.unbatch` as a transformation.

    >>> [int(x) for x in tf.data.Dataset.range(2).batch(2).apply(tf.data.experimental.unbatch())]
    [0, 1]
    """
    return _method("unbatch")


def unique() -> Transformation:
    """`Dataset.unique` as a transformation.

    >>> rows = tf.data.Dataset.from_tensor_slices([1, 1, 2])
    >>> [int(x) for x in rows.apply(tf.data.experimental.unique())]
    [1, 2]
    """
    return _method("unique")


def prefetch_to_device(device: str, buffer_size: int | None = None) -> Transformation:
    """`Dataset.prefetch` as a transformation; there is one device.

    >>> rows = tf.data.Dataset.range(2).apply(tf.data.experimental.prefetch_to_device("/cpu:0"))
    >>> [int(x) for x in rows]
    [0, 1]
    """
    return _method("prefetch", buffer_size)


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """The dataset itself: there is one device.

    >>> rows = tf.data.Dataset.range(2).apply(tf.data.experimental.copy_to_device("/cpu:0"))
    >>> [int(x) for x in rows]
    [0, 1]
    """
    return lambda dataset: dataset


def parse_example_dataset(
    features: Any, num_parallel_calls: int = 1, deterministic: bool | None = None
) -> Transformation:
    """A transformation that parses batches of serialized Examples with `tf.io.parse_example`.

    >>> parse = tf.data.experimental.parse_example_dataset(
    ...     {"x": tf.io.FixedLenFeature([], tf.int64, default_value=7)}
    ... )
    >>> rows = tf.data.Dataset.from_tensors([b"", b""]).apply(parse)
    >>> next(iter(rows))["x"].numpy()
    array([7, 7])
    """

    def parse(serialized: Tensor) -> Any:
        return parse_example(serialized, features)

    return lambda dataset: dataset.map(parse, num_parallel_calls, deterministic)


# --- functions of datasets -----------------------------------------------------------------------


def cardinality(dataset: Any) -> Tensor:
    """`Dataset.cardinality` as a function.

    >>> tf.data.experimental.cardinality(tf.data.Dataset.range(3)).numpy()
    np.int64(3)
    """
    return check_dataset("cardinality", "dataset", dataset).cardinality()


def get_single_element(dataset: Any) -> Any:
    """`Dataset.get_single_element` as a function.

    >>> tf.data.experimental.get_single_element(tf.data.Dataset.from_tensors(5)).numpy()
    np.int32(5)
    """
    return check_dataset("get_single_element", "dataset", dataset).get_single_element()


def get_structure(dataset_or_iterator: Any) -> Any:
    """The specs of the elements.

    >>> tf.data.experimental.get_structure(tf.data.Dataset.range(3))
    TensorSpec(shape=(), dtype=tf.int64, name=None)
    """
    spec = getattr(dataset_or_iterator, "element_spec", None)
    if spec is None:
        raise TypeError(
            f"get_structure: a dataset or iterator is expected, got {dataset_or_iterator!r}."
        )
    return spec


def get_next_as_optional(iterator: Any) -> Optional:
    """`Iterator.get_next_as_optional` as a function.

    >>> optional = tf.data.experimental.get_next_as_optional(iter(tf.data.Dataset.range(1)))
    >>> bool(optional.has_value())
    True
    """
    if not isinstance(iterator, Iterator):
        raise TypeError(f"get_next_as_optional: an iterator is expected, got {iterator!r}.")
    return iterator.get_next_as_optional()


def save(
    dataset: Any,
    path: Any,
    compression: str | None = None,
    shard_func: Callable[..., Any] | None = None,
    checkpoint_args: Any = None,
) -> None:
    """`Dataset.save` as a function.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.data.experimental.save(tf.data.Dataset.range(2), folder)
    >>> len(list(tf.data.experimental.load(folder)))
    2
    """
    check_dataset("save", "dataset", dataset).save(path, compression, shard_func, checkpoint_args)


def at(dataset: Any, index: Any) -> Any:
    """The element of a number.

    >>> tf.data.experimental.at(tf.data.Dataset.range(5), 3).numpy()
    np.int64(3)
    """
    place = int64_scalar("at", "index", index)
    one = check_dataset("at", "dataset", dataset).skip(place).take(1)
    try:
        return one.get_single_element()
    except InvalidArgumentError:
        raise InvalidArgumentError(
            None, None, f"experimental.at: the dataset has no element {index!r}."
        ) from None


def to_variant(dataset: Any) -> Tensor:
    """The variant tensor that holds a dataset.

    >>> tf.data.experimental.to_variant(tf.data.Dataset.range(3)).dtype
    tf.variant
    """
    handle: Tensor = check_dataset("to_variant", "dataset", dataset)._variant
    return handle


def from_variant(variant: Tensor, structure: Any) -> Any:
    """The dataset that a variant tensor holds, given the specs of its elements.

    >>> rows = tf.data.Dataset.range(3)
    >>> handle = tf.data.experimental.to_variant(rows)
    >>> len(tf.data.experimental.from_variant(handle, rows.element_spec))
    3
    """
    if not isinstance(variant, Tensor) or variant.dtype.name != "variant":
        raise TypeError(f"from_variant: a variant tensor is expected, got {variant!r}.")
    return make_dataset(variant, structure)


def enable_debug_mode() -> None:
    """Functions given to datasets made from now on run as Python, where a debugger can stop.

    They are still traced once, to know what they return.

    >>> callable(tf.data.experimental.enable_debug_mode)
    True
    """
    Debug.enabled = True


def make_saveable_from_iterator(iterator: Any, external_state_policy: Any = None) -> Any:
    """Refused: an iterator has `save_position` and `restore_position`.

    >>> tf.data.experimental.make_saveable_from_iterator(None)
    Traceback (most recent call last):
    weft.errors.UnsupportedError: make_saveable_from_iterator belongs to TensorFlow 1; use
    iterator.save_position() and iterator.restore_position(position).
    """
    raise UnsupportedError(
        "make_saveable_from_iterator belongs to TensorFlow 1; use iterator.save_position() and "
        "iterator.restore_position(position)."
    )
