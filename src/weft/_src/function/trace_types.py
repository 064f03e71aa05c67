"""Trace types: what a trace knows of an argument, and which arguments it can serve.

A trace type answers three questions: does it serve whatever another serves (`is_subtype_of`), what
is the narrowest type that serves both (`join`), and what does the traced function see in its place
(`placeholder`).
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any

import numpy as np

from weft._src import nest
from weft._src.core.convert import array_from
from weft._src.core.specs import TensorSpec, TypeSpec, spec_of
from weft._src.core.tensor import EagerTensor, SymbolicTensor, Tensor
from weft._src.dataclass_values import fields_of_dataclass, rebuilt
from weft._src.function.short_words import short_repr
from weft._src.state.variable import Variable


class MakeInput:
    """Makes the placeholder of a tensor, and remembers the variables among the arguments.

    `handles` are the ids of what these are in this very call.
    """

    def __init__(self, add: Callable[[TensorSpec, str], SymbolicTensor]) -> None:
        self._add = add
        self.variables: dict[int, Variable] = {}
        self.handles: set[int] = set()

    def __call__(self, spec: TensorSpec, name: str) -> SymbolicTensor:
        return self._add(spec, name)


class TraceType:
    """The type of an argument; public as `tf.types.experimental.TraceType`."""

    def is_subtype_of(self, other: TraceType) -> bool:
        """Whether a trace made for `other` can serve values of this type.

        Args:
          other: another type.

        Returns:
          A bool: whether they are equal. Subclasses may allow more.
        """
        return self == other

    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TraceType | None:
        """The narrowest type that serves this one and all others; None if there is none.

        Args:
          others: the other types.

        Returns:
          A type, or None.
        """
        out: TraceType | None = self
        for other in others:
            out = None if out is None else out.join(other)
        return out

    def join(self, other: TraceType) -> TraceType | None:
        """The narrowest type that serves both; None if there is none.

        Args:
          other: another type.

        Returns:
          The type itself if they are equal, else None. Subclasses may find a wider one.
        """
        return self if self == other else None

    def placeholder_value(self, placeholder_context: Any = None) -> Any:
        """What the traced function sees, for classes with the tracing protocol.

        Args:
          placeholder_context: accepted for compatibility; it is None.

        Returns:
          A value that is made anew for a trace.

        Raises:
          NotImplementedError: if a subclass has neither this method nor `placeholder`.
        """
        raise NotImplementedError

    def to_tensors(self, value: Any) -> list[Any]:
        """The tensors in a value of this type.

        Args:
          value: a value of this type.

        Returns:
          A list of tensors, in the order of `leaf_specs`; empty unless a subclass has some.
        """
        return []

    def placeholder(self, make: MakeInput, name: str) -> Any:
        """What the traced function sees in place of the argument.

        Args:
          make: a function of a spec and a name that adds an input to the graph.
          name: the name of the argument.

        Returns:
          A value with symbolic tensors in it; what `placeholder_value` gives unless a subclass has
          them.
        """
        return self.placeholder_value()

    def leaf_specs(self) -> Iterator[TensorSpec]:
        """The specs of the tensors in it, in the order in which they go into the graph.

        Returns:
          An iterator over `tf.TensorSpec`; empty unless a subclass has some.
        """
        return iter(())

    @property
    def family(self) -> Any:
        """What it has in common with all types that it serves or joins; None if nobody knows."""
        return None

    @property
    def serves_others(self) -> bool:
        """Whether it may serve types that are not equal to it."""
        return True


def families(types: Sequence[TraceType]) -> tuple[Any, ...] | None:
    """The families of the arguments of a trace; None if that of one is not known."""
    found = tuple([t.family for t in types])
    return None if any(family is None for family in found) else found


class TensorType(TraceType):
    """A tensor of a dtype and a (maybe partly unknown) shape."""

    def __init__(self, spec: TensorSpec) -> None:
        self.spec = spec
        self._key = (spec.dtype, spec.shape)

    def is_subtype_of(self, other: TraceType) -> bool:
        return (
            isinstance(other, TensorType)
            and self.spec.dtype is other.spec.dtype
            and self.spec.shape.is_subtype_of(other.spec.shape)
        )

    def join(self, other: TraceType) -> TraceType | None:
        if not isinstance(other, TensorType) or self.spec.dtype is not other.spec.dtype:
            return None
        shape = self.spec.shape.most_specific_compatible_shape(other.spec.shape)
        return TensorType(TensorSpec(shape, self.spec.dtype, self.spec.name))

    @property
    def family(self) -> Any:
        return self.spec.dtype

    @property
    def serves_others(self) -> bool:
        return not self.spec.shape.is_fully_defined()

    def placeholder(self, make: MakeInput, name: str) -> Any:
        return make(self.spec, self.spec.name or name)

    def leaf_specs(self) -> Iterator[TensorSpec]:
        yield self.spec

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorType) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return repr(self.spec)


class _FixedType(TraceType):
    """A type that serves and joins nothing but what is equal to it."""

    @property
    def family(self) -> Any:
        return self

    @property
    def serves_others(self) -> bool:
        return False


class VariableType(_FixedType):
    """A variable; `alias` is the number of the first argument that is the same variable.

    One that the function also reaches without the argument is given as `itself`, and has a trace of
    its own: what is done to it by either name is done to one variable.
    """

    def __init__(self, variable: Variable, alias: int, itself: Variable | None) -> None:
        self._meant = weakref.ref(variable.meant)
        identity = None if itself is None else id(itself)
        self.dtype, self.shape, self.alias = variable.dtype, variable.shape, alias
        self.trainable, self.itself = variable.trainable, itself
        self._key = (variable.dtype, variable.shape, alias, variable.trainable, identity)

    def placeholder(self, make: MakeInput, name: str) -> Any:
        dtype, shape, alias, trainable, _ = self._key
        handle = make(_RESOURCE, name)
        if self.itself is not None:
            return self.itself
        if alias not in make.variables:
            made = Variable.from_handle(handle, dtype, shape, trainable=trainable, name=name)
            make.variables[alias] = made
            meant = self._meant()
            if meant is not None:
                made.meant = meant
                make.handles.add(id(meant.handle))
        return make.variables[alias]

    def leaf_specs(self) -> Iterator[TensorSpec]:
        yield _RESOURCE

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VariableType) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        dtype, shape, alias, _, _ = self._key
        itself = "" if self.itself is None else f", name={self.itself.name!r}"
        return f"Variable(shape={shape}, dtype={dtype!r}, alias={alias}{itself})"


_RESOURCE = TensorSpec([], "resource")


class LiteralType(_FixedType):
    """A Python value that is fixed in the trace, compared by type and value."""

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def words(self) -> str:
        """The value, for messages."""
        return repr(self.value)

    def placeholder(self, make: MakeInput, name: str) -> Any:
        return self.value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LiteralType) or type(self.value) is not type(other.value):
            return False
        if isinstance(self.value, float):  # by repr: NaN is the same as NaN, 0.0 is not -0.0
            return repr(self.value) == repr(other.value)
        return bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash((type(self.value), repr(self.value)))

    def __repr__(self) -> str:
        return f"Literal[{self.value!r}]"


class ObjectType(_FixedType):
    """Any other hashable object, fixed in the trace and held weakly where possible."""

    def __init__(self, value: Any) -> None:
        self._kind = type(value)
        self._hash = hash(value)
        # A bound method is a new object at each access: it lives as long as its instance.
        weakly = weakref.WeakMethod if isinstance(value, types.MethodType) else weakref.ref
        self._kept_words: str | None = None
        self.is_value = False  # whether it is held by itself, and only its value matters
        try:
            self._ref: Callable[[], Any] = weakly(value)
        except TypeError:
            self._ref = lambda: value
            self.is_value = type(value).__eq__ is not object.__eq__

    @property
    def value(self) -> Any:
        """The object, None once it is gone."""
        return self._ref()

    @property
    def is_gone(self) -> bool:
        """Whether nobody holds the object any more."""
        return self._ref() is None

    @property
    def kind(self) -> type:
        """The class of the object."""
        return self._kind

    @property
    def words(self) -> str:
        """The object, for messages; of one that is gone what was kept."""
        value = self._ref()
        if value is not None:
            return short_repr(value)
        return f"{self._kept_words or f'a {self._kind.__name__}'}, which is gone,"

    def keep_words(self) -> None:
        """From now on messages can tell what it was, even when it is gone."""
        value = self._ref()
        self._kept_words = self._kept_words if value is None else short_repr(value)

    def placeholder(self, make: MakeInput, name: str) -> Any:
        return self._ref()

    def __eq__(self, other: object) -> bool:
        # As a dict would: an `__eq__` of the user sees living objects of the same hash only.
        if not isinstance(other, ObjectType) or self._hash != other._hash:
            return False
        mine, theirs = self._ref(), other._ref()
        if mine is None or theirs is None:
            return self is other
        return mine is theirs or bool(mine == theirs)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        value = self._ref()
        return f"<{self._kind.__name__} object, gone>" if value is None else f"Object[{value!r}]"


class NestType(TraceType):
    """A container: its structure, and the types of its leaves."""

    def __init__(self, structure: Any, items: Sequence[TraceType]) -> None:
        self.structure = structure  # the container with None for leaves
        self.items = tuple(items)
        paths = tuple(path for path, _ in nest.flatten_with_paths(structure))
        beside = tuple([type_of(item) for item in nest.metadata(structure)])
        self._key = (type(structure), (repr(paths), beside), self.items)

    def _same_structure(self, other: TraceType) -> bool:
        return isinstance(other, NestType) and self._key[:2] == other._key[:2]

    def is_subtype_of(self, other: TraceType) -> bool:
        return self._same_structure(other) and all(
            a.is_subtype_of(b)
            for a, b in zip(self.items, other.items, strict=True)  # type: ignore[attr-defined]
        )

    def join(self, other: TraceType) -> TraceType | None:
        if not self._same_structure(other):
            return None
        joined = [a.join(b) for a, b in zip(self.items, other.items, strict=True)]  # type: ignore[attr-defined]
        if any(item is None for item in joined):
            return None
        return NestType(self.structure, joined)  # type: ignore[arg-type]

    @property
    def family(self) -> Any:
        items = families(self.items)
        return None if items is None else (*self._key[:2], items)

    @property
    def serves_others(self) -> bool:
        return any(item.serves_others for item in self.items)

    def leaf_names(self, name: str) -> list[str]:
        """What the leaves of an argument are called: `x_0`, `x_key`; without a name just `key`."""
        paths = [path for path, _ in nest.flatten_with_paths(self.structure)]
        return ["_".join(map(str, (name, *path) if name else path)) for path in paths]

    def placeholder(self, make: MakeInput, name: str) -> Any:
        return self.placeholders(make, [name] * len(self.items))

    def placeholders(self, make: MakeInput, names: Sequence[str]) -> Any:
        """Placeholders with a name for each leaf: of arguments that `*args` collects."""
        named = zip(self.items, names, strict=True)
        leaves = [item.placeholder(make, name) for item, name in named]
        return nest.pack_sequence_as(self.structure, leaves)

    def leaf_specs(self) -> Iterator[TensorSpec]:
        for item in self.items:
            yield from item.leaf_specs()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NestType) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return repr(nest.pack_sequence_as(self.structure, list(self.items)))


class DataclassType(TraceType):
    """A frozen dataclass: the types of its fields. One that holds no tensors is kept as it is."""

    def __init__(self, template: Any, items: Sequence[TraceType]) -> None:
        self.kind = type(template)
        self.items = tuple(items)
        self._template = template
        self.names = fields_of_dataclass(self.kind) or ()

    def with_items(self, items: Sequence[TraceType]) -> DataclassType:
        """The same class with other types of its fields."""
        return DataclassType(self._template, items)

    def _same_structure(self, other: TraceType) -> bool:
        return isinstance(other, DataclassType) and self.kind is other.kind

    def is_subtype_of(self, other: TraceType) -> bool:
        return self._same_structure(other) and all(
            a.is_subtype_of(b)
            for a, b in zip(self.items, other.items, strict=True)  # type: ignore[attr-defined]
        )

    def join(self, other: TraceType) -> TraceType | None:
        if not self._same_structure(other):
            return None
        joined = [a.join(b) for a, b in zip(self.items, other.items, strict=True)]  # type: ignore[attr-defined]
        if any(item is None for item in joined):
            return None
        return DataclassType(self._template, joined)  # type: ignore[arg-type]

    @property
    def family(self) -> Any:
        items = families(self.items)
        return None if items is None else (self.kind, items)

    @property
    def serves_others(self) -> bool:
        return any(item.serves_others for item in self.items)

    def placeholder(self, make: MakeInput, name: str) -> Any:
        made = {
            field: item.placeholder(make, f"{name}_{field}")
            for field, item in zip(self.names, self.items, strict=True)
            if any(True for _ in item.leaf_specs())
        }
        return rebuilt(self._template, made) if made else self._template

    def leaf_specs(self) -> Iterator[TensorSpec]:
        for item in self.items:
            yield from item.leaf_specs()

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, DataclassType)
            and self.kind is other.kind
            and self.items == other.items
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.items))

    def __repr__(self) -> str:
        fields = [f"{name}={item!r}" for name, item in zip(self.names, self.items, strict=True)]
        return f"{self.kind.__qualname__}({', '.join(fields)})"


class CompositeType(TraceType):
    """A composite value: its spec, and the types of the tensors it is made of."""

    def __init__(self, spec: Any, items: Sequence[TraceType], components: Any) -> None:
        self.spec = spec
        self.items = tuple(items)
        self._components = nest.map_structure(lambda _: None, components)

    def is_subtype_of(self, other: TraceType) -> bool:
        return (
            isinstance(other, CompositeType)
            and (self.spec == other.spec or self.spec.is_subtype_of(other.spec))
            and len(self.items) == len(other.items)
            and all(a.is_subtype_of(b) for a, b in zip(self.items, other.items, strict=True))
        )

    def join(self, other: TraceType) -> TraceType | None:
        if self == other:
            return self
        if not isinstance(other, CompositeType) or type(self.spec) is not type(other.spec):
            return None
        joined = [a.join(b) for a, b in zip(self.items, other.items, strict=False)]
        if len(self.items) != len(other.items) or any(item is None for item in joined):
            return None
        try:
            spec = self.spec.most_specific_compatible_type(other.spec)
        except ValueError:
            return None
        return CompositeType(spec, joined, self._components)  # type: ignore[arg-type]

    @property
    def family(self) -> Any:
        items = families(self.items)
        return None if items is None else (type(self.spec), items)

    def placeholder(self, make: MakeInput, name: str) -> Any:
        leaves = [item.placeholder(make, name) for item in self.items]
        return self.spec._of_this_type(nest.pack_sequence_as(self._components, leaves))

    def leaf_specs(self) -> Iterator[TensorSpec]:
        for item in self.items:
            yield from item.leaf_specs()

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, CompositeType)
            and self.spec == other.spec
            and self.items == other.items
        )

    def __hash__(self) -> int:
        return hash((self.spec, self.items))

    def __repr__(self) -> str:
        return repr(self.spec)


class MetVariables:
    """The variables among the arguments of a call; `captured` are the ids of the function's own."""

    def __init__(self, captured: Container[int] = ()) -> None:
        self._ids: list[int] = []
        self._captured = captured

    def type_of(self, variable: Variable) -> VariableType:
        """The trace type, which says which variables are the same."""
        meant = variable.meant
        self._ids.append(id(meant))
        itself = meant if id(meant) in self._captured else None
        return VariableType(variable, self._ids.index(id(meant)), itself)


def keep_words(kinds: Sequence[TraceType]) -> None:
    """Has objects among arguments remembered as text: they are held weakly."""
    for kind in kinds:
        if isinstance(kind, ObjectType):
            kind.keep_words()
        elif isinstance(kind, (NestType, DataclassType)):
            keep_words(kind.items)


def type_of(value: Any, variables: MetVariables | None = None) -> TraceType:
    """The trace type of an argument. `variables` collects those met, to see which are the same."""
    variables = MetVariables() if variables is None else variables
    if isinstance(value, TensorSpec):
        return TensorType(value)
    if isinstance(value, TypeSpec):
        parts = value._component_specs
        return CompositeType(value, [type_of(part) for part in nest.flatten(parts)], parts)
    if isinstance(value, (Tensor, np.ndarray, np.generic)):
        return TensorType(_spec(value))
    if isinstance(value, Variable):
        return variables.type_of(value)
    if hasattr(value, "__tf_tracing_type__"):
        return value.__tf_tracing_type__(None)
    if hasattr(value, "_type_spec"):
        spec = value._type_spec
        if spec._describes_components:
            return type_of(spec)
        components = spec._to_components(value)
        items = [type_of(part, variables) for part in nest.flatten(components)]
        return CompositeType(spec, items, components)
    if nest.is_nested(value):
        items = [type_of(leaf, variables) for leaf in nest.flatten(value)]
        return NestType(nest.map_structure(lambda _: None, value), items)
    fields = fields_of_dataclass(type(value))
    if fields is not None:
        items = [type_of(getattr(value, name), variables) for name in fields]
        return DataclassType(value, items)
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return LiteralType(value)
    return ObjectType(value)


def _spec(value: Any) -> TensorSpec:
    if isinstance(value, (np.ndarray, np.generic)):
        return EagerTensor(array_from(value)).spec
    spec = spec_of(value)
    return TensorSpec(spec.shape, spec.dtype)
