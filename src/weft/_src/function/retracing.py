"""Why a function was traced again: the nearest earlier trace, what differs, and the remedy."""

from __future__ import annotations

import contextlib
import itertools
import logging
import threading
from collections.abc import Iterator, Sequence

from weft._src.errors import RetraceError
from weft._src.function.differences import Difference, compare
from weft._src.function.history import History
from weft._src.function.trace_types import TraceType

_logger = logging.getLogger("weft")

# TensorFlow's trigger: this many traces among this many of the latest calls.
MANY_TRACES = 5
RECENT_CALLS = 10


_forbidding = threading.local()


@contextlib.contextmanager
def no_retrace() -> Iterator[None]:
    """Inside, tracing a function that has traces already raises an error that says why.

    Returns:
      A context manager, for this thread. First traces are allowed in it.

    Raises:
      tf.errors.RetraceError: an AssertionError, by the call that would trace.

    >>> f = tf.function(lambda x: x + 1)
    >>> _ = f(tf.constant(1))
    >>> with tf.no_retrace():
    ...     print(f(tf.constant(2)).numpy())
    3
    """
    outer = getattr(_forbidding, "on", False)
    _forbidding.on = True
    try:
        yield
    finally:
        _forbidding.on = outer


def check_allowed(label: str, cause: str, differences: Sequence[Difference]) -> None:
    """Raises RetraceError if the thread is inside of `no_retrace()`."""
    if differences and getattr(_forbidding, "on", False):
        remedies = "; ".join(dict.fromkeys(d.remedy for d in differences))
        raise RetraceError(f"{label} would be traced again because {cause}. Remedy: {remedies}.")


def explain_cause(
    names: Sequence[str], history: History, types: Sequence[TraceType]
) -> tuple[str, list[Difference]]:
    """Why there is a new trace, in words, and what differs."""
    if not history.records:
        return "first call", []
    differences = compare(names, history.nearest(types).types, types)
    if not differences:
        return "traced in another graph", []
    return "; ".join(map(str, differences)), differences


def warn_if_frequent(label: str, history: History, differences: Sequence[Difference]) -> bool:
    """Logs a warning if the function was traced in many of its latest calls; whether it did."""
    records = history.records
    now = records[-1].at_call
    newest_first = reversed(records)
    recent = list(itertools.takewhile(lambda r: r.at_call > now - RECENT_CALLS, newest_first))
    if len(recent) < MANY_TRACES or not differences:
        return False
    total = sum(r.seconds for r in records)
    remedies = "; ".join(dict.fromkeys(d.remedy for d in differences))
    _logger.warning(
        "%s was traced %d times in its last %d calls. This time because %s. It holds %d traces, "
        "which took %.0f ms. To avoid that: %s.",
        label,
        len(recent),
        max(min(now, RECENT_CALLS), len(recent)),
        "; ".join(map(str, differences)),
        len(records),
        total * 1e3,
        remedies,
    )
    return True
