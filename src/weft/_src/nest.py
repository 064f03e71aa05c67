"""Nested structures: flatten them, rebuild them, map over them, compare them.

A structure is a list, tuple, namedtuple, mapping, attrs object, any other sequence (strings and
bytes excepted), or a class with the methods `__tf_flatten__` and `__tf_unflatten__`, nested to any
depth; everything else is a leaf. Mappings are flattened in the order
of their sorted keys, so equal dicts flatten alike whatever their insertion order, and are rebuilt
in the order and type they had.

Composite values (objects whose `_type_spec` can take them apart, frozen dataclasses that hold such
objects) are leaves unless a function is called with `expand_composites=True`.

This is a hot path: what a type is gets decided once per type and is then one dictionary lookup.
"""

import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from weft._src.containers import ADAPTERS as _ADAPTERS, is_namedtuple
from weft._src.dataclass_values import spec_of_dataclass

__all__ = [
    "assert_same_structure",
    "flatten",
    "flatten_with_paths",
    "is_nested",
    "map_structure",
    "pack_sequence_as",
]

# Results have the kind of container that was given; of what is inside types say nothing, since a
# leaf and a nest of leaves cannot be told apart by them.
_K = TypeVar("_K")


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Returns the leaves of a structure as a list; a leaf gives a list of itself.

    Args:
      structure: lists, tuples, dicts and other containers in each other; all else is a leaf.
      expand_composites: whether ragged, sparse and other composite tensors give their parts.

    Returns:
      A list; dicts in the order of their sorted keys, TypeError if these cannot be sorted.

    >>> tf.nest.flatten({"b": [1, (2, 3)], "a": 4})
    [4, 1, 2, 3]
    >>> tf.nest.flatten("one leaf")
    ['one leaf']
    """
    leaves: list[Any] = []
    _flatten_into((structure,), leaves, expand_composites)
    return leaves


def flatten_with_paths(
    structure: Any, expand_composites: bool = False
) -> list[tuple[tuple[Any, ...], Any]]:
    """Returns (path, leaf) pairs; a path is the tuple of indices, keys and field names to the leaf.

    Args:
      structure: lists, tuples, namedtuples, dicts and other containers in each other.
      expand_composites: whether ragged, sparse and other composite tensors give their parts.

    Returns:
      A list of pairs, in the order of `flatten`; the path of a single leaf is empty.

    >>> tf.nest.flatten_with_paths({"b": [1, (2, 3)], "a": 4})
    [(('a',), 4), (('b', 0), 1), (('b', 1, 0), 2), (('b', 1, 1), 3)]
    """
    pairs: list[tuple[tuple[Any, ...], Any]] = []
    _flatten_paths_into(structure, (), pairs, expand_composites)
    return pairs


@overload
def pack_sequence_as(
    structure: dict[_K, Any], flat_sequence: Sequence[Any], expand_composites: bool = False
) -> dict[_K, Any]: ...
@overload
def pack_sequence_as(
    structure: list[Any], flat_sequence: Sequence[Any], expand_composites: bool = False
) -> list[Any]: ...
@overload
def pack_sequence_as(
    structure: tuple[Any, ...], flat_sequence: Sequence[Any], expand_composites: bool = False
) -> tuple[Any, ...]: ...
@overload
def pack_sequence_as(
    structure: Any, flat_sequence: Sequence[Any], expand_composites: bool = False
) -> Any: ...
def pack_sequence_as(
    structure: Any, flat_sequence: Sequence[Any], expand_composites: bool = False
) -> Any:
    """Returns a structure like `structure` with its leaves taken, in order, from `flat_sequence`.

    Args:
      structure: the structure, or a single leaf; its own leaves do not matter.
      flat_sequence: a list or another sequence, with as many items as there are leaves.
      expand_composites: whether composite tensors in the structure are made of several items.

    Returns:
      A new structure with the same types of containers.

    Raises:
      ValueError: if there are more or fewer items than leaves.
      TypeError: if `flat_sequence` is no sequence.

    >>> tf.nest.pack_sequence_as({"b": [1, (2, 3)], "a": 4}, ["w", "x", "y", "z"])
    {'b': ['x', ('y', 'z')], 'a': 'w'}
    """
    adapter = _ADAPTERS[type(flat_sequence)]
    if adapter is None or adapter.is_mapping:
        raise TypeError(
            f"`flat_sequence` must be a list or another sequence of leaves, "
            f"got {_describe(flat_sequence)}."
        )
    leaves = iter(flat_sequence)
    try:
        packed = _pack(structure, leaves, expand_composites)
    except StopIteration:
        raise _wrong_count(structure, flat_sequence, expand_composites) from None
    if next(leaves, _END) is not _END:
        raise _wrong_count(structure, flat_sequence, expand_composites)
    return packed


@overload
def map_structure(
    func: Callable[..., Any],
    structure: dict[_K, Any],
    /,
    *more: Any,
    check_types: bool = True,
    expand_composites: bool = False,
) -> dict[_K, Any]: ...
@overload
def map_structure(
    func: Callable[..., Any],
    structure: list[Any],
    /,
    *more: Any,
    check_types: bool = True,
    expand_composites: bool = False,
) -> list[Any]: ...
@overload
def map_structure(
    func: Callable[..., Any],
    structure: tuple[Any, ...],
    /,
    *more: Any,
    check_types: bool = True,
    expand_composites: bool = False,
) -> tuple[Any, ...]: ...
@overload
def map_structure(
    func: Callable[..., Any],
    structure: Any,
    /,
    *more: Any,
    check_types: bool = True,
    expand_composites: bool = False,
) -> Any: ...
def map_structure(
    func: Callable[..., Any],
    *structures: Any,
    check_types: bool = True,
    expand_composites: bool = False,
) -> Any:
    """Calls `func` on the corresponding leaves and returns the results in the first structure.

    Args:
      func: a function of as many arguments as there are structures.
      *structures: one or more structures that are nested alike.
      check_types: whether their containers must have the same types.
      expand_composites: whether it is called on the parts of composite tensors.

    Returns:
      A structure like the first one. Those that differ raise as in `assert_same_structure`.

    >>> tf.nest.map_structure(lambda x: x * 10, {"a": 1, "b": (2, 3)})
    {'a': 10, 'b': (20, 30)}
    >>> tf.nest.map_structure(lambda x, y: x + y, [1, [2]], [10, [20]])
    [11, [22]]
    """
    if not callable(func):
        raise TypeError(f"`map_structure` needs a callable first, got {_describe(func)}.")
    if not structures:
        raise ValueError("`map_structure` needs at least one structure.")
    first = structures[0]
    if len(structures) == 1:
        return _map(func, first, expand_composites)
    for other in structures[1:]:
        assert_same_structure(first, other, check_types, expand_composites)
    columns = [flatten(structure, expand_composites) for structure in structures]
    results = [func(*leaves) for leaves in zip(*columns, strict=True)]
    return _pack(first, iter(results), expand_composites)


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raises if two structures are not nested alike; the values of leaves do not matter.

    A difference in nesting, length or keys is a ValueError. With `check_types`, containers of
    different types are a TypeError (two lists, two mappings, and two namedtuples of one name and
    the same fields agree, whatever their classes); without it, only nesting and lengths count.

    Args:
      nest1: a structure, or a leaf.
      nest2: the other one.
      check_types: whether containers must have the same types.
      expand_composites: whether the parts of composite tensors are compared too.

    >>> tf.nest.assert_same_structure([1, {"a": 2}], ["x", {"a": "y"}])
    >>> tf.nest.assert_same_structure([1, {"a": [2]}], [1, {"a": (2,)}])
    Traceback (most recent call last):
    TypeError: The structures differ at [1]['a']: list of length 1 in the first, tuple of length 1
    in the second; pass check_types=False to compare only nesting and lengths.
    """
    difference = _difference(nest1, nest2, check_types, expand_composites)
    if difference is not None:
        where = "".join(reversed(difference.path)) or "the top level"
        raise difference.error(f"The structures differ at {where}: {difference.text}.")


def is_nested(seq: Any) -> bool:
    """Says whether a value is a container that the functions of this module look into.

    Args:
      seq: anything.

    Returns:
      A bool; False for strings, arrays, tensors and sets.

    >>> tf.nest.is_nested([]), tf.nest.is_nested({"a": 1}), tf.nest.is_nested("text")
    (True, True, False)
    """
    return _ADAPTERS[type(seq)] is not None


def map_children(func: Callable[[Any], Any], container: Any) -> Any:
    """Returns a container like the given one with `func` of each of its direct children.

    For walks that treat some containers as leaves: `tf.data` takes lists for tensors.

    >>> from weft._src.nest import map_children
    >>> map_children(repr, {"a": [1, 2], "b": 3})
    {'a': '[1, 2]', 'b': '3'}
    """
    adapter = _ADAPTERS[type(container)]
    if adapter is None:
        raise TypeError(f"`map_children` needs a container, got {_describe(container)}.")
    return adapter.rebuild(container, [func(child) for child in adapter.values(container)])


def children(container: Any) -> list[Any]:
    """The direct children of a container, in the order in which it is flattened."""
    adapter = _ADAPTERS[type(container)]
    if adapter is None:
        raise TypeError(f"`children` needs a container, got {_describe(container)}.")
    return list(adapter.values(container))


def components(value: Any) -> tuple[Any, Any] | None:
    """The spec of a composite value and the nest of its components; None for all other values."""
    return None if _ADAPTERS[type(value)] is not None else _components(value)


def metadata(structure: Any) -> tuple[Any, ...]:
    """What containers with `__tf_flatten__` hold beside their leaves, in the order of a walk."""
    found: list[Any] = []

    def walk(value: Any) -> None:
        adapter = _ADAPTERS[type(value)]
        if adapter is not None:
            if adapter.metadata is not None:
                found.append(adapter.metadata(value))
            for child in adapter.values(value):
                walk(child)

    walk(structure)
    return tuple(found)


_END = object()


def _components(value: Any) -> tuple[Any, Any] | None:
    """Returns the type spec and the components of a composite value, None for other leaves."""
    spec = getattr(value, "_type_spec", None)
    if spec is None:
        spec = spec_of_dataclass(value)
    if spec is None and hasattr(type(value), "_component_specs"):
        try:
            spec, components = value, value._component_specs  # a type stands for its values
        except NotImplementedError:  # it has none
            return None
    elif spec is None or not hasattr(spec, "_to_components"):
        return None
    else:
        components = spec._to_components(value)
    # The spec of a plain tensor may call the tensor its own component.
    return None if components is value else (spec, components)


# The recursions behind the public functions


def _flatten_into(values: Iterable[Any], leaves: list[Any], expand: bool) -> None:
    for value in values:
        adapter = _ADAPTERS[type(value)]
        if adapter is not None:
            _flatten_into(adapter.values(value), leaves, expand)
        elif expand and (parts := _components(value)) is not None:
            _flatten_into((parts[1],), leaves, expand)
        else:
            leaves.append(value)


def _flatten_paths_into(
    value: Any, path: tuple[Any, ...], pairs: list[tuple[tuple[Any, ...], Any]], expand: bool
) -> None:
    adapter = _ADAPTERS[type(value)]
    if adapter is not None:
        for key, child in zip(adapter.keys(value), adapter.values(value), strict=True):
            _flatten_paths_into(child, (*path, key), pairs, expand)
    elif expand and (parts := _components(value)) is not None:
        _flatten_paths_into(parts[1], path, pairs, expand)
    else:
        pairs.append((path, value))


def _pack(structure: Any, leaves: Iterator[Any], expand: bool) -> Any:
    adapter = _ADAPTERS[type(structure)]
    if adapter is not None:
        children = [_pack(child, leaves, expand) for child in adapter.values(structure)]
        return adapter.rebuild(structure, children)
    if expand and (parts := _components(structure)) is not None:
        spec, components = parts
        return spec._from_components(_pack(components, leaves, expand))
    return next(leaves)


def _map(func: Callable[[Any], Any], structure: Any, expand: bool) -> Any:
    adapter = _ADAPTERS[type(structure)]
    if adapter is not None:
        children = [_map(func, child, expand) for child in adapter.values(structure)]
        return adapter.rebuild(structure, children)
    if expand and (parts := _components(structure)) is not None:
        spec, components = parts
        return spec._from_components(_map(func, components, expand))
    return func(structure)


@dataclass(slots=True)
class _Difference:
    """The first difference of two structures; its path grows from the inside outwards."""

    error: type[Exception]
    text: str
    path: list[str]


def _difference(a: Any, b: Any, check_types: bool, expand: bool) -> _Difference | None:
    adapter_a = _ADAPTERS[type(a)]
    adapter_b = _ADAPTERS[type(b)]
    if adapter_a is None or adapter_b is None:
        if adapter_a is adapter_b and not expand:
            return None
        return _leaf_difference(a, b, check_types, expand)
    if check_types:
        if type(a) is not type(b) and not _types_agree(a, b):
            return _differ(
                TypeError,
                f"{_both(a, b)}; pass check_types=False to compare only nesting and lengths",
            )
        if adapter_a.is_mapping and a.keys() != b.keys():
            return _differ(ValueError, _key_difference(a, b))
    values_a = adapter_a.values(a)
    values_b = adapter_b.values(b)
    for position, (child_a, child_b) in enumerate(zip(values_a, values_b)):
        difference = _difference(child_a, child_b, check_types, expand)
        if difference is not None:
            key = list(adapter_a.keys(a))[position]
            difference.path.append(f".{key}" if adapter_a.has_fields else f"[{key!r}]")
            return difference
    # Last, as in TensorFlow: which difference is found first decides the class of the error.
    return None if len(values_a) == len(values_b) else _differ(ValueError, _both(a, b))


def _leaf_difference(a: Any, b: Any, check_types: bool, expand: bool) -> _Difference | None:
    """Compares two values of which at least one is not a container."""
    parts_a = _components(a) if expand and not is_nested(a) else None
    parts_b = _components(b) if expand and not is_nested(b) else None
    if parts_a is not None and parts_b is not None:
        if _specs_agree(parts_a[0], parts_b[0]):
            return None
        return _differ(
            ValueError, f"{parts_a[0]!r} in the first, {parts_b[0]!r} in the second: incompatible"
        )
    branches = [value for value in (a, b) if is_nested(value)]
    if parts_a is None and parts_b is None and not branches:
        return None
    composite_against_container = branches and (parts_a is not None or parts_b is not None)
    error = TypeError if composite_against_container and check_types else ValueError
    return _differ(error, _both(a, b))


def _types_agree(a: Any, b: Any) -> bool:
    cls_a, cls_b = type(a), type(b)
    if is_namedtuple(cls_a) and is_namedtuple(cls_b):
        return cls_a.__name__ == cls_b.__name__ and a._fields == b._fields
    return any(isinstance(a, kind) and isinstance(b, kind) for kind in (list, Mapping))


def _specs_agree(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    common_type = getattr(a, "most_specific_compatible_type", None)
    if common_type is None:
        return True
    try:
        common_type(b)
    except (TypeError, ValueError):
        return False
    return True


# Texts of errors


def _differ(error: type[Exception], text: str) -> _Difference:
    return _Difference(error, text, [])


def _both(a: Any, b: Any) -> str:
    return f"{_describe(a)} in the first, {_describe(b)} in the second"


def _describe(value: Any) -> str:
    name = type(value).__name__
    adapter = _ADAPTERS[type(value)]
    if adapter is None:
        return f"the {name} {reprlib.repr(value)}"
    return f"{name} of length {len(adapter.keys(value))}"


def _key_difference(a: Mapping[Any, Any], b: Mapping[Any, Any]) -> str:
    parts = []
    for here, there, where in ((a, b, "first"), (b, a, "second")):
        extra = [key for key in here if key not in there]
        if extra:
            keys = "key" if len(extra) == 1 else "keys"
            parts.append(f"{keys} {', '.join(map(repr, extra))} only in the {where}")
    return ", ".join(parts)


def _wrong_count(structure: Any, flat_sequence: Sequence[Any], expand: bool) -> ValueError:
    expected = len(flatten(structure, expand))
    return ValueError(
        f"The structure {reprlib.repr(structure)} has {expected} "
        f"{'leaf' if expected == 1 else 'leaves'}, but `flat_sequence` has {len(flat_sequence)}."
    )
