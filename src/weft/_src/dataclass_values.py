"""Frozen dataclasses that hold tensors: values that are taken apart like composite tensors.

Fields in which there is a tensor (or a nest of them) are components, the others belong to the type.
It is Weft's own extension: TensorFlow takes such objects for leaves.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from weft._src.containers import ADAPTERS

_MAX_TYPES = 4096
_names: dict[type, tuple[str, ...] | None] = {}


def fields_of_dataclass(kind: type) -> tuple[str, ...] | None:
    """The names of the fields of a frozen dataclass; None for all other types."""
    try:
        return _names[kind]
    except KeyError:
        if len(_names) >= _MAX_TYPES:
            _names.clear()
        parameters = getattr(kind, "__dataclass_params__", None)
        is_value = parameters is not None and parameters.frozen and parameters.eq
        if not is_value or hasattr(kind, "_type_spec") or hasattr(kind, "__tf_tracing_type__"):
            found = None
        else:
            found = tuple([field.name for field in dataclasses.fields(kind)])
        _names[kind] = found
        return found


def rebuilt(template: Any, values: dict[str, Any]) -> Any:
    """A copy with other values in some fields."""
    # Not through the constructor: what checks and converts its arguments is not written for
    # symbolic tensors, and fields need not be arguments.
    made = object.__new__(type(template))
    held = {name: getattr(template, name) for name in fields_of_dataclass(type(template)) or ()}
    for name, value in {**getattr(template, "__dict__", {}), **held, **values}.items():
        object.__setattr__(made, name, value)
    return made


class DataclassSpec:
    """The type of a frozen dataclass that holds tensors: what `nest` needs of a spec."""

    __slots__ = ("_names", "_template")

    _describes_components = False

    def __init__(self, template: Any, names: tuple[str, ...]) -> None:
        self._template = template
        self._names = names

    def _to_components(self, value: Any) -> list[Any]:
        return [getattr(value, name) for name in self._names]

    def _from_components(self, components: list[Any]) -> Any:
        return rebuilt(self._template, dict(zip(self._names, components, strict=True)))

    def _static(self) -> list[Any]:
        fields = fields_of_dataclass(type(self._template)) or ()
        return [getattr(self._template, name) for name in fields if name not in self._names]

    def most_specific_compatible_type(self, other: DataclassSpec) -> DataclassSpec:
        """The type itself; ValueError if fields without tensors differ.

        Args:
          other: the type of another dataclass.

        Returns:
          This one.

        Raises:
          ValueError: if the classes, or fields that hold no tensors, differ.
        """
        same = type(self._template) is type(other._template) and self._names == other._names
        if not same or self._static() != other._static():
            raise ValueError(f"{self!r} and {other!r} are different types.")
        return self

    def __repr__(self) -> str:
        kind = type(self._template)
        fields = [
            f"{name}={'<tensors>' if name in self._names else repr(getattr(self._template, name))}"
            for name in fields_of_dataclass(kind) or ()
        ]
        return f"{kind.__qualname__}({', '.join(fields)})"


def spec_of_dataclass(value: Any) -> DataclassSpec | None:
    """The type of a frozen dataclass that holds tensors; None for everything else."""
    fields = fields_of_dataclass(type(value))
    if fields is None:
        return None
    names = tuple([name for name in fields if _holds_tensors(getattr(value, name))])
    return DataclassSpec(value, names) if names else None


def _holds_tensors(value: Any) -> bool:
    adapter = ADAPTERS[type(value)]
    if adapter is not None:
        return any(_holds_tensors(child) for child in adapter.values(value))
    if getattr(value, "is_tensor_like", False) or isinstance(value, np.ndarray):
        return True
    if hasattr(type(value), "_type_spec"):
        return True
    fields = fields_of_dataclass(type(value))
    return fields is not None and any(_holds_tensors(getattr(value, name)) for name in fields)
