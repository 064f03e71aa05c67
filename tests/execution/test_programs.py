"""Eager functions of many ops that run as one program: the same results, and gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.execution import programs
from weft._src.execution.background import worker
from weft._src.ops.sparse import place_arrays

RNG = np.random.default_rng(3)
COLOURS = RNG.random((4, 5, 6, 3)).astype(np.float32)
COLOURS[0, 0] = 0.25  # grey
COLOURS[0, 1] = 0.0
COLOURS[0, 2, :3] = np.eye(3)
COLOURS[0, 3, :3] = 1 - np.eye(3)
COLOURS[1, 0, 0] = np.nan
COLOURS[1, 0, 1, 1] = np.nan
COLOURS[1, 0, 2, 2] = np.inf
COLOURS[1, 0, 3, 0] = -np.inf
COLOURS[1, 1] *= -1.0
COLOURS[1, 2] *= 1e-42  # not normal

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "rgb_to_hsv": tf.image.rgb_to_hsv,
    "hsv_to_rgb": tf.image.hsv_to_rgb,
    "adjust_hue": lambda x: tf.image.adjust_hue(x, 0.3),
    "adjust_saturation": lambda x: tf.image.adjust_saturation(x, 1.7),
}


@pytest.fixture(autouse=True)
def _no_programs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(programs, "_plans", {})
    monkeypatch.setattr(programs, "_calls", {})
    monkeypatch.setattr(tf.config, "execution", "auto")
    yield
    worker.wait()


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("tier", ["auto", "native"])
def test_a_program_gives_the_bits_of_its_ops(
    name: str, tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On NumPy's plan, which is what programs begin with, and as machine code."""
    function = FUNCTIONS[name]
    for x in (COLOURS, COLOURS[:, ::2], COLOURS[:0], COLOURS[3, 4], COLOURS.astype(np.float16)):
        monkeypatch.setattr(tf.config, "execution", "numpy")
        image = tf.constant(x) if x.ndim > 2 else tf.constant(x[None])
        wanted = function(image)
        assert not programs._plans
        monkeypatch.setattr(tf.config, "execution", tier)
        monkeypatch.setattr(programs, "_CALLS_BEFORE", 0)
        for _ in range(3):
            found = function(image)
            assert found.dtype is wanted.dtype
            np.testing.assert_array_equal(found.numpy(), wanted.numpy())
        assert programs._plans
        (plan,) = list(programs._plans.values())[-1:]
        assert plan.tier == ("native" if tier == "native" else "numpy")
        programs._plans.clear()


def test_the_first_calls_trace_nothing() -> None:
    image = tf.constant(COLOURS)
    for _ in range(programs._CALLS_BEFORE):
        tf.image.rgb_to_hsv(image)
    assert not programs._plans
    tf.image.rgb_to_hsv(image)
    assert len(programs._plans) == 1


def test_integers_and_factors_that_change(monkeypatch: pytest.MonkeyPatch) -> None:
    image = tf.constant((RNG.random((3, 4, 3)) * 255).astype(np.uint8))
    factors = (0.0, 0.1, -0.5)
    monkeypatch.setattr(tf.config, "execution", "numpy")
    wanted = [tf.image.adjust_hue(image, by).numpy() for by in factors]
    monkeypatch.setattr(tf.config, "execution", "native")
    found = [tf.image.adjust_hue(image, by).numpy() for by in factors]
    np.testing.assert_array_equal(found, wanted)
    assert len(programs._plans) == 1


def test_tapes_see_the_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.constant(COLOURS[2:])
    monkeypatch.setattr(programs, "_CALLS_BEFORE", 0)
    tf.image.rgb_to_hsv(x)
    gradients = []
    for tier in ("auto", "numpy"):
        monkeypatch.setattr(tf.config, "execution", tier)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.image.rgb_to_hsv(x) ** 2)
        gradients.append(tape.gradient(y, x).numpy())
    assert np.abs(gradients[0]).max() > 0
    np.testing.assert_array_equal(*gradients)


def test_graphs_and_checked_numbers_have_the_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_CALLS_BEFORE", 0)
    x = tf.constant(COLOURS)
    traced = tf.function(tf.image.rgb_to_hsv)
    assert len(traced.get_concrete_function(x).graph.get_operations()) > 10
    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match="NaN|nan|inf"):
            tf.image.rgb_to_hsv(x)
    finally:
        tf.debugging.disable_check_numerics()
    assert not programs._plans


def test_old_programs_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_MOST_PLANS", 2)
    monkeypatch.setattr(programs, "_CALLS_BEFORE", 1)
    x = COLOURS[0]
    for _ in range(4):
        x = x[None]
        for _ in range(3):
            tf.image.rgb_to_hsv(tf.constant(x))
    assert len(programs._plans) == 2
    assert len(programs._calls) <= 2


SPARSE = {
    "product": lambda sp: tf.sparse.sparse_dense_matmul(sp, tf.constant(RIGHT)),
    "adjoint": lambda sp: tf.sparse.sparse_dense_matmul(sp, tf.constant(LEFT), adjoint_a=True),
    "sum along rows": lambda sp: tf.sparse.reduce_sum(sp, 1),
    "sum along columns": lambda sp: tf.sparse.reduce_sum(sp, 0),
    "sum": tf.sparse.reduce_sum,
    "kept": lambda sp: tf.sparse.reduce_sum(sp, 1, keepdims=True),
    "largest": lambda sp: tf.sparse.reduce_max(sp, 1),
}
RIGHT = RNG.normal(size=(7, 3)).astype(np.float32)
LEFT = RNG.normal(size=(5, 2)).astype(np.float32)


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("tier", ["auto", "native"])
def test_sparse_programs_and_their_errors(
    name: str, tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more and less elements, none, and elements that lie outside."""
    monkeypatch.setattr(programs, "_CALLS_BEFORE", 0)
    places = np.stack(np.unravel_index(RNG.permutation(35)[:12], (5, 7)), 1)
    values = RNG.normal(size=12).astype(np.float32)
    values[:3] = [np.nan, np.inf, -np.inf]
    outside = np.array([[0, 0], [5, 1], [1, 9], [-1, 0], [2, -3]])
    for indices, numbers in (
        *[(places[:n], values[:n]) for n in (12, 7, 1, 0)],
        *[(outside[[0, i]], values[3:5]) for i in range(1, 5)],
    ):
        sp = tf.SparseTensor(indices.reshape(-1, 2), numbers, [5, 7])
        found: list[Any] = []
        for execution in ("numpy", tier, tier):
            monkeypatch.setattr(tf.config, "execution", execution)
            try:
                found.append(SPARSE[name](sp).numpy().tolist())
            except tf.errors.InvalidArgumentError as error:
                found.append(str(error))
        assert str(found[1]) == str(found[0])  # NaN is not equal to itself
        assert str(found[2]) == str(found[0])
    assert programs._plans


def test_sizes_are_part_of_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that machine code knows how large results are, and leaves nothing to NumPy."""
    monkeypatch.setattr(tf.config, "execution", "native")
    monkeypatch.setattr(place_arrays, "_SMALL_PRODUCT", 0)
    for rows in (3, 5, 3):
        sp = tf.SparseTensor([[0, 1], [2, 0]], [2.0, 3.0], [rows, 2])
        found = tf.sparse.sparse_dense_matmul(sp, [[1.0, 10.0, 100.0]] * 2)
        assert found.shape == (rows, 3)
        np.testing.assert_array_equal(tf.reduce_sum(found, 1), ([222, 0, 333, 0, 0])[:rows])
    plans = list(programs._plans.values())
    assert len(plans) == 2
    assert [plan.compiled[0].left_out for plan in plans] == [{}, {}]
