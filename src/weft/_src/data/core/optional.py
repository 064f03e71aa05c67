"""`tf.data.experimental.Optional`: an element, or the absence of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.core.aliases import ArrayNamespace, SpecNest
from weft._src.core.dtypes import ANY, bool_, variant
from weft._src.core.resources import Variant
from weft._src.core.specs import TensorSpec, TypeSpec
from weft._src.core.tensor import Tensor
from weft._src.data.core import structure
from weft._src.data.core.structure import Values
from weft._src.errors import InvalidArgumentError
from weft._src.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, args, define_op, each

_HANDLE = TensorSpec([], variant)


class OptionalValue(Variant):
    """The value of an optional: the flat values of an element, or None."""

    __slots__ = ("values",)

    def __init__(self, values: Values | None) -> None:
        self.values = values

    def __repr__(self) -> str:
        return "<no value>" if self.values is None else f"<optional {self.values!r}>"


from_value_op = define_op(
    "OptionalFromValue",
    each("*components", ANY),
    infer=lambda *components: _HANDLE,
    kernel=lambda xp, *components: OptionalValue(components),
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    trusts_kernel=True,
)

none_op = define_op(
    "OptionalNone",
    (),
    infer=lambda: _HANDLE,
    kernel=lambda xp: OptionalValue(None),
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    trusts_kernel=True,
)

has_value_op = define_op(
    "OptionalHasValue",
    args("optional", {variant}),
    infer=lambda optional: TensorSpec.of(bool_, ()),
    kernel=lambda xp, optional: xp.asarray(optional.values is not None),
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    trusts_kernel=True,
)


def _get_kernel(
    xp: ArrayNamespace, optional: OptionalValue, *, specs: tuple[TensorSpec, ...]
) -> Any:
    if optional.values is None:
        raise InvalidArgumentError(None, None, "Optional.get_value: this optional has no value.")
    return optional.values


get_value_op = define_op(
    "OptionalGetValue",
    args("optional", {variant}),
    infer=lambda optional, *, specs: tuple([spec.with_fresh_dims() for spec in specs]),
    kernel=_get_kernel,
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    outputs=None,
    trusts_kernel=True,
)


class OptionalSpec(TypeSpec):
    """The type of an optional: the type of the element it may hold, None if nobody has said."""

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @property
    def value_type(self) -> type:
        """The class of the values this spec describes."""
        return Optional

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether the other one may hold such an element.

        Args:
          spec_or_value: an optional, or the spec of one.

        Returns:
          A bool; False for anything else.
        """
        spec = getattr(spec_or_value, "_type_spec", spec_or_value)
        return isinstance(spec, OptionalSpec) and (
            None in (self._element_spec, spec._element_spec)
            or structure.is_compatible(self._element_spec, spec._element_spec)
        )

    def most_specific_compatible_type(self, other: TypeSpec) -> OptionalSpec:
        """The narrowest type that holds both.

        Args:
          other: another `tf.OptionalSpec`, whose element has the same structure and dtypes.

        Returns:
          An `OptionalSpec`; sizes that differ are unknown in it.

        Raises:
          ValueError: if there is no such type.
        """
        if not isinstance(other, OptionalSpec):
            raise ValueError(f"No type holds both {self} and {other}.")
        if self._element_spec is None:
            return other
        if other._element_spec is None:
            return self
        return OptionalSpec(structure.widened(self._element_spec, other._element_spec))

    @property
    def _component_specs(self) -> TensorSpec:
        return _HANDLE

    def _to_components(self, value: Optional) -> Tensor:
        return value._variant

    def _from_components(self, components: Tensor) -> Optional:
        return Optional._of(components, self._element_spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OptionalSpec) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"OptionalSpec({self._element_spec!r})"


class Optional:
    """An element, or the absence of one: what `get_next_as_optional` gives.

    >>> iterator = iter(tf.data.Dataset.range(1))
    >>> iterator.get_next_as_optional().get_value().numpy()
    np.int64(0)
    >>> bool(iterator.get_next_as_optional().has_value())
    False
    """

    _variant: Tensor
    _element_spec: Any

    @classmethod
    def _of(cls, handle: Tensor, element_spec: SpecNest) -> Optional:
        made = object.__new__(cls)
        made._variant, made._element_spec = handle, element_spec
        return made

    @property
    def element_spec(self) -> Any:
        """The specs of the element it may hold."""
        return self._element_spec

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec(self._element_spec)

    def has_value(self, name: str | None = None) -> Tensor:
        """Whether there is an element.

        Returns:
          A bool scalar.

        >>> bool(tf.data.experimental.Optional.from_value(3).has_value())
        True
        """
        return has_value_op(self._variant, name=name)

    def get_value(self, name: str | None = None) -> Any:
        """The element.

        Returns:
          A nest of tensors with the structure of `element_spec`.

        Raises:
          tf.errors.InvalidArgumentError: if there is none.

        >>> tf.data.experimental.Optional.from_value(3).get_value().numpy()
        np.int32(3)
        """
        flat: Sequence[Tensor] = get_value_op(
            self._variant, specs=tuple(structure.flat_specs(self._element_spec)), name=name
        )
        return structure.pack(self._element_spec, flat)

    @staticmethod
    def from_value(value: Any) -> Optional:
        """An optional that holds an element.

        Args:
          value: a tensor or a structure of tensors, as an element of a dataset.

        Returns:
          A `tf.data.experimental.Optional`.

        Raises:
          ValueError: if the value cannot be converted to tensors.
        """
        element = structure.normalize(value)
        handle = from_value_op(*structure.flatten_element(element))
        return Optional._of(handle, structure.spec_of_element(element))

    @staticmethod
    def empty(element_spec: SpecNest) -> Optional:
        """An optional that holds nothing.

        Args:
          element_spec: the specs of what it could hold.

        Returns:
          A `tf.data.experimental.Optional` whose `has_value()` is False.
        """
        return Optional._of(none_op(), element_spec)

    def __repr__(self) -> str:
        return f"<tf.experimental.Optional element_spec={self._element_spec!r}>"
