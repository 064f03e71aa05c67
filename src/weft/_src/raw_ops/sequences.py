"""Raw ops of connectionist temporal classification."""

from __future__ import annotations

from typing import Any

import weft as tf
from weft._src.core.aliases import TensorLike
from weft._src.ops.nn import ctc


def _loss(inputs: Any, indices: Any, values: Any, lengths: Any, last: bool) -> Any:
    """The losses and their gradients; the blank is the last class, or the first one."""
    logits = tf.convert_to_tensor(inputs)
    times = tf.convert_to_tensor(lengths, dtype_hint=tf.int32)
    batch = tf.shape(times, tf.int64)[0]
    places = tf.convert_to_tensor(indices, tf.int64)
    longest = tf.reduce_max(tf.concat([places[:, 1], [-1]], 0)) + 1
    labels = tf.SparseTensor(places, values, tf.stack([batch, longest]))
    rows, counts = ctc.dense_labels(labels)
    blank = -1 if last else 0
    return ctc.loss_op(rows, logits, counts, times, blank_index=blank)


def _kept(found: Any, ignores_longer: bool) -> tuple[tf.Tensor, ...]:
    """Labels that do not fit into the time are an error, or count for nothing."""
    loss, gradient = found
    fits = tf.math.is_finite(loss)
    if ignores_longer:
        return tf.where(fits, loss, tf.zeros_like(loss)), gradient
    tf.debugging.Assert(
        tf.reduce_all(fits), ["CTCLoss: not enough time for the labels (sequence_length)."]
    )
    return loss, gradient


def loss(
    inputs: TensorLike,
    labels_indices: TensorLike,
    labels_values: TensorLike,
    sequence_length: TensorLike,
    ignore_longer_outputs_than_inputs: bool = False,
    name: str | None = None,
) -> tuple[tf.Tensor, ...]:
    given = (inputs, labels_indices, labels_values, sequence_length)
    return _kept(_loss(*given, last=True), ignore_longer_outputs_than_inputs)


def loss_v2(
    inputs: TensorLike,
    labels_indices: TensorLike,
    labels_values: TensorLike,
    sequence_length: TensorLike,
    ignore_longer_outputs_than_inputs: bool = False,
    name: str | None = None,
) -> tuple[tf.Tensor, ...]:
    given = (inputs, labels_indices, labels_values, sequence_length)
    return _kept(_loss(*given, last=False), ignore_longer_outputs_than_inputs)


def greedy_decoder(
    inputs: Any,
    sequence_length: TensorLike,
    merge_repeated: bool = False,
    blank_index: int = -1,
    name: str | None = None,
) -> Any:
    (decoded,), score = tf.nn.ctc_greedy_decoder(
        inputs, sequence_length, merge_repeated, blank_index
    )
    return decoded.indices, decoded.values, decoded.dense_shape, score


def beam_search(
    inputs: TensorLike,
    sequence_length: TensorLike,
    beam_width: int,
    top_paths: int,
    name: str | None = None,
) -> Any:
    """The indices, values and shapes of the best paths, and their logarithms."""
    paths, scores = tf.nn.ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths)
    return (
        [path.indices for path in paths],
        [path.values for path in paths],
        [path.dense_shape for path in paths],
        scores,
    )
