"""`tf.xla.experimental`, `tf.nondifferentiable_batch_function` and `tf.sysconfig`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf


def test_compiled_calls_give_nests_and_tuples() -> None:
    x = tf.constant([1.0, 2.0])
    (single,) = tf.xla.experimental.compile(lambda x: x + 1, [x])
    np.testing.assert_array_equal(single, [2, 3])
    both = tf.xla.experimental.compile(lambda x, y: {"sum": x + y, "more": [x]}, (x, x))
    np.testing.assert_array_equal(both["sum"], [2, 4])
    assert tf.xla.experimental.compile(lambda: None) is None
    with pytest.raises(TypeError, match="inputs must be a list"):
        tf.xla.experimental.compile(lambda x: x, x)


def test_scopes_are_for_functions() -> None:
    with pytest.raises(RuntimeError, match="inside of tf.function"):
        tf.xla.experimental.jit_scope().__enter__()

    @tf.function
    def f(x: Any) -> Any:
        with tf.xla.experimental.jit_scope(False):
            return x * 2

    assert f(tf.constant(3)) == 6


@pytest.mark.parametrize("traced", [False, True])
def test_functions_of_batches(traced: bool) -> None:
    @tf.nondifferentiable_batch_function(2, 4, 100, [2, 4], enable_large_batch_splitting=False)
    def doubled(x: Any, y: Any) -> Any:
        if tf.reduce_sum(x) > 100:  # AutoGraph sees it
            return x, [y]
        return x * 2, [y + x]

    call = tf.function(doubled) if traced else doubled
    x = tf.constant([[1.0], [2.0], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        first, (second,) = call(x, x)
    np.testing.assert_array_equal(first, [[2], [4], [6]])
    np.testing.assert_array_equal(second, [[2], [4], [6]])
    assert tape.gradient(first, x) is None
    with pytest.raises(tf.errors.InvalidArgumentError, match="at most 4 rows"):
        call(tf.ones([5, 1]), tf.ones([5, 1]))
    with pytest.raises(ValueError, match="must have rows, got a scalar"):
        call(tf.constant(1.0), x)


def test_sizes_of_batches() -> None:
    with pytest.raises(ValueError, match="must grow up to max_batch_size, 4"):
        tf.nondifferentiable_batch_function(1, 4, 100, [4, 2])


def test_what_it_was_built_with() -> None:
    assert not any(tf.sysconfig.get_build_info().values())
    for name in ("get_include", "get_lib", "get_compile_flags", "get_link_flags"):
        with pytest.raises(NotImplementedError, match=f"{name}: Weft is written in Python"):
            getattr(tf.sysconfig, name)()
