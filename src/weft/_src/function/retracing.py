"""Why a function was traced again: the nearest earlier trace, what differs, and the remedy."""

from __future__ import annotations

import contextlib
import itertools
import logging
import threading
from collections.abc import Iterator

from weft._src.errors import RetraceError
from weft._src.function.differences import Difference, compare
from weft._src.function.history import History, Why
from weft._src.function.inspection import Inspected
from weft._src.function.remedies import Adviser
from weft._src.function.trace_types import TensorType, TraceType
from weft._src.function.type_words import words_of
from weft._src.function.watched import REMEDY

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


def check_allowed(function: Inspected, why: Why, given: tuple[TraceType, ...]) -> None:
    """Raises RetraceError if the thread is inside of `no_retrace()`."""
    if why.compared_with is not None and getattr(_forbidding, "on", False):
        remedy = Adviser(function, refused=given).remedy(why, given)
        raise RetraceError(
            f"{function._label} would be traced again because {why.cause}. Remedy: {remedy}."
        )


def explain_cause(
    function: Inspected, types: tuple[TraceType, ...], given: tuple[TraceType, ...]
) -> Why:
    """Why there is a new trace for types, which a call had before they were widened."""
    history: History = function._history
    if not history.records:
        return Why("first call")
    changes = function._changed_state()
    if changes:
        cause = "; ".join(map(str, changes))
        return Why(cause, [], given, remedy=_lower(REMEDY))
    nearest = history.nearest(types)
    if history.has_dropped(types) and nearest.types != types:
        cause = (
            f"its trace had been dropped: {function._max_traces} are kept (max_traces="
            f"{function._max_traces}), and there are {history.kinds} kinds of arguments by now"
        )
        return Why(cause, [], nearest.given, was_dropped=True)
    differences = compare(function._parameters.starred_names, nearest.given, given)
    if not differences:
        return Why(
            "it uses tensors of the trace around it, and that is another one",
            remedy="make the tensors that it takes from around it arguments",
        )
    cause = "; ".join(map(str, differences))
    if types != given:
        relaxed = compare(function._parameters.starred_names, given, types)
        cause += "".join([f"; reduce_retracing has made {_relaxed(d)}" for d in relaxed])
    return Why(cause, differences, nearest.given)


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


def _relaxed(difference: Difference) -> str:
    kind = difference.now
    shown = kind.spec.shape if isinstance(kind, TensorType) else words_of(kind)
    return f"it {shown}, which serves all such calls"


def warn_if_frequent(function: Inspected) -> bool:
    """Logs a warning if the function was traced in many of its latest calls; whether it did."""
    records = function._history.records
    newest = records[-1]
    now = newest.at_call
    newest_first = reversed(records)
    recent = list(itertools.takewhile(lambda r: r.at_call > now - RECENT_CALLS, newest_first))
    if len(recent) < MANY_TRACES or newest.why.compared_with is None:
        return False
    total = sum(r.seconds for r in records)
    _logger.warning(
        "%s was traced %d times in its last %d calls. This time because %s. It holds %d traces, "
        "which took %.0f ms. To avoid that: %s.",
        function._label,
        len(recent),
        max(min(now, RECENT_CALLS), len(recent)),
        newest.why.cause,
        len(records),
        total * 1e3,
        Adviser(function).remedy(newest.why, newest.given),
    )
    return True
