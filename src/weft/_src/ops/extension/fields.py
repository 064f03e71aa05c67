"""The fields of extension types: what annotations allow, and how values become what they say.

An annotation is turned into two functions once, one for values and one for specs, in which the
spec of a tensor stands where a value has the tensor.
"""

from __future__ import annotations

import collections.abc
import reprlib
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Union, get_args, get_origin

import numpy as np

from weft._src.core import dtypes
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TensorSpec, TypeSpec
from weft._src.core.tensor import Tensor

# Takes a value and the path to it, for errors.
Converter = Callable[[Any, str], Any]
_PLAIN = (bool, int, float, str, bytes, type(None))


class ImmutableDict(Mapping[Any, Any]):
    """The mapping that a field holds: it does not change, as the rest of an extension type."""

    __slots__ = ("_items",)

    def __init__(self, items: Any = ()) -> None:
        self._items = dict(items)

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"ImmutableDict({self._items!r})"

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))


class Kind(NamedTuple):
    """What a field may hold."""

    value: Converter
    spec: Converter


def kind_of(annotation: Any, owner: str) -> Kind:
    """What an annotation means.

    Args:
      annotation: a class, a union, a tuple or a mapping of them, or a spec.
      owner: the class and the field, for errors.

    Returns:
      A `Kind`.

    Raises:
      TypeError: if fields cannot be of that type.
    """
    if annotation is None:
        annotation = type(None)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return _union([kind_of(option, owner) for option in arguments], annotation)
    if origin is tuple:
        return _tuple(arguments, owner)
    if origin is collections.abc.Mapping:
        key, item = [kind_of(argument, owner) for argument in arguments]
        return Kind(_mapping(key.value, item.value), _mapping(key.value, item.spec))
    if isinstance(annotation, TypeSpec):
        return Kind(_fitting_value(annotation), _fitting_spec(annotation))
    if isinstance(annotation, type) and origin is None:
        found = _kind_of_class(annotation)
        if found is not None:
            return found
    name = getattr(annotation, "__name__", None) if isinstance(annotation, type) else None
    raise TypeError(
        f"{owner}: a field cannot be annotated with {name or repr(annotation)}. Use tf.Tensor, a "
        "composite tensor or extension type, tf.TensorShape, tf.DType, int, float, bool, str, "
        "bytes, None, a tf.TensorSpec, or Tuple[X, ...], Mapping[K, X] and Union of these."
    )


def _kind_of_class(kind: type) -> Kind | None:
    if kind is Tensor:
        return Kind(_tensor, _tensor_spec)
    if kind in _PLAIN or issubclass(kind, np.generic):
        return Kind(_instance(kind), _instance(kind))
    if kind is TensorShape:
        return Kind(_converted(TensorShape, "a shape"), _converted(TensorShape, "a shape"))
    if kind is DType:
        return Kind(_converted(dtypes.as_dtype, "a dtype"), _converted(dtypes.as_dtype, "a dtype"))
    if hasattr(kind, "_type_spec") and not issubclass(kind, TypeSpec):
        return Kind(_instance(kind), _spec_of(kind))
    return None


def _expected(path: str, wanted: str, value: Any) -> TypeError:
    return TypeError(
        f"{path}: expected {wanted}, got {reprlib.repr(value)} of type {type(value).__name__}."
    )


def _instance(kind: type) -> Converter:
    def convert(value: Any, path: str) -> Any:
        if not isinstance(value, kind):
            raise _expected(path, kind.__name__, value)
        return value

    return convert


def _converted(function: Callable[[Any], Any], wanted: str) -> Converter:
    def convert(value: Any, path: str) -> Any:
        try:
            return function(value)
        except (TypeError, ValueError) as e:
            raise _expected(path, wanted, value) from e

    return convert


def _tensor(value: Any, path: str) -> Any:
    if not isinstance(value, Tensor):
        try:
            value = convert_to_tensor(value)
        except (TypeError, ValueError) as e:
            raise _expected(path, "a tensor", value) from e
        if not isinstance(value, Tensor):  # ragged and sparse tensors stay what they are
            raise _expected(path, "a tensor", value)
    return value


def _tensor_spec(value: Any, path: str) -> Any:
    if not isinstance(value, TensorSpec):
        raise _expected(path, "a tf.TensorSpec", value)
    return value


def _spec_of(kind: type) -> Converter:
    def convert(value: Any, path: str) -> Any:
        described = getattr(value, "value_type", None)
        if not isinstance(value, TypeSpec) or not (
            isinstance(described, type) and issubclass(described, kind)
        ):
            raise _expected(path, f"the TypeSpec of a {kind.__name__}", value)
        return value

    return convert


def _fitting_value(spec: TypeSpec) -> Converter:
    """Values of a spec that was given as annotation."""

    def convert(value: Any, path: str) -> Any:
        if isinstance(spec, TensorSpec) and not isinstance(value, Tensor):
            try:
                value = convert_to_tensor(value, dtype=spec.dtype)
            except (TypeError, ValueError) as e:
                raise _expected(path, spec.words, value) from e
        try:
            fits = spec.is_compatible_with(value)
        except (TypeError, ValueError):
            fits = False
        if not fits:
            raise _expected(path, spec.words, value)
        return value

    return convert


def _fitting_spec(spec: TypeSpec) -> Converter:
    def convert(value: Any, path: str) -> Any:
        if not isinstance(value, TypeSpec) or not spec.is_compatible_with(value):
            raise _expected(path, spec.words, value)
        return value

    return convert


def _union(options: list[Kind], annotation: Any) -> Kind:
    words = " or ".join([getattr(a, "__name__", repr(a)) for a in get_args(annotation)])

    def first(converters: list[Converter]) -> Converter:
        def convert(value: Any, path: str) -> Any:
            for converter in converters:
                try:
                    return converter(value, path)
                except TypeError:
                    continue
            raise _expected(path, words, value)

        return convert

    return Kind(first([k.value for k in options]), first([k.spec for k in options]))


def _tuple(arguments: tuple[Any, ...], owner: str) -> Kind:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        item = kind_of(arguments[0], owner)
        return Kind(_all_items(item.value), _all_items(item.spec))
    kinds = [kind_of(argument, owner) for argument in arguments if argument != ()]
    return Kind(_items([k.value for k in kinds]), _items([k.spec for k in kinds]))


def _all_items(item: Converter) -> Converter:
    def convert(value: Any, path: str) -> Any:
        if not isinstance(value, (list, tuple)):
            raise _expected(path, "a tuple", value)
        return tuple([item(part, f"{path}[{i}]") for i, part in enumerate(value)])

    return convert


def _items(converters: list[Converter]) -> Converter:
    def convert(value: Any, path: str) -> Any:
        if not isinstance(value, (list, tuple)) or len(value) != len(converters):
            raise _expected(path, f"a tuple of length {len(converters)}", value)
        pairs = zip(converters, value, strict=True)
        return tuple([item(part, f"{path}[{i}]") for i, (item, part) in enumerate(pairs)])

    return convert


def _mapping(key: Converter, item: Converter) -> Converter:
    def convert(value: Any, path: str) -> Any:
        if not isinstance(value, Mapping):
            raise _expected(path, "a mapping", value)
        return ImmutableDict(
            [(key(k, f"key of {path}"), item(v, f"{path}[{k!r}]")) for k, v in value.items()]
        )

    return convert


# --- walking through fields -----------------------------------------------------------------------


def sorted_items(mapping: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    """The items in the order of their keys: that in which they were given does not count."""
    return sorted(mapping.items(), key=lambda pair: (type(pair[0]).__name__, pair[0]))


def is_component(part: Any) -> bool:
    """Whether it is a tensor or composite value (or a spec of one), not a plain value."""
    return isinstance(part, (Tensor, TypeSpec)) or hasattr(type(part), "_type_spec")


def collect(part: Any, leaves: list[Any]) -> None:
    """Appends the tensors and composite values (or specs) of what a field holds."""
    kind = type(part)
    if kind is tuple:
        for item in part:
            collect(item, leaves)
    elif kind is ImmutableDict:
        for _, item in sorted_items(part):
            collect(item, leaves)
    elif is_component(part):
        leaves.append(part)


def replaced(part: Any, leaves: Iterator[Any]) -> Any:
    """What a field holds with other tensors, composite values or specs."""
    kind = type(part)
    if kind is tuple:
        return tuple([replaced(item, leaves) for item in part])
    if kind is ImmutableDict:
        made = {key: replaced(item, leaves) for key, item in sorted_items(part)}
        return ImmutableDict([(key, made[key]) for key in part])
    return next(leaves) if is_component(part) else part
