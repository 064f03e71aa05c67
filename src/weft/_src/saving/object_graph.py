"""The objects below a root, numbered, with what is saved of each: the map of a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from weft._src.core.convert import convert_to_tensor
from weft._src.core.holding import run_holding
from weft._src.core.tensor import EagerTensor
from weft._src.errors import InvalidArgumentError, ParseError
from weft._src.messages.checkpoints import (
    BoolValue,
    ObjectReference,
    SerializedTensor,
    TrackableObject,
    TrackableObjectGraph,
)
from weft._src.saving.bundle import BundleReader
from weft._src.saving.sorted_table import damaged
from weft._src.state.tracking import Trackable, children_of
from weft._src.state.variable import Variable

OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
VARIABLE_VALUE = "VARIABLE_VALUE"
_ATTRIBUTES = ".ATTRIBUTES"
_OF_ITERATORS = {"ITERATOR_STATE": "ITERATOR"}  # the attribute has another name than its tensor
Array = np.ndarray[Any, Any]
T = TypeVar("T")


@dataclass
class Found:
    """An object, its number, and the names that lead to it."""

    value: Any
    number: int
    path: tuple[str, ...]
    children: dict[str, int] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The path as checkpoints write it."""
        return "/".join([escaped(name) for name in self.path])


def escaped(name: str) -> str:
    """A name as a part of a path."""
    return name.replace(".", "..").replace("/", ".S")


def walk(root: Any, extra: dict[str, Any] | None = None) -> list[Found]:
    """All objects below a root, nearest first; each once, under the shortest path to it."""
    found = [Found(root, 0, ())]
    numbers = {id(root): 0}
    at = 0
    while at < len(found):
        owner = found[at]
        children = children_of(owner.value)
        if at == 0 and extra:
            children |= extra
        for name, child in children.items():
            number = numbers.get(id(child))
            if number is None:
                number = numbers[id(child)] = len(found)
                found.append(Found(child, number, (*owner.path, name)))
            owner.children[name] = number
        at += 1
    return found


def variable_of(value: Any) -> Variable | None:
    """The variable that an object is, or stands for as those of Keras do."""
    if isinstance(value, Variable):
        return value
    inner = getattr(value, "value", None) if isinstance(value, Trackable) else None
    return inner if isinstance(inner, Variable) else None


def variables_among(objects: list[Found]) -> Iterator[tuple[Found, Variable]]:
    """The objects that are variables."""
    for one in objects:
        variable = variable_of(one.value)
        if variable is not None:
            yield one, variable


@dataclass
class Snapshot:
    """The values of objects at one moment, by which name they have there."""

    objects: list[Found]
    values: list[dict[str, Array]]

    def arrays(self) -> dict[str, Array]:
        """All values, by their keys."""
        return {
            _begin(one) + name: value
            for one, values in zip(self.objects, self.values, strict=True)
            for name, value in values.items()
        }

    def flat(self) -> dict[str, Array]:
        """All values, by names for a file without a map."""
        found: dict[str, Array] = {}
        for one, values in zip(self.objects, self.values, strict=True):
            for name, value in values.items():
                flat = flat_name(one, name)
                if flat in found:
                    raise InvalidArgumentError(
                        None, None, f"Two values to be saved have the same name, {flat!r}."
                    )
                found[flat] = value
        return found

    def graph(self) -> TrackableObjectGraph:
        """The map of the objects."""
        has_values = [bool(values) for values in self.values]
        _spread(self.objects, has_values)
        return TrackableObjectGraph(
            nodes=[
                TrackableObject(
                    children=[
                        ObjectReference(node_id=number, local_name=name)
                        for name, number in one.children.items()
                    ],
                    attributes=_attributes(one, values),
                    has_checkpoint_values=BoolValue(value=has_values[one.number]),
                )
                for one, values in zip(self.objects, self.values, strict=True)
            ]
        )


def flat_name(one: Found, attribute: str) -> str:
    """The name of a value in a file without a map: the names that lead to it, with dots."""
    own = () if attribute == VARIABLE_VALUE else (attribute,)
    return ".".join((*one.path, *own))


def _begin(one: Found) -> str:
    return f"{one.key}/{_ATTRIBUTES}/" if one.path else f"{_ATTRIBUTES}/"


def _attributes(one: Found, values: dict[str, Array]) -> list[SerializedTensor]:
    """What consists of several tensors, "table-keys" and "table-values", is one attribute."""
    variable = variable_of(one.value)
    return [
        SerializedTensor(
            name=_OF_ITERATORS.get(name, name),
            full_name="" if variable is None else _plain_name(one.value, variable),
            checkpoint_key=_begin(one) + _OF_ITERATORS.get(name, name),
        )
        for name in dict.fromkeys([name.partition("-")[0] for name in values])
    ]


def snapshot(objects: list[Found]) -> Snapshot:
    """The values of all objects at one moment: nobody changes a variable in between."""
    return at_one_moment(
        [variable for _, variable in variables_among(objects)],
        lambda: Snapshot(objects, [saved_values(one.value) for one in objects]),
    )


def at_one_moment(variables: Iterable[Variable], call: Callable[[], T]) -> T:
    """What a call gives while nobody changes one of the variables."""
    cells = {id(v._handle._value): v._handle._value for v in variables}
    locks = [cell.lock for _, cell in sorted(cells.items())]
    result: T = run_holding(locks, call, (), "a checkpoint")
    return result


# --- the map in a file ----------------------------------------------------------------------------


def saved_objects(reader: BundleReader) -> list[Any]:
    """The objects of a checkpoint, the root first; DataLossError if its map is damaged."""
    try:
        text = bytes(reader.read(OBJECT_GRAPH).reshape(-1)[0])
        nodes = list(TrackableObjectGraph.FromString(text).nodes)
        named = [child.node_id for node in nodes for child in node.children]
    except (ParseError, IndexError, TypeError):
        raise damaged(reader.prefix, "the map of its objects cannot be read") from None
    wrong = [number for number in named if not 0 <= number < len(nodes)]
    if wrong or not nodes:
        what = f"its map names object {wrong[0]} of {len(nodes)}" if wrong else "its map is empty"
        raise damaged(reader.prefix, what)
    return nodes


def stored_parts(reader: BundleReader, attribute: Any) -> dict[str, str]:
    """The keys of the tensors of an attribute: one of its name, or several that begin with it."""
    name, key = attribute.name, attribute.checkpoint_key
    if key in reader:
        return {name: key}
    if name in _OF_ITERATORS.values():
        return {f"{name}_STATE": f"{key}_STATE"}
    parts = [stored for stored in reader.names() if stored.startswith(f"{key}-")]
    if not parts:
        raise damaged(reader.prefix, f"its map names {key!r}, which it does not have")
    return {f"{name}{stored.removeprefix(key)}": stored for stored in parts}


# --- the map of a program -------------------------------------------------------------------------


def _plain_name(value: Any, variable: Variable) -> str:
    name = getattr(value, "path", None) if value is not variable else None
    return str(name or variable.name.removesuffix(":0"))


def _spread(objects: list[Found], has_values: list[bool]) -> None:
    """An object has values if one that it leads to has."""
    changed = True
    while changed:
        changed = False
        for one in reversed(objects):  # what is led to mostly comes later
            if not has_values[one.number] and any(has_values[n] for n in one.children.values()):
                has_values[one.number] = changed = True


def saved_values(value: Any) -> dict[str, Array]:
    """What is saved of an object itself, by the name of the attribute."""
    serialize = getattr(value, "_serialize_to_tensors", None)
    return {} if serialize is None else {name: _array(x) for name, x in serialize().items()}


def _array(value: Any) -> Array:
    if isinstance(value, Variable):
        return value._handle._value.read()
    tensor = convert_to_tensor(value)
    assert isinstance(tensor, EagerTensor)
    return tensor._value
