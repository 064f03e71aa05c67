"""Raw ops that take and give ragged tensors as their values and partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import weft as tf
from weft._src.core.aliases import DTypeLike, TensorLike
from weft._src.core.shapes import Dim, UnknownNumber
from weft._src.ops import static
from weft._src.ops.ragged import crossing, variants
from weft._src.raw_ops.sparse import weights_of


def made(nested_splits: Any, values: TensorLike) -> Any:
    """The ragged tensor of splits from the outermost to the innermost, or just the values."""
    parts = [tf.convert_to_tensor(splits) for splits in nested_splits]
    if not parts:
        return tf.convert_to_tensor(values)
    return tf.RaggedTensor.from_nested_row_splits(values, parts, validate=False)


def _parts(x: Any) -> tuple[list[tf.Tensor], tf.Tensor]:
    if isinstance(x, tf.RaggedTensor):
        return list(x.nested_row_splits), x.flat_values
    return [], x


def ranges(
    starts: TensorLike,
    limits: TensorLike,
    deltas: TensorLike,
    Tsplits: DTypeLike = tf.int64,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    out = tf.ragged.range(starts, limits, deltas, row_splits_dtype=Tsplits)
    return out.row_splits, out.values


def to_sparse(
    rt_nested_splits: Any, rt_dense_values: TensorLike, name: str | None = None
) -> tuple[tf.Tensor, ...]:
    out = made(rt_nested_splits, rt_dense_values).to_sparse()
    return out.indices, out.values, out.dense_shape


# --- to tensors ----------------------------------------------------------------------------------


def to_tensor(
    shape: TensorLike,
    values: TensorLike,
    default_value: TensorLike,
    row_partition_tensors: Sequence[TensorLike],
    row_partition_types: Sequence[str],
    name: str | None = None,
) -> tf.Tensor:
    rt = _partitioned(values, row_partition_tensors, [str(kind) for kind in row_partition_types])
    return rt.to_tensor(default_value, shape=_wanted(rt, tf.convert_to_tensor(shape)))


def _partitioned(values: TensorLike, tensors: Sequence[TensorLike], kinds: Sequence[str]) -> Any:
    """The ragged tensor, made from the inside."""
    parts = [tf.convert_to_tensor(x) for x in tensors]
    rows: Any = None
    if kinds[:1] == ["FIRST_DIM_SIZE"]:
        rows, parts, kinds = parts[0], parts[1:], kinds[1:]
    counts = [rows, *[tf.size(x, x.dtype) for x in parts]]  # of the rows at each level
    out: Any = tf.convert_to_tensor(values)
    for part, kind, count in zip(parts[::-1], kinds[::-1], counts[-2::-1], strict=True):
        if kind == "ROW_SPLITS":
            out = tf.RaggedTensor.from_row_splits(out, part, validate=False)
        elif kind == "VALUE_ROWIDS":
            out = tf.RaggedTensor.from_value_rowids(
                out, part, tf.cast(count, part.dtype), validate=False
            )
        else:
            raise tf.errors.UnsupportedError(
                "RaggedTensorToTensor: partitions must be ROW_SPLITS, or FIRST_DIM_SIZE and "
                f"VALUE_ROWIDS, got {kind}."
            )
    return out


def _wanted(rt: Any, shape: tf.Tensor) -> Any:
    """Sizes that are negative mean what it takes."""
    known = static.known_value(shape)
    if known is not None and known.ndim == 0:
        return None
    if known is not None and not any(isinstance(n, Dim) for n in known):
        return [None if n < 0 else int(n) for n in known]
    if known is not None and not any(isinstance(n, UnknownNumber) or n == -1 for n in known):
        return shape
    sizes = tf.cast(shape, rt.row_splits.dtype)
    return tf.where(sizes < 0, rt.bounding_shape(), sizes)


# --- in variants ---------------------------------------------------------------------------------


def to_variant(
    rt_nested_splits: Any, rt_dense_values: TensorLike, batched_input: bool, name: str | None = None
) -> tf.Tensor:
    splits, values = _parts(made(rt_nested_splits, rt_dense_values))
    return variants.to_variant_op(*splits, values, batched=bool(batched_input), name=name)


def from_variant(
    encoded_ragged: tf.Tensor,
    input_ragged_rank: int,
    output_ragged_rank: int,
    Tvalues: DTypeLike,
    Tsplits: DTypeLike = tf.int64,
    name: str | None = None,
) -> tuple[list[tf.Tensor], tf.Tensor]:
    """What the output is more ragged than the input is the rank of the variants, which is known."""
    dtypes = {"splits": tf.as_dtype(Tsplits), "values": tf.as_dtype(Tvalues)}
    *splits, values = variants.from_variant_op(
        encoded_ragged, rank=output_ragged_rank, name=name, **dtypes
    )
    return list(splits), values


# --- rows ----------------------------------------------------------------------------------------


def gather(
    params_nested_splits: Any,
    params_dense_values: TensorLike,
    indices: TensorLike,
    OUTPUT_RAGGED_RANK: int,
    name: str | None = None,
) -> tuple[list[tf.Tensor], tf.Tensor]:
    out = tf.gather(made(params_nested_splits, params_dense_values), indices)
    splits, values = _parts(out)
    if len(splits) != OUTPUT_RAGGED_RANK:
        raise ValueError(
            f"RaggedGather: OUTPUT_RAGGED_RANK must be {len(splits)}, got {OUTPUT_RAGGED_RANK}."
        )
    return splits, values


def bincount(
    splits: TensorLike,
    values: TensorLike,
    size: TensorLike,
    weights: TensorLike,
    binary_output: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    """How often numbers below `size` occur in each row; others do not count."""
    rows = tf.convert_to_tensor(splits, tf.int64)
    numbers, amounts = tf.convert_to_tensor(values), tf.convert_to_tensor(weights)
    count, width = tf.size(rows, tf.int64) - 1, tf.cast(size, tf.int64)
    tf.debugging.assert_non_negative(numbers, "RaggedBincount: values must not be negative.")
    ids = tf.ragged.row_splits_to_segment_ids(rows, out_type=tf.int64)
    given = weights_of(amounts, numbers)
    amounts = tf.ones(tf.shape(numbers), amounts.dtype) if given is None else given
    inside = tf.cast(numbers, tf.int64) < width
    places = tf.boolean_mask(ids * width + tf.cast(numbers, tf.int64), inside)
    kept = tf.boolean_mask(amounts, inside)
    flat = tf.math.unsorted_segment_sum(kept, places, count * width)
    if binary_output:
        hits = tf.math.unsorted_segment_sum(tf.ones_like(places), places, count * width)
        flat = tf.cast(hits > 0, amounts.dtype)
    return tf.reshape(flat, tf.stack([count, width]), name=name)


def cross(
    ragged_values: Any,
    ragged_row_splits: Any,
    sparse_indices: Any,
    sparse_values: Any,
    sparse_shape: Any,
    dense_inputs: Any,
    input_order: str,
    hashed_output: bool,
    num_buckets: int,
    hash_key: int,
    out_values_type: DTypeLike,
    out_row_splits_type: DTypeLike,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """The order is a text with a letter for each input: R, S or D."""
    pairs = zip(ragged_values, ragged_row_splits, strict=True)
    kinds = {
        "R": iter([tf.RaggedTensor.from_row_splits(*pair, validate=False) for pair in pairs]),
        "S": iter(_sparse(sparse_indices, sparse_values, sparse_shape)),
        "D": iter([tf.ensure_shape(x, [None, None]) for x in dense_inputs]),
    }
    inputs = [next(kinds[letter]) for letter in input_order]
    columns = crossing.columns("RaggedCross", inputs)
    if hashed_output:
        key = np.uint64(hash_key % (1 << 64))
        out = crossing.hashed("RaggedCross", columns, num_buckets, int(key))
    else:
        out = crossing.joined(columns, "_X_")
    return tf.cast(out.values, out_values_type) if hashed_output else out.values, tf.cast(
        out.row_splits, out_row_splits_type
    )


def _sparse(indices: Any, values: Any, shapes: Any) -> list[tf.SparseTensor]:
    return [tf.SparseTensor(*part) for part in zip(indices, values, shapes, strict=True)]


def fill_empty_rows(
    value_rowids: TensorLike,
    values: TensorLike,
    nrows: TensorLike,
    default_value: TensorLike,
    name: str | None = None,
) -> tuple[tf.Tensor, ...]:
    """The rows with a default in the empty ones, which they are, and where each value has gone."""
    ids = tf.convert_to_tensor(value_rowids, tf.int64)
    flat, count = tf.convert_to_tensor(values), tf.cast(nrows, tf.int64)
    default = tf.convert_to_tensor(default_value, dtype_hint=flat.dtype)
    lengths = tf.math.unsorted_segment_sum(tf.ones_like(ids), ids, count)
    is_empty = tf.equal(lengths, 0)
    starts = tf.cumsum(tf.maximum(lengths, 1), exclusive=True)
    # Rows need not be in order: the values of each keep theirs.
    sorted_places = tf.math.invert_permutation(tf.cast(tf.argsort(ids, stable=True), tf.int64))
    inside = sorted_places - tf.gather(tf.cumsum(lengths, exclusive=True), ids)
    moved = tf.gather(starts, ids) + inside
    total = tf.reduce_sum(tf.maximum(lengths, 1))
    canvas = tf.fill(total[tf.newaxis], default)
    out = tf.tensor_scatter_nd_update(canvas, moved[:, tf.newaxis], flat)
    new_ids = tf.repeat(tf.range(count), tf.maximum(lengths, 1))
    return new_ids, out, is_empty, moved
