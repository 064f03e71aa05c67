"""The ops on tables. Looking keys up reads a table, inserting and removing write it."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.dtypes import RESOURCE, STRING, DType, int64
from weft._src.core.shapes import Dim, Dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array
from weft._src.core.xp import as_strings
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.lookup import graph_forms
from weft._src.lookup.tables import KEYS, VALUES, Table
from weft._src.ops import batching, rules
from weft._src.ops.contexts import RowBatch, RowNode
from weft._src.ops.registry import NO_NATIVE, NO_XLA, NOT_DIFFERENTIABLE, args, define_op, each
from weft._src.ops.strings.packed import fingerprints

_HANDLE = args("table_handle", RESOURCE)


def table_of(value: Any) -> Table:
    """The table behind a handle."""
    if not isinstance(value, Table):
        raise InvalidArgumentError(None, None, f"The handle of a table is expected, got {value!r}.")
    return value


def _array(x: Any) -> Array:
    """An array; a scalar may arrive as a number or as a bare bytes object."""
    if isinstance(x, np.ndarray):
        return x
    return np.array(x, object) if isinstance(x, bytes) else np.asarray(x)


# --- reading -------------------------------------------------------------------------------------


def _batch_dims(keys: TensorSpec, key_shape: Dims | None) -> Dims | None:
    """The shape of keys, without that of one key."""
    if keys.dims is None or key_shape is None:
        return None
    count = len(keys.dims) - len(key_shape)
    if count < 0:
        raise ShapeError(f"lookup: keys of a vector each need an axis for it, got {keys.shape}.")
    rules.merge_dims("lookup", keys.dims[count:], key_shape, "keys and one key")
    return keys.dims[:count]


def _find_infer(
    table: TensorSpec,
    keys: TensorSpec,
    default: TensorSpec,
    *,
    key_shape: Dims | None,
    value_shape: Dims | None,
) -> TensorSpec:
    batch = _batch_dims(keys, key_shape)
    known = batch is not None and value_shape is not None
    return TensorSpec.of(default.dtype, (*batch, *value_shape) if known else None)  # type: ignore[misc]


def _find_kernel(
    xp: ArrayNamespace, table: Any, keys: Any, default: Any, **shapes: Dims | None
) -> Array:
    return table_of(table).find(_array(keys), _array(default))


def _find_rows(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Keys with rows, and one default value for all of them."""
    value_shape = node.attrs["value_shape"]
    if stacked[2] or value_shape is None or node.inputs[2].spec.rank != len(value_shape):
        raise batching.NotBatched
    return node.op(*inputs, **node.attrs)


find_op = define_op(
    "LookupTableFindV2",
    _HANDLE + each("keys", KEYS) + each("default_value", VALUES),
    infer=_find_infer,
    kernel=_find_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    batch=_find_rows,
    graphdef=graph_forms.plain,
    reads=(0,),
    fresh=True,
    trusts_kernel=True,
)


def _vocabulary_kernel(xp: ArrayNamespace, table: Any, keys: Any, *, num_oov_buckets: int) -> Array:
    known, keys = table_of(table), _array(keys)
    flat = keys.reshape(-1)
    found, missing = known.content.find(flat, _NO_ID, tell=True)
    if missing.size:
        strings = flat[missing]
        if keys.dtype != object:
            digits = [b"%d" % number for number in strings.tolist()]
            strings = as_strings(digits, missing.shape)
        buckets = fingerprints(strings) % np.uint64(num_oov_buckets)
        found[missing] = buckets.astype(np.int64) + len(known.content)
    return found.reshape(keys.shape)


_NO_ID = np.array(-1)

vocabulary_op = define_op(
    "VocabularyTableFind",
    _HANDLE + args("keys", STRING | {int64}),
    infer=lambda table, keys, **_: keys.with_dtype(int64),
    kernel=_vocabulary_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    batch=lambda b, node, inputs, stacked: node.op(*inputs, **node.attrs),
    graphdef=graph_forms.vocabulary,
    reads=(0,),
    fresh=True,
    trusts_kernel=True,
)


size_op = define_op(
    "LookupTableSizeV2",
    _HANDLE,
    infer=lambda table: TensorSpec.of(int64, ()),
    kernel=lambda xp, table: xp.asarray(len(table_of(table).content), np.int64),
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    reads=(0,),
    fresh=True,
    trusts_kernel=True,
)


def _export_infer(
    table: TensorSpec,
    *,
    key_dtype: DType,
    value_dtype: DType,
    key_shape: Dims | None,
    value_shape: Dims | None,
) -> tuple[TensorSpec, TensorSpec]:
    count = Dim()
    return (
        TensorSpec.of(key_dtype, None if key_shape is None else (count, *key_shape)),
        TensorSpec.of(value_dtype, None if value_shape is None else (count, *value_shape)),
    )


def _export_kernel(
    xp: ArrayNamespace,
    table: Any,
    *,
    key_dtype: DType,
    value_dtype: DType,
    **shapes: Dims | None,
) -> tuple[Array, Array]:
    known = table_of(table)
    if (known.key_dtype, known.value_dtype) != (key_dtype, value_dtype):
        raise InvalidArgumentError(
            None,
            None,
            f"{known.name} goes from {known.key_dtype.name} to {known.value_dtype.name}, not from "
            f"{key_dtype.name} to {value_dtype.name}.",
        )
    return known.export()


export_op = define_op(
    "LookupTableExportV2",
    _HANDLE,
    infer=_export_infer,
    kernel=_export_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    graphdef=graph_forms.exported,
    outputs=2,
    reads=(0,),
    fresh=True,
    trusts_kernel=True,
)

# --- writing -------------------------------------------------------------------------------------


def _write_infer(
    table: TensorSpec,
    keys: TensorSpec,
    values: TensorSpec,
    *,
    key_shape: Dims | None,
    value_shape: Dims | None,
) -> tuple[()]:
    batch = _batch_dims(keys, key_shape)
    if batch is not None and value_shape is not None:
        what = "the keys, with the shape of a value, and the values"
        rules.merge_dims("insert", (*batch, *value_shape), values.dims, what)
    return ()


def _write_op(name: str, method: str) -> Any:
    def kernel(
        xp: ArrayNamespace, table: Any, keys: Any, values: Any, **shapes: Dims | None
    ) -> tuple[()]:
        getattr(table_of(table), method)(_array(keys), _array(values))
        return ()

    return define_op(
        name,
        _HANDLE + each("keys", KEYS) + each("values", VALUES),
        infer=_write_infer,
        kernel=kernel,
        native=NO_NATIVE,
        xla=NO_XLA,
        vjp=NOT_DIFFERENTIABLE,
        graphdef=graph_forms.plain,
        outputs=0,
        reads=(0,),
        writes=(0,),
        trusts_kernel=True,
    )


insert_op = _write_op("LookupTableInsertV2", "insert")
import_op = _write_op("LookupTableImportV2", "replace")
initialize_op = _write_op("InitializeTableV2", "initialize")


def _remove_infer(table: TensorSpec, keys: TensorSpec, *, key_shape: Dims | None) -> tuple[()]:
    _batch_dims(keys, key_shape)
    return ()


def _remove_kernel(
    xp: ArrayNamespace, table: Any, keys: Any, *, key_shape: Dims | None
) -> tuple[()]:
    table_of(table).remove(_array(keys))
    return ()


remove_op = define_op(
    "LookupTableRemoveV2",
    _HANDLE + each("keys", KEYS),
    infer=_remove_infer,
    kernel=_remove_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    graphdef=graph_forms.plain,
    outputs=0,
    reads=(0,),
    writes=(0,),
    trusts_kernel=True,
)
