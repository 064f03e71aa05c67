"""Raw ops that take and give sparse and ragged tensors as their parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import weft as tf
from weft._src.core.aliases import DTypeLike, ShapeLike, TensorLike


def _made(indices: Any, values: Any, shape: Any) -> tf.SparseTensor:
    return tf.SparseTensor(indices, values, shape)


def _parts(sp: tf.SparseTensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    return sp.indices, sp.values, sp.dense_shape


def add(
    a_indices: Any,
    a_values: Any,
    a_shape: Any,
    b_indices: Any,
    b_values: Any,
    b_shape: Any,
    thresh: Any,
    name: str | None = None,
) -> Any:
    a, b = _made(a_indices, a_values, a_shape), _made(b_indices, b_values, b_shape)
    return _parts(tf.sparse.add(a, b, thresh))


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
    order = tf.range(tf.size(sp.values, tf.int64), dtype=tf.int64)
    moved = order + tf.gather(above, sp.indices[:, 0])
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


def softmax(sp_indices: Any, sp_values: Any, sp_shape: Any, name: str | None = None) -> tf.Tensor:
    return tf.sparse.softmax(_made(sp_indices, sp_values, sp_shape)).values


def matmul(
    a_indices: Any,
    a_values: Any,
    a_shape: Any,
    b: Any,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    a = _made(a_indices, a_values, a_shape)
    return tf.sparse.sparse_dense_matmul(a, b, adjoint_a, adjoint_b)


def edit_distance(
    hypothesis_indices: Any,
    hypothesis_values: Any,
    hypothesis_shape: Any,
    truth_indices: Any,
    truth_values: Any,
    truth_shape: Any,
    normalize: bool = True,
    name: str | None = None,
) -> tf.Tensor:
    hypothesis = _made(hypothesis_indices, hypothesis_values, hypothesis_shape)
    return tf.edit_distance(hypothesis, _made(truth_indices, truth_values, truth_shape), normalize)


def greedy_decoder(
    inputs: Any,
    sequence_length: TensorLike,
    merge_repeated: bool = False,
    blank_index: int = -1,
    name: str | None = None,
) -> Any:
    classes = tf.convert_to_tensor(inputs).shape[-1]
    blank = blank_index + classes if blank_index < 0 else blank_index
    (decoded,), score = tf.nn.ctc_greedy_decoder(inputs, sequence_length, merge_repeated, blank)
    return (*_parts(decoded), score)


def ragged_range(
    starts: TensorLike,
    limits: TensorLike,
    deltas: TensorLike,
    Tsplits: DTypeLike = tf.int64,
    name: str | None = None,
) -> Any:
    made = tf.ragged.range(starts, limits, deltas, row_splits_dtype=Tsplits)
    return made.row_splits, made.values


def ragged_to_sparse(
    rt_nested_splits: Any, rt_dense_values: TensorLike, name: str | None = None
) -> Any:
    made = tf.RaggedTensor.from_nested_row_splits(rt_dense_values, rt_nested_splits)
    return _parts(made.to_sparse())
