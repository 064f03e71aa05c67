"""Saved datasets are those of TensorFlow: files that it wrote are read, and read back."""

from __future__ import annotations

import base64
import collections
import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.data.sources.storage import ElementWriter
from weft._src.fileio.snappy import SnappyStream, decompressed
from weft.errors import ParseError

D = tf.data.Dataset
Pair = collections.namedtuple("Pair", "u v")

# What TensorFlow 2.21 wrote: elements (ragged, sparse) of `_mixed`, and `range(5)` in Snappy.
_RECORDS = (
    "MwAAAAAAAAAMpyBWCBUSACItLAoTUmFnZ2VkVGVuc29yVmFyaWFudBoNCAkSBBICCANSAwAAABoGCAkSAhIA"
    "72U0oWoAAAAAAAAAr4HtZwgVEgQSAggDImAgHCEKEnRlbnNvcmZsb3c6OlRlbnNvchoKCAkSBhIAEgIIAQoS"
    "dGVuc29yZmxvdzo6VGVuc29yGgYICRICEgAKEnRlbnNvcmZsb3c6OlRlbnNvchoLCAkSBBICCAFSAQNvZQbR"
    "OQAAAAAAAACLBzfxCBUSACIzMgoTUmFnZ2VkVGVuc29yVmFyaWFudBoNCAkSBBICCANSAwABAhoMCAkSBBIC"
    "CAJSAgAAUp/N73gAAAAAAAAAoqUhxQgVEgQSAggDIm4nIyEKEnRlbnNvcmZsb3c6OlRlbnNvchoRCAkSCBIC"
    "CAMSAggBUgMAAQIKEnRlbnNvcmZsb3c6OlRlbnNvchoNCAkSBBICCANSAwEBAQoSdGVuc29yZmxvdzo6VGVu"
    "c29yGgsICRIEEgIIAVIBA5tl3Z87AAAAAAAAABojrFwIFRIAIjU0ChNSYWdnZWRUZW5zb3JWYXJpYW50Gg0I"
    "CRIEEgIIA1IDAAIEGg4ICRIEEgIIBFIEAAEAAVbzdJd4AAAAAAAAAKKlIcUIFRIEEgIIAyJuJyMhChJ0ZW5z"
    "b3JmbG93OjpUZW5zb3IaEQgJEggSAggDEgIIAVIDAAECChJ0ZW5zb3JmbG93OjpUZW5zb3IaDQgJEgQSAggD"
    "UgMCAgIKEnRlbnNvcmZsb3c6OlRlbnNvchoLCAkSBBICCAFSAQOc+4HL"
)
_SPEC = (
    "ogNyCkKSAj8IAxInogMkChT6ARESAggCEgsI////////////AQoDgAIJCgJgAgoDgAIJGhBSYWdnZWRUZW5z"
    "b3JTcGVjIAIKLJICKQgBEhGiAw4KB/oBBBICCAMKA4ACCRoQU3BhcnNlVGVuc29yU3BlYyAD"
)
_METADATA = "EhM5NzU4NzQyMDg3MTcyNTY3OTAwGOjZypi1kJgDIAIqAhUVMAPAPgE="
_SNAPPY = (
    "AAAAUZYBBA4ACQEkxeVpPwgJEgAiCAkQFAAAiCuV6kYeAAABDR8MoL3fVEYeAAACDR4MGU8SX0YeAAADDR4Q"
    "EeFE6Q4NDBl4LAQAAAAAAAAAY+1K7w=="
)
_RUN = "9758742087172567900"


def _mixed() -> Any:
    return D.range(3).map(
        lambda i: (tf.ragged.range(tf.fill([2], i)), tf.sparse.from_dense(tf.fill([3], i)))
    )


def _written(folder: Path) -> str:
    """A folder as TensorFlow made it."""
    shard = folder / _RUN / "00000000.shard"
    shard.mkdir(parents=True)
    (shard / "00000000.snapshot").write_bytes(base64.b64decode(_RECORDS))
    (folder / "dataset_spec.pb").write_bytes(base64.b64decode(_SPEC))
    (folder / "snapshot.metadata").write_bytes(base64.b64decode(_METADATA))
    return str(folder)


def _shown(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, tf.RaggedTensor):
        return value.to_list()
    value = tf.sparse.to_dense(value) if isinstance(value, tf.SparseTensor) else value
    return np.asarray(value).tolist()


def test_what_tensorflow_wrote(tmp_path: Path) -> None:
    loaded = D.load(_written(tmp_path))
    assert loaded.element_spec == _mixed().element_spec
    assert len(loaded) == 3
    for a, b in zip(loaded, _mixed(), strict=True):
        assert list(map(_shown, a)) == list(map(_shown, b))


def test_snappy(tmp_path: Path) -> None:
    D.range(5).save(str(tmp_path))
    (file,) = tmp_path.glob("*/*/*.snapshot")
    file.write_bytes(base64.b64decode(_SNAPPY))
    for compression in (None, "SNAPPY"):
        loaded = D.load(str(tmp_path), compression=compression)
        assert list(loaded.as_numpy_iterator()) == [0, 1, 2, 3, 4]
    iterator = iter(loaded)
    next(iterator)
    position = iterator.save_position()
    again = iter(loaded)
    again.restore_position(position)
    assert [int(x) for x in again] == [1, 2, 3, 4]
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(tf.errors.DataLossError, match="cut short"):
        list(loaded)
    file.write_bytes(b"\0\0\0\x02\x05\x00")
    with pytest.raises(tf.errors.DataLossError, match="corrupt"):
        list(D.load(str(tmp_path)))
    with pytest.raises(ValueError, match="compression"):
        D.range(2).save(str(tmp_path), compression="SNAPPY")


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (b"\x00", b""),
        (b"\x0a\x08abc\x12\x03\x00\x04xy", b"abcabcabxy"),
        (b"\x48\xf0\x3f" + bytes(64) + b"\x1f\x40\0\0\0", bytes(72)),
        (b"\x82\x02\xf4\x01\x01" + b"z" * 258, b"z" * 258),
    ],
)
def test_blocks_of_snappy(block: bytes, expected: bytes) -> None:
    assert decompressed(block) == expected
    for wrong in (block[:-1], block + b"\x00", b""):
        with pytest.raises(ParseError, match="Snappy"):
            decompressed(wrong)


@pytest.mark.parametrize("compression", [None, "GZIP"])
@pytest.mark.parametrize(
    "make",
    [
        _mixed,
        lambda: D.range(2).map(lambda i: Pair(i, {"k": [tf.as_string(i), "x"]})),
        lambda: D.range(2).map(lambda i: (i, None)),
        lambda: D.from_tensor_slices(tf.ragged.constant([[["a"], []], [["bb", "c"]]])),
        lambda: D.from_tensors(tf.cast([1.5, 2.0], tf.bfloat16)),
        lambda: D.range(0),
    ],
)
def test_there_and_back(tmp_path: Path, make: Any, compression: str | None) -> None:
    folder = str(tmp_path)
    D.range(7).save(folder)  # is replaced
    make().save(folder, compression=compression)
    loaded = D.load(folder)
    assert len(loaded) == len(make())
    # The class of a named tuple is made anew, with the same name and fields.
    assert str(loaded.element_spec) == str(make().element_spec)
    for a, b in zip(loaded, make(), strict=True):
        assert list(map(_shown, tf.nest.flatten(a))) == list(map(_shown, tf.nest.flatten(b)))
    assert len(list(tmp_path.iterdir())) == (3 if len(make()) else 2)


def test_what_is_wrong_inside(tmp_path: Path) -> None:
    folder = _written(tmp_path)
    (file,) = tmp_path.glob("*/*/*.snapshot")
    whole = file.read_bytes()
    file.write_bytes(whole[: 16 + whole[0]])
    with pytest.raises(tf.errors.DataLossError, match="ends within an element"):
        list(D.load(folder))
    D.from_tensors(([[1]], [2])).save(str(tmp_path / "other"))
    (other,) = (tmp_path / "other").glob("*/*/*.snapshot")
    file.write_bytes(other.read_bytes())
    with pytest.raises(tf.errors.DataLossError, match="stands for RaggedTensorSpec"):
        list(D.load(folder))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (tf.RaggedTensor.from_row_splits([1, 2], [0, 1, 9], validate=False), "splits"),
        (tf.SparseTensor([[5]], [1], [3]), "outside of its shape"),
    ],
)
def test_parts_that_lead_out_of_values(tmp_path: Path, value: Any, reason: str) -> None:
    D.from_tensors(value).save(str(tmp_path))
    with pytest.raises(tf.errors.InvalidArgumentError, match=reason):
        list(D.load(str(tmp_path)))


def test_elements_that_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="cannot be saved"):
        D.range(3).window(2).save(str(tmp_path / "made"))
    assert not (tmp_path / "made").exists()


def test_what_version_0_1_saved_is_read(tmp_path: Path) -> None:
    spec = {"element_spec": {"tensor": ["int64", []]}, "count": 2}
    (tmp_path / "dataset_spec.json").write_text(json.dumps(spec))
    for number in range(2):
        writer = ElementWriter(str(tmp_path / f"shard_{number:08d}.tfrecord"))
        writer.write((np.int64(number + 5),))
        writer.finish()
    loaded = D.load(str(tmp_path))
    assert len(loaded) == 2
    assert list(loaded.as_numpy_iterator()) == [5, 6]
    turns = D.load(str(tmp_path), reader_func=lambda shards: shards.flat_map(lambda x: x))
    assert list(turns.as_numpy_iterator()) == [5, 6]
    D.range(1).save(str(tmp_path))
    assert not list(tmp_path.glob("shard_*"))
    assert list(D.load(str(tmp_path)).as_numpy_iterator()) == [0]


def test_a_wrong_length_in_a_snappy_file_takes_no_memory(tmp_path: Path) -> None:
    file = tmp_path / "cut.snappy"
    file.write_bytes(b"\xff\xff\xff\xff" + b"few")
    stream = SnappyStream(str(file), "TFRecord file")
    tracemalloc.start()
    try:
        with pytest.raises(tf.errors.DataLossError, match="cut short"):
            stream.read(12)
        assert tracemalloc.get_traced_memory()[1] < 1 << 22
    finally:
        tracemalloc.stop()


def test_another_version_of_the_form_is_named(tmp_path: Path) -> None:
    D.range(2).save(str(tmp_path))
    metadata = tmp_path / "snapshot.metadata"
    metadata.write_bytes(metadata.read_bytes() + b"\x20\x01")  # the last version counts
    with pytest.raises(tf.errors.UnsupportedError, match="is of version 1, .* save the dataset"):
        D.load(str(tmp_path))


def test_a_sparse_tensor_of_another_shape_is_refused(tmp_path: Path) -> None:
    rows = D.from_tensors(tf.sparse.from_dense([[0, 5, 0]]))
    rows.save(str(tmp_path))
    (tmp_path / "wide").mkdir()
    D.from_tensors(tf.sparse.from_dense([[0, 5, 0, 0]])).save(str(tmp_path / "wide"))
    (file,) = tmp_path.glob("[0-9]*/*/*.snapshot")
    (other,) = tmp_path.glob("wide/*/*/*.snapshot")
    file.write_bytes(other.read_bytes())
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"a sparse tensor of shape \[1, 4\], not \(1, 3\)"
    ):
        list(D.load(str(tmp_path)))
