"""Messages of every form: there and back, in part, damaged, and beside what TensorFlow writes."""

from __future__ import annotations

import copy
import pickle
import random
from array import array
from typing import Any

import numpy as np
import pytest
from tests.support.wire_fields import bytes_field, varint_field

import weft as tf
from fuzzing.mutations import mutated
from weft._src.messages import events, examples, graphs, tensors, wire
from weft._src.messages.message import Message
from weft._src.messages.table import declared
from weft.errors import ParseError


def graph() -> graphs.GraphDef:
    out = graphs.GraphDef()
    node = out.node.add(name="x", op="Add", input=["a", "b:1"])
    node.attr["T"].type = 3
    node.attr["f"].f = -1.5
    node.attr["off"].b = False
    node.attr["l"].list.i.extend([1, 2, 300, -1])
    node.attr["l"].list.b.extend([True, False])
    node.attr["l"].list.func.add(name="é").attr["z"].s = b'q"\n\xff'
    node.attr["s"].shape.CopyFrom(tensors.shape_message((2, -1, 0)))
    node.attr["u"].shape.CopyFrom(tensors.shape_message(None))
    out.library.function.add(node_def=[node]).ret["y"] = "x:0"
    return out


def test_bytes_are_those_of_protocol_buffers() -> None:
    pytest.importorskip("tensorboard.compat.proto.graph_pb2")
    from tensorboard.compat.proto import graph_pb2

    made = graph()
    read = graph_pb2.GraphDef.FromString(made.SerializeToString())
    assert read.SerializeToString(deterministic=True) == made.SerializeToString()


def test_there_and_back() -> None:
    made = graph()
    data = made.SerializeToString()
    found = graphs.GraphDef.FromString(data)
    assert found == made == pickle.loads(pickle.dumps(made)) == copy.deepcopy(made)
    assert found.SerializeToString() == data  # nothing has been looked at
    node = found.node[0]
    assert (node.name, node.op, node.input) == ("x", "Add", ["a", "b:1"])
    assert node.attr["off"].WhichOneof("value") == "b"
    assert node.attr["l"].list.i == [1, 2, 300, -1]
    assert node.attr["l"].list.func[0].attr["z"].s == b'q"\n\xff'
    assert [dim.size for dim in node.attr["s"].shape.dim] == [2, -1, 0]
    assert node.attr["u"].shape.unknown_rank
    assert dict(found.library.function[0].ret) == {"y": "x:0"}
    assert found.SerializeToString() == data  # everything has
    assert str(found) == str(made)
    assert found.ByteSize() == len(data)


def test_messages_inside_are_read_when_somebody_looks() -> None:
    broken = graphs.GraphDef.FromString(b"\x0a\x02\x0a\xff")
    assert len(broken.node) == 1
    with pytest.raises(ParseError, match="These bytes are no serialized NodeDef"):
        broken.node[0]
    with pytest.raises(ParseError, match="no serialized Features"):
        examples.Example.FromString(b"\x0a\x02\x0a\xff")  # of those all is read at once


def test_unknown_fields_are_kept() -> None:
    extra = varint_field(77, 5) + bytes_field(78, b"more") + b"\x9b\x05\x08\x01\x9c\x05"
    found = graphs.GraphDef.FromString(extra + graph().SerializeToString())
    assert found.SerializeToString() == graph().SerializeToString() + extra
    found.Clear()
    assert found.SerializeToString() == b""


def test_parts_of_one_message_may_stand_apart() -> None:
    parts = [graphs.GraphDef(versions=graphs.VersionDef(producer=7)),
             graphs.GraphDef(versions=graphs.VersionDef(min_consumer=3))]  # fmt: skip
    both = graphs.GraphDef.FromString(b"".join([part.SerializeToString() for part in parts]))
    assert (both.versions.producer, both.versions.min_consumer) == (7, 3)
    parts[0].MergeFrom(parts[1])
    assert parts[0] == both
    feature = examples.Feature.FromString(b"\x1a\x02\x08\x01\x12\x00")
    assert feature.WhichOneof("kind") == "float_list"


def test_what_is_put_into_a_message_is_copied() -> None:
    values = examples.Int64List(value=[1])
    feature = examples.Feature(int64_list=values)
    features = examples.Features(feature={"a": feature})
    values.value.append(2)
    feature.int64_list.value.append(3)
    assert features.feature["a"].int64_list.value == [1]
    assert feature.int64_list.value == [1, 3]


def test_looking_changes_nothing() -> None:
    made = events.Event()
    assert made.summary.value == []
    assert len(made.summary.value) == 0
    assert made.file_version == ""
    assert made.summary is made.summary
    assert not made.HasField("summary")
    assert made.WhichOneof("what") is None
    assert made == events.Event()
    made.summary.value.add(tag="t")
    assert made.WhichOneof("what") == "summary"
    made.file_version = "v"
    assert not made.HasField("summary")
    made.ClearField("file_version")
    assert made == events.Event()


def test_lists_and_dicts() -> None:
    made = graph()
    node = made.node[0]
    assert sorted(node.attr) == ["T", "f", "l", "off", "s", "u"]
    assert "none" not in node.attr
    assert node.attr.get("none", 3) == 3
    assert node.attr.pop("none", 4) == 4
    assert node.attr.pop("f").f == -1.5
    del node.attr["T"]
    assert len(node.attr) == 4
    node.attr.clear()
    assert repr(node.attr) == "{}"
    made.node.append(node)
    made.node.extend(made.node[:2])
    assert [n.name for n in made.node[1:]] == ["x"] * 3
    assert made.node[:1] == [node]
    del made.node[1:]
    assert made.node == [node]
    ret = made.library.function[0].ret
    ret["z"] = "w"
    assert (ret["z"], len(ret), ret.pop("y")) == ("w", 2, "x:0")
    values = examples.FloatList(value=[0.5, 1])
    values.value.insert(0, np.float64(2))
    values.value += (3,)
    values.value[1:2] = [4, 5]
    assert values.value == [2, 4, 5, 1, 3]


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        (lambda g: g.node.append(g), TypeError, "GraphDef: node must be a NodeDef, got"),
        (lambda g: g.versions.CopyFrom(g), TypeError, "a message of the same class"),
        (lambda g: setattr(g, "versions", 1), AttributeError, "versions is no single value"),
        (lambda g: setattr(g, "version", 1), AttributeError, "version"),
        (lambda g: g.HasField("node"), ValueError, "node is a list"),
        (lambda g: g.HasField("nodes"), ValueError, "GraphDef has no field 'nodes'"),
        (lambda g: g.WhichOneof("x"), ValueError, "GraphDef has no oneof 'x'"),
        (lambda g: graphs.NodeDef(nam="x"), ValueError, "NodeDef has no field 'nam'"),
        (
            lambda g: graphs.NodeDef(name=3),
            TypeError,
            "NodeDef.name: 3 has type int, text is expected",
        ),
        (lambda g: graphs.NodeDef(name="\ud800"), ValueError, "no text that UTF-8 has"),
        (
            lambda g: graphs.NodeDef(attr=[1]),
            TypeError,
            r"NodeDef.attr: a dict is expected, got \[1\]",
        ),
        (lambda g: graphs.VersionDef(producer=2**31), ValueError, "does not fit 32 bits"),
        (lambda g: graphs.AttrValue(b="x"), TypeError, "True or False is expected"),
        (lambda g: graphs.AttrValue(f=1j), TypeError, "a number is expected"),
        (lambda g: g.node[0].attr.pop("none"), KeyError, "none"),
        (lambda g: g.node[0].attr.__setitem__("a", 1), ValueError, "CopyFrom"),
        (lambda g: g.node[0].attr[3], TypeError, "text is expected"),
        (lambda g: graphs.GraphDef.FromString(3), TypeError, "bytes are expected"),
    ],
)
def test_wrong_use(change: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        change(graph())


def test_numbers_from_bytes_lose_what_is_too_much() -> None:
    found = tensors.TensorProto.FromString(
        varint_field(1, 2**32 + 5) + varint_field(7, 2**32 - 1) + b"\x58\x07"
    )
    assert (found.dtype, found.int_val, found.bool_val) == (5, [-1], [True])
    assert examples.FloatList(value=[1e300, -(10**400)]).value == [float("inf"), -float("inf")]


# --- depth and size ------------------------------------------------------------------------------


def nested(depth: int) -> bytes:
    data = b""
    for _ in range(depth):  # a function in the attribute of a function
        data = bytes_field(10, bytes_field(2, bytes_field(2, data)))
    return data


def test_messages_are_not_read_deeper_than_a_hundred() -> None:
    value = graphs.AttrValue.FromString(nested(10_000))
    for _ in range(50):
        value = value.func.attr[""]
    with pytest.raises(ParseError, match="no serialized NameAttrList"):
        value.func
    with pytest.raises(ParseError, match="no serialized"):
        repr(graphs.AttrValue.FromString(nested(10_000)))
    assert len(repr(graphs.AttrValue.FromString(nested(40)))) > 1000


def test_many_parts_take_a_time_that_grows_with_their_length_only() -> None:
    count = 200_000
    found = graphs.GraphDef.FromString(b"\x22\x02\x10\x01" * count + b"\x78\x01" * count)
    assert found.versions.min_consumer == 1
    assert found.ByteSize() == 4 + 2 * count
    feature = examples.Feature.FromString(b"\x1a\x02\x08\x07" * count)
    assert len(feature.int64_list.value) == count
    names = b"".join([bytes_field(1, bytes_field(1, b"%d" % i)) for i in range(1000)])
    example = examples.Example.FromString(bytes_field(1, names) + b"\x0a\x00" * count)
    assert len(example.features.feature) == 1000


SAMPLES = [
    graph().SerializeToString(),
    graphs.FunctionDef(ret={"a": "b"}, control_ret={"c": "d"}).SerializeToString(),
    tf.make_tensor_proto([1.5, 2.5], shape=[4]).SerializeToString(),
    tf.make_tensor_proto(range(3)).SerializeToString(),
    events.Event(
        wall_time=1.5, step=-3, summary=events.Summary(value=[events.Value(tag="t")])
    ).SerializeToString(),
]


@pytest.mark.parametrize("name", sorted(declared))
def test_damaged_messages(name: str) -> None:
    rng = random.Random(name)
    for _ in range(150):
        data = mutated(rng, rng.choice(SAMPLES), rng.choice(SAMPLES))
        try:
            found: Message = declared[name].FromString(data)
            text = repr(found)
            again = declared[name].FromString(found.SerializeToString())
        except ParseError:
            continue
        assert repr(again) == text


# --- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("letter", ["i", "I", "q", "Q"])
@pytest.mark.parametrize("count", [0, 3, 127, 128, 500])
def test_packed_numbers(letter: str, count: int) -> None:
    rng = random.Random(count)
    limits = np.iinfo(letter)
    numbers = [
        max(int(limits.min), min(rng.choice((-1, 1)) << rng.randrange(64), int(limits.max)))
        for _ in range(count)
    ]
    one_by_one = b"".join([wire.varint(n) for n in numbers])
    assert wire.packed_varints(numbers) == one_by_one
    assert wire.packed_varints(array(letter, numbers)) == one_by_one
    found = wire.unpacked_varints(one_by_one)
    assert found.tolist() == [n % 2**64 for n in numbers]


@pytest.mark.parametrize(
    "data",
    [
        b"\x80",
        b"\1" * 60 + b"\xff",
        b"\xff" * 10 + b"\1",
        b"\x80" * 99,
        b"\x80" * 199,
        b"\1" * 199 + b"\x80",
    ],
)
def test_bytes_that_are_no_numbers(data: bytes) -> None:
    with pytest.raises(IndexError):
        wire.unpacked_varints(data)


def test_fields_that_are_there() -> None:
    numbers = tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))
    made = tf.train.Example(features=tf.train.Features(feature={"a": numbers}))
    assert [(f.name, f.number) for f, _ in made.ListFields()] == [("features", 1)]
    ((field, content),) = numbers.ListFields()
    assert (field.name, list(content.value)) == ("int64_list", [1, 2])
    assert tf.train.Int64List(value=[]).ListFields() == []
    assert tf.train.Features().ListFields() == []
    node = graph().node[0]
    assert [f.name for f, _ in node.ListFields()] == ["name", "op", "input", "attr"]
    assert made.IsInitialized()
    assert made.SerializePartialToString() == made.SerializeToString()


def test_an_empty_message_inside() -> None:
    made = tf.train.Example()
    made.features.SetInParent()
    assert made.HasField("features")
    assert made.SerializeToString() == b"\n\0"


def test_unknown_fields_are_discarded_inside_too() -> None:
    known = tf.train.Feature(int64_list=tf.train.Int64List(value=[1]))
    made = tf.train.Example(features=tf.train.Features(feature={"a": known}))
    inner = known.SerializeToString() + varint_field(77, 5)
    pair = bytes_field(1, b"a") + bytes_field(2, inner)
    data = bytes_field(1, bytes_field(1, pair) + varint_field(78, 1)) + varint_field(79, 1)
    read = tf.train.Example.FromString(data)
    assert read != made
    read.DiscardUnknownFields()
    assert read == made
    several = graphs.GraphDef.FromString(bytes_field(1, varint_field(99, 1)))
    several.DiscardUnknownFields()
    assert several.SerializeToString() == bytes_field(1, b"")


def test_dicts_are_merged() -> None:
    one, two = tf.train.Features(), tf.train.Features()
    one.feature["a"].int64_list.value.append(1)
    one.feature["b"].int64_list.value.append(2)
    two.feature["b"].float_list.value.append(3.0)
    one.feature.MergeFrom(two.feature)
    assert sorted(one.feature) == ["a", "b"]
    assert one.feature["b"] == two.feature["b"]
    two.feature["b"].float_list.value.append(4.0)
    assert list(one.feature["b"].float_list.value) == [3.0]
