"""Functions of tensors on ragged ones: order, parts, picking, products, text, rows of results."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.errors import InvalidArgumentError, ShapeError

ROWS = [[3.0, 1.0], [], [5.0, 4.0, 2.0]]
NESTED = [[[1, 2], [3]], [], [[4, 5, 6]]]


INT_ROWS = tf.RaggedTensorSpec([None], tf.int32)


def rt() -> Any:
    return tf.ragged.constant(ROWS)


def nested() -> Any:
    return tf.ragged.constant(NESTED)


def inner() -> Any:
    return tf.ragged.constant([[[1.0, 2.0], [4.0, 3.0]], [], [[6.0, 5.0]]], ragged_rank=1)


def words() -> Any:
    return tf.ragged.constant([["ab", "c d"], [], ["E"]])


def listed(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return [listed(part) for part in x]
    return x.to_list() if isinstance(x, tf.RaggedTensor) else np.asarray(x).tolist()


CASES = [
    (rt, lambda x: tf.reverse(x, [0]), ROWS[::-1]),
    (rt, lambda x: tf.reverse(x, [-1]), [[1.0, 3.0], [], [2.0, 4.0, 5.0]]),
    (nested, lambda x: tf.reverse(x, [2, 0]), [[[6, 5, 4]], [], [[2, 1], [3]]]),
    (inner, lambda x: tf.reverse(x, [2]), [[[2, 1], [3, 4]], [], [[5, 6]]]),
    (rt, lambda x: tf.tile(x, [2, 1]), ROWS + ROWS),
    (rt, lambda x: tf.tile(x, [1, 2]), [row + row for row in ROWS]),
    (rt, lambda x: tf.tile(x, [0, 3]), []),
    (rt, lambda x: tf.tile(x, [2, 0]), [[]] * 6),
    (nested, lambda x: tf.tile(x, [1, 1, 2])[0], [[1, 2, 1, 2], [3, 3]]),
    (nested, lambda x: tf.tile(x, [1, 2, 1])[0], [[1, 2], [3], [1, 2], [3]]),
    (inner, lambda x: tf.tile(x, [1, 1, 2])[2], [[6, 5, 6, 5]]),
    (rt, tf.sort, [[1.0, 3.0], [], [2.0, 4.0, 5.0]]),
    (rt, lambda x: tf.sort(x, direction="DESCENDING"), [[3.0, 1.0], [], [5.0, 4.0, 2.0]]),
    (rt, tf.argsort, [[1, 0], [], [2, 1, 0]]),
    (rt, lambda x: tf.argsort(x * 0, direction="DESCENDING"), [[0, 1], [], [0, 1, 2]]),
    (nested, lambda x: tf.sort(-x), [[[-2, -1], [-3]], [], [[-6, -5, -4]]]),
    (inner, lambda x: tf.sort(x, axis=2), [[[1, 2], [3, 4]], [], [[5, 6]]]),
    (rt, lambda x: tf.cumsum(x, 1), [[3.0, 4.0], [], [5.0, 9.0, 11.0]]),
    (rt, lambda x: tf.cumsum(x, 1, reverse=True), [[4.0, 1.0], [], [11.0, 6.0, 2.0]]),
    (rt, lambda x: tf.cumsum(x, 0), [[3.0, 1.0], [], [8.0, 5.0, 2.0]]),
    (rt, lambda x: tf.math.cumprod(x, 1), [[3.0, 3.0], [], [5.0, 20.0, 40.0]]),
    (inner, lambda x: tf.cumsum(x, 1)[0], [[1, 2], [5, 5]]),
    (rt, lambda x: tf.where(x > 2), [[0, 0], [2, 0], [2, 1]]),
    (nested, lambda x: tf.where(x > 4), [[2, 0, 1], [2, 0, 2]]),
    (rt, lambda x: tf.squeeze(tf.expand_dims(x, 0), 0), ROWS),
    (rt, lambda x: tf.squeeze(tf.expand_dims(x, 1), [1]), ROWS),
    (rt, lambda x: tf.squeeze(tf.expand_dims(x, 2), -1), ROWS),
    (rt, lambda x: tf.squeeze(x[:, :1][::2], 1), [3.0, 5.0]),
    (rt, lambda x: tf.squeeze(x, []), ROWS),
    (rt, lambda x: tf.reshape(x, [-1]), [3.0, 1.0, 5.0, 4.0, 2.0]),
    (rt, lambda x: tf.split(x, [1, 2]), [ROWS[:1], ROWS[1:]]),
    (inner, lambda x: tf.split(x, 2, axis=2)[1][0], [[2], [3]]),
    (rt, lambda x: tf.dynamic_partition(x, [1, 0, 1], 2), [[[]], ROWS[::2]]),
    (rt, lambda x: tf.gather(x, [[2, 0], [1, 1]]), [[ROWS[2], ROWS[0]], [[], []]]),
    (rt, lambda x: tf.gather(x, tf.ragged.constant([[2], [0, 1]])), [ROWS[2:], ROWS[:2]]),
    (rt, lambda x: tf.gather(x, 2), ROWS[2]),
    (
        rt,
        lambda x: tf.gather(x, tf.ragged.constant([[1], [], [2, 0]]), batch_dims=1),
        [[1.0], [], [2.0, 5.0]],
    ),
    (
        rt,
        lambda x: tf.gather(x, tf.ragged.constant([[[1], []], [], [[2, 0]]]), batch_dims=1),
        [[[1.0], []], [], [[2.0, 5.0]]],
    ),
    (inner, lambda x: tf.gather(x, [1, 0], axis=2), [[[2, 1], [3, 4]], [], [[5, 6]]]),
    (inner, lambda x: tf.gather(x[::2], [0], axis=1), [[[1, 2]], [[6, 5]]]),
    (inner, lambda x: tf.gather(x[::2], 0, axis=1), [[1, 2], [6, 5]]),
    (
        inner,
        lambda x: tf.gather(x, [[1], [0], [0]], axis=2, batch_dims=1),
        [[[2], [3]], [], [[6]]],
    ),
    (
        nested,
        lambda x: tf.gather(x, tf.ragged.constant([[[1], [0]], [], [[2, 2]]]), batch_dims=2),
        [[[2], [3]], [], [[6, 6]]],
    ),
    (
        lambda: tf.ragged.constant([[1], [2, 0]]),
        lambda i: tf.gather([[1, 2, 3], [4, 5, 6]], i, batch_dims=1),
        [[2], [6, 4]],
    ),
    (rt, lambda x: tf.gather_nd(x, [[0, 1], [2, 2]]), [1.0, 2.0]),
    (rt, lambda x: tf.gather_nd(x, [[0], [2]]), [ROWS[0], ROWS[2]]),
    (rt, lambda x: tf.gather_nd(x, [2, 2]), 2.0),
    (nested, lambda x: tf.gather_nd(x, [[0, 1], [2, 0]]), [[3], [4, 5, 6]]),
    (inner, lambda x: tf.gather_nd(x, [[0, 1, 1], [2, 0, 0]]), [3.0, 6.0]),
    (
        lambda: tf.ragged.constant([[[1, 0]], [[0, 0], [0, 1]]], ragged_rank=1),
        lambda i: tf.gather_nd([[7, 8], [9, 10]], i),
        [[9], [7, 8]],
    ),
    (inner, lambda x: tf.matmul(x, tf.ones([3, 2, 4]))[2], [[11.0] * 4]),
    (inner, lambda x: tf.matmul(x, x, transpose_b=True), [[[5, 10], [10, 25]], [], [[61]]]),
    (inner, lambda x: tf.matmul(x, x, transpose_a=True)[2], [[36, 30], [30, 25]]),
    (
        lambda: tf.ragged.constant([[[1.0, 2.0]], [[5.0], [6.0]]]),
        lambda x: tf.matmul(x, tf.ragged.constant([[[1.0], [3.0]], [[2.0, 1.0]]])),
        [[[7.0]], [[10.0, 5.0], [12.0, 6.0]]],
    ),
    (
        lambda: tf.ragged.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        lambda x: x @ tf.constant([[1.0], [10.0]]),
        [[21.0], [43.0], [65.0]],
    ),
    (rt, lambda x: tf.one_hot(tf.cast(x, tf.int32), 4, axis=2)[0], [[0, 0, 0, 1], [0, 1, 0, 0]]),
    (rt, lambda x: tf.math.unsorted_segment_sum(x, [1, 0, 1], 2), [[], [8.0, 5.0, 2.0]]),
    (nested, lambda x: tf.math.bincount(x)[3:], [1, 1, 1, 1]),
    (
        lambda: tf.ragged.constant([[1, 1], [], [3, 0]]),
        lambda x: tf.math.bincount(x, axis=-1, minlength=5),
        [[0, 2, 0, 0, 0], [0] * 5, [1, 0, 0, 1, 0]],
    ),
    (
        lambda: tf.ragged.constant([[1, 1], [], [3, 0]]),
        lambda x: tf.math.bincount(x, axis=-1, maxlength=2, binary_output=True),
        [[0, 1], [0, 0], [1, 0]],
    ),
    (rt, lambda x: tf.shape(x)[0], 3),
    (inner, lambda x: tf.shape(x)[2], 2),
    (words, tf.strings.lower, [[b"ab", b"c d"], [], [b"e"]]),
    (words, tf.strings.split, [[[b"ab"], [b"c", b"d"]], [], [[b"E"]]]),
    (words, lambda x: tf.strings.join([x, x], "-"), [[b"ab-ab", b"c d-c d"], [], [b"E-E"]]),
    (words, lambda x: tf.strings.to_number(tf.strings.as_string(tf.strings.length(x))),
     [[2.0, 3.0], [], [1.0]]),
    (words, lambda x: tf.strings.format("<{}>", x), b"<[['ab', 'c d'], [], ['E']]>"),
    (words, lambda x: tf.ragged.cross([x, [[1], [2], [3]]]),
     [[b"ab_X_1", b"c d_X_1"], [], [b"E_X_3"]]),
    (words, lambda x: tf.ragged.stack_dynamic_partitions(x, [1, 1, 0], 2),
     [[[b"E"]], [[b"ab", b"c d"], []]]),
    (rt, lambda x: tf.map_fn(lambda row: row * 2, x), [[6.0, 2.0], [], [10.0, 8.0, 4.0]]),
    (rt, lambda x: tf.map_fn(tf.reduce_sum, x, fn_output_signature=tf.float32), [4.0, 0.0, 11.0]),
    (
        nested,
        lambda x: tf.map_fn(
            lambda r: tf.reduce_sum(r, 1), x, fn_output_signature=INT_ROWS
        ),
        [[3, 3], [], [15]],
    ),
    (
        nested,
        lambda x: tf.map_fn(
            lambda r: r + 1, x, fn_output_signature=tf.RaggedTensorSpec([None, None], tf.int32)
        ),
        [[[2, 3], [4]], [], [[5, 6, 7]]],
    ),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(CASES)))
def test_functions(number: int) -> None:
    make, fn, expected = CASES[number]
    assert listed(fn(make())) == expected
    assert listed(tf.function(fn)(make())) == expected
    spec = make()._type_spec
    open_rows = tf.RaggedTensorSpec(
        [None, *spec.shape[1:]], spec.dtype, spec.ragged_rank, spec.row_splits_dtype
    )
    assert listed(tf.function(fn, input_signature=[open_rows])(make())) == expected
    narrow = make().with_row_splits_dtype(tf.int32)
    assert listed(tf.function(fn)(narrow)) == listed(fn(narrow)) == expected


GRADIENTS = [
    lambda x: tf.reverse(x, [1]) * x,
    lambda x: tf.tile(x, [2, 3]) ** 2,
    lambda x: tf.sort(x) ** 3,
    lambda x: tf.cumsum(x, 1) ** 2,
    lambda x: tf.gather(x, tf.ragged.constant([[1, 1], [], [2, 0]]), batch_dims=1) ** 2,
    lambda x: tf.gather_nd(x, [[0, 1], [2, 2], [0, 1]]) ** 2,
    lambda x: tf.matmul(tf.expand_dims(x, 2), tf.expand_dims(x, 2), transpose_b=True),
    lambda x: tf.squeeze(tf.expand_dims(x, 1), 1) ** 2,
    lambda x: tf.math.unsorted_segment_sum(x, [1, 0, 1], 2) ** 2,
    lambda x: tf.map_fn(lambda row: row**2, x),
]


@pytest.mark.parametrize("number", range(len(GRADIENTS)))
def test_gradients(number: int) -> None:
    fn = GRADIENTS[number]
    flat = np.array([3.0, 1.0, 5.0, 4.0, 2.0])

    def total(values: Any) -> Any:
        out = fn(rt().with_values(values))
        return tf.reduce_sum(out.flat_values if isinstance(out, tf.RaggedTensor) else out)

    def gradient(values: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(values)
            y = total(values)
        return tf.convert_to_tensor(tape.gradient(y, values))

    step = 1e-5
    expected = [
        (total(flat + step * e) - total(flat - step * e)).numpy() / (2 * step) for e in np.eye(5)
    ]
    x = tf.constant(flat)
    np.testing.assert_allclose(gradient(x), expected, rtol=1e-6)
    spec = [tf.TensorSpec([None], tf.float64)]
    np.testing.assert_allclose(tf.function(gradient, input_signature=spec)(x), expected, rtol=1e-6)


def test_nan_stays_in_its_row() -> None:
    x = tf.ragged.constant([[1.0, float("nan")], [2.0, 3.0]])
    assert listed(tf.cumsum(x, 1))[1] == [2.0, 5.0]
    assert listed(tf.sort(x))[1] == [2.0, 3.0]
    a = tf.ragged.constant([[[float("inf")]], [[1.0], [2.0]]], ragged_rank=1)
    assert listed(tf.matmul(a, tf.ones([2, 1, 1])))[1] == [[1.0], [2.0]]


WRONG = [
    (lambda: rt() + tf.ragged.constant([[1.0, 2.0], [], [3.0]]), InvalidArgumentError,
     r"AddV2.*row = 2 length in the first = 3 length in the second = 1"),
    (lambda: rt() == tf.ragged.constant([[1.0, 2.0]]), InvalidArgumentError,
     "equally many rows: rows of the first = 3 rows of the second = 1"),
    (lambda: tf.reverse(rt(), [5]), ShapeError, "reverse.*5"),
    (lambda: tf.tile(rt(), [2]), ShapeError, "tile: multiples must have 2 numbers"),
    (lambda: tf.sort(rt(), axis=0), ShapeError, "sort: axis 0.*to_tensor"),
    (lambda: tf.squeeze(rt(), 1), InvalidArgumentError, "size one.*row lengths"),
    (lambda: tf.squeeze(rt(), 0), InvalidArgumentError, "size one.*rows = 3"),
    (lambda: tf.squeeze(rt()), ValueError, "axis="),
    (lambda: tf.split(rt(), 2, axis=1), ShapeError, "axis 1.*is ragged"),
    (lambda: tf.reshape(rt(), [5, 1]), TypeError, r"\[-1\]"),
    (lambda: tf.gather(nested(), [0], axis=1), InvalidArgumentError, "within the row"),
    (lambda: tf.gather(rt(), tf.ragged.constant([[0], [0], [0]]), batch_dims=1),
     InvalidArgumentError, "within the row"),
    (lambda: tf.gather(rt(), tf.ragged.constant([[0], [0]]), batch_dims=1),
     InvalidArgumentError, "equally many rows"),
    (lambda: tf.gather(nested(), rt(), axis=1, batch_dims=2), ShapeError, "batch_dims"),
    (lambda: tf.gather_nd(rt(), [[1, 0]]), InvalidArgumentError, "gather_nd.*within the row"),
    (lambda: tf.gather_nd(rt(), [[7]]), InvalidArgumentError, "gather_nd"),
    (lambda: tf.matmul(rt(), rt()), InvalidArgumentError, "same length"),
    (lambda: tf.matmul(inner(), tf.ones([3, 5, 1])), InvalidArgumentError, "inner sizes"),
    (lambda: tf.matmul(inner(), tf.ones([2, 1])), ShapeError, "same rank"),
    (lambda: tf.one_hot(tf.cast(rt(), tf.int32), 3, axis=1), ShapeError, "one_hot: axis"),
    (lambda: tf.shape(rt())[1], ValueError, r"row_lengths.*bounding_shape"),
    (lambda: tf.random.normal(tf.shape(rt())), TypeError, "bounding_shape"),
    (lambda: tf.boolean_mask(rt(), [True, False, True]), TypeError, r"tf\.ragged\.boolean_mask"),
    (lambda: tf.map_fn(tf.reduce_sum, rt()), ShapeError, "fn_output_signature=tf.float32"),
    (lambda: tf.ragged.cross([rt()]), TypeError, "strings, int32 or int64"),
    (lambda: tf.ragged.cross([words(), [[1], [2]]]), InvalidArgumentError, "equally many rows"),
    (lambda: tf.ragged.cross([]), ValueError, "at least one"),
    (lambda: tf.ragged.cross_hashed([words()], num_buckets=-1), ValueError, "num_buckets"),
    (lambda: tf.ragged.stack_dynamic_partitions([1, 2], [0, 5], 2), InvalidArgumentError, "nrows"),
    (lambda: tf.ragged.range([1], [5], 0), InvalidArgumentError, "deltas must not be 0"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_errors(number: int) -> None:
    fn, error, text = WRONG[number]
    with pytest.raises(error, match=text):
        fn()
    with pytest.raises(error, match=text):
        tf.function(fn)()


def test_row_lengths_that_differ_are_named_when_the_graph_runs() -> None:
    f = tf.function(lambda x, y: x + y, input_signature=[tf.RaggedTensorSpec([None, None])] * 2)
    with pytest.raises(InvalidArgumentError, match=r"row = 2 .*first = 3 .*second = 1"):
        f(rt(), tf.ragged.constant([[1.0, 2.0], [], [3.0]]))
    with pytest.raises(InvalidArgumentError, match="equally many rows"):
        f(rt(), tf.ragged.constant([[1.0, 2.0]]))


def test_hashes_are_those_of_tensorflow() -> None:
    letters, more = tf.ragged.constant([["a"], ["b", "c"]]), tf.ragged.constant([["d"], ["e"]])
    digits = tf.ragged.constant([[7], [8]])
    crossed = tf.ragged.cross_hashed([letters, more])
    assert listed(crossed) == [[1584069791037555375], [4171697120956746554, 1746051686049959641]]
    keyed = tf.ragged.cross_hashed([letters, digits], num_buckets=100, hash_key=5)
    assert listed(keyed) == [[99], [12, 49]]
    numbers = tf.ragged.cross_hashed([tf.ragged.constant([[1], [2, 3]]), digits])
    assert listed(numbers) == [[3664341731679759082], [4885241289950124012, 7337512518617037356]]


def test_shapes() -> None:
    assert repr(tf.shape(nested())) == (
        "<DynamicRaggedShape lengths=[3, (2, 0, 1), (2, 1, 3)] num_row_partitions=2>"
    )
    shape = tf.shape(inner(), out_type=tf.int64)
    assert isinstance(shape, tf.experimental.DynamicRaggedShape)
    assert (shape.rank, shape.dtype, shape.num_row_partitions) == (3, tf.int64, 1)
    assert shape.static_lengths(ragged_lengths=False) == [3, None, 2]
    assert [shape.is_uniform(axis) for axis in range(3)] == [True, False, True]
    assert shape.inner_shape.numpy().tolist() == [3, 2]
    shown = []
    tf.function(lambda x: shown.append(repr(tf.shape(x))))(rt())
    assert shown == ["<DynamicRaggedShape lengths=[3, None] num_row_partitions=1>"]
    returned = tf.function(tf.shape)(rt())
    assert repr(returned) == "<DynamicRaggedShape lengths=[3, (2, 0, 3)] num_row_partitions=1>"


PRINTED = [
    (rt, "[[3.000000, 1.000000], [], [5.000000, 4.000000, 2.000000]]"),
    (nested, "[[[1, 2], [3]], [], [[4, 5, 6]]]"),
    (lambda: tf.cast(inner(), tf.int32), "[[[1, 2], [4, 3]], [], [[6, 5]]]"),
    (lambda: tf.ragged.constant([["it's"], []]), r"[['it\'s'], []]"),
    (lambda: tf.ragged.constant([[True, False]]), "[[true, false]]"),
    (
        lambda: tf.ragged.constant([[*range(9)]] * 7),
        "[" + ", ".join([*["[0, 1, 2, ..., 6, 7, 8]"] * 3, "..."]
                        + ["[0, 1, 2, ..., 6, 7, 8]"] * 3) + "]",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("make", "expected"), PRINTED)
def test_printed(make: Any, expected: str, capsys: Any) -> None:
    tf.print(make(), output_stream=sys.stdout)
    tf.function(lambda x: tf.print(x, output_stream=sys.stdout))(make())
    tf.print("x", [make(), 1], output_stream=sys.stdout)
    assert capsys.readouterr().out == f"{expected}\n{expected}\nx [{expected}, 1]\n"


def test_sparse_tensors_are_printed(capsys: Any) -> None:
    tf.print(tf.sparse.from_dense([[0, 5], [6, 0]]), output_stream=sys.stdout)
    assert capsys.readouterr().out == (
        "SparseTensor(indices=[[0 1]\n [1 0]], values=[5 6], shape=[2 2])\n"
    )


def test_reprs() -> None:
    x = tf.ragged.constant([[1.5, 2.25e10], [float("nan")]])
    assert repr(x) == "<tf.RaggedTensor [[1.5, 2.25e+10], [nan]]>"
    long = repr(tf.ragged.constant([[1] * 40] * 30))
    row = "[1, 1, 1, ..., 1, 1, 1]"
    assert long == f"<tf.RaggedTensor [{', '.join([row] * 3)}, ..., {', '.join([row] * 3)}]>"
    shown: list[str] = []
    tf.function(lambda x: shown.append(repr(x)))(rt())
    assert shown[0].startswith('tf.RaggedTensor(values=Tensor("x:0", shape=(None,), dtype=float32')


def test_nested_rows() -> None:
    made = tf.RaggedTensor.from_nested_value_rowids(
        [3, 1, 4], [[0, 1, 1], [0, 1, 2]], nested_nrows=[3, 3]
    )
    assert listed(made) == [[[3]], [[1], [4]], []]
    assert [ids.numpy().tolist() for ids in made.nested_value_rowids()] == [[0, 1, 1], [0, 1, 2]]
    with pytest.raises(ValueError, match="nested_nrows has 1 numbers for 2"):
        tf.RaggedTensor.from_nested_value_rowids([3], [[0], [0]], nested_nrows=[1])


@pytest.mark.parametrize("traced", [False, True])
def test_map_fn_to_rows(traced: bool) -> None:
    def f(n: Any) -> Any:
        return tf.map_fn(tf.range, n, fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))

    if traced:
        f = tf.function(f, input_signature=[tf.TensorSpec([None], tf.int32)])
    assert listed(f(tf.constant([3, 0, 1]))) == [[0, 1, 2], [], [0]]
    assert listed(f(tf.constant([], tf.int32))) == []


def test_ranges_from_no_starts() -> None:
    none = tf.zeros([0], tf.int32)
    assert listed(tf.ragged.range(none, none, 2)) == []
    assert listed(tf.ragged.range(5, none)) == []
    assert listed(tf.ragged.range(3)) == [[0, 1, 2]]
    with pytest.raises(ValueError, match="3"):
        tf.ragged.range([1, 2, 3], [4, 5])


def test_vectors_stacked_along_a_last_axis_are_a_tensor() -> None:
    got = tf.ragged.stack([tf.constant([1, 2, 3]), tf.constant([4, 5, 6])], axis=-1)
    assert got.numpy().tolist() == [[1, 4], [2, 5], [3, 6]]


@pytest.mark.parametrize("traced", [False, True])
def test_partitions_for_other_rows_than_there_are(traced: bool) -> None:
    f = tf.ragged.stack_dynamic_partitions
    if traced:
        unknown = [tf.TensorSpec([None]), tf.TensorSpec([None], tf.int32)]
        f = tf.function(lambda x, ids: tf.ragged.stack_dynamic_partitions(x, ids, 3), unknown)
    arguments = [tf.constant([1.0, 2.0]), tf.constant([0], tf.int32), *([] if traced else [3])]
    with pytest.raises(InvalidArgumentError, match="partitions and data must have as many rows"):
        f(*arguments)


def test_ranges_of_complex_numbers() -> None:
    with pytest.raises(TypeError, match="ragged.range: arguments must be real, got complex64"):
        tf.ragged.range([1, 2], tf.constant([3j, 4j], tf.complex64))


@pytest.mark.parametrize(
    ("starts", "limits", "deltas", "rows"),
    [
        ([-(2**31)], [2**31 - 1], [2**30], [[-(2**31), -(2**30), 0, 2**30]]),
        ([2**31 - 1], [-(2**31)], [-(2**30)], [[2**31 - 1, 2**30 - 1, -1, -(2**30) - 1]]),
        ([1, 2**31 - 1], [3, -5], 1, [[1, 2], []]),
        ([0, 5, 4], [3, 5, 1], [2, 1, -2], [[0, 2], [], [4, 2]]),
    ],
)
def test_ranges_wider_than_their_dtype(starts: Any, limits: Any, deltas: Any, rows: Any) -> None:
    arguments = [tf.constant(x, tf.int32) for x in (starts, limits, deltas)]
    assert tf.ragged.range(*arguments).to_list() == rows
    assert tf.function(tf.ragged.range)(*arguments).to_list() == rows


def test_ranges_that_cannot_be() -> None:
    wide = tf.constant([-(2**63)], tf.int64), tf.constant([2**63 - 1], tf.int64)
    assert tf.ragged.range(*wide, tf.constant([2**62], tf.int64)).row_lengths().numpy() == [4]
    for arguments in (wide, ([0.0], [1e30], [1e-5])):
        with pytest.raises(tf.errors.InvalidArgumentError, match="too many numbers"):
            tf.ragged.range(*arguments)
    with pytest.raises(tf.errors.ShapeError, match="the vectors"):
        tf.ragged.range([0, 1], [3])
    spec = tf.TensorSpec([None], tf.int32)
    traced = tf.function(tf.ragged.range).get_concrete_function(spec, spec)
    with pytest.raises(tf.errors.InvalidArgumentError, match="equally long"):
        traced(tf.constant([0, 1]), tf.constant([3]))


def test_variances_of_rows() -> None:
    rows = tf.ragged.constant([[1, 2], [3]])
    whole = tf.math.reduce_variance(rows)
    assert whole.dtype == tf.float64
    np.testing.assert_allclose(whole, 2 / 3)
    np.testing.assert_allclose(tf.math.reduce_variance(rows, axis=1), [0.25, 0])
    np.testing.assert_allclose(tf.math.reduce_std(rows, axis=1), [0.5, 0])
    floats = tf.cast(rows, tf.float32) + 1e4
    np.testing.assert_allclose(tf.math.reduce_variance(floats, 0, keepdims=True), [[1, 0]])


def test_constants_axes_and_dtypes_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="no room for 1 ragged axes and an inner_shape"):
        tf.ragged.constant([[1, 2], [3]], ragged_rank=1, inner_shape=(1,))
    with pytest.raises(ValueError, match="row_splits_dtype must be int32 or int64"):
        tf.ragged.constant([[1]], row_splits_dtype=tf.float32)
    with pytest.raises(tf.errors.ShapeError, match="one_hot: axis must lie behind"):
        tf.one_hot(tf.ragged.constant([[1], [2, 0]]), 3, axis=-2)
    assert tf.ragged.constant(np.array([[1, 2], [3, 4]]), ragged_rank=0).dtype == tf.int64
