"""Axes and counts that are tensors: constants of a graph, and what is computed of constants.

In graphs of TensorFlow every axis is a tensor. What tracing can know has to work; what it cannot
is an error that names the op and the argument.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

raw = tf.raw_ops
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) % 7
B = X > 3

# The op, its arguments, and the one that is an axis or a count.
CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("All", {"input": B, "axis": 1}, "axis"),
    ("Any", {"input": B, "axis": [0, 2]}, "axis"),
    ("ArgMax", {"input": X, "dimension": 2}, "dimension"),
    ("ArgMin", {"input": X, "dimension": -1}, "dimension"),
    ("Concat", {"concat_dim": 1, "values": [X, X]}, "concat_dim"),
    ("ConcatV2", {"values": [X, X], "axis": -1}, "axis"),
    ("ConjugateTranspose", {"x": X.astype(np.complex64), "perm": [2, 0, 1]}, "perm"),
    ("Cumprod", {"x": X, "axis": 1}, "axis"),
    ("Cumsum", {"x": X, "axis": 2, "exclusive": True}, "axis"),
    ("CumulativeLogsumexp", {"x": X, "axis": 1}, "axis"),
    ("EuclideanNorm", {"input": X, "axis": [1]}, "axis"),
    ("ExpandDims", {"input": X, "axis": 1}, "axis"),
    ("FFTND", {"input": X.astype(np.complex64), "fft_length": [3, 4], "axes": [1, 2]}, "axes"),
    ("GatherV2", {"params": X, "indices": [2, 0], "axis": 2}, "axis"),
    ("IRFFT", {"input": X.astype(np.complex64), "fft_length": [6]}, "fft_length"),
    ("MatrixDiagPartV3", {"input": X, "k": [-1, 1], "padding_value": 9.0}, "k"),
    ("Max", {"input": X, "axis": [0, 1], "keep_dims": True}, "axis"),
    ("Mean", {"input": X, "axis": 1}, "axis"),
    ("Min", {"input": X, "axis": [-1]}, "axis"),
    ("OneHot", {"indices": [1, 0], "depth": 3, "on_value": 1, "off_value": 0}, "depth"),
    ("Prod", {"input": X, "axis": [2]}, "axis"),
    ("RFFT", {"input": X, "fft_length": [6]}, "fft_length"),
    ("ReduceJoin", {"inputs": [["a", "b"], ["c", "d"]], "reduction_indices": 0},
     "reduction_indices"),
    ("ReverseV2", {"tensor": X, "axis": [1, -1]}, "axis"),
    ("Roll", {"input": X, "shift": [1, 2], "axis": [0, 2]}, "axis"),
    ("SparseReduceSum", {"input_indices": [[0, 1], [1, 0]], "input_values": [5, 6],
                         "input_shape": [2, 2], "reduction_axes": [1]}, "reduction_axes"),
    ("Split", {"axis": 1, "value": X, "num_split": 3}, "axis"),
    ("SplitV", {"value": X, "size_splits": [1, 3], "axis": 2, "num_split": 2}, "axis"),
    ("Sum", {"input": X, "axis": [0, -1]}, "axis"),
    ("TopKV2", {"input": X, "k": 2}, "k"),
    ("Transpose", {"x": X, "perm": [1, 2, 0]}, "perm"),
    ("UniqueV2", {"x": X[0], "axis": [1]}, "axis"),
]  # fmt: skip
IDS = [name for name, *_ in CALLS]

# These take an axis that is only known when the graph runs; the rank of a result may depend on it.
COMPUTED = {
    "All", "Any", "ArgMax", "ArgMin", "Concat", "ConcatV2", "ConjugateTranspose", "Cumprod",
    "Cumsum", "CumulativeLogsumexp", "EuclideanNorm", "ExpandDims", "GatherV2", "IRFFT", "Max",
    "Mean", "Min", "OneHot", "Prod", "ReduceJoin", "ReverseV2", "RFFT", "Roll", "Split",
    "SplitV", "Sum", "TopKV2", "Transpose",
}  # fmt: skip


def plain(out: Any) -> Any:
    return [np.asarray(x).tolist() for x in tf.nest.flatten(out)]


def computed(value: Any) -> Any:
    """The same numbers, by ops of which tracing does not know the result without running them."""
    x = tf.constant(value)
    doubled = tf.where(x > -(10**6), x * 2, x)
    order = tf.math.invert_permutation(tf.constant([1, 0]))
    return (doubled + order[1]) // (order[0] + 1)


@pytest.mark.parametrize(("name", "arguments", "axis"), CALLS, ids=IDS)
def test_constants(name: str, arguments: dict[str, Any], axis: str) -> None:
    op = getattr(raw, name)
    expected = plain(op(**arguments))
    rest = {key: value for key, value in arguments.items() if key != axis}
    eager = tf.constant(arguments[axis])
    for make in (
        lambda: eager,
        lambda: tf.constant(arguments[axis]),
        lambda: computed(arguments[axis]),
    ):
        assert plain(tf.function(lambda make=make: op(**rest, **{axis: make()}))()) == expected


@pytest.mark.parametrize(("name", "arguments", "axis"), CALLS, ids=IDS)
def test_in_functions_that_are_called(name: str, arguments: dict[str, Any], axis: str) -> None:
    """A constant goes through calls, branches and loops of imported graphs."""
    op = getattr(raw, name)
    rest = {key: value for key, value in arguments.items() if key != axis}

    def inner(x: Any) -> Any:
        return tf.nest.flatten(op(**rest, **{axis: x}))

    types = [x.dtype for x in inner(tf.constant(arguments[axis]))]

    @tf.function
    def f(flag):
        given = tf.constant(arguments[axis])
        called = raw.PartitionedCall(args=[given], Tout=types, f=inner)
        chosen = raw.If(cond=flag, input=[given], Tout=types, then_branch=inner, else_branch=inner)
        return called, chosen

    expected = plain(op(**arguments))
    assert [plain(part) for part in f(tf.constant(True))] == [expected, expected]


@pytest.mark.parametrize(("name", "arguments", "axis"), CALLS, ids=IDS)
def test_what_is_not_known(name: str, arguments: dict[str, Any], axis: str) -> None:
    op = getattr(raw, name)
    rest = {key: value for key, value in arguments.items() if key != axis}
    call = tf.function(lambda x: op(**rest, **{axis: x}))
    given = tf.constant(arguments[axis])
    if name in COMPUTED:
        np.testing.assert_equal(plain(call(given)), plain(op(**arguments)))
        return
    with pytest.raises((TypeError, ValueError), match="must be known while tracing"):
        call(given)


def test_sums_over_computed_axes() -> None:
    """The gradient of what is broadcast, with sizes that are not known."""

    @tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([None, None])])
    def f(x, y):
        shapes = [raw.Shape(input=x), raw.Shape(input=y)]
        axes = raw.BroadcastGradientArgs(s0=shapes[0], s1=shapes[1])
        g = raw.Mul(x=x, y=y)
        both = zip((y, x), axes, shapes, strict=True)
        return [
            raw.Reshape(tensor=raw.Sum(input=g * other, axis=axis), shape=shape)
            for other, axis, shape in both
        ]

    rng = np.random.default_rng(3)
    for left, right in (((2, 3), (2, 3)), ((1, 3), (2, 3)), ((2, 1), (1, 3)), ((1, 1), (2, 1))):
        x, y = [tf.constant(rng.normal(size=s), tf.float32) for s in (left, right)]
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = tf.reduce_sum((x * y) ** 2) / 2
        for found, wanted in zip(f(x, y), tape.gradient(z, [x, y]), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_axes_of_broadcasting_that_are_known() -> None:
    """Sizes are symbols: the same one needs no sum, and 1 is summed over whatever the other is."""

    @tf.function(input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([4])])
    def f(x, y):
        shapes = [raw.Shape(input=v) for v in (x, y, x * 2.0)]
        axes = [
            raw.BroadcastGradientArgs(s0=shapes[0], s1=other)
            for other in (shapes[1], shapes[2], tf.constant([1, 4]))
        ]
        known = [[tf.get_static_value(axis).tolist() for axis in pair] for pair in axes]
        assert known == [[[], [0]], [[], []], [[], [0]]]
        return x

    f(tf.zeros([3, 4]), tf.zeros([4]))
    with pytest.raises(tf.errors.ShapeError, match=r"\[2\] and \[3\] do not fit"):
        raw.BroadcastGradientArgs(s0=[2], s1=[3])
    with pytest.raises(tf.errors.DTypeError, match="s0 has dtype float32"):
        raw.BroadcastGradientArgs(s0=[2.0], s1=[3.0])
    with pytest.raises(tf.errors.ShapeError, match="s0 must have rank 1"):
        raw.BroadcastGradientArgs(s0=2, s1=[3])


def test_wrong_axes_that_are_computed() -> None:
    call = tf.function(lambda x, axis: raw.Sum(input=x, axis=axis))
    with pytest.raises(tf.errors.ShapeError, match=r"axis \(0, -3\) names an axis twice"):
        call(tf.constant(X), tf.constant([0, -3]))
    with pytest.raises(tf.errors.ShapeError, match="axis 3 is out of range"):
        call(tf.constant(X), tf.constant([3]))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "float16", "bfloat16"])
def test_means_of_other_dtypes(dtype: str) -> None:
    x = tf.cast(tf.constant([[100, 27, -5], [90, 30, -8]]), dtype)
    call = tf.function(lambda x, axis: raw.Mean(input=x, axis=axis))
    for axis in ([0], [1], [0, 1]):
        found, wanted = call(x, tf.constant(axis)), tf.reduce_mean(x, axis)
        assert found.dtype is wanted.dtype
        assert found.numpy().tolist() == wanted.numpy().tolist()


def test_means_over_computed_axes() -> None:
    f = tf.function(lambda x, axis, keep: raw.Mean(input=x, axis=axis, keep_dims=keep))
    for axis in ([1], [0, 2], [-1], [0, 1, 2]):
        for keep in (True, False):
            found = f(tf.constant(X), tf.constant(axis), keep)
            np.testing.assert_allclose(found, X.mean(tuple(axis), keepdims=keep), rtol=1e-6)
