"""`tf.train.Example`, parsing, serialized tensors, CSV, held against TensorFlow's bytes."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weft as tf
from weft._src.core import dtypes
from weft._src.core.flags import flags
from weft._src.fileio import tensors
from weft._src.ops.strings import packed

T = tf.train
IO = tf.io


def ints(*values: int) -> Any:
    return T.Feature(int64_list=T.Int64List(value=values))


def example(**features: Any) -> Any:
    return T.Example(features=T.Features(feature=features))


EXAMPLE = example(
    a=T.Feature(float_list=T.FloatList(value=[1.5, 2.5])),
    b=ints(1, -2, 300),
    c=T.Feature(bytes_list=T.BytesList(value=[b"xy", b""])),
)
SERIALIZED = EXAMPLE.SerializeToString()


def test_bytes() -> None:
    assert SERIALIZED == (
        b"\n:\n\x11\n\x01a\x12\x0c\x12\n\n\x08\x00\x00\xc0?\x00\x00 @"
        b"\n\x16\n\x01b\x12\x11\x1a\x0f\n\r\x01\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\xac\x02"
        b"\n\r\n\x01c\x12\x08\n\x06\n\x02xy\n\x00"
    )
    assert example(b=ints()).SerializeToString() == b"\n\t\n\x07\n\x01b\x12\x02\x1a\x00"
    assert T.Example().SerializeToString() == T.Feature().SerializeToString() == b""


def test_reading_back() -> None:
    found = T.Example.FromString(SERIALIZED)
    assert found == EXAMPLE
    assert found.features.feature["b"].int64_list.value == [1, -2, 300]
    assert found.features.feature["c"].WhichOneof("kind") == "bytes_list"
    other = T.Example()
    assert other.ParseFromString(SERIALIZED) == len(SERIALIZED)
    assert other == found == pickle.loads(pickle.dumps(found))
    assert "a" in other.features.feature
    assert T.FloatList(value=[0.1]).value == [0.10000000149011612]


def test_numbers_that_are_not_packed_are_read() -> None:
    assert T.Int64List.FromString(b"\x08\x05\x08\x07").value == [5, 7]


def test_a_feature_holds_one_list() -> None:
    feature = T.Feature()
    assert feature.WhichOneof("kind") is None
    feature.int64_list.value.append(3)
    assert feature.HasField("int64_list")
    feature.float_list.value.extend([1, 2])
    assert feature.WhichOneof("kind") == "float_list"
    assert feature.int64_list.value == []
    features = T.Features()
    features.feature["new"].int64_list.value[:] = [4]
    assert features.feature["new"] == ints(4)
    with pytest.raises(ValueError, match="CopyFrom"):
        features.feature["new"] = feature


def test_text() -> None:
    assert str(example(k=T.Feature(bytes_list=T.BytesList(value=[b'a"\n\xff'])))) == (
        'features {\n  feature {\n    key: "k"\n    value {\n      bytes_list {\n'
        '        value: "a\\"\\n\\377"\n      }\n    }\n  }\n}\n'
    )


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: T.Int64List(value=[1.5]), "Int64List: 1.5 has type float"),
        (lambda: T.BytesList(value=["text"]), "encode text"),
        (lambda: T.FloatList(value=["1"]), "a number is expected"),
        (lambda: T.Feature(int64_list=[1]), "int64_list must be a Int64List"),
        (lambda: T.Features(feature={"a": 1}), r"feature\['a'\] must be a Feature"),
        (lambda: T.Example(features=3), "Features"),
        (lambda: T.Example.FromString("text"), "bytes are expected"),
    ],
)
def test_wrong_types(make: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        make()


def test_bytes_that_are_no_message() -> None:
    for data in (b"zzz", SERIALIZED[:-1], b"\x0a\xff"):
        with pytest.raises(ValueError, match="no serialized"):
            T.Example.FromString(data)
    with pytest.raises(ValueError, match="64 bits"):
        T.Int64List(value=[2**63])


# --- parse_example -------------------------------------------------------------------------------


def fixed(*args: Any, **kwargs: Any) -> Any:
    return IO.FixedLenFeature(*args, **kwargs)


def test_parse_single_example_eagerly_and_traced() -> None:
    features = {
        "b": fixed([3], tf.int64),
        "a": fixed([2], tf.float32),
        "q": fixed([], tf.string, "default"),
        "s": IO.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    }
    parse = tf.function(lambda s: IO.parse_single_example(s, features))
    for parsed in (IO.parse_single_example(SERIALIZED, features), parse(SERIALIZED)):
        assert list(parsed) == ["b", "a", "q", "s"]
        assert parsed["b"].numpy().tolist() == [1, -2, 300]
        assert parsed["a"].numpy().tolist() == [1.5, 2.5]
        assert parsed["q"].numpy() == b"default"
        assert parsed["q"].dtype is tf.string
        assert "b'default'" in repr(parsed["q"])
        assert parsed["s"].shape == (0,)


def test_parse_example_pads_sequences() -> None:
    sequence = IO.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=9)
    rows = [SERIALIZED, example(b=ints(5)).SerializeToString(), b""]
    parsed = IO.parse_example(rows, {"b": sequence})["b"]
    assert parsed.numpy().tolist() == [[1, -2, 300], [5, 9, 9], [9, 9, 9]]
    words = IO.parse_example([SERIALIZED] * 2, {"c": fixed([2], tf.string)})["c"]
    assert words.numpy().tolist() == [[b"xy", b""]] * 2


def test_parse_in_a_pipeline(tmp_path: Path) -> None:
    with IO.TFRecordWriter(tmp_path / "a") as file:
        for i in range(5):
            file.write(example(x=ints(i, i * i)).SerializeToString())
    dataset = tf.data.TFRecordDataset(str(tmp_path / "a"))
    one = dataset.map(lambda s: IO.parse_single_example(s, {"x": fixed([2], tf.int64)})["x"])
    many = dataset.batch(5).map(lambda s: IO.parse_example(s, {"x": fixed([2], tf.int64)})["x"])
    expected = [[i, i * i] for i in range(5)]
    assert [x.numpy().tolist() for x in one] == expected
    assert next(iter(many)).numpy().tolist() == expected
    assert many.element_spec == tf.TensorSpec([None, 2], tf.int64)


def test_single_examples_are_parsed_together() -> None:
    features = {"x": fixed([2], tf.int64), "y": fixed([], tf.string, "none")}
    serialized = [example(x=ints(i, -i)).SerializeToString() for i in range(7)]
    dataset = tf.data.Dataset.from_tensor_slices(serialized)
    batches = list(dataset.map(lambda s: IO.parse_single_example(s, features)).batch(3))
    found = [x for batch in batches for x in batch["x"].numpy().tolist()]
    assert found == [[i, -i] for i in range(7)]
    assert batches[2]["y"].numpy().tolist() == [b"none"]
    rows = tf.vectorized_map(
        lambda s: IO.parse_single_example(s, features), tf.constant(serialized)
    )
    assert rows["x"].numpy().tolist() == found
    for other in (IO.VarLenFeature(tf.int64), IO.RaggedFeature(tf.int64)):
        parsed = dataset.map(lambda s, other=other: IO.parse_single_example(s, {"x": other})["x"])
        assert len(list(parsed)) == 7
    damaged = tf.data.Dataset.from_tensor_slices([*serialized[:2], b"zzz"])
    elements = iter(damaged.map(lambda s: IO.parse_single_example(s, features)).batch(3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="string 0 is no serialized Example"):
        next(elements)


@pytest.mark.parametrize(
    ("features", "error", "text"),
    [
        ({"a": fixed([3], tf.float32)}, tf.errors.InvalidArgumentError, "2 values, expected 3"),
        ({"q": fixed([], tf.int64)}, tf.errors.InvalidArgumentError, "'q' .int64. is missing"),
        ({"a": fixed([2], tf.int64)}, tf.errors.InvalidArgumentError, "float32, expected int64"),
        ({"a": fixed([2], tf.int32)}, tf.errors.InvalidArgumentError, "tf.cast"),
        ({"q": fixed([2], tf.float32, 1.0)}, ValueError, "default_value"),
        ({"b": IO.FixedLenSequenceFeature([], tf.int64)}, ValueError, "allow_missing"),
        ({"b": IO.VarLenFeature(tf.int32)}, tf.errors.InvalidArgumentError, "tf.cast"),
        ({"b": 3}, ValueError, "FixedLenFeature"),
        ({}, ValueError, "not empty"),
    ],
)
def test_parse_refuses(features: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        IO.parse_single_example(SERIALIZED, features)


# --- tensors as bytes ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.array([[1, 2]], np.int32),
         b'\x08\x03\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02"\x08\x01\0\0\0\x02\0\0\0'),
        (["a", "bcd"], b"\x08\x07\x12\x04\x12\x02\x08\x02B\x01aB\x03bcd"),
        (np.float32(3.5), b'\x08\x01\x12\x00"\x04\x00\x00`@'),
        ([True, False], b'\x08\n\x12\x04\x12\x02\x08\x02"\x02\x01\x00'),
        (np.array([1.5], ml_dtypes.bfloat16), b'\x08\x0e\x12\x04\x12\x02\x08\x01"\x02\xc0?'),
        (np.zeros((0, 3), np.float32), b"\x08\x01\x12\x06\x12\x00\x12\x02\x08\x03"),
        ("x", b"\x08\x07\x12\x00B\x01x"),
    ],
)  # fmt: skip
def test_serialized_tensors(value: Any, expected: bytes) -> None:
    tensor = tf.constant(value)
    data = IO.serialize_tensor(tensor)
    assert data.numpy() == expected
    back = IO.parse_tensor(data, tensor.dtype)
    assert back.shape == tensor.shape
    assert back.numpy().tolist() == tensor.numpy().tolist() if tensor.ndim else True
    traced = tf.function(lambda s: IO.parse_tensor(s, tensor.dtype))(data)
    assert traced.shape == tensor.shape


def test_parse_tensor_refuses() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="dtype int32, out_type is float32"):
        IO.parse_tensor(IO.serialize_tensor([1, 2]), tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no serialized tensor"):
        IO.parse_tensor(b"abc", tf.float32)
    huge = b"\x08\x01\x12\x10\x12\x02\x08\x00\x12\x0a\x08" + b"\x80" * 8 + b"\x40"
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=rf"\[0, {2**62}\], which no tensor can have"
    ):
        IO.parse_tensor(huge, tf.float32)


def test_decode_raw() -> None:
    two = tf.constant([b"\1\2\3\4", b"\5\6\7\10"])
    assert IO.decode_raw(two, tf.uint16).numpy().tolist() == [[513, 1027], [1541, 2055]]
    assert IO.decode_raw(two, tf.uint16, little_endian=False).numpy().tolist() == [
        [258, 772], [1286, 1800],
    ]  # fmt: skip
    padded = IO.decode_raw([b"\1\2\3", b"\1"], tf.uint8, fixed_length=4)
    assert padded.numpy().tolist() == [[1, 2, 3, 0], [1, 0, 0, 0]]
    for items, text in (([b"abc"], "no multiple"), ([b"ab", b"abcd"], "one length")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            IO.decode_raw(items, tf.uint16)


# --- CSV -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "defaults", "options", "expected"),
    [
        (["1,2.5,a", '3,,"b,c"'], [[0], [1.5], ["z"]], {}, [[1, 3], [2.5, 1.5], [b"a", b"b,c"]]),
        (["1,2,3"], [[0], [0]], {"select_cols": [0, 2]}, [[1], [3]]),
        (["NA;2"], [[7], [0]], {"na_value": "NA", "field_delim": ";"}, [[7], [2]]),
        (['"a""b",c'], [[""], [""]], {}, [[b'a"b'], [b"c"]]),
        (["a,"], [["x"], ["y"]], {}, [[b"a"], [b"y"]]),
        (['"a",b'], [[""], [""]], {"use_quote_delim": False}, [[b'"a"'], [b"b"]]),
        ([" 1"], [[1]], {}, [[1]]),
    ],
)
def test_decode_csv(lines: Any, defaults: Any, options: Any, expected: Any) -> None:
    assert [c.numpy().tolist() for c in IO.decode_csv(lines, defaults, **options)] == expected


@pytest.mark.parametrize(
    ("line", "defaults", "text"),
    [
        ("1", [[0], [0]], "2 fields are expected, record 0 has 1"),
        ("x", [[0]], "is b'x', which is no int32"),
        ("", [[0]], "has 0"),
        (",1", [[], [0]], "has dtype float32|required"),
        ('"a"b', [[""]], "doubled"),
        ('a"b', [[""]], "must be quoted"),
        ('"a', [[""]], "no end"),
        ("3000000000", [[0]], "no int32"),
    ],
)
def test_decode_csv_refuses(line: str, defaults: Any, text: str) -> None:
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError), match=text):
        IO.decode_csv([line], defaults)


def test_csv_files(tmp_path: Path) -> None:
    path = str(tmp_path / "x.csv")
    IO.write_file(path, 'a,b,c\n1,2.5,x\n3,,"y\nz"\n')
    rows = tf.data.experimental.CsvDataset(path, [tf.int32, [9.0], tf.string], header=True)
    expected = [(1, 2.5, b"x"), (3, 9.0, b"y\nz")]
    assert list(rows.as_numpy_iterator()) == expected
    iterator = iter(rows)
    next(iterator)
    position = iterator.save_position()
    iterator.restore_position(position)
    assert int(next(iterator)[0]) == 3
    wrong = tf.data.experimental.CsvDataset(path, [tf.int32, tf.int32, tf.string], header=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"x\.csv, record 0: .*b'2\.5'"):
        list(wrong)
    batches = tf.data.experimental.make_csv_dataset(
        path, 2, label_name="c", num_epochs=1, shuffle=False
    )
    ((features, label),) = batches
    assert features["a"].dtype is tf.int32
    assert features["b"].numpy().tolist() == [2.5, 0.0]
    assert label.numpy().tolist() == [b"x", b"y\nz"]


# --- files ---------------------------------------------------------------------------------------


def test_files(tmp_path: Path) -> None:
    gfile = IO.gfile
    path = gfile.join(str(tmp_path), "folder", "a.txt")
    IO.write_file(path, "héllo")
    assert tf.function(IO.read_file)(path).numpy() == "héllo".encode()
    with gfile.GFile(path, "a") as file:
        file.write("!\nmore")
    with gfile.GFile(path) as file:
        assert list(file) == ["héllo!\n", "more"]
        assert file.size() == 12
    gfile.copy(path, path + "2")
    with pytest.raises(tf.errors.AlreadyExistsError, match="overwrite"):
        gfile.copy(path, path + "2")
    gfile.rename(path + "2", path + "3")
    assert [Path(p).name for p in gfile.glob(path + "*")] == ["a.txt", "a.txt3"]
    assert IO.matching_files(path + "*").shape == (2,)
    assert gfile.stat(path).length == 12
    assert sorted(gfile.listdir(str(tmp_path / "folder"))) == ["a.txt", "a.txt3"]
    gfile.rmtree(str(tmp_path / "folder"))
    assert not gfile.exists(path)
    for call in (IO.read_file, gfile.remove, gfile.listdir, gfile.stat, gfile.rmtree):
        with pytest.raises(tf.errors.NotFoundError):
            call(path)
    with pytest.raises(tf.errors.NotFoundError):
        gfile.GFile(path).read()
    with pytest.raises(tf.errors.FailedPreconditionError):
        IO.read_file(str(tmp_path))


def test_features_of_any_length_are_sparse() -> None:
    rows = [[3, 1], [], [4, 1, 5]]
    examples = [
        tf.train.Example(
            features=tf.train.Features(
                feature={"n": tf.train.Feature(int64_list=tf.train.Int64List(value=row))}
            )
        ).SerializeToString()
        for row in rows
    ]
    features = {"n": IO.VarLenFeature(tf.int64), "s": IO.VarLenFeature(tf.string)}
    for parse in (IO.parse_example, tf.function(IO.parse_example)):
        parsed = parse(tf.constant(examples), features)
        assert tf.RaggedTensor.from_sparse(parsed["n"]).to_list() == rows
        assert parsed["n"].dense_shape.numpy().tolist() == [3, 3]
        assert parsed["s"].dense_shape.numpy().tolist() == [3, 0]
    for parse in (IO.parse_single_example, tf.function(IO.parse_single_example)):
        one = parse(examples[2], features)["n"]
        assert (one.values.numpy().tolist(), one.dense_shape.numpy().tolist()) == ([4, 1, 5], [3])
    (batch,) = tf.data.Dataset.from_tensors(examples).map(lambda x: IO.parse_example(x, features))
    assert tf.sparse.to_dense(batch["n"]).numpy().tolist() == [[3, 1, 0], [0, 0, 0], [4, 1, 5]]


@pytest.mark.parametrize("dtype", sorted(d.name for d in dtypes.DATA if d.name != "string"))
def test_serialized_tensors_are_the_messages_they_stand_for(dtype: str) -> None:
    numbers = tf.cast(tf.reshape(tf.range(12), [3, 4]), "int32").numpy()
    made = numbers.astype(tf.as_dtype(dtype).as_numpy_dtype)
    for array in (made, made[:, ::2], made.T, made[1, 1], made[:0]):
        array = np.asarray(array)
        message = tensors.to_message(array)
        found = tensors._serialize_kernel(np, array).item()
        assert found == message.SerializeToString()
        assert tf.io.serialize_tensor(tf.constant(array)).numpy() == found


LINES = [
    "1,2.5,x",
    "-3,1e3,",
    "4,,y",
    ',0.5,"q,r"',
    "5, 7,z",
    "x,1,1",
    "1,1",
    "",
    "6,nan,NA",
    "7,.5,w",
]


@pytest.mark.parametrize("options", [{}, {"na_value": "NA"}, {"use_quote_delim": False}])
@pytest.mark.parametrize("others", [[], *[[line] for line in LINES]], ids=str)
def test_a_few_lines_at_once_are_as_one_by_one(
    others: list[str], options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain lines, and one that is not so plain among them."""
    monkeypatch.setattr(flags, "execution", "numpy")
    lines = ["1,2.5,x", "-3,1e3,y", *others, "8,9,t"]
    for defaults in ([7, 0.5, "d"], [tf.constant([], tf.int64), tf.constant([], tf.float64), "d"]):
        results = []
        for limit in (400, 0):
            monkeypatch.setattr(packed, "WORTH_PACKING", limit)
            try:
                found = [c.numpy() for c in IO.decode_csv(lines, defaults, **options)]
                results.append([(x.dtype, x.tolist()) for x in found])
            except tf.errors.InvalidArgumentError as error:
                results.append([str(error)])
        assert str(results[0]) == str(results[1])  # NaN is not equal to itself
