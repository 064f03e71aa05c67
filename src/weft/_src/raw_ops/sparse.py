"""Raw ops that take and give sparse tensors as their parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import weft as tf
from weft._src.core.aliases import DTypeLike, ShapeLike, TensorLike
from weft._src.ops.ragged import crossing
from weft._src.ops.static import static_int
from weft._src.raw_ops.text import known_text


def _made(indices: TensorLike, values: TensorLike, shape: Any) -> tf.SparseTensor:
    return tf.SparseTensor(indices, values, shape)


def _parts(sp: tf.SparseTensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    return sp.indices, sp.values, sp.dense_shape


def add(
    a_indices: TensorLike,
    a_values: TensorLike,
    a_shape: ShapeLike,
    b_indices: TensorLike,
    b_values: TensorLike,
    b_shape: ShapeLike,
    thresh: Any,
    name: str | None = None,
) -> Any:
    a, b = _made(a_indices, a_values, a_shape), _made(b_indices, b_values, b_shape)
    return _parts(tf.sparse.add(a, b, thresh))


def serialize(
    sparse_indices: TensorLike,
    sparse_values: TensorLike,
    sparse_shape: ShapeLike,
    out_type: DTypeLike,
    name: str | None = None,
) -> tf.Tensor:
    return tf.io.serialize_sparse(_made(sparse_indices, sparse_values, sparse_shape), out_type)


def serialize_many(
    sparse_indices: TensorLike,
    sparse_values: TensorLike,
    sparse_shape: ShapeLike,
    out_type: DTypeLike,
    name: str | None = None,
) -> tf.Tensor:
    sp = _made(sparse_indices, sparse_values, sparse_shape)
    return tf.io.serialize_many_sparse(sp, out_type)


def deserialize_many(
    serialized_sparse: TensorLike, dtype: DTypeLike, name: str | None = None
) -> Any:
    return _parts(tf.io.deserialize_many_sparse(serialized_sparse, dtype))


def concat(
    indices: Any, values: Any, shapes: Sequence[Any], concat_dim: int, name: str | None = None
) -> Any:
    parts = [_made(*part) for part in zip(indices, values, shapes, strict=True)]
    return _parts(tf.sparse.concat(concat_dim, parts))


def fill_empty_rows(
    indices: Any, values: Any, dense_shape: ShapeLike, default_value: Any, name: str | None = None
) -> Any:
    """The filled tensor, which rows were empty, and where each element has gone."""
    sp = _made(indices, values, dense_shape)
    filled, empty = tf.sparse.fill_empty_rows(sp, default_value)
    # Before an element come all empty rows above its own.
    above = tf.cumsum(tf.cast(empty, tf.int64))
    order = tf.argsort(sp.indices[:, 0], stable=True)
    places = tf.cast(tf.math.invert_permutation(order), tf.int64)
    moved = places + tf.gather(above, sp.indices[:, 0])
    return filled.indices, filled.values, empty, moved


def _reduction(function: Callable[..., Any]) -> Callable[..., tf.Tensor]:
    def reduce(
        input_indices: Any,
        input_values: Any,
        input_shape: ShapeLike,
        reduction_axes: Any,
        keep_dims: bool = False,
        name: str | None = None,
    ) -> tf.Tensor:
        return function(_made(input_indices, input_values, input_shape), reduction_axes, keep_dims)

    return reduce


reduce_sum = _reduction(tf.sparse.reduce_sum)
reduce_max = _reduction(tf.sparse.reduce_max)


def _sparse_reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(
        input_indices: Any,
        input_values: Any,
        input_shape: ShapeLike,
        reduction_axes: Any,
        keep_dims: bool = False,
        name: str | None = None,
    ) -> Any:
        sp = _made(input_indices, input_values, input_shape)
        return _parts(function(sp, reduction_axes, keep_dims, output_is_sparse=True))

    return reduce


reduce_sum_sparse = _sparse_reduction(tf.sparse.reduce_sum)
reduce_max_sparse = _sparse_reduction(tf.sparse.reduce_max)


def reorder(
    input_indices: Any, input_values: Any, input_shape: ShapeLike, name: str | None = None
) -> Any:
    return _parts(tf.sparse.reorder(_made(input_indices, input_values, input_shape)))[:2]


def reshape(
    input_indices: TensorLike, input_shape: ShapeLike, new_shape: ShapeLike, name: str | None = None
) -> Any:
    places = tf.convert_to_tensor(input_indices, tf.int64)
    sp = _made(places, tf.zeros(tf.shape(places)[:1]), input_shape)
    made = tf.sparse.reshape(sp, new_shape)
    return made.indices, made.dense_shape


def slice_of(
    indices: TensorLike,
    values: TensorLike,
    shape: ShapeLike,
    start: TensorLike,
    size: TensorLike,
    name: str | None = None,
) -> Any:
    return _parts(tf.sparse.slice(_made(indices, values, shape), start, size))


def softmax(
    sp_indices: TensorLike, sp_values: TensorLike, sp_shape: ShapeLike, name: str | None = None
) -> tf.Tensor:
    return tf.sparse.softmax(_made(sp_indices, sp_values, sp_shape)).values


def matmul(
    a_indices: TensorLike,
    a_values: TensorLike,
    a_shape: ShapeLike,
    b: Any,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    a = _made(a_indices, a_values, a_shape)
    return tf.sparse.sparse_dense_matmul(a, b, adjoint_a, adjoint_b)


def edit_distance(
    hypothesis_indices: TensorLike,
    hypothesis_values: TensorLike,
    hypothesis_shape: ShapeLike,
    truth_indices: TensorLike,
    truth_values: TensorLike,
    truth_shape: ShapeLike,
    normalize: bool = True,
    name: str | None = None,
) -> tf.Tensor:
    hypothesis = _made(hypothesis_indices, hypothesis_values, hypothesis_shape)
    return tf.edit_distance(hypothesis, _made(truth_indices, truth_values, truth_shape), normalize)


# --- element by element --------------------------------------------------------------------------


def _with_dense(function: Callable[..., Any]) -> Callable[..., tf.Tensor]:
    """Values combined with the elements of a tensor at the same places, which is broadcast."""

    def combine(
        sp_indices: TensorLike,
        sp_values: TensorLike,
        sp_shape: ShapeLike,
        dense: Any,
        name: str | None = None,
    ) -> tf.Tensor:
        values = tf.convert_to_tensor(sp_values)
        wide = tf.broadcast_to(tf.convert_to_tensor(dense, dtype_hint=values.dtype), sp_shape)
        return function(values, tf.gather_nd(wide, sp_indices), name=name)

    return combine


add_dense = _with_dense(tf.add)
multiply_dense = _with_dense(tf.multiply)
divide_dense = _with_dense(tf.divide)


def add_to_dense(
    a_indices: TensorLike,
    a_values: TensorLike,
    a_shape: ShapeLike,
    b: Any,
    name: str | None = None,
) -> tf.Tensor:
    a = _made(a_indices, a_values, a_shape)
    return tf.sparse.add(a, tf.convert_to_tensor(b, dtype_hint=a.dtype))


def _of_two(function: Callable[..., Any]) -> Callable[..., Any]:
    def combine(
        a_indices: TensorLike,
        a_values: TensorLike,
        a_shape: ShapeLike,
        b_indices: TensorLike,
        b_values: TensorLike,
        b_shape: ShapeLike,
        name: str | None = None,
    ) -> Any:
        out = function(_made(a_indices, a_values, a_shape), _made(b_indices, b_values, b_shape))
        return out.indices, out.values

    return combine


maximum = _of_two(tf.sparse.maximum)
minimum = _of_two(tf.sparse.minimum)


def split(
    split_dim: Any, indices: Any, values: Any, shape: Any, num_split: int, name: str | None = None
) -> Any:
    """The parts of several sparse tensors: their indices, their values, their shapes."""
    axis = static_int("SparseSplit", split_dim, "split_dim")
    out = tf.sparse.split(_made(indices, values, shape), num_split, axis)
    return tuple([list(part) for part in zip(*[_parts(sp) for sp in out], strict=True)])


# --- gradients -----------------------------------------------------------------------------------


def of_fill_empty_rows(
    reverse_index_map: TensorLike, grad_values: TensorLike, name: str | None = None
) -> tuple[tf.Tensor, tf.Tensor]:
    """The gradients of the values that were there, and of the default."""
    places = tf.convert_to_tensor(reverse_index_map, tf.int64)
    g = tf.convert_to_tensor(grad_values)
    picked = tf.gather(g, places)
    rest = tf.tensor_scatter_nd_update(g, places[:, tf.newaxis], tf.zeros_like(picked))
    return picked, tf.reduce_sum(rest)


def of_add(
    backprop_val_grad: TensorLike,
    a_indices: TensorLike,
    b_indices: TensorLike,
    sum_indices: TensorLike,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """What arrives at the elements of two summands; 0 at those that the sum has lost."""
    g = tf.convert_to_tensor(backprop_val_grad)
    a, b, total = [tf.convert_to_tensor(x, tf.int64) for x in (a_indices, b_indices, sum_indices)]
    sizes = tf.reduce_max(tf.concat([a, b, total, tf.zeros_like(a[:1])], 0), 0) + 1
    steps = tf.math.cumprod(sizes, exclusive=True, reverse=True)
    places = [tf.reduce_sum(x * steps, 1) for x in (a, b, total)]
    return _picked(g, places[2], places[0]), _picked(g, places[2], places[1])


def _picked(g: tf.Tensor, known: tf.Tensor, wanted: tf.Tensor) -> tf.Tensor:
    """The values of sorted keys; 0 for others."""
    at = tf.searchsorted(known, wanted)
    padded = tf.concat([known, [-1]], 0)
    values = tf.concat([g, tf.zeros([1], g.dtype)], 0)
    return tf.where(tf.gather(padded, at) == wanted, tf.gather(values, at), tf.zeros([], g.dtype))


def of_slice(
    backprop_val_grad: TensorLike,
    input_indices: TensorLike,
    input_start: TensorLike,
    output_indices: TensorLike,
    name: str | None = None,
) -> tf.Tensor:
    moved = tf.convert_to_tensor(output_indices, tf.int64) + input_start
    return of_add(backprop_val_grad, input_indices, moved, moved)[0]


# --- combinations --------------------------------------------------------------------------------


def _columns(
    op: str, indices: Any, values: Any, shapes: Sequence[Any], dense_inputs: Sequence[Any]
) -> Any:
    sparse = [_made(*part) for part in zip(indices, values, shapes, strict=True)]
    return crossing.columns(
        op, [*sparse, *[tf.ensure_shape(x, [None, None]) for x in dense_inputs]]
    )


def cross(
    indices: Any,
    values: Any,
    shapes: Sequence[Any],
    dense_inputs: Sequence[Any],
    hashed_output: bool,
    num_buckets: int,
    hash_key: int,
    out_type: DTypeLike,
    internal_type: DTypeLike,
    name: str | None = None,
) -> Any:
    op = "SparseCross"
    parts = _columns(op, indices, values, shapes, dense_inputs)
    if not hashed_output:
        return _parts(crossing.joined(parts, "_X_").to_sparse())
    return _parts(crossing.hashed(op, parts, num_buckets, hash_key % (1 << 64)).to_sparse())


def cross_joined(
    indices: Any,
    values: Any,
    shapes: Sequence[Any],
    dense_inputs: Sequence[Any],
    sep: Any,
    name: str | None = None,
) -> Any:
    parts = _columns("SparseCrossV2", indices, values, shapes, dense_inputs)
    separator = known_text("SparseCrossV2", sep, "sep")
    return _parts(crossing.joined(parts, separator).to_sparse())


# --- sets ----------------------------------------------------------------------------------------

_SETS = {
    "a-b": lambda a, b, check: tf.sets.difference(a, b, True, check),
    "b-a": lambda a, b, check: tf.sets.difference(a, b, False, check),
    "intersection": tf.sets.intersection,
    "union": tf.sets.union,
}


def _set_operation(op: str, a: Any, b: Any, kind: str, validate: bool) -> Any:
    if kind not in _SETS:
        raise ValueError(f"{op}: set_operation must be one of {sorted(_SETS)}, got {kind!r}.")
    return _parts(_SETS[kind](a, b, validate))


def sets_of_dense(
    set1: Any, set2: Any, set_operation: str, validate_indices: bool = True, name: str | None = None
) -> Any:
    op = "DenseToDenseSetOperation"
    return _set_operation(op, set1, set2, set_operation, validate_indices)


def sets_of_both(
    set1: Any,
    set2_indices: Any,
    set2_values: Any,
    set2_shape: Any,
    set_operation: str,
    validate_indices: bool = True,
    name: str | None = None,
) -> Any:
    op = "DenseToSparseSetOperation"
    second = _made(set2_indices, set2_values, set2_shape)
    return _set_operation(op, set1, second, set_operation, validate_indices)


# --- counts --------------------------------------------------------------------------------------


def weights_of(weights: tf.Tensor, values: tf.Tensor) -> tf.Tensor | None:
    """Weights of values; a vector of none of them means that each is 1."""
    if weights.shape == (0,):
        return None
    if weights.shape.num_elements():
        return weights
    ones = tf.ones(tf.shape(values), weights.dtype)
    found = tf.cond(tf.equal(tf.size(weights), 0), lambda: ones, lambda: weights)
    return tf.reshape(found, tf.shape(values))


def _counts(values: Any, weights: Any, low: int, high: int, binary: bool) -> Any:
    amounts = tf.convert_to_tensor(weights)
    flat = values if isinstance(values, tf.Tensor) else values.values
    given: Any = None if binary else weights_of(amounts, flat)
    rows = values.shape.rank == 2
    if isinstance(values, tf.SparseTensor) and given is not None:
        given = _made(values.indices, given, values.dense_shape)
    elif isinstance(values, tf.RaggedTensor) and given is not None:
        given = values.with_values(given)
    out = tf.sparse.bincount(
        values,
        given,
        axis=-1 if rows else 0,
        minlength=low if low >= 0 else None,
        maxlength=high if high >= 0 else None,
        binary_output=binary,
    )
    return out.indices, tf.cast(out.values, amounts.dtype), out.dense_shape


def bincount(
    indices: Any,
    values: TensorLike,
    dense_shape: Any,
    size: TensorLike,
    weights: TensorLike,
    binary_output: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    """How often numbers below `size` occur in each row, or altogether in a vector."""
    sp = _made(indices, values, dense_shape)
    rank = tf.convert_to_tensor(dense_shape).shape[0]
    width = tf.cast(size, tf.int64)
    rows = sp.dense_shape[0] if rank == 2 else tf.constant(1, tf.int64)
    ids = sp.indices[:, 0] if rank == 2 else tf.zeros_like(sp.indices[:, 0])
    numbers, amounts = tf.cast(sp.values, tf.int64), tf.convert_to_tensor(weights)
    given = weights_of(amounts, sp.values)
    counted = tf.ones(tf.shape(numbers), amounts.dtype) if given is None else given
    inside = tf.where(numbers < width)[:, 0]
    places = tf.gather(ids * width + numbers, inside)
    if binary_output:
        counted = tf.ones(tf.shape(numbers), amounts.dtype)
    flat = tf.math.unsorted_segment_sum(tf.gather(counted, inside), places, rows * width)
    if binary_output:
        flat = tf.minimum(flat, tf.ones([], flat.dtype))
    return tf.reshape(flat, tf.stack([rows, width]) if rank == 2 else width[tf.newaxis], name=name)


def counts_of_dense(
    values: TensorLike,
    weights: TensorLike,
    binary_output: bool,
    minlength: int = -1,
    maxlength: int = -1,
    name: str | None = None,
) -> Any:
    return _counts(tf.convert_to_tensor(values), weights, minlength, maxlength, binary_output)


def counts_of_sparse(
    indices: Any,
    values: TensorLike,
    dense_shape: Any,
    weights: TensorLike,
    binary_output: bool,
    minlength: int = -1,
    maxlength: int = -1,
    name: str | None = None,
) -> Any:
    sp = _made(indices, values, dense_shape)
    return _counts(sp, weights, minlength, maxlength, binary_output)


def counts_of_ragged(
    splits: TensorLike,
    values: TensorLike,
    weights: TensorLike,
    binary_output: bool,
    minlength: int = -1,
    maxlength: int = -1,
    name: str | None = None,
) -> Any:
    rt = tf.RaggedTensor.from_row_splits(values, splits)
    return _counts(rt, weights, minlength, maxlength, binary_output)
