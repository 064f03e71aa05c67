"""concat, stack, unstack, split, tuple."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, boolean, c64, check_case, f32, i32


def concat(*xs, axis):
    return tf.concat(list(xs), axis)


def stack(*xs, axis):
    return tf.stack(list(xs), axis)


def split_of(num, axis):
    return lambda x: list(np.split(x, num, axis))


CASES = [
    Case(
        concat,
        [f32(2, 3, 4), f32(2, 1, 4), f32(2, 0, 4)],
        {"axis": a},
        lambda *xs, a=a: np.concatenate(xs, a),
    )
    for a in (1, -2)
]
CASES += [
    Case(concat, [i32(2, 3), i32(4, 3)], {"axis": 0}, lambda x, y: np.concatenate([x, y])),
    Case(concat, [boolean(2), boolean(3)], {"axis": 0}, lambda x, y: np.concatenate([x, y])),
    Case(concat, [c64(2), c64(3)], {"axis": -1}, lambda x, y: np.concatenate([x, y])),
    Case(concat, [f32(2, 3)], {"axis": 0}, lambda x: x, label="concat of one"),
    *[
        Case(stack, [f32(2, 3), f32(2, 3)], {"axis": a}, lambda *xs, a=a: np.stack(xs, a))
        for a in (0, 1, 2, -1, -3)
    ],
    Case(stack, [f32(), f32(), f32()], {"axis": 0}, lambda *xs: np.stack(xs)),
    *[
        Case(
            tf.unstack,
            [f32(2, 3, 4)],
            {"axis": a, "num": n},
            lambda x, a=a: list(np.moveaxis(x, a, 0)),
        )
        for a, n in ((0, 2), (1, 3), (-1, 4))
    ],
    *[
        Case(
            tf.split,
            [f32(4, 6)],
            {"num_or_size_splits": n, "axis": a},
            split_of(n, a),
            label=f"split {n} {a}",
        )
        for n, a in ((2, 0), (3, 1), (6, -1), (1, 0))
    ],
    Case(
        lambda x: tf.split(x, [1, -1, 2], axis=1),
        [f32(2, 7)],
        expect=lambda x: np.split(x, [1, 5], 1),
        label="split sizes",
    ),
    Case(
        lambda x, n: tf.split(x, n, num=3),
        [f32(7, 2), np.array([1, 0, 6])],
        expect=lambda x, n: np.split(x, [1, 1]),
        label="split sizes tensor",
    ),
    Case(
        lambda x: tf.split(x, 2)[1] * 3.0,
        [f32(4, 3)],
        expect=lambda x: x[2:] * 3,
        label="one part used",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


def test_strings_and_narrow_floats() -> None:
    assert tf.concat([["a"], ["b", "c"]], 0).numpy().tolist() == [b"a", b"b", b"c"]
    assert [t.numpy() for t in tf.unstack(["a", "b"])] == [b"a", b"b"]
    assert tf.stack(["a", "b"]).shape == (2,)
    x = tf.constant([1.5, 2.5], tf.bfloat16)
    assert tf.concat([x, x], 0).dtype == tf.bfloat16
    assert tf.split(x, 2)[1].numpy().tolist() == [2.5]


def test_items_take_the_dtype_of_a_tensor() -> None:
    assert tf.concat([[1], tf.constant([2.0])], 0).dtype == tf.float32
    assert tf.concat([[1.0], [2]], 0).dtype == tf.float32
    assert tf.concat([[1], []], 0).numpy().tolist() == [1]
    assert tf.stack([1, 2.0]).dtype == tf.float32
    assert tf.stack([tf.constant(1, tf.int64), 2]).dtype == tf.int64
    assert tf.stack([]).shape == (0,)
    with pytest.raises(tf.errors.DTypeError, match=r"values\[1\] has dtype float32"):
        tf.concat([tf.constant([1]), tf.constant([1.0])], 0)


def test_tuple_keeps_none() -> None:
    a, none, b = tf.tuple([tf.constant(1), None, tf.constant(2.0)])
    assert (a.numpy(), none, b.numpy()) == (1, None, 2.0)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.concat([1, 2], 0), "concat: scalars cannot be joined.*tf.stack"),
        (lambda: tf.concat([[1], [2]], 1), r"concat: axis 1 is out of range; allowed is \[-1, 1\)"),
        (
            lambda: tf.concat([[[1, 2]], [[3]]], 0),
            r"axis 1 in \(1, 2\) and \(1, 1\) \(values\[1\]\)",
        ),
        (lambda: tf.concat([[1], [[2]]], 0), r"equal rank, got shapes \(1,\) and \(1, 1\)"),
        (lambda: tf.concat([], 0), "concat: at least one tensor"),
        (lambda: tf.stack([[1], [2, 3]]), r"stack: values\[0\] and values\[1\].*\(1,\) and \(2,\)"),
        (lambda: tf.stack([1, 2], axis=2), r"stack: axis 2 is out of range; allowed is \[-1, 1\)"),
        (
            lambda: tf.unstack([[1, 2, 3]], num=2),
            "unstack: num and the size.*3 and 2|2 and 3|1 and 2",
        ),
        (lambda: tf.unstack(1), "unstack: axis 0 is out of range"),
        (lambda: tf.split([1, 2, 3], 2), "size 3 cannot be split into 2 equal parts"),
        (lambda: tf.split([1, 2, 3], [1, 1]), r"do not add up.*got \[1, 1\] for an axis of size 3"),
        (lambda: tf.split([1, 2, 3], [-1, -1]), "except for one -1"),
        (lambda: tf.split([1, 2, 3], [4, -1]), "do not add up"),
        (lambda: tf.split([1, 2, 3], [3], num=2), "split: .*2"),
        (lambda: tf.split(3, 1), "split: value must have rank at least 1"),
    ],
)
def test_shape_errors(call, text) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text) as info:
        call()
    assert isinstance(info.value, ValueError)


def test_other_errors() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least 1, got 0"):
        tf.split([1, 2], 0)
    with pytest.raises(ValueError, match="Python number or a vector"):
        tf.split([1, 2], tf.constant(2))
    with pytest.raises(TypeError, match="concat: axis must be"):
        tf.concat([[1], [2]], 0.5)
