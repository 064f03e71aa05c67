"""tile, repeat, reverse, roll, meshgrid."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, check_case, f32, i32

CASES = [
    Case(tf.tile, [f32(2, 3)], {"multiples": [2, 3]}, lambda x: np.tile(x, [2, 3])),
    Case(tf.tile, [f32(2, 3), np.array([3, 2])], {}, np.tile, label="tile by a tensor"),
    Case(tf.tile, [f32()], {"multiples": []}, lambda x: x, label="tile scalar"),
    Case(tf.tile, [i32(2, 0)], {"multiples": [3, 2]}, lambda x: np.tile(x, [3, 2])),
    Case(tf.tile, [f32(2)], {"multiples": [0]}, lambda x: np.tile(x, 0), grad=False),
    *[
        Case(
            tf.repeat,
            [f32(2, 3)],
            {"repeats": r, "axis": a},
            lambda x, r=r, a=a: np.repeat(x, r, a),
            label=f"repeat {r} {a}",
        )
        for r, a in ((2, None), (3, 0), (2, -1), ([1, 2], 0), ([0, 2, 1], 1), ([2], 1))
    ],
    Case(tf.repeat, [f32()], {"repeats": 3}, lambda x: np.repeat(x, 3)),
    Case(
        lambda x, r: tf.repeat(x, r, axis=1),
        [f32(2, 3), np.array([1, 0, 2])],
        expect=lambda x, r: np.repeat(x, r, 1),
        label="repeat by a tensor",
    ),
    Case(
        lambda x, r: tf.repeat(x, r, axis=0),
        [f32(2, 3), np.array(2)],
        expect=lambda x, r: np.repeat(x, r, 0),
        label="repeat by a scalar tensor",
    ),
    *[
        Case(tf.reverse, [f32(2, 3, 4)], {"axis": a}, lambda x, a=a: np.flip(x, a))
        for a in ([0], [-1], [0, 2], [])
    ],
    *[
        Case(
            tf.roll,
            [f32(3, 4)],
            {"shift": s, "axis": a},
            lambda x, s=s, a=a: np.roll(x, s, a),
        )
        for s, a in ((1, 0), (-5, -1), ([1, 2], [0, 1]), ([1, 2], [1, 1]))
    ],
    Case(
        lambda x, s: tf.roll(x, s, 0),
        [f32(4), np.array(3)],
        expect=lambda x, s: np.roll(x, s),
        label="roll by a tensor",
    ),
    *[
        Case(
            lambda x, y, z, k=k: tf.meshgrid(x, y, z, indexing=k),
            [f32(2), f32(3), f32(4)],
            expect=lambda x, y, z, k=k: np.meshgrid(x, y, z, indexing=k),
            label=f"meshgrid {k}",
        )
        for k in ("xy", "ij")
    ],
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


def test_small_facts() -> None:
    assert tf.tile(["a"], [2]).numpy().tolist() == [b"a", b"a"]
    assert tf.repeat(["a", "b"], [2, 0]).numpy().tolist() == [b"a", b"a"]
    assert tf.repeat([1, 2], [1, -1]).numpy().tolist() == [1]
    assert tf.roll(["a", "b"], 1, 0).numpy().tolist() == [b"b", b"a"]
    assert tf.reverse(["a", "b"], [0]).numpy().tolist() == [b"b", b"a"]
    assert tf.meshgrid() == []
    assert [t.shape for t in tf.meshgrid(1, [2, 3])] == [(2, 1), (2, 1)]
    assert tf.repeat([1, 2, 3], 0).shape == (0,)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.tile([1, 2], [-1]), r"tile: multiples must not be negative, got \(-1,\)"),
        (lambda: tf.tile([1, 2], [3, 1]), "tile: the rank of input.*got 1 and 2"),
        (lambda: tf.repeat([1, 2, 3], [1, 2]), "the size of axis 0 and that of repeats.*3 and 2"),
        (lambda: tf.repeat([1], [[1]]), r"repeat: repeats must be a number or a vector"),
        (lambda: tf.repeat([[1]], 2, axis=2), "repeat: axis 2 is out of range"),
        (lambda: tf.reverse([1, 2], 0), "reverse: axis must be a list"),
        (lambda: tf.reverse([1, 2], [1]), "reverse: axis 1 is out of range"),
        (lambda: tf.reverse([[1, 2]], [0, -2]), "names an axis twice"),
        (lambda: tf.roll([[1]], [1, 2], [1]), "numbers of axes and of shifts.*1 and 2"),
        (lambda: tf.roll([1, 2], 1, 1), "roll: axis 1 is out of range"),
        (lambda: tf.roll(1, 1, 0), "roll: input must have rank at least 1"),
    ],
)
def test_shape_errors(call, text) -> None:
    with pytest.raises(tf.errors.ShapeError, match=text):
        call()


def test_other_errors() -> None:
    with pytest.raises(TypeError, match="repeat: repeats must be integers"):
        tf.repeat([1, 2], 2.5)
    with pytest.raises(ValueError, match="indexing must be 'xy' or 'ij', got 'zz'"):
        tf.meshgrid([1], indexing="zz")
    with pytest.raises(TypeError):
        tf.meshgrid([1], foo=3)


def test_gradient_of_what_was_tiled_away_is_zero() -> None:
    x = tf.constant([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.tile(x, [2, 0]))
    assert tape.gradient(y, x).numpy().tolist() == [[0.0, 0.0]]
