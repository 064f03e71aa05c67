"""`tf.experimental.ExtensionTypeSpec`: the type of an extension type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.core.specs import TensorSpec, TypeSpec
from weft._src.core.tensor import Tensor
from weft._src.ops.extension.fields import ImmutableDict, collect, replaced
from weft._src.ops.extension.sealing import Sealed


class ExtensionTypeSpec(Sealed, TypeSpec):
    """The type of the values of an extension type: its fields, with specs in place of tensors.

    Each extension type has a class of its own for them, the attribute `Spec`.

    >>> class Masked(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    ...     n: int
    >>> Masked.Spec(values=tf.TensorSpec([None]), n=3)
    Masked.Spec(values=TensorSpec(shape=(None,), dtype=tf.float32, name=None), n=3)
    """

    # The class of the values; each class of specs has its own.
    value_type: Any = None

    def _finish(self) -> None:
        self._convert_fields(self._extension_fields.converters[1])

    def _serialize(self) -> tuple[tuple[str, Any], ...]:
        return tuple(self._held().items())

    @classmethod
    def _deserialize(cls, serialization: Sequence[tuple[str, Any]]) -> ExtensionTypeSpec:
        made: ExtensionTypeSpec = cls._made_of(dict(serialization))
        return made

    @property
    def _component_specs(self) -> tuple[Any, ...]:
        held = self.__dict__
        found = held.get("_weft_parts")
        if found is None:
            leaves: list[Any] = []
            for name in self._extension_fields.names:
                collect(held[name], leaves)
            found = held["_weft_parts"] = tuple(leaves)
        return found

    def _to_components(self, value: Any) -> tuple[Any, ...]:
        held = value.__dict__
        leaves: list[Any] = []
        for name in self._extension_fields.names:
            collect(held[name], leaves)
        return tuple(leaves)

    def _from_components(self, components: Sequence[Any]) -> Any:
        leaves, held = iter(components), self.__dict__
        fields = {name: replaced(held[name], leaves) for name in self._extension_fields.names}
        return self.value_type._made_of(fields)

    __repr__ = Sealed.__repr__

    def __hash__(self) -> int:
        held = self.__dict__
        if "_weft_hash" not in held:
            held["_weft_hash"] = TypeSpec.__hash__(self)
        found: int = held["_weft_hash"]
        return found

    def __eq__(self, other: object) -> bool:
        return self is other or TypeSpec.__eq__(self, other)

    def __reduce__(self) -> Any:
        return _made_again, (self.value_type, self._held())


def _made_again(value_type: Any, held: dict[str, Any]) -> Any:
    return value_type.Spec._made_of(held)


def spec_of_part(part: Any) -> Any:
    """What the spec has where the value has a part of a field."""
    if isinstance(part, Tensor):
        return TensorSpec(part.shape, part.dtype)
    kind = type(part)
    if kind is tuple:
        return tuple([spec_of_part(item) for item in part])
    if kind is ImmutableDict:
        return ImmutableDict([(key, spec_of_part(item)) for key, item in part.items()])
    return part._type_spec if hasattr(kind, "_type_spec") else part
