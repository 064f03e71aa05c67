"""Verification finds what is wrong with machine code, and the random graphs find it, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from fuzzing import native_graphs, random_graphs
from fuzzing.__main__ import main
from weft._src.execution.native import verify
from weft._src.execution.native.loops.scalars import registry


@pytest.fixture
def broken_tanh(monkeypatch: pytest.MonkeyPatch) -> None:
    """tanh is a tenth of a percent too large."""
    right = registry._rules["tanh"]

    def wrong(b: Any, t: Any, attrs: Any, x: Any) -> Any:
        out = right.function(b, t, attrs, x)
        return b.mul(out, b.like(out, 1.01))

    monkeypatch.setitem(registry._rules, "tanh", right._replace(function=wrong))


def example(x: Any) -> Any:
    y = tf.exp(x) + 1.0
    z = tf.tanh(y * 0.1)  # the wrong one
    return tf.reduce_sum(z * z), z - y


X = tf.constant([0.1, 0.2, 0.3])


def test_agreement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.config, "execution", "verify")
    v = tf.Variable([1.0, 1.0, 1.0])

    @tf.function
    def function(x: Any) -> Any:
        v.assign_add(x)
        tf.print("once")
        return example(v)

    for k in (1, 2):
        total, rest = function(X)
        wanted = example(1.0 + k * X)
        np.testing.assert_allclose(total, wanted[0], rtol=1e-6)
        np.testing.assert_allclose(rest, wanted[1], rtol=1e-6)
        np.testing.assert_allclose(v, 1.0 + k * X.numpy(), rtol=1e-6)  # once per call


def test_the_first_node_that_differs_is_named(
    broken_tanh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tf.config, "execution", "verify")
    function = tf.function(example)
    with pytest.raises(verify.TierDifferenceError) as caught:
        function(X)
    with open(__file__, encoding="utf-8") as file:
        (line,) = [i for i, text in enumerate(file, 1) if text.endswith("# the wrong one\n")]
    message = str(caught.value)
    assert message.startswith("example: ")
    assert "= Tanh(" in message
    assert f"test_verify.py:{line}" in message
    assert "native" in message
    assert "reference" in message


def test_a_difference_in_a_variable_is_found(
    broken_tanh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tf.config, "execution", "verify")
    v = tf.Variable([0.5, 0.6])
    function = tf.function(lambda: v.assign(tf.tanh(v)))
    with pytest.raises(verify.TierDifferenceError, match="Tanh"):
        function()
    np.testing.assert_allclose(v, [0.5, 0.6])  # verification works on copies


def test_a_difference_inside_a_loop_is_found(
    broken_tanh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tf.config, "execution", "verify")
    function = tf.function(
        lambda x: tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, tf.tanh(x)), (0, x))
    )
    with pytest.raises(verify.TierDifferenceError, match="While"):
        function(X)


def test_without_the_bug_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.config, "execution", "verify")
    tf.function(example)(X)


def _uses(seed: int, name: str) -> bool:
    return any(step.name == name for step in random_graphs.grow(seed, wide=True).steps)


def test_random_graphs_find_the_bug(broken_tanh: None, capsys: pytest.CaptureFixture[str]) -> None:
    candidates = [seed for seed in range(60) if _uses(seed, "tanh")]
    reports = {seed: native_graphs.check_graph(seed) for seed in candidates[:4]}
    found = {seed: report for seed, report in reports.items() if report is not None}
    assert found
    assert all("= Tanh(" in report for report in found.values())
    # Made small: tanh is the last step, and all others lead to it.
    assert all(report.splitlines()[-2].startswith("tanh(") for report in found.values())
    seed = next(iter(found))
    assert main(["graphs", "--count", "1", "--seed", str(seed)]) == 1
    out = capsys.readouterr().out
    assert f"graph {seed}: " in out
    assert "graphs: 1 cases, 1 disagreements" in out


@pytest.mark.parametrize("first", [0, 8, 16, 24])
def test_random_graphs_agree(first: int) -> None:
    for seed in range(first, first + 8):
        assert native_graphs.check_graph(seed) is None


def test_what_cancels_out_is_no_difference() -> None:
    """The mean of this graph is 0 but for rounding, and its root is a number or none."""
    assert native_graphs.check_graph(202611180001773) is None


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graphs", "--count", "2", "--seed", "100"]) == 0
    assert capsys.readouterr().out == "graphs: 2 cases, 0 disagreements, seeds from 100\n"


def test_stacks_that_are_handed_on_are_compared_by_their_elements(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tf.config, "execution", "verify")

    @tf.function
    def loop(x: Any) -> Any:
        for i in tf.range(3):
            x = tf.cond(i > 1, lambda x=x: tf.sin(x), lambda x=x: x * x)
        return x

    x = tf.constant([0.5, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loop(x)
    assert tape.gradient(y, x).shape == (2,)


def test_what_acts_outside_happens_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.config, "execution", "verify")
    calls = []

    @tf.function
    def count(x: Any) -> Any:
        return tf.numpy_function(lambda v: calls.append(1) or v + 1, [x], tf.float32) * 2.0

    assert count(tf.constant(1.0)) == 4.0
    assert len(calls) == 1
    iterator = iter(tf.data.Dataset.range(5))
    advance = tf.function(lambda: next(iterator) * 10)
    assert [int(advance()) for _ in range(3)] == [0, 10, 20]
