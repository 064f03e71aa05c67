"""The objects below a root, numbered, with what is saved of each: the map of a checkpoint."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from weft._src.core.cells import VariableCell, lent
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
from weft._src.state.tracking import Trackable, children_of, has_named_children
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


@dataclass
class Reached:
    """All objects below a root, nearest first: who holds which, and each once, by its address."""

    owners: list[tuple[Any, dict[str, Any]]]
    objects: dict[int, Any]

    def found(self) -> list[Found]:
        """The objects with their numbers, each with the shortest path to it."""
        numbers = {address: number for number, address in enumerate(self.objects)}
        root, _ = self.owners[0]
        found = {id(root): Found(root, 0, ())}
        for owner, children in self.owners:
            holder = found[id(owner)]
            for name, child in children.items():
                number = numbers[id(child)]
                if id(child) not in found:
                    found[id(child)] = Found(child, number, (*holder.path, name))
                holder.children[name] = number
        return list(found.values())


def reach(root: Any, extra: dict[str, Any] | None = None) -> Reached:
    """All objects below a root.

    A program waits for this while a checkpoint is taken: variables, of which there are thousands,
    are not asked for children if they have none, and numbers and paths are left for later.
    """
    owners: list[tuple[Any, dict[str, Any]]] = []
    objects = {id(root): root}
    pending = [root]
    for owner in pending:
        children = children_of(owner)
        if extra and not owners:
            children |= extra
        for child in children.values():
            address = id(child)
            if address not in objects:
                objects[address] = child
                if type(child) is not Variable or has_named_children(child):
                    pending.append(child)
        owners.append((owner, children))
    return Reached(owners, objects)


def walk(root: Any, extra: dict[str, Any] | None = None) -> list[Found]:
    """All objects below a root, nearest first; each once, under the shortest path to it."""
    return reach(root, extra).found()


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


class Snapshot:
    """The values of objects at one moment, by which name they have there.

    It is taken quickly, and what can be made of it later is made when it is asked for.
    """

    def __init__(
        self,
        variables: list[Array],
        others: list[dict[str, Array]],
        found: Callable[[], list[Found]],
    ) -> None:
        self._variables, self._others, self._found = variables, others, found

    @functools.cached_property
    def objects(self) -> list[Found]:
        """The objects."""
        return self._found()

    @functools.cached_property
    def values(self) -> list[dict[str, Array]]:
        """What each has."""
        variables, others = iter(self._variables), iter(self._others)
        return [
            {VARIABLE_VALUE: next(variables)} if type(one.value) is Variable else next(others)
            for one in self.objects
        ]

    def arrays(self) -> dict[str, Array]:
        """All values, by their keys."""
        return {
            _begin(one) + name: value
            for one, values in zip(self.objects, self.values, strict=True)
            for name, value in values.items()
        }

    def owners(self) -> dict[str, Any]:
        """The objects that values belong to, by the keys of the values."""
        return {
            _begin(one) + name: one.value
            for one, values in zip(self.objects, self.values, strict=True)
            for name in values
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
    return _taken([one.value for one in objects], lambda: objects)


def snapshot_below(root: Any, extra: dict[str, Any]) -> Snapshot:
    """The values of all objects below a root at one moment."""
    reached = reach(root, extra)
    return _taken(reached.objects.values(), reached.found)


def _taken(objects: Iterable[Any], found: Callable[[], list[Found]]) -> Snapshot:
    """Variables give their buffers, also small ones; all others what they make of themselves."""
    cells = [value._handle._value for value in objects if type(value) is Variable]
    others = [value for value in objects if type(value) is not Variable]
    inner = [variable_of(value) for value in others]

    def take() -> Snapshot:
        return Snapshot(lent(cells), [saved_values(value) for value in others], found)

    return _run_holding([*cells, *[v._handle._value for v in inner if v is not None]], take)


def at_one_moment(variables: Iterable[Variable], call: Callable[[], T]) -> T:
    """What a call gives while nobody changes one of the variables."""
    return _run_holding([v._handle._value for v in variables], call)


def _run_holding(cells: list[VariableCell], call: Callable[[], T]) -> T:
    by_address = {id(cell): cell.lock for cell in cells}
    locks = [by_address[address] for address in sorted(by_address)]
    result: T = run_holding(locks, call, (), "a checkpoint")
    return result


# --- the map in a file ----------------------------------------------------------------------------


def saved_objects(reader: BundleReader) -> list[Any]:
    """The objects of a checkpoint, the root first; DataLossError if its map is damaged."""
    try:
        text = bytes(reader.read(OBJECT_GRAPH).reshape(-1)[0])
        nodes = list(TrackableObjectGraph.FromString(text).nodes)
        named = [child.node_id for node in nodes for child in node.children]
        _ = [part.checkpoint_key for node in nodes for part in node.attributes]  # they are whole
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
