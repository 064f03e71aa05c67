"""tf.raw_ops on lookup tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import weft as tf
from weft.errors import (
    DTypeError,
    FailedPreconditionError,
    InvalidArgumentError,
    ShapeError,
    UnimplementedError,
    UnsupportedError,
)

raw = tf.raw_ops

KINDS = ["HashTable", "MutableHashTable", "MutableHashTableOfTensors", "MutableDenseHashTable"]
NAMES = {
    *[f"Anonymous{kind}" for kind in KINDS],
    *[f"{kind}V2" for kind in KINDS],
    *[f"LookupTable{what}V2" for what in "Export Find Import Insert Remove Size".split()],
    *("InitializeTableV2", "InitializeTableFromTextFileV2"),
}


def i64(*values: Any) -> tf.Tensor:
    return tf.constant(values, tf.int64)


def found(handle: tf.Tensor, keys: list[str]) -> Any:
    return raw.LookupTableFindV2(table_handle=handle, keys=keys, default_value=-1).numpy().tolist()


def size(handle: tf.Tensor) -> int:
    return int(raw.LookupTableSizeV2(table_handle=handle))


@pytest.mark.parametrize("make", [raw.HashTableV2, raw.AnonymousHashTable])
def test_static_tables(make: Any) -> None:
    h = make(key_dtype=tf.string, value_dtype=tf.int64)
    assert (h.dtype, size(h)) == (tf.resource, 0)
    with pytest.raises(FailedPreconditionError, match="is used before it was initialised"):
        found(h, ["a"])
    with pytest.raises(FailedPreconditionError, match="is used before it was initialised"):
        raw.LookupTableExportV2(table_handle=h, Tkeys=tf.string, Tvalues=tf.int64)
    raw.InitializeTableV2(table_handle=h, keys=["a", "b"], values=i64(1, 2))
    assert found(h, ["b", "q"]) == [2, -1]
    raw.InitializeTableV2(table_handle=h, keys=["a", "b"], values=i64(1, 2))
    for op in (raw.InitializeTableV2, raw.LookupTableImportV2):
        with pytest.raises(FailedPreconditionError, match="before, with another content"):
            op(table_handle=h, keys=["c"], values=i64(1))
    with pytest.raises(UnimplementedError, match="cannot insert keys: its content is fixed"):
        raw.LookupTableInsertV2(table_handle=h, keys=["c"], values=i64(1))
    with pytest.raises(UnimplementedError, match="cannot remove keys"):
        raw.LookupTableRemoveV2(table_handle=h, keys=["c"])


@pytest.mark.parametrize("make", [raw.MutableHashTableV2, raw.AnonymousMutableHashTable])
@pytest.mark.parametrize("traced", [False, True])
def test_mutable_tables(make: Any, traced: bool) -> None:
    h = make(key_dtype=tf.string, value_dtype=tf.int64)

    def steps(handle: tf.Tensor) -> Any:
        raw.LookupTableInsertV2(table_handle=handle, keys=["c", "e"], values=i64(1, 2))
        first = raw.LookupTableFindV2(
            table_handle=handle, keys=["e", "q"], default_value=tf.constant(-1, tf.int64)
        )
        raw.LookupTableImportV2(table_handle=handle, keys=["x", "y"], values=i64(7, 8))
        raw.LookupTableRemoveV2(table_handle=handle, keys=["y"])
        exported = raw.LookupTableExportV2(table_handle=handle, Tkeys=tf.string, Tvalues=tf.int64)
        return first, *exported, raw.LookupTableSizeV2(table_handle=handle)

    out = (tf.function(steps) if traced else steps)(h)
    assert [x.numpy().tolist() for x in out] == [[2, -1], [b"x"], [7], 1]
    with pytest.raises(InvalidArgumentError, match="is not to be initialised: insert keys"):
        raw.InitializeTableV2(table_handle=h, keys=["x"], values=i64(7))


@pytest.mark.parametrize("anonymous", [False, True])
def test_vectors_and_dense_tables(anonymous: bool) -> None:
    of_tensors = (
        "AnonymousMutableHashTableOfTensors" if anonymous else "MutableHashTableOfTensorsV2"
    )
    h = getattr(raw, of_tensors)(key_dtype=tf.string, value_dtype=tf.int64, value_shape=[2])
    raw.LookupTableInsertV2(table_handle=h, keys=["c"], values=[[1, 2]])
    out = raw.LookupTableFindV2(table_handle=h, keys=["c", "q"], default_value=[-1, -2])
    assert out.numpy().tolist() == [[1, 2], [-1, -2]]
    with pytest.raises(ShapeError, match=r"must have shape \(2,\), .* got \(\)"):
        raw.LookupTableFindV2(table_handle=h, keys=["c"], default_value=-1)
    dense = raw.AnonymousMutableDenseHashTable if anonymous else raw.MutableDenseHashTableV2
    d = dense(empty_key="", deleted_key="$", value_dtype=tf.int64)
    raw.LookupTableInsertV2(table_handle=d, keys=["c"], values=[5])
    assert (found(d, ["c", "q"]), size(d)) == ([5, -1], 1)
    with pytest.raises(InvalidArgumentError, match="max_load_factor must lie between 0 and 1"):
        dense(empty_key="", deleted_key="$", value_dtype=tf.int64, max_load_factor=1.5)
    with pytest.raises(InvalidArgumentError, match=r"value_shape must be known, got \(None,\)"):
        dense(empty_key="", deleted_key="$", value_dtype=tf.int64, value_shape=[None])


def test_buckets_that_tensorflow_exports() -> None:
    d = raw.MutableDenseHashTableV2(empty_key="", deleted_key="$", value_dtype=tf.int64)
    raw.LookupTableInsertV2(table_handle=d, keys=["old"], values=[1])
    raw.LookupTableImportV2(table_handle=d, keys=["", "c", "$", ""], values=[7, 5, 8, 9])
    assert (found(d, ["c", "old"]), size(d)) == ([5, -1], 1)
    with pytest.raises(InvalidArgumentError, match="the empty_key, b'', must not be among the"):
        raw.LookupTableInsertV2(table_handle=d, keys=[""], values=[1])


def test_shared_names() -> None:
    def make(dtype: Any) -> tf.Tensor:
        return raw.MutableHashTableV2(key_dtype=dtype, value_dtype=tf.int64, shared_name="shared")

    raw.LookupTableInsertV2(table_handle=make(tf.string), keys=["c"], values=i64(1))
    assert size(make(tf.string)) == 1
    with pytest.raises(InvalidArgumentError, match="The table 'shared' is .* already, and cannot"):
        make(tf.int64)
    with pytest.raises(UnsupportedError, match="use_node_name_sharing must be False"):
        raw.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64, use_node_name_sharing=True)


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "words"
    path.write_text("a\nb\n")
    initialize = raw.InitializeTableFromTextFileV2
    h = raw.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64)
    for _ in range(2):
        initialize(table_handle=h, filename=str(path), key_index=-2, value_index=-1, offset=5)
    assert found(h, ["a", "b"]) == [5, 6]
    numbers = raw.HashTableV2(key_dtype=tf.string, value_dtype=tf.int32)
    with pytest.raises(InvalidArgumentError, match="line numbers are int64, not int32"):
        initialize(table_handle=numbers, filename=str(path), key_index=-2, value_index=-1)


def test_other_handles_and_dtypes() -> None:
    with pytest.raises(InvalidArgumentError, match="handle of a table is expected, got <Variable"):
        size(tf.Variable(1).handle)
    h = raw.MutableHashTableV2(key_dtype=tf.string, value_dtype=tf.int64)
    with pytest.raises(DTypeError, match="keys must be string like those of the table, got int64"):
        raw.LookupTableFindV2(table_handle=h, keys=i64(1), default_value=i64(1)[0])
    with pytest.raises(DTypeError, match="default_value must be int64 .* got int32"):
        raw.LookupTableFindV2(table_handle=h, keys=["a"], default_value=tf.constant(1))
    with pytest.raises(InvalidArgumentError, match="from string to int64, not from int64 to int64"):
        raw.LookupTableExportV2(table_handle=h, Tkeys=tf.int64, Tvalues=tf.int64)
