"""`tf.io.RaggedFeature`: values divided by other features, held against TensorFlow's results."""

from __future__ import annotations

from typing import Any

import pytest

import weft as tf

IO = tf.io
R = IO.RaggedFeature


def example(**features: list[int]) -> bytes:
    made = {
        name: tf.train.Feature(int64_list=tf.train.Int64List(value=values))
        for name, values in features.items()
    }
    serialized: bytes = tf.train.Example(
        features=tf.train.Features(feature=made)
    ).SerializeToString()
    return serialized


ROWS = [
    example(v=[1, 2, 3], splits=[0, 1, 3], lengths=[1, 2], ids=[0, 1, 1], starts=[0, 1],
            limits=[1, 3]),
    example(v=[4, 5], splits=[0, 0, 2], lengths=[0, 2], ids=[1, 1], starts=[0, 0], limits=[0, 2]),
    example(),
]  # fmt: skip
INNER = [[[1], [2, 3]], [[], [4, 5]], []]


@pytest.mark.parametrize("execution", ["numpy", "native"])
@pytest.mark.parametrize(
    ("partitions", "expected"),
    [
        ([], [[1, 2, 3], [4, 5], []]),
        ([R.RowSplits("splits")], INNER),
        ([R.RowLengths("lengths")], INNER),
        ([R.RowStarts("starts")], INNER),
        ([R.RowLimits("limits")], INNER),
        ([R.ValueRowIds("ids")], INNER),
        ([R.UniformRowLength(1)], [[[1], [2], [3]], [[4], [5]], []]),
        ([R.UniformRowLength(1), R.RowLengths("lengths")],
         [[[[1]], [[2, 3]]], [[[]], [[4, 5]]], []]),
        ([R.RowLengths("lengths"), R.UniformRowLength(1)],
         [[[[1]], [[2], [3]]], [[], [[4], [5]]], []]),
    ],
)  # fmt: skip
def test_partitions(
    partitions: Any, expected: Any, execution: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from weft._src.core.flags import flags

    monkeypatch.setattr(flags, "execution", execution)
    features = {"x": R(tf.int64, value_key="v", partitions=partitions)}
    for parse in (IO.parse_example, tf.function(IO.parse_example)):
        found = parse(tf.constant(ROWS), features)["x"]
        assert found.to_list() == expected
        assert found.row_splits.dtype is tf.int32
    for parse in (IO.parse_single_example, tf.function(IO.parse_single_example)):
        one = parse(ROWS[0], features)["x"]
        listed = one.to_list() if isinstance(one, tf.RaggedTensor) else one.numpy().tolist()
        assert listed == expected[0]


def test_names_dtypes_and_pipelines() -> None:
    features = {
        "v": R(tf.int64, row_splits_dtype=tf.int64),
        "again": R(tf.int64, "v"),
        "sparse": IO.VarLenFeature(tf.string),
        "lengths": IO.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    }
    found = IO.parse_example(ROWS, features)
    assert found["v"].row_splits.dtype is tf.int64
    assert found["again"].to_list() == found["v"].to_list()
    assert found["lengths"].numpy().tolist() == [[1, 2], [0, 2], [0, 0]]
    dataset = tf.data.Dataset.from_tensor_slices(ROWS).batch(2)
    parsed = dataset.map(lambda x: IO.parse_example(x, {"v": R(tf.int64)})["v"])
    assert [batch.to_list() for batch in parsed] == [[[1, 2, 3], [4, 5]], [[]]]
    words = IO.parse_example([ROWS[2]], {"w": R(tf.string)})["w"]
    assert (words.dtype, words.to_list()) == (tf.string, [[]])


@pytest.mark.parametrize(
    ("data", "partition"),
    [
        (example(v=[1, 2], p=[1]), R.RowLengths("p")),
        (example(v=[1, 2], p=[3, -1]), R.RowLengths("p")),
        (example(v=[1, 2], p=[2**62, 2**62, 2**62]), R.RowLengths("p")),
        (example(v=[1, 2], p=[1, 3]), R.RowSplits("p")),
        (example(v=[1, 2], p=[0, 1]), R.RowSplits("p")),
        (example(v=[1, 2], p=[]), R.RowSplits("p")),
        (example(v=[1, 2], p=[1]), R.RowStarts("p")),
        (example(v=[1, 2], p=[1]), R.RowLimits("p")),
        (example(v=[1, 2], p=[2, 1]), R.RowLimits("p")),
        (example(v=[1, 2], p=[1, 0]), R.ValueRowIds("p")),
        (example(v=[1, 2], p=[-1, 0]), R.ValueRowIds("p")),
        (example(v=[1, 2], p=[0]), R.ValueRowIds("p")),
        (example(v=[1, 2, 3]), R.UniformRowLength(2)),
    ],
)
def test_partitions_that_do_not_fit(data: bytes, partition: Any) -> None:
    features = {"x": R(tf.int64, "v", [partition])}
    text = r"the partition \w+\(.*\) of 'x' does not fit the \d values or rows of example 1"
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        IO.parse_example([example(), data], features)


def test_rows_without_end() -> None:
    data = example(v=[1], p=[2**62])
    with pytest.raises(tf.errors.ResourceExhaustedError):
        IO.parse_example([data], {"x": R(tf.int64, "v", [R.ValueRowIds("p")])})


@pytest.mark.parametrize(
    ("feature", "error", "text"),
    [
        (R(tf.int32), tf.errors.InvalidArgumentError, "tf.cast"),
        (R(tf.int64, row_splits_dtype=tf.float32), ValueError, "must be int32 or int64"),
        (R(tf.int64, value_key=3), TypeError, "text as value_key"),
        (R(tf.int64, partitions=3), TypeError, "a list of partitions"),
        (R(tf.int64, partitions=[3]), ValueError, "a partition of the feature 'x' must be one of"),
        (R(tf.int64, partitions=[R.UniformRowLength(0)]), ValueError, "positive length"),
        (R(tf.int64, partitions=[R.RowSplits(3)]), ValueError, "with a key"),
    ],
)
def test_wrong_use(feature: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        IO.parse_example(ROWS, {"x": feature})


def test_the_rank_has_to_be_known() -> None:
    @tf.function(input_signature=[tf.TensorSpec(None, tf.string)])
    def parse(x: Any) -> Any:
        return IO.parse_example(x, {"v": R(tf.int64)})

    with pytest.raises(tf.errors.ShapeError, match="one string or a vector"):
        parse(ROWS)


def test_one_key_with_two_dtypes() -> None:
    features = {"v": R(tf.int64), "w": R(tf.float32, "v")}
    with pytest.raises(tf.errors.InvalidArgumentError, match="holds int64, expected float32"):
        IO.parse_example(ROWS, features)


def test_rows_that_are_known() -> None:
    twice = [R.RowLengths("outer"), R.RowLengths("lengths")]
    parse = tf.function(
        lambda x: IO.parse_example(x, {"x": R(tf.int64, value_key="v", partitions=twice)})["x"]
    )
    for rows, first in ((2, 3), (None, None)):
        graph = parse.get_concrete_function(tf.TensorSpec([rows], tf.string))
        assert graph.structured_outputs.shape.as_list() == [rows, None, None, None]
        assert graph.structured_outputs.row_splits.shape.as_list() == [first]


def test_splits_have_sizes_of_their_own() -> None:
    features = {"x": R(tf.int64, "v", [R.RowLengths("outer"), R.RowLengths("lengths")])}

    @tf.function
    def parse(serialized: Any) -> Any:
        x = IO.parse_single_example(serialized, features)["x"]
        sizes = {splits.spec.dims[0] for splits in x.nested_row_splits}
        assert len(sizes) == 2  # one size would say that they are equal
        return x

    row = example(v=[1, 2, 3, 4], lengths=[1, 2, 1], outer=[2, 1])
    assert parse(tf.constant(row)).to_list() == [[[1], [2, 3]], [[4]]]
