"""Tensors among NumPy arrays and Python numbers."""

from typing import assert_type

import numpy as np

import weft as tf
from weft.types.experimental import DTypeLike, ShapeLike, TensorLike

array = np.linspace(0.0, 1.0, 6).reshape(2, 3)
x = tf.constant(array)
assert_type(tf.constant([[1, 2], [3, 4]], dtype="float64"), tf.Tensor)
assert_type(tf.convert_to_tensor(array, dtype=np.float64), tf.Tensor)
assert_type(x + 1, tf.Tensor)
assert_type(2.0 * x, tf.Tensor)
assert_type(-x @ tf.transpose(x), tf.Tensor)
assert_type(x[0, 1:], tf.Tensor)
assert_type(x[..., tf.newaxis], tf.Tensor)
assert_type(x > 0.5, tf.Tensor)
assert_type(abs(x) ** 2, tf.Tensor)
assert_type(x + array, tf.Tensor)
assert_type(x.shape, tf.TensorShape)
assert_type(x.dtype, tf.DType)
assert_type(len(x), int)
assert_type(int(tf.size(x)), int)
assert_type(float(np.asarray(x).sum()), float)
for row in x:
    assert_type(row, tf.Tensor)

v = tf.Variable([1.0, 2.0])
assert_type(v * 2, tf.Tensor)
assert_type(1 - v, tf.Tensor)
assert_type(v[0], tf.Tensor)
assert_type(v + v, tf.Tensor)
assert_type(tf.reduce_sum(v), tf.Tensor)
assert_type(tf.reduce_sum(x, axis=[0, 1], keepdims=True), tf.Tensor)
assert_type(tf.concat([x, array], axis=0), tf.Tensor)
assert_type(tf.stack([v, tf.zeros([2])]), tf.Tensor)
assert_type(tf.reshape(x, [-1, tf.shape(x)[1]]), tf.Tensor)
assert_type(tf.cast(x, tf.int32), tf.Tensor)
assert_type(tf.where(x > 0, x, 0.0), tf.Tensor)
assert_type(tf.matmul(x, x, transpose_b=True), tf.Tensor)
assert_type(tf.nn.softmax(x), tf.Tensor)
assert_type(tf.random.uniform([2, 3], maxval=5, dtype=tf.int32), tf.Tensor)
assert_type(tf.gather(x, [0, 1]), tf.Tensor)
assert_type(tf.one_hot([0, 1], 3), tf.Tensor)
assert_type(tf.strings.join(["a", b"b"]), tf.Tensor)
assert_type(tf.linalg.solve(tf.eye(2), tf.ones([2, 1])), tf.Tensor)


def filled(like: TensorLike, shape: ShapeLike, dtype: DTypeLike) -> tf.Tensor:
    return tf.cast(tf.fill(shape, tf.reduce_max(like)), dtype)


filled([1.0, 2.0], (2, 3), np.float32)
filled(v, tf.TensorShape([2]), tf.float64)
filled(array, tf.constant([2, 2]), "int32")
