"""Nested structures keep the kind of their outermost container."""

from typing import Any, assert_type

import weft as tf

state = {"a": tf.zeros([2]), "b": tf.ones([3])}
assert_type(tf.nest.map_structure(lambda t: t * 2, state), dict[str, Any])
assert_type(tf.nest.map_structure(tf.add, [1, 2], [3, 4]), list[Any])
assert_type(tf.nest.map_structure(tf.square, (1.0, [2.0])), tuple[Any, ...])
assert_type(tf.nest.flatten(state), list[Any])
assert_type(tf.nest.pack_sequence_as(state, [1, 2]), dict[str, Any])
assert_type(tf.nest.pack_sequence_as([0, 0], [1, 2]), list[Any])
assert_type(tf.nest.is_nested(state), bool)
tf.nest.assert_same_structure(state, {"a": 1, "b": 2})
