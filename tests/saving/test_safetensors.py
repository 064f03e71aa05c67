"""safetensors files: exchanged with the library of that name, and hostile ones refused."""

from __future__ import annotations

import contextlib
import json
import random
import tracemalloc
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import safetensors
import safetensors.numpy

import weft as tf
from fuzzing.mutations import mutated
from weft._src.saving.safetensors import SafetensorsReader

SHAPES: tuple[tuple[int, ...], ...] = ((), (0, 3), (5,), (2, 3, 4))
DTYPES = {
    "BOOL": tf.bool,
    "U8": tf.uint8,
    "I8": tf.int8,
    "U16": tf.uint16,
    "I16": tf.int16,
    "F16": tf.float16,
    "BF16": tf.bfloat16,
    "U32": tf.uint32,
    "I32": tf.int32,
    "F32": tf.float32,
    "U64": tf.uint64,
    "I64": tf.int64,
    "F64": tf.float64,
    "C64": tf.complex64,
    "F8_E5M2": tf.dtypes.experimental.float8_e5m2,
    "F8_E4M3": tf.dtypes.experimental.float8_e4m3fn,
    "F8_E4M3FNUZ": tf.dtypes.experimental.float8_e4m3fnuz,
    "F8_E5M2FNUZ": tf.dtypes.experimental.float8_e5m2fnuz,
    "F4": tf.dtypes.experimental.float4_e2m1fn,
}


def file_of(header: Any, data: bytes = b"") -> bytes:
    """A file with any header: bytes, or what becomes JSON."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def tensor(dtype: Any = "F32", shape: Any = (2,), offsets: Any = (0, 8)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


def example(name: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    numbers = np.arange(np.prod(shape, dtype=int)).reshape(shape) % 7
    array: Any = numbers.astype(DTYPES[name].as_numpy_dtype)
    return array


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_round_trips_and_others_read_the_same_bytes(name: str, tmp_path: Path) -> None:
    shapes = [shape for shape in SHAPES if name != "F4" or np.prod(shape) % 2 == 0]
    values = {f"x{i}": example(name, shape) for i, shape in enumerate(shapes)}
    tf.save(tmp_path / "x.safetensors", values, {"who": "wörter"})
    loaded = tf.load(tmp_path / "x.safetensors")
    assert loaded.metadata == {"who": "wörter"}
    assert sorted(loaded) == sorted(values)
    for key, value in values.items():
        assert loaded[key].dtype is DTYPES[name]
        assert loaded[key].shape == value.shape
        assert loaded[key].numpy().tobytes() == value.tobytes()
    theirs = dict(safetensors.deserialize((tmp_path / "x.safetensors").read_bytes()))
    assert sorted(theirs) == sorted(values)
    for key, value in values.items():
        assert theirs[key]["dtype"] == name
        assert tuple(theirs[key]["shape"]) == value.shape
        if name != "F4":
            assert bytes(theirs[key]["data"]) == value.tobytes()


def test_files_of_the_library_are_read(tmp_path: Path) -> None:
    values = {
        "a.b": np.arange(6, dtype="f4").reshape(2, 3), "c": np.array(True),
        "é\n\"": np.zeros((0, 2)), "d": np.array([1, -2], "i8"), "h": np.array([1.5, 2.5], "f2"),
    }  # fmt: skip
    safetensors.numpy.save_file(values, tmp_path / "x.safetensors", {"format": "np"})
    loaded = tf.load(str(tmp_path / "x.safetensors"))
    assert loaded.metadata == {"format": "np"}
    assert len(loaded) == 5
    assert "nothing" not in loaded
    for key, value in values.items():
        np.testing.assert_array_equal(loaded[key], value, strict=True)
    with pytest.raises(KeyError, match="nothing"):
        loaded["nothing"]


def test_the_library_reads_ours_with_names_of_all_kinds(tmp_path: Path) -> None:
    values = {name: np.float32(i) for i, name in enumerate(["", "a/b", 'q"\\', "\x01\t", "日本😀"])}
    tf.save(tmp_path / "x.safetensors", values)
    theirs = safetensors.numpy.load_file(tmp_path / "x.safetensors")
    assert {name: float(x) for name, x in theirs.items()} == values
    assert {name: float(x) for name, x in tf.load(tmp_path / "x.safetensors").items()} == values


def test_tensors_lie_where_they_are_used(tmp_path: Path) -> None:
    """No copy if the place allows it; else a copy with the same values."""
    tf.save(tmp_path / "x.safetensors", {"a": np.int8(3), "b": np.arange(5.0), "c": np.zeros(3)})
    reader = SafetensorsReader(str(tmp_path / "x.safetensors"))
    assert not reader.read("b").flags.owndata
    header = {"a": tensor("U8", [1], [0, 1]), "b": tensor("F64", [3], [1, 25])}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    data = b"\7" + np.arange(3.0).tobytes()
    (tmp_path / "y.safetensors").write_bytes(file_of(text, data))
    unaligned = SafetensorsReader(str(tmp_path / "y.safetensors")).read("b")
    assert unaligned.flags.owndata
    assert unaligned.tolist() == [0, 1, 2]


def test_saving_over_a_loaded_file_leaves_what_was_loaded(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    tf.save(path, {"x": tf.zeros([10_000])})
    before = tf.load(path)["x"]
    tf.save(path, {"x": tf.ones([3])})
    assert float(tf.reduce_sum(before)) == 0.0
    assert tf.load(path)["x"].shape == [3]
    assert [file.name for file in tmp_path.iterdir()] == ["x.safetensors"]


def test_what_is_not_there_is_not_read(tmp_path: Path) -> None:
    """A file of a gigabyte without a block on the disk is opened, and one number of it read."""
    path = tmp_path / "x.safetensors"
    count = 2**28
    header = {"large": tensor("F32", [count], [0, 4 * count]),
              "b": tensor("U8", [2], [4 * count, 4 * count + 2])}  # fmt: skip
    path.write_bytes(file_of(header))
    with path.open("ab") as file:
        file.truncate(path.stat().st_size + 4 * count + 2)
    tracemalloc.start()
    loaded = tf.load(path)
    assert loaded["b"].numpy().tolist() == [0, 0]
    assert float(loaded["large"][count - 1]) == 0.0
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        (np.array([b"text"], object), "write a checkpoint, by a name without"),
        (np.array([1j]), "cast it to complex64"),
        (np.array([1], ml_dtypes.int4), "Cast it to int8"),
        (tf.cast([1], tf.qint8), "Save the integers"),
    ],
)
def test_what_the_format_does_not_have(value: Any, remedy: str, tmp_path: Path) -> None:
    with pytest.raises(tf.errors.UnsupportedError, match=f"the tensor 'x' is of.*{remedy}"):
        tf.save(tmp_path / "x.safetensors", {"x": value})
    assert not list(tmp_path.iterdir())


def test_wrong_use(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    with pytest.raises(TypeError, match="must be a dict from names"):
        tf.save(path, [1.0])  # type: ignore[arg-type]
    with pytest.raises(tf.errors.InvalidArgumentError, match="3 cannot be the name"):
        tf.save(path, {3: 1.0})  # type: ignore[dict-item]
    with pytest.raises(tf.errors.InvalidArgumentError, match="'__metadata__' cannot be the name"):
        tf.save(path, {"__metadata__": 1.0})
    with pytest.raises(tf.errors.InvalidArgumentError, match="texts only, got 'a': 3"):
        tf.save(path, {}, metadata={"a": 3})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="must be a dict of texts, got 'text'"):
        tf.save(path, {}, metadata="text")  # type: ignore[arg-type]
    for wrong in (object(), tf.ragged.constant([[1], [2, 3]]), [[1], [2, 3]]):
        with pytest.raises(TypeError, match="weft.save: 'x' is"):
            tf.save(path, {"x": wrong})
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not Unicode"):
        tf.save(path, {"\ud800": 1.0})
    with pytest.raises(tf.errors.InvalidArgumentError, match="pairs of them"):
        tf.save(path, {"x": example("F4", (3,))})
    with pytest.raises(tf.errors.NotFoundError, match="There is no file"):
        tf.load(path)
    with pytest.raises(tf.errors.OpError, match="Reading tensors"):
        tf.load(tmp_path)
    with pytest.raises(TypeError, match="a file name is expected"):
        tf.load(3)  # type: ignore[arg-type]

    @tf.function
    def f() -> None:
        tf.save(path, {})

    with pytest.raises(RuntimeError, match="being traced"):
        f()


# --- damage --------------------------------------------------------------------------------------

WRONG: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "it has 0 bytes"),
    "short": (b"\1\0\0\0", "it has 4 bytes"),
    "large header": (b"\xff" * 16, "and 100000000 are allowed"),
    "header too long": (file_of({})[:-1] + b"", "its header would have 2 bytes, and 1 are there"),
    "no object": (file_of(b"[]"), "does not begin with '{'"),
    "a blank first": (file_of(b" {}"), "does not begin with '{'"),
    "half": (file_of(b'{"a":'), "{ is wanted"),
    "no end": (file_of(b"{"), '" or } is wanted'),
    "a comma too many": (file_of(b'{"a":{},}'), "not described by"),
    "more behind": (file_of(b"{}{}"), "there is more behind its end"),
    "zeros behind": (file_of(b"{}\0"), "there is more behind its end"),
    "deep": (file_of(b'{"a":' + b"[" * 100_000), "{ is wanted"),
    "deep objects": (file_of(b'{"a":' * 100_000), "not described by"),
    "no UTF-8": (file_of(b'{"\xff":{}}'), "not UTF-8"),
    "half a surrogate": (file_of(b'{"\\ud800":{}}'), "not UTF-8"),
    "a wrong escape": (file_of(b'{"\\q":{}}'), "not UTF-8"),
    "an escape at the end": (file_of(b'{"a\\'), "does not end"),
    "a control sign": (file_of(b'{"a\nb":{}}'), "does not end"),
    "a text as a tensor": (file_of({"a": "b"}), "{ is wanted"),
    "empty description": (file_of({"a": {}}), "not described by"),
    "no dtype": (file_of({"a": {"shape": [], "data_offsets": [0, 4]}}, bytes(4)), "needs a dtype"),
    "another field": (file_of({"a": {**tensor(), "b": 1}}, bytes(8)), "not described by"),
    "dtype twice": (file_of(b'{"a":{"dtype":"U8","dtype":"U8"}}'), "dtype twice"),
    "dtype a list": (file_of({"a": tensor([1])}, bytes(8)), "of the wrong kind"),
    "unknown dtype": (file_of({"a": tensor("F33")}, bytes(8)), "has the dtype 'F33'"),
    "shape a number": (file_of({"a": tensor(shape=2)}, bytes(8)), "not described by"),
    "negative size": (file_of({"a": tensor(shape=[-2])}, bytes(8)), "not described by"),
    "a fraction": (file_of({"a": tensor(shape=[2.0])}, bytes(8)), "not described by"),
    "too many axes": (file_of({"a": tensor(shape=[1] * 65)}, bytes(8)), "not described by"),
    "three offsets": (file_of({"a": tensor(offsets=[0, 8, 8])}, bytes(8)), "two data_offsets"),
    "backwards": (file_of({"a": tensor(offsets=[0, 8]), "b": tensor(offsets=[8, 0])}, bytes(8)),
                  "ends at byte 0"),
    "outside": (file_of({"a": tensor()}, bytes(7)), "ends at byte 8 of 7"),
    "rest": (file_of({"a": tensor()}, bytes(9)), "1 bytes at its end belong to no tensor"),
    "nothing but bytes": (file_of({}, bytes(9)), "9 bytes at its end"),
    "a hole": (file_of({"a": tensor(offsets=[4, 12])}, bytes(12)), "leaves a hole before it"),
    "overlap": (file_of({"a": tensor(), "b": tensor(offsets=[4, 12])}, bytes(12)), "overlaps"),
    "the same place": (file_of({"a": tensor(), "b": tensor()}, bytes(8)), "overlaps"),
    "too many bytes": (file_of({"a": tensor(shape=[1])}, bytes(8)), r"shape \[1\] has 8 bytes"),
    "overflow": (file_of({"a": tensor(shape=[2**32, 2**32, 4])}, bytes(8)), "has the shape"),
    "overflow to zero": (file_of({"a": tensor(shape=[2**62, 4, 0], offsets=[0, 0])}),
                         "has the shape"),
    "huge numbers": (file_of({"a": tensor(offsets=[0, 2**64 + 8])}, bytes(8)), "ends at byte"),
    "half a byte": (file_of({"a": tensor("F4", [3], [0, 1])}, bytes(1)), r"shape \[3\] has 1"),
    "twice": (file_of(b'{"a":%b,"a":%b}' % (2 * (json.dumps(tensor()).encode(),)), bytes(8)),
              "two tensors 'a'"),
    "metadata twice": (file_of(b'{"__metadata__":{},"__metadata__":{}}'), "is there twice"),
    "metadata key twice": (file_of(b'{"__metadata__":{"a":"b","a":"c"}}'), "'a' twice"),
    "metadata of numbers": (file_of({"__metadata__": {"a": 1}}), "'a' in __metadata__ is no text"),
    "metadata of objects": (file_of({"__metadata__": {"a": {}}}), "'a' in __metadata__ is no text"),
    "metadata of tensors": (
        file_of(b'{"__metadata__":{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"b":"c"}}'),
        "'a' in __metadata__ is no text"),
    "metadata a list": (file_of({"__metadata__": []}), "{ is wanted"),
    "checksums": (file_of({"__metadata__": {"weft.crc32c": "x"}}), "its checksums are 'x'"),
    "too few checksums": (file_of({"__metadata__": {"weft.crc32c": "0"}, "a": tensor()}, bytes(8)),
                          "0 checksums for 1 tensors"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_damaged_headers(what: str, tmp_path: Path) -> None:
    data, message = WRONG[what]
    (tmp_path / "x.safetensors").write_bytes(data)
    with pytest.raises(tf.errors.DataLossError, match=message) as raised:
        tf.load(tmp_path / "x.safetensors")
    assert "x.safetensors is damaged" in str(raised.value)


def test_headers_as_others_write_them(tmp_path: Path) -> None:
    """Blanks, another order of fields and tensors, escapes, nothing at all."""
    text = (
        b'{ "b" : {"data_offsets":[8,\n8], "shape" : [ 0 , 3 ],"dtype":"F64"} ,\t"\\u00e9\\n":'
        b'{"shape":[2],"data_offsets":[0,8],"dtype":"F32"}, "__metadata__":{ } }   '
    )
    (tmp_path / "x.safetensors").write_bytes(file_of(text, np.float32([1, 2]).tobytes()))
    loaded = tf.load(tmp_path / "x.safetensors")
    assert loaded["é\n"].numpy().tolist() == [1, 2]
    assert loaded["b"].shape == [0, 3]
    (tmp_path / "y.safetensors").write_bytes(file_of({}))
    assert len(tf.load(tmp_path / "y.safetensors")) == 0


def test_dtypes_that_are_only_named(tmp_path: Path) -> None:
    header = {"a": tensor("F8_E8M0", [4], [0, 4]), "b": tensor("F6_E2M3", [4], [4, 7]),
              "c": tensor("U8", [1], [7, 8])}  # fmt: skip
    (tmp_path / "x.safetensors").write_bytes(file_of(header, bytes(8)))
    loaded = tf.load(tmp_path / "x.safetensors")
    assert loaded["c"].numpy().tolist() == [0]
    for key in ("a", "b"):
        with pytest.raises(tf.errors.UnsupportedError, match="a dtype that Weft does not have"):
            loaded[key]


def test_every_changed_byte_is_found(tmp_path: Path) -> None:
    """No damage gives other values: it is an error, or changes nothing."""
    path = tmp_path / "x.safetensors"
    values = {"a": np.arange(5.0), "bb": np.array([True, False]), "": np.float32(2)}
    tf.save(path, values, {"k": "v"})
    good = path.read_bytes()
    for at in range(len(good)):
        for damaged in (good[:at] + bytes([good[at] ^ 0x41]) + good[at + 1 :], good[:at]):
            path.write_bytes(damaged)
            try:
                loaded = tf.load(path)
                found = {key: loaded[key].numpy() for key in loaded}
            except tf.errors.DataLossError:
                continue
            assert {key: value.tolist() for key, value in found.items()} == {
                key: value.tolist() for key, value in values.items()
            }, at


def test_a_checksum_that_does_not_match_is_told_with_what_it_is_of(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    tf.save(path, {"good": tf.ones([4]), "wrong": tf.ones([4])})
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    loaded = tf.load(path)
    assert loaded["good"].numpy().tolist() == [1] * 4
    message = (
        r"x.safetensors is damaged: the checksum of the tensor 'wrong' is 0x\w{8}, and 0x\w{8}"
    )
    with pytest.raises(tf.errors.DataLossError, match=message):
        loaded["wrong"]
    assert tf.load(path, verify=False)["wrong"].shape == [4]


def test_mutated_files_are_read_as_the_library_reads_them(tmp_path: Path) -> None:
    """What is accepted is accepted there, too, with the same bytes; the rest is DataLossError."""
    rng = random.Random(5)
    path = tmp_path / "x.safetensors"
    values: list[dict[str, Any]] = [
        {"a": np.arange(4, dtype="f4"), "b": np.array([1, 2], "i2")},
        {"x": np.zeros((2, 0)), "yy": np.array([True])},
    ]
    samples = [safetensors.numpy.save(one, {"k": "v"}) for one in values]
    accepted = 0
    for _ in range(4000):
        data = mutated(rng, rng.choice(samples), rng.choice(samples))
        path.write_bytes(data)
        try:
            reader = SafetensorsReader(str(path))
            found = {key: reader.read(key).tobytes() for key in reader.names()}
        except (tf.errors.DataLossError, tf.errors.UnsupportedError):
            continue
        accepted += 1
        theirs = dict(safetensors.deserialize(data))
        assert {key: bytes(one["data"]) for key, one in theirs.items()} == found, data
    assert accepted > 100


def test_memory_is_in_proportion_to_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    many = b",".join([b'"%d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}' % i
                      for i in range(5000)])  # fmt: skip
    for header in (
        b'{"a":' + b"[]," * 100_000,
        b'{"a":{"dtype":"U8","shape":[' + b"1," * 100_000,
        b'{"' + b"\\n" * 100_000 + b'":',
        b"{" + many + b"}",
        b'{"a":{"dtype":"U8","shape":[0,1000000000000],"data_offsets":[0,0]}}',
        b'{"a":{"dtype":"F64","shape":[100000000000],"data_offsets":[0,800000000000]}}',
    ):
        path.write_bytes(file_of(header))
        tracemalloc.start()
        with contextlib.suppress(tf.errors.DataLossError):
            tf.load(path)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 10 * path.stat().st_size + 100_000, header[:40]


# --- checkpoints ---------------------------------------------------------------------------------


def model() -> tf.Module:
    made = tf.Module()
    made.layers = [tf.Variable(tf.ones([2, 3])), tf.Variable(tf.zeros([3], tf.bfloat16))]
    made.named = {"a.b/c": tf.Variable(7)}
    made.table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, -1.0)
    made.generator = tf.random.Generator.from_seed(3)
    return made


def test_a_checkpoint_by_its_ending(tmp_path: Path) -> None:
    made = model()
    made.table.insert([1, 2], [0.5, 0.25])
    checkpoint = tf.train.Checkpoint(model=made)
    path = checkpoint.write(tmp_path / "x.safetensors")
    assert path == f"{tmp_path}/x.safetensors"
    assert sorted(tf.load(path)) == [
        "model.generator._state_var", "model.layers.0", "model.layers.1", "model.named.a.b/c",
        "model.table.table-keys", "model.table.table-values",
    ]  # fmt: skip
    other = model()
    other.layers[0].assign(tf.zeros([2, 3]))
    other.generator.reset_from_seed(5)
    status = tf.train.Checkpoint(model=other).read(path).assert_consumed()
    assert (status.missing, status.unused, status.deferred) == ([], [], [])
    np.testing.assert_array_equal(other.layers[0], np.ones([2, 3]))
    assert other.table.lookup(tf.constant([2, 9], tf.int64)).numpy().tolist() == [0.25, -1]
    assert other.generator.state.numpy().tolist() == made.generator.state.numpy().tolist()
    assert tf.train.load_variable(path, "model.named.a.b/c") == 7
    assert ("model.layers.1", [3]) in tf.train.list_variables(path)
    with pytest.raises(tf.errors.NotFoundError, match="has no map of objects"):
        tf.train.CheckpointView(path)


def test_a_file_of_the_library_is_restored_into_objects(tmp_path: Path) -> None:
    values = {"layers.0": np.full((2, 3), 4, "f4"), "other": np.zeros(1)}
    safetensors.numpy.save_file(values, tmp_path / "x.safetensors")
    made = model()
    status = tf.train.Checkpoint(made).restore(tmp_path / "x.safetensors")
    assert "other" in status.unused
    assert status.missing == ["layers/1", "named/a.b/c", "generator/_state_var"]
    np.testing.assert_array_equal(made.layers[0], values["layers.0"])
    with pytest.raises(AssertionError, match="layers/1"):
        status.assert_consumed()


def test_nothing_changes_if_something_does_not_fit(tmp_path: Path) -> None:
    tf.save(tmp_path / "x.safetensors", {"a": [5.0], "b": [1.0, 2.0, 3.0]})
    a, b = tf.Variable([0.0]), tf.Variable([0.0, 0.0])
    with pytest.raises(ValueError, match=r"'b' is float32 \(3,\) there"):
        tf.train.Checkpoint(a=a, b=b).read(tmp_path / "x.safetensors")
    assert float(a[0]) == 0.0


def test_what_a_checkpoint_of_this_kind_cannot_hold(tmp_path: Path) -> None:
    iterator = iter(tf.data.Dataset.range(3))
    for name, value in (("words", tf.Variable(["a"])), ("it", iterator)):
        checkpoint = tf.train.Checkpoint(**{name: value})
        options = tf.train.CheckpointOptions(enable_async=True)
        for chosen in (None, options):
            with pytest.raises(
                tf.errors.UnsupportedError, match=f"'{name}.*or write a checkpoint, by a name"
            ):
                checkpoint.save(tmp_path / "x.safetensors", chosen)
        assert int(checkpoint.save_counter) == 0
    both = {"a": {"b": tf.Variable(1.0)}, "a.b": tf.Variable(2.0)}
    with pytest.raises(tf.errors.InvalidArgumentError, match="the same name, 'x.a.b'"):
        tf.train.Checkpoint(x=both).write(tmp_path / "x.safetensors")
    assert not list(tmp_path.iterdir())


def test_a_manager_of_such_files(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    v = tf.Variable(0.0)
    checkpoint = tf.train.Checkpoint(v=v)
    manager = tf.train.CheckpointManager(
        checkpoint, tmp_path, max_to_keep=2, checkpoint_name="c.safetensors"
    )
    for wait in (True, False, True):
        v.assign_add(1.0)
        manager.save(wait=wait)
    names = sorted(file.name for file in tmp_path.iterdir())
    assert names == ["c-2.safetensors", "c-3.safetensors", "checkpoint"]
    assert tf.train.latest_checkpoint(tmp_path) == f"{tmp_path}/c-3.safetensors"
    again = tf.train.CheckpointManager(
        checkpoint, tmp_path, max_to_keep=2, checkpoint_name="c.safetensors"
    )
    data = bytearray((tmp_path / "c-3.safetensors").read_bytes())
    data[-1] ^= 1
    (tmp_path / "c-3.safetensors").write_bytes(data)
    assert again.restore_or_initialize() == f"{tmp_path}/c-2.safetensors"
    assert "is not whole, the one before it is taken" in caplog.text
    assert float(v) == 2.0
    assert again.save() == f"{tmp_path}/c-3.safetensors"
