"""The parameters of a Python function: binding arguments to them, and their specs.

Arguments are bound first, so it does not matter whether they are passed by position, by name, or
left to their default.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from weft._src import nest
from weft._src.containers import ADAPTERS
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TensorSpec, TypeSpec
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.dataclass_values import fields_of_dataclass, rebuilt, spec_of_dataclass
from weft._src.errors import SignatureError
from weft._src.function.trace_types import type_of
from weft._src.state.variable import Variable

P = inspect.Parameter
_BY_PLACE = (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD)
_BY_NAME = (P.POSITIONAL_OR_KEYWORD, P.KEYWORD_ONLY)
_STARS: dict[Any, str] = {P.VAR_POSITIONAL: "*", P.VAR_KEYWORD: "**"}
_FIXED = (
    bool, int, float, complex, str, bytes, type(None), DType, TensorShape, EagerTensor, Variable
)  # fmt: skip


class Parameters:
    """The signature of a function and how calls bind to it."""

    def __init__(self, python_function: Callable[..., Any], name: str) -> None:
        self.name = name
        try:
            self.signature: inspect.Signature = inspect.signature(python_function)
        except (TypeError, ValueError):
            anything = [P("args", P.VAR_POSITIONAL), P("kwargs", P.VAR_KEYWORD)]
            self.signature = inspect.Signature(anything)
        self.parameters: list[inspect.Parameter] = list(self.signature.parameters.values())

    @property
    def is_method(self) -> bool:
        """Whether the first parameter is called like that of a method, which is bound later."""
        return bool(self.parameters) and self.parameters[0].name in ("self", "cls")

    @property
    def has_fixed_defaults(self) -> bool:
        """Whether a call that leaves an argument out always means the same by it."""
        return all(p.default is P.empty or _is_fixed(p.default) for p in self.parameters)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """One value per parameter, in order: *args as a tuple, **kwargs as a dict."""
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as e:
            wrong = self.misfit(args, kwargs) or e
            raise SignatureError(
                f"{self.name}{self.signature}: {wrong}. It was called with {_shown(args, kwargs)}."
            ) from None
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def misfit(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        """All that is wrong with the arguments of a call, not only what Python meets first."""
        by_place = [p for p in self.parameters if p.kind in _BY_PLACE]
        by_name = {p.name for p in self.parameters if p.kind in _BY_NAME}
        kinds = {p.kind for p in self.parameters}
        filled = {p.name for p in by_place[: len(args)]}
        missing = [
            p.name
            for p in self.parameters
            if p.default is P.empty
            and p.kind not in _STARS
            and p.name not in filled
            and (p.name not in kwargs or p.kind is P.POSITIONAL_ONLY)
        ]
        unexpected = [n for n in kwargs if n not in by_name and P.VAR_KEYWORD not in kinds]
        twice = [name for name in kwargs if name in filled and name in by_name]
        parts = [
            f"missing {_list('argument', missing)}" if missing else "",
            f"unexpected {_list('argument', unexpected)}{_nearest(unexpected, by_name)}"
            if unexpected
            else "",
            f"given twice: {', '.join(map(repr, twice))}" if twice else "",
            f"{len(args)} arguments by position where it takes {len(by_place)}"
            if len(args) > len(by_place) and P.VAR_POSITIONAL not in kinds
            else "",
        ]
        return "; ".join(filter(None, parts))

    def spread(self, values: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The positional and keyword arguments for one value per parameter."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for parameter, value in zip(self.parameters, values, strict=True):
            if parameter.kind is P.VAR_POSITIONAL:
                args.extend(value)
            elif parameter.kind is P.VAR_KEYWORD:
                kwargs.update(value)
            elif parameter.kind is P.KEYWORD_ONLY:
                kwargs[parameter.name] = value
            else:
                args.append(value)
        return args, kwargs

    @property
    def names(self) -> list[str]:
        """The names of the parameters."""
        return [p.name for p in self.parameters]

    @property
    def starred_names(self) -> list[str]:
        """The names of the parameters as a signature shows them: `*args`, `**kwargs`."""
        return [f"{_STARS.get(p.kind, '')}{p.name}" for p in self.parameters]

    @property
    def input_names(self) -> list[str]:
        """What names of inputs begin with; what `**kwargs` collects has names of its own."""
        return ["" if p.kind is P.VAR_KEYWORD else p.name for p in self.parameters]

    @property
    def collect(self) -> list[bool]:
        """Which parameters are `*args` or `**kwargs`."""
        return [p.kind in (P.VAR_POSITIONAL, P.VAR_KEYWORD) for p in self.parameters]


def _is_fixed(value: Any) -> bool:
    """Whether nobody can change a value: lists, dicts and arrays can be, and what equals them."""
    if isinstance(value, tuple):
        return all(map(_is_fixed, value))
    # Functions, enumerations and variables are themselves, whatever else changes.
    return isinstance(value, _FIXED) or type(value).__eq__ is object.__eq__


def _list(word: str, names: Sequence[str]) -> str:
    return f"{word}{'' if len(names) == 1 else 's'} {', '.join(map(repr, names))}"


def _nearest(names: Sequence[str], known: Collection[str]) -> str:
    """The parameters that are spelt nearly like those that there are not."""
    found = [difflib.get_close_matches(name, known, n=1, cutoff=0.6) for name in names]
    near = [repr(match[0]) for match in found if match]
    return f" (did you mean {', '.join(near)}?)" if near else ""


def _shown(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    parts = [_short(a) for a in args] + [f"{k}={_short(v)}" for k, v in kwargs.items()]
    return f"({', '.join(parts)})"


def _short(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"{value.dtype.name}{value.shape}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _rebuilt(value: Any, parts: list[Any]) -> Any:
    """A container like `value` with other items, those of a mapping in the order of its keys."""
    if isinstance(value, Mapping):
        converted = dict(zip(sorted(value), parts, strict=True))
        return type(value)((key, converted[key]) for key in value)  # type: ignore[call-arg]
    kind = type(value)
    return kind(*parts) if hasattr(kind, "_fields") else kind(parts)


def _holds_specs(value: Any) -> bool:
    """Whether there is a spec in a nest, or in frozen dataclasses in it."""
    return any(isinstance(leaf, TypeSpec) for leaf in _leaves(value))


def _leaves(nested: Any) -> Iterator[Any]:
    """What an input signature is made of; of frozen dataclasses, only the fields with specs."""
    for leaf in nest.flatten(nested):
        fields = [getattr(leaf, name) for name in fields_of_dataclass(type(leaf)) or ()]
        with_specs = [field for field in fields if _holds_specs(field)]
        if with_specs and spec_of_dataclass(leaf) is None:  # no tensors beside the specs
            yield from _leaves(with_specs)
        else:
            yield leaf


class InputSignature:
    """The specs given with `input_signature=`: exactly one trace, arguments are converted to it."""

    def __init__(self, specs: Sequence[Any], parameters: Parameters) -> None:
        if not isinstance(specs, (list, tuple)):
            raise TypeError(
                f"{parameters.name}: input_signature must be a list or tuple with one "
                f"tf.TensorSpec (or nest of them) for each argument, got {specs!r}."
            )
        self.specs = tuple(specs)
        self._parameters = parameters
        for leaf in _leaves(self.specs):
            if not isinstance(leaf, TypeSpec):
                raise TypeError(
                    f"{parameters.name}: input_signature must hold tf.TensorSpec objects, got "
                    f"{leaf!r}."
                )
        positional = [
            p
            for p in parameters.parameters
            if p.kind in (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD)
        ]
        rest = next((p for p in parameters.parameters if p.kind is P.VAR_POSITIONAL), None)
        if len(self.specs) > len(positional) and rest is None:
            raise TypeError(
                f"{parameters.name}{parameters.signature} takes {len(positional)} arguments, but "
                f"input_signature has {len(self.specs)}."
            )
        for parameter in positional[len(self.specs) :]:
            if parameter.default is P.empty:
                raise TypeError(
                    f"{parameters.name}: input_signature says nothing of the parameter "
                    f"{parameter.name!r}, which has no default."
                )

    def convert(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The bound arguments converted to the specs; SignatureError naming the argument if not."""
        out = list(values)
        parameters = self._parameters.parameters
        for start, parameter in enumerate(parameters[: len(self.specs)]):
            if parameter.kind is P.VAR_POSITIONAL:  # parameters that have names may follow
                rest = list(out[start] if isinstance(out[start], tuple) else ())
                wanted = self.specs[start:]
                if len(rest) != len(wanted):
                    raise SignatureError(
                        f"{self._parameters.name}: input_signature has {len(self.specs)} specs, "
                        f"{start + len(rest)} arguments were given."
                    )
                out[start] = tuple(
                    self._convert_one(f"{parameter.name}[{k}]", s, v)
                    for k, (s, v) in enumerate(zip(wanted, rest, strict=True))
                )
                break
            out[start] = self._convert_one(parameter.name, self.specs[start], out[start])
        return tuple(out)

    def _convert_one(self, name: str, spec: Any, value: Any) -> Any:
        if isinstance(spec, TensorSpec):
            return self._convert_leaf(name, spec, value)
        if isinstance(spec, TypeSpec):
            if not spec.is_compatible_with(value):
                raise self._mismatch(name, spec, value)
            return spec._fitted(value)
        # Walked along the spec: where it has a leaf, the value may still be a list of numbers.
        if isinstance(spec, Mapping):
            if not isinstance(value, Mapping) or set(value) != set(spec):
                raise self._mismatch(name, spec, value)
            parts = [self._convert_one(f"{name}[{k!r}]", spec[k], value[k]) for k in sorted(spec)]
        elif fields_of_dataclass(type(spec)) is not None and ADAPTERS[type(spec)] is None:
            return self._convert_dataclass(name, spec, value)
        elif not isinstance(spec, Sequence):
            return self._convert_object(name, spec, value)
        else:
            if not isinstance(value, (list, tuple)) or len(value) != len(spec):
                raise self._mismatch(name, spec, value)
            parts = [
                self._convert_one(f"{name}[{i}]", s, v)
                for i, (s, v) in enumerate(zip(spec, value, strict=True))
            ]
        return _rebuilt(value, parts)

    def _convert_dataclass(self, name: str, spec: Any, value: Any) -> Any:
        """A frozen dataclass: fields without specs belong to the type, and must be equal."""
        if type(value) is not type(spec):
            raise self._mismatch(name, spec, value)
        parts = {}
        for field in fields_of_dataclass(type(spec)) or ():
            wanted, given = getattr(spec, field), getattr(value, field)
            if _holds_specs(wanted):
                parts[field] = self._convert_one(f"{name}.{field}", wanted, given)
            elif type_of(wanted) != type_of(given):
                raise self._mismatch(name, spec, value)
        return rebuilt(value, parts)

    def _convert_object(self, name: str, spec: Any, value: Any) -> Any:
        """An object that nests take apart: one of attrs, or with `__tf_flatten__`."""
        adapter = ADAPTERS[type(spec)]
        if adapter is None or not isinstance(value, type(spec)):
            raise self._mismatch(name, spec, value)
        wanted, given = adapter.values(spec), adapter.values(value)
        metadata = adapter.metadata
        if len(wanted) != len(given) or (metadata and metadata(spec) != metadata(value)):
            raise self._mismatch(name, spec, value)
        keys = [f".{k}" if adapter.has_fields else f"[{k!r}]" for k in adapter.keys(spec)]
        parts = [
            self._convert_one(f"{name}{key}", s, v)
            for key, s, v in zip(keys, wanted, given, strict=True)
        ]
        return adapter.rebuild(value, parts)

    def _convert_leaf(self, name: str, spec: TensorSpec, value: Any) -> Any:
        if isinstance(value, TensorSpec):
            tensor_spec = value
            tensor: Any = value
        else:
            try:
                tensor = convert_to_tensor(value, dtype_hint=spec.dtype)
            except (TypeError, ValueError):
                raise self._mismatch(name, spec, value) from None
            tensor_spec = tensor.spec
        fits = tensor_spec.dtype is spec.dtype and tensor_spec.shape.is_subtype_of(spec.shape)
        if not fits and not (
            tensor_spec.dtype is spec.dtype and tensor_spec.shape.is_compatible_with(spec.shape)
        ):
            raise self._mismatch(name, spec, value)
        return tensor

    def _mismatch(self, name: str, spec: Any, value: Any) -> SignatureError:
        wanted = spec.words if isinstance(spec, TypeSpec) else f"a nest like {spec}"
        got = f"a dict with the keys {list(value)}" if isinstance(value, Mapping) else _short(value)
        return SignatureError(
            f"{self._parameters.name}: the argument {name!r} must be {wanted} because of "
            f"input_signature, got {got}."
        )
