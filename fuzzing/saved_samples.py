"""Readers of what programs save: safetensors, checkpoints and SavedModels, with valid inputs.

Checksums would refuse almost everything that is damaged, so most of these parts of files are put
into files with checksums that are right.
"""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import weft as tf
from weft._src.fileio.crc32c import crc32c as crc32c, masked_crc32c
from weft._src.messages.checkpoints import BundleHeaderProto
from weft._src.messages.wire import varint
from weft._src.saved_model import seals
from weft._src.saving.bundle import BundleReader
from weft._src.saving.object_graph import OBJECT_GRAPH
from weft._src.saving.sorted_table import Block, table_bytes, table_entries
from weft._src.saving.writing import write_bundle

_HEADER = BundleHeaderProto(num_shards=1).SerializeToString()


def module() -> Any:
    """What is saved: a list, a dict, a table, a generator, words."""
    made = tf.Module()
    made.items = [tf.Variable([1.0, 2.0]), tf.Variable(3)]
    made.named = {"a.b/c": tf.Variable(tf.zeros([0, 3], tf.bfloat16))}
    made.words = tf.Variable(["one", "", "three"])
    made.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    made.table.insert(["one", "two"], [1, 2])
    made.generator = tf.random.Generator.from_seed(3)
    return made


def safetensors_files() -> tuple[bytes, ...]:
    """Whole files."""
    path = Path(tempfile.mkdtemp(prefix="weft-fuzz-")) / "x.safetensors"
    out = []
    for values in (
        {
            "a": np.arange(6, dtype="f4").reshape(2, 3),
            "é\n": np.array([True]),
            "": np.zeros((0, 2)),
        },
        {f"layer.{i}.kernel": np.full(i, i, "i2") for i in range(6)},
        {},
    ):
        tf.save(path, values, {"format": "pt"})
        data = path.read_bytes()
        size = int.from_bytes(data[:8], "little")
        out.append(data)
        # As others write it, without checksums.
        header = data[8 : 8 + size].replace(b'"weft.crc32c"', b'"other.texts"')
        out.append(data[:8] + header + data[8 + size :])
    return tuple(out)


def checkpoint(folder: str) -> str:
    """Writes a valid checkpoint; its prefix."""
    return tf.train.Checkpoint(module()).write(f"{folder}/c")


def checkpoint_parts() -> dict[str, tuple[bytes, ...]]:
    """Samples of the index, of what is in it, of the data, and of the map of objects."""
    folder = tempfile.mkdtemp(prefix="weft-fuzz-")
    prefix = checkpoint(folder)
    index = Path(f"{prefix}.index").read_bytes()
    entries = dict(table_entries(index, "the index"))
    block = Block(3)
    for key, entry in entries.items():
        block.add(key, entry)
    tf.train.CheckpointManager(tf.train.Checkpoint(), folder, 3).save()
    return {
        "index": (index,),
        "block": (block.bytes(),),
        "entry": tuple(entries[key] for key in entries if key),
        "data": (Path(f"{prefix}.data-00000-of-00001").read_bytes(),),
        "objects": (bytes(BundleReader(prefix).read(OBJECT_GRAPH)[()]),),
        "state": (Path(folder, "checkpoint").read_bytes(),),
    }


def index_of_block(block: bytes) -> bytes:
    """An index with one block of any content, and right checksums."""
    out = bytearray()

    def put(content: bytes) -> bytes:
        handle = varint(len(out)) + varint(len(content))
        out.extend(content + b"\0" + struct.pack("<I", masked_crc32c(content + b"\0")))
        return handle

    only = put(block)
    empty = put(struct.pack("<II", 0, 1))
    index = put(varint(0) + varint(1) + varint(len(only)) + b"z" + only + struct.pack("<II", 0, 1))
    return bytes(out) + (empty + index).ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57)


def index_of_entry(entry: bytes) -> bytes:
    """An index with one tensor, of which anything may be said."""
    return table_bytes([(b"", _HEADER), (b"x", entry)])


def write_objects(prefix: str, text: bytes) -> None:
    """A checkpoint whose map of objects is any text."""
    reader = BundleReader(f"{prefix}-good")
    arrays = [(key, reader.read(key)) for key in reader.names() if key != OBJECT_GRAPH]
    write_bundle(prefix, [*arrays, (OBJECT_GRAPH, np.array(text, object))])


class Model(tf.Module):
    """Functions with a signature, a loop, a branch, defaults and structures."""

    def __init__(self) -> None:
        self.v = tf.Variable([1.0, 2.0])
        self.more = [tf.Variable(3), {"x": tf.Variable(True)}]

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def __call__(self, x: Any) -> Any:
        return tf.nn.relu(x @ x[:, :, None])[..., 0] * self.v, {"sum": tf.reduce_sum(x)}

    @tf.function
    def loop(self, n: Any, rate: float = 0.5) -> Any:
        total = 0.0
        while n > 0:
            total += rate * tf.cast(n, tf.float32)
            n -= 1
        if total > 3.0:
            total = -total
        return total


def saved_model(folder: str) -> bytes:
    """Writes a valid model; its `saved_model.pb` without the checksum."""
    made = Model()
    made.loop(tf.constant(3))
    tf.saved_model.save(made, folder)
    return Path(folder, seals.FILE).read_bytes()[:-7]


def saved_models() -> tuple[bytes, ...]:
    """Files `saved_model.pb`."""
    return (saved_model(tempfile.mkdtemp(prefix="weft-fuzz-")),)
