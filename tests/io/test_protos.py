"""`tf.io.decode_proto` and `encode_proto`; what TensorFlow gave is written down."""

from __future__ import annotations

import base64
import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

# A FileDescriptorSet with a message pk.M: fields of all types, with defaults, packed, of messages.
SET = base64.b64decode(
    "CtEDCgd0LnByb3RvEgJwayISCgVJbm5lchIJCgF2GAEgASgFIpIDCgFNEgsKA2kzMhgBIAEoBRILCgNpNjQYAiAB"
    "KAMSCwoDdTMyGAMgASgNEgsKA3U2NBgEIAEoBBILCgNzMzIYBSABKBESCwoDczY0GAYgASgSEgsKA2YzMhgHIAEo"
    "BxIMCgRzZjY0GAggASgQEgoKAmZsGAkgASgCEgoKAmRiGAogASgBEgkKAWIYCyABKAgSCQoBcxgMIAEoCRIKCgJi"
    "eRgNIAEoDBILCgNyZXAYDiADKAUSDgoCcGsYDyADKAVCAhABEhgKBWlubmVyGBAgASgLMgkucGsuSW5uZXISGQoG"
    "aW5uZXJzGBEgAygLMgkucGsuSW5uZXISEQoCZW4YEiABKA4yBS5way5FEhAKBGRmbHQYEyABKAU6AjQyEhAKBGRz"
    "dHIYFCABKAk6AmhpEgoKAnJzGBUgAygJEgwKBHNmMzIYFiABKA8SCwoDZjY0GBcgASgGEhAKA2RmbBgYIAEoAjoD"
    "MS41EhUKA2RlbhgZIAEoDjIFLnBrLkU6AUISEQoDZGIyGBogASgIOgR0cnVlKhEKAUUSBQoBQRAAEgUKAUIQA2IG"
    "cHJvdG8y"
)
SOURCE = b"bytes://" + SET
FULL = bytes.fromhex(
    "08fbffffffffffffffff0110faffffffffffffffff0118072081808080808080808001280f30113d0a000000"
    "41f5ffffffffffffff4d0000a03f51000000000000044058016201786a01ff7001700270037a020405820102"
    "08098a010208018a01020802900103aa010170aa010171"
)
FEW = b"p\x07"  # rep: 7
Invalid = tf.errors.InvalidArgumentError

# The name of a field, a dtype, and the values of FULL and FEW.
FIELDS: list[tuple[str, Any, list[Any], list[Any]]] = [
    ("i32", tf.int32, [-5], [0]),
    ("i32", tf.int64, [-5], [0]),
    ("i64", tf.int64, [-6], [0]),
    ("u32", tf.uint32, [7], [0]),
    ("u32", tf.uint64, [7], [0]),
    ("u64", tf.uint64, [2**63 + 1], [0]),
    ("s32", tf.int32, [-8], [0]),
    ("s64", tf.int64, [-9], [0]),
    ("f32", tf.uint32, [10], [0]),
    ("sf64", tf.int64, [-11], [0]),
    ("fl", tf.float32, [1.25], [0.0]),
    ("fl", tf.float64, [1.25], [0.0]),
    ("db", tf.float64, [2.5], [0.0]),
    ("b", tf.bool, [True], [False]),
    ("s", tf.string, [b"x"], [b""]),
    ("by", tf.string, [b"\xff"], [b""]),
    ("rep", tf.int32, [1, 2, 3], [7, 0, 0]),
    ("pk", tf.int32, [4, 5], [0, 0]),
    ("inner", tf.string, [b"\x08\t"], [b""]),
    ("inners", tf.string, [b"\x08\x01", b"\x08\x02"], [b"", b""]),
    ("en", tf.int32, [3], [0]),
    ("dflt", tf.int32, [42], [42]),
    ("dstr", tf.string, [b"hi"], [b"hi"]),
    ("rs", tf.string, [b"p", b"q"], [b"", b""]),
    ("dfl", tf.float32, [1.5], [1.5]),
    ("den", tf.int32, [3], [3]),
    ("db2", tf.bool, [True], [True]),
]
NAMES, TYPES = [row[0] for row in FIELDS], [row[1] for row in FIELDS]


def decoded(data: Any, names: list[str], types: list[Any], source: Any = SOURCE) -> Any:
    return tf.io.decode_proto(data, "pk.M", names, types, source)


@pytest.mark.parametrize("number", range(len(FIELDS)))
@pytest.mark.parametrize("traced", [False, True])
def test_fields_of_all_types(number: int, traced: bool) -> None:
    name, dtype, full, few = FIELDS[number]
    call = tf.function(decoded) if traced else decoded
    found = call(tf.constant([FULL, FEW]), [name], [dtype])
    (values,) = found.values
    assert values.dtype == dtype
    assert values.numpy().tolist() == [full, few]
    given = 0 if name.startswith("d") and name != "db" else len(full)
    assert found.sizes.numpy().tolist() == [[given], [int(name == "rep")]]


def test_shapes_and_unknown_ones() -> None:
    spec = tf.TensorSpec([2, None], tf.string)
    call = tf.function(lambda x: decoded(x, ["i32", "rep"], [tf.int32, tf.int32]))
    sizes, values = call.get_concrete_function(spec).structured_outputs
    assert (sizes.shape.as_list(), values[1].shape.as_list()) == ([2, None, 2], [2, None, None])
    found = call(tf.constant([[FULL], [FEW]]))
    assert found.values[1].numpy().tolist() == [[[1, 2, 3]], [[7, 0, 0]]]
    assert decoded(tf.constant(b""), ["i32"], [tf.int32]).sizes.numpy().tolist() == [0]
    nothing = decoded([FULL, FEW], [], [])
    assert (nothing.sizes.shape, nothing.values) == ((2, 0), [])


@pytest.mark.parametrize(
    ("data", "field", "wanted"),
    [
        (b"\x08\x01\x08\x02", "i32", [2]),  # the last one counts
        (b"z\x02\x01\x02x\x07", "pk", [1, 2, 7]),  # packed and not
        (b"r\x02\x01\x02", "rep", [1, 2]),  # packed, though it need not be
        (b"\x0d\x05\x00\x00\x00", "i32", [0]),  # stored in another way
    ],
)
def test_what_writers_may_do(data: bytes, field: str, wanted: list[int]) -> None:
    assert decoded([data], [field], [tf.int32]).values[0].numpy().tolist() == [wanted]


def test_sources(tmp_path: Path) -> None:
    file = tmp_path / "set"
    file.write_bytes(SET)
    assert decoded([FULL], ["i32"], [tf.int32], str(file)).values[0].numpy() == -5
    feature = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"\x05"]))
    found = tf.io.decode_proto(
        [feature.SerializeToString()], "tensorflow.Feature", ["bytes_list"], [tf.string]
    )
    assert found.values[0].numpy().tolist() == [[b"\n\x01\x05"]]
    with pytest.raises(Invalid, match="no serialized FileDescriptorSet"):
        decoded([FULL], ["i32"], [tf.int32], str(tmp_path / "none"))
    with pytest.raises(Invalid, match="no serialized FileDescriptorSet"):
        decoded([FULL], ["i32"], [tf.int32], b"bytes://abc")
    with pytest.raises(Invalid, match="no descriptor of the message 'pk.M'"):
        decoded([FULL], ["i32"], [tf.int32], "local://")


@pytest.mark.parametrize("cut", range(1, len(FULL), 3))
def test_damaged_messages(cut: int) -> None:
    """A part of a message, or one with changed bytes, is read or refused."""
    rng = np.random.default_rng(cut)
    changed = bytearray(FULL)
    changed[cut] = rng.integers(256)
    for data in (FULL[:cut], bytes(changed)):
        with contextlib.suppress(tf.errors.DataLossError):
            decoded([data], NAMES, TYPES)


@pytest.mark.parametrize("cut", range(1, len(SET), 7))
def test_damaged_descriptors(cut: int) -> None:
    changed = bytearray(SET)
    changed[cut] ^= 1 << cut % 8
    for source in (SET[:cut], bytes(changed)):
        with contextlib.suppress(Invalid, tf.errors.DataLossError):
            decoded([FULL], NAMES, TYPES, b"bytes://" + source)


WRONG: list[tuple[Any, str]] = [
    (lambda: decoded([FULL], ["u32"], [tf.int64]), "'u32' is of type uint32, and its values"),
    (lambda: decoded([FULL], ["en"], [tf.int64]), "is of type enum, and its values int32, not"),
    (lambda: decoded([FULL], ["nope"], [tf.int32]), "the message pk.M has no field 'nope'"),
    (lambda: tf.io.decode_proto([FULL], "pk.N", [], [], SOURCE), "no descriptor of the message"),
    (lambda: decoded([FULL], ["i32", "rep"], [tf.int32]), "2 field_names, but 1 output_types"),
    (lambda: decoded(tf.zeros([0], tf.string), ["i32"], [tf.int32]), "at least one message"),
    (lambda: tf.io.decode_proto([FULL], "pk.M", [], [], SOURCE, "json"), "message_format must be"),
    (lambda: encoded([[3]], [[[1, 2]]], ["rep"]), "sizes say 3 values of 'rep' in message 0"),
    (lambda: encoded([1], [[1]], ["i32"]), "must be at least a matrix"),
    (lambda: encoded([[1], [1]], [[[1]]], ["i32"]), "must have equal shapes"),
    (lambda: encoded([[1, 1]], [[[1]]], ["i32"]), "the last size of sizes and the fields"),
    (lambda: encoded([[1]], [[[1]]], ["i64"]), "'i64' is of type int64"),
    (lambda: tf.io.encode_proto(tf.zeros([1, 0], tf.int32), [], [], "pk.M", SOURCE), "at least 1"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_refusals(number: int) -> None:
    call, message = WRONG[number]
    with pytest.raises(Invalid, match=message):
        call()


def test_what_is_no_message() -> None:
    with pytest.raises(tf.errors.DataLossError, match="bytes hold what is no serialized pk.M"):
        decoded([b"\x08"], ["i32"], [tf.int32])


def test_text_is_not_supported() -> None:
    with pytest.raises(NotImplementedError, match="google.protobuf.text_format"):
        tf.io.decode_proto(["i32: 5"], "pk.M", ["i32"], [tf.int32], SOURCE, "text")


def encoded(sizes: Any, values: list[Any], names: list[str]) -> Any:
    return tf.io.encode_proto(sizes, values, names, "pk.M", SOURCE)


@pytest.mark.parametrize(
    ("sizes", "values", "names", "wanted"),
    [
        ([[1, 2], [0, 1]], [[[5], [0]], [[1, 2], [3, 0]]], ["i32", "rep"],
         [b"\x08\x05p\x01p\x02", b"p\x03"]),
        ([[2]], [[[1, 2]]], ["pk"], [b"z\x02\x01\x02"]),
        ([[1]], [tf.constant([[1]], tf.int64)], ["i32"], [b"\x08\x01"]),
        ([[1, 1, 1, 1]], [[[-1]], [["é"]], [[True]], tf.constant([[1.5]], tf.float64)],
         ["s32", "s", "b", "db"], [b"(\x01Q\x00\x00\x00\x00\x00\x00\xf8?X\x01b\x02\xc3\xa9"]),
        ([[[1]], [[1]]], [[[[1]], [[2]]]], ["i32"], [[b"\x08\x01"], [b"\x08\x02"]]),
        ([[1]], [[[1]]], ["en"], [b"\x90\x01\x01"]),
        ([[1]], [tf.constant([[1.5]], tf.float64)], ["fl"], [b"M\x00\x00\xc0?"]),
        ([[-1]], [[[1]]], ["i32"], [b""]),
        ([[1]], [[[-1]]], ["i32"], [b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"]),
        ([[1]], [[[0]]], ["i32"], [b"\x08\x00"]),
    ],
)  # fmt: skip
def test_writing(sizes: Any, values: Any, names: Any, wanted: Any) -> None:
    assert encoded(sizes, values, names).numpy().tolist() == wanted
    tensors = [tf.constant(value) for value in values]
    traced = tf.function(encoded)(tf.constant(sizes), tensors, names)
    assert traced.numpy().tolist() == wanted


def test_there_and_back() -> None:
    found = decoded([FULL, FEW], NAMES, TYPES)
    own = {name: i for i, name in enumerate(NAMES)}  # one of each name
    sizes = tf.gather(found.sizes, list(own.values()), axis=1)
    written = encoded(sizes, [found.values[i] for i in own.values()], list(own))
    again = decoded(written, list(own), [TYPES[i] for i in own.values()])
    for name, i in own.items():
        place = list(own).index(name)
        np.testing.assert_array_equal(again.values[place], found.values[i])
