"""Arguments for which the API has one dtype only: others are refused, eagerly and while tracing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

IMAGES = tf.ones([2, 4, 5, 3])
BOXES = tf.constant([[0.0, 0.0, 0.5, 0.5], [0.1, 0.1, 0.9, 0.9]])
LINES = tf.ones([2, 4, 3])
LOGITS = tf.zeros([4, 2, 3])
Q, S = tf.quantization, tf.signal


def _conv_transpose(size: Any) -> Any:
    return tf.nn.conv1d_transpose(LINES, tf.ones([2, 1, 3]), size, 1)


# The name of the argument, a call that takes it, and a value that is right.
CALLS: list[tuple[str, Any, Any]] = [
    ("rank", lambda x: tf.debugging.assert_rank(LINES, x), 3),
    ("rank", lambda x: tf.debugging.assert_rank_at_least(LINES, x), 2),
    ("partitions", lambda x: tf.dynamic_partition([1.0, 2.0], x, 2), [1, 0]),
    ("indices", lambda x: tf.dynamic_stitch([x], [[1.0, 2.0]]), [1, 0]),
    ("size", lambda x: tf.image.resize(IMAGES, x), [2, 3]),
    ("target_height", lambda x: tf.image.resize_with_pad(IMAGES, x, 4), 3),
    ("target_width", lambda x: tf.image.resize_with_crop_or_pad(IMAGES, 3, x), 3),
    ("offset_height", lambda x: tf.image.crop_to_bounding_box(IMAGES, x, 1, 2, 2), 1),
    ("size", lambda x: tf.image.random_crop(LINES, x), [1, 2, 3]),
    ("size", lambda x: tf.image.stateless_random_crop(LINES, x, [1, 2]), [1, 2, 3]),
    ("output_shape", _conv_transpose, [2, 4, 1]),
    ("output_shape", lambda x: tf.nn.conv2d_transpose(IMAGES, tf.ones([2, 2, 1, 3]), x, 1),
     [2, 4, 5, 1]),
    ("input_sizes", lambda x: tf.nn.depthwise_conv2d_backprop_input(
        x, tf.ones([1, 1, 3, 1]), IMAGES, [1, 1, 1, 1], "VALID"), [2, 4, 5, 3]),
    ("sequence_length", lambda x: tf.nn.ctc_greedy_decoder(LOGITS, x), [4, 3]),
    ("sequence_length", lambda x: tf.nn.ctc_beam_search_decoder(LOGITS, x)[1], [4, 3]),
    ("depth", lambda x: tf.one_hot([1, 2], x), 3),
    ("num_samples", lambda x: tf.random.categorical([[1.0, 2.0]], x), 3),
    ("num_samples", lambda x: tf.random.stateless_categorical([[1.0, 2.0]], x, [1, 2]), 3),
    ("shape", lambda x: tf.random.gamma(x, 2.0), [2, 3]),
    ("shape", lambda x: tf.random.poisson(x, 2.0), [2, 3]),
    ("num_results", lambda x: tf.math.sobol_sample(2, x), 3),
    ("frame_length", lambda x: S.frame([1.0, 2.0, 3.0], x, 1), 2),
    ("window_length", S.hann_window, 4),
    ("window_length", S.kaiser_window, 4),
    ("window_length", S.vorbis_window, 4),
    ("dense_shape", lambda x: tf.sparse.sampled_addmm(
        [[0, 1]], [1.0], x, tf.ones([2, 2]), tf.ones([2, 2])), [2, 2]),
    ("input", lambda x: tf.strings.unicode_encode(x, "UTF-8"), [65, 66]),
    ("boxes", lambda x: tf.image.crop_and_resize(IMAGES, x, [0, 1], [2, 2]), BOXES),
    ("boxes", lambda x: tf.image.draw_bounding_boxes(IMAGES, x, None), tf.stack([BOXES, BOXES])),
    ("boxes", lambda x: tf.image.combined_non_max_suppression(x, tf.ones([1, 2, 1]), 2, 2),
     tf.reshape(BOXES, [1, 2, 1, 4])),
    ("overlaps", lambda x: tf.image.non_max_suppression_overlaps(x, [1.0, 0.5], 2), tf.eye(2)),
    ("input", lambda x: tf.image.extract_glimpse(x, [2, 2], tf.zeros([2, 2])), IMAGES),
    ("inputs", Q.fake_quant_with_min_max_args, LINES),
    ("min", lambda x: Q.fake_quant_with_min_max_vars(LINES, x, 2.0), 0.5),
    ("gradients", lambda x: Q.fake_quant_with_min_max_args_gradient(x, LINES), LINES),
    ("predictions", lambda x: tf.math.in_top_k([0, 1], x, 1), tf.eye(2)),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_tensors_of_other_dtypes_are_refused(number: int) -> None:
    name, call, given = CALLS[number]
    right = tf.constant(given)
    call(right)
    other = {tf.int32: tf.int64, tf.float32: tf.float64}[right.dtype]
    text = f"{name} must have dtype {right.dtype.name}, got {other.name}. Convert it with tf.cast"
    for run in (call, tf.function(call)):
        with pytest.raises(tf.errors.FixedDTypeError, match=text):
            run(tf.cast(right, other))
    call(np.asarray(right).astype(other.as_numpy_dtype))  # arrays are converted


def test_what_lu_took_apart() -> None:
    packed, rows = tf.linalg.lu(tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    for function in (tf.linalg.lu_reconstruct, tf.linalg.lu_matrix_inverse):
        with pytest.raises(ValueError, match="lower_upper must have one axis more than perm"):
            function(tf.stack([packed, packed]), rows)
    with pytest.raises(tf.errors.InvalidArgumentError, match="perm must name each row once"):
        tf.linalg.lu_reconstruct(packed, [1, 1])
    traced = tf.function(lambda m: tf.linalg.lu_reconstruct(m, [1, 0]))
    np.testing.assert_allclose(traced(packed), [[1, 2], [3, 4]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        tf.linalg.lu([[np.nan, 1.0], [1.0, 2.0]])


def test_boxes_that_are_not_finite() -> None:
    for run in (tf.image.crop_and_resize, tf.function(tf.image.crop_and_resize)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="boxes must be finite"):
            run(IMAGES, tf.constant([[0.0, np.nan, 1.0, 1.0]]), tf.constant([0]), [2, 2])


def test_shapes_of_sampled_products() -> None:
    mat = tf.ones([2, 2])
    for run in (tf.sparse.sampled_addmm, tf.function(tf.sparse.sampled_addmm)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="dense_shape must be the shape"):
            run(tf.constant([[0, 1]]), tf.constant([1.0]), tf.constant([2, 3]), mat, mat)


def test_lists_of_strides() -> None:
    with pytest.raises(TypeError, match="strides must be a list of four numbers, got 1"):
        tf.nn.dilation2d(IMAGES, tf.ones([2, 2, 3]), 1, "SAME", "NHWC", [1, 1, 1, 1])
    with pytest.raises(TypeError, match="dilations must be a list of four numbers, got 2"):
        tf.nn.erosion2d(IMAGES, tf.ones([2, 2, 3]), [1, 1, 1, 1], "SAME", "NHWC", 2)
