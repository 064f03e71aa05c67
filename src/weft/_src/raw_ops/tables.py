"""Raw ops on lookup tables, by their handles."""

from __future__ import annotations

import threading
from typing import Any

import weft as tf
from weft._src.core.aliases import DTypeLike, ShapeLike, TensorLike
from weft._src.core.tensor import EagerTensor
from weft._src.graph.origins import outermost
from weft._src.lookup import ops
from weft._src.lookup.initializers import known_now
from weft._src.lookup.mutable import check_buckets
from weft._src.lookup.tables import DenseTable, MutableTable, StaticTable, Table, unique_name
from weft._src.lookup.text_files import initialize_from_file_op
from weft._src.ops.static import static_int
from weft._src.ops.strings.elements import text_argument

# Tables of the same shared name are the same table, for as long as the process runs.
_shared: dict[tuple[str, str], Table] = {}
_shared_lock = threading.Lock()


def _handle(table: Table, container: str, shared_name: str) -> tf.Tensor:
    if not shared_name:
        return EagerTensor(table)
    with _shared_lock:
        known = _shared.setdefault((container, shared_name), table)
    if _type(known) != _type(table):
        raise tf.errors.InvalidArgumentError(
            None,
            None,
            f"The table {shared_name!r} is {known!r} already, and cannot be {table!r} as well.",
        )
    return EagerTensor(known)


def _type(table: Table) -> tuple[Any, ...]:
    own = (table.key_dtype, table.value_dtype, table.key_shape, table.value_shape)
    return (type(table), *own)


def _known_shape(op: str, value_shape: ShapeLike) -> tuple[int, ...]:
    sizes = tf.TensorShape(value_shape)
    if not sizes.is_fully_defined():
        raise tf.errors.InvalidArgumentError(
            None, None, f"{op}: value_shape must be known, got {sizes}."
        )
    return tuple([int(n) for n in sizes.as_list() if n is not None])


def static_table(
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    container: str = "",
    shared_name: str = "",
    name: str | None = None,
) -> tf.Tensor:
    own = unique_name(name, "HashTable")
    table = StaticTable(own, tf.as_dtype(key_dtype), tf.as_dtype(value_dtype))
    return _handle(table, container, shared_name)


def mutable_table(
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    container: str = "",
    shared_name: str = "",
    value_shape: ShapeLike = (),
    name: str | None = None,
) -> tf.Tensor:
    own = unique_name(name, "MutableHashTable")
    shape = _known_shape(own, value_shape)
    table = MutableTable(own, tf.as_dtype(key_dtype), tf.as_dtype(value_dtype), (), shape)
    return _handle(table, container, shared_name)


def dense_table(
    empty_key: TensorLike,
    deleted_key: TensorLike,
    value_dtype: DTypeLike,
    container: str = "",
    shared_name: str = "",
    value_shape: ShapeLike = (),
    initial_num_buckets: int = 131072,
    max_load_factor: float = 0.8,
    name: str | None = None,
) -> tf.Tensor:
    own = unique_name(name, "MutableDenseHashTable")
    check_buckets(own, initial_num_buckets)
    if not 0 < max_load_factor < 1:
        raise tf.errors.InvalidArgumentError(
            None, None, f"{own}: max_load_factor must lie between 0 and 1, got {max_load_factor}."
        )
    empty = known_now(f"{own}: empty_key", empty_key)
    deleted = known_now(f"{own}: deleted_key", deleted_key, empty.dtype)
    shape = _known_shape(own, value_shape)
    table = DenseTable(
        own, tf.as_dtype(value_dtype), shape, empty._value, deleted._value, empty.dtype
    )
    return _handle(table, container, shared_name)


def _known(handle: tf.Tensor) -> Table | None:
    """The table, unless a function is traced that gets it as an argument."""
    origin = outermost(handle)
    return ops.table_of(origin._value) if isinstance(origin, EagerTensor) else None


def _keys(table: Table | None, keys: TensorLike) -> tf.Tensor:
    return tf.convert_to_tensor(keys, dtype_hint=None if table is None else table.key_dtype)


def _values(table: Table | None, values: TensorLike) -> tf.Tensor:
    return tf.convert_to_tensor(values, dtype_hint=None if table is None else table.value_dtype)


def _shapes(table: Table | None) -> dict[str, Any]:
    if table is None:
        return {"key_shape": None, "value_shape": None}
    return {"key_shape": table.key_shape, "value_shape": table.value_shape}


def find(
    table_handle: tf.Tensor, keys: TensorLike, default_value: TensorLike, name: str | None = None
) -> tf.Tensor:
    table = _known(table_handle)
    default = _values(table, default_value)
    return ops.find_op(table_handle, _keys(table, keys), default, name=name, **_shapes(table))


def insert(
    table_handle: tf.Tensor, keys: TensorLike, values: TensorLike, name: str | None = None
) -> None:
    _write(ops.insert_op, table_handle, keys, values, name)


def replace(
    table_handle: tf.Tensor, keys: TensorLike, values: TensorLike, name: str | None = None
) -> None:
    _write(ops.import_op, table_handle, keys, values, name)


def initialize(
    table_handle: tf.Tensor, keys: TensorLike, values: TensorLike, name: str | None = None
) -> None:
    _write(ops.initialize_op, table_handle, keys, values, name)


def _write(
    op: Any, handle: tf.Tensor, keys: TensorLike, values: TensorLike, name: str | None
) -> None:
    table = _known(handle)
    op(handle, _keys(table, keys), _values(table, values), name=name, **_shapes(table))


def remove(table_handle: tf.Tensor, keys: TensorLike, name: str | None = None) -> None:
    table = _known(table_handle)
    key_shape = None if table is None else table.key_shape
    ops.remove_op(table_handle, _keys(table, keys), key_shape=key_shape, name=name)


def export(
    table_handle: tf.Tensor, Tkeys: DTypeLike, Tvalues: DTypeLike, name: str | None = None
) -> Any:
    dtypes = {"key_dtype": tf.as_dtype(Tkeys), "value_dtype": tf.as_dtype(Tvalues)}
    return ops.export_op(table_handle, name=name, **dtypes, **_shapes(_known(table_handle)))


def size(table_handle: tf.Tensor, name: str | None = None) -> tf.Tensor:
    return ops.size_op(table_handle, name=name)


def initialize_from_file(
    table_handle: tf.Tensor,
    filename: TensorLike,
    key_index: int,
    value_index: int,
    vocab_size: int = -1,
    delimiter: str = "\t",
    offset: int = 0,
    name: str | None = None,
) -> None:
    op = "InitializeTableFromTextFileV2"
    initialize_from_file_op(
        table_handle,
        tf.convert_to_tensor(filename, tf.string),
        key_index=static_int(op, key_index, "key_index"),
        value_index=static_int(op, value_index, "value_index"),
        vocab_size=static_int(op, vocab_size, "vocab_size"),
        delimiter=text_argument(op, delimiter, "delimiter").encode(),
        offset=static_int(op, offset, "offset"),
        name=name,
    )
