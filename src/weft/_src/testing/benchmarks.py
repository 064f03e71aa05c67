"""`tf.test`: benchmarks, graphs that are compared, and decorators of tests."""

from __future__ import annotations

import functools
import inspect
import platform
import time
from collections.abc import Callable
from typing import Any, TypeVar

from weft._src.core.tensor import Tensor

_C = TypeVar("_C")
_ARM = ("aarch64", "arm64")
_PROCESSORS = {"x86": ("x86_64", "amd64", "i686"), "arm": _ARM, "aarch64": _ARM}


class Benchmark:
    """Base of classes whose methods `benchmark...` measure something.

    >>> class Addition(tf.test.Benchmark):
    ...     def benchmark_add(self):
    ...         self.run_op_benchmark(lambda: tf.constant(1) + 1, min_iters=3)
    >>> Addition().benchmark_add()  # doctest: +ELLIPSIS
    Addition.benchmark_add: 3 runs, ...
    """

    def __init__(self) -> None:
        self.reports: list[dict[str, Any]] = []

    def run_op_benchmark(
        self,
        op: Callable[[], Any],
        burn_iters: int = 2,
        min_iters: int = 10,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Calls a function again and again, and reports how long it takes.

        Args:
          op: a function of nothing, such as a `tf.function`.
          burn_iters: how many calls come before, which do not count.
          min_iters: how many calls are measured.
          name: what is measured; None is the method.

        Returns:
          A dict with "name", "iters" and "wall_time", the median in seconds.

        Raises:
          TypeError: if `op` is no function: there are no sessions that could run a tensor.
        """
        if not callable(op) or isinstance(op, Tensor):
            raise TypeError(
                f"run_op_benchmark: op must be a function, as there are no sessions, got {op!r}."
            )
        for _ in range(burn_iters):
            op()
        times = []
        for _ in range(max(1, min_iters)):
            began = time.perf_counter()
            op()
            times.append(time.perf_counter() - began)
        median = sorted(times)[len(times) // 2]
        self.report_benchmark(iters=len(times), wall_time=median, name=name)
        return self.reports[-1]

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: dict[str, Any] | None = None,
        name: str | None = None,
        metrics: Any = None,
    ) -> None:
        """Prints what was measured, and keeps it in `reports`.

        Args:
          iters: how many runs there were.
          cpu_time: the time of the processor, in seconds.
          wall_time: the time that passed, in seconds.
          throughput: megabytes in a second.
          extras: more numbers and texts by name.
          name: what was measured; None is the method of the class that called.
          metrics: a list of dicts with "name" and "value".
        """
        label = name or _caller(self)
        report: dict[str, Any] = {
            "name": label,
            "iters": iters,
            "cpu_time": cpu_time,
            "wall_time": wall_time,
            "throughput": throughput,
            "extras": dict(extras or {}),
            "metrics": list(metrics or ()),
        }
        self.reports.append(report)
        parts = [] if iters is None else [f"{iters} runs"]
        times = (("wall_time", wall_time), ("cpu_time", cpu_time))
        parts += [f"{what} {value * 1e6:.1f} us" for what, value in times if value is not None]
        parts += [f"{key} {value}" for key, value in report["extras"].items()]
        print(f"{label}: {', '.join(parts)}")  # noqa: T201 - what it is for


def _caller(benchmark: Benchmark) -> str:
    """The method of the user's class that is running."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_name.startswith("benchmark") and frame.f_locals.get("self") is benchmark:
            return f"{type(benchmark).__name__}.{frame.f_code.co_name}"
        frame = frame.f_back
    return type(benchmark).__name__


def assert_equal_graph_def(expected: Any, actual: Any) -> None:
    """Checks that two graphs have the same nodes; their order does not matter.

    Args:
      expected: a GraphDef.
      actual: another one.

    Raises:
      TypeError: if one of them is no GraphDef.
      AssertionError: if they differ; it names the first node that does.

    >>> graph = tf.function(lambda x: x + 1).get_concrete_function(tf.TensorSpec([])).graph
    >>> tf.test.assert_equal_graph_def(graph.as_graph_def(), graph.as_graph_def())
    """
    nodes = []
    for name, graph in (("expected", expected), ("actual", actual)):
        if not hasattr(graph, "node"):
            raise TypeError(f"assert_equal_graph_def: {name} must be a GraphDef, got {graph!r}.")
        nodes.append({node.name: node for node in graph.node})
    first, second = nodes
    for name in sorted({*first, *second}):
        if name not in second:
            raise AssertionError(f"assert_equal_graph_def: actual has no node {name!r}.")
        if name not in first:
            raise AssertionError(f"assert_equal_graph_def: expected has no node {name!r}.")
        if first[name] != second[name]:
            raise AssertionError(
                f"assert_equal_graph_def: the nodes {name!r} differ:\n{first[name]}\n{second[name]}"
            )


def is_cpu_target_available(target: str) -> bool:
    """Whether this program runs on processors of a kind.

    Args:
      target: "x86", "arm" or "aarch64".

    Returns:
      A bool; False for kinds that nobody knows.

    >>> tf.test.is_cpu_target_available("sparc")
    False
    """
    return platform.machine().lower() in _PROCESSORS.get(target, ())


def disable_with_predicate(
    pred: Callable[[], bool], skip_message: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator for tests that are left out where a condition holds.

    Args:
      pred: the condition, a function of nothing.
      skip_message: why.

    Returns:
      The decorator, for methods of a `unittest.TestCase`.

    >>> class Tests(tf.test.TestCase):
    ...     @tf.test.disable_with_predicate(lambda: True, "not today")
    ...     def test_nothing(self):
    ...         raise AssertionError
    """

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def maybe(self: Any, *args: Any, **kwargs: Any) -> Any:
            if pred():
                self.skipTest(skip_message)
            return method(self, *args, **kwargs)

        return maybe

    return decorate


def with_eager_op_as_function(cls: _C | None = None, only_as_function: bool = False) -> Any:
    """A decorator of test classes, without effect: ops do not become functions here.

    Args:
      cls: the class.
      only_as_function: accepted for compatibility.

    Returns:
      The class, or a decorator that returns it.

    >>> @tf.test.with_eager_op_as_function
    ... class Tests(tf.test.TestCase):
    ...     pass
    """
    return cls if cls is not None else lambda same: same


def sync_devices() -> None:
    """Waits until devices have done what they were asked: ops are done when they return.

    >>> tf.test.experimental.sync_devices()
    """
