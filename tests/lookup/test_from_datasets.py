"""Tables whose content is that of a dataset."""

from __future__ import annotations

import pytest

import weft as tf


def test_initializers_out_of_datasets() -> None:
    pairs = tf.data.Dataset.from_tensor_slices((["a", "b"], [1, 2]))
    table = tf.lookup.StaticHashTable(tf.data.experimental.DatasetInitializer(pairs), -1)
    assert table.lookup(tf.constant(["b", "c"])).numpy().tolist() == [2, -1]
    none = tf.lookup.StaticHashTable(tf.data.experimental.DatasetInitializer(pairs.take(0)), -1)
    assert int(none.size()) == 0
    with pytest.raises(ValueError, match="pairs of a key and a value"):
        tf.data.experimental.DatasetInitializer(tf.data.Dataset.range(3))
