"""Variables on XLA: all ops on them, and who sees which value."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.xla_programs import check_program, plan_of

RNG = np.random.default_rng(3)


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


ROWS = ["update", "add", "sub", "mul", "min", "max"]
ELEMENTS = ["update", "add", "sub", "min", "max"]


@pytest.mark.parametrize("kind", ROWS)
def test_rows_of_a_variable(kind: str) -> None:
    v = tf.Variable(normal(5, 3))

    def change(indices: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
        getattr(v, f"scatter_{kind}")(tf.IndexedSlices(values, indices))
        return tf.gather(v, indices)

    check_program(change, np.array([3, 0, 3], np.int32), normal(3, 3), variables=[v])


@pytest.mark.parametrize("kind", ELEMENTS)
def test_elements_of_a_variable(kind: str) -> None:
    v = tf.Variable(normal(4, 5))

    def change(indices: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
        getattr(v, f"scatter_nd_{kind}")(indices, values)
        return v.gather_nd(indices)

    indices = np.array([[1, 2], [3, 4], [1, 2]], np.int32)
    check_program(change, indices, normal(3), variables=[v])


def test_slices_of_a_variable() -> None:
    v = tf.Variable(normal(4, 5))

    def change(x: tf.Tensor, i: tf.Tensor) -> tf.Tensor:
        v[1:3].assign(x)
        v[i, 2].assign_add(x[0, 0])
        v[:, i].assign_sub(x[0, :4])
        v[::2, 1:].assign(2.0 * v[::2, 1:])
        return v[i] + v[1, ::-1]

    check_program(change, normal(2, 5), np.array(3, np.int32), variables=[v])


def test_variables_in_branches_in_loops() -> None:
    v, w = tf.Variable(1.0), tf.Variable([1.0, 2.0])

    def change(n: tf.Tensor) -> tf.Tensor:
        for i in tf.range(n):
            if i % 3 == 0:
                v.assign_add(tf.cast(i, tf.float32))
            else:
                w.assign(w * 1.5)
            tf.switch_case(
                i % 2, [lambda: v.assign(v / 2.0), lambda: v.assign_add(tf.reduce_sum(w))]
            )
        return v + w

    check_program(change, np.array(7, np.int32), variables=[v, w])


def test_others_see_what_a_program_has_written() -> None:
    v = tf.Variable(normal(64, 32))  # large enough for reads that share the buffer
    add = tf.function(lambda x: v.assign_add(x * tf.ones_like(v)))
    before = v.numpy()
    snapshot = v.read_value()
    add(1.0)
    seen = v.numpy()
    np.testing.assert_allclose(seen, before + 1, rtol=1e-6)
    v.assign_add(tf.ones_like(v))  # NumPy writes between two programs
    add(1.0)
    np.testing.assert_allclose(v.numpy(), before + 3, rtol=1e-6)
    np.testing.assert_array_equal(snapshot, before)
    np.testing.assert_allclose(seen, before + 1, rtol=1e-6)


def test_machine_code_and_xla_in_turns() -> None:
    v = tf.Variable(normal(40, 40))
    start = v.numpy()
    on_xla = tf.function(lambda: v.assign_add(tf.ones_like(v)))
    on_xla()
    tf.config.execution = "native"
    natively = tf.function(lambda: v.assign(v * 2.0), jit_compile=True)
    natively()
    for _ in range(3):
        on_xla()
        natively()
    wanted = (start + 1) * 2
    for _ in range(3):
        wanted = (wanted + 1) * 2
    np.testing.assert_allclose(v.numpy(), wanted, rtol=1e-5)


def test_threads_that_read_while_another_writes() -> None:
    v = tf.Variable(normal(64, 64))
    write = tf.function(lambda: v.assign(v + 1.0))
    reads = [tf.function(lambda i=i: tf.reduce_sum(v - v[0, 0]) + i) for i in range(2)]
    wanted = [float(read()) for read in reads]
    problems: list[BaseException] = []

    def repeat(function: Callable[[], Any], value: float | None) -> None:
        try:
            for _ in range(150):
                got = function()
                if value is not None:
                    np.testing.assert_allclose(got, value, rtol=1e-2, atol=1.0)
        except BaseException as error:
            problems.append(error)
            raise

    write()
    threads = [threading.Thread(target=repeat, args=(write, None))]
    threads += [
        threading.Thread(target=repeat, args=(r, x)) for r, x in zip(reads, wanted, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not problems
    assert not any(thread.is_alive() for thread in threads)


def test_one_variable_given_twice() -> None:
    v = tf.Variable(2.0)

    @tf.function
    def both(a: tf.Variable, b: tf.Variable) -> tf.Tensor:
        a.assign_add(1.0)
        b.assign(b * 3.0)
        return a + b

    assert both(v, v).numpy() == 18.0


def test_a_variable_that_gets_its_value_in_the_function() -> None:
    holder: list[tf.Variable] = []

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        if not holder:
            holder.append(tf.Variable(2.0 * x))
        holder[0].assign_add(x)
        return holder[0].read_value()

    assert step(tf.constant(3.0)).numpy() == 9.0
    assert step(tf.constant(1.0)).numpy() == 10.0
    assert plan_of(step, tf.constant(1.0)).left_out is None


def test_whether_a_variable_has_a_value() -> None:
    v = tf.Variable(1.0)
    function = tf.function(lambda: tf.raw_ops.VarIsInitializedOp(resource=v.handle))
    assert function().numpy()
