"""Why a function was traced again: the nearest earlier trace, what differs, and the remedy."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weft import nest
from weft.core.location import Location
from weft.core.specs import TensorSpec
from weft.function.trace_types import LiteralType, NestType, ObjectType, TensorType, TraceType

_logger = logging.getLogger("weft")

# TensorFlow's trigger: this many traces among this many of the latest calls.
MANY_TRACES = 5
RECENT_CALLS = 10


class RetraceError(AssertionError):
    """A function was about to be traced again inside of `no_retrace()`."""


_forbidding = threading.local()


@contextlib.contextmanager
def no_retrace() -> Iterator[None]:
    """Inside, tracing a function that has traces already raises an error that says why.

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


@dataclass
class TraceRecord:
    """What is remembered of one trace."""

    types: tuple[TraceType, ...]
    cause: str
    location: Location
    seconds: float
    nodes: int
    at_call: int
    concrete: Any


@dataclass(frozen=True)
class Difference:
    """One argument that made a trace necessary."""

    argument: str
    was: str
    now: str
    kind: str
    remedy: str

    def __str__(self) -> str:
        return f"the {self.kind} of {self.argument!r} was {self.was} and is now {self.now}"


def compare(
    names: Sequence[str], old: Sequence[TraceType], new: Sequence[TraceType]
) -> list[Difference]:
    """What differs between the arguments of two traces."""
    out: list[Difference] = []
    for name, a, b in zip(names, old, new, strict=True):
        out.extend(_differences(name, a, b))
    return out


def _differences(name: str, a: TraceType, b: TraceType) -> list[Difference]:
    if a == b:
        return []
    if isinstance(a, NestType) and isinstance(b, NestType):
        if not a._same_structure(b):
            remedy = "pass the same structure in every call, e.g. always the same dictionary keys"
            return [Difference(name, _structure(a), _structure(b), "structure", remedy)]
        paths = [path for path, _ in nest.flatten_with_paths(a.structure)]
        pairs = zip(paths, a.items, b.items, strict=True)
        return [d for path, x, y in pairs for d in _differences(_at(name, path), x, y)]
    if isinstance(a, TensorType) and isinstance(b, TensorType):
        return [_tensor_difference(name, a.spec, b.spec)]
    if isinstance(a, LiteralType) and isinstance(b, LiteralType):
        return [_literal_difference(name, a.value, b.value)]
    if isinstance(a, ObjectType) and isinstance(b, ObjectType):
        remedy = "pass the same object in every call, or give its class __eq__ and __hash__"
        return [Difference(name, repr(a), repr(b), "identity", remedy)]
    remedy = "pass the same kind of argument in every call"
    return [Difference(name, repr(a), repr(b), "kind", remedy)]


def _at(name: str, path: tuple[Any, ...]) -> str:
    return name + "".join(f"[{part!r}]" for part in path)


def _structure(t: NestType) -> str:
    return repr(nest.map_structure(lambda _: ..., t.structure)).replace("Ellipsis", ".")


def _tensor_difference(name: str, a: TensorSpec, b: TensorSpec) -> Difference:
    if a.dtype is not b.dtype:
        remedy = f"convert it before the call: tf.cast(x, tf.{a.dtype.name})"
        return Difference(name, a.dtype.name, b.dtype.name, "dtype", remedy)
    joined = a.shape.most_specific_compatible_shape(b.shape)
    dims = "None" if joined.rank is None else str(list(joined))
    remedy = (
        f"widen it with input_signature=[tf.TensorSpec({dims}, tf.{a.dtype.name})], or use "
        "reduce_retracing=True"
    )
    return Difference(name, str(a.shape), str(b.shape), "shape", remedy)


def _literal_difference(name: str, a: Any, b: Any) -> Difference:
    number = isinstance(b, (int, float)) and not isinstance(b, bool)
    remedy = (
        f"pass it as a tensor: tf.constant({b!r})"
        if number
        else "pass only a few different values, each is a trace of its own"
    )
    return Difference(name, repr(a), repr(b), "value", remedy)


# How far apart two traces are: a value or a size is a small step, another dtype a larger one.
_WEIGHT = {"value": 1, "shape": 1, "identity": 2, "dtype": 2, "structure": 3, "kind": 3}


def nearest(
    names: Sequence[str], records: Sequence[TraceRecord], types: Sequence[TraceType]
) -> list[Difference]:
    """The differences to the earlier trace that is most like the new one."""
    candidates = [compare(names, record.types, types) for record in records]
    return min(reversed(candidates), key=lambda found: sum(_WEIGHT[d.kind] for d in found))


def explain_cause(
    names: Sequence[str], records: Sequence[TraceRecord], types: Sequence[TraceType]
) -> tuple[str, list[Difference]]:
    """Why there is a new trace, in words, and what differs."""
    if not records:
        return "first call", []
    differences = nearest(names, records, types)
    if not differences:
        return "traced in another graph", []
    return "; ".join(map(str, differences)), differences


def warn_if_frequent(
    label: str, records: Sequence[TraceRecord], differences: Sequence[Difference]
) -> bool:
    """Logs a warning if the function was traced in many of its latest calls; whether it did."""
    now = records[-1].at_call
    recent = [r for r in records if r.at_call > now - RECENT_CALLS]
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
