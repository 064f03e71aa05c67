# ruff: noqa: C417 - the constructs are what is tested
"""Built-in functions on tensors: the same as eagerly, staged in graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.both_ways import agree, agree_on

VECTOR = [3, 1, 2]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: len(x),
        lambda x: abs(-x[0]),
        lambda x: sum(x),
        lambda x: sum(x, 10),
        lambda x: min(x),
        lambda x: max(x),
        lambda x: max(x[0], x[1], 2),
        lambda x: min(x[0], x[1]),
        lambda x: int(x[0]) + 1,
        lambda x: float(x[1]) * 2.5,
        lambda x: max([x[0], x[1], x[2]]) - min([x[0], 2]),
        lambda x: sorted([x[0], x[1], x[2]]),
        lambda x: any(v > 2 for v in [x[0], x[1]]),
        lambda x: bool(x[0]),
        lambda x: any([x[0] > 2, x[1] > 2]),
        lambda x: all([x[0] > 2, x[1] > 2]),
        lambda x: round(x[0] / 2),
        lambda x: pow(x[0], 2),
        lambda x: divmod(x[0], 2),
        lambda x: isinstance(x, tf.Tensor),
    ],
)
def test_on_one_tensor(f: Any) -> None:
    agree(f, tf.constant(VECTOR))


def test_any_and_all_of_a_tensor() -> None:
    def f(x: Any) -> Any:
        return any(x > 2), all(x > 2), any(x > 9), all(x > 0)

    agree(f, tf.constant(VECTOR))


def test_sorted() -> None:
    def f(x: Any) -> Any:
        return tf.stack(sorted(x)), tf.stack(sorted(x, reverse=True))

    agree(f, tf.constant(VECTOR))


def test_int_truncates_and_float_converts() -> None:
    def f(x: Any) -> Any:
        return int(x), float(x)

    agree(f, tf.constant(2.7))
    agree(f, tf.constant(-2.7))


def test_len_of_unknown_length() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def f(x: Any) -> Any:
        return len(x) * 10

    assert f(tf.zeros([3, 2])).numpy() == 30


def test_next_of_python_iterators() -> None:
    def f(x: Any) -> Any:
        numbers = iter([x, x + 1])
        return next(numbers) * 10 + next(numbers) + next(numbers, 5)

    agree_on(f, [1])


def test_enumerate() -> None:
    def f(x: Any) -> Any:
        total = 0
        for i, value in enumerate(x):
            if value > 1:
                total += i * value
        for i, value in enumerate(x, 5):
            total += i - value
        return total

    agree(f, tf.constant(VECTOR))
    agree(f, VECTOR)


def test_zip() -> None:
    def f(x: Any, y: Any) -> Any:
        total = 0
        for a, b in zip(x, y):
            total += a * b
        return total

    agree(f, tf.constant(VECTOR), tf.constant([4, 5]))
    agree(f, tf.constant(VECTOR), tf.constant([4, 5, 6]))
    agree(f, VECTOR, [4, 5])


def test_zip_of_tensors_and_lists() -> None:
    def f(x: Any, y: Any) -> Any:
        total = 0
        for a, b in zip(x, y):
            total += a * b
        return total

    agree(f, tf.constant(VECTOR), [4, 5, 6])


def test_map_and_filter() -> None:
    def f(x: Any) -> Any:
        total = 0
        for value in map(lambda v: v * 2 if v > 1 else v, x):
            total += value
        for value in filter(lambda v: v > 1, x):
            total += value * 100
        return total

    agree(f, tf.constant(VECTOR))
    agree(f, VECTOR)


def test_filter_with_break() -> None:
    def f(x: Any, limit: Any) -> Any:
        total = 0
        for value in filter(lambda v: v > 1, x):
            if value < limit:
                break
            total += value
        return total

    agree(f, tf.constant(VECTOR), tf.constant(3))
    agree(f, tf.constant(VECTOR), tf.constant(0))


def test_map_over_several_tensors() -> None:
    def f(x: Any, y: Any) -> Any:
        total = 0
        for value in map(lambda a, b: a * b, x, y):
            total += value
        return total

    agree(f, tf.constant(VECTOR), tf.constant([4, 5, 6]))


def test_reversed() -> None:
    def f(x: Any) -> Any:
        total = 0
        for value in reversed(x):
            total = total * 10 + value
        return total

    agree(f, tf.constant(VECTOR))
    agree(f, VECTOR)


def test_nested_iterators() -> None:
    def f(x: Any, y: Any) -> Any:
        total = 0
        for i, (a, b) in enumerate(zip(x, y)):
            total += i * a + b
        for i, a in enumerate(reversed(x)):
            total += i * a
        for a, i in zip(x, range(3)):
            total += i * a
        return total

    agree(f, tf.constant(VECTOR), tf.constant([4, 5, 6]))


def test_range_of_a_length() -> None:
    def f(x: Any) -> Any:
        total = 0
        for i in range(len(x)):
            total += x[i] * i
        return total

    agree(f, tf.constant(VECTOR))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def g(x: Any) -> Any:
        return f(x)

    assert g(tf.constant(VECTOR)).numpy() == 5


def test_list_and_tuple_of_a_tensor() -> None:
    def f(x: Any) -> Any:
        return list(x), tuple(x), list(zip(x, x)), list(enumerate(x)), [v * 2 for v in x]

    agree(f, tf.constant(VECTOR))


def test_isinstance_and_getattr_stay_python() -> None:
    def f(x: Any, thing: Any) -> Any:
        if isinstance(thing, str) and hasattr(thing, "upper"):
            return x + len(getattr(thing, "upper")())  # noqa: B009
        return x

    agree(f, tf.constant(1), "abc")
    agree(f, tf.constant(1), 3)


def test_built_in_functions_of_datasets() -> None:
    @tf.function
    def f() -> Any:
        numbers = tf.data.Dataset.from_tensor_slices([-3, 4, 1])
        total = tf.constant(0)
        for x in abs(numbers):
            total += x
        for x in map(lambda a: a * 2, numbers):
            total += x
        for x in map(lambda a, b: a * b, numbers, numbers):
            total += x
        large = numbers.map(lambda x: x > 3)
        return total, len(numbers), any(large), all(large), all(numbers.map(lambda x: x > -9))

    total, count, some, every, all_of_them = f()
    assert (int(total), int(count)) == (8 + 4 + 26, 3)
    assert (bool(some), bool(every), bool(all_of_them)) == (True, False, True)


def test_the_length_of_a_dataset_that_nobody_knows() -> None:
    @tf.function
    def f() -> Any:
        return len(tf.data.Dataset.range(4).filter(lambda x: x > 1))

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"len\(\) of a dataset"):
        f()


def test_numbers_out_of_strings() -> None:
    read = tf.function(lambda x: (int(x), int(x, 10), float(x)))
    assert [float(x) for x in read(tf.constant("101"))] == [101.0, 101.0, 101.0]
    with pytest.raises(NotImplementedError, match="base of 10 only, got base 2"):
        tf.function(lambda x: int(x, 2))(tf.constant("101"))


def test_sorted_by_a_key() -> None:
    by_key = tf.function(lambda x: tf.stack(sorted(x, key=lambda a: -a)))
    np.testing.assert_array_equal(by_key(tf.constant([3, 1, 2])), [3, 2, 1])
    pairs = tf.function(lambda x: tf.stack(sorted(x, key=lambda row: row[1], reverse=True)))
    np.testing.assert_array_equal(
        pairs(tf.constant([[1, 5], [2, 7], [3, 6]])), [[2, 7], [3, 6], [1, 5]]
    )
    with pytest.raises(ValueError, match="sorted"):
        tf.function(lambda x: sorted(x))(tf.zeros([2, 2]))


def test_sorted_tensors_are_tensors() -> None:
    order = tf.function(lambda x: sorted(x, reverse=True))
    assert isinstance(order(tf.constant([1, 3, 2])), tf.Tensor)
    np.testing.assert_array_equal(order(tf.constant([1, 3, 2])), [3, 2, 1])
    assert isinstance(tf.function(lambda x: sorted([x[0], x[1]]))(tf.constant([2, 1])), list)


def test_a_filtered_dataset_is_a_dataset() -> None:
    odd = tf.function(lambda rows: filter(lambda x: x % 2 == 1, rows))
    found = odd(tf.data.Dataset.range(5))
    assert isinstance(found, tf.data.Dataset)
    assert [int(x) for x in found] == [1, 3]
