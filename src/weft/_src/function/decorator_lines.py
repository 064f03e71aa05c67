"""Decorator lines that would have saved traces: made from the calls that were, and tried on them.

A line is printed only if its very text, evaluated, accepts the arguments of every trace, and the
function can be traced with it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from weft._src import nest
from weft._src.core import dtypes
from weft._src.core.convert import convert_to_tensor
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import EagerTensor
from weft._src.errors import OpError
from weft._src.function.inspection import Inspected
from weft._src.function.signature import InputSignature, P, Parameters
from weft._src.function.trace_types import (
    CompositeType,
    LiteralType,
    NestType,
    TensorType,
    TraceType,
    type_of,
)
from weft._src.function.trials import Trials

_MOST_CALLS = 64  # traces that a line is made from
_MOST_STACKED = 100_000  # elements of tensors that are stacked to try a line
_POSITIONAL = (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD)


class _NoLine(Exception):  # noqa: N818 - says that there is none, no error
    """Arguments that no signature covers."""


def number_dtypes(values: Sequence[Any]) -> Iterator[dtypes.DType]:
    """The dtypes that tensors in the place of Python numbers may have, the likeliest first."""
    if any(isinstance(v, complex) for v in values):
        yield from (dtypes.complex64, dtypes.complex128)
        return
    whole = all(isinstance(v, int) for v in values)
    for dtype in (dtypes.int32, dtypes.int64) if whole else ():
        limits = np.iinfo(dtype.numpy_dtype)
        if all(limits.min <= v <= limits.max for v in values):
            yield dtype
            break
    for dtype in (dtypes.float32, dtypes.float64):
        if all(not isinstance(v, int) or dtype.numpy_dtype.type(v) == v for v in values):
            yield dtype


class DecoratorLines:
    """The lines for one function, as far as its traces tell."""

    def __init__(
        self, function: Inspected, trials: Trials, refused: tuple[TraceType, ...] | None = None
    ) -> None:
        self._parameters: Parameters = function._parameters
        self._options: dict[str, Any] = function._decorator_options
        self._calls = [record.given for record in function._history.records[-_MOST_CALLS:]]
        self._calls += [] if refused is None else [refused]
        self._trials = trials
        self._signature: list[str | None] = []

    def signature(self) -> str | None:
        """`@tf.function(input_signature=[...])` with one trace for all calls; None if none fits."""
        if not self._signature:
            self._signature.append(self._made_signature())
        return self._signature[0]

    def relaxed(self, old: Sequence[TraceType], new: Sequence[TraceType]) -> str | None:
        """`@tf.function(reduce_retracing=True)`, if that joins two calls."""
        if self._options.get("reduce_retracing"):
            return None
        joined = [a.join(b) for a, b in zip(old, new, strict=True)]
        if any(kind is None for kind in joined) or not self._trials.works(joined):  # type: ignore[arg-type]
            return None
        return self._line({"reduce_retracing": "True"})

    def keeping(self, traces: int) -> str:
        """The line with which so many traces are kept."""
        return self._line({"max_traces": str(traces)})

    def _line(self, more: Mapping[str, str], *, without: Sequence[str] = ()) -> str:
        kept = {k: repr(v) for k, v in self._options.items() if k not in without}
        arguments = {**kept, **more}
        return f"@tf.function({', '.join(f'{k}={v}' for k, v in arguments.items())})"

    def _made_signature(self) -> str | None:
        for integers_are_floats in (False, True):
            try:
                specs = self._specs(integers_are_floats)
                text = f"[{', '.join(map(spec_text, specs))}]"
            except _NoLine:
                return None
            if self._fits(text):
                return self._line({"input_signature": text}, without=["reduce_retracing"])
        return None

    def _specs(self, integers_are_floats: bool) -> list[Any]:
        columns = list(zip(*self._calls, strict=True))
        parameters = self._parameters.parameters
        specs: list[Any] = []
        last = 0
        for parameter, kinds in zip(parameters, columns, strict=True):
            left_out = parameter.default is not P.empty and all(
                kind == type_of(parameter.default) for kind in kinds
            )
            if parameter.kind in _POSITIONAL:
                specs.append(None if left_out else widened(kinds, integers_are_floats))
                last = last if left_out else len(specs)
            elif not left_out and any(_holds_anything(kind) for kind in kinds):
                raise _NoLine
        if not last or any(spec is None for spec in specs[:last]):
            raise _NoLine
        return specs[:last]

    def _fits(self, text: str) -> bool:
        """Whether the text, as it would be pasted, takes the arguments of all calls."""
        try:
            specs = eval(text, {"tf": sys.modules["weft"]})
            signature = InputSignature(specs, self._parameters)
            for call in self._calls:
                signature.convert(tuple([_stand_in(kind) for kind in call]))
        except (_NoLine, TypeError, ValueError, AttributeError, OpError):
            return False
        types = [type_of(spec) for spec in signature.specs]
        return self._trials.works([*types, *self._calls[-1][len(types) :]], self._calls)


def _holds_anything(kind: TraceType) -> bool:
    return not isinstance(kind, NestType) or bool(kind.items)


# --- what covers several calls -------------------------------------------------------------------


def widened(kinds: Sequence[TraceType], integers_are_floats: bool = False) -> Any:
    """The specs (in a nest) that cover an argument in several calls."""
    if all(isinstance(kind, NestType) for kind in kinds):
        return _widened_nests(kinds, integers_are_floats)  # type: ignore[arg-type]
    if all(isinstance(kind, CompositeType) for kind in kinds):
        joined = kinds[0].most_specific_common_supertype(kinds[1:])
        if not isinstance(joined, CompositeType):
            raise _NoLine
        return joined.spec
    specs = [kind.spec for kind in kinds if isinstance(kind, TensorType)]
    values = [kind.value for kind in kinds if isinstance(kind, LiteralType)]
    if len(specs) + len(values) < len(kinds) or (not specs and len(set(kinds)) == 1):
        raise _NoLine  # an object, or a value that does not change: that need not be a tensor
    shape = specs[0].shape if specs else TensorShape([])
    for other in [*[spec.shape for spec in specs], *[TensorShape([]) for _ in values]]:
        shape = shape.most_specific_compatible_shape(other)
    return TensorSpec(shape, _dtype([spec.dtype for spec in specs], values, integers_are_floats))


def _dtype(
    known: Sequence[dtypes.DType], values: Sequence[Any], integers_are_floats: bool
) -> dtypes.DType:
    if len(set(known)) > 1:
        raise _NoLine
    if known:
        return known[0]
    if all(type(value) in (str, bytes) for value in values):
        return dtypes.string
    if not all(type(value) in (int, float, complex) for value in values):
        raise _NoLine
    candidates = list(number_dtypes(values))
    if integers_are_floats:
        candidates = [dtype for dtype in candidates if dtype.is_floating]
    if not candidates:
        raise _NoLine
    return candidates[0]


def _widened_nests(kinds: Sequence[NestType], integers_are_floats: bool) -> Any:
    first = kinds[0]
    if all(first._same_structure(kind) for kind in kinds):
        items = [
            widened(column, integers_are_floats)
            for column in zip(*[kind.items for kind in kinds], strict=True)
        ]
        return nest.pack_sequence_as(first.structure, items)
    if not all(isinstance(kind.structure, (list, tuple)) and kind.items for kind in kinds):
        raise _NoLine
    # Lists of other lengths: one tensor, the first size of which is not known.
    if any(nest.is_nested(item) for kind in kinds for item in kind.structure):
        raise _NoLine
    item = widened([item for kind in kinds for item in kind.items], integers_are_floats)
    if not isinstance(item, TensorSpec) or not item.shape.is_fully_defined():
        raise _NoLine
    return TensorSpec([None, *item.shape], item.dtype)


def _stand_in(kind: TraceType) -> Any:
    """Something that a signature takes for an argument of a trace."""
    if isinstance(kind, TensorType):
        return kind.spec
    if isinstance(kind, CompositeType):
        return kind.spec
    if isinstance(kind, LiteralType):
        return kind.value
    if isinstance(kind, NestType):
        return nest.pack_sequence_as(kind.structure, [_item(item) for item in kind.items])
    raise _NoLine


def _item(kind: TraceType) -> Any:
    """A part of a container, of which one tensor may be made."""
    if isinstance(kind, TensorType) and kind.spec.shape.is_fully_defined():
        if (
            kind.spec.shape.num_elements() or 0
        ) > _MOST_STACKED or not kind.spec.dtype.is_numpy_compatible:
            return kind.spec
        sizes = [size for size in kind.spec.shape if size is not None]
        return EagerTensor(np.zeros(sizes, kind.spec.dtype.numpy_dtype))
    return _stand_in(kind)


# --- as text -------------------------------------------------------------------------------------


def spec_text(spec: Any) -> str:
    """A spec (or a nest of them) as Python; what cannot be written so raises."""
    if isinstance(spec, TensorSpec):
        return f"tf.TensorSpec({shape_text(spec.shape)}, tf.{spec.dtype.name})"
    if isinstance(spec, dict):
        return f"{{{', '.join(f'{k!r}: {spec_text(v)}' for k, v in spec.items())}}}"
    if type(spec) is list:
        return f"[{', '.join(map(spec_text, spec))}]"
    if type(spec) is tuple:
        return f"({', '.join(map(spec_text, spec))}{',' if len(spec) == 1 else ''})"
    name = type(spec).__name__
    if name == "RaggedTensorSpec":
        rest = ""
        if spec.ragged_rank != (spec.shape.rank or 0) - 1 or spec.row_splits_dtype != dtypes.int64:
            rest = f", {spec.ragged_rank}, tf.{spec.row_splits_dtype.name}"
        return f"tf.RaggedTensorSpec({shape_text(spec.shape)}, tf.{spec.dtype.name}{rest})"
    if name == "SparseTensorSpec":
        return f"tf.SparseTensorSpec({shape_text(spec.shape)}, tf.{spec.dtype.name})"
    if name == "DatasetSpec":
        return f"tf.data.DatasetSpec({spec_text(spec.element_spec)})"
    raise _NoLine


def shape_text(shape: TensorShape) -> str:
    """A shape as Python."""
    return "None" if shape.rank is None else str(list(shape))


def fits_a_tensor(value: Any) -> bool:
    """Whether there is a tensor of a Python number."""
    try:
        convert_to_tensor(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
