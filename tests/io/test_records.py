"""TFRecord files: what is written, what is read, and that nothing wrong goes unseen."""

from __future__ import annotations

import itertools
import random
import sys
from bisect import bisect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.fileio import crc32c as checksums
from weft._src.fileio.records import RecordReader, framed as framed_record

RECORDS = [b"", b"abc", b"x" * 300, bytes(range(256))]


def write(path: Path, records: Any = RECORDS, options: Any = None) -> bytes:
    with tf.io.TFRecordWriter(path, options) as file:
        for record in records:
            file.write(record)
    return path.read_bytes()


def read(path: Path, **options: Any) -> list[bytes]:
    return list(tf.data.TFRecordDataset(str(path), **options).as_numpy_iterator())


def test_checksums_agree() -> None:
    rng = random.Random(1)
    compiled = checksums._Machine(checksums._compiled()).extend
    for n in [*range(40), 1000, 4097]:
        data = rng.randbytes(n)
        assert compiled(0, data) == checksums._extend_slowly(0, data)
        assert compiled(compiled(0, data[:7]), data[7:]) == compiled(0, data)


def test_checksums_without_the_instruction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checksums.platform, "machine", lambda: "another")
    compiled = checksums._Machine(checksums._compiled()).extend
    assert compiled(0, b"123456789") == 0xE3069283


def test_checksums_without_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    monkeypatch.setattr(checksums, "_machine", checksums._machine.__wrapped__)
    chooser = checksums._Chooser()
    chooser.extend = chooser._count
    data = bytes(range(256)) * 300
    assert chooser.extend(0, data) == checksums._extend_slowly(0, data)


def test_records_are_found_until_one_is_wrong() -> None:
    """Many at once: those before a cut, a wrong byte or a hostile length, and nothing else."""
    rng = random.Random(2)
    records = [rng.randbytes(n) for n in (0, 1, 7, 300, 16, 0, 5000, 3)]
    framed = [framed_record(record) for record in records]
    data, ends = b"".join(framed), list(itertools.accumulate(map(len, framed)))
    assert checksums.whole_records(data, 0) == records
    assert checksums.whole_records(b"before" + data, 6) == records
    assert checksums.whole_records(data, ends[2]) == records[3:]
    for cut in [*range(40), ends[3] - 1, ends[6] + 15, len(data) - 1]:
        assert checksums.whole_records(data[:cut], 0) == records[: bisect(ends, cut)]
    for number, end in enumerate(ends):
        for place in {end - len(framed[number]), end - 1, end - len(framed[number]) + 9}:
            wrong = bytearray(data)
            wrong[place] ^= 0x10
            assert checksums.whole_records(bytes(wrong), 0) == records[:number]
    for size in (2**63 - 1, 2**63, 2**64 - 1, 2**64 - 16, len(data)):
        length = size.to_bytes(8, "little")
        hostile = length + checksums.masked_crc32c(length).to_bytes(4, "little") + data
        assert checksums.whole_records(hostile, 0) == []


def test_a_long_file_is_read_ahead_and_errors_are_told_at_their_place(tmp_path: Path) -> None:
    rng = random.Random(3)
    records = [rng.randbytes(rng.randrange(600)) for _ in range(2000)]
    data = write(tmp_path / "a", records)
    assert read(tmp_path / "a") == records
    batches = tf.data.TFRecordDataset(str(tmp_path / "a")).batch(300)
    assert [r for batch in batches for r in batch.numpy().tolist()] == records
    place = sum(len(record) + 16 for record in records[:1900])
    (tmp_path / "a").write_bytes(data[: place + 12] + b"\0" + data[place + 13 :])
    found = iter(tf.data.TFRecordDataset(str(tmp_path / "a")))
    for record in records[:1900]:
        assert next(found).numpy() == record
    with pytest.raises(tf.errors.DataLossError, match=f"record at offset {place} is corrupt"):
        next(found)


def test_a_place_in_a_file_that_is_read_ahead_can_be_kept(tmp_path: Path) -> None:
    records = [b"%d" % i * 20 for i in range(20_000)]
    write(tmp_path / "a", records)
    iterator = iter(tf.data.TFRecordDataset(str(tmp_path / "a")))
    for record in records[:15_000]:
        assert next(iterator).numpy() == record
    saved = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "at"))
    assert next(iterator).numpy() == records[15_000]
    tf.train.Checkpoint(iterator=iterator).read(saved)
    assert [x.numpy() for x in iterator] == records[15_000:]


def test_bytes_are_those_of_tensorflow(tmp_path: Path) -> None:
    assert write(tmp_path / "a", [b"abc", "d" * 5]) == (
        b"\x03\x00\x00\x00\x00\x00\x00\x00\xb0\x99I\x0eabcnW\xf1!"
        b"\x05\x00\x00\x00\x00\x00\x00\x00\xea\xb2\x04>ddddd\x8d\xa8\xa9\x87"
    )


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_round_trip(tmp_path: Path, compression: str) -> None:
    options = tf.io.TFRecordOptions(compression_type=compression)
    write(tmp_path / "a", options=options)
    assert read(tmp_path / "a", compression_type=compression) == RECORDS
    several = [str(tmp_path / "a")] * 2
    dataset = tf.data.TFRecordDataset(several, compression_type=compression)
    assert list(dataset.as_numpy_iterator()) == RECORDS * 2


def test_every_flipped_bit_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "a"
    whole = write(path, [b"first", b"second record"])
    for bit in range(8 * len(whole)):
        broken = bytearray(whole)
        broken[bit // 8] ^= 1 << bit % 8
        path.write_bytes(broken)
        with pytest.raises(tf.errors.DataLossError, match=r"offset (0|21)") as caught:
            read(path)
        assert str(path) in str(caught.value)


def test_every_cut_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "a"
    whole = write(path, [b"first", b"second record"])
    for n in range(1, len(whole)):
        if n == 21:  # a whole record
            continue
        path.write_bytes(whole[:n])
        with pytest.raises(tf.errors.DataLossError, match="cut short"):
            read(path)


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_compressed_files_that_are_cut_or_corrupt(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "a"
    records = [random.Random(2).randbytes(500)]
    whole = write(path, records, compression)
    seen = 0
    for n in (5, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:n])
        with pytest.raises(tf.errors.DataLossError, match="cut short"):
            read(path, compression_type=compression)
    start = 10 if compression == "GZIP" else 0  # a gzip header holds a time stamp and the like
    for i in range(start, len(whole)):
        broken = bytearray(whole)
        broken[i] ^= 0x10
        path.write_bytes(broken)
        try:
            # A few bits of compressed data mean nothing: then what is read is right.
            assert read(path, compression_type=compression) == records
        except tf.errors.DataLossError:
            seen += 1
    assert seen > 0.99 * (len(whole) - start)


def test_elements_before_a_broken_record_arrive(tmp_path: Path) -> None:
    path = tmp_path / "a"
    whole = bytearray(write(path, [b"one", b"two", b"three"]))
    whole[-6] ^= 1
    path.write_bytes(whole)
    iterator = iter(tf.data.TFRecordDataset(str(path)))
    assert [next(iterator).numpy(), next(iterator).numpy()] == [b"one", b"two"]
    with pytest.raises(tf.errors.DataLossError, match="offset 38"):
        next(iterator)
    assert list(tf.data.TFRecordDataset([str(path)] * 2).ignore_errors().as_numpy_iterator()) == [
        b"one", b"two", b"one", b"two",
    ]  # fmt: skip


def test_a_huge_length_does_not_take_memory(tmp_path: Path) -> None:
    length = (1 << 60).to_bytes(8, "little")
    crc = checksums.masked_crc32c(length).to_bytes(4, "little")
    (tmp_path / "a").write_bytes(length + crc + b"abc")
    with pytest.raises(tf.errors.DataLossError, match="cut short"):
        read(tmp_path / "a")


def test_missing_files_and_wrong_arguments(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.NotFoundError, match="nothing"):
        read(tmp_path / "nothing")
    with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
        tf.io.TFRecordWriter(tmp_path / "nowhere" / "a")
    with pytest.raises(tf.errors.InvalidArgumentError, match="compression_type"):
        tf.data.TFRecordDataset("a", compression_type="ZIP")
    with pytest.raises(TypeError, match="filenames must be"):
        tf.data.TFRecordDataset(3)
    with tf.io.TFRecordWriter(tmp_path / "a") as file, pytest.raises(TypeError, match="bytes"):
        file.write(3)


def test_flushed_records_can_be_read(tmp_path: Path) -> None:
    writer = tf.io.TFRecordWriter(tmp_path / "a")
    writer.write(b"abc")
    writer.flush()
    assert read(tmp_path / "a") == [b"abc"]
    writer.close()
    writer.close()


def test_a_reader_goes_on_from_a_position(tmp_path: Path) -> None:
    write(tmp_path / "a")
    reader = RecordReader(str(tmp_path / "a"))
    assert reader.read() == b""
    assert reader.read() == b"abc"
    again = RecordReader(str(tmp_path / "a"), position=reader.position)
    assert list(again) == RECORDS[2:]


def test_positions_in_files(tmp_path: Path) -> None:
    write(tmp_path / "a")
    for compression in ("", "GZIP"):
        write(tmp_path / "a", options=compression)
        dataset = tf.data.TFRecordDataset([str(tmp_path / "a")] * 2, compression_type=compression)
        iterator = iter(dataset)
        for _ in range(5):
            next(iterator)
        position = iterator.save_position()
        rest = [x.numpy() for x in iterator]
        assert rest == RECORDS[1:]
        iterator.restore_position(position)
        assert [x.numpy() for x in iterator] == rest


def test_readers_of_text_and_pieces(tmp_path: Path) -> None:
    path = str(tmp_path / "a")
    (tmp_path / "a").write_bytes(b"one\r\ntwo\n\nthree")
    lines = [b"one", b"two", b"", b"three"]
    assert list(tf.data.TextLineDataset(path).as_numpy_iterator()) == lines
    names = tf.data.Dataset.from_tensor_slices([path, path])
    assert list(tf.data.TextLineDataset(names).as_numpy_iterator()) == lines * 2
    turns = tf.data.TextLineDataset([path, path], num_parallel_reads=2)
    assert list(turns.as_numpy_iterator()) == [x for line in lines for x in (line, line)]
    pieces = tf.data.FixedLengthRecordDataset(path, 3, header_bytes=1, footer_bytes=2)
    assert list(pieces.as_numpy_iterator()) == [b"ne\r", b"\ntw", b"o\n\n", b"thr"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="no multiple of record_bytes 4"):
        list(tf.data.FixedLengthRecordDataset(path, 4))
    with pytest.raises(tf.errors.NotFoundError, match="nothing"):
        list(tf.data.TextLineDataset(str(tmp_path / "nothing")))
    with pytest.raises(tf.errors.InvalidArgumentError, match="no file matches"):
        tf.data.Dataset.list_files(str(tmp_path / "*.txt"))


# --- elements in files ---------------------------------------------------------------------------


def test_cache_in_a_file(tmp_path: Path) -> None:
    calls: list[int] = []
    path = str(tmp_path / "cache")

    def make() -> Any:
        counted = tf.data.Dataset.range(3).map(
            lambda x: (tf.py_function(lambda y: calls.append(1) or y, [x], tf.int64), "a")
        )
        return counted.cache(path)

    next(iter(make()))  # not complete: nothing is kept
    assert len(calls) == 1
    expected = [(0, b"a"), (1, b"a"), (2, b"a")]
    for _ in range(3):
        assert list(make().as_numpy_iterator()) == expected
    assert len(calls) == 4
    assert [p.name for p in tmp_path.iterdir()] == ["cache.weft_cache"]


def test_save_and_load(tmp_path: Path) -> None:
    dataset = tf.data.Dataset.range(6).map(lambda x: {"n": x, "t": (tf.as_string(x), [[1.5]])})
    for compression in (None, "GZIP"):
        folder = str(tmp_path / f"{compression}")
        dataset.save(folder, compression=compression, shard_func=lambda x: x["n"] % 2)
        loaded = tf.data.Dataset.load(folder)
        assert loaded.element_spec == dataset.element_spec
        assert len(loaded) == 6
        assert [int(x["n"]) for x in loaded] == [0, 2, 4, 1, 3, 5]
        turns = tf.data.Dataset.load(
            folder, reader_func=lambda shards: shards.interleave(lambda d: d, cycle_length=2)
        )
        assert [x["t"][0].numpy() for x in turns] == [b"0", b"1", b"2", b"3", b"4", b"5"]
    with pytest.raises(tf.errors.NotFoundError, match="no saved dataset"):
        tf.data.Dataset.load(str(tmp_path / "nothing"))
    with pytest.raises(ValueError, match="element_spec"):
        tf.data.Dataset.load(folder, element_spec=tf.TensorSpec([], tf.int64))


@pytest.mark.parametrize("compression", ["GZIP", "AUTO", None])
def test_snapshots_are_compressed(tmp_path: Path, compression: str | None) -> None:
    numbers = tf.data.Dataset.from_tensors(tf.zeros([5000])).repeat(3)
    path = str(tmp_path / "folder")
    kept = numbers.snapshot(path, compression=compression)
    first = list(kept.as_numpy_iterator())
    (file,) = (tmp_path / "folder").iterdir()
    assert (file.read_bytes()[:2] == b"\x1f\x8b") == (compression == "GZIP")
    assert (file.stat().st_size < 5000) == (compression == "GZIP")
    # It is read again, whatever the dataset would give now, and however it is compressed.
    other = tf.data.Dataset.from_tensors(tf.ones([5000]))
    for again in (kept, other.snapshot(path), other.snapshot(path, compression="GZIP")):
        np.testing.assert_array_equal(list(again.as_numpy_iterator()), first)
    assert list((tmp_path / "folder").iterdir()) == [file]


def test_a_save_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    folder = str(tmp_path)
    tf.data.Dataset.range(2).save(folder)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.data.Dataset.range(5).map(lambda x: 10 // (x - 3)).save(folder)
    assert [int(x) for x in tf.data.Dataset.load(folder)] == [0, 1]
    names = [p.name for p in tmp_path.iterdir() if not p.name.isdigit()]
    assert sorted(names) == ["dataset_spec.pb", "snapshot.metadata"]
    assert len(list(tmp_path.iterdir())) == 3
