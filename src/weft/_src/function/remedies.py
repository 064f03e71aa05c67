"""What to do about a retrace: advice for each cause, tried before it is given."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from types import MethodType
from typing import Any

from weft._src.core import dtypes
from weft._src.core.conversions import lossless
from weft._src.core.specs import TensorSpec
from weft._src.function.decorator_lines import (
    DecoratorLines,
    fits_a_tensor,
    number_dtypes,
    shape_text,
)
from weft._src.function.differences import Difference
from weft._src.function.history import Why
from weft._src.function.inspection import Inspected
from weft._src.function.short_words import function_words, short_repr
from weft._src.function.trace_types import (
    CompositeType,
    DataclassType,
    LiteralType,
    NestType,
    ObjectType,
    TensorType,
    TraceType,
    VariableType,
    type_of,
)
from weft._src.function.trials import Trials

_OWN_TRACE = "each value has a trace of its own"
Types = tuple[TraceType, ...]
_ONCE = "create it once, outside of the loop or function that calls this"


class Adviser:
    """Advice about the traces of one function, as they are now."""

    def __init__(self, function: Inspected, refused: Types | None = None) -> None:
        """`refused` are the types of a call that has not been traced."""
        self._function = function
        self._trials = Trials(function)
        self._lines = DecoratorLines(function, self._trials, refused)

    def remedy(self, why: Why, given: Types) -> str:
        """What makes a trace unnecessary, in one sentence; empty for first traces.

        Args:
          why: what is known about the cause.
          given: the types of the call.
        """
        if why.remedy:
            return why.remedy
        if why.was_dropped:
            kinds = self._function._history.kinds
            return f"keep more traces, {self._lines.keeping(kinds)}"
        found = [text for d in why.differences for text in self._for_difference(given, d)]
        lines = self._for_lines(why, given)
        text = "; ".join(dict.fromkeys([*found, *lines]))
        if not text and why.differences:
            return "pass arguments of one type in every call"
        if text and self._trials.hindrance is not None:
            text += (
                f" (not tried, since tracing the function acts on Python: {self._trials.hindrance})"
            )
        return text

    def _for_lines(self, why: Why, given: Types) -> list[str]:
        """Decorator lines, where the arguments of the calls can stay as they are."""
        if why.compared_with is None or not why.differences:
            return []
        signature = self._lines.signature()
        relaxed = self._lines.relaxed(why.compared_with, given)
        if signature is not None:
            also = "" if relaxed is None else "pass reduce_retracing=True, or "
            return [f"{also}decorate it with {signature}"]
        return [] if relaxed is None else [f"decorate it with {relaxed}"]

    def _for_difference(self, given: Types, d: Difference) -> Iterator[str]:
        advise = _ADVICE.get(d.kind)
        if advise is not None:
            yield from advise(self, given, d)

    # --- values ------------------------------------------------------------------------------

    def _value(self, given: Types, d: Difference) -> Iterator[str]:
        value = d.now.value
        if isinstance(value, bool) and isinstance(d.was.value, bool):
            yield "a flag makes at most two traces, which is what flags are for"
        elif isinstance(value, enum.Enum):
            yield f"there is one trace for each of its {len(type(value))} members, not more"
        elif isinstance(value, (int, float, complex)) and not isinstance(value, bool):
            yield from self._number(given, d, value)
        elif isinstance(value, (str, bytes)):
            if self._works_with(given, d.now, TensorType(TensorSpec([], dtypes.string))):
                yield f"pass it as a tensor, tf.constant({short_repr(value)}), if it is data"
            else:
                yield f"{_OWN_TRACE}; pass only a few"
        elif isinstance(value, (type, dtypes.DType, type(None))):
            yield f"{_OWN_TRACE}; pass only a few"
        else:
            yield f"{_OWN_TRACE}; pass what the function needs of it as a tensor"

    def _type(self, _: Types, d: Difference) -> Iterator[str]:
        name = type(d.was.value).__name__
        yield f"pass one type in every call, {name}({d.argument}): 1, 1.0 and True are three kinds"

    def _number(self, given: Types, d: Difference, value: Any) -> Iterator[str]:
        if not fits_a_tensor(value):
            yield f"{_OWN_TRACE}, and {short_repr(value)} fits no tensor: pass only a few"
            return
        usual = {int: dtypes.int32, float: dtypes.float32}.get(type(value), dtypes.complex128)
        for dtype in number_dtypes([value]):
            if self._works_with(given, d.now, TensorType(TensorSpec([], dtype))):
                named = dtype is not usual and not (isinstance(value, int) and dtype.is_integer)
                more = f", tf.{dtype.name}" if named else ""
                yield f"pass it as a tensor, tf.constant({value!r}{more})"
                return
        yield f"{_OWN_TRACE}, since the function needs a Python number there: pass only a few"

    # --- tensors -----------------------------------------------------------------------------

    def _dtype(self, given: Types, d: Difference) -> Iterator[str]:
        a, b = _tensor_spec(d.was), _tensor_spec(d.now)
        wide = lossless(a.dtype, b.dtype)
        if wide is not None and self._works_with(
            given, d.now, TensorType(TensorSpec(b.shape, wide))
        ):
            yield f"convert it before the call, tf.cast({d.argument}, tf.{wide.name})"
        else:
            yield f"pass {a.dtype.name} in every call"

    def _shape(self, given: Types, d: Difference) -> Iterator[str]:
        if isinstance(d.now, VariableType):
            yield from self._by_value(given, d, d.now)

    def _by_value(self, given: Types, d: Difference, kind: VariableType) -> Iterator[str]:
        spec = TensorType(TensorSpec(kind.shape, kind.dtype))
        if kind is not d.now or self._works_with(given, d.now, spec):
            yield f"pass its value, {d.argument}.value(), if the function does not assign to it"

    def _kind(self, given: Types, d: Difference) -> Iterator[str]:
        kinds = (d.was, d.now)
        tensor = next((k for k in kinds if isinstance(k, TensorType)), None)
        variable = next((k for k in kinds if isinstance(k, VariableType)), None)
        literal = next((k for k in kinds if isinstance(k, LiteralType)), None)
        composite = next((k for k in kinds if isinstance(k, CompositeType)), None)
        if tensor is not None and variable is not None:
            yield from self._by_value(given, d, variable)
        elif tensor is not None and composite is not None:
            yield f"pass a tensor in every call, {_dense_form(d.argument, composite)}"
        elif tensor is not None and any(isinstance(k, NestType) for k in kinds):
            yield f"pass a tensor in every call, tf.constant({d.argument})"
        elif tensor is not None and literal is not None and literal.value is None:
            sizes = shape_text(tensor.spec.shape)
            yield (
                f"that makes two traces, not more; for one, pass a tensor where it is None, "
                f"tf.zeros({sizes}, tf.{tensor.spec.dtype.name}) or what means the same"
            )
        elif tensor is not None and literal is not None and fits_a_tensor(literal.value):
            dtype = tensor.spec.dtype.name
            yield f"pass a tensor in every call, tf.constant({literal.value!r}, tf.{dtype})"
        else:
            yield "pass the same kind of argument in every call"

    # --- containers --------------------------------------------------------------------------

    def _length(self, given: Types, d: Difference) -> Iterator[str]:
        name = d.argument.lstrip("*")
        items = list(d.now)
        if all(isinstance(item, TensorType) for item in items):
            specs = {(item.spec.dtype, item.spec.shape) for item in items}
            if len(specs) == 1:
                whole = TensorType(TensorSpec([None, *items[0].spec.shape], items[0].spec.dtype))
                if d.argument.startswith("*"):
                    yield f"take one tensor, tf.stack({name}), as a single argument"
                elif self._works_with_argument(given, name, whole):
                    yield f"pass one tensor, tf.stack({name})"
                else:
                    yield f"pass one tensor, tf.stack({name}), and take its rows in the function"
                return
        elif all(isinstance(item, LiteralType) and _is_number(item.value) for item in items):
            yield f"pass one tensor, tf.constant({name})"
            return
        yield "pass as many items in every call"

    def _keys(self, _: Types, d: Difference) -> Iterator[str]:
        yield "pass the same keys in every call"

    def _container(self, _: Types, d: Difference) -> Iterator[str]:
        kind = type(d.was).__name__
        yield f"pass a {kind} in every call, {kind}({d.argument})"

    # --- objects -----------------------------------------------------------------------------

    def _identity(self, _: Types, d: Difference) -> Iterator[str]:
        value: Any = d.now.value
        kind: Any = d.now.kind
        if isinstance(value, type) or (_code(d.was.value) is not _code(value) and _code(value)):
            yield "each one has a trace of its own; pass only a few"
            return
        if isinstance(value, MethodType):
            yield "each instance has a trace of its own; pass the method of one"
            return
        if _could_be_frozen(value):
            yield (
                f"make {kind.__name__} a @dataclass(frozen=True), then only the values of its "
                f"fields count; or {_ONCE}"
            )
        elif d.was.is_gone:
            # It is held weakly: `__eq__` cannot compare with what is no longer there.
            yield f"{_ONCE}, and keep it: a trace does not keep its arguments alive"
        elif function_words(value) is not None or kind.__eq__ is not object.__eq__:
            yield f"pass the same object in every call: {_ONCE}"
        else:
            yield (
                f"pass the same object in every call, or give {kind.__name__} __eq__ and __hash__, "
                "if some are alike"
            )

    def _alias(self, _: Types, d: Difference) -> Iterator[str]:
        yield "that makes two traces; for one, pass two variables in every call"

    def _trainable(self, _: Types, d: Difference) -> Iterator[str]:
        yield "that makes two traces, not more; for one, give all of them the same trainable="

    def _itself(self, _: Types, d: Difference) -> Iterator[str]:
        yield "do not pass a variable that the function reaches by itself"

    # --- trials ------------------------------------------------------------------------------

    def _works_with(self, given: Types, old: TraceType, new: TraceType) -> bool:
        """Whether the call of a trace could be traced with another type in one place."""
        like = [] if isinstance(old, (TensorType, VariableType)) else [given]
        return self._trials.works([_replaced(kind, old, new) for kind in given], like)

    def _works_with_argument(self, given: Types, name: str, new: TraceType) -> bool:
        names = self._function._parameters.names
        if name not in names:
            return False
        kinds = list(given)
        kinds[names.index(name)] = new
        return self._trials.works(kinds)


_Advise = Callable[[Adviser, Types, Difference], Iterator[str]]
_ADVICE: dict[str, _Advise] = {
    "value": Adviser._value,
    "type": Adviser._type,
    "dtype": Adviser._dtype,
    "shape": Adviser._shape,
    "kind": Adviser._kind,
    "length": Adviser._length,
    "keys": Adviser._keys,
    "container": Adviser._container,
    "identity": Adviser._identity,
    "alias": Adviser._alias,
    "trainable": Adviser._trainable,
    "itself": Adviser._itself,
}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _could_be_frozen(value: Any) -> bool:
    """Whether it is a dataclass whose fields would tell its values apart, were it frozen."""
    parameters = getattr(type(value), "__dataclass_params__", None)
    if parameters is None or parameters.frozen:
        return False
    kinds = [type_of(getattr(value, name)) for name in value.__dataclass_fields__]
    return not any(isinstance(kind, ObjectType) and not kind.is_value for kind in kinds)


def _code(value: Any) -> Any:
    return getattr(getattr(value, "__func__", value), "__code__", None)


def _dense_form(name: str, composite: CompositeType) -> str:
    """What makes a tensor of a composite."""
    if type(composite.spec).__name__ == "SparseTensorSpec":
        return f"tf.sparse.to_dense({name})"
    return f"{name}.to_tensor()" if hasattr(composite.spec, "ragged_rank") else "and no composite"


def _tensor_spec(kind: Any) -> TensorSpec:
    return kind.spec if isinstance(kind, TensorType) else TensorSpec(kind.shape, kind.dtype)


def _replaced(kind: TraceType, old: TraceType, new: TraceType) -> TraceType:
    """A type with another one in the place of one of its parts."""
    if kind is old:
        return new
    if isinstance(kind, NestType):
        return NestType(kind.structure, [_replaced(item, old, new) for item in kind.items])
    if isinstance(kind, DataclassType):
        return kind.with_items([_replaced(item, old, new) for item in kind.items])
    return kind
