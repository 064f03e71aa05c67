"""`tf.test`: benchmarks, graphs compared, decorators."""

from __future__ import annotations

import platform
from typing import Any

import pytest

import weft as tf


class Sums(tf.test.Benchmark):
    """A benchmark of a user."""

    def benchmark_sum(self) -> Any:
        return self.run_op_benchmark(tf.function(lambda: tf.constant(1) + 1), min_iters=3)


def test_benchmarks(capsys: Any) -> None:
    sums = Sums()
    report = sums.benchmark_sum()
    assert (report["name"], report["iters"]) == ("Sums.benchmark_sum", 3)
    assert report["wall_time"] > 0
    sums.report_benchmark(name="mine", wall_time=0.5, extras={"rows": 7})
    assert [r["name"] for r in sums.reports] == ["Sums.benchmark_sum", "mine"]
    assert capsys.readouterr().out.splitlines()[1] == "mine: wall_time 500000.0 us, rows 7"
    with pytest.raises(TypeError, match="no sessions"):
        sums.run_op_benchmark(tf.constant(1))


def graph_of(function: Any) -> Any:
    return tf.function(function).get_concrete_function(tf.TensorSpec([2])).graph.as_graph_def()


def test_graphs_are_compared() -> None:
    one = graph_of(lambda x: tf.exp(x) + 1)
    tf.test.assert_equal_graph_def(one, graph_of(lambda x: tf.exp(x) + 1))
    with pytest.raises(AssertionError, match="assert_equal_graph_def"):
        tf.test.assert_equal_graph_def(one, graph_of(lambda x: tf.exp(x) + 2))
    with pytest.raises(AssertionError, match="has no node"):
        tf.test.assert_equal_graph_def(one, graph_of(tf.sin))
    with pytest.raises(TypeError, match="expected must be a GraphDef"):
        tf.test.assert_equal_graph_def(1, one)


def test_processors() -> None:
    known = {kind for kind in ("x86", "arm") if tf.test.is_cpu_target_available(kind)}
    expected = {"x86_64": {"x86"}, "aarch64": {"arm"}, "arm64": {"arm"}}
    assert known == expected.get(platform.machine(), known)


def test_tests_that_are_left_out() -> None:
    class Tests(tf.test.TestCase):
        """Two tests, one of which is left out."""

        @tf.test.disable_with_predicate(lambda: True, "not today")
        def test_out(self) -> None:
            raise AssertionError

        @tf.test.disable_with_predicate(lambda: False, "")
        def test_in(self) -> None:
            self.assertAllEqual([1], [1])

    out, kept = Tests("test_out").run(), Tests("test_in").run()
    assert [reason for _, reason in out.skipped] == ["not today"]
    assert kept.wasSuccessful()
    assert not kept.skipped
    assert tf.test.with_eager_op_as_function(Tests) is Tests
    assert tf.test.with_eager_op_as_function(only_as_function=True)(Tests) is Tests
