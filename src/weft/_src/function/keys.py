"""From arguments to a dictionary key and the values that go into the graph.

Hot path: this runs on every call of a traced function. The key of a tensor is its dtype and shape,
of a Python value its type and value, of containers their structure and their items' keys; what
goes into the graph is collected on the way. Tables of types are used instead of isinstance chains:
0.35 us for one tensor, about 0.3 us for each further leaf.
"""

from __future__ import annotations

import enum
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from weft._src import nest
from weft._src.core import dtypes
from weft._src.core.convert import array_from
from weft._src.core.placed import MeshInput, MeshTensor
from weft._src.core.shapes import Dim
from weft._src.core.tensor import EagerTensor, SymbolicTensor
from weft._src.dataclass_values import fields_of_dataclass
from weft._src.ops.extension.extension_type import ExtensionType
from weft._src.ops.extension.fields import ImmutableDict, is_component, sorted_items
from weft._src.state.variable import Variable

Key = Any
Leaves = list[Any]
Encoder = Callable[["Keys", Any, Leaves], Key]


class UnhashableArgument(TypeError):  # noqa: N818 - not an error by itself: the caller adds the name
    """A leaf that cannot be part of a key."""

    def __init__(self, kind: type) -> None:
        super().__init__(kind.__name__)
        self.kind = kind


class Keys:
    """One way of collecting leaves: arrays for running, tensors for tracing and tapes."""

    def __init__(
        self, tensor: Encoder, array: Encoder, variable: Encoder, *, collects_arrays: bool
    ) -> None:
        self.collects_arrays = collects_arrays
        self._table: dict[type, Encoder] = {
            EagerTensor: tensor,
            MeshTensor: _meshed if collects_arrays else tensor,
            SymbolicTensor: _leaked_tensor if collects_arrays else tensor,
            np.ndarray: array,
            Variable: variable,
            int: _literal,
            bool: _literal,
            str: _literal,
            bytes: _literal,
            complex: _literal,
            type(None): _literal,
            float: _float,
            list: _list,
            tuple: _tuple,
            dict: _dict,
            types.MethodType: _method,
        }

    def encode(self, value: Any, leaves: Leaves) -> Key:
        """The key of a value; its tensors are appended to `leaves`."""
        encoder = self._table.get(type(value))
        if encoder is None:
            encoder = self._learn(type(value), value)
        return encoder(self, value, leaves)

    def _learn(self, kind: type, value: Any) -> Encoder:
        """How to encode values of a type met for the first time."""
        for known in (EagerTensor, SymbolicTensor, np.ndarray, Variable):
            if issubclass(kind, known):
                encoder = self._table[known]
                break
        else:
            encoder = self._encoder_of(kind, value)
        self._table[kind] = encoder
        return encoder

    def _encoder_of(self, kind: type, value: Any) -> Encoder:
        if issubclass(kind, np.generic):
            return _numpy_scalar
        if hasattr(value, "__tf_tracing_type__"):
            return _custom
        if issubclass(kind, ExtensionType):
            return _extension
        if hasattr(value, "_type_spec"):
            return _composite
        if issubclass(kind, (int, float, str, bytes)) and not issubclass(kind, enum.Enum):
            return _literal
        if nest.is_nested(value):
            return _nested
        if fields_of_dataclass(kind) is not None:
            return _dataclass
        return _object


def _leaked_tensor(keys: Keys, value: SymbolicTensor, leaves: Leaves) -> Key:
    raise value.leaked("An argument")


def _meshed(keys: Keys, value: MeshTensor, leaves: Leaves) -> Key:
    raise MeshInput  # the call has to go where its parts are


def _literal(keys: Keys, value: Any, leaves: Leaves) -> Key:
    return (type(value), value)


def _float(keys: Keys, value: float, leaves: Leaves) -> Key:
    # NaN is not equal to itself, and 0.0 is equal to -0.0: neither would make a good key.
    return (float, value if value and value == value else repr(value))  # noqa: PLR0124


def _items(keys: Keys, values: Iterable[Any], leaves: Leaves, parts: list[Any]) -> Key:
    """The keys of several values behind what is in `parts`; eager tensors written out for speed."""
    encode, as_array = keys.encode, keys.collects_arrays
    for value in values:
        if type(value) is EagerTensor:
            array = value._value
            leaves.append(array if as_array else value)
            parts.append((array.dtype, array.shape))
        else:
            parts.append(encode(value, leaves))
    return tuple(parts)


def _list(keys: Keys, value: list[Any], leaves: Leaves) -> Key:
    return _items(keys, value, leaves, [list])


def _tuple(keys: Keys, value: tuple[Any, ...], leaves: Leaves) -> Key:
    return _items(keys, value, leaves, [tuple])


# The sorted keys of dictionaries met, by their keys as they come: sorting takes longer.
_sorted_names: dict[tuple[Any, ...], tuple[Any, ...]] = {}


def _dict(keys: Keys, value: dict[Any, Any], leaves: Leaves) -> Key:
    given = tuple(value)
    names = _sorted_names.get(given)
    if names is None:
        try:
            names = tuple(sorted(given))
        except TypeError:
            names = given
        if len(_sorted_names) > 10_000:
            _sorted_names.clear()
        _sorted_names[given] = names
    return _items(keys, [value[name] for name in names], leaves, [dict, names])


def _nested(keys: Keys, value: Any, leaves: Leaves) -> Key:
    """Namedtuples, attrs classes, other mappings: their type and what nest finds in them."""
    parts = nest.flatten_with_paths(value)
    found = [(path, keys.encode(leaf, leaves)) for path, leaf in parts]
    beside = [keys.encode(item, leaves) for item in nest.metadata(value)]
    return (type(value), *found, *beside)


def _dataclass(keys: Keys, value: Any, leaves: Leaves) -> Key:
    """A frozen dataclass: its type and the keys of its fields."""
    fields = fields_of_dataclass(type(value)) or ()
    return _items(keys, [getattr(value, name) for name in fields], leaves, [type(value)])


def _method(keys: Keys, value: Any, leaves: Leaves) -> Key:
    # A bound method is a new object at each access; what it is made of stays. Methods are equal
    # if they belong to one instance, which need not have a hash.
    return (types.MethodType, _Instance(value.__self__), value.__func__)


class _Instance:
    """An object as a key by identity, which does not keep it alive."""

    __slots__ = ("_hash", "_ref")

    def __init__(self, instance: Any) -> None:
        self._hash = id(instance)
        try:
            self._ref: Callable[[], Any] = weakref.ref(instance)
        except TypeError:
            self._ref = lambda: instance

    def __eq__(self, other: object) -> bool:
        # An id may be that of another object later: two that are gone are not the same.
        mine = self._ref()
        return isinstance(other, _Instance) and mine is not None and mine is other._ref()

    def __hash__(self) -> int:
        return self._hash


def _numpy_scalar(keys: Keys, value: Any, leaves: Leaves) -> Key:
    return keys.encode(np.asarray(value), leaves)


def _composite(keys: Keys, value: Any, leaves: Leaves) -> Key:
    spec = value._type_spec
    parts = [keys.encode(part, leaves) for part in nest.flatten(spec._to_components(value))]
    return spec if spec._describes_components else (spec, *parts)


def _extension(keys: Keys, value: ExtensionType, leaves: Leaves) -> Key:
    """An extension type by its fields: a tenth of what it takes to make and compare its spec."""
    held = value.__dict__
    parts: list[Any] = [type(value)]
    for name in value._extension_fields.names:
        part = held[name]
        if type(part) is EagerTensor:
            array = part._value
            leaves.append(array if keys.collects_arrays else part)
            parts.append((array.dtype, array.shape))
        else:
            parts.append(_extension_part(keys, part, leaves))
    return tuple(parts)


def _extension_part(keys: Keys, part: Any, leaves: Leaves) -> Key:
    """What a field holds. In the order in which the spec takes it apart: that of the leaves."""
    kind = type(part)
    if kind is tuple:
        return (tuple, *[_extension_part(keys, item, leaves) for item in part])
    if kind is ImmutableDict:
        items = sorted_items(part)
        return (dict, *[(key, _extension_part(keys, item, leaves)) for key, item in items])
    if is_component(part):
        return keys.encode(part, leaves)
    return _float(keys, part, leaves) if kind is float else (kind, part)


def _custom(keys: Keys, value: Any, leaves: Leaves) -> Key:
    """A class with the tracing protocol says itself what distinguishes its values."""
    trace_type = value.__tf_tracing_type__(None)
    return (trace_type, *[keys.encode(t, leaves) for t in trace_type.to_tensors(value)])


def _object(keys: Keys, value: Any, leaves: Leaves) -> Key:
    try:
        hash(value)
    except TypeError:
        raise UnhashableArgument(type(value)) from None
    try:
        return weakref.ref(value)  # equal as long as the objects live and are equal
    except TypeError:
        return (type(value), value)


# --- two ways of collecting ----------------------------------------------------------------------


def _value_of_tensor(keys: Keys, value: EagerTensor, leaves: Leaves) -> Key:
    array = value._value
    leaves.append(array)
    return (array.dtype, array.shape)


def _value_of_array(keys: Keys, value: Any, leaves: Leaves) -> Key:
    array = array_from(value)  # a copy: results may share memory with what goes in
    leaves.append(array)
    return (array.dtype, array.shape)


def _value_of_variable(keys: Keys, value: Variable, leaves: Leaves) -> Key:
    cell = value.handle._value
    leaves.append(cell)
    # Which one it is decides about the trace if the function also reaches it by itself.
    return (Variable, value.dtype, value.shape, value.trainable, id(value))


def _tensor_itself(keys: Keys, value: Any, leaves: Leaves) -> Key:
    leaves.append(value)
    if type(value) is EagerTensor:
        array = value._value
        return (array.dtype, array.shape)
    spec = value.spec
    dims = spec.dims
    if dims is not None and any(isinstance(d, Dim) for d in dims):
        dims = tuple([None if isinstance(d, Dim) else d for d in dims])
    return (_numpy_key(spec.dtype), dims)


def _numpy_key(dtype: dtypes.DType) -> Any:
    """What the value of an eager tensor of this dtype calls its dtype: keys must agree."""
    return dtype.numpy_dtype if dtype.is_numpy_compatible else dtype


def _tensor_of_array(keys: Keys, value: Any, leaves: Leaves) -> Key:
    return _tensor_itself(keys, EagerTensor(array_from(value)), leaves)


def _handle_of_variable(keys: Keys, value: Variable, leaves: Leaves) -> Key:
    handle = value.handle
    leaves.append(handle)
    return (Variable, value.dtype, value.shape, value.trainable, id(value))


VALUES = Keys(_value_of_tensor, _value_of_array, _value_of_variable, collects_arrays=True)
TENSORS = Keys(_tensor_itself, _tensor_of_array, _handle_of_variable, collects_arrays=False)
