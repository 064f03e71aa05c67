"""`tf.experimental.DynamicRaggedShape`, and functions that take one for a shape."""

from __future__ import annotations

from typing import Any

import pytest

import weft as tf

Shape = tf.experimental.DynamicRaggedShape
Rows = tf.experimental.RowPartition
TWO = tf.ragged.constant([[1, 2], [], [3, 4, 5]])
THREE = tf.ragged.constant([[[1], [2, 3]], [], [[4, 5, 6]]])


def test_where_shapes_come_from() -> None:
    assert Shape.from_tensor(THREE).static_lengths() == [3, (2, 0, 1), (1, 2, 3)]
    dense = Shape.from_tensor(tf.ones([2, 3]))
    assert (dense.static_lengths(), dense.rank, dense.inner_rank) == ([2, 3], 2, 2)
    assert Shape.from_lengths([2, (1, 2), 3]).num_row_partitions == 1
    partly = Shape.from_lengths([2, (1, 2), 3], num_row_partitions=2)
    assert partly.static_lengths() == [2, (1, 2), (3, 3, 3)]
    rows = [Rows.from_row_lengths([2, 0, 1]), Rows.from_row_lengths([1, 2, 3])]
    assert Shape.from_row_partitions(rows) == Shape.from_tensor(THREE)
    made = Shape(rows, [6], dtype=tf.int32)
    assert made.dtype == tf.int32
    assert made == Shape.from_tensor(THREE)
    assert [part.row_splits().numpy().tolist() for part in made.row_partitions] == [
        [0, 2, 2, 3], [0, 1, 3, 6],
    ]  # fmt: skip


def test_parts_of_shapes() -> None:
    shape = Shape.from_tensor(tf.RaggedTensor.from_row_lengths(tf.ones([5, 4, 2]), [2, 3]))
    assert shape.static_lengths() == [2, (2, 3), 4, 2]
    assert [shape[i].numpy() for i in (0, 2, -1)] == [2, 4, 2]
    for part, wanted in (
        (shape[:0], []),
        (shape[:1], [2]),
        (shape[:2], [2, (2, 3)]),
        (shape[:3], [2, (2, 3), 4]),
        (shape[2:], [4, 2]),
        (shape[-1:], [2]),
        (shape[:], [2, (2, 3), 4, 2]),
    ):
        assert part.static_lengths() == wanted
        assert part.rank == len(wanted)
    with pytest.raises(ValueError, match="begin with the first axis, or behind all ragged"):
        shape[1:]
    with pytest.raises(ValueError, match="Axis 1 is ragged"):
        shape[1]


def test_equality() -> None:
    assert Shape.from_tensor(TWO) == Shape.from_lengths([3, (2, 0, 3)])
    assert Shape.from_tensor(TWO) != Shape.from_lengths([3, (2, 1, 2)])
    assert Shape.from_tensor(TWO) != Shape.from_lengths([2, (2, 3)])
    assert Shape.from_tensor(TWO) != Shape.from_lengths([3, 2])
    assert Shape.from_tensor(TWO) != 3


@pytest.mark.parametrize("traced", [False, True])
def test_functions_that_take_them(traced: bool) -> None:
    def run(x: Any) -> Any:
        shape = tf.shape(x)
        return (
            tf.ones(shape),
            tf.zeros(shape, tf.string),
            tf.fill(shape, 7),
            tf.broadcast_to(tf.constant([[1], [2], [3]]), shape),
            tf.broadcast_to(5, shape),
            tf.reshape(tf.range(5), shape),
            tf.zeros(shape[:1]),
        )

    found = [part.to_list() for part in (tf.function(run) if traced else run)(TWO)[:-1]]
    assert found == [
        [[1.0, 1.0], [], [1.0, 1.0, 1.0]],
        [[b"", b""], [], [b"", b"", b""]],
        [[7, 7], [], [7, 7, 7]],
        [[1, 1], [], [3, 3, 3]],
        [[5, 5], [], [5, 5, 5]],
        [[0, 1], [], [2, 3, 4]],
    ]
    assert tf.ones(Shape.from_lengths([2, 3])).shape == [2, 3]
    with pytest.raises(TypeError, match="The shape of a RaggedTensor is no tensor"):
        tf.random.uniform(tf.shape(TWO))


def test_mistakes() -> None:
    with pytest.raises(ValueError, match="axis 1 has 2 rows, got 3 lengths"):
        Shape.from_lengths([2, (1, 2, 3)])
    for lengths in ([], [(1, 2)]):
        with pytest.raises(ValueError, match="lengths must begin with a number"):
            Shape.from_lengths(lengths)
    with pytest.raises(ValueError, match="reach to the last ragged axis"):
        Shape.from_lengths([2, (1, 2)], num_row_partitions=0)
    with pytest.raises(ValueError, match="at least one row partition"):
        Shape.from_row_partitions([])
    with pytest.raises(TypeError, match="must be a list of tf.experimental.RowPartition"):
        Shape([3], [1])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="inner_shape must be a vector of known length"):
        Shape([], 3)


def test_specs_and_bounds() -> None:
    assert tf.RaggedTensorSpec.from_value(TWO) == tf.RaggedTensorSpec([3, None], tf.int32)
    assert THREE.bounding_shape(axis=[0, 2]).numpy().tolist() == [3, 3]
    assert THREE.bounding_shape(axis=1, out_type=tf.int32).dtype == tf.int32
