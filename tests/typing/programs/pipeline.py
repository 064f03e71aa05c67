"""A pipeline of datasets: every method gives a dataset, so the chain can be completed."""

from pathlib import Path
from typing import assert_type

import numpy as np

import weft as tf


def scaled(x: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    return tf.cast(x, tf.float32) / 255.0, y


images = np.zeros([6, 2, 2], np.uint8)
labels = np.arange(6)
pipeline = (
    tf.data.Dataset.from_tensor_slices((images, labels))
    .shuffle(6, seed=1)
    .map(scaled, num_parallel_calls=tf.data.AUTOTUNE)
    .filter(lambda x, y: y > 0)
    .repeat(2)
    .batch(2, drop_remainder=True)
    .prefetch(tf.data.AUTOTUNE)
)
assert_type(pipeline, tf.data.Dataset)
assert_type(tf.data.Dataset.range(5).take(2), tf.data.Dataset)
assert_type(tf.data.Dataset.zip(pipeline, pipeline), tf.data.Dataset)
assert_type(pipeline.cache().unbatch().enumerate().skip(1), tf.data.Dataset)
assert_type(pipeline.apply(lambda dataset: dataset.take(1)), tf.data.Dataset)
assert_type(pipeline.concatenate(pipeline).window(2), tf.data.Dataset)
assert_type(pipeline.cardinality(), tf.Tensor)
assert_type(len(tf.data.Dataset.range(5).batch(2)), int)


def numbers() -> list[int]:
    return [1, 2, 3]


assert_type(
    tf.data.Dataset.from_generator(numbers, output_signature=tf.TensorSpec([], tf.int32)),
    tf.data.Dataset,
)
for x, y in pipeline:
    print(x.shape, y.shape)  # elements are nests, of which types know nothing
for element in pipeline.as_numpy_iterator():
    print(element)


def lines(file: Path) -> tf.data.Dataset:
    return tf.data.TextLineDataset([str(file)]).map(tf.strings.length)
