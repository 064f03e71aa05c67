"""Functions of a loaded model: one with several traces, and single ones with a signature."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import Parameter
from typing import Any

import numpy as np

import weft as tf
from weft._src import nest
from weft._src.core.tensor import EagerTensor
from weft._src.errors import DataLossError, SignatureError
from weft._src.fileio.structured_values import value_of
from weft._src.messages.message import Message
from weft._src.state.tracking import Trackable


class Trace:
    """One trace of a function: what it takes and gives, and the graph behind it."""

    def __init__(
        self,
        name: str,
        takes: Any,
        gives: Any,
        run: Callable[[list[Any]], list[Any]],
        keep: Any,
        captured: Callable[[], list[Any]],
    ) -> None:
        self.name = name
        self.takes, self.gives = takes, gives
        self._captured = captured
        self.keep = keep  # the model: a trace that somebody holds keeps its variables alive
        specs = [spec for leaf in nest.flatten(takes) for spec in _parts(leaf)]

        def call(*tensors: Any) -> list[Any]:
            return run(list(tensors))

        call.__name__ = call.__qualname__ = _plain(name)
        # With a name for each argument calls are recognised; any number of them are not.
        places = [Parameter(f"x{i}", Parameter.POSITIONAL_ONLY) for i in range(len(specs))]
        call.__signature__ = inspect.Signature(places)  # type: ignore[attr-defined]
        self.function = tf.function(call, input_signature=specs, autograph=False)
        self._pack = _packer(gives)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables it uses."""
        return tuple([x for x in self._captured() if isinstance(x, tf.Variable)])

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The trainable ones among them."""
        return tuple([x for x in self.variables if x.trainable])

    @property
    def concrete(self) -> Any:
        """The traced graph behind it."""
        return self.function.get_concrete_function()

    @property
    def graph(self) -> Any:
        """Its graph."""
        return self.concrete.graph

    def matched(self, given: Any) -> list[Any] | None:
        """The tensors of arguments, if they are of the kinds that this trace takes."""
        try:
            nest.assert_same_structure(self.takes, given, expand_composites=False)
        except (TypeError, ValueError):
            return None
        out: list[Any] = []
        for spec, value in zip(nest.flatten(self.takes), nest.flatten(given), strict=True):
            found = _tensors(spec, value)
            if found is None:
                return None
            out += found
        return out

    def __call__(self, tensors: Sequence[Any]) -> Any:
        return self._pack(self.function(*tensors))


def _plain(name: str) -> str:
    return name.removeprefix("__inference_").rstrip("_0123456789") or name


def _parts(spec: Any) -> list[Any]:
    """The tensors that an argument consists of; what is no tensor has none."""
    if isinstance(spec, tf.TensorSpec):
        return [tf.TensorSpec(spec.shape, spec.dtype)]
    if isinstance(spec, tf.SparseTensorSpec):
        rank = spec.shape.rank
        return [
            tf.TensorSpec([None, rank], tf.int64),
            tf.TensorSpec([None], spec.dtype),
            tf.TensorSpec([rank], tf.int64),
        ]
    if isinstance(spec, tf.RaggedTensorSpec):
        splits = [tf.TensorSpec([None], spec.row_splits_dtype) for _ in range(spec.ragged_rank)]
        rank = spec.shape.rank
        inner = None if rank is None else [None, *spec.shape[spec.ragged_rank + 1 :]]
        return [tf.TensorSpec(inner, spec.dtype), *splits]
    return []


def _tensors(spec: Any, value: Any) -> list[Any] | None:
    """The tensors of an argument; None if it does not fit."""
    if isinstance(spec, tf.TensorSpec):
        if value is None or isinstance(value, (tf.SparseTensor, tf.RaggedTensor)):
            return None
        try:
            tensor = tf.convert_to_tensor(value, None if tf.is_tensor(value) else spec.dtype)
        except (TypeError, ValueError):
            return None
        fits = tensor.dtype == spec.dtype and spec.shape.is_compatible_with(tensor.shape)
        return [tensor] if fits else None
    if isinstance(spec, tf.SparseTensorSpec):
        if not isinstance(value, tf.SparseTensor) or value.dtype != spec.dtype:
            return None
        return [value.indices, value.values, value.dense_shape]
    if isinstance(spec, tf.RaggedTensorSpec):
        if not isinstance(value, tf.RaggedTensor) or value.dtype != spec.dtype:
            return None
        if value.ragged_rank != spec.ragged_rank:
            return None
        splits = [tf.cast(s, spec.row_splits_dtype) for s in value.nested_row_splits]
        return [value.flat_values, *splits]
    return [] if _equal(spec, value) else None


def _equal(a: Any, b: Any) -> bool:
    if isinstance(b, (tf.Tensor, tf.Variable, np.ndarray)):
        return False
    return type(a) is type(b) and bool(a == b)


def _packer(structure: Any) -> Callable[[list[Any]], Any]:
    """Puts results into the structure that the function gave them; usual ones at once."""
    if isinstance(structure, tf.TensorSpec):
        return lambda flat: flat[0]
    if type(structure) is dict and all(isinstance(s, tf.TensorSpec) for s in structure.values()):
        names = sorted(structure)
        return lambda flat: dict(zip(names, flat, strict=True))
    return lambda flat: _packed(structure, iter(flat))


def _packed(structure: Any, flat: Iterator[Any]) -> Any:
    """Results in the structure that the function gave them."""

    def leaf(spec: Any) -> Any:
        if isinstance(spec, tf.TensorSpec):
            return next(flat)
        if isinstance(spec, tf.SparseTensorSpec):
            return tf.SparseTensor(next(flat), next(flat), next(flat))
        if isinstance(spec, tf.RaggedTensorSpec):
            values = next(flat)
            splits = [next(flat) for _ in range(spec.ragged_rank)]
            return tf.RaggedTensor.from_nested_row_splits(values, splits, validate=False)
        if isinstance(spec, tf.IndexedSlicesSpec):
            return tf.IndexedSlices(next(flat), next(flat))
        return spec

    return nest.map_structure(leaf, structure)


class Parameters:
    """What the Python function took, by which arguments are put into their places."""

    def __init__(self, message: Message) -> None:
        self.message = message
        spec = value_of(message.fullargspec)
        fields = spec._asdict() if hasattr(spec, "_asdict") else {}  # a loaded model's own word
        names, only_named = fields.get("args") or [], fields.get("kwonlyargs") or []
        defaults, more = fields.get("defaults") or [], fields.get("kwonlydefaults") or {}
        are_lists = all(isinstance(one, (list, tuple)) for one in (names, only_named, defaults))
        if (
            not are_lists
            or not isinstance(more, Mapping)
            or not all(isinstance(name, str) for name in (*names, *only_named, *more))
            or len(defaults) > len(names)
        ):
            what = f"the parameters of a function are said to be {fields}"
            raise DataLossError(None, None, f"The SavedModel is damaged: {what}.")
        self.names = list(names[1:] if message.is_method else names)
        self.defaults = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
        self.defaults |= more
        self.only_named = list(only_named)
        self.takes_more = fields.get("varargs") is not None
        self.takes_any_name = fields.get("varkw") is not None

    def bound(self, who: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The arguments as traces know them: a tuple of those with places, and a dict."""
        if len(args) > len(self.names) and not self.takes_more:
            raise TypeError(
                f"{who} takes {len(self.names)} arguments ({', '.join(self.names)}), got "
                f"{len(args)}."
            )
        named = dict(kwargs)
        placed = list(args)
        for name in self.names[len(args) :]:
            if name in named:
                placed.append(named.pop(name))
            elif name in self.defaults:
                placed.append(self.defaults[name])
            else:
                raise TypeError(f"{who} needs the argument {name!r}.")
        for name in self.only_named:
            if name not in named and name in self.defaults:
                named[name] = self.defaults[name]
        unknown = [name for name in named if name not in self.only_named]
        if unknown and not self.takes_any_name:
            raise TypeError(
                f"{who} has no argument {unknown[0]!r}; it takes "
                f"{', '.join([*self.names, *self.only_named]) or 'none'}."
            )
        return tuple(placed), named


class LoadedFunction(Trackable):
    """A function of a loaded model: arguments choose among the traces that were saved."""

    def __init__(self, name: str, parameters: Parameters, traces: list[Trace]) -> None:
        self._name = name
        self._parameters = parameters
        self._traces = traces
        self.__name__ = name
        self._usual: dict[Any, Trace] = {}  # for calls with tensors and nothing else

    @property
    def concrete_functions(self) -> list[Trace]:
        """The traces."""
        return self._traces

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        key = None if kwargs else _key(args)
        if key in self._usual:
            return self._usual[key](args)
        given = self._parameters.bound(self._name, args, kwargs)
        for trace in self._traces:
            tensors = trace.matched(given)
            if tensors is not None:
                same = [a is b for a, b in zip(tensors, args, strict=False)]
                if key is not None and len(tensors) == len(args) and all(same):
                    self._usual[key] = trace
                return trace(tensors)
        if not self._traces:
            raise ValueError(
                f"{self._name} had not been traced when it was saved, so there are zero restored "
                "functions. Give it an input_signature, or call it once, before saving."
            )
        shown = "\n".join([f"  {_shown(trace.takes)}" for trace in self._traces])
        raise SignatureError(
            f"{self._name} was not saved for these arguments: {_shown(given)}. It was for:\n{shown}"
        )

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        """The trace for arguments, or for specs of them."""
        given = self._parameters.bound(self._name, args, kwargs)
        for trace in self._traces:
            wanted, asked = nest.flatten(trace.takes), nest.flatten(given)
            if len(wanted) == len(asked) and all(
                a.shape.is_compatible_with(b.shape) and a.dtype == b.dtype
                if isinstance(a, tf.TensorSpec) and hasattr(b, "shape")
                else _equal(a, b)
                for a, b in zip(wanted, asked, strict=True)
            ):
                return trace.concrete
        raise ValueError(f"{self._name} was not saved for {_shown(given)}.")

    def __repr__(self) -> str:
        return f"<function {self._name} of a loaded model, {len(self._traces)} traces>"


def _key(args: tuple[Any, ...]) -> Any:
    """Dtypes and shapes of arguments that are eager tensors; None if something else is there."""
    for arg in args:
        if type(arg) is not EagerTensor:
            return None
    return tuple([(arg._value.dtype, arg._value.shape) for arg in args])


def _shown(given: Any) -> str:
    args, kwargs = given

    def leaf(value: Any) -> str:
        if isinstance(value, (tf.Tensor, tf.Variable, tf.TensorSpec)):
            return f"{value.dtype.name}{list(value.shape) if value.shape.rank is not None else '?'}"
        return repr(value)

    parts = [leaf(value) for value in nest.flatten(args)]
    parts += [f"{name}={leaf(value)}" for name, value in kwargs.items()]
    return f"({', '.join(parts)})"


class Signature(Trackable):
    """A function by name that takes tensors by name and gives a dict of them."""

    def __init__(self, name: str, trace: Trace, names: list[str], by_place: int) -> None:
        self.name = name
        self._trace = trace
        self._names = names
        self._by_place = max(by_place, 1) if len(names) == 1 else by_place
        placed, named = trace.takes
        plain = not placed and all(isinstance(spec, tf.TensorSpec) for spec in named.values())
        self._in_order = sorted(named) if plain else None
        self._usual: set[Any] = set()

    @property
    def structured_input_signature(self) -> Any:
        """Specs of what it takes: a tuple of arguments with places, and a dict by name."""
        return self._trace.takes

    @property
    def structured_outputs(self) -> Any:
        """Specs of what it gives."""
        return self._trace.gives

    @property
    def function(self) -> Any:
        """The traced function behind it."""
        return self._trace.function

    @property
    def concrete(self) -> Any:
        """The traced graph behind it."""
        return self._trace.concrete

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables it uses."""
        return self._trace.variables

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The trainable ones among them."""
        return self._trace.trainable_variables

    @property
    def graph(self) -> Any:
        """Its graph."""
        return self._trace.graph

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        order = self._in_order
        key = None
        if order is not None and not args and len(kwargs) == len(order):
            tensors = tuple([kwargs.get(name) for name in order])
            key = _key(tensors)
            if key in self._usual:
                return self._trace(tensors)
        if len(args) > self._by_place:
            raise TypeError(
                f"The signature {self.name!r} takes its arguments by name: "
                f"{', '.join(self._names)}."
            )
        given = dict(zip(self._names, args, strict=False)) | kwargs
        if sorted(given) != sorted(self._names):
            raise TypeError(
                f"The signature {self.name!r} takes {', '.join(self._names) or 'nothing'}, got "
                f"{', '.join(given) or 'nothing'}."
            )
        placed, named = self._trace.takes
        chosen = tuple([given[name] for name in self._names[: len(placed)]])
        found = self._trace.matched((chosen, {name: given[name] for name in named}))
        if found is None:
            found = self._trace.matched(((), given))
        if found is None:
            raise ValueError(
                f"The signature {self.name!r} takes {_shown(self._trace.takes)}, got "
                f"{_shown(((), given))}."
            )
        if key is not None:
            self._usual.add(key)
        return self._trace(found)

    def __repr__(self) -> str:
        return f"<signature {self.name}{_shown(self._trace.takes)}>"
