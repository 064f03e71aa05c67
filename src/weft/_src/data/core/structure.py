"""The structure of a dataset's elements: nests of tensors in which lists stand for tensors.

Tuples, namedtuples, dicts and attrs objects are structure. While a dataset runs, an element is a
flat tuple of arrays; this file goes from what users write to that, and back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from weft._src import nest
from weft._src.core import dtypes
from weft._src.core.aliases import SpecNest
from weft._src.core.convert import convert_to_tensor
from weft._src.core.specs import NoneTensorSpec, TensorSpec, TypeSpec
from weft._src.core.tensor import EagerTensor, Tensor

Values = tuple[Any, ...]  # one element: an array (or a NumPy scalar) for each tensor in it
Packer = Callable[[Values], Any]


def is_structure(value: Any) -> bool:
    """Whether a value is looked into, rather than made a tensor."""
    return nest.is_nested(value) and not isinstance(value, (list, range))


def normalize(value: Any) -> Any:
    """The element with every leaf a tensor, a composite value, or None."""
    if is_structure(value):
        return nest.map_children(normalize, value)
    if value is None or isinstance(value, Tensor) or hasattr(value, "_type_spec"):
        return value
    return convert_to_tensor(value)


def spec_of_element(value: Any) -> Any:
    """The nest of specs that describes a normalized element."""
    return nest.map_structure(_leaf_spec, value)


def _leaf_spec(value: Any) -> TypeSpec:
    if value is None:
        return NoneTensorSpec()
    if isinstance(value, Tensor):
        return TensorSpec(value.shape.as_list() if value.shape.rank is not None else None,
                          value.dtype)  # fmt: skip
    spec = value._type_spec
    assert isinstance(spec, TypeSpec)
    return spec


def flatten_element(value: Any) -> list[Tensor]:
    """The tensors in a normalized element."""
    return [leaf for leaf in nest.flatten(value, expand_composites=True) if leaf is not None]


def flat_specs(spec: SpecNest) -> list[TensorSpec]:
    """The specs of the tensors in an element."""
    return list(_flat_specs(spec))


def _flat_specs(spec: SpecNest) -> Iterator[TensorSpec]:
    for leaf in nest.flatten(spec):
        if isinstance(leaf, TensorSpec):
            yield leaf
        else:
            yield from _flat_specs(leaf._component_specs)


def pack(spec: SpecNest, tensors: Sequence[Any]) -> Any:
    """The element of a spec made of flat tensors."""
    remaining = iter(tensors)

    def leaf(item: Any) -> Any:
        if isinstance(item, TensorSpec):
            return next(remaining)
        return item._of_this_type(nest.map_structure(leaf, item._component_specs))

    return nest.map_structure(leaf, spec)


def make_packer(spec: SpecNest, wrap: Callable[[Any], Any]) -> Packer:
    """A function from flat values to elements; the usual structures are written out for speed."""
    if isinstance(spec, TensorSpec):
        return lambda values: wrap(values[0])
    plain = all(isinstance(leaf, TensorSpec) for leaf in nest.flatten(spec))
    if plain and type(spec) is tuple and not any(map(nest.is_nested, spec)):
        return lambda values: tuple([wrap(value) for value in values])
    if plain and type(spec) is dict and not any(map(nest.is_nested, spec.values())):
        order = sorted(spec)
        places = [(key, order.index(key)) for key in spec]
        return lambda values: {key: wrap(values[i]) for key, i in places}
    return lambda values: pack(spec, [wrap(value) for value in values])


def eager_tensor(value: Any) -> EagerTensor:
    """A tensor of a value that may be a NumPy scalar."""
    return EagerTensor(np.asarray(value) if isinstance(value, np.generic) else value)


def sizes(spec: TensorSpec) -> list[int | None] | None:
    """The sizes of a spec with None for unknown ones; None for an unknown rank."""
    return None if spec.dims is None else spec.shape.as_list()


def widened(a: Any, b: Any) -> Any:
    """The narrowest spec that holds elements of both; TypeError if there is none."""
    nest.assert_same_structure(a, b)
    return nest.map_structure(lambda x, y: x.most_specific_compatible_type(y), a, b)


def is_compatible(a: Any, b: Any) -> bool:
    """Whether elements of one spec could be elements of the other."""
    try:
        nest.assert_same_structure(a, b)
    except (TypeError, ValueError):
        return False
    pairs = zip(nest.flatten(a), nest.flatten(b), strict=True)
    return all(x.is_compatible_with(y) for x, y in pairs)


def spec_from_types(types: Any, shapes: Any = None) -> Any:
    """Specs from the old way of giving dtypes and shapes separately."""
    types = _tupled(types)
    if shapes is None:
        return nest.map_structure(lambda t: TensorSpec(None, t), types)
    flat_types = nest.flatten(types)
    flat_shapes = _flat_shapes(types, shapes)
    specs = [TensorSpec(s, t) for s, t in zip(flat_shapes, flat_types, strict=True)]
    return nest.pack_sequence_as(types, specs)


def _tupled(value: Any) -> Any:
    """Lists of types are tuples, as TensorFlow has it."""
    if isinstance(value, list):
        value = tuple(value)
    return nest.map_children(_tupled, value) if nest.is_nested(value) else dtypes.as_dtype(value)


def _flat_shapes(types: Any, shapes: Any) -> list[Any]:
    """Shapes along the structure of the types: where that has a leaf, a list is a shape."""
    if not nest.is_nested(types):
        return [shapes]
    if isinstance(types, dict):
        return [s for key in sorted(types) for s in _flat_shapes(types[key], shapes[key])]
    if len(types) != len(shapes):
        raise ValueError(
            f"from_generator: output_types has {len(types)} parts, output_shapes {len(shapes)}."
        )
    return [s for t, shape in zip(types, shapes, strict=True) for s in _flat_shapes(t, shape)]
