"""What differs between the arguments of two traces, and how much that is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from weft._src import nest
from weft._src.function.short_words import function_words, short_repr
from weft._src.function.trace_types import (
    CompositeType,
    DataclassType,
    LiteralType,
    NestType,
    ObjectType,
    TensorType,
    TraceType,
    VariableType,
)
from weft._src.function.type_words import (
    composite_words,
    container_words,
    is_enumeration,
    words_of,
)

# How far apart two traces are: a value or a size is a small step, another dtype a larger one.
_WEIGHT = {"value": 1, "shape": 1, "identity": 2, "dtype": 2, "structure": 3, "kind": 3}
LEAST_DISTANCE = 1  # of traces that are not equal


@dataclass(frozen=True)
class Difference:
    """One part of the arguments that made a trace necessary.

    `argument` is how the user would write it, `kind` one of "value", "shape", "dtype", "kind",
    "identity", "length", "keys", "container", "alias", "trainable", "spec". `was` and `now` are
    types, or containers of them; `sentence` says it all.
    """

    argument: str
    kind: str
    was: Any
    now: Any
    sentence: str

    def __str__(self) -> str:
        return self.sentence


# --- how far apart -------------------------------------------------------------------------------


class _Pair(NamedTuple):
    """Two parts of arguments that differ, and in what."""

    was: TraceType
    now: TraceType
    kind: str


def distance(old: Sequence[TraceType], new: Sequence[TraceType]) -> int:
    """How far apart the arguments of two traces are; much cheaper than to say what differs."""
    return sum([_WEIGHT[p.kind] for a, b in zip(old, new, strict=True) for p in _pairs(a, b)])


def _pairs(a: TraceType, b: TraceType) -> Iterator[_Pair]:
    if a == b:
        return
    if isinstance(a, NestType) and isinstance(b, NestType):
        if not a._same_structure(b):
            yield _Pair(a, b, "structure")
            return
        for x, y in zip(a.items, b.items, strict=True):
            yield from _pairs(x, y)
    elif isinstance(a, DataclassType) and isinstance(b, DataclassType) and a.kind is b.kind:
        for x, y in zip(a.items, b.items, strict=True):
            yield from _pairs(x, y)
    elif isinstance(a, TensorType) and isinstance(b, TensorType):
        yield _Pair(a, b, "shape" if a.spec.dtype is b.spec.dtype else "dtype")
    elif isinstance(a, LiteralType) and isinstance(b, LiteralType):
        yield _Pair(a, b, "value")
    elif isinstance(a, ObjectType) and isinstance(b, ObjectType):
        yield _Pair(a, b, "identity")
    else:
        yield _Pair(a, b, "kind")


# --- in words ------------------------------------------------------------------------------------


def compare(
    names: Sequence[str], old: Sequence[TraceType], new: Sequence[TraceType]
) -> list[Difference]:
    """What differs between the arguments of two traces; names have the stars of `*args`."""
    found: list[Difference] = []
    for name, a, b in zip(names, old, new, strict=True):
        found += _compared(name, a, b)
    return [d for d in found if d.kind != "alias"] + _aliases(names, old, new)


def _compared(name: str, a: Any, b: Any) -> Iterator[Difference]:
    """Types, or containers of types."""
    if isinstance(a, NestType) and isinstance(b, NestType):
        a, b = _unpacked(a), _unpacked(b)
    if isinstance(a, TraceType) and isinstance(b, TraceType):
        if a != b:
            yield from _leaves(name, a, b)
    elif isinstance(a, Mapping) and isinstance(b, Mapping) and type(a) is type(b):
        yield from _mappings(name, a, b)
    elif isinstance(a, (list, tuple)) and type(a) is type(b):
        yield from _sequences(name, a, b)
    else:
        was, now = _container_or_type(a), _container_or_type(b)
        kind = "kind" if isinstance(a, TraceType) or isinstance(b, TraceType) else "container"
        yield Difference(name, kind, a, b, f"{_quoted(name)} was {was} and is now {now}")


def _unpacked(kind: NestType) -> Any:
    """The container with types in the places of values; the type, where it has a way of its own."""
    if isinstance(kind.structure, (list, tuple, Mapping)):
        return nest.pack_sequence_as(kind.structure, list(kind.items))
    return kind


def _container_or_type(value: Any) -> str:
    return words_of(value) if isinstance(value, TraceType) else container_words(value)


def _mappings(name: str, a: Mapping[Any, Any], b: Mapping[Any, Any]) -> Iterator[Difference]:
    if set(a) != set(b):
        gained = [repr(key) for key in b if key not in a]
        lost = [repr(key) for key in a if key not in b]
        parts = [f"gained the key {', '.join(gained)}"] if gained else []
        parts += [f"lost {'' if gained else 'the key '}{', '.join(lost)}"] if lost else []
        yield Difference(name, "keys", a, b, f"{_quoted(name)} has {' and '.join(parts)}")
        return
    for key in a:
        inner = str(key) if name.startswith("**") else f"{name}[{key!r}]"
        yield from _compared(inner, a[key], b[key])


def _sequences(name: str, a: Sequence[Any], b: Sequence[Any]) -> Iterator[Difference]:
    if len(a) != len(b):
        word = "" if name.startswith("*") else f"the {type(a).__name__} "
        items = "item" if len(a) == 1 else "items"
        sentence = f"{word}{_quoted(name)} had {len(a)} {items} and has now {len(b)}"
        yield Difference(name, "length", a, b, sentence)
        return
    fields, name = getattr(a, "_fields", None), name.lstrip("*")
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        yield from _compared(f"{name}.{fields[i]}" if fields else f"{name}[{i}]", x, y)


def _leaves(name: str, a: TraceType, b: TraceType) -> Iterator[Difference]:
    if isinstance(a, DataclassType) and isinstance(b, DataclassType) and a.kind is b.kind:
        for field, x, y in zip(a.names, a.items, b.items, strict=True):
            yield from _compared(f"{name}.{field}", x, y)
    elif isinstance(a, TensorType) and isinstance(b, TensorType):
        yield _of_tensors(name, a, b)
    elif isinstance(a, LiteralType) and isinstance(b, LiteralType):
        yield _of_literals(name, a, b)
    elif isinstance(a, VariableType) and isinstance(b, VariableType):
        yield from _of_variables(name, a, b)
    elif isinstance(a, ObjectType) and isinstance(b, ObjectType):
        yield _of_objects(name, a, b)
    elif isinstance(a, CompositeType) and isinstance(b, CompositeType):
        was, now = composite_words(a.spec), composite_words(b.spec)
        if was == now:  # what differs is not among the usual
            was, now = repr(a.spec), repr(b.spec)
        yield Difference(name, "spec", a, b, f"{_quoted(name)} was {was} and is now {now}")
    else:
        yield Difference(
            name, "kind", a, b, f"{_quoted(name)} was {words_of(a)} and is now {words_of(b)}"
        )


def _of_literals(name: str, a: LiteralType, b: LiteralType) -> Difference:
    if type(a.value) is not type(b.value) and a.value == b.value:  # 1, 1.0 and True
        sentence = f"{_quoted(name)} was {words_of(a)} and is now {words_of(b)}"
        return Difference(name, "type", a, b, sentence)
    return _said(name, "value", a, b, short_repr(a.value), short_repr(b.value))


def _of_tensors(name: str, a: TensorType, b: TensorType) -> Difference:
    if a.spec.dtype is not b.spec.dtype:
        return _said(name, "dtype", a, b, a.spec.dtype.name, b.spec.dtype.name)
    return _said(name, "shape", a, b, str(a.spec.shape), str(b.spec.shape))


def _of_variables(name: str, a: VariableType, b: VariableType) -> Iterator[Difference]:
    if a.dtype is not b.dtype:
        yield _said(name, "dtype", a, b, a.dtype.name, b.dtype.name)
    elif a.shape != b.shape:
        yield _said(name, "shape", a, b, str(a.shape), str(b.shape))
    elif a.trainable != b.trainable:
        was, now = ("trainable", "not trainable") if a.trainable else ("not trainable", "trainable")
        yield Difference(name, "trainable", a, b, f"{_quoted(name)} was {was} and is {now} now")
    elif a.itself is not b.itself:
        itself: Any = a.itself if b.itself is None else b.itself
        yield Difference(
            name, "itself", a, b,
            f"{_quoted(name)} {'was' if b.itself is None else 'is now'} the variable "
            f"{itself.name!r}, which the function also uses by itself",
        )  # fmt: skip
    else:
        yield Difference(name, "alias", a, b, "")  # told for all arguments at once


def _of_objects(name: str, a: ObjectType, b: ObjectType) -> Difference:
    if is_enumeration(a) and is_enumeration(b):
        return _said(name, "value", a, b, str(a.value), str(b.value))
    compares = a.kind is b.kind and b.kind.__eq__ is not object.__eq__ and not a.is_gone
    if a.is_value or b.is_value or (compares and not function_words(b.value)):
        return _said(name, "value", a, b, a.words, b.words)
    was, now = a.words, b.words
    if now.startswith("the function") and was.startswith(now):
        now = "another one of the same code"
    return Difference(name, "identity", a, b, f"{_quoted(name)} was {was} and is now {now}")


def _said(name: str, kind: str, a: Any, b: Any, was: str, now: str) -> Difference:
    return Difference(name, kind, a, b, f"the {kind} of {_quoted(name)} was {was} and is now {now}")


def _quoted(name: str) -> str:
    return name if name.startswith("*") else repr(name)


# --- variables that are the same -----------------------------------------------------------------


def _aliases(
    names: Sequence[str], old: Sequence[TraceType], new: Sequence[TraceType]
) -> list[Difference]:
    """Variables that were two and are one, or the other way round."""
    before, after = _variables(names, old), _variables(names, new)
    if [name for name, _ in before] != [name for name, _ in after]:
        return []  # other arguments are variables: that has been said
    found = []
    for i, ((name, a), (_, b)) in enumerate(zip(before, after, strict=True)):
        if a.alias != b.alias:
            first = b.alias if b.alias != i else a.alias
            was, now = ("two variables", "one") if b.alias != i else ("one variable", "two")
            pair = f"{_quoted(before[first][0])} and {_quoted(name)}"
            found.append(Difference(name, "alias", a, b, f"{pair} were {was} and are {now} now"))
    return found


def _variables(names: Sequence[str], kinds: Sequence[TraceType]) -> list[tuple[str, VariableType]]:
    return [pair for name, kind in zip(names, kinds, strict=True) for pair in _in_type(name, kind)]


def _in_type(name: str, kind: TraceType) -> Iterator[tuple[str, VariableType]]:
    if isinstance(kind, VariableType):
        yield name, kind
    elif isinstance(kind, NestType):
        paths = [path for path, _ in nest.flatten_with_paths(kind.structure)]
        for path, item in zip(paths, kind.items, strict=True):
            yield from _in_type(name + "".join([f"[{part!r}]" for part in path]), item)
    elif isinstance(kind, DataclassType):
        for field, item in zip(kind.names, kind.items, strict=True):
            yield from _in_type(f"{name}.{field}", item)
