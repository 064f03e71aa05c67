"""Static shapes."""

from __future__ import annotations

import copy
import pickle

import pytest

import weft as tf
from weft._src.core.shapes import Dim


def test_reprs() -> None:
    assert repr(tf.TensorShape([None, 3])) == "TensorShape([None, 3])"
    assert repr(tf.TensorShape(None)) == "TensorShape(None)"
    assert str(tf.TensorShape([2])) == "(2,)"
    assert str(tf.TensorShape([])) == "()"
    assert str(tf.TensorShape(None)) == "<unknown>"


def test_reading() -> None:
    s = tf.TensorShape([2, None, 4])
    assert s.rank == s.ndims == len(s) == 3
    assert s.as_list() == list(s) == [2, None, 4]
    assert s[0] == 2
    assert s[1] is None
    assert s[-1] == 4
    assert s[1:] == [None, 4]
    assert isinstance(s[:2], tf.TensorShape)
    assert s.num_elements() is None
    assert tf.TensorShape([2, 3]).num_elements() == 6
    assert not s.is_fully_defined()
    assert bool(tf.TensorShape([]))
    assert not tf.TensorShape(None)


def test_unknown_rank() -> None:
    s = tf.TensorShape(None)
    assert s.rank is None
    assert s[3] is None
    assert s[1:3] == [None, None]
    assert s.concatenate([3]).rank is None
    for use in (len, list, lambda x: x.as_list()):
        with pytest.raises(ValueError, match="unknown rank"):
            use(s)


def test_equality_and_hash() -> None:
    assert tf.TensorShape([None, 3]) == tf.TensorShape([None, 3])
    assert tf.TensorShape([2, 3]) == [2, 3] == tf.TensorShape((2, 3))
    assert tf.TensorShape([2]) != tf.TensorShape([3])
    assert tf.TensorShape(None) == tf.TensorShape(None)
    assert tf.TensorShape([2]) != "two"
    assert hash(tf.TensorShape([None])) == hash(tf.TensorShape([None]))


def test_compatibility() -> None:
    s = tf.TensorShape([None, 3])
    assert s.is_compatible_with([7, 3])
    assert s.is_compatible_with(None)
    assert not s.is_compatible_with([7, 4])
    assert not s.is_compatible_with([3])
    assert s.is_subtype_of(tf.TensorShape(None))
    assert tf.TensorShape([2, 3]).is_subtype_of(s)
    assert not s.is_subtype_of(tf.TensorShape([2, 3]))


def test_merging() -> None:
    assert tf.TensorShape([None, 3]).merge_with([2, None]) == [2, 3]
    assert tf.TensorShape(None).merge_with([2]) == [2]
    with pytest.raises(ValueError, match=r"\(2,\) and \(3,\)"):
        tf.TensorShape([2]).merge_with([3])
    joined = tf.TensorShape([2, 3]).most_specific_compatible_shape([2, 4])
    assert joined == [2, None]
    assert tf.TensorShape([2]).most_specific_compatible_shape([2, 4]).rank is None
    assert tf.TensorShape([2]) + [3] == [2, 3]
    assert [3] + tf.TensorShape([2]) == [3, 2]


def test_ranks_are_checked() -> None:
    s = tf.TensorShape([2, 3])
    assert s.with_rank(2) == s
    assert tf.TensorShape(None).with_rank(1) == [None]
    for check in (
        lambda: s.with_rank(3),
        lambda: s.with_rank_at_least(3),
        lambda: s.with_rank_at_most(1),
        lambda: s.assert_has_rank(1),
        lambda: s.assert_same_rank([1]),
        lambda: s.assert_is_compatible_with([4, 4]),
        lambda: tf.TensorShape([None]).assert_is_fully_defined(),
    ):
        with pytest.raises(ValueError, match="shape"):
            check()


def test_bad_sizes() -> None:
    with pytest.raises(ValueError, match="negative"):
        tf.TensorShape([-2])
    with pytest.raises(TypeError, match="'two'"):
        tf.TensorShape(["two"])


def test_copy_and_pickle() -> None:
    s = tf.TensorShape([None, 3])
    assert copy.deepcopy(s) == s
    assert pickle.loads(pickle.dumps(s)) == s


def test_unknown_sizes_have_an_identity() -> None:
    n, m = Dim(), Dim()
    assert n != m
    assert n + 0 is n
    assert n * 1 is n
    assert n - n == 0
    assert n * 0 == 0
    assert n // 1 is n
    assert isinstance(n + m, Dim)
    assert isinstance(3 * n, Dim)


def test_supertypes_and_messages() -> None:
    shape = tf.TensorShape([2, 3])
    assert shape.most_specific_common_supertype([tf.TensorShape([2, 4])]).as_list() == [2, None]
    assert shape.most_specific_common_supertype([tf.TensorShape([2])]).rank is None
    assert shape.most_specific_common_supertype([[2, 4]]) is None
    assert [d.size for d in tf.TensorShape([2, None]).as_proto().dim] == [2, -1]
    assert tf.TensorShape(None).as_proto().unknown_rank
