"""Specs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import weft as tf


def test_tensor_spec() -> None:
    spec = tf.TensorSpec([None, 3], tf.float32, "x")
    assert repr(spec) == "TensorSpec(shape=(None, 3), dtype=tf.float32, name='x')"
    assert str(spec) == repr(spec)
    assert spec.words == "float32 of shape (None, 3)"
    assert spec == tf.TensorSpec([None, 3], "float32", "x")
    assert spec != tf.TensorSpec([None, 3], tf.float64, "x")
    assert hash(spec) == hash(tf.TensorSpec([None, 3]))
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert spec.rank == 2
    assert tf.TensorSpec(None).rank is None


def test_compatibility() -> None:
    spec = tf.TensorSpec([None, 3])
    assert spec.is_compatible_with(tf.zeros([5, 3]))
    assert spec.is_compatible_with(tf.TensorSpec([5, 3]))
    assert not spec.is_compatible_with(tf.zeros([5, 4]))
    assert not spec.is_compatible_with(tf.zeros([5, 3], tf.float64))
    assert tf.TensorSpec([5, 3]).is_subtype_of(spec)
    assert not spec.is_subtype_of(tf.TensorSpec([5, 3]))


def test_most_specific() -> None:
    joined = tf.TensorSpec([2, 3]).most_specific_compatible_type(tf.TensorSpec([2, 5]))
    assert joined == tf.TensorSpec([2, None])
    with pytest.raises(ValueError, match="their types differ"):
        tf.TensorSpec([2]).most_specific_compatible_type(tf.TensorSpec([2], tf.int32))


def test_from_values() -> None:
    assert tf.TensorSpec.from_tensor(tf.zeros([2]), "z") == tf.TensorSpec([2], tf.float32, "z")
    assert tf.type_spec_from_value(np.zeros(3)) == tf.TensorSpec([3], tf.float64)
    assert tf.type_spec_from_value(1.5) == tf.TensorSpec([], tf.float32)
    with pytest.raises(TypeError, match="object"):
        tf.type_spec_from_value(object())


def test_names_of_supertypes() -> None:
    named, unnamed = tf.TensorSpec([2, 3], name="a"), tf.TensorSpec([None, 3])
    assert not named.is_subtype_of(unnamed)
    assert tf.TensorSpec([2, 3]).is_subtype_of(tf.TensorSpec([None, 3], name="a"))
    assert named.most_specific_common_supertype([tf.TensorSpec([2, 4], name="b")]) is None
    same = named.most_specific_common_supertype([tf.TensorSpec([2, 4], name="a")])
    assert same == tf.TensorSpec([2, None], name="a")


def test_types_stand_for_their_values_in_nests() -> None:
    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    assert tf.nest.flatten(spec) == [spec]
    assert tf.nest.flatten([spec, 1], expand_composites=True) == [
        tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.int64), 1,
    ]  # fmt: skip
    made = tf.nest.pack_sequence_as(
        spec, [tf.constant([1, 2]), tf.constant([0, 2], tf.int64)], expand_composites=True
    )
    assert made.to_list() == [[1, 2]]
    tf.nest.assert_same_structure(made, spec, expand_composites=True)
    assert tf.nest.flatten(tf.TensorSpec([2]), expand_composites=True) == [tf.TensorSpec([2])]
