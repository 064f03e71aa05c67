"""Nested structures: flatten them, rebuild them, map over them, compare them.

A structure is a list, tuple, namedtuple, mapping, attrs object, or any other sequence (strings and
bytes excepted), nested to any depth; everything else is a leaf. Mappings are flattened in the order
of their sorted keys, so equal dicts flatten alike whatever their insertion order, and are rebuilt
in the order and type they had.

Composite values (objects whose `_type_spec` can take them apart) are leaves unless a function is
called with `expand_composites=True`.

This is a hot path: what a type is gets decided once per type and is then one dictionary lookup.
"""

from weft._src.nest import (
    assert_same_structure,
    flatten,
    flatten_with_paths,
    is_nested,
    map_structure,
    pack_sequence_as,
)
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = [
    "assert_same_structure",
    "flatten",
    "flatten_with_paths",
    "is_nested",
    "map_structure",
    "pack_sequence_as",
]

_open_namespace(__name__)
