"""Retraces in tests: how many there may be, or none at all."""

from __future__ import annotations

from typing import Any

from weft._src.function.explain import explain


def assert_max_traces(function: Any, n: int) -> None:
    """Raises AssertionError, saying why each trace was made, if there are more than n.

    Args:
      function: a `tf.function`.
      n: how often it may have been traced.

    Raises:
      AssertionError: if it was traced more often.

    >>> f = tf.function(lambda x: x + 1)
    >>> _ = f(tf.constant(1)), f(tf.constant(2))
    >>> tf.testing.assert_max_traces(f, 1)
    """
    count = function.experimental_get_tracing_count()
    if count > n:
        raise AssertionError(
            f"at most {n} traces were expected, there are {count}:\n{explain(function)!r}"
        )
