"""What differs between the arguments of two traces, how much that is, and the remedy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from weft._src import nest
from weft._src.core.specs import TensorSpec
from weft._src.function.trace_types import (
    DataclassType,
    LiteralType,
    NestType,
    ObjectType,
    TensorType,
    TraceType,
)

# How far apart two traces are: a value or a size is a small step, another dtype a larger one.
_WEIGHT = {"value": 1, "shape": 1, "identity": 2, "dtype": 2, "structure": 3, "kind": 3}
LEAST_DISTANCE = 1  # of traces that are not equal


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


class _Pair(NamedTuple):
    """Two parts of arguments that differ, and in what."""

    path: tuple[Any, ...]
    was: TraceType
    now: TraceType
    kind: str


def compare(
    names: Sequence[str], old: Sequence[TraceType], new: Sequence[TraceType]
) -> list[Difference]:
    """What differs between the arguments of two traces."""
    return [
        _described(_at(name, pair.path), pair)
        for name, a, b in zip(names, old, new, strict=True)
        for pair in _pairs((), a, b)
    ]


def distance(old: Sequence[TraceType], new: Sequence[TraceType]) -> int:
    """How far apart the arguments of two traces are; much cheaper than to say what differs."""
    return sum([_WEIGHT[p.kind] for a, b in zip(old, new, strict=True) for p in _pairs((), a, b)])


def _pairs(path: tuple[Any, ...], a: TraceType, b: TraceType) -> Iterator[_Pair]:
    if a == b:
        return
    if isinstance(a, NestType) and isinstance(b, NestType):
        if not a._same_structure(b):
            yield _Pair(path, a, b, "structure")
            return
        paths = [path for path, _ in nest.flatten_with_paths(a.structure)]
        for inner, x, y in zip(paths, a.items, b.items, strict=True):
            yield from _pairs((*path, *inner), x, y)
    elif isinstance(a, DataclassType) and isinstance(b, DataclassType) and a.kind is b.kind:
        for name, x, y in zip(a.names, a.items, b.items, strict=True):
            yield from _pairs((*path, name), x, y)
    elif isinstance(a, TensorType) and isinstance(b, TensorType):
        yield _Pair(path, a, b, "shape" if a.spec.dtype is b.spec.dtype else "dtype")
    elif isinstance(a, LiteralType) and isinstance(b, LiteralType):
        yield _Pair(path, a, b, "value")
    elif isinstance(a, ObjectType) and isinstance(b, ObjectType):
        yield _Pair(path, a, b, "identity")
    else:
        yield _Pair(path, a, b, "kind")


def _at(name: str, path: tuple[Any, ...]) -> str:
    return name + "".join(f"[{part!r}]" for part in path)


def _described(name: str, pair: _Pair) -> Difference:
    _, a, b, kind = pair
    if isinstance(a, NestType) and isinstance(b, NestType):
        remedy = "pass the same structure in every call, e.g. always the same dictionary keys"
        return Difference(name, _structure(a), _structure(b), kind, remedy)
    if isinstance(a, TensorType) and isinstance(b, TensorType):
        return _tensor_difference(name, a.spec, b.spec)
    if isinstance(a, LiteralType) and isinstance(b, LiteralType):
        return _literal_difference(name, a.value, b.value)
    remedy = (
        "pass the same object in every call, or give its class __eq__ and __hash__"
        if kind == "identity"
        else "pass the same kind of argument in every call"
    )
    return Difference(name, repr(a), repr(b), kind, remedy)


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
