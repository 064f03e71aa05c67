"""Datasets and iterators in traced functions: loops, arguments, effects and gradients."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.execution import reference

D = tf.data.Dataset


def node_types(function: Any, *args: Any) -> list[str]:
    graph = function.get_concrete_function(*args).graph
    return [node.op for node in graph.as_graph_def().node]


def test_a_loop_is_one_node_named_like_tensorflow_has_it() -> None:
    @tf.function
    def total() -> Any:
        x = tf.constant(0, tf.int64)
        for i in D.range(5):
            x += i
        return x

    assert total().numpy() == 10
    nodes = total.get_concrete_function().graph.as_graph_def().node
    assert [n.op for n in nodes if n.name == "ReduceDataset"] == ["ReduceDataset"]
    assert not [n for n in nodes if n.name == "while"]


def test_the_graph_does_not_grow_with_the_data() -> None:
    @tf.function
    def train(dataset: Any) -> Any:
        loss = tf.constant(0)
        for x, y in dataset:
            loss += tf.abs(y - x)
        return loss

    def generated(n: int) -> Any:
        return D.from_generator(lambda: [(1, 3)] * n, (tf.int32, tf.int32))

    assert len(node_types(train, [(1, 3)] * 2)) < len(node_types(train, [(1, 3)] * 10))
    assert len(node_types(train, generated(2))) == len(node_types(train, generated(10)))
    assert train(generated(10)).numpy() == 20
    assert train.experimental_get_tracing_count() == 3


@tf.function
def with_jumps(dataset: Any) -> Any:
    x = tf.constant(0, tf.int64)
    for i in dataset:
        if i == 3:
            continue
        if i > 6:
            break
        x += i
    return x


@tf.function
def with_return(dataset: Any) -> Any:
    for i in dataset:
        if i > 4:
            return i
    return tf.constant(-1, tf.int64)


def test_break_continue_and_return() -> None:
    assert with_jumps(D.range(10)).numpy() == 18
    assert with_jumps(D.range(3)).numpy() == 3
    assert with_return(D.range(10)).numpy() == 5
    assert with_return(D.range(2)).numpy() == -1
    assert with_return(D.range(0)).numpy() == -1


def test_a_break_takes_no_element_too_many() -> None:
    @tf.function
    def first_above(iterator: Any, limit: Any) -> Any:
        found = tf.constant(-1, tf.int64)
        for x in iterator:
            if x > limit:
                found = x
                break
        return found

    iterator = iter(D.range(10))
    assert first_above(iterator, tf.constant(2, tf.int64)).numpy() == 3
    assert next(iterator).numpy() == 4


def test_next_advances_the_iterator_in_every_call() -> None:
    @tf.function
    def following(iterator: Any) -> Any:
        return next(iterator)

    iterator = iter(D.range(3))
    assert [following(iterator).numpy(), next(iterator).numpy(), following(iterator).numpy()] == [
        0, 1, 2,
    ]  # fmt: skip
    with pytest.raises(tf.errors.OutOfRangeError, match="no more elements") as caught:
        following(iterator)
    assert "return next(iterator)" in str(caught.value)
    assert following(iter(D.range(5, 6))).numpy() == 5
    assert following.experimental_get_tracing_count() == 1


def test_iterators_made_inside() -> None:
    @tf.function
    def use() -> Any:
        iterator = iter(D.range(3))
        a, b = next(iterator), iterator.get_next()
        there, gone = iterator.get_next_as_optional(), iterator.get_next_as_optional()
        other = next(iter(D.range(3)))
        return a, b, there.has_value(), there.get_value(), gone.has_value(), other

    expected = [0, 1, True, 2, False, 0]
    assert [x.numpy() for x in use()] == expected
    assert [x.numpy() for x in use()] == expected


def test_optionals() -> None:
    optional = tf.data.experimental.Optional
    assert optional is tf.experimental.Optional
    assert repr(optional.from_value(1)).startswith("<tf.experimental.Optional element_spec=")
    some, none = optional.from_value((1, "a")), optional.empty(tf.TensorSpec([], tf.int32))
    assert [x.numpy() for x in some.get_value()] == [1, b"a"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="has no value"):
        none.get_value()

    @tf.function
    def or_zero(x: Any) -> Any:
        return tf.cond(x.has_value(), lambda: x.get_value(), lambda: 0)

    assert or_zero(optional.from_value(5)).numpy() == 5
    assert or_zero(none).numpy() == 0


def test_enumerate_zip_and_nested_loops() -> None:
    @tf.function
    def use(dataset: Any) -> Any:
        total = tf.constant(0, tf.int64)
        for i, x in enumerate(dataset):
            total += i * x
        for x, y in zip(dataset, D.range(100, 110)):
            total += 1000 * (y - x)
        for window in dataset.window(3):
            for x in window:
                total += 1_000_000 * x
        return total

    assert use(D.range(4)).numpy() == 14 + 1000 * 400 + 1_000_000 * 6


def test_variables_lists_and_arrays_in_a_loop() -> None:
    v = tf.Variable(1.0)

    @tf.function
    def use(dataset: Any) -> Any:
        rows = []
        squares = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        for i, x in dataset.enumerate():
            v.assign_add(x)
            rows.append(2 * x)
            squares = squares.write(tf.cast(i, tf.int32), x * x)
        return tf.stack(rows), squares.stack()

    doubled, squared = use(D.from_tensor_slices([1.0, 2.0, 3.0]))
    assert v.numpy() == 7.0
    assert doubled.numpy().tolist() == [2.0, 4.0, 6.0]
    assert squared.numpy().tolist() == [1.0, 4.0, 9.0]


def test_a_variable_first_defined_in_the_loop() -> None:
    @tf.function
    def last(dataset: Any) -> Any:
        for x in dataset:
            y = x
        return y

    assert last(D.range(5)).numpy() == 4
    with pytest.raises(tf.errors.InvalidArgumentError, match="'y' is first defined in a loop"):
        last(D.range(0))


@pytest.mark.parametrize("how", ["loop", "reduce"])
def test_gradients_go_through_loops(how: str) -> None:
    v = tf.Variable(2.0)

    @tf.function
    def loss_and_gradient(dataset: Any) -> Any:
        with tf.GradientTape() as tape:
            if how == "loop":
                loss = tf.constant(0.0)
                for x in dataset:
                    loss += v * v * x
            else:
                loss = dataset.reduce(0.0, lambda total, x: total + v * v * x)
        return loss, tape.gradient(loss, v)

    loss, gradient = loss_and_gradient(D.from_tensor_slices([1.0, 2.0, 3.0]))
    assert (loss.numpy(), gradient.numpy()) == (24.0, 24.0)


def test_elements_are_constants_to_a_tape() -> None:
    w = tf.Variable([1.0, -1.0])
    rows = D.from_tensor_slices([[1.0, 2.0], [3.0, 5.0]])
    with tf.GradientTape() as tape:
        loss = tf.add_n([tf.reduce_sum(w * x) for x in rows])
    assert tape.gradient(loss, w).numpy().tolist() == [4.0, 7.0]


def test_reduce_in_a_function_is_traced_once() -> None:
    traced = []

    def add(total: Any, x: Any) -> Any:
        traced.append(1)
        return total + x

    @tf.function
    def total(dataset: Any) -> Any:
        return dataset.reduce(tf.constant(0, tf.int64), add)

    assert [total(D.range(n)).numpy() for n in (3, 5)] == [3, 10]
    assert len(traced) == 1


def test_datasets_are_made_of_symbolic_tensors_and_returned() -> None:
    @tf.function
    def make(n: Any) -> Any:
        return D.range(n).map(lambda x: x * n).filter(lambda x: x > 0).batch(2)

    dataset = make(tf.constant(4, tf.int64))
    assert isinstance(dataset, D)
    assert [x.numpy().tolist() for x in dataset] == [[4, 8], [12]]

    @tf.function
    def dot(x: Any) -> Any:
        total = tf.constant(0)
        for a, b in D.from_tensor_slices((x, x)):
            total += a * b
        return total

    assert dot(tf.constant([1, 2, 3])).numpy() == 14


def test_input_signature_with_a_dataset_spec() -> None:
    spec = tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))

    @tf.function(input_signature=[spec])
    def total(dataset: Any) -> Any:
        return dataset.reduce(tf.constant(0, tf.int64), lambda s, x: s + x)

    assert total(D.range(4)).numpy() == 6
    with pytest.raises(TypeError, match="DatasetSpec"):
        total(D.from_tensors(1.0))


def test_functions_trace_for_each_element_type() -> None:
    @tf.function
    def count(dataset: Any) -> Any:
        return dataset.reduce(0, lambda n, _: n + 1)

    assert count(D.range(3)).numpy() == count(D.from_tensor_slices([1.0, 2.0, 3.0])).numpy() == 3
    count(D.range(7))
    assert count.experimental_get_tracing_count() == 2


def test_python_loops_in_a_trace_are_refused() -> None:
    @tf.function(autograph=False)
    def use(dataset: Any) -> Any:
        return list(dataset)

    with pytest.raises(TypeError, match="would never end"):
        use(D.range(3))


def test_map_functions_are_converted_and_capture() -> None:
    v, scale = tf.Variable(10.0), tf.constant(2.0)

    def step(x: Any) -> Any:
        total = tf.constant(0.0)
        while total < x:
            if total > 3.0:
                total += 10.0
            else:
                total += scale
        return total + v

    dataset = D.from_tensor_slices([1.0, 5.0]).map(step)
    assert [float(x) for x in dataset] == [12.0, 24.0]
    v.assign(0.0)
    assert [float(x) for x in dataset] == [2.0, 14.0]


class Tripler:
    def __call__(self, x: Any) -> Any:
        return 3 * x

    def signed(self, x: Any) -> Any:
        if x > 1:
            return x
        return -x

    @tf.function
    def later(self, x: Any) -> Any:
        return x + 10


def test_anything_callable_can_be_mapped() -> None:
    tripler = Tripler()
    for function, expected in [
        (tripler, [0, 3, 6]),
        (tripler.signed, [0, -1, 2]),
        (tripler.later, [10, 11, 12]),
        (tf.function(lambda x: x + 1), [1, 2, 3]),
        (functools.partial(tf.add, tf.constant(5, tf.int64)), [5, 6, 7]),
        (tf.square, [0, 1, 4]),
        (lambda x, y=2: x * y, [0, 2, 4]),
    ]:
        assert [int(x) for x in D.range(3).map(function)] == expected


def test_functions_are_traced_once() -> None:
    calls = []

    def note(x: Any) -> Any:
        calls.append(x)
        return x

    dataset = D.range(50).map(note).batch(5)
    assert len(list(dataset)) == len(list(dataset)) == 10
    assert len(calls) == 1


def test_a_dataset_made_in_a_loop_uses_its_variables() -> None:
    @tf.function
    def total(n: Any) -> Any:
        out = tf.constant(0, tf.int64)
        for i in tf.range(3, dtype=tf.int64):
            for x in D.range(n).map(lambda v: v * i):  # noqa: B023
                out += x
        return out

    assert total(tf.constant(4, tf.int64)).numpy() == 18


def test_datasets_as_elements() -> None:
    nested = D.range(3).map(D.range)
    assert isinstance(nested.element_spec, tf.data.DatasetSpec)
    assert [len(list(inner)) for inner in nested] == [0, 1, 2]


def test_effects_of_map_functions_happen_in_order() -> None:
    seen: list[Any] = []
    v = tf.Variable(0, dtype=tf.int64)

    def note(x: Any) -> Any:
        tf.py_function(lambda y: seen.append(int(y)), [x], [])
        return v.assign_add(x)

    def numbers() -> Any:
        for i in range(3):
            seen.append(f"made {i}")
            yield i

    generated = D.from_generator(numbers, output_signature=tf.TensorSpec([], tf.int64))
    (batch,) = generated.map(note).batch(3)
    assert batch.numpy().tolist() == [0, 1, 3]
    assert seen == ["made 0", 0, "made 1", 1, "made 2", 2]


def test_errors_carry_the_line_of_the_user() -> None:
    def divide(x: Any) -> Any:
        return 6 // (x - 2)  # the line

    for dataset in (D.range(4).map(divide), D.range(4).map(divide).batch(4).prefetch(1),
                    D.range(4).map(divide, num_parallel_calls=2)):  # fmt: skip
        with pytest.raises(tf.errors.InvalidArgumentError, match="by zero") as caught:
            list(dataset)
        assert "# the line" in str(caught.value)


def test_run_on_the_reference_interpreter() -> None:
    graph = with_jumps.get_concrete_function(D.range(1)).graph
    (out,) = reference.run(graph, [D.range(10)._stage])
    assert out == 18
    assert np.asarray(out).dtype == np.int64
