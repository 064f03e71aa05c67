"""tf.raw_ops on datasets, iterators and serialized Examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.errors import FailedPreconditionError, OutOfRangeError, UnsupportedError

raw = tf.raw_ops

INT = {"output_types": [tf.int64], "output_shapes": [[]]}


def numbers(n: int) -> Any:
    start, step = tf.constant(0, tf.int64), tf.constant(1, tf.int64)
    return raw.RangeDataset(start=start, stop=tf.cast(n, tf.int64), step=step, **INT)


def elements(dataset: Any, types: Any = None) -> Any:
    """All elements, as TensorFlow's graphs collect them: in a loop over an iterator."""
    types = types or [tf.int64]
    form = {"output_types": types, "output_shapes": [None] * len(types)}
    iterator = raw.AnonymousIteratorV3(**form)
    raw.MakeIterator(dataset=dataset, iterator=iterator)
    found = []
    while True:
        try:
            part = raw.IteratorGetNext(iterator=iterator, **form)
        except OutOfRangeError:
            return found
        values = [np.asarray(x).tolist() for x in part]
        found.append(values[0] if len(values) == 1 else tuple(values))


CHANGED: dict[str, tuple[Any, Any]] = {
    "BatchDataset": ({"batch_size": 2}, [[0, 1], [2, 3], [4]]),
    "BatchDatasetV2": ({"batch_size": 2, "drop_remainder": True}, [[0, 1], [2, 3]]),
    "ParallelBatchDataset": (
        {"batch_size": 2, "num_parallel_calls": 2, "drop_remainder": False},
        [[0, 1], [2, 3], [4]],
    ),
    "RepeatDataset": ({"count": 2}, [*range(5)] * 2),
    "TakeDataset": ({"count": 2}, [0, 1]),
    "SkipDataset": ({"count": 3}, [3, 4]),
    "ShardDataset": ({"num_shards": 2, "index": 1}, [1, 3]),
    "PrefetchDataset": ({"buffer_size": 1}, [*range(5)]),
    "RewriteDataset": ({"rewrite_name": "any"}, [*range(5)]),
    "OptionsDataset": ({"serialized_options": ""}, [*range(5)]),
    "ModelDataset": ({}, [*range(5)]),
    "OptimizeDatasetV2": (
        {
            "optimizations_enabled": [],
            "optimizations_disabled": [],
            "optimizations_default": [],
        },
        [*range(5)],
    ),
    "MapDataset": (
        {"other_arguments": [10], "f": lambda x, k: x * tf.cast(k, tf.int64)},
        [*range(0, 50, 10)],
    ),
    "ParallelMapDatasetV2": (
        {
            "other_arguments": [],
            "f": lambda x: x + 1,
            "num_parallel_calls": 2,
            "deterministic": "true",
        },
        [1, 2, 3, 4, 5],
    ),
    "FilterDataset": (
        {"other_arguments": [2], "predicate": lambda x, k: x > tf.cast(k, tf.int64)},
        [3, 4],
    ),
    "TakeWhileDataset": ({"other_arguments": [], "predicate": lambda x: x < 3}, [0, 1, 2]),
    "FlatMapDataset": ({"other_arguments": [], "f": numbers}, [0, 0, 1, 0, 1, 2, 0, 1, 2, 3]),
    "InterleaveDataset": (
        {"other_arguments": [], "cycle_length": 2, "block_length": 1, "f": numbers},
        [0, 0, 1, 0, 1, 0, 2, 1, 2, 3],
    ),
    "ParallelInterleaveDatasetV4": (
        {
            "other_arguments": [], "cycle_length": 2, "block_length": 1,
            "buffer_output_elements": 1, "prefetch_input_elements": 1, "num_parallel_calls": 2,
            "f": numbers,
        },
        [0, 0, 1, 0, 1, 0, 2, 1, 2, 3],
    ),
    "ScanDataset": (
        {"initial_state": [tf.constant(0, tf.int64)], "other_arguments": [],
         "f": lambda total, x: [total + x, total + x]},
        [0, 1, 3, 6, 10],
    ),
    "GroupByWindowDataset": (
        {
            "key_func_other_arguments": [], "reduce_func_other_arguments": [2],
            "window_size_func_other_arguments": [],
            "key_func": lambda x: x % 2,
            "reduce_func": lambda key, rows, n: raw.BatchDataset(
                input_dataset=rows, batch_size=n, output_types=[tf.int64], output_shapes=[[None]]
            ),
            "window_size_func": lambda key: tf.constant(9, tf.int64),
        },
        [[0, 2], [4], [1, 3]],
    ),
    "CacheDataset": ({"filename": tf.constant("")}, [*range(5)]),
}  # fmt: skip


NAMES = {
    *CHANGED,
    *"AnonymousIteratorV2 AnonymousIteratorV3 CacheDatasetV2 ConcatenateDataset".split(),
    *"DatasetCardinality DatasetToSingleElement DeleteIterator DummyMemoryCache".split(),
    *"DummySeedGenerator IteratorGetNext IteratorGetNextAsOptional IteratorGetNextSync".split(),
    *"MakeIterator PaddedBatchDataset PaddedBatchDatasetV2 ParseExample ParseExampleV2".split(),
    *"ParseSingleExample RangeDataset ReduceDataset ShuffleDataset ShuffleDatasetV3".split(),
    *"TensorDataset TensorSliceDataset UnbatchDataset UniqueDataset WindowDataset".split(),
    "ZipDataset",
}


@pytest.mark.parametrize("op", sorted(CHANGED))
def test_datasets_of_datasets(op: str) -> None:
    given, expected = CHANGED[op]
    made = getattr(raw, op)(input_dataset=numbers(5), **given, **INT)
    assert made.dtype is tf.variant
    assert elements(made) == expected


def test_sources() -> None:
    x, y = np.arange(6).reshape(3, 2), np.array(["a", "b", "c"])
    sliced = raw.TensorSliceDataset(components=[x, y], output_shapes=[[2], []])
    rows = [([0, 1], b"a"), ([2, 3], b"b"), ([4, 5], b"c")]
    assert elements(sliced, [tf.int64, tf.string]) == rows
    whole = raw.TensorDataset(components=[x], output_shapes=[[3, 2]])
    assert elements(whole) == [x.tolist()]
    both = raw.ZipDataset(
        input_datasets=[numbers(2), sliced], output_types=[tf.int64] * 2 + [tf.string],
        output_shapes=[[], [2], []],
    )  # fmt: skip
    assert elements(both, [tf.int64, tf.int64, tf.string]) == [
        (0, [0, 1], b"a"),
        (1, [2, 3], b"b"),
    ]
    joined = raw.ConcatenateDataset(input_dataset=numbers(2), another_dataset=numbers(1), **INT)
    assert elements(joined) == [0, 1, 0]


def test_unbatched_and_unique() -> None:
    pairs = raw.BatchDataset(input_dataset=numbers(5), batch_size=2, **INT)
    assert elements(raw.UnbatchDataset(input_dataset=pairs, **INT)) == [*range(5)]
    twice = raw.RepeatDataset(input_dataset=numbers(3), count=2, **INT)
    assert elements(raw.UniqueDataset(input_dataset=twice, **INT)) == [0, 1, 2]


def test_padded() -> None:
    rows = raw.MapDataset(
        input_dataset=numbers(3), other_arguments=[], f=lambda n: tf.range(n), **INT
    )
    given = {
        "padded_shapes": [tf.constant([-1], tf.int64)],
        "padding_values": [tf.constant(9, tf.int64)],
        "output_shapes": [[None, None]],
    }
    expected = [[[9], [0]], [[0, 1]]]
    older = raw.PaddedBatchDataset(input_dataset=rows, batch_size=2, **given)
    assert elements(older) == expected
    newer = raw.PaddedBatchDatasetV2(
        input_dataset=rows, batch_size=2, drop_remainder=False, parallel_copy=True, **given
    )
    assert elements(newer) == expected


def test_shuffled_as_in_tensorflow() -> None:
    given = {"buffer_size": 3, "seed": 5, "seed2": 7, "reshuffle_each_iteration": False, **INT}
    first = raw.ShuffleDataset(input_dataset=numbers(8), **given)
    second = raw.ShuffleDatasetV3(
        input_dataset=numbers(8), seed_generator=raw.DummySeedGenerator(), **given
    )
    # TensorFlow gives this order for both.
    assert elements(first) == elements(second) == [1, 2, 3, 5, 0, 4, 6, 7]
    chance = raw.ShuffleDataset(input_dataset=numbers(8), **given | {"seed": 0, "seed2": 0})
    assert sorted(elements(chance)) == [*range(8)]


def test_windows() -> None:
    made = raw.WindowDataset(
        input_dataset=numbers(5), size=2, shift=2, stride=1, drop_remainder=False,
        output_types=[tf.variant], output_shapes=[[]],
    )  # fmt: skip
    flat = raw.FlatMapDataset(
        input_dataset=made, other_arguments=[], **INT,
        f=lambda window: raw.BatchDataset(input_dataset=window, batch_size=9, **INT),
    )  # fmt: skip
    assert elements(flat) == [[0, 1], [2, 3], [4]]


def test_caches(tmp_path: Path) -> None:
    made = raw.CacheDatasetV2(
        input_dataset=numbers(3),
        filename=str(tmp_path / "cache"),
        cache=raw.DummyMemoryCache(),
        **INT,
    )
    assert elements(made) == elements(made) == [0, 1, 2]


@pytest.mark.parametrize("traced", [False, True])
def test_whole_datasets(traced: bool) -> None:
    def run(n: Any) -> Any:
        made = numbers(n)
        total = raw.ReduceDataset(
            input_dataset=made,
            initial_state=[tf.constant(0, tf.int64), tf.constant(1, tf.int64)],
            other_arguments=[tf.constant(3, tf.int64)],
            f=lambda a, b, x, k: [a + x * k, b * (x + 1)],
            output_types=[tf.int64] * 2,
            output_shapes=[[], []],
            metadata="any",
        )
        one = raw.TakeDataset(input_dataset=made, count=1, **INT)
        only = raw.DatasetToSingleElement(dataset=one, **INT)
        return [*total, *only, raw.DatasetCardinality(input_dataset=made)]

    found = (tf.function(run) if traced else run)(tf.constant(4))
    assert [int(x) for x in found] == [18, 24, 0, 4]


@pytest.mark.parametrize("traced", [False, True])
def test_iterators(traced: bool) -> None:
    def run() -> Any:
        iterator, deleter = raw.AnonymousIteratorV2(**INT)
        raw.MakeIterator(dataset=numbers(2), iterator=iterator)
        first = raw.IteratorGetNextSync(iterator=iterator, **INT)
        optional = raw.IteratorGetNextAsOptional(iterator=iterator, **INT)
        empty = raw.IteratorGetNextAsOptional(iterator=iterator, **INT)
        raw.MakeIterator(dataset=numbers(3), iterator=iterator)
        again = raw.IteratorGetNext(iterator=iterator, **INT)
        raw.DeleteIterator(handle=iterator, deleter=deleter)
        second = raw.OptionalGetValue(optional=optional, **INT)
        return [*first, *second, raw.OptionalHasValue(optional=empty), *again]

    found = (tf.function(run) if traced else run)()
    assert [int(x) for x in found] == [0, 1, 0, 0]
    with pytest.raises(FailedPreconditionError, match="before it was given a dataset"):
        raw.IteratorGetNext(iterator=raw.AnonymousIteratorV3(**INT), **INT)


def test_elements_that_nobody_knows() -> None:
    with pytest.raises(UnsupportedError, match="TakeDataset|Dataset.take: nothing tells what the"):
        tf.function(lambda handle: raw.TakeDataset(input_dataset=handle, count=1, **INT))(
            numbers(3)
        )


# --- Examples ------------------------------------------------------------------------------------


def example(a: list[float], b: list[int]) -> bytes:
    feature = tf.train.Feature
    features = {
        "a": feature(float_list=tf.train.FloatList(value=a)),
        "b": feature(int64_list=tf.train.Int64List(value=b)),
    }
    if b:
        features["c"] = feature(bytes_list=tf.train.BytesList(value=[b"text"]))
    whole = tf.train.Example(features=tf.train.Features(feature=features))
    return whole.SerializeToString()


ROWS = [example([1.0, 2.0], [3]), example([4.0, 5.0], [])]
DENSE = {
    "dense_defaults": [tf.zeros([0]), tf.constant(["none"])],
    "dense_shapes": [[2], [1]],
}
EXPECTED = [
    [[[0, 0]]], [[3]], [[2, 1]], [[[1.0, 2.0], [4.0, 5.0]], [[b"text"], [b"none"]]],
]  # fmt: skip


def plain(parts: Any) -> Any:
    return [[np.asarray(x).tolist() for x in part] for part in parts]


@pytest.mark.parametrize("traced", [False, True])
def test_examples(traced: bool) -> None:
    def newer(rows: Any) -> Any:
        return raw.ParseExampleV2(
            serialized=rows, names=np.zeros(0, object), sparse_keys=["b"], dense_keys=["a", "c"],
            ragged_keys=["b2"], num_sparse=1, sparse_types=[tf.int64],
            ragged_value_types=[tf.float32], ragged_split_types=[tf.int64], **DENSE,
        )  # fmt: skip

    def older(rows: Any) -> Any:
        return raw.ParseExample(
            serialized=rows, names=[], sparse_keys=["b"], dense_keys=["a", "c"],
            sparse_types=[tf.int64], **DENSE,
        )  # fmt: skip

    def single(rows: Any) -> Any:
        return raw.ParseSingleExample(
            serialized=rows[0], num_sparse=1, sparse_keys=["b"], dense_keys=["a", "c"],
            sparse_types=[tf.int64], **DENSE,
        )  # fmt: skip

    wrap = tf.function if traced else lambda f: f
    found = plain(wrap(newer)(tf.constant(ROWS)))
    assert found == [*EXPECTED, [[]], [[0, 0, 0]]]
    assert plain(wrap(older)(tf.constant(ROWS))) == EXPECTED
    one = plain(wrap(single)(tf.constant(ROWS)))
    assert one == [[[[0]]], [[3]], [[1]], [[1.0, 2.0], [b"text"]]]


def test_features_of_any_length_and_ragged_ones() -> None:
    found = raw.ParseExampleV2(
        serialized=ROWS, names=[], sparse_keys=np.zeros(0, object), dense_keys=["b"],
        ragged_keys=["a"], dense_defaults=[tf.constant(-1, tf.int64)], num_sparse=0,
        sparse_types=[], ragged_value_types=[tf.float32], ragged_split_types=[tf.int32],
        dense_shapes=[[None]],
    )  # fmt: skip
    assert plain(found)[3:] == [[[[3], [-1]]], [[1.0, 2.0, 4.0, 5.0]], [[0, 2, 4]]]
    assert found[5][0].dtype is tf.int32


def test_names_must_be_known() -> None:
    @tf.function
    def f(key):
        return raw.ParseExample(
            serialized=ROWS, names=[], sparse_keys=[key], dense_keys=[], dense_defaults=[],
            sparse_types=[tf.int64], dense_shapes=[],
        )  # fmt: skip

    with pytest.raises(TypeError, match="ParseExample: sparse_keys must be known while tracing"):
        f(tf.constant("b"))
    with pytest.raises(ValueError, match=r"a feature is asked for twice, of \['a'\]"):
        raw.ParseExample(
            serialized=ROWS, names=[], sparse_keys=["a"], dense_keys=["a"],
            dense_defaults=[tf.zeros([0])], sparse_types=[tf.float32], dense_shapes=[[2]],
        )  # fmt: skip
