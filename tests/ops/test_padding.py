"""pad in all its modes."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, check_case, f32, i32

PADS = [[1, 2], [0, 1]]


def padded(mode, **kwargs):
    return lambda x, p=PADS: np.pad(x, p, mode, **kwargs)


CASES = [
    Case(tf.pad, [f32(2, 3)], {"paddings": PADS}, padded("constant")),
    Case(tf.pad, [f32(2, 3), np.array(PADS)], {}, padded("constant"), label="paddings tensor"),
    Case(tf.pad, [i32(2, 3)], {"paddings": PADS}, padded("constant")),
    Case(
        tf.pad,
        [f32(2, 3)],
        {"paddings": PADS, "constant_values": 7},
        padded("constant", constant_values=7),
    ),
    Case(
        lambda x, c: tf.pad(x, PADS, constant_values=c * 2.0),
        [f32(2, 3), f32()],
        expect=lambda x, c: np.pad(x, PADS, constant_values=c * 2),
        label="constant tensor",
    ),
    Case(tf.pad, [f32(0, 3)], {"paddings": PADS}, padded("constant")),
    Case(tf.pad, [f32(3, 2)], {"paddings": PADS, "mode": "REFLECT"}, padded("reflect")),
    Case(tf.pad, [f32(2, 3)], {"paddings": PADS, "mode": "symmetric"}, padded("symmetric")),
    Case(
        lambda x, p: tf.pad(x, p, "REFLECT"),
        [f32(3, 2), np.array(PADS)],
        expect=padded("reflect"),
        label="reflect tensor",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


def test_other_dtypes() -> None:
    assert tf.pad(["a"], [[1, 0]]).numpy().tolist() == [b"", b"a"]
    assert tf.pad(["a"], [[1, 0]], constant_values="z").numpy().tolist() == [b"z", b"a"]
    assert tf.pad([True], [[0, 1]]).numpy().tolist() == [True, False]
    assert tf.pad(tf.constant([1.5], tf.bfloat16), [[0, 1]]).dtype == tf.bfloat16
    assert tf.pad(3, tf.zeros([0, 2], tf.int32)).numpy() == 3


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.pad([1], [[-1, 2]]), r"pad: paddings must not be negative, got \[\[-1, 2\]\]"),
        (lambda: tf.pad([1], [1, 2]), "pad: paddings must have rank 2"),
        (lambda: tf.pad([1], [[1, 2], [3, 4]]), "the number of rows of paddings.*1 and 2"),
        (lambda: tf.pad([1], [[1, 2, 3]]), "number of columns of paddings"),
        (lambda: tf.pad([1, 2, 3], [[3, 0]], "REFLECT"), "at most 2 in mode REFLECT"),
        (lambda: tf.pad([1, 2, 3], [[4, 0]], "SYMMETRIC"), "at most 3 in mode SYMMETRIC"),
        (lambda: tf.pad(tf.zeros([0]), [[1, 1]], "SYMMETRIC"), "at most 0"),
    ],
)
def test_shape_errors(call, text) -> None:
    with pytest.raises(tf.errors.ShapeError, match=text):
        call()


def test_other_errors() -> None:
    with pytest.raises(ValueError, match="pad: mode must be .*got 'FOO'"):
        tf.pad([1], [[1, 2]], "FOO")
    with pytest.raises(TypeError, match=r"9\.5"):
        tf.pad([1], [[1, 2]], constant_values=9.5)
    with pytest.raises(tf.errors.DTypeError, match="PadV2: tensor has dtype int32"):
        tf.pad([1], [[1, 2]], constant_values=tf.constant(1.0))
