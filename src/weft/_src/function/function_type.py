"""`tf.types.experimental.FunctionType`: what a traced function takes and returns."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weft._src import nest
from weft._src.core.specs import spec_of
from weft._src.function.trace_types import NestType, TraceType

P = inspect.Parameter


class Parameter(inspect.Parameter):
    """A parameter that says whether calls may leave it out."""

    __slots__ = ()

    @property
    def optional(self) -> bool:
        """Whether it has a default."""
        return self.default is not P.empty


class FunctionType(inspect.Signature):
    """A signature whose annotations are the types of the arguments, with those of the results.

    >>> f = tf.function(lambda x, n: x * n).get_concrete_function(tf.TensorSpec([2]), 3.0)
    >>> print(f.function_type)
    (x: TensorSpec(shape=(2,), dtype=tf.float32, name=None), n: Literal[3.0]) -> \
TensorSpec(shape=(2,), dtype=tf.float32, name=None)
    >>> f.function_type.output.shape
    TensorShape([2])
    """

    __slots__ = ("_captures",)

    def __init__(
        self,
        parameters: Sequence[inspect.Parameter] | None = None,
        captures: Mapping[Any, Any] | None = None,
        *,
        return_annotation: Any = inspect.Signature.empty,
    ) -> None:
        known = [
            Parameter(p.name, p.kind, default=p.default, annotation=p.annotation)
            for p in parameters or ()
        ]
        super().__init__(known, return_annotation=return_annotation)
        self._captures = dict(captures or {})

    @property
    def captures(self) -> dict[Any, Any]:
        """The types of what the function uses from outside, by identity."""
        return self._captures

    @property
    def output(self) -> Any:
        """The types of the results, in their structure; None if the function is not traced yet."""
        found = self.return_annotation
        return None if found is inspect.Signature.empty else found


class Callable(ABC):
    """What can be called with tensors and has a `function_type`: functions and their traces."""

    @property
    @abstractmethod
    def function_type(self) -> inspect.Signature:
        """What it takes and returns."""

    @abstractmethod
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


def of_trace(
    parameters: Sequence[inspect.Parameter],
    types: Sequence[TraceType],
    outputs: Any,
    captured: Sequence[Any],
) -> FunctionType:
    """The type of one trace: of what it was traced for, with `*args` and `**kwargs` one by one."""
    spread = any(p.kind is P.VAR_POSITIONAL for p in parameters)
    return FunctionType(
        [
            made
            for parameter, found in zip(parameters, types, strict=True)
            for made in _parameters(parameter, found, spread)
        ],
        {id(tensor): spec_of(tensor) for tensor in captured},
        return_annotation=nest.map_structure(
            lambda leaf: None if leaf is None else spec_of(leaf), outputs
        ),
    )


def _parameters(
    parameter: inspect.Parameter, found: TraceType, spread: bool
) -> Iterator[inspect.Parameter]:
    if parameter.kind is P.VAR_POSITIONAL:
        for i, item in enumerate(_items(found)):
            yield P(f"{parameter.name}_{i}", P.POSITIONAL_ONLY, annotation=item)
    elif parameter.kind is P.VAR_KEYWORD:
        for name, item in zip(found.structure, _items(found), strict=True):  # type: ignore[attr-defined]
            yield P(name, P.KEYWORD_ONLY, annotation=item)
    else:
        placed = spread and parameter.kind is P.POSITIONAL_OR_KEYWORD
        kind = P.POSITIONAL_ONLY if placed else parameter.kind
        yield parameter.replace(kind=kind, default=P.empty, annotation=_annotation(found))


def _annotation(found: TraceType) -> Any:
    """The spec of a tensor or composite, a nest of them, or what a Python value is fixed to."""
    if isinstance(found, NestType):
        return nest.pack_sequence_as(found.structure, [_annotation(item) for item in found.items])
    return getattr(found, "spec", found)


def _items(found: TraceType) -> list[Any]:
    """The annotations of what a parameter has collected, one for each argument."""
    whole = _annotation(found)
    return list(whole.values()) if isinstance(whole, dict) else list(whole)
