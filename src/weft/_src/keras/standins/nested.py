"""`tensorflow.python.util.nest`: what TensorFlow Probability asks of nests beyond `tf.nest`.

A shallow structure says how deep to look: below it, whatever there is counts as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import weft as tf

# Nests hold anything: what they are is asked when they are walked through.
_Nest: TypeAlias = Any

assert_same_structure = tf.nest.assert_same_structure
flatten = tf.nest.flatten
is_nested = tf.nest.is_nested
map_structure = tf.nest.map_structure
pack_sequence_as = tf.nest.pack_sequence_as


def is_mapping(value: _Nest) -> bool:
    """Whether something is a dict or acts as one."""
    return isinstance(value, Mapping)


def _is_namedtuple(value: _Nest, strict: bool = False) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _yield_sorted_items(structure: _Nest) -> Iterator[tuple[Any, Any]]:
    """Keys and values, in the order in which nests are flattened."""
    if isinstance(structure, Mapping):
        yield from [(key, structure[key]) for key in sorted(structure)]
    elif _is_namedtuple(structure):
        yield from zip(structure._fields, structure, strict=True)
    else:
        yield from enumerate(structure)


def _yield_value(structure: _Nest) -> Iterator[Any]:
    for _, value in _yield_sorted_items(structure):
        yield value


def _sequence_like(instance: _Nest, items: Iterable[Any]) -> Any:
    """Items in a structure of the kind of another."""
    values = list(items)
    if isinstance(instance, Mapping):
        found = dict(zip(sorted(instance), values, strict=True))
        kind: Any = type(instance)
        return kind((key, found[key]) for key in instance)
    if _is_namedtuple(instance):
        return type(instance)(*values)
    return type(instance)(values)


def _is_leaf(shallow: _Nest) -> bool:
    return not is_nested(shallow)


def assert_shallow_structure(
    shallow_tree: _Nest,
    input_tree: _Nest,
    check_types: bool = True,
    expand_composites: bool = False,
) -> None:
    """ValueError or TypeError unless a tree goes at least as deep as the shallow one."""
    if _is_leaf(shallow_tree):
        return
    if not is_nested(input_tree):
        raise TypeError(f"{input_tree!r} is no structure, and {shallow_tree!r} is one.")
    shallow, deep = dict(_yield_sorted_items(shallow_tree)), dict(_yield_sorted_items(input_tree))
    if isinstance(shallow_tree, Mapping) and not set(shallow) <= set(deep):
        raise ValueError(f"The keys {sorted(shallow)} are not all in {sorted(deep)}.")
    if len(shallow) != len(deep):
        raise ValueError(f"{input_tree!r} has {len(deep)} items, {shallow_tree!r} {len(shallow)}.")
    for key, part in shallow.items():
        assert_shallow_structure(part, deep[key], check_types)


def _up_to(
    shallow: _Nest, tree: _Nest, path: tuple[Any, ...]
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if _is_leaf(shallow):
        yield path, tree
        return
    deep = dict(_yield_sorted_items(tree))
    for key, part in _yield_sorted_items(shallow):
        yield from _up_to(part, deep[key], (*path, key))


def flatten_with_tuple_paths_up_to(
    shallow_tree: _Nest,
    input_tree: _Nest,
    check_types: bool = True,
    expand_composites: bool = False,
) -> list[tuple[tuple[Any, ...], Any]]:
    """What a tree has at the leaves of a shallow one, with the keys that lead there."""
    assert_shallow_structure(shallow_tree, input_tree, check_types)
    return list(_up_to(shallow_tree, input_tree, ()))


def flatten_up_to(
    shallow_tree: _Nest,
    input_tree: _Nest,
    check_types: bool = True,
    expand_composites: bool = False,
) -> list[Any]:
    """What a tree has at the leaves of a shallow one."""
    return [x for _, x in flatten_with_tuple_paths_up_to(shallow_tree, input_tree, check_types)]


def map_structure_up_to(
    shallow_tree: _Nest, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """A function of what trees have at the leaves of a shallow one, in its structure."""
    return map_structure_with_tuple_paths_up_to(
        shallow_tree, lambda _, *values: func(*values), *inputs, **kwargs
    )


def map_structure_with_tuple_paths_up_to(
    shallow_tree: _Nest, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """The same, of a function that gets the keys, too."""
    found = [
        flatten_with_tuple_paths_up_to(shallow_tree, tree, kwargs.get("check_types", True))
        for tree in inputs
    ]
    results = [
        func(parts[0][0], *[value for _, value in parts]) for parts in zip(*found, strict=True)
    ]
    return pack_sequence_as(shallow_tree, results)


def map_structure_with_tuple_paths(
    func: Callable[..., Any], *structures: Any, **kwargs: Any
) -> Any:
    """A function of the keys and the leaves of structures."""
    return map_structure_with_tuple_paths_up_to(structures[0], func, *structures, **kwargs)


def flatten_with_tuple_paths(
    structure: _Nest, expand_composites: bool = False
) -> list[tuple[tuple[Any, ...], Any]]:
    """The leaves of a structure, with the keys that lead there."""
    return list(_up_to(structure, structure, ()))


def flatten_with_joined_string_paths(
    structure: _Nest, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """The same, the keys as one text."""
    return [
        (separator.join(map(str, path)), leaf) for path, leaf in flatten_with_tuple_paths(structure)
    ]


def yield_flat_paths(nest: _Nest, expand_composites: bool = False) -> Iterator[tuple[Any, ...]]:
    """The keys that lead to each leaf."""
    for path, _ in flatten_with_tuple_paths(nest):
        yield path


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: _Nest, expand_composites: bool = False
) -> Any:
    """The part of a structure into which a function says to go; False is where it stops."""
    wanted = traverse_fn(structure)
    if not is_nested(structure):
        return wanted
    if isinstance(wanted, bool):
        if not wanted:
            return False
        parts = [
            get_traverse_shallow_structure(traverse_fn, part) if is_nested(part) else (
                bool(traverse_fn(part))
            )
            for part in _yield_value(structure)
        ]  # fmt: skip
        return _sequence_like(structure, parts)
    parts = [
        get_traverse_shallow_structure(traverse_fn, part) if go and is_nested(part) else bool(go)
        for go, part in zip(_yield_value(wanted), _yield_value(structure), strict=True)
    ]
    return _sequence_like(structure, parts)
