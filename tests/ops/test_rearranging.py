"""space_to_batch and kin, partitions, permutations, bitcast, fingerprint, timestamp."""

from __future__ import annotations

import time

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, boolean, check_case, f32, f64, i32

AMOUNTS = [[0, 1], [1, 0]]
PARTS = np.array([2, 0, 2, 0, 0], np.int32)


def to_batch_1d(x):  # blocks of 2 along axis 1, padded with one zero in front
    padded = np.pad(x, [(0, 0), (1, 0), (0, 0)])
    return np.concatenate([padded[:, ::2], padded[:, 1::2]])


CASES = [
    Case(lambda x: tf.space_to_batch(x, [2], [[1, 0]]), [f32(3, 5, 2)], {}, to_batch_1d),
    Case(lambda x: tf.space_to_batch(x, [3, 2], [[0, 1], [1, 0]]), [f32(2, 5, 3, 4)]),
    Case(
        lambda x: tf.batch_to_space(tf.space_to_batch(x, [3, 2], AMOUNTS), [3, 2], AMOUNTS),
        [f32(2, 5, 3, 4)],
        {},
        lambda x: x,
        label="there and back",
    ),
    Case(lambda x: tf.batch_to_space(x, [2], [[1, 0]]), [f32(4, 3)]),
    Case(lambda x: tf.space_to_batch_nd(x, [2], [[0, 0]]), [boolean(1, 4)]),
    Case(lambda x: tf.space_to_batch(x, [2, 2], [[0, 0], [0, 0]]), [f32(0, 2, 4)]),
    Case(tf.space_to_batch, [f32(2, 4), np.array([2]), np.array([[0, 2]])]),
    Case(tf.nn.space_to_depth, [f32(2, 4, 6, 3)], {"block_size": 2}),
    Case(tf.nn.depth_to_space, [f32(2, 1, 3, 8)], {"block_size": 2}),
    *[
        Case(
            lambda x, f=f: tf.nn.depth_to_space(tf.nn.space_to_depth(x, 2, f), 2, f),
            [f32(2, 4, 6, 8)],
            {},
            lambda x: x,
            grad=False,
            label=f"depth and back {f}",
        )
        for f in ("NHWC", "NCHW")
    ],
    Case(
        lambda x: tf.dynamic_partition(x, PARTS, 3),
        [f32(5, 2)],
        {},
        lambda x: [x[[1, 3, 4]], x[:0], x[[0, 2]]],
    ),
    Case(lambda x: tf.dynamic_partition(x, PARTS, 3)[2], [f32(5, 2)], label="one part"),
    Case(
        lambda x: tf.dynamic_partition(x, [[1, 0], [0, 1]], 2),
        [i32(2, 2, 3)],
        {},
        lambda x: [x[[0, 1], [1, 0]], x[[0, 1], [0, 1]]],
        grad=False,
    ),
    Case(
        lambda a, b: tf.dynamic_stitch([[0, 4], [[2], [1]]], [a, b]),
        [f32(2, 3), f32(2, 1, 3)],
        {},
        lambda a, b: np.stack([a[0], b[1, 0], b[0, 0], a[0] * 0, a[1]]),
    ),
    Case(tf.math.invert_permutation, [[3, 0, 2, 1]], {}, np.argsort),
    Case(tf.unravel_index, [[5, 0, 11], [3, 4]], {}, lambda i, d: np.array(np.unravel_index(i, d))),
    Case(lambda: tf.unravel_index(7, [3, 4]), [], {}, lambda: np.array([1, 3])),
    Case(
        tf.reverse_sequence,
        [f32(2, 3, 4), [1, 3]],
        {"seq_axis": 1},
        lambda x, _: np.stack([x[0], x[1, ::-1]]),
    ),
    Case(
        tf.reverse_sequence,
        [f32(2, 3, 4), [2, 0, 4]],
        {"seq_axis": -1, "batch_axis": 1},
        lambda x, _: np.stack([x[:, 0][:, [1, 0, 2, 3]], x[:, 1], x[:, 2][:, ::-1]], 1),
    ),
    *[
        Case(tf.bitcast, [sample], {"type": dtype}, expect, grad=False)
        for sample, dtype, expect in [
            (f32(3, 2), tf.int32, lambda x: x.view(np.int32)),
            (f32(3, 2), tf.float64, lambda x: x.view(np.float64)[:, 0]),
            (f64(3), tf.uint8, lambda x: x.view(np.uint8).reshape(3, 8)),
        ]
    ],
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_case(case: Case) -> None:
    check_case(case)


def test_values_of_space_to_depth() -> None:
    x = tf.reshape(tf.range(16), [1, 4, 4, 1])
    assert tf.nn.space_to_depth(x, 2)[0, 1, 0].numpy().tolist() == [8, 9, 12, 13]
    first = tf.nn.space_to_depth(tf.transpose(x, [0, 3, 1, 2]), 2, "NCHW")
    np.testing.assert_array_equal(first.numpy()[0, :, 1, 0], [8, 9, 12, 13])


def test_required_paddings() -> None:
    paddings, crops = tf.required_space_to_batch_paddings([5, 6], [2, 4], [[1, 0], [0, 1]])
    assert paddings.numpy().tolist() == [[1, 0], [0, 2]]
    assert crops.numpy().tolist() == [[0, 0], [0, 1]]


def test_strings_are_moved_too() -> None:
    assert tf.dynamic_stitch([[1]], [["x"]]).numpy().tolist() == [b"", b"x"]
    parts = tf.dynamic_partition(["a", "b"], [1, 0], 2)
    assert [p.numpy().tolist() for p in parts] == [[b"b"], [b"a"]]
    assert tf.reverse_sequence([["a", "b"]], [2], 1).numpy().tolist() == [[b"b", b"a"]]


def test_fingerprint() -> None:
    rows = tf.fingerprint([[1, 2], [3, 4]]).numpy()
    assert rows.tolist()[0] == [76, 18, 253, 133, 168, 204, 240, 10]
    pairs = tf.fingerprint([["a", "b"], ["c", "d"]]).numpy()
    assert pairs.tolist()[1] == [52, 252, 224, 38, 64, 226, 155, 60]
    assert tf.fingerprint(np.zeros((0, 3))).shape == (0, 8)
    traced = tf.function(tf.fingerprint, input_signature=[tf.TensorSpec([None], tf.string)])
    np.testing.assert_array_equal(traced(tf.constant(["a"])), tf.fingerprint(["a"]))


def test_timestamp_runs_in_every_call() -> None:
    now = tf.function(tf.timestamp)
    first = now().numpy()
    time.sleep(0.01)
    assert 0 < now().numpy() - first < 60


def test_errors() -> None:
    image = np.zeros((1, 4, 4, 1), np.float32)
    for call, text in [
        (lambda: tf.space_to_batch(image, [3, 2], [[0, 0]] * 2), "axis 1 with its padding has si"),
        (lambda: tf.space_to_batch(image, [0, 2], [[0, 0]] * 2), "block_shape must be positive"),
        (lambda: tf.space_to_batch(image, [2, 2], [[0, 0]]), "paddings and .the number of blocks"),
        (
            lambda: tf.space_to_batch(image, [2] * 4, [[0, 0]] * 4),
            "input must have rank at least 5",
        ),
        (lambda: tf.batch_to_space(image, [2], [[0, 0]]), "batch size 1 is no multiple"),
        (lambda: tf.batch_to_space(image, [1], [[3, 2]]), "crops .3, 2. are more than axis 1 has"),
        (lambda: tf.nn.depth_to_space(image, 2), "number of channels must be a multiple of 4"),
        (lambda: tf.nn.space_to_depth(image, 3), "height must be a multiple of 3, got 4"),
        (lambda: tf.nn.space_to_depth(image, 1), "block_size must be at least 2, got 1"),
        (lambda: tf.nn.space_to_depth(image, 2, "HWC"), "data_format must be 'NHWC' or 'NCHW'"),
        (lambda: tf.dynamic_partition([1], [2], 2), r"partitions must be in \[0, 2\), got 2"),
        (lambda: tf.dynamic_partition([1, 2], [0], 2), "partitions and the leading axes of data"),
        (lambda: tf.dynamic_stitch([[0]], [[1, 2]]), r"indices\[0\] and the leading axes of data"),
        (lambda: tf.dynamic_stitch([[-1]], [[1]]), "indices must not be negative"),
        (lambda: tf.dynamic_stitch([[0]], []), "lists of one length"),
        (lambda: tf.math.invert_permutation([0, 0]), "each of 0 to 1 once"),
        (lambda: tf.unravel_index([12], [3, 4]), r"outside of a tensor of shape \[3, 4\]"),
        (lambda: tf.reverse_sequence([[1, 2]], [3], 1), "between 0 and the size of seq_axis, 2"),
        (lambda: tf.reverse_sequence([[1, 2]], [1], 0), "seq_axis and batch_axis must differ"),
        (lambda: tf.bitcast([1, 2, 3], tf.int64), "last axis must have size 2"),
        (lambda: tf.fingerprint("a"), "data must have rank at least 1"),
        (lambda: tf.fingerprint(["a"], "md5"), "method must be 'farmhash64', got 'md5'"),
    ]:
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=text):
            call()
    with pytest.raises(
        TypeError, match="bitcast: type must be numeric, of whole bytes, got string"
    ):
        tf.bitcast([1], tf.string)
    with pytest.raises(TypeError, match="dynamic_stitch"):
        tf.dynamic_stitch([["a"]], [[1]])


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.float32])
@pytest.mark.parametrize("side", ["left", "right"])
def test_searching_many_integers(dtype: type, side: str) -> None:
    rng = np.random.default_rng(5)
    sequence = np.sort(rng.integers(0, 100, 50)).astype(dtype)
    values = rng.integers(0, 127, 1500).astype(dtype)
    if np.dtype(dtype).kind != "u":
        sequence, values = (sequence - 50).astype(dtype), (values - 60).astype(dtype)
    found = tf.searchsorted(sequence, values, side=side).numpy()
    assert found.tolist() == np.searchsorted(sequence, values, side).tolist()


@pytest.mark.parametrize("parts", [3, 300])
def test_partitions_of_many_rows(parts: int) -> None:
    rng = np.random.default_rng(6)
    ids, rows = rng.integers(0, parts, 1500), rng.normal(size=(1500, 2))
    for i, part in enumerate(tf.dynamic_partition(rows, ids.astype(np.int32), parts)):
        np.testing.assert_array_equal(part, rows[ids == i])
