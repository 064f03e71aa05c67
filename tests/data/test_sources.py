"""Datasets of values: their elements, specs and cardinalities, and what is refused."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.data.core.stage import Stage

D = tf.data.Dataset
Pair = collections.namedtuple("Pair", "a b")


def values(dataset: Any) -> list[Any]:
    return [tf.nest.map_structure(np.ndarray.tolist, tf.nest.map_structure(np.asarray, x))
            for x in dataset.as_numpy_iterator()]  # fmt: skip


@pytest.mark.parametrize(
    ("args", "expected"),
    [((5,), [0, 1, 2, 3, 4]), ((2, 5), [2, 3, 4]), ((10, 0, -3), [10, 7, 4, 1]), ((5, 2), [])],
)
def test_range(args: tuple[int, ...], expected: list[int]) -> None:
    dataset = D.range(*args)
    assert values(dataset) == expected
    assert len(dataset) == len(expected)
    assert dataset.element_spec == tf.TensorSpec([], tf.int64)
    assert values(dataset.batch(2)) == [expected[i : i + 2] for i in range(0, len(expected), 2)]


def test_range_of_another_dtype() -> None:
    assert next(iter(D.range(3, output_type=tf.float32))).dtype is tf.float32


def test_counter_never_ends() -> None:
    dataset = D.counter(7, -2)
    assert dataset.cardinality().numpy() == tf.data.INFINITE_CARDINALITY
    assert values(dataset.take(3)) == [7, 5, 3]
    assert dataset.batch(2).cardinality().numpy() == tf.data.INFINITE_CARDINALITY


def test_elements_are_nests_in_which_lists_are_tensors() -> None:
    dataset = D.from_tensors({"b": 1, "a": (2.0, ["x", "y"]), "c": None})
    assert dataset.element_spec["a"] == (tf.TensorSpec([]), tf.TensorSpec([2], tf.string))
    assert repr(dataset.element_spec["c"]) == "NoneTensorSpec()"
    (element,) = dataset
    assert list(element) == ["b", "a", "c"]
    assert element["c"] is None
    assert element["a"][1].numpy().tolist() == [b"x", b"y"]


def test_slices_of_a_namedtuple() -> None:
    dataset = D.from_tensor_slices(Pair([1, 2], [[3.0], [4.0]]))
    first = next(iter(dataset))
    assert isinstance(first, Pair)
    assert values(dataset.map(lambda p: p.b[0])) == [3.0, 4.0]


def test_slices_do_not_change_with_what_they_were_made_of() -> None:
    array = np.arange(3)
    dataset = D.from_tensor_slices(array)
    array[:] = 9
    assert values(dataset) == [0, 1, 2]
    for row in dataset.batch(2).as_numpy_iterator():
        row[:] = 7
    assert values(dataset) == [0, 1, 2]


def test_zip_ends_with_the_shortest() -> None:
    dataset = D.zip({"x": D.range(4), "y": (D.range(10, 12),)})
    assert values(dataset) == [{"x": 0, "y": (10,)}, {"x": 1, "y": (11,)}]
    assert len(dataset) == 2
    assert values(D.zip(D.range(5), D.range(3)).batch(2)) == [([0, 1], [0, 1]), ([2], [2])]


def test_zip_takes_no_more_from_a_generator_than_needed() -> None:
    taken = []

    def numbers() -> Iterator[int]:
        for i in range(100):
            taken.append(i)
            yield i

    generated = D.from_generator(numbers, output_signature=tf.TensorSpec([], tf.int32))
    assert len(list(D.zip(D.range(2), generated).batch(50))) == 1
    assert len(taken) == 2


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: D.range(), ValueError, "1 to 3 numbers"),
        (lambda: D.range(1, 2, 0), tf.errors.InvalidArgumentError, "step"),
        (lambda: D.range(5.5), TypeError, r"Dataset\.range: stop must be an integer, got 5\.5"),
        (lambda: D.from_tensor_slices(3), ValueError, "from_tensors"),
        (lambda: D.from_tensor_slices(([1, 2], [1, 2, 3])), ValueError, r"\(2,\), \(3,\)"),
        (lambda: D.zip([D.range(2)]), TypeError, "not in lists"),
        (lambda: D.zip(D.range(2), 3), TypeError, r"must be a tf\.data\.Dataset, got 3"),
        (lambda: D.range(3).concatenate(D.from_tensors(1.0)), TypeError, "different types"),
        (lambda: len(D.range(3).repeat()), TypeError, "infinite"),
        (lambda: len(D.range(3).filter(lambda x: x > 1)), TypeError, "unknown"),
        (lambda: D(3), TypeError, "made by its methods"),
    ],
)
def test_refused(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


# --- generators ----------------------------------------------------------------------------------


def test_generator_is_called_for_each_iteration() -> None:
    calls = []

    def numbers(n: Any) -> Iterator[int]:
        calls.append(int(n))
        yield from range(n)

    dataset = D.from_generator(numbers, output_signature=tf.TensorSpec([], tf.int32), args=(3,))
    assert values(dataset) == values(dataset) == [0, 1, 2]
    assert calls == [3, 3]


def test_generator_with_types_and_shapes() -> None:
    dataset = D.from_generator(lambda: [([1], "a")], (tf.int32, tf.string), ([None], []))
    assert repr(dataset.element_spec[0].shape) == "TensorShape([None])"
    assert values(dataset) == [([1], b"a")]


@pytest.mark.parametrize(
    ("yielded", "signature", "text"),
    [
        (
            [1, "a"],
            tf.TensorSpec([], tf.int32),
            r"element 1 .*int32 of shape \(\).*'a' of type str",
        ),
        ([[1], [1, 2]], tf.TensorSpec([1], tf.int32), r"element 1 .*\(1,\).*yielded shape \(2,\)"),
        ([(1, 2), 3], (tf.TensorSpec([], tf.int32),) * 2, "element 1 .*3 of type int.*structure"),
        ([{"a": 1}, {"b": 1}], {"a": tf.TensorSpec([], tf.int32)}, "element 1 .*structure"),
        ([(1, 2.5)], (tf.TensorSpec([], tf.int32),) * 2, r"element 0, component \[1\],.*2\.5"),
    ],
)
def test_generator_that_yields_something_else(yielded: Any, signature: Any, text: str) -> None:
    dataset = D.from_generator(lambda: yielded, output_signature=signature)
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        list(dataset)


def test_errors_of_a_generator_arrive_as_they_are() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise KeyError("boom")

    iterator = iter(D.from_generator(broken, output_signature=tf.TensorSpec([], tf.int32)))
    assert next(iterator).numpy() == 1
    with pytest.raises(KeyError, match="boom"):
        next(iterator)


def test_generators_are_closed() -> None:
    closed = []

    def numbers() -> Iterator[int]:
        try:
            yield from range(100)
        finally:
            closed.append(True)

    dataset = D.from_generator(numbers, output_signature=tf.TensorSpec([], tf.int32))
    for _ in dataset:
        break
    del _
    assert closed == [True]


def test_stages_keep_what_all_values_have() -> None:
    def check(cls: type) -> None:
        for made in cls.__subclasses__():
            assert not {"dtype", "shape", "size"} & set(vars(made)), made
            check(made)

    check(Stage)
