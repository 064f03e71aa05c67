"""Databases, parsed files, records and tables of datasets, and rejection resampling."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.data.sources import csv_files

E = tf.data.experimental
INVALID = tf.errors.InvalidArgumentError


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "a b?.db"
    with contextlib.closing(sqlite3.connect(path)) as base, base:
        base.execute("create table t (name text, age integer, size real, fine integer)")
        rows = [("ann", 31, 1.5, 1), ("bob", None, 2.5, 0), ("äö", 7, 3.0, 1)]
        base.executemany("insert into t values (?, ?, ?, ?)", rows)
    return path


def test_rows_of_a_database(database: Path) -> None:
    kinds = (tf.string, tf.int32, tf.float64, tf.bool)
    rows = E.SqlDataset("sqlite", database, "select * from t", kinds)
    assert rows.element_spec == tuple(tf.TensorSpec([], kind) for kind in kinds)
    for _ in range(2):
        found = [tuple(x.numpy() for x in row) for row in rows]
        assert found == [
            (b"ann", 31, 1.5, True),
            (b"bob", 0, 2.5, False),
            ("äö".encode(), 7, 3.0, True),
        ]


def test_queries_that_fail(database: Path) -> None:
    for query, kinds, text in (
        ("select * from u", (tf.string,), "no such table"),
        ("select name, age from t", (tf.string,), "2 columns, output_types are 1"),
        ("select name from t", (tf.int32,), "column 0 of row 0 holds 'ann', expected int32"),
        ("delete from t", (tf.string,), "readonly"),
    ):
        with pytest.raises(INVALID, match=text):
            list(E.SqlDataset("sqlite", database, query, kinds))
    with pytest.raises(INVALID, match="unable to open"):
        list(E.SqlDataset("sqlite", database.parent / "none.db", "select 1", (tf.int32,)))
    with pytest.raises(tf.errors.UnsupportedError, match="must be 'sqlite'"):
        E.SqlDataset("mysql", database, "select 1", (tf.int32,))
    with pytest.raises(tf.errors.DTypeError, match="numbers or string"):
        E.SqlDataset("sqlite", database, "select 1", (tf.complex64,))


def example(x: int, y: float) -> bytes:
    numbers = tf.train.Feature(int64_list=tf.train.Int64List(value=[x]))
    label = tf.train.Feature(float_list=tf.train.FloatList(value=[y]))
    features = tf.train.Features(feature={"x": numbers, "y": label})
    return tf.train.Example(features=features).SerializeToString()


FEATURES = {"x": tf.io.FixedLenFeature([], tf.int64), "y": tf.io.FixedLenFeature([], tf.float32)}


@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_records_and_batches(tmp_path: Path, compression: Any) -> None:
    for k in range(2):
        rows = tf.data.Dataset.from_tensor_slices([example(3 * k + i, i / 2) for i in range(3)])
        E.TFRecordWriter(tmp_path / f"{k}.tfrecord", compression).write(rows)
    batches = E.make_batched_features_dataset(
        str(tmp_path / "*.tfrecord"), 4, FEATURES, label_key="y", num_epochs=1, shuffle=False,
        reader_args=[compression or ""],
    )  # fmt: skip
    found = [(features["x"].numpy().tolist(), y.numpy().tolist()) for features, y in batches]
    assert found == [([0, 1, 2, 3], [0.0, 0.5, 1.0, 0.0]), ([4, 5], [0.5, 1.0])]
    mixed = E.make_batched_features_dataset(
        str(tmp_path / "*.tfrecord"), 6, FEATURES, num_epochs=2, shuffle_seed=1,
        reader_args=[compression or ""], drop_final_batch=True,
    )  # fmt: skip
    orders = [batch["x"].numpy().tolist() for batch in mixed]
    assert [sorted(order) for order in orders] == [list(range(6))] * 2
    endless = E.make_batched_features_dataset(
        str(tmp_path / "*.tfrecord"), 4, FEATURES, reader_args=[compression or ""]
    )
    assert [len(batch["x"]) for batch in endless.take(5)] == [4] * 5


def test_records_and_batches_that_do_not_fit(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="must hold string scalars"):
        E.TFRecordWriter(tmp_path / "a").write(tf.data.Dataset.range(3))
    with pytest.raises(TypeError, match=r"must be a tf\.data\.Dataset"):
        E.TFRecordWriter(tmp_path / "a").write([b"a"])
    with pytest.raises(ValueError, match="label_key must be one of"):
        E.make_batched_features_dataset("x", 1, FEATURES, label_key="z")
    with pytest.raises(tf.errors.OpError, match="make_batched_features_dataset"):
        E.make_batched_features_dataset(str(tmp_path / "none*"), 1, FEATURES)


def test_tables_of_datasets() -> None:
    words = tf.data.Dataset.from_tensor_slices(["a", "b", "c"])
    asked = tf.constant(["c", "b", "z"])
    assert E.index_table_from_dataset(words).lookup(asked).numpy().tolist() == [2, 1, -1]
    few = E.index_table_from_dataset(words, vocab_size=2, default_value=9)
    assert few.lookup(asked).numpy().tolist() == [9, 1, 9]
    buckets = E.index_table_from_dataset(words, num_oov_buckets=1)
    assert buckets.lookup(asked).numpy().tolist() == [2, 1, 3]
    numbers = tf.data.Dataset.from_tensor_slices(([5, 6], [0.5, 1.5]))
    table = E.table_from_dataset(numbers, default_value=-1.0, key_dtype=tf.int32)
    assert table.lookup(tf.constant([6, 7])).numpy().tolist() == [1.5, -1.0]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda d: E.index_table_from_dataset(d, key_dtype=tf.int64), TypeError, "keys of int64"),
        (lambda d: E.index_table_from_dataset(d, num_oov_buckets=-1), ValueError, "negative"),
        (lambda d: E.index_table_from_dataset(d, vocab_size=0), ValueError, "positive"),
        (lambda d: E.index_table_from_dataset(d, key_dtype=tf.float32), TypeError, "key_dtype"),
        (lambda d: E.table_from_dataset(d, default_value=0), TypeError, "pairs of a key"),
        (lambda d: E.table_from_dataset(tf.data.Dataset.zip(d, d)), ValueError, "default_value"),
        (lambda d: E.index_table_from_dataset(), TypeError, "must be a tf.data.Dataset"),
    ],
)
def test_tables_that_do_not_fit(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        call(tf.data.Dataset.from_tensor_slices(["a", "b"]))


@pytest.mark.parametrize("initial", [None, [0.8, 0.1, 0.1]])
def test_rejection_resampling(initial: Any) -> None:
    tf.random.set_seed(1)
    kinds = np.random.default_rng(0).choice(3, 6000, p=[0.8, 0.1, 0.1]).astype(np.int32)
    data = tf.data.Dataset.from_tensor_slices((kinds, np.arange(6000)))
    resample = E.rejection_resample(lambda kind, _: kind, [0.25, 0.5, 0.25], initial, seed=2)
    out = [(int(kind), int(of), int(i)) for kind, (of, i) in data.apply(resample)]
    assert all(kind == of == kinds[i] for kind, of, i in out)
    share = np.bincount([kind for kind, _, _ in out], minlength=3) / len(out)
    np.testing.assert_allclose(share, [0.25, 0.5, 0.25], atol=0.05)
    assert 900 < len(out) < 1500  # all of the class that is rarest for its share


def test_distributions_that_do_not_fit() -> None:
    for target, initial, text in (
        ([0.5, 0.5], [1.0], "one length"),
        (0.5, None, "must be a vector"),
        (tf.constant([1, 2]), None, "floating numbers"),
    ):
        with pytest.raises(INVALID, match=text):
            E.rejection_resample(lambda x: x, target, initial)


def _csv(folder: Path, text: str) -> str:
    path = folder / "a.csv"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, "2 fields are expected, there are 3"),
        ({"exclude_cols": [5]}, "2 fields are expected, there are 3"),
        ({"buffer_size": 0}, "buffer_size must be positive, got 0"),
        ({"exclude_cols": [-1]}, "exclude_cols must be numbers from 0 on"),
        ({"exclude_cols": [0, 0]}, "exclude_cols must be numbers from 0 on"),
        ({"select_cols": [1], "exclude_cols": [0]}, "not both"),
        ({"select_cols": [1]}, "select_cols has 1 columns"),
    ],
)
def test_csv_columns_that_do_not_fit(tmp_path: Path, options: Any, match: str) -> None:
    path = _csv(tmp_path, "1,2,3\n")
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        list(tf.data.experimental.CsvDataset(path, [tf.int32, tf.int32], **options))


def test_csv_columns_that_fit(tmp_path: Path) -> None:
    path = _csv(tmp_path, "1,2,3\n")
    for options in ({"exclude_cols": [0]}, {"select_cols": [1, 2]}):
        made = tf.data.experimental.CsvDataset(path, [tf.int32, tf.int32], **options)
        assert [[int(x) for x in row] for row in made] == [[2, 3]]


def _long_csv(folder: Path, end: str, quoted: bool) -> str:
    """More than a piece that is read at once; with odd fields, and a part that has quotes."""
    rng = np.random.default_rng(4)
    lines = [f"{x:.7f},{k},word{i}" for i, (x, k) in enumerate(zip(rng.normal(size=30_000),
             rng.integers(-(2**40), 2**40, 30_000), strict=True))]  # fmt: skip
    lines[7], lines[9_000], lines[20_001] = "1e-3,,", ",12,nan", " 2.5 ,-0,x y"
    if quoted:
        lines[15_000] = '0.5,1,"a ""b"", c"'
    return _csv(folder, "x,k,word" + end + end.join(lines) + end)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("quoted", [False, True])
def test_a_long_csv_file_is_read_in_blocks_as_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str, quoted: bool
) -> None:
    path = _long_csv(tmp_path, end, quoted)
    dataset = tf.data.experimental.CsvDataset(path, [0.5, np.int64(3), "none"], header=True)

    def columns(batches: Any) -> list[Any]:
        parts = [list(column) for column in zip(*batches, strict=True)]
        return [np.concatenate([p.numpy() for p in column]).tolist() for column in parts]

    monkeypatch.setattr(csv_files.packed, "pays", lambda count: False)
    expected = columns(dataset.batch(1_000))
    assert len(expected[0]) == 30_000
    monkeypatch.setattr(csv_files.packed, "pays", lambda count: True)
    assert columns(dataset.batch(777)) == expected
    single = list(dataset.skip(14_990).take(20).as_numpy_iterator())
    assert single == [tuple(row) for row in zip(*[c[14_990:15_010] for c in expected], strict=True)]
    chosen = tf.data.experimental.CsvDataset(path, [""], header=True, select_cols=[2])
    assert columns(chosen.batch(4_000))[0] == [b"" if x == b"none" else x for x in expected[2]]


def test_an_error_in_a_long_csv_file_names_its_record(tmp_path: Path) -> None:
    path = _csv(tmp_path, "1,2\n" * 40_000 + "1\n" + "1,2\n" * 40_000)
    iterator = iter(tf.data.experimental.CsvDataset(path, [tf.int32, tf.int32]))
    for _ in range(40_000):
        next(iterator)
    with pytest.raises(tf.errors.InvalidArgumentError, match="record 40000: CSV: 2 fields are exp"):
        next(iterator)
    assert [x.numpy() for x in next(iterator)] == [1, 2]


def test_a_place_in_a_long_csv_file_can_be_kept(tmp_path: Path) -> None:
    path = _long_csv(tmp_path, "\r\n", quoted=False)
    columns = [0.0, np.int64(0), ""]
    iterator = iter(tf.data.experimental.CsvDataset(path, columns, header=True))
    for _ in range(12_345):
        next(iterator)
    saved = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "at"))
    expected = [[x.numpy() for x in row] for row in iterator]
    tf.train.Checkpoint(iterator=iterator).read(saved)
    assert [[x.numpy() for x in row] for row in iterator] == expected
    assert len(expected) == 30_000 - 12_345


def test_a_csv_file_without_the_header_it_should_have(tmp_path: Path) -> None:
    made = tf.data.experimental.CsvDataset(_csv(tmp_path, ""), [tf.int32], header=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="is empty, and has no header"):
        list(made)


def test_lines_with_other_numbers_of_fields_than_names(tmp_path: Path) -> None:
    path = _csv(tmp_path, "1,2,3\n")
    with pytest.raises(ValueError, match="has 2 columns, but 3 fields in line"):
        tf.data.experimental.make_csv_dataset(path, 1, column_names=["a", "b"], header=False)
