"""What transformations give, against values recorded from TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.data.core import traced

D = tf.data.Dataset


def values(dataset: Any) -> list[Any]:
    def plain(x: Any) -> Any:
        return np.asarray(x).tolist()

    return [tf.nest.map_structure(plain, x) for x in dataset.as_numpy_iterator()]


def ragged() -> Any:
    return D.range(1, 6).map(lambda n: tf.fill([n], n))


def repeated(x: Any) -> Any:
    return D.from_tensors(x).repeat(3)


CASES: list[tuple[str, Any, list[Any], int]] = [
    ("take", D.range(9).take(2), [0, 1], 2),
    ("take all", D.range(2).take(-1), [0, 1], 2),
    ("skip", D.range(4).skip(2), [2, 3], 2),
    ("skip all", D.range(4).skip(-1), [], 0),
    ("shard", D.range(8).shard(3, 1), [1, 4, 7], 3),
    ("repeat", D.range(2).repeat(3), [0, 1] * 3, 6),
    ("repeat nothing", D.range(0).repeat(), [], 0),
    ("concatenate", D.range(2).concatenate(D.range(7, 9)), [0, 1, 7, 8], 4),
    ("enumerate", D.range(5, 7).enumerate(3), [(3, 5), (4, 6)], 2),
    ("filter", D.range(7).filter(lambda x: x % 3 == 0), [0, 3, 6], -2),
    ("take_while", D.range(9).take_while(lambda x: x < 3), [0, 1, 2], -2),
    ("unique", D.from_tensor_slices([1, 2, 1, 3]).unique(), [1, 2, 3], -2),
    ("scan", D.range(4).scan(np.int64(0), lambda s, x: (s + x, (s, x))),
     [(0, 0), (0, 1), (1, 2), (3, 3)], 4),
    ("map of tuples", D.zip(D.range(3), D.range(3)).map(lambda a, b: a + b), [0, 2, 4], 3),
    ("map to a list", D.range(1).map(lambda x: [x, x + 1]), [(0, 1)], 1),
    ("batch", D.range(5).batch(2), [[0, 1], [2, 3], [4]], 3),
    ("batch, drop", D.range(5).batch(2, drop_remainder=True), [[0, 1], [2, 3]], 2),
    ("batch of batches", D.range(5).batch(2, True).batch(2), [[[0, 1], [2, 3]]], 1),
    ("unbatch", ragged().take(3).unbatch(), [1, 2, 2, 3, 3, 3], -2),
    ("rebatch", D.range(7).batch(3).rebatch(2), [[0, 1], [2, 3], [4, 5], [6]], -2),
    ("rebatch in turn", D.range(7).batch(3).rebatch([1, 2], True), [[0], [1, 2], [3], [4, 5], [6]],
     -2),
    ("padded_batch", ragged().take(3).padded_batch(2), [[[1, 0], [2, 2]], [[3, 3, 3]]], 2),
    ("padded_batch to a shape", ragged().take(2).padded_batch(2, [3], np.int64(-1)),
     [[[1, -1, -1], [2, 2, -1]]], 1),
    ("bucket", ragged().bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 5], [2, 2, 1]),
     [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]], [[5, 5, 5, 5, 5]]], -2),
    ("bucket to its boundary",
     ragged().take(4).bucket_by_sequence_length(
         tf.size, [3, 5], [2, 2, 1], pad_to_bucket_boundary=True),
     [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]]], -2),
    ("window", D.range(7).window(3).flat_map(lambda w: w.batch(9)), [[0, 1, 2], [3, 4, 5], [6]],
     -2),
    ("window, shift", D.range(5).window(2, 3).flat_map(lambda w: w.batch(9)), [[0, 1], [3, 4]], -2),
    ("window, stride", D.range(7).window(3, 2, 2).flat_map(lambda w: w.batch(9)),
     [[0, 2, 4], [2, 4, 6], [4, 6], [6]], -2),
    ("window of pairs",
     D.zip(D.range(3), D.range(3)).window(2).flat_map(lambda a, b: D.zip(a, b).batch(2)),
     [([0, 1], [0, 1]), ([2], [2])], -2),
    ("group_by_window",
     D.range(7).group_by_window(lambda x: x % 3, lambda key, d: d.batch(4), window_size=2),
     [[0, 3], [1, 4], [2, 5], [6]], -2),
    ("flat_map", D.range(4).flat_map(D.range), [0, 0, 1, 0, 1, 2], -2),
    ("flat_map, batch", D.range(4).flat_map(D.range).batch(4), [[0, 0, 1, 0], [1, 2]], -2),
    ("interleave", D.range(3).interleave(repeated, cycle_length=2, block_length=2),
     [0, 0, 1, 1, 0, 1, 2, 2, 2], -2),
    ("interleave in parallel", D.range(5).interleave(D.range, 3, num_parallel_calls=2),
     [0, 0, 0, 1, 1, 0, 2, 1, 2, 3], -2),
    ("choose", D.choose_from_datasets([D.range(3), D.range(10, 20)],
                                      D.from_tensor_slices(np.array([0, 1, 1, 0, 0, 0, 1]))),
     [0, 10, 11, 1, 2], -2),
    ("choose on", D.choose_from_datasets([D.range(2), D.range(10, 20)],
                                         D.from_tensor_slices(np.array([0, 1, 0, 0, 1])), False),
     [0, 10, 1, 11], -2),
    ("ignore_errors", D.range(4).map(lambda x: 10 // (x - 1)).ignore_errors(), [-10, 10, 5], -2),
    ("a batch that fails", D.range(4).map(lambda x: 10 // (x - 1)).batch(2).ignore_errors(),
     [[10, 5]], -2),
    ("errors before a batch", D.range(4).map(lambda x: 10 // (x - 1)).ignore_errors().batch(2),
     [[-10, 10], [5]], -2),
    ("cache", D.range(3).cache(), [0, 1, 2], 3),
    ("prefetch", D.range(3).prefetch(1), [0, 1, 2], 3),
    ("apply", D.range(9).apply(lambda d: d.take(1)), [0], 1),
    ("strings", D.range(3).map(lambda x: tf.constant("a") + tf.as_string(x)).batch(2),
     [[b"a0", b"a1"], [b"a2"]], 2),
    ("pad_to_cardinality",
     D.from_tensor_slices({"a": [5]}).apply(tf.data.experimental.pad_to_cardinality(2)),
     [{"a": 5, "valid": True}, {"a": 0, "valid": False}], 2),
]  # fmt: skip


@pytest.mark.parametrize(
    ("dataset", "expected", "count"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_elements_and_cardinality(dataset: Any, expected: list[Any], count: int) -> None:
    assert values(dataset) == expected
    assert values(dataset) == expected  # again
    assert dataset.cardinality().numpy() == count
    for element in dataset.take(1):
        for tensor, spec in zip(
            tf.nest.flatten(element), tf.nest.flatten(dataset.element_spec), strict=True
        ):
            assert spec.is_compatible_with(tensor)


@pytest.mark.parametrize("name", [c[0] for c in CASES])
@pytest.mark.parametrize("taken", [0, 1, 3])
def test_positions_can_be_saved_and_restored(name: str, taken: int) -> None:
    dataset = next(c[1] for c in CASES if c[0] == name)
    iterator = iter(dataset)
    for _ in range(taken):
        next(iterator, None)
    position = iterator.save_position()
    rest = [tf.nest.map_structure(lambda t: t.numpy().tolist(), x) for x in iterator]
    for again in (iterator, iter(dataset)):
        again.restore_position(position)
        assert [tf.nest.map_structure(lambda t: t.numpy().tolist(), x) for x in again] == rest


def test_a_wrong_position_is_refused() -> None:
    iterator = iter(D.range(3))
    with pytest.raises(tf.errors.DataLossError, match="these 3 bytes are not, or no longer"):
        iterator.restore_position(b"abc")
    position = iterator.save_position()
    with pytest.raises(tf.errors.DataLossError, match="their checksum is wrong"):
        iterator.restore_position(position[:-1] + b"!")
    other = iter(D.range(3).shuffle(2).batch(2)).save_position()
    with pytest.raises(tf.errors.InvalidArgumentError, match="no position"):
        iterator.restore_position(other)
    with pytest.raises(TypeError, match="save_position"):
        iterator.restore_position(3)  # type: ignore[arg-type]


# --- shuffle: the numbers are TensorFlow's -------------------------------------------------------


def test_order_of_shuffle() -> None:
    tf.random.set_seed(7)
    dataset = D.range(10).shuffle(4, seed=3)
    assert values(dataset) == [3, 0, 1, 4, 6, 5, 9, 8, 2, 7]
    assert values(dataset) == [0, 4, 3, 2, 7, 5, 9, 8, 1, 6]
    assert values(dataset.repeat(2))[10:] == [1, 3, 2, 4, 5, 6, 0, 8, 7, 9]
    fixed = D.range(10).shuffle(100, seed=3, reshuffle_each_iteration=False)
    assert values(fixed) == values(fixed) == [3, 4, 2, 9, 8, 5, 1, 6, 7, 0]
    assert values(fixed.repeat(2)) == 2 * [3, 4, 2, 9, 8, 5, 1, 6, 7, 0]
    tf.random.set_seed(None)


def test_rows_and_elements_are_shuffled_alike() -> None:
    tf.random.set_seed(1)
    orders = []
    for make in (lambda: D.from_tensor_slices(np.arange(50)), lambda: D.range(50).map(lambda x: x)):
        for size in (1, 7, 50, 1000):
            orders.append(values(make().shuffle(size, seed=5)))
            assert sum(values(make().shuffle(size, seed=5).batch(8)), []) == orders[-1]  # noqa: RUF017
    assert orders[:4] == orders[4:]
    assert orders[0] == list(range(50))
    tf.random.set_seed(None)


def test_random_numbers() -> None:
    tf.random.set_seed(7)
    assert values(D.random(seed=4).take(3)) == [3004760025, 2982476881, 1015416266]
    renewed = D.random(seed=4, rerandomize_each_iteration=True).take(2)
    assert values(renewed.repeat(2)) == [1522362835, 723421984, 421822199, 3471736299]
    tf.random.set_seed(None)


def test_seeded_ops_in_functions_begin_anew_with_each_iterator() -> None:
    tf.random.set_seed(3)
    drawn = D.range(3).map(lambda x: tf.random.uniform([], seed=1))
    expected = [0.7781, 0.257, 0.5984, 0.1112, 0.4168, 0.1322]
    for _ in range(2):
        assert [round(x, 4) for x in values(drawn)] == expected[:3]
    assert [round(x, 4) for x in values(drawn.repeat(2))] == expected
    iterator = iter(drawn)
    next(iterator)
    position = iterator.save_position()
    other = iter(drawn)
    other.restore_position(position)
    assert [round(float(x), 4) for x in other] == expected[1:3]
    generator = tf.random.Generator.from_seed(1)
    own = D.range(3).map(lambda x: generator.uniform([]))
    assert values(own) != values(own)
    tf.random.set_seed(None)


def test_weights_of_samples() -> None:
    a, b = D.from_tensors(0).repeat(), D.from_tensors(1).repeat()
    drawn = values(D.sample_from_datasets([a, b], weights=[0.9, 0.1], seed=2).take(2000))
    assert 120 < sum(drawn) < 280
    assert values(D.sample_from_datasets([a, b], weights=[0.0, 1.0]).take(5)) == [1] * 5


# --- reduce --------------------------------------------------------------------------------------


def test_reduce() -> None:
    assert D.range(5).reduce(np.int64(0), lambda total, x: total + x).numpy() == 10
    pairs = D.zip(D.range(4), D.range(4))
    assert pairs.reduce(np.int64(0), lambda total, pair: total + pair[0] * pair[1]).numpy() == 14
    grown = D.range(3).reduce(tf.constant([], tf.int64), lambda s, x: tf.concat([s, [x]], 0))
    assert grown.numpy().tolist() == [0, 1, 2]


def test_reduce_keeps_the_type_of_its_state() -> None:
    with pytest.raises(TypeError, match=r"Dataset\.reduce: the function must return a state"):
        D.range(3).reduce(np.int64(0), lambda total, x: (total, x))


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: D.range(3).batch(0), tf.errors.InvalidArgumentError, "batch_size must be at"),
        (lambda: D.range(3).batch("a"), TypeError, "batch_size must be an integer, got 'a'"),
        (lambda: D.range(3).batch(2, "no"), TypeError, "drop_remainder must be True or False"),
        (lambda: D.range(3).map(3), ValueError, "a function is expected, got 3"),
        (lambda: D.range(3).map(lambda x, y: x), TypeError, "'y'"),
        (lambda: D.range(3).map(lambda x: object()), TypeError, "Dataset.map: the function must"),
        (lambda: D.range(3).map(lambda x: None), tf.errors.InvalidArgumentError, "no tensor"),
        (lambda: D.range(3).map(lambda x: x, 0), tf.errors.InvalidArgumentError, "at least 1"),
        (lambda: D.range(3).map(lambda x: x, deterministic=True), ValueError, "num_parallel_calls"),
        (lambda: D.range(3).filter(lambda x: x), ValueError, "must return one bool"),
        (lambda: D.range(3).flat_map(lambda x: x), TypeError, "must return a tf.data.Dataset"),
        (lambda: D.range(3).shuffle(0), tf.errors.InvalidArgumentError, "buffer_size"),
        (lambda: D.range(3).shard(2, 2), tf.errors.InvalidArgumentError, "index must be between"),
        (lambda: D.range(3).window(0), tf.errors.InvalidArgumentError, "size must be at least"),
        (lambda: D.range(3).prefetch(-2), tf.errors.InvalidArgumentError, "buffer_size"),
        (lambda: D.range(3).unbatch(), ValueError, "scalars"),
        (lambda: D.from_tensor_slices([1.0]).unique(), TypeError, "float32"),
        (lambda: D.range(3).scan(0, lambda s, x: s), TypeError, r"\(new state, output\)"),
        (lambda: D.range(3).apply(lambda d: 3), TypeError, "must return a dataset, got 3"),
        (lambda: D.range(3).with_options(3), TypeError, "takes tf.data.Options"),
        (lambda: D.range(3).get_single_element(), tf.errors.InvalidArgumentError, "it has more"),
        (lambda: D.range(0).get_single_element(), tf.errors.InvalidArgumentError, "it has none"),
        (lambda: D.sample_from_datasets([]), ValueError, "at least one"),
        (lambda: list(ragged().batch(2)), tf.errors.InvalidArgumentError,
         r"element 1 has shape \(2,\)"),
        (lambda: list(ragged().padded_batch(2, [1])), tf.errors.DataLossError, "larger than"),
        (lambda: D.range(3).padded_batch(2, [3]), ValueError, "does not fit"),
        (lambda: list(D.range(3).apply(tf.data.experimental.assert_cardinality(2))),
         tf.errors.FailedPreconditionError, "more than 2"),
        (lambda: list(D.range(3).map(lambda x: tf.Variable(x))), ValueError, "tf.Variable depends"),
        (lambda: list(D.range(3).map(lambda x: tf.Variable(1))), ValueError, "creates a tf.Var"),
    ],
)  # fmt: skip
def test_refused(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


def test_options() -> None:
    options = tf.data.Options()
    options.experimental_deterministic = False
    options.threading.private_threadpool_size = 2
    dataset = D.range(3).with_options(options).map(lambda x: x, num_parallel_calls=2)
    assert dataset.options().deterministic is False
    assert dataset.options().threading.private_threadpool_size == 2
    with pytest.raises(AttributeError, match="determinstic"):
        options.determinstic = True


def test_large_buffers_are_no_large_arrays() -> None:
    """The dispatcher asks values for their `size`: that of a dataset is not its buffer's."""
    much = 1 << 20
    numbers = tf.data.Dataset.range(7)
    assert sorted(map(int, numbers.shuffle(much).repeat(1))) == list(range(7))
    assert list(map(int, numbers.prefetch(much).take(9))) == list(range(7))
    windows = numbers.window(much).take(1)
    assert [list(map(int, window)) for window in windows] == [list(range(7))]
    grouped = numbers.group_by_window(lambda x: x % 2, lambda _, w: w.batch(4), window_size=4)
    assert [batch.numpy().tolist() for batch in grouped.take(5)] == [[0, 2, 4, 6], [1, 3, 5]]


def test_debug_mode_runs_the_python_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traced.Debug, "enabled", False)  # and False again after the test
    tf.data.experimental.enable_debug_mode()
    seen: list[Any] = []

    def double(x: tf.Tensor) -> tf.Tensor:
        seen.append(x)
        return [x * 2, x] if len(seen) == 3 else x * 2

    dataset = tf.data.Dataset.range(5).map(double)
    elements = iter(dataset)
    assert int(next(elements)) == 0
    assert seen[-1].numpy() == 0  # eager, not symbolic
    with pytest.raises(ValueError, match="structures differ"):
        next(elements)


@pytest.mark.parametrize(
    "dataset",
    [
        D.range(5), D.range(5).map(lambda x: x * 2), D.range(10).batch(2), D.range(5).shuffle(3, 1),
        D.zip((D.range(5), D.range(5))), D.range(5).cache(), D.range(5).prefetch(1),
    ],
)  # fmt: skip
@pytest.mark.parametrize("index", [5, 100, -1, -100])
def test_an_element_out_of_range(dataset: Any, index: int) -> None:
    at = tf.data.experimental.at
    for run in (at, tf.function(lambda d, i: at(d, i))):
        with pytest.raises(tf.errors.OutOfRangeError, match=f"the dataset has no element {index}."):
            run(dataset, index)
        with pytest.raises(tf.errors.OutOfRangeError, match=f"the dataset has no element {index}."):
            run(dataset, tf.constant(index))


def test_an_element_of_a_dataset() -> None:
    at = tf.data.experimental.at
    pairs = D.range(6).map(lambda x: {"a": x, "b": tf.fill([x], 1.5)})
    for run in (at, tf.function(lambda d, i: at(d, i))):
        element = run(pairs, tf.constant(3))
        assert element["a"].numpy() == 3
        assert element["b"].numpy().tolist() == [1.5] * 3
    assert at(D.range(2).repeat(), 7).numpy() == 1
    with pytest.raises(tf.errors.OutOfRangeError):
        at(D.range(2).repeat(), -1)  # and ends
    failing = D.range(5).map(lambda x: tf.debugging.assert_less(x, 0 * x + 2) or x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="assert_less"):
        at(failing, 3)


def test_a_function_may_change_the_containers_it_is_given() -> None:
    dataset = tf.data.Dataset.from_tensors({"a": 1, "c": 2})

    def add(element: dict[str, Any]) -> dict[str, Any]:
        element["b"] = element["a"] + 1
        del element["c"]
        return element

    assert [tf.nest.map_structure(int, x) for x in dataset.map(add)] == [{"a": 1, "b": 2}]


@pytest.mark.parametrize("key", [lambda x: tf.cast(x, tf.int32), lambda x: [x], lambda x: (x, x)])
def test_keys_of_reducers_are_int64(key: Any) -> None:
    reducer = tf.data.experimental.Reducer(lambda _: 0, lambda n, x: n + 1, lambda n: n)
    with pytest.raises(ValueError, match="key_func must return one int64"):
        tf.data.Dataset.range(3).apply(tf.data.experimental.group_by_reducer(key, reducer))


def test_shapes_after_rebatching() -> None:
    whole = tf.data.Dataset.from_tensors(tf.zeros([8, 3]))
    assert whole.rebatch(4).element_spec.shape.as_list() == [4, 3]
    assert whole.rebatch(3).element_spec.shape.as_list() == [None, 3]
    assert whole.rebatch(3, drop_remainder=True).element_spec.shape.as_list() == [3, 3]
    pairs = tf.data.Dataset.range(10).batch(4, drop_remainder=True)
    assert pairs.rebatch([2, 2]).element_spec.shape.as_list() == [2]
    assert pairs.rebatch([1, 3]).element_spec.shape.as_list() == [None]
    assert tf.data.Dataset.range(10).batch(4).rebatch([2, 2]).element_spec.shape[0] is None


@pytest.mark.parametrize("method", ["map", "filter", "flat_map"])
def test_errors_name_the_transformation(method: str) -> None:
    def fails(x: Any) -> Any:
        y = tf.debugging.check_numerics(1.0 / tf.cast(x - 1, tf.float32), "bad")
        return {
            "map": y, "filter": y > 0, "flat_map": tf.data.Dataset.from_tensors(y),
        }[method]  # fmt: skip

    with pytest.raises(tf.errors.InvalidArgumentError, match=f"given to Dataset.{method}"):
        list(getattr(tf.data.Dataset.range(3), method)(fails))
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"given to Dataset.{method}"):
        list(getattr(tf.data.Dataset.range(3), method)(fails).batch(2))


def test_a_function_that_creates_its_variables_once() -> None:
    """As layers of Keras do in their first call."""

    class Layer:
        weight: tf.Variable | None = None

        def __call__(self, x: tf.Tensor) -> tf.Tensor:
            if self.weight is None:
                self.weight = tf.Variable(tf.constant([2.0, 3.0]) * 2.0)
            return tf.cast(x, tf.float32) * self.weight

    layer = Layer()
    dataset = tf.data.Dataset.range(3).map(layer)
    assert [x.tolist() for x in dataset.as_numpy_iterator()] == [[0, 0], [4, 6], [8, 12]]
    layer.weight.assign([1.0, 1.0])
    assert [x.tolist() for x in dataset.as_numpy_iterator()] == [[0, 0], [1, 1], [2, 2]]


def test_resampled_classes_keep_their_dtype() -> None:
    rows = tf.data.Dataset.range(8).rejection_resample(
        lambda x: tf.cast(x % 2, tf.int32), [0.0, 1.0], [0.5, 0.5]
    )
    assert rows.element_spec[0] == tf.TensorSpec([], tf.int32)
    assert all(int(kind) == 1 for kind, _ in rows)
