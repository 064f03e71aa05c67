"""What values and specs of extension types have in common: annotated fields, and no changes.

Fields may be set while the constructor runs. Then they are converted to what they are annotated
with, checked, and sealed.
"""

from __future__ import annotations

import inspect
import typing
from abc import ABCMeta
from types import SimpleNamespace
from typing import Any, NamedTuple, NoReturn

from weft._src.ops.extension.fields import Converter, Kind, kind_of

Converters = list[tuple[str, Converter]]
_SEALED = "_weft_sealed"


class Scope(NamedTuple):
    """Where a class is defined: what annotations that are strings may name."""

    globals: dict[str, Any]
    names: dict[str, Any]


class Field(NamedTuple):
    """One annotated field."""

    name: str
    annotation: Any
    default: Any
    scope: Scope


NO_DEFAULT = inspect.Parameter.empty


class Fields:
    """The fields of one class; annotations that are strings are looked up when they are needed."""

    def __init__(self, owner: type, fields: dict[str, Field]) -> None:
        self.owner = owner
        self.fields = fields
        self.names = tuple(fields)
        self._kinds: dict[str, Kind] | None = None
        self._converters: tuple[Converters, Converters] | None = None

    @property
    def kinds(self) -> dict[str, Kind]:
        """What each field may hold; NameError if an annotation names what is not there yet."""
        if self._kinds is None:
            self._kinds = self._resolved()
        return self._kinds

    @property
    def converters(self) -> tuple[Converters, Converters]:
        """How fields become what they are annotated with: those of values, and those of specs."""
        if self._converters is None:
            try:
                kinds = list(self.kinds.items())
            except NameError as e:
                raise TypeError(
                    f"{self.owner.__qualname__}: an annotation names something that is not known "
                    f"where the class is defined: {e}."
                ) from e
            self._converters = (
                [(name, kind.value) for name, kind in kinds],
                [(name, kind.spec) for name, kind in kinds],
            )
        return self._converters

    def _resolved(self) -> dict[str, Kind]:
        owner = self.owner.__qualname__
        return {
            name: kind_of(self._annotation(field), f"{owner}.{name}")
            for name, field in self.fields.items()
        }

    def _annotation(self, field: Field) -> Any:
        """An annotation that is a string, or has strings in it, as what it means."""
        holder = SimpleNamespace(__annotations__={field.name: field.annotation})
        names = {**field.scope.names, self.owner.__name__: self.owner}
        return typing.get_type_hints(holder, field.scope.globals, names)[field.name]

    def are_known(self) -> bool:
        """Whether all annotations can be looked up by now; bad ones raise TypeError."""
        try:
            return self.kinds is not None
        except NameError:
            return False


class Sealing(ABCMeta):
    """The metaclass: what its classes make is converted, checked and sealed when it is made."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__call__(*args, **kwargs)
        made._finish()
        return made


class Sealed(metaclass=Sealing):
    """A value with fields that do not change."""

    _extension_fields: Fields

    def _finish(self) -> None:
        raise NotImplementedError

    def _convert_fields(self, converters: Converters) -> None:
        held = self.__dict__
        missing = [name for name, _ in converters if name not in held]
        if missing:
            raise ValueError(
                f"{type(self).__qualname__}.__init__ must set the field"
                f"{'s' if len(missing) > 1 else ''} {', '.join(missing)}."
            )
        for name, convert in converters:
            held[name] = convert(held[name], name)
        held[_SEALED] = True

    @classmethod
    def _made_of(cls, held: dict[str, Any]) -> Any:
        """A value of fields that are known to be right; no constructor runs."""
        made = object.__new__(cls)
        made.__dict__.update(held)
        made.__dict__[_SEALED] = True
        return made

    def _held(self) -> dict[str, Any]:
        held = self.__dict__
        return {name: held[name] for name in self._extension_fields.names}

    def __setattr__(self, name: str, value: Any) -> None:
        if _SEALED in self.__dict__ or name not in self._extension_fields.fields:
            self._refuse(name)
        self.__dict__[name] = value

    def __delattr__(self, name: str) -> None:
        self._refuse(name)

    def _refuse(self, name: str) -> NoReturn:
        if _SEALED in self.__dict__:
            why = "it cannot be changed. Make a new one with other fields"
        else:
            why = f"it is no field. Annotate it in the class {type(self).__qualname__}"
        raise AttributeError(f"{type(self).__qualname__}.{name}: {why}.")

    def __repr__(self) -> str:
        fields = ", ".join([f"{name}={value!r}" for name, value in self._held().items()])
        return f"{type(self).__qualname__}({fields})"


def constructor(fields: Fields, owner: type, *, defaults: bool) -> Any:
    """An `__init__` that takes the fields: by name only behind one that has a default."""
    parameters, scope, assignments, starred = ["self"], {}, [], False
    had_default = False
    for name, field in fields.fields.items():
        has_default = defaults and field.default is not NO_DEFAULT
        if had_default and not has_default and not starred:
            parameters.append("*")
            starred = True
        had_default = had_default or has_default
        scope[f"_default_{name}"] = field.default
        parameters.append(f"{name}=_default_{name}" if has_default else name)
        assignments.append(f"    held[{name!r}] = {name}")
    body = "\n".join(["    held = self.__dict__", *assignments])
    exec(f"def __init__({', '.join(parameters)}):\n{body}\n", scope)
    made = scope["__init__"]
    made.is_generated = True
    made.__qualname__ = f"{owner.__qualname__}.__init__"
    made.__module__ = owner.__module__
    return made


def set_signature(cls: Any) -> None:
    """What `inspect.signature` says of the class: the parameters of its constructor."""
    signature = inspect.signature(cls.__init__)
    parameters = list(signature.parameters.values())[1:]
    cls.__signature__ = signature.replace(parameters=parameters)
