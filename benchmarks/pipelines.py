"""Input pipelines that feed training from files, beside tf.data: pictures, Examples, CSV, records.

Weft and TensorFlow read the same files in processes of their own, in turns: what a pipeline takes
for all of its files, and whether memory stays flat when it runs again and again.
WEFT_BENCHMARK_CSV_BYTES is the size of the table.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import numpy as np

import weft as tf
from benchmarks.harness import Peers, Row, in_turns

PICTURES, EXAMPLES, RECORDS = 1_000, 100_000, 50_000
CSV_BYTES = int(os.environ.get("WEFT_BENCHMARK_CSV_BYTES") or 100 << 20)
ROUNDS = 3

_IMPORT = {"weft": "import weft as tf", "tensorflow": "import tensorflow as tf"}

# The same text runs on both.
_PIPELINES = """
import glob
AUTOTUNE = tf.data.AUTOTUNE
pictures = sorted(glob.glob(folder + "/*.jpeg"))

def picture(path):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    image = tf.image.resize(tf.cast(image, tf.float32) / 255.0, [160, 160])
    image = tf.image.random_flip_left_right(tf.image.random_crop(image, [128, 128, 3]))
    return tf.image.random_brightness(image, 0.2)

features = {
    "x": tf.io.FixedLenFeature([16], tf.float32),
    "label": tf.io.FixedLenFeature([], tf.int64),
    "name": tf.io.FixedLenFeature([], tf.string),
}
examples = tf.data.TFRecordDataset(folder + "/examples.tfrecord")
records = tf.data.TFRecordDataset([folder + "/records0.tfrecord", folder + "/records1.tfrecord"])
pipelines = {
    "pictures": tf.data.Dataset.from_tensor_slices(pictures).shuffle(1000)
        .map(picture, num_parallel_calls=AUTOTUNE).batch(32).prefetch(AUTOTUNE),
    "examples": examples.batch(256)
        .map(lambda batch: tf.io.parse_example(batch, features), num_parallel_calls=AUTOTUNE)
        .prefetch(AUTOTUNE),
    "single examples": examples.take(20_000)
        .map(lambda one: tf.io.parse_single_example(one, features), num_parallel_calls=AUTOTUNE)
        .batch(256).prefetch(AUTOTUNE),
    "csv": tf.data.experimental.CsvDataset(folder + "/table.csv", [0.0] * 8 + [0], header=True)
        .batch(1024).prefetch(AUTOTUNE),
    "records": records.shuffle(10_000).batch(128)
        .map(lambda batch: tf.io.decode_raw(batch, tf.float32), num_parallel_calls=AUTOTUNE)
        .prefetch(AUTOTUNE),
}

def consume(name):
    for _ in pipelines[name]:
        pass
"""

_CASES = {
    "pictures": f"{PICTURES:,} JPEG files decoded, resized, cropped, flipped, batches of 32",
    "examples": f"{EXAMPLES:,} Examples parsed in batches of 256",
    "single examples": "20,000 Examples parsed one by one",
    "csv": f"CSV of {CSV_BYTES / 2**20:.0f} MB, 9 columns",
    "records": f"{RECORDS:,} records of 2 files, shuffled, batches of 128",
}


def run(peers: Peers) -> list[Row]:
    """A row for each pipeline."""
    here = Peers({"weft": sys.executable, **peers.interpreters})
    with tempfile.TemporaryDirectory() as folder:
        _write_files(Path(folder))
        return [_row(here, folder, name) for name in _CASES]


def _row(here: Peers, folder: str, name: str) -> Row:
    def setup(library: str) -> str:
        return f"{_IMPORT[library]}\nfolder = {folder!r}\n{_PIPELINES}"

    with (
        here.session("weft", setup("weft")) as mine,
        here.session("tensorflow", setup("tensorflow")) as theirs,
    ):
        sessions = {who: s for who, s in (("weft", mine), ("tensorflow", theirs)) if s is not None}
        for session in sessions.values():
            session.time(f"for _ in pipelines[{name!r}].take(3): pass", 1)
        statement = f"consume({name!r})"
        for session in sessions.values():
            session.time(statement, 1)
        before = {who: session.peak_memory() for who, session in sessions.items()}
        times = in_turns(
            {who: lambda s=session: s.time(statement, 1) for who, session in sessions.items()},
            ROUNDS,
        )
        grown = {who: s.peak_memory() - before[who] for who, s in sessions.items()}
    shown = ", ".join(
        f"{who} {took:.2f} s, peak {before[who]:.0f} MB, then +{grown[who]:.0f}"
        for who, took in times.items()
    )
    theirs_took = times.get("tensorflow")
    ratio = None if theirs_took is None else theirs_took / times["weft"]
    return Row(f"tf.data / {_CASES[name]}", ratio, ">= 1", shown)


def _write_files(folder: Path) -> None:
    rng = np.random.default_rng(0)
    smooth = rng.integers(0, 256, (16, 16, 16, 3))
    for i in range(PICTURES):
        coarse = np.roll(smooth[i % 16], i // 16, axis=0)
        pixels = tf.image.resize(coarse, [192 + i % 64, 256]).numpy().clip(0, 255).astype(np.uint8)
        tf.io.write_file(str(folder / f"{i:04}.jpeg"), tf.io.encode_jpeg(pixels))
    with tf.io.TFRecordWriter(str(folder / "examples.tfrecord")) as file:
        for i in range(EXAMPLES):
            file.write(_example(i, rng.normal(size=16).astype(np.float32)))
    for number in range(2):
        with tf.io.TFRecordWriter(str(folder / f"records{number}.tfrecord")) as file:
            for _ in range(RECORDS // 2):
                file.write(rng.normal(size=64).astype(np.float32).tobytes())
    lines = [
        ",".join([f"{x:.6f}" for x in row] + [str(i % 10)])
        for i, row in enumerate(rng.normal(size=(2_000, 8)))
    ]
    block = "\n".join(lines) + "\n"
    with open(folder / "table.csv", "w", encoding="ascii") as table:
        table.write("a,b,c,d,e,f,g,h,label\n")
        for _ in range(CSV_BYTES // len(block)):
            table.write(block)


def _example(number: int, values: np.ndarray) -> bytes:
    feature = {
        "x": tf.train.Feature(float_list=tf.train.FloatList(value=values)),
        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[number % 10])),
        "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"example %d" % number])),
    }
    example = tf.train.Example(features=tf.train.Features(feature=feature))
    return bytes(example.SerializeToString())
