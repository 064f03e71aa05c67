"""All that reads bytes from elsewhere: how it is called, and inputs that it takes."""

from __future__ import annotations

import functools
import gzip
import hashlib
import random
import tempfile
import textwrap
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import weft as tf
from fuzzing import media_samples, saved_samples

# What may be raised for bytes that are wrong.
ALLOWED = (
    tf.errors.InvalidArgumentError,
    tf.errors.DataLossError,
    tf.errors.OutOfRangeError,
    tf.errors.NotFoundError,
    tf.errors.ResourceExhaustedError,
)


@dataclass(frozen=True)
class Parser:
    """A program that reads `data`, which may also use a folder, `folder`; and valid inputs."""

    name: str
    program: str
    samples: tuple[bytes, ...]
    setup: str = ""  # what is done once
    allowed: tuple[type[Exception], ...] = ALLOWED  # what may be raised

    @functools.cached_property
    def run(self) -> Callable[[bytes], None]:
        """The program as a function of the input."""
        folder = Path(tempfile.mkdtemp(prefix="weft-fuzz-"))
        names: dict[str, Any] = {"tf": tf, "np": np, "folder": str(folder)}
        exec(self.setup, names)
        exec(f"def run(data):\n{textwrap.indent(self.program, '    ')}", names)
        run: Callable[[bytes], None] = names["run"]
        return run

    def reproduction(self, data: bytes) -> str:
        """The program with its input, to be run by itself."""
        lines = ["import numpy as np", "import weft as tf"]
        if "folder" in self.setup + self.program:
            lines += ["import tempfile", "folder = tempfile.mkdtemp()"]
        return "\n".join([*lines, *self.setup.splitlines(), f"data = {data!r}", self.program])


# --- inputs that are valid -----------------------------------------------------------------------


def _examples() -> tuple[bytes, ...]:
    train = tf.train

    def feature(**lists: Any) -> Any:
        return train.Feature(**lists)

    features = {
        "b": feature(bytes_list=train.BytesList(value=[b"one", b"", b"\xff\x00"])),
        "f": feature(float_list=train.FloatList(value=[0.5, -1e30, float("nan")])),
        "i": feature(int64_list=train.Int64List(value=[1, 300, -7, 2**62])),
        "none": feature(),
    }
    some = [features, {"f": features["f"]}, {"i": features["i"], "é": features["b"]}]
    return tuple(
        [train.Example(features=train.Features(feature=f)).SerializeToString() for f in some]
    )


def _tensors() -> tuple[bytes, ...]:
    values: list[Any] = [
        np.arange(6, dtype=np.float32).reshape(2, 3), np.array([True, False]), np.int64(-3),
        np.array([1 + 2j]), np.zeros((0, 3), np.int8), np.array([b"text", b""], object),
        np.array([1.5, -2.0], np.float16),
    ]  # fmt: skip
    whole = [tf.io.serialize_tensor(value).numpy() for value in values]
    listed = [
        tf.make_tensor_proto(value, shape=[2, 3]).SerializeToString()
        for value in (1.5, 7, True, 2j, np.float16(3), np.uint64(9), b"again")
    ]
    return (*whole, *listed)


def _record_files() -> tuple[bytes, ...]:
    folder = Path(tempfile.mkdtemp(prefix="weft-fuzz-"))
    out = []
    for records in ([b"one", b"", b"three" * 20], [b"\0" * 7], []):
        with tf.io.TFRecordWriter(str(folder / "file")) as file:
            for record in records:
                file.write(record)
        out.append((folder / "file").read_bytes())
    return tuple(out)


_PLAIN = 'tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": ["x", "y"]}).save(folder)'
_RAGGED = """
rows = tf.ragged.constant([[["a"], []], [["b", "c"]]])
numbers = tf.sparse.from_dense([[0, 1, 2], [3, 0, 0]])
tf.data.Dataset.from_tensor_slices((rows, numbers)).save(folder)
"""


def _saved(setup: str) -> tuple[Path, list[bytes]]:
    """A folder with a saved dataset, and the records in it."""
    folder = tempfile.mkdtemp(prefix="weft-fuzz-")
    exec(setup, {"tf": tf, "folder": folder})
    (file,) = Path(folder).glob("*/*/*.snapshot")
    return Path(folder), [x.numpy() for x in tf.data.TFRecordDataset(str(file))]


def _of_saved_datasets() -> list[Parser]:
    loaded = "for _ in tf.data.Dataset.load(folder):\n    pass"
    shard = """
import glob
from weft._src.fileio.records import framed
shard = glob.glob(folder + '/*/*/*.snapshot')[0]
"""
    element = "with open(shard, 'wb') as file:\n    file.write({})\n"
    written = "with open(folder + '/{}', 'wb') as file:\n    file.write(data)\n"
    plain, _ = _saved(_PLAIN)
    ragged, (row, numbers, *_) = _saved(_RAGGED)
    types = tuple([(folder / "dataset_spec.pb").read_bytes() for folder in (plain, ragged)])
    metadata = (plain / "snapshot.metadata").read_bytes()
    snappy = (b"\x06\x04ab\x01\x02", b"\x00", b"\x0a\x08abc\x12\x03\x00\x04xy")
    first, second = f"framed(data) + framed({numbers!r})", f"framed({row!r}) + framed(data)"
    named = (*ALLOWED, tf.errors.UnsupportedError)  # another version, a type of somebody else
    return [
        Parser("saved element", element.format("framed(data) * 2") + loaded, _tensors(),
               _PLAIN + shard),
        Parser("saved ragged", element.format(first) + loaded, (row,), _RAGGED + shard),
        Parser("saved sparse", element.format(second) + loaded, (numbers,), _RAGGED + shard),
        Parser("saved type", written.format("dataset_spec.pb") + loaded, types, _PLAIN,
               named),
        Parser("saved metadata", written.format("snapshot.metadata") + loaded, (metadata,),
               _PLAIN, named),
        Parser("saved type of 0.1", written.format("dataset_spec.json") + loaded,
               (b'{"element_spec": {"dict": [["a", {"tensor": ["int32", [2]]}]]}, "count": 0}',)),
        Parser("snappy", "decompressed(data)", snappy,
               "from weft._src.fileio.snappy import decompressed"),
    ]  # fmt: skip


# --- the table -----------------------------------------------------------------------------------

_NUMBERS = (b"1.5", b"-2e3", b"0x1.8p3", b" 17 ", b"nan", b"-inf", b"123456789012", b"+0")
_TEXT = ("wörter".encode(), b"plain", "日本\U0001f600".encode(), "é!".encode("utf-16-be"))
_LINES = (b'1,2.5,text,"a ""quoted"" one",7', b",,,,", b"1,2,3,4,5", b' 8 ,1e3,"",x,-1')
_WHOLE = (b"hello " * 20, b"", bytes(300))
_FEATURES = """{
    "b": tf.io.VarLenFeature(tf.string), "f": tf.io.VarLenFeature(tf.float32),
    "i": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
}"""
_SEQUENCES = """tf.io.parse_sequence_example(tf.constant([data, data]), None, {
    "b": tf.io.VarLenFeature(tf.string), "f": tf.io.RaggedFeature(tf.float32),
    "i": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
})"""
_SPARSE_ROWS = "tf.io.deserialize_many_sparse([[data, data, data]], tf.float32)"
_JSON = b'{"features": {"feature": {"a": {"int64List": {"value": [1, "-2"]}}}}}'
_WRITTEN = 'with open(folder + "/input", "wb") as file:\n    file.write({})\n'
_READ = 'for _ in tf.data.TFRecordDataset(folder + "/input"{}):\n    pass'


@functools.cache
def parsers() -> tuple[Parser, ...]:
    """All parsers; the valid inputs are made by Weft itself."""
    return (*_of_messages(), *_of_files(), *_of_text(), *_of_media(), *_of_saved())


def _of_messages() -> list[Parser]:
    examples, tensors = _examples(), _tensors()
    one = "tf.io.parse_single_example(data, features)"
    several = "tf.io.parse_example(tf.constant([data, data]), features)"
    known = 'features = {"i": tf.io.FixedLenFeature([4], tf.int64, [0, 0, 0, 0])}'
    loaded = (
        f"features = {_FEATURES}\n"
        "from weft._src.fileio import example_columns\n"
        "example_columns._worth.seconds = 1.0  # machine code\n"
        "tf.io.parse_single_example(b'', features)"
    )
    return [
        Parser("Example", "tf.train.Example.FromString(data).SerializeToString()", examples),
        Parser("Features", "repr(tf.train.Features.FromString(data[2:]))", examples),
        Parser("parse_single_example", one, examples, f"features = {_FEATURES}"),
        Parser("parse_example", several, examples, known),
        Parser("parse_example, machine code", several, examples, loaded),
        Parser("parse_sequence_example", _SEQUENCES, _sequence_examples()),
        Parser("decode_json_example", "tf.io.decode_json_example(data)", (_JSON,)),
        Parser("deserialize_many_sparse", _SPARSE_ROWS, tensors),
        Parser("parse_tensor", "tf.io.parse_tensor(data, tf.float32)", tensors),
        Parser("parse_tensor of strings", "tf.io.parse_tensor(data, tf.string)", tensors),
        Parser(
            "TensorProto",
            "tf.io.parse_tensor(TensorProto.FromString(data).SerializeToString(), tf.bool)",
            tensors,
            "from weft._src.messages.tensors import TensorProto",
        ),
    ]


def _sequence_examples() -> tuple[bytes, ...]:
    """The features of the Examples, in two steps."""
    out = []
    for data in _examples():
        features = tf.train.Example.FromString(data).features.feature
        steps = {name: tf.train.FeatureList(feature=[features[name]] * 2) for name in features}
        lists = tf.train.FeatureLists(feature_list=steps)
        out.append(tf.train.SequenceExample(feature_lists=lists).SerializeToString())
    return tuple(out)


def _of_files() -> list[Parser]:
    files = _record_files()
    position = tf.data.Dataset.range(9).shuffle(3, seed=1).batch(2)
    saved = (iter(position).save_position(), b"")
    zipped = tuple([zlib.compress(data) for data in _WHOLE])
    return [
        Parser("records", _WRITTEN.format("data") + _READ.format(""), files),
        Parser("records in GZIP", _WRITTEN.format("data") + _READ.format(', "GZIP"'),
               tuple([gzip.compress(file, mtime=0) for file in files])),
        Parser("records in ZLIB", _WRITTEN.format("zlib.compress(data)") +
               _READ.format(', "ZLIB"'), files, "import zlib"),
        *_of_saved_datasets(),
        Parser("position", "iter(dataset).restore_position(data)", saved,
               "dataset = tf.data.Dataset.range(9).shuffle(3, seed=1).batch(2)"),
        Parser("lines", _WRITTEN.format("data") + 'for _ in tf.data.TextLineDataset(folder + '
               '"/input"):\n    pass', (b"one\r\ntwo\n\nthree", b"\n")),
        Parser("decode_compressed GZIP", 'tf.io.decode_compressed(data, "GZIP")',
               tuple([gzip.compress(data, mtime=0) for data in _WHOLE])),
        Parser("decode_compressed ZLIB", 'tf.io.decode_compressed(data, "ZLIB")', zipped),
        Parser("code cache", "path.write_bytes(data)\n"
               "assert cache._read(path, bytes(32)) in (None, b'code')",
               (hashlib.sha256(bytes(32) + b"code").digest() + bytes(32) + b"code",),
               "from pathlib import Path\n"
               "from weft._src.execution.native.machine import cache\npath = Path(folder) / 'a.o'"),
    ]  # fmt: skip


def _of_text() -> list[Parser]:
    strict = 'tf.strings.unicode_decode_with_offsets(data, "UTF-8", errors="strict")'
    wide = '"UTF-16-BE", "UTF-8", errors="ignore", replace_control_characters=True'
    columns = "[[0], [0.0], [''], tf.string, tf.constant([], tf.int64)]"
    return [
        Parser("decode_csv", f"tf.io.decode_csv(data, {columns})", _LINES),
        Parser("decode_raw", "tf.io.decode_raw(data, tf.int32)", _WHOLE),
        Parser("decode_raw, fixed", "tf.io.decode_raw(data, tf.bool, fixed_length=16)", _WHOLE),
        Parser("decode_base64", "tf.io.decode_base64(data)", (b"aGVsbG8=", b"aGVsbG8", b"__--")),
        Parser("to_number", "tf.strings.to_number(data)", _NUMBERS),
        Parser("to_number, int32", "tf.strings.to_number(data, tf.int32)", _NUMBERS),
        Parser("to_number, uint64", "tf.strings.to_number(data, tf.uint64)", _NUMBERS),
        Parser("unicode_decode", 'tf.strings.unicode_decode(data, "UTF-8")', _TEXT),
        Parser("unicode_decode, strict", strict, _TEXT),
        Parser("unicode_decode, JIS", 'tf.strings.unicode_decode(data, "shift_jis_2004")', _TEXT),
        Parser("unicode_decode, marked", 'tf.strings.unicode_decode(data, "UTF-32")', _TEXT),
        Parser("unicode_transcode", f"tf.strings.unicode_transcode(data, {wide})", _TEXT),
        Parser("length", "tf.strings.length(data, 'UTF8_CHAR')", _TEXT),
        Parser("substr", "tf.strings.substr(data, 1, 3, 'UTF8_CHAR')", _TEXT),
        Parser("split", 'tf.strings.split(data, ",")', _LINES),
    ]


def _of_media() -> list[Parser]:
    pngs, jpegs = tuple(media_samples.pngs()), tuple(media_samples.jpegs())
    bmps, gifs = tuple(media_samples.bmps()), tuple(media_samples.gifs())
    webps, wavs = tuple(media_samples.webps()), tuple(media_samples.wavs())
    setup = (
        "from fuzzing.media_samples import tier, with_checksums\n"
        "from weft._src.media import machine_code\n"
        "machine_code._loaded()  # LLVM takes memory, too"
    )
    decode = (
        'with tier("{}"):\n    tf.io.decode_png(with_checksums(data), channels={}, dtype=tf.{})'
    )
    numpy, native = 'with tier("numpy"):\n    ', 'with tier("native"):\n    '
    lenient = "try_recover_truncated=True, acceptable_fraction=0.2"
    rough = "dct_method='INTEGER_ACCURATE', fancy_upscaling=False, acceptable_fraction=0.1"
    still = "tf.io.decode_image(with_checksums(data), expand_animations=False)"
    return [
        Parser("decode_png", decode.format("numpy", 0, "uint8"), pngs, setup),
        Parser("decode_png, machine code", decode.format("native", 4, "uint8"), pngs, setup),
        Parser("decode_png, grey", decode.format("native", 1, "uint16"), pngs, setup),
        Parser("decode_png as it is", "tf.io.decode_png(data)", pngs),
        Parser("decode_bmp", "tf.io.decode_bmp(data, channels=4)", bmps),
        Parser("decode_gif", "tf.io.decode_gif(data)", gifs),
        Parser("decode_jpeg", f"{native}tf.io.decode_jpeg(data)", jpegs, setup),
        Parser("decode_jpeg, half", f"{numpy}tf.io.decode_jpeg(data, 3, 2)", jpegs, setup),
        Parser("decode_jpeg, lenient", f"tf.io.decode_jpeg(data, {lenient})", jpegs),
        Parser("decode_jpeg, accurate", f"tf.io.decode_jpeg(data, {rough})", jpegs),
        Parser("decode_and_crop_jpeg", "tf.io.decode_and_crop_jpeg(data, [1, 2, 3, 4])", jpegs),
        Parser("extract_jpeg_shape", "tf.io.extract_jpeg_shape(data)", jpegs),
        Parser("decode_webp", "tf.io.decode_webp(data)", webps),
        Parser("decode_image", still, (*pngs, *jpegs, *gifs, *bmps, *webps), setup),
        Parser("decode_wav", "tf.audio.decode_wav(data)", wavs),
        Parser("decode_wav, filled up", "tf.audio.decode_wav(data, 3, 50)", wavs),
    ]


def _of_saved() -> list[Parser]:
    parts = saved_samples.checkpoint_parts()
    any_of_them = (tf.errors.OpError,)
    setup = (
        "from pathlib import Path\nfrom fuzzing import saved_samples\n"
        "saved_samples.crc32c(bytes(1 << 17))  # LLVM takes memory, too\n"
    )
    good = f"{setup}saved_samples.checkpoint(folder)\n"
    objects = (
        f"{setup}import os\nsaved_samples.checkpoint(folder)\n"
        "for name in os.listdir(folder):\n"
        "    os.rename(folder + '/' + name, folder + '/' + name.replace('c.', 'c-good.'))\n"
    )
    write = "Path(folder, '{}').write_bytes({})\n"
    all_of_it = (
        "reader = tf.train.load_checkpoint(folder + '/c')\n"
        "for key in reader.get_variable_to_shape_map():\n"
        "    reader.get_tensor(key)"
    )
    restored = (
        "try:\n"
        "    tf.train.Checkpoint(saved_samples.module()).read(folder + '/c').expect_partial()\n"
        "except ValueError as error:\n"
        "    assert 'does not fit' in str(error), error"
    )
    unchecked = (
        "from unittest import mock\n"
        "from weft._src.saving.bundle import BundleReader\n"
        "with mock.patch.object(BundleReader, '_verify'):\n"
        "    reader = BundleReader(folder + '/c')\n"
        "    for key in reader.names():\n"
        "        reader.read(key)"
    )
    data = "c.data-00000-of-00001"
    state = (
        "tf.train.latest_checkpoint(folder)\ntf.train.get_checkpoint_state(folder)\n"
        "tf.train.CheckpointManager(tf.train.Checkpoint(), folder, 3).checkpoints"
    )
    return [
        Parser("safetensors", write.format("x.safetensors", "data") +
               "dict(tf.load(folder + '/x.safetensors'))", saved_samples.safetensors_files(),
               setup, any_of_them),
        Parser("checkpoint index", write.format("c.index", "data") + all_of_it, parts["index"],
               good, any_of_them),
        Parser("block of an index",
               write.format("c.index", "saved_samples.index_of_block(data)") + all_of_it,
               parts["block"], good, any_of_them),
        Parser("entry of an index",
               write.format("c.index", "saved_samples.index_of_entry(data)") + all_of_it,
               parts["entry"], good, any_of_them),
        Parser("checkpoint data", write.format(data, "data") + all_of_it, parts["data"], good,
               any_of_them),
        Parser("checkpoint data, unchecked", write.format(data, "data") + unchecked, parts["data"],
               good, any_of_them),
        Parser("map of objects", "saved_samples.write_objects(folder + '/c', data)\n" + restored,
               parts["objects"], objects, any_of_them),
        Parser("checkpoint state", write.format("checkpoint", "data") + state, parts["state"],
               good, any_of_them),
        Parser("saved_model.pb", write.format("saved_model.pb", "data") +
               "tf.saved_model.load(folder)", saved_samples.saved_models(),
               f"{setup}saved_samples.saved_model(folder)", any_of_them),
    ]  # fmt: skip


def chosen(rng: random.Random) -> Parser:
    """Any of the parsers."""
    return rng.choice(parsers())
