"""Eager ops on large arrays: NumPy first, then machine code, with the same results and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.special

import weft as tf
from support.threads import in_threads
from weft._src.core.flags import flags
from weft._src.execution import eager
from weft._src.execution.background import worker

RNG = np.random.default_rng(7)
X = RNG.normal(size=(260, 270)).astype(np.float32)
Y = RNG.normal(size=(260, 270)).astype(np.float32)
Y[3, 5], Y[100, 7] = np.nan, np.inf


@pytest.fixture(autouse=True)
def _no_plans(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(eager, "_plans", {})
    monkeypatch.setattr(tf.config, "execution", "auto")
    yield
    worker.wait()


def plans() -> dict[str, Any]:
    """The plans there are, by the name of their op."""
    return {key[0].name: plan for key, plan in eager._plans.items() if plan is not None}


EXACT: list[tuple[str, Callable[..., Any]]] = [
    ("AddV2", lambda x, y: x + y),
    ("SelectV2", lambda x, y: tf.where(y > 0, x, y)),
    ("Maximum", tf.maximum),
    ("Relu", lambda x, y: tf.nn.relu(y)),
    ("Max", lambda x, y: tf.reduce_max(x, axis=0)),
    ("Cast", lambda x, y: tf.cast(x, tf.int32)),
    ("ConcatV2", lambda x, y: tf.concat([x, y], 1)),
    ("GatherV2", lambda x, y: tf.gather(x, [5, 0, 259])),
    ("Tile", lambda x, y: tf.tile(x, [1, 3])),
    ("Pad", lambda x, y: tf.pad(tf.transpose(x), [[1, 0], [0, 2]])),
    ("UnsortedSegmentMax", lambda x, y: tf.math.unsorted_segment_max(x, tf.range(260) % 7, 9)),
]


@pytest.mark.parametrize(("op", "function"), EXACT)
def test_machine_code_gives_what_numpy_gives(
    op: str, function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = tf.constant(X), tf.constant(Y)
    monkeypatch.setattr(tf.config, "execution", "numpy")
    wanted = function(x, y).numpy()
    assert not plans()
    monkeypatch.setattr(tf.config, "execution", "native")
    got = function(x, y).numpy()
    assert plans()[op].tier == "native"
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)


def test_an_op_is_compiled_once_it_has_taken_long_enough() -> None:
    x = tf.constant(X)
    tf.math.pow(x * x, 1.5)
    plan = plans()["Pow"]
    assert plan.tier == "numpy"
    plan._spent, plan._calls = 1.0, 10
    tf.math.pow(x * x, 1.5)
    worker.wait()
    assert plan.tier == "native"
    np.testing.assert_allclose(tf.math.pow(x * x, 1.5), (X * X) ** np.float32(1.5), rtol=1e-6)


def test_small_arrays_strided_arrays_and_views_are_numpys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.config, "execution", "native")
    x = tf.constant(X)
    tf.reshape(x, [-1])
    tf.transpose(x)
    x[::2] + x[1::2]
    x[:5] + x[:5]
    tf.matmul(x, x, transpose_b=True)
    assert not plans()


def test_batches_of_products_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.config, "execution", "native")
    a, b = RNG.normal(size=(900, 9, 7)), RNG.normal(size=(900, 7, 12))
    np.testing.assert_allclose(tf.matmul(a, b), a @ b, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(tf.einsum("bij,bjk->bik", a, b), a @ b, rtol=1e-12, atol=1e-12)
    assert "MatMul" in plans()


def test_slow_kernels_are_compiled_for_fewer_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.config, "execution", "native")
    x = tf.constant(X[:40])
    np.testing.assert_allclose(tf.nn.softmax(x), scipy.special.softmax(X[:40], 1), rtol=1e-6)
    x + x
    assert list(plans()) == ["Softmax"]
    tf.nn.selu(x[0, :200])
    assert list(plans()) == ["Softmax"]
    tf.nn.selu(x[:10])  # several passes for each element
    assert list(plans()) == ["Softmax", "Selu"]


def test_transposed_views_are_not_copied_first(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.constant(RNG.normal(size=(50, 40, 45)).astype(np.float32))
    y = tf.constant(RNG.normal(size=(45, 40, 50)).astype(np.float32))
    monkeypatch.setattr(tf.config, "execution", "native")
    np.testing.assert_array_equal(tf.transpose(x) - y, x.numpy().T - y.numpy())
    np.testing.assert_array_equal(y - tf.transpose(x), y.numpy() - x.numpy().T)
    got = tf.reduce_max(tf.transpose(x), axis=0)
    np.testing.assert_array_equal(got, x.numpy().T.max(0))
    tiers = {name: plan.tier for name, plan in plans().items() if plan is not None}
    assert tiers == {"Sub": "native", "Max": "native"}
    with pytest.raises(ValueError, match="cannot be broadcast together"):
        tf.transpose(x) - x


def test_errors_are_those_of_the_op(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.constant(X)
    texts = []
    for tier in ("numpy", "native"):
        monkeypatch.setattr(tf.config, "execution", tier)
        x + x
        for wrong in (
            lambda: x + tf.ones([269]),
            lambda: x + tf.cast(x, tf.float64),
            lambda: tf.gather(x, tf.fill([70_000], 260)),
        ):
            with pytest.raises((ValueError, TypeError, tf.errors.OpError)) as caught:
                wrong()
            texts.append(f"{type(caught.value).__name__}: {caught.value}")
    assert texts[:3] == texts[3:]
    assert "at " not in texts[0].splitlines()[-1]


def test_determinism_asks_for_one_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.config, "execution", "native")
    monkeypatch.setattr(flags, "deterministic", True)
    tf.exp(tf.constant(X))
    assert not plans()


def test_tapes_record_the_op(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.config, "execution", "native")
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.square(x) * 3.0)
    np.testing.assert_allclose(tape.gradient(y, x), 6 * X, rtol=1e-6)
    assert plans()["Square"].tier == "native"


def test_threads_share_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.config, "execution", "native")
    x, wrong = tf.constant(X), []

    def work(n: int) -> None:
        wanted = X * np.float32(n)
        wrong.extend([n for _ in range(20) if not np.array_equal((x * float(n)).numpy(), wanted)])

    in_threads(work)
    assert not wrong


def test_numbers_that_decide_about_shapes_have_plans_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tf.config, "execution", "native")
    x, ids = tf.constant(X), tf.range(260) % 5
    for count in (5, 6, 8, 5):
        out = tf.math.unsorted_segment_max(x, ids, count)
        assert out.shape == (count, 270)
        np.testing.assert_array_equal(out[:5], [X[i::5].max(0) for i in range(5)])
    assert len(eager._plans) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"4"):
        tf.math.unsorted_segment_max(x, ids, 4)
    np.testing.assert_array_equal(tf.repeat(x, tf.ones(260, tf.int32), axis=0), X)


def test_the_oldest_plan_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eager, "_MOST_PLANS", 3)
    x = tf.constant(X)
    for count in range(1, 7):
        assert tf.tile(x, [count, 1]).shape == (260 * count, 270)
    assert len(eager._plans) == 3


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.linalg.cholesky(x @ tf.transpose(x) + 300 * tf.eye(260)),
        lambda x: tf.math.segment_sum(x, tf.range(260) // 7),
        lambda x: tf.signal.rfft(x),
        lambda x: tf.shape(x),
    ],
    ids=["cholesky", "segment_sum", "rfft", "shape"],
)
def test_what_has_no_machine_code_makes_no_plan(function: Callable[..., Any]) -> None:
    function(tf.constant(X))
    assert not {"Cholesky", "SegmentSum", "RFFT", "Shape"} & set(plans())
