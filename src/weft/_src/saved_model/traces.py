"""Traced functions as a SavedModel has them: what they take and give, and signatures."""

from __future__ import annotations

import inspect
import re
from typing import Any, NamedTuple

import weft as tf
from weft._src import nest
from weft._src.core.specs import TensorSpec, type_spec_from_value
from weft._src.core.tensor import SymbolicTensor, Tensor
from weft._src.fileio.structured_values import message_of
from weft._src.function.concrete import ConcreteFunction
from weft._src.function.methods import BoundFunction
from weft._src.function.polymorphic import PolymorphicFunction
from weft._src.function.signature import P
from weft._src.messages.structures import FunctionSpec
from weft._src.saved_model.exporting import Body, Functions, Written
from weft._src.saved_model.functions import Signature


class FullArgSpec(NamedTuple):
    """What TensorFlow wants to know of a Python function, under this name."""

    args: list[str]
    varargs: str | None
    varkw: str | None
    defaults: tuple[Any, ...] | None
    kwonlyargs: list[str]
    kwonlydefaults: dict[str, Any] | None
    annotations: dict[str, Any]


def is_function(value: Any) -> bool:
    """Whether a value is what `tf.function` makes."""
    return isinstance(value, (PolymorphicFunction, BoundFunction))


def traces_of(function: Any) -> list[ConcreteFunction]:
    """All traces of a function; one with an input_signature has at least that."""
    if function.input_signature is not None:
        return [function.get_concrete_function()]
    return list(function._list_all_concrete_functions())


def function_spec(function: Any) -> FunctionSpec:
    """What the Python function takes."""
    parameters = list(function.function_type.parameters.values())
    placed = [p for p in parameters if p.kind in (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD)]
    named = [p for p in parameters if p.kind is P.KEYWORD_ONLY]
    spec = FullArgSpec(
        args=[p.name for p in placed],
        varargs=next((p.name for p in parameters if p.kind is P.VAR_POSITIONAL), None),
        varkw=next((p.name for p in parameters if p.kind is P.VAR_KEYWORD), None),
        defaults=tuple([_default(p) for p in placed if p.default is not P.empty]) or None,
        kwonlyargs=[p.name for p in named],
        kwonlydefaults={p.name: _default(p) for p in named if p.default is not P.empty} or None,
        annotations={},
    )
    signature = function.input_signature
    return FunctionSpec(
        fullargspec=message_of(spec),
        is_method=False,
        input_signature=message_of(None if signature is None else tuple(signature)),
    )


def _default(parameter: inspect.Parameter) -> Any:
    """A default, or None in the place of one that has no form: traces name the values they took."""
    try:
        message_of(parameter.default)
    except TypeError:
        return None
    return parameter.default


def takes(concrete: ConcreteFunction) -> Any:
    """What a trace takes: a tuple of arguments with places, and a dict."""
    return concrete.structured_input_signature


def gives(concrete: ConcreteFunction) -> Any:
    """The types of what a trace gives, in its structure."""
    return nest.map_structure(_spec_of, concrete.structured_outputs)


def _spec_of(value: Any) -> Any:
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    return None if value is None else type_spec_from_value(value)


def ordered_inputs(concrete: ConcreteFunction) -> list[SymbolicTensor]:
    """The inputs as TensorFlow flattens them: arguments by name in the order of their names."""
    return [tensor for _, _, tensor in _leaves(concrete)]


def _leaves(concrete: ConcreteFunction) -> list[tuple[str, str | None, SymbolicTensor]]:
    """Of each input the parameter, the name that its spec was given, and the tensor."""
    inputs = iter(concrete.graph.inputs)
    placed: list[tuple[str, str | None, SymbolicTensor]] = []
    named: list[tuple[str, list[tuple[str, str | None, SymbolicTensor]]]] = []
    for parameter, kind in zip(concrete._parameters.parameters, concrete.types, strict=True):
        name = parameter.name
        parts = [(name, getattr(spec, "name", None), next(inputs)) for spec in kind.leaf_specs()]
        if parameter.kind in (P.KEYWORD_ONLY, P.VAR_KEYWORD):
            named.append((name, parts))
        else:
            placed += parts
    return placed + [x for _, parts in sorted(named, key=lambda pair: pair[0]) for x in parts]


# --- signatures -----------------------------------------------------------------------------------


class SignatureFunction:
    """A function that takes tensors by name and gives a dict, around a trace."""

    def __init__(
        self, key: str, concrete: ConcreteFunction, loaded: Signature | None = None
    ) -> None:
        self.key, self.concrete = key, concrete
        if loaded is None:
            self.inputs = _named_inputs(key, concrete)
            self.outputs = _named_outputs(key, concrete)
            return
        takes, gives = loaded.structured_input_signature[1], loaded.structured_outputs
        self.inputs = dict(zip(sorted(takes), concrete.graph.inputs, strict=True))
        self.outputs = dict(zip(sorted(gives), concrete.structured_outputs, strict=True))

    @property
    def takes(self) -> Any:
        """Specs by name."""
        specs = {name: TensorSpec(x.shape, x.dtype, name) for name, x in self.inputs.items()}
        return (), specs

    @property
    def gives(self) -> dict[str, TensorSpec]:
        """Specs by name."""
        return {name: TensorSpec(x.shape, x.dtype, name) for name, x in self.outputs.items()}

    def write(self, functions: Functions) -> str:
        """Writes it, and gives its name."""
        graph = self.concrete.graph
        inner = functions.of(graph)
        name = functions.unique(f"signature_wrapper_{self.key}")
        body = Body(functions, graph)
        given = {id(x): body.argument(name, x) for name, x in sorted(self.inputs.items())}
        for _, x in graph.captures:
            given[id(x)] = body.argument(x.node.name, x)
        pure = graph.effects.none
        found = body.add(
            "PartitionedCall" if pure else "StatefulPartitionedCall",
            [given[id(x)] for x in graph.all_inputs],
            f=inner,
            Tout=[out.dtype for out in graph.outputs],
        )
        by_id = {id(out): ref for out, ref in zip(graph.outputs, found, strict=True)}
        results: list[Written] = [by_id[id(out)] for _, out in sorted(self.outputs.items())]
        called = [node.name for node in body.nodes]
        made = [body.add("Identity", x) for x in results]
        names = sorted(self.outputs)
        functions.definitions.append(body.finished(name, made, names, called if not pure else []))
        return name


def _named_inputs(key: str, concrete: ConcreteFunction) -> dict[str, SymbolicTensor]:
    specs = nest.flatten(takes(concrete))
    tensors = ordered_inputs(concrete)
    plain = [spec for spec in specs if isinstance(spec, TensorSpec)]
    if len(plain) != len(tensors):
        raise ValueError(
            f"tf.saved_model.save: the signature {key!r} must take tensors only, got "
            f"{concrete.pretty_printed_signature(verbose=False)}."
        )
    found: dict[str, SymbolicTensor] = {}
    for parameter, given, tensor in _leaves(concrete):
        name = re.sub(r"\W", "_", given or parameter)
        if given and name in found:
            raise ValueError(
                f"tf.saved_model.save: the signature {key!r} takes two tensors called {name!r}. "
                "Give their tf.TensorSpec different names."
            )
        unique, at = name, 0
        while unique in found:
            at += 1
            unique = f"{name}_{at}"
        found[unique] = tensor
    return found


def _named_outputs(key: str, concrete: ConcreteFunction) -> dict[str, SymbolicTensor]:
    given = concrete.structured_outputs
    if isinstance(given, Tensor):
        given = [given]
    if given is None:
        given = []
    if isinstance(given, (list, tuple)):
        given = {f"output_{i}": item for i, item in enumerate(given)}
    if not isinstance(given, dict) or not all(
        isinstance(name, str) and isinstance(item, SymbolicTensor) for name, item in given.items()
    ):
        raise ValueError(
            f"tf.saved_model.save: the signature {key!r} must return a tensor, a list of them, or "
            f"a dict from names to them, got {given!r}."
        )
    return given


def signature_functions(functions: dict[str, Any], given: Any) -> list[SignatureFunction]:
    """The signatures that were asked for, or the only function that can be one."""
    if given is None:
        found = [f for f in functions.values() if _may_be_signature(f)]
        given = found[0] if len(found) == 1 else {}
    if not isinstance(given, dict):
        given = {tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY: given}
    return [
        SignatureFunction(key, value.concrete, value)
        if isinstance(value, Signature)
        else SignatureFunction(key, _concrete(key, value))
        for key, value in given.items()
    ]


def _may_be_signature(function: Any) -> bool:
    if is_function(function) and function.input_signature is None:
        return False
    try:
        signature = SignatureFunction("", _concrete("", function))
    except ValueError:
        return False
    return bool(signature.outputs)  # without results there is nothing to ask it for


def _concrete(key: str, value: Any) -> ConcreteFunction:
    if isinstance(value, ConcreteFunction):
        return value
    if not is_function(value):
        raise ValueError(
            f"tf.saved_model.save: the signature {key!r} must be a tf.function or one of its "
            f"traces, got {value!r}."
        )
    if value.input_signature is None:
        raise ValueError(
            f"tf.saved_model.save: {value.name}, the signature {key!r}, has no input_signature. "
            "Give it one, or pass get_concrete_function(...) of it."
        )
    return value.get_concrete_function()
