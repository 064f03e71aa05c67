"""Ragged tensors: making them, rows, ops on them, and their life in functions and under tapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.errors import InvalidArgumentError

ROWS = [[1.0, 2.0], [], [3.0, 4.0, 5.0]]
NESTED = [[[1, 2], [3]], [], [[4, 5, 6]]]


def rt() -> Any:
    return tf.ragged.constant(ROWS)


def nested() -> Any:
    return tf.ragged.constant(NESTED)


def listed(x: Any) -> Any:
    return x.to_list() if isinstance(x, tf.RaggedTensor) else x.numpy().tolist()


# --- making ------------------------------------------------------------------------------------

R = tf.RaggedTensor
MADE = [
    (lambda: R.from_row_splits([3, 1, 4], [0, 1, 1, 3]), [[3], [], [1, 4]]),
    (lambda: R.from_row_lengths([3, 1, 4], [1, 0, 2]), [[3], [], [1, 4]]),
    (lambda: R.from_row_starts([3, 1, 4], [0, 1, 1]), [[3], [], [1, 4]]),
    (lambda: R.from_row_limits([3, 1, 4], [1, 1, 3]), [[3], [], [1, 4]]),
    (lambda: R.from_value_rowids([3, 1, 4], [0, 2, 2]), [[3], [], [1, 4]]),
    (lambda: R.from_value_rowids([3, 1, 4], [0, 2, 2], nrows=4), [[3], [], [1, 4], []]),
    (lambda: R.from_value_rowids([], tf.constant([], tf.int64)), []),
    (lambda: R.from_uniform_row_length([3, 1, 4, 1], 2), [[3, 1], [4, 1]]),
    (lambda: R.from_nested_row_splits([3, 1, 4], [[0, 2, 2], [0, 1, 3]]), [[[3], [1, 4]], []]),
    (lambda: R.from_nested_row_lengths([3, 1, 4], [[2, 0], [1, 2]]), [[[3], [1, 4]], []]),
    (lambda: R.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0), [[1, 2], [3]]),
    (lambda: R.from_tensor([[1, 2, 0], [3, 0, 0]], lengths=[1, 3]), [[1], [3, 0, 0]]),
    (lambda: R.from_tensor([[1, 2], [3, 4], [5, 6]]), [[1, 2], [3, 4], [5, 6]]),
    (lambda: R.from_tensor([[[1, 2, 3], [4, 5, 6]]], ragged_rank=2), [[[1, 2, 3], [4, 5, 6]]]),
    (lambda: R.from_tensor([[[1, 0], [4, 5]]], padding=0, ragged_rank=2), [[[1], [4, 5]]]),
    (lambda: tf.ragged.constant([[], [[]]]), [[], [[]]]),
    (lambda: tf.ragged.range([3, 0, 2]), [[0, 1, 2], [], [0, 1]]),
    (lambda: tf.ragged.range([1, 2], [3, 7], 2), [[1], [2, 4, 6]]),
    (lambda: tf.ragged.range([1.0], [0.0], -0.5), [[1.0, 0.5]]),
    (lambda: tf.ragged.stack([[1, 2], [3]]), [[1, 2], [3]]),
    (
        lambda: tf.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False] * 3]),
        [[1, 3], []],
    ),
    (lambda: tf.ragged.boolean_mask(rt(), rt() > 2), [[], [], [3.0, 4.0, 5.0]]),
    (lambda: tf.ragged.boolean_mask(rt(), [True, False, True]), [ROWS[0], ROWS[2]]),
]


@pytest.mark.parametrize(("make", "expected"), MADE)
def test_made(make: Any, expected: Any) -> None:
    assert listed(make()) == expected


@pytest.mark.parametrize("part", ["row_splits", "row_lengths", "row_starts", "value_rowids"])
def test_made_in_a_graph(part: str) -> None:
    x = R.from_row_lengths([3, 1, 4], [1, 0, 2])
    given = getattr(x, part)
    given = given if isinstance(given, tf.Tensor) else given()
    make = getattr(R, f"from_{part}")
    f = tf.function(
        make, input_signature=[tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.int64)]
    )
    assert f([3, 1, 4], given).to_list() == [[3], [], [1, 4]]


def test_dtypes_and_static_shapes() -> None:
    x = tf.ragged.constant([[1, 2], [3]], dtype=tf.float64, row_splits_dtype=tf.int32)
    assert (x.dtype, x.row_splits.dtype) == (tf.float64, tf.int32)
    assert x.shape.as_list() == [2, None]
    inner = tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
    assert inner.shape.as_list() == [2, None, 2]
    assert inner.flat_values.shape.as_list() == [3, 2]
    assert tf.ragged.constant([1, 2]).shape.as_list() == [2]


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (lambda: R.from_row_splits([1, 2, 3], [0, 2]), InvalidArgumentError, "number of values"),
        (lambda: R.from_row_splits([1, 2, 3], [1, 3]), InvalidArgumentError, "begin with 0"),
        (lambda: R.from_row_splits([1, 2], [0, 2, 1, 2]), InvalidArgumentError, "not decrease"),
        (lambda: R.from_row_splits([1], [0.5]), TypeError, "int32 or int64"),
        (lambda: R.from_row_splits(1, [0]), ValueError, "at least one axis"),
        (lambda: R.from_value_rowids([1, 2], [1, 0]), InvalidArgumentError, "sorted"),
        (lambda: R.from_value_rowids([1], [3], nrows=2), InvalidArgumentError, "nrows"),
        (lambda: R([1], [0]), ValueError, "from_row_splits"),
        (lambda: tf.ragged.constant([[1, [2]]]), ValueError, "equally deep"),
        (lambda: R.from_tensor([1, 2]), ValueError, "ragged_rank"),
        (lambda: tf.RaggedTensorSpec(), ValueError, "ragged_rank"),
    ],
)
def test_what_cannot_be_made(wrong: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        wrong()


# --- what they are made of ---------------------------------------------------------------------


def test_parts() -> None:
    x, y = rt(), nested()
    assert listed(x.row_lengths()) == [2, 0, 3]
    assert listed(x.value_rowids()) == [0, 0, 2, 2, 2]
    assert listed(x.row_starts()) == [0, 2, 2]
    assert listed(x.row_limits()) == [2, 2, 5]
    assert listed(y.row_lengths(axis=2)) == [[2, 1], [], [3]]
    assert listed(x.bounding_shape()) == [3, 3]
    assert listed(y.bounding_shape()) == [3, 2, 3]
    assert [listed(s) for s in y.nested_row_splits] == [[0, 2, 2, 3], [0, 2, 3, 6]]
    assert y.ragged_rank == 2
    assert int(x.nrows()) == len(x) == 3
    assert listed(y.merge_dims(1, 2)) == [[1, 2, 3], [], [4, 5, 6]]
    assert listed(y.merge_dims(0, 1)) == [[1, 2], [3], [4, 5, 6]]
    assert listed(y.merge_dims(0, 2)) == [1, 2, 3, 4, 5, 6]


def test_numpy_and_repr() -> None:
    assert (
        repr(rt() / 3)
        == "<tf.RaggedTensor [[0.33333334, 0.6666667], [], [1.0, 1.3333334, 1.6666666]]>"
    )
    np.testing.assert_array_equal(tf.ragged.constant([[1, 2], [3, 4]]).numpy(), [[1, 2], [3, 4]])
    ragged = rt().numpy()
    assert ragged.dtype == object
    assert [row.tolist() for row in ragged] == ROWS


TENSORS = [
    (lambda: rt().to_tensor(), [[1, 2, 0], [0, 0, 0], [3, 4, 5]]),
    (lambda: rt().to_tensor(-1.0, shape=[None, 2]), [[1, 2], [-1, -1], [3, 4]]),
    (lambda: rt().to_tensor(shape=[4, 4])[2:], [[3, 4, 5, 0], [0, 0, 0, 0]]),
    (lambda: nested().to_tensor(shape=[None, 1, 2]), [[[1, 2]], [[0, 0]], [[4, 5]]]),
    (lambda: tf.ragged.constant([["a"], ["b", "c"]]).to_tensor(), [[b"a", b""], [b"b", b"c"]]),
    (lambda: tf.ragged.constant([[], []], dtype=tf.int32).to_tensor(), [[], []]),
]


@pytest.mark.parametrize(("make", "expected"), TENSORS)
def test_to_tensor(make: Any, expected: Any) -> None:
    assert make().numpy().tolist() == expected
    assert tf.function(make)().numpy().tolist() == expected


# --- indexing ----------------------------------------------------------------------------------

KEYS = [
    (rt, np.s_[0], [1.0, 2.0]),
    (rt, np.s_[-1], [3.0, 4.0, 5.0]),
    (rt, np.s_[0, 1], 2.0),
    (rt, np.s_[1:], [[], [3.0, 4.0, 5.0]]),
    (rt, np.s_[::-1], [[3.0, 4.0, 5.0], [], [1.0, 2.0]]),
    (rt, np.s_[:, :1], [[1.0], [], [3.0]]),
    (rt, np.s_[:, -1:], [[2.0], [], [5.0]]),
    (rt, np.s_[:, ::2], [[1.0], [], [3.0, 5.0]]),
    (rt, np.s_[:, ::-1], [[2.0, 1.0], [], [5.0, 4.0, 3.0]]),
    (rt, np.s_[:, -2:-1], [[1.0], [], [4.0]]),
    (rt, np.s_[..., 1:], [[2.0], [], [4.0, 5.0]]),
    (rt, np.s_[None], [ROWS]),
    (rt, np.s_[:, None], [[row] for row in ROWS]),
    (nested, np.s_[0], [[1, 2], [3]]),
    (nested, np.s_[2, 0, 1], 5),
    (nested, np.s_[:, :1], [[[1, 2]], [], [[4, 5, 6]]]),
    (nested, np.s_[:, :, :1], [[[1], [3]], [], [[4]]]),
    (nested, np.s_[1:, 0:1], [[], [[4, 5, 6]]]),
]


@pytest.mark.parametrize(("make", "key", "expected"), KEYS)
def test_indexing(make: Any, key: Any, expected: Any) -> None:
    assert listed(make()[key]) == expected
    assert listed(tf.function(lambda x: x[key])(make())) == expected


def test_a_row_by_a_tensor() -> None:
    spec = [tf.RaggedTensorSpec([None, None]), tf.TensorSpec([], tf.int32)]
    f = tf.function(lambda x, i: x[i], input_signature=spec)
    assert listed(f(rt(), 2)) == listed(f(rt(), -1)) == ROWS[2]
    with pytest.raises(InvalidArgumentError, match="row it does not have"):
        f(rt(), 3)


def test_what_cannot_be_indexed() -> None:
    with pytest.raises(ValueError, match="cannot be indexed with a number"):
        rt()[:, 0]
    with pytest.raises(IndexError, match="3 rows"):
        rt()[5]
    with pytest.raises(TypeError, match=r"tf\.gather"):
        rt()[[0, 1]]


# --- ops ---------------------------------------------------------------------------------------

OPS = [
    (lambda x: x * 2 + x, [[3.0, 6.0], [], [9.0, 12.0, 15.0]]),
    (lambda x: 1 - x, [[0.0, -1.0], [], [-2.0, -3.0, -4.0]]),
    (lambda x: x + tf.constant([[10.0], [20.0], [30.0]]), [[11.0, 12.0], [], [33.0, 34.0, 35.0]]),
    (lambda x: tf.constant([[10.0]]) + x, [[11.0, 12.0], [], [13.0, 14.0, 15.0]]),
    (lambda x: x > 2, [[False, False], [], [True, True, True]]),
    (lambda x: x == x, [[True, True], [], [True, True, True]]),  # noqa: PLR0124
    (lambda x: -abs(x), [[-1.0, -2.0], [], [-3.0, -4.0, -5.0]]),
    (lambda x: tf.cast(x, tf.int32) // 2, [[0, 1], [], [1, 2, 2]]),
    (lambda x: tf.where(x > 2, x, -x), [[-1.0, -2.0], [], [3.0, 4.0, 5.0]]),
    (lambda x: tf.maximum(x, 2.0), [[2.0, 2.0], [], [3.0, 4.0, 5.0]]),
    (lambda x: tf.add_n([x, x]), [[2.0, 4.0], [], [6.0, 8.0, 10.0]]),
    (lambda x: tf.zeros_like(x), [[0.0, 0.0], [], [0.0, 0.0, 0.0]]),
    (lambda x: tf.one_hot(tf.cast(x, tf.int32), 3)[0:1], [[[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]]),
    (lambda x: tf.ragged.map_flat_values(tf.square, x), [[1.0, 4.0], [], [9.0, 16.0, 25.0]]),
    (lambda x: tf.concat([x, x], 0), ROWS + ROWS),
    (lambda x: tf.concat([x, x[:, :1]], 1), [[1.0, 2.0, 1.0], [], [3.0, 4.0, 5.0, 3.0]]),
    (lambda x: tf.concat([x, [[9.0], [8.0], [7.0]]], 1), [[1, 2, 9], [8], [3, 4, 5, 7]]),
    (lambda x: tf.stack([x, x]), [ROWS, ROWS]),
    (lambda x: tf.stack([x, x], 1), [[row, row] for row in ROWS]),
    (lambda x: tf.expand_dims(x, 0), [ROWS]),
    (lambda x: tf.expand_dims(x, 1), [[row] for row in ROWS]),
    (lambda x: tf.expand_dims(x, -1), [[[v] for v in row] for row in ROWS]),
    (lambda x: tf.gather(x, [2, 0]), [ROWS[2], ROWS[0]]),
    (lambda x: tf.gather([7.0, 8.0, 9.0], tf.cast(x, tf.int32) % 3), [[8, 9], [], [7, 8, 9]]),
    (lambda x: tf.size(x), 5),
    (lambda x: tf.rank(x), 2),
    (lambda x: tf.reduce_sum(x), 15.0),
    (lambda x: tf.reduce_sum(x, 0), [4.0, 6.0, 5.0]),
    (lambda x: tf.reduce_sum(x, 1), [3.0, 0.0, 12.0]),
    (lambda x: tf.reduce_sum(x, -1, keepdims=True), [[3.0], [0.0], [12.0]]),
    (lambda x: tf.reduce_prod(x, 1), [2.0, 1.0, 60.0]),
    (lambda x: tf.reduce_max(x, 1)[2], 5.0),
    (lambda x: tf.reduce_min(x, 0), [1.0, 2.0, 5.0]),
    (lambda x: tf.reduce_mean(x, 0), [2.0, 3.0, 5.0]),
    (lambda x: tf.reduce_mean(x, 1)[0], 1.5),
    (lambda x: tf.reduce_any(x > 1, 1), [True, False, True]),
    (lambda x: tf.reduce_all(x > 1, 1), [False, True, True]),
]


@pytest.mark.parametrize("number", range(len(OPS)))
def test_ops(number: int) -> None:
    fn, expected = OPS[number]
    assert listed(fn(rt())) == expected
    for spec in (tf.RaggedTensorSpec([3, None]), tf.RaggedTensorSpec([None, None])):
        assert listed(tf.function(fn, input_signature=[spec])(rt())) == expected


NESTED_OPS = [
    (lambda x: tf.reduce_sum(x, 0), [[5, 7, 6], [3]]),
    (lambda x: tf.reduce_sum(x, 1), [[4, 2], [], [4, 5, 6]]),
    (lambda x: tf.reduce_sum(x, 2), [[3, 3], [], [15]]),
    (lambda x: tf.reduce_max(x, [1, 2])[2], 6),
    (lambda x: x * tf.constant([[[1]], [[2]], [[3]]]), [[[1, 2], [3]], [], [[12, 15, 18]]]),
    (lambda x: tf.concat([x, x], 2), [[[1, 2, 1, 2], [3, 3]], [], [[4, 5, 6, 4, 5, 6]]]),
    (lambda x: tf.concat([x, x], 1)[0], [[1, 2], [3], [1, 2], [3]]),
]


@pytest.mark.parametrize("number", range(len(NESTED_OPS)))
def test_ops_on_two_ragged_axes(number: int) -> None:
    fn, expected = NESTED_OPS[number]
    assert listed(fn(nested())) == expected
    assert listed(tf.function(fn)(nested())) == expected


def test_strings_and_softmax() -> None:
    words = tf.ragged.constant([["a", "bcd"], []])
    assert tf.strings.length(words).to_list() == [[1, 3], []]
    assert tf.strings.join([words, "!"]).to_list() == [[b"a!", b"bcd!"], []]
    soft = tf.nn.softmax(rt())
    np.testing.assert_allclose(tf.reduce_sum(soft, 1), [1, 0, 1], rtol=1e-6)


def test_wrong_operands() -> None:
    other = tf.ragged.constant([[1.0], [], [2.0]])
    with pytest.raises(InvalidArgumentError, match=r"AddV2.*rows of equal lengths"):
        rt() + other
    with pytest.raises(InvalidArgumentError, match="as many"):
        rt() + tf.constant([[1.0], [2.0]])
    with pytest.raises(TypeError, match=r"op ArgMax\) does not take a RaggedTensor.*to_tensor"):
        tf.argmax(rt(), 1)
    with pytest.raises(TypeError, match="unstack does not take a RaggedTensor"):
        tf.unstack(rt())
    with pytest.raises(TypeError, match="tf.Variable does not take a RaggedTensor"):
        tf.Variable(rt())
    with pytest.raises(TypeError, match="cannot be used as a bool"):
        bool(rt())
    with pytest.raises(TypeError, match="not hashable"):
        hash(rt())


# --- functions, control flow, tapes ------------------------------------------------------------


def test_one_trace_for_other_row_lengths() -> None:
    f = tf.function(lambda x: x + 1)
    f(rt())
    f(tf.ragged.constant([[1.0], [2.0, 3.0, 4.0, 5.0], []]))
    assert f.experimental_get_tracing_count() == 1
    f(tf.ragged.constant([[1.0]]))
    assert f.experimental_get_tracing_count() == 2


def test_reduce_retracing_forgets_the_number_of_rows() -> None:
    f = tf.function(lambda x: x + 1, reduce_retracing=True)
    for n in range(2, 6):
        f(tf.ragged.constant([[1.0]] * n))
    assert f.experimental_get_tracing_count() == 2


def test_input_signature_is_checked() -> None:
    f = tf.function(lambda x: x, input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])
    with pytest.raises(ValueError, match="RaggedTensorSpec"):
        f(rt())


@tf.function
def staged(x: Any, n: Any) -> Any:
    if tf.reduce_sum(x) > 3:
        x = x + 1
    for _ in tf.range(n):
        x = x * 2
    return tf.cond(n > 0, lambda: x, lambda: -x)


def test_control_flow() -> None:
    assert staged(rt(), tf.constant(2)).to_list() == [[8.0, 12.0], [], [16.0, 20.0, 24.0]]
    assert staged(rt(), tf.constant(0)).to_list() == [[-2.0, -3.0], [], [-4.0, -5.0, -6.0]]
    out = tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, x + x), (0, rt()))[1]
    assert out.to_list() == [[4.0, 8.0], [], [12.0, 16.0, 20.0]]


@pytest.mark.parametrize("traced", [False, True])
def test_gradients(traced: bool) -> None:
    def gradient(x: Any, fn: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = fn(x)
        return tape.gradient(y, x)

    def check(fn: Any, expected: Any) -> None:
        call = tf.function(lambda x: gradient(x, fn)) if traced else lambda x: gradient(x, fn)
        assert call(rt()).to_list() == expected

    twice = [[2.0, 4.0], [], [6.0, 8.0, 10.0]]
    check(lambda x: x * x, twice)
    check(lambda x: x.to_tensor() ** 2, twice)
    check(lambda x: tf.reduce_sum(x * x, 1), twice)
    check(lambda x: x[:, :1] ** 2, [[2.0, 0.0], [], [6.0, 0.0, 0.0]])
    check(lambda x: tf.concat([x, x], 1), [[2.0, 2.0], [], [2.0, 2.0, 2.0]])


def test_in_nests_and_datasets() -> None:
    flat = tf.nest.flatten(rt(), expand_composites=True)
    assert tf.nest.pack_sequence_as(rt(), flat, expand_composites=True).to_list() == ROWS
    (element,) = tf.data.Dataset.from_tensors(rt()).map(lambda x: x * 2)
    assert element.to_list() == [[2.0, 4.0], [], [6.0, 8.0, 10.0]]


def test_specs() -> None:
    spec = tf.type_spec_from_value(rt())
    assert repr(spec) == "RaggedTensorSpec(TensorShape([3, None]), tf.float32, 1, tf.int64)"
    wider = tf.RaggedTensorSpec([None, None])
    assert spec.is_subtype_of(wider)
    assert not wider.is_subtype_of(spec)
    assert wider.is_compatible_with(rt())
    assert spec.most_specific_compatible_type(tf.RaggedTensorSpec([4, None])) == wider
    with pytest.raises(ValueError, match="No type holds both"):
        spec.most_specific_compatible_type(tf.RaggedTensorSpec([3, None], tf.int32))


def test_new_values_must_be_as_many() -> None:
    text = "RaggedTensor: new values must be as many as the old ones"
    pair, cube = tf.ragged.constant([[1], [2, 3]]), tf.ragged.constant([[[1], [2]], [[3, 4]]])
    for call in (
        lambda: pair.with_values([1]),
        lambda: pair.with_flat_values([1, 2, 3, 4]),
        lambda: cube.with_values(pair),
        lambda: cube.with_flat_values([1, 2]),
        tf.function(lambda: pair.with_values([1])),
    ):
        with pytest.raises(ValueError, match=text):
            call()
    checked = tf.function(pair.with_values, input_signature=[tf.TensorSpec([None], tf.int32)])
    assert checked(tf.constant([4, 5, 6])).to_list() == [[4], [5, 6]]
    with pytest.raises(InvalidArgumentError, match=f"{text}: old = 3 new = 1"):
        checked(tf.constant([1]))


def test_new_values_of_the_same_unknown_size_need_no_check() -> None:
    def fn(values: Any) -> Any:
        ragged = tf.RaggedTensor.from_row_splits(values, [0, 2, 3], validate=False)
        return ragged.with_values(tf.exp(values)).values

    graph = tf.function(fn, input_signature=[tf.TensorSpec([None])]).get_concrete_function().graph
    assert not [op for op in graph.get_operations() if op.type == "Assert"]


def test_row_lengths_of_axes_from_the_end() -> None:
    cube = tf.ragged.constant([[[1], [2]], [[3, 4]]])
    assert cube.row_lengths(-1).to_list() == [[1, 1], [2]]
    assert cube.row_lengths(-2).numpy().tolist() == [2, 1]
    rows = tf.RaggedTensor.from_row_splits(tf.ones([3, 2]), [0, 1, 3])
    assert rows.row_lengths(-1).to_list() == [[2], [2, 2]]
    for axis in (3, -4):
        with pytest.raises(ValueError, match=f"row_lengths: axis {axis} is out of range; allowed"):
            cube.row_lengths(axis)
    with pytest.raises(TypeError, match="row_lengths: axis must be an integer, got None"):
        cube.row_lengths(None)


def test_rows_of_negative_length() -> None:
    with pytest.raises(ValueError, match="uniform_row_length must not be negative, got -2"):
        tf.RaggedTensor.from_uniform_row_length([1, 2, 3], -2)


def test_numpy_takes_it_as_an_object() -> None:
    x = tf.ragged.constant([[1], [2, 3]])
    made = np.array(x)
    assert made.shape == ()
    assert made[()] is x
    with pytest.raises(TypeError, match="An array of dtype float32 does not take a RaggedTensor"):
        np.asarray(x, np.float32)


def test_gather_with_ragged_indices_along_an_inner_axis() -> None:
    x = np.arange(24).reshape(2, 4, 3)
    indices = tf.ragged.constant([[1], [], [2, 3]])
    wanted = [[[row[i].tolist() for i in some] for some in indices.to_list()] for row in x]
    for run in (lambda f: f, tf.function):
        found = run(lambda x, i: tf.gather(x, i, axis=1))(tf.constant(x), indices)
        assert found.to_list() == wanted
    rows = tf.ragged.constant([[5, 6, 7, 8], [1, 2, 3, 4, 9]])
    assert tf.gather(rows, indices, axis=1).to_list() == [[[6], [], [7, 8]], [[2], [], [3, 4]]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="within the row"):
        tf.gather(rows, tf.ragged.constant([[4]]), axis=1)


def test_gathered_rows_have_any_length() -> None:
    """As in TensorFlow, also if those that are gathered from all have one; slices keep it."""
    rows = R.from_tensor(tf.constant([[1, 2], [3, 4], [5, 6]]))
    assert rows[1:].shape == (2, 2)
    picked = tf.gather(rows, [2, 0])
    assert picked.shape.as_list() == [2, None]
    assert picked.uniform_row_length is None
    assert picked.to_list() == [[5, 6], [1, 2]]
