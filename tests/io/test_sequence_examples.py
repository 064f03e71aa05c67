"""SequenceExamples, SparseFeature, sparse tensors as strings, Examples in JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

T, IO = tf.train, tf.io
INVALID = tf.errors.InvalidArgumentError


def feature(values: list[Any]) -> Any:
    if values and isinstance(values[0], bytes):
        return T.Feature(bytes_list=T.BytesList(value=values))
    if values and isinstance(values[0], float):
        return T.Feature(float_list=T.FloatList(value=values))
    return T.Feature(int64_list=T.Int64List(value=values)) if values else T.Feature()


def sequence(context: dict[str, Any], lists: dict[str, Any]) -> bytes:
    steps = {k: T.FeatureList(feature=[feature(v) for v in steps]) for k, steps in lists.items()}
    return T.SequenceExample(
        context=T.Features(feature={k: feature(v) for k, v in context.items()}),
        feature_lists=T.FeatureLists(feature_list=steps),
    ).SerializeToString()


A = sequence(
    {"l": [3], "w": [1.5, 2.5]},
    {"t": [[1, 2], [3, 4], [5, 6]], "s": [[b"a"], [], [b"b", b"c"]], "n": [[1, 1], [2], [0, 2]]},
)
B = sequence({"l": [4]}, {"t": [[7, 8]], "s": [[b"z", b"y", b"x"]], "n": [[2]]})
C = sequence({"l": [5]}, {"s": []})
CONTEXT = {"l": IO.FixedLenFeature([], tf.int64), "w": IO.VarLenFeature(tf.float32)}
DENSE = IO.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)


def numbers(x: Any) -> Any:
    if isinstance(x, tf.SparseTensor):
        return [
            x.indices.numpy().tolist(),
            x.values.numpy().tolist(),
            x.dense_shape.numpy().tolist(),
        ]
    return x.to_list() if isinstance(x, tf.RaggedTensor) else x.numpy().tolist()


def in_modes(parse: Any, serialized: Any) -> Any:
    """The result eagerly, which traces with known and unknown sizes must give as well."""
    eager = tf.nest.map_structure(numbers, parse(tf.constant(serialized)))
    rank = np.ndim(np.array(serialized, object))
    for shape in ([len(serialized)] if rank else [], [None] * rank):
        traced = tf.function(parse, input_signature=[tf.TensorSpec(shape, tf.string)])
        assert tf.nest.map_structure(numbers, traced(tf.constant(serialized))) == eager
    return eager


def test_bytes() -> None:
    step = T.FeatureList(feature=[feature([1]), feature([2])])
    lists = T.FeatureLists(feature_list={"x": step})
    context = T.Features(feature={"y": feature([3])})
    made = T.SequenceExample(context=context, feature_lists=lists).SerializeToString()
    assert made == (
        b"\n\x0c\n\n\n\x01y\x12\x05\x1a\x03\n\x01\x03"
        b"\x12\x15\n\x13\n\x01x\x12\x0e\n\x05\x1a\x03\n\x01\x01\n\x05\x1a\x03\n\x01\x02"
    )


def test_context_and_lists() -> None:
    wanted = {"t": DENSE, "s": IO.VarLenFeature(tf.string)}
    found = in_modes(lambda x: IO.parse_sequence_example(x, CONTEXT, wanted), [A, B, C])
    context, lists, lengths = found
    assert context == {"l": [3, 4, 5], "w": [[[0, 0], [0, 1]], [1.5, 2.5], [3, 2]]}
    zero = [0, 0]
    assert lists["t"] == [[[1, 2], [3, 4], [5, 6]], [[7, 8], zero, zero], [zero, zero, zero]]
    places = [[0, 0, 0], [0, 2, 0], [0, 2, 1], [1, 0, 0], [1, 0, 1], [1, 0, 2]]
    assert lists["s"] == [places, [b"a", b"b", b"c", b"z", b"y", b"x"], [3, 3, 3]]
    assert lengths == {"t": [3, 1, 0]}


def test_ragged_lists() -> None:
    halves = IO.RaggedFeature(tf.int64, partitions=[IO.RaggedFeature.UniformRowLength(2)])
    rows = IO.RaggedFeature(tf.string, value_key="s", row_splits_dtype=tf.int64)
    found = in_modes(
        lambda x: IO.parse_sequence_example(x, None, {"t": halves, "rows": rows})[1], [A, B]
    )
    assert found["t"] == [[[[1, 2]], [[3, 4]], [[5, 6]]], [[[7, 8]]]]
    assert found["rows"] == [[[b"a"], [], [b"b", b"c"]], [[b"z", b"y", b"x"]]]


def test_lists_partitioned_by_others() -> None:
    parts = IO.RaggedFeature(tf.int64, value_key="t", partitions=[IO.RaggedFeature.RowLengths("n")])
    found = in_modes(lambda x: IO.parse_sequence_example(x, None, {"t": parts})[1]["t"], [A, B])
    assert found == [[[[1], [2]], [[3, 4]], [[], [5, 6]]], [[[7, 8]]]]
    fewer = sequence({}, {"t": [[1], [2]], "n": [[1]]})
    with pytest.raises(INVALID, match="different numbers of steps"):
        IO.parse_sequence_example([fewer], None, {"t": parts})


def test_single() -> None:
    wanted = {"t": DENSE, "s": IO.VarLenFeature(tf.string), "r": IO.RaggedFeature(tf.string, "s")}
    context, lists = in_modes(lambda x: IO.parse_single_sequence_example(x, CONTEXT, wanted), A)
    assert context == {"l": 3, "w": [[[0], [1]], [1.5, 2.5], [2]]}
    assert lists["t"] == [[1, 2], [3, 4], [5, 6]]
    assert lists["s"] == [[[0, 0], [2, 0], [2, 1]], [b"a", b"b", b"c"], [3, 2]]
    assert lists["r"] == [[b"a"], [], [b"b", b"c"]]
    _, empty = IO.parse_single_sequence_example(C, None, wanted)
    assert (numbers(empty["t"]), empty["t"].shape, numbers(empty["r"])) == ([], (0, 2), [])


def test_in_a_dataset() -> None:
    data = tf.data.Dataset.from_tensor_slices([A, B])
    found = data.map(lambda x: IO.parse_single_sequence_example(x, None, {"t": DENSE})[1]["t"])
    assert [x.shape[0] for x in found] == [3, 1]


@pytest.mark.parametrize(
    ("features", "error", "text"),
    [
        ({"t": IO.FixedLenSequenceFeature([2], tf.int64)}, INVALID, "'t' .* missing in example 2"),
        ({"t": DENSE._replace(shape=[3])}, INVALID, "step 0 .* has 2 values, expected 3"),
        ({"t": DENSE._replace(dtype=tf.float32)}, INVALID, "holds int64, expected float32"),
        ({"t": DENSE._replace(default_value=9)}, ValueError, "cannot have a default_value"),
        ({"t": IO.FixedLenFeature([2], tf.int64)}, ValueError, "must be a FixedLenSequenceFeature"),
        ({}, ValueError, "context_features or sequence_features"),
        ([1], ValueError, "must be a dict"),
    ],
)
def test_refusals(features: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        IO.parse_sequence_example([A, B, C], None, features)


def test_what_is_no_sequence_example() -> None:
    with pytest.raises(INVALID, match="string 1 is no serialized SequenceExample"):
        IO.parse_sequence_example([A, b"\xff"], None, {"t": DENSE})
    with pytest.raises(tf.errors.ShapeError, match="must be one string"):
        IO.parse_single_sequence_example([A], None, {"t": DENSE})


# --- SparseFeature -------------------------------------------------------------------------------


def example(**features: list[Any]) -> bytes:
    found = {k: feature(v) for k, v in features.items()}
    return T.Example(features=T.Features(feature=found)).SerializeToString()


ROWS = [example(i=[3, 1], v=[0.5, 1.5], j=[0, 2]), example(i=[0], v=[2.5], j=[1])]
SPARSE = IO.SparseFeature("i", "v", tf.float32, 5)


def test_sparse_features() -> None:
    def parsed(item: Any, rows: Any = ROWS) -> Any:
        return in_modes(lambda x: IO.parse_example(x, {"f": item})["f"], rows)

    assert parsed(SPARSE) == [[[0, 1], [0, 3], [1, 0]], [1.5, 0.5, 2.5], [2, 5]]
    two = IO.SparseFeature(["i", "j"], "v", tf.float32, [5, 3])
    assert parsed(two) == [[[0, 1, 2], [0, 3, 0], [1, 0, 1]], [1.5, 0.5, 2.5], [2, 5, 3]]
    as_it_is = SPARSE._replace(already_sorted=True)
    assert parsed(as_it_is) == [[[0, 3], [0, 1], [1, 0]], [0.5, 1.5, 2.5], [2, 5]]
    assert parsed(SPARSE, ROWS[0]) == [[[1], [3]], [1.5, 0.5], [5]]
    assert parsed(SPARSE, [ROWS[0], b""]) == [[[0, 1], [0, 3]], [1.5, 0.5], [2, 5]]


@pytest.mark.parametrize(
    ("row", "item", "error", "text"),
    [
        (example(i=[9], v=[2.5]), SPARSE, INVALID, "index 9 in 'i', beyond the size 5"),
        (example(i=[-1], v=[2.5]), SPARSE, INVALID, "index -1"),
        (example(i=[1], v=[2.5, 3.5]), SPARSE, INVALID, "2 values in 'v' and 1 indices in 'i'"),
        (b"", SPARSE._replace(size=[1, 2]), ValueError, "one index_key and one size"),
        (b"", SPARSE._replace(size=None), ValueError, "sizes .* must be known"),
    ],
)
def test_sparse_features_that_do_not_fit(row: bytes, item: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        IO.parse_example([row], {"f": item})


# --- sparse tensors as strings -------------------------------------------------------------------


def test_sparse_tensors_as_strings() -> None:
    sp = tf.sparse.from_dense(tf.constant([[1, 0, 0], [0, 0, 2]]))
    assert (
        IO.serialize_sparse(sp).numpy()[1]
        == b'\x08\x03\x12\x04\x12\x02\x08\x02"\x08\x01\0\0\0\x02\0\0\0'
    )
    rows = IO.serialize_many_sparse(sp)
    assert rows.numpy()[1].tolist() == [
        b'\x08\t\x12\x08\x12\x02\x08\x01\x12\x02\x08\x01"\x08\x02\0\0\0\0\0\0\0',
        b'\x08\x03\x12\x04\x12\x02\x08\x01"\x04\x02\0\0\0',
        b'\x08\t\x12\x04\x12\x02\x08\x01"\x08\x03\0\0\0\0\0\0\0',
    ]

    @tf.function
    def back(strings: Any) -> Any:
        return IO.deserialize_many_sparse(strings, tf.int32, rank=2)

    assert numbers(back(rows)) == numbers(sp)
    assert back.get_concrete_function(rows).structured_outputs.shape.rank == 2
    one = IO.serialize_sparse(tf.sparse.from_dense([0, 7]))
    other = IO.serialize_sparse(tf.sparse.from_dense([8, 0, 0, 9]))
    joined = IO.deserialize_many_sparse([one, other], tf.int32)
    assert numbers(joined) == [[[0, 1], [1, 0], [1, 3]], [7, 8, 9], [2, 4]]


def test_rows_without_elements_and_strings() -> None:
    sp = tf.SparseTensor([[2, 1]], [b"x"], [4, 3])
    rows = IO.serialize_many_sparse(sp)
    assert rows.shape == (4, 3)
    assert numbers(IO.deserialize_many_sparse(rows, tf.string)) == numbers(sp)
    nothing = IO.deserialize_many_sparse(np.zeros((0, 3), object), tf.string, rank=2)
    assert numbers(nothing) == [[], [], [0, 0]]


def test_strings_that_are_no_sparse_tensors() -> None:
    rows = IO.serialize_many_sparse(tf.sparse.from_dense([[1, 0]]))
    for strings, dtype, rank, text in (
        (rows, tf.int64, None, "dtype int32, dtype is int64"),
        (rows, tf.int32, 3, "1 axes, expected 2"),
        ([[b"a", b"b", b"c"]], tf.int32, None, "row 0 .* is no sparse tensor"),
        ([[rows[0, 1].numpy()] * 3], tf.int32, None, "do not fit"),
        (np.zeros((0, 3), object), tf.int32, None, "rank must be given"),
        ([[b"a", b"b"]], tf.int32, None, "columns of serialized_sparse"),
    ):
        with pytest.raises(INVALID, match=text):
            IO.deserialize_many_sparse(strings, dtype, rank)
    with pytest.raises(INVALID, match="at least two axes"):
        IO.serialize_many_sparse(tf.sparse.from_dense([1]))
    with pytest.raises(INVALID, match="in order"):
        IO.serialize_many_sparse(tf.SparseTensor([[1, 0], [0, 0]], [1, 2], [2, 1]))
    with pytest.raises(TypeError, match=r"must be a tf\.SparseTensor"):
        IO.serialize_sparse(tf.constant([1]))  # type: ignore[arg-type]


# --- JSON, names of files ------------------------------------------------------------------------


def test_examples_in_json() -> None:
    text = (
        '{"features":{"feature":{"a":{"int64_list":{"value":[1,"-2"]}},'
        '"b":{"bytesList":{"value":["aGk="]}},"c":{"float_list":{"value":[1.5,"NaN"]}},"d":{}}}}'
    )
    found = tf.function(IO.decode_json_example)(tf.constant([text, "{}"])).numpy()
    features = T.Example.FromString(found[0]).features.feature
    assert features["a"].int64_list.value == [1, -2]
    assert features["b"].bytes_list.value == [b"hi"]
    assert features["c"].float_list.value[0] == 1.5
    assert np.isnan(features["c"].float_list.value[1])
    assert features["d"].WhichOneof("kind") is None
    assert found[1] == b""


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[1]",
        '{"features":{"x":1}}',
        '{"features":{"feature":{"a":{"int64_list":{"value":[1.5]}}}}}',
        '{"features":{"feature":{"a":{"int64_list":{"value":[9223372036854775808]}}}}}',
        '{"features":{"feature":{"a":{"int64_list":{"value":1}}}}}',
        '{"features":{"feature":{"a":{"bytes_list":{"value":[1]}}}}}',
        '{"features":{"feature":{"a":{"bytes_list":{"value":["*"]}}}}}',
        '{"features":{"feature":{"a":{"float_list":{"value":[true]}}}}}',
        '{"features":{"feature":{"a":[]}}}',
        "[" * 100000,
    ],
)
def test_what_is_no_example_in_json(text: str) -> None:
    with pytest.raises(INVALID, match="is no Example in JSON"):
        IO.decode_json_example(text)


def test_names_of_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    found = IO.match_filenames_once(str(tmp_path / "*.txt"))
    (tmp_path / "b.txt").write_text("b")
    assert isinstance(found, tf.Variable)
    assert not found.trainable
    assert found.numpy().tolist() == [str(tmp_path / "a.txt").encode()]
