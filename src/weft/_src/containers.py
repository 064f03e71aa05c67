"""How each type of container is taken apart and put together again: what `nest` knows of types.

What a type is gets decided once, and is then one dictionary lookup.
"""

import copy
import reprlib
from collections.abc import (
    Callable,
    Collection,
    Mapping,
    MappingView,
    MutableMapping,
    Sequence,
)
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True)
class Adapter:
    """What this module knows of one type of container."""

    # The children, in flattening order.
    values: Callable[[Any], Collection[Any]]
    # The path entries of the children, in the same order.
    keys: Callable[[Any], Collection[Any]]
    # (original, new children) -> a container like the original.
    rebuild: Callable[[Any, list[Any]], Any]
    # Paths show fields as `.name`, everything else as `[key]`.
    has_fields: bool = False
    is_mapping: bool = False
    # What a container holds beside its children: functions are traced for each of it.
    metadata: Callable[[Any], Any] | None = None


def _same(container: Any) -> Any:
    return container


def _indices(container: Any) -> range:
    return range(len(container))


def _sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        types = sorted({type(key).__name__ for key in mapping})
        raise TypeError(
            f"The keys of a nested {type(mapping).__name__} must be sortable, because it is "
            f"flattened in key order; got {reprlib.repr(list(mapping))} "
            f"with keys of type {', '.join(types)}."
        ) from None


def _mapping_values(mapping: Mapping[Any, Any]) -> list[Any]:
    return [mapping[key] for key in _sorted_keys(mapping)]


def _rebuild_dict(original: Mapping[Any, Any], children: list[Any]) -> dict[Any, Any]:
    by_key = dict(zip(_sorted_keys(original), children, strict=True))
    return {key: by_key[key] for key in original}


def _rebuild_dict_subclass(original: dict[Any, Any], children: list[Any]) -> dict[Any, Any]:
    # A copy keeps what a constructor call would lose: default factories, attributes of subclasses.
    rebuilt = copy.copy(original)
    for key, child in zip(_sorted_keys(original), children, strict=True):
        rebuilt[key] = child
    return rebuilt


def _rebuild_mapping(original: Mapping[Any, Any], children: list[Any]) -> Mapping[Any, Any]:
    # Not a copy: an arbitrary mapping may share its storage with its copy.
    cls: Any = type(original)
    items = _rebuild_dict(original, children)
    try:
        if not isinstance(original, MutableMapping):
            return cls(items)
        rebuilt = cls()
    except TypeError as error:
        arguments = "without arguments" if isinstance(original, MutableMapping) else "with a dict"
        raise TypeError(
            f"A nested {cls.__name__} cannot be rebuilt: calling {cls.__name__} {arguments} "
            f"failed ({error}); use a dict instead."
        ) from error
    for key, child in items.items():
        rebuilt[key] = child
    return rebuilt


def _rebuild_sequence(original: Sequence[Any], children: list[Any]) -> Any:
    cls: Any = type(original)
    try:
        return cls(children)
    except TypeError as error:
        raise TypeError(
            f"A nested {cls.__name__} cannot be rebuilt: calling {cls.__name__} with a list failed "
            f"({error}); use a list or tuple instead."
        ) from error


def _attrs_names(instance: Any) -> list[str]:
    return [field.name for field in type(instance).__attrs_attrs__]


def _attrs_values(instance: Any) -> list[Any]:
    return [getattr(instance, name) for name in _attrs_names(instance)]


def _rebuild_attrs(original: Any, children: list[Any]) -> Any:
    # Not through the constructor: fields may be private, not init or frozen, and converters and
    # validators are written for the values users pass, not for symbolic tensors.
    rebuilt = copy.copy(original)
    for name, child in zip(_attrs_names(original), children, strict=True):
        object.__setattr__(rebuilt, name, child)
    return rebuilt


def _custom_children(instance: Any) -> Collection[Any]:
    children: Collection[Any] = instance.__tf_flatten__()[1]
    return children


def _rebuild_custom(original: Any, children: list[Any]) -> Any:
    metadata, _ = original.__tf_flatten__()
    return type(original).__tf_unflatten__(metadata, tuple(children))


_DICT = Adapter(_mapping_values, _sorted_keys, _rebuild_dict, is_mapping=True)
_DICT_SUBCLASS = Adapter(_mapping_values, _sorted_keys, _rebuild_dict_subclass, is_mapping=True)
_MAPPING = Adapter(_mapping_values, _sorted_keys, _rebuild_mapping, is_mapping=True)
_MAPPING_PROXY = Adapter(
    _mapping_values,
    _sorted_keys,
    lambda original, children: MappingProxyType(_rebuild_dict(original, children)),
    is_mapping=True,
)
_LIST = Adapter(_same, _indices, lambda original, children: children)
_TUPLE = Adapter(_same, _indices, lambda original, children: tuple(children))
_NAMEDTUPLE = Adapter(
    _same,
    lambda original: original._fields,
    lambda original, children: original._make(children),
    has_fields=True,
)
_SEQUENCE = Adapter(_same, _indices, _rebuild_sequence)
_CUSTOM = Adapter(
    _custom_children,
    lambda instance: range(len(_custom_children(instance))),
    _rebuild_custom,
    metadata=lambda instance: instance.__tf_flatten__()[0],
)
_ATTRS = Adapter(_attrs_values, _attrs_names, _rebuild_attrs, has_fields=True)


class AdapterTable(dict[type, Adapter | None]):
    """The adapter of each type seen so far; None for leaves."""

    # Types are held strongly; the bound keeps classes made in a loop from piling up.
    _MAX_TYPES = 4096

    def __missing__(self, cls: type) -> Adapter | None:
        adapter = _adapter_for(cls)
        if len(self) >= self._MAX_TYPES:
            self.clear()
        self[cls] = adapter
        return adapter


def _adapter_for(cls: type) -> Adapter | None:
    if cls is list or issubclass(cls, (range, MappingView)):
        # Ranges and views cannot be built from new elements, so they come back as lists.
        return _LIST
    if cls is tuple:
        return _TUPLE
    if cls is dict:
        return _DICT
    if hasattr(cls, "__tf_flatten__") and hasattr(cls, "__tf_unflatten__"):
        return _CUSTOM
    if issubclass(cls, dict):
        return _DICT_SUBCLASS
    if cls is MappingProxyType:
        return _MAPPING_PROXY
    if is_namedtuple(cls):
        return _NAMEDTUPLE
    if issubclass(cls, Mapping):
        return _MAPPING
    if hasattr(cls, "__attrs_attrs__"):
        return _ATTRS
    if issubclass(cls, Sequence) and not issubclass(cls, (str, bytes)):
        return _SEQUENCE
    return None


def is_namedtuple(cls: type) -> bool:
    return issubclass(cls, tuple) and hasattr(cls, "_fields") and hasattr(cls, "_make")


ADAPTERS = AdapterTable()
