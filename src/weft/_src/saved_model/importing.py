"""Functions of a GraphDef run as raw ops: eagerly, or into the graph that is being traced."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import weft as tf
from weft._src.errors import UnsupportedError
from weft._src.messages.message import Message
from weft._src.raw_ops.reaching_out import check_files, problem_of
from weft._src.raw_ops.signatures import signature_of
from weft._src.saved_model.nodes import Node, attribute_value, in_order
from weft._src.saving.sorted_table import damaged

_MOST_DEEP = 100  # functions that call functions
_MOST_NODES = 1_000_000  # of one trace, counted as often as they are run
_HANDING = frozenset({"Identity", "PartitionedCall", "StatefulPartitionedCall"})
# What may run while a model is loaded: making and filling tables.
_WHILE_LOADING = frozenset(
    {
        *("Const", "Identity", "NoOp", "PartitionedCall", "StatefulPartitionedCall"),
        *("HashTable", "HashTableV2", "MutableHashTable", "MutableHashTableV2"),
        *("MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "AnonymousHashTable"),
        *("MutableDenseHashTable", "MutableDenseHashTableV2", "AnonymousMutableDenseHashTable"),
        *("AnonymousMutableHashTable", "AnonymousMutableHashTableOfTensors"),
        *("InitializeTable", "InitializeTableV2", "LookupTableImport", "LookupTableImportV2"),
        *("InitializeTableFromTextFile", "InitializeTableFromTextFileV2", "LookupTableInsertV2"),
        *("Cast", "ExpandDims", "Pack", "Reshape", "Squeeze"),
    }
)
_FUNCTIONS = ("func", "list(func)")  # kinds of attributes
_loads = itertools.count()


class _Form(NamedTuple):
    """How nodes of an op are called: what is an argument under which name, what is a list."""

    inputs: list[tuple[str, str]]
    attributes: list[tuple[str, str]]
    needed: list[str]
    outputs: list[tuple[str, str]]


@functools.cache
def _form(op: str) -> _Form | None:
    signature = signature_of(op)
    if signature is None:
        return None
    called, inferred = signature.names, signature.inferred
    told = [a.name for a in signature.attributes if a.name not in inferred]
    return _Form(
        [(called[x.name], x.many) for x in signature.inputs],
        [(name, called[name]) for name in told],
        [a.name for a in signature.attributes if not a.has_default],
        [(x.name, x.many) for x in signature.outputs],
    )


class Library:
    """The functions of a model, by name."""

    def __init__(self, functions: Iterable[Any], source: str, *, allow_io: bool) -> None:
        self._functions = {function.signature.name: function for function in functions}
        self._bodies: dict[str, list[Node]] = {}
        self._handed_on: dict[str, list[int | None]] = {}
        self._source = source
        self._allow_io = allow_io
        self._depth = 0
        self._count = 0
        self._is_loading = False
        self._load = f"_load_{next(_loads)}"

    def __contains__(self, name: str) -> bool:
        return name in self._functions

    def function(self, name: str) -> Any:
        """A FunctionDef."""
        found = self._functions.get(name)
        if found is None:
            raise damaged(self._source, f"there is no function {name!r}, though it is called")
        return found

    def _body(self, name: str) -> list[Node]:
        if name not in self._bodies:
            nodes = self.function(name).node_def
            self._bodies[name] = in_order(nodes, f"{self._source}, function {name!r}")
        return self._bodies[name]

    # --- what a model needs -----------------------------------------------------------------------

    def ops(self, names: Iterable[str], nodes: Iterable[Node] = ()) -> Counter[str]:
        """How often each op occurs among nodes, in functions and in what they call."""
        count: Counter[str] = Counter()
        pending, seen = list(names), set(names)
        bodies: list[list[Node]] = [list(nodes)]
        while pending or bodies:
            for node in bodies.pop() if bodies else self._body(pending.pop()):
                if node.op in self:
                    called = [node.op]
                else:
                    count[node.op] += 1
                    called = list(_called(node))
                for name in called:
                    if name not in seen:
                        seen.add(name)
                        pending.append(name)
        return count

    def check(self, names: Iterable[str]) -> None:
        """UnsupportedError with all ops that cannot run; nothing has run by then."""
        self.check_ops(self.ops(names))

    def check_ops(self, count: Counter[str]) -> None:
        """The same for ops that were counted."""
        missing = {op: n for op, n in count.items() if problem_of(op, self._allow_io) is not None}
        if missing:
            lines = [
                f"  {op} ({n} times): {problem_of(op, self._allow_io)}"
                for op, n in sorted(missing.items())
            ]
            raise UnsupportedError(
                f"{self._source} cannot be loaded, because of these ops:\n" + "\n".join(lines)
            )

    def run_loading(self, name: str, tensors: list[Any]) -> list[Any]:
        """Like `run`, while the model is loaded: nothing but what makes and fills tables."""
        self._is_loading = True
        try:
            return self.run(name, tensors)
        finally:
            self._is_loading = False

    # --- running ----------------------------------------------------------------------------------

    def run(self, name: str, tensors: list[Any]) -> list[Any]:
        """The results of a function for its inputs, captured ones included."""
        function = self.function(name)
        arguments = [argument.name for argument in function.signature.input_arg]
        if len(arguments) != len(tensors):
            what = f"{name!r} takes {len(arguments)} tensors and gets {len(tensors)}"
            raise damaged(self._source, what)
        self._counted(anew=self._depth == 0)
        self._depth += 1
        if self._depth > _MOST_DEEP:
            self._depth = 0
            raise UnsupportedError(f"{self._source}: functions call each other too deeply.")
        try:
            return self._run(function, name, dict(zip(arguments, tensors, strict=True)))
        finally:
            self._depth = max(self._depth - 1, 0)

    def _run(self, function: Any, name: str, inputs: dict[str, Any]) -> list[Any]:
        results: dict[str, dict[str, list[Any]]] = {}

        def tensor(text: str) -> Any:
            node, _, rest = text.partition(":")
            output, _, number = rest.partition(":")
            try:
                return results[node][output][int(number or 0)] if rest else inputs[node]
            except (KeyError, IndexError, ValueError):
                what = f"function {name!r} has no tensor {text!r}"
                raise damaged(self._source, what) from None

        for node in self._body(name):
            given = [tensor(text) for text in node.input if not text.startswith("^")]
            results[node.name] = self.node(node, given)
        named = dict(function.ret.items())
        return [tensor(named.get(output.name, "")) for output in function.signature.output_arg]

    def node(self, node: Node, given: list[Any]) -> dict[str, list[Any]]:
        """What a node gives: lists of tensors, by the names of outputs."""
        if node.op in self:
            found = self.run(node.op, given)
            names = [output.name for output in self.function(node.op).signature.output_arg]
            return {name: [value] for name, value in zip(names, found, strict=True)}
        self._check_node(node.op)
        if node.op == "Const":
            value = node.value("value")
            if not isinstance(value, tf.Tensor):
                raise damaged(self._source, f"{node.name} (Const) lacks its value")
            return {"output": [value]}
        form = _form(node.op)
        if form is None:
            raise UnsupportedError(f"{self._source}: TensorFlow has no op {node.op!r}.")
        arguments = self._arguments(node, form, given)
        if arguments.get("shared_name"):  # shared within this model, not with others
            arguments["shared_name"] += self._load
        if not self._allow_io:
            check_files(node.op, arguments, self._source)
        out = getattr(tf.raw_ops, node.op)(**arguments)
        parts = [] if not form.outputs else [out] if len(form.outputs) == 1 else list(out)
        return {
            name: list(part) if many else [part]
            for (name, many), part in zip(form.outputs, parts, strict=True)
        }

    def _counted(self, *, anew: bool = False) -> None:
        """One more node or call: a few functions that call each other twice could be millions."""
        self._count = 0 if anew else self._count + 1
        if self._count > _MOST_NODES:
            raise UnsupportedError(
                f"{self._source}: a function has more than {_MOST_NODES} nodes, with those of the "
                "functions it calls."
            )

    def _check_node(self, op: str) -> None:
        """Whatever the model says of its functions: each op is looked at when it runs, too."""
        self._counted()
        if self._allow_io:
            return
        problem = problem_of(op, self._allow_io)
        if problem is None and self._is_loading and op not in _WHILE_LOADING:
            problem = "while a model is loaded, tables are filled and nothing else; allow_io=True"
            problem += " lets it"
        if problem is not None:
            raise UnsupportedError(f"{self._source}: {op}: {problem}.")

    def _arguments(self, node: Node, form: _Form, given: list[Any]) -> dict[str, Any]:
        """What the raw op of a node takes, by the names of its parameters."""
        attributes = node.attr
        if missing := [name for name in form.needed if name not in attributes]:
            raise damaged(self._source, f"{node.name} ({node.op}) lacks its attribute {missing[0]}")
        arguments: dict[str, Any] = {}
        rest = iter(given)
        for called, many in form.inputs:
            count = _count(many, attributes) if many else 1
            taken = list(itertools.islice(rest, max(count, 0)))
            if len(taken) != count:
                raise damaged(self._source, f"{node.name} ({node.op}) lacks its input {called}")
            arguments[called] = taken if many else taken[0]
        for name, called in form.attributes:
            if name in attributes:
                arguments[called] = self._attribute(attributes[name])
        return arguments

    def _attribute(self, message: Message) -> Any:
        value = attribute_value(message)
        if isinstance(value, tuple):
            return self.callable(value[1])
        if isinstance(value, list) and value and isinstance(value[0], tuple):
            return [self.callable(name) for _, name in value]
        return value

    def callable(self, name: str) -> Callable[..., Any]:
        """A function as raw ops take it."""

        def call(*tensors: Any) -> Any:
            return self.run(name, list(tensors))

        call.__name__ = call.__qualname__ = name
        handed = self._handed(name, 0)
        same = [i for i, argument in enumerate(handed) if argument == i]
        call.unchanged = frozenset(same)  # type: ignore[attr-defined]
        return call

    def _handed(self, name: str, depth: int) -> list[int | None]:
        """Which argument each result of a function is as it came in: loops ask their bodies."""
        if name in self._handed_on:
            return self._handed_on[name]
        function = self.function(name)
        self._handed_on[name] = [None] * len(function.signature.output_arg)  # if it calls itself
        numbers = {argument.name: i for i, argument in enumerate(function.signature.input_arg)}
        nodes = {node.name: node for node in self._body(name) if node.op in _HANDING}
        named = dict(function.ret.items())
        found: list[int | None] = []
        for output in function.signature.output_arg:
            text: str | None = named.get(output.name, "")
            for _ in range(len(nodes) + 1):
                node = None if text is None else nodes.get(text.partition(":")[0])
                if node is None:
                    break
                text = self._source_of(node, str(text), depth)
            found.append(None if text is None else numbers.get(text))
        self._handed_on[name] = found
        return found

    def _source_of(self, node: Node, text: str, depth: int) -> str | None:
        """The input that a node hands on as the result that a text names."""
        if node.op == "Identity":
            return str(node.input[0])
        place = text.rpartition(":")[2]
        function = node.value("f")
        called = function[1] if isinstance(function, tuple) else ""
        if depth >= _MOST_DEEP or not place.isdecimal() or called not in self:
            return None
        inner = self._handed(called, depth + 1)
        number = inner[int(place)] if int(place) < len(inner) else None
        inputs = [x for x in node.input if not x.startswith("^")]
        return str(inputs[number]) if number is not None and number < len(inputs) else None


def _count(name: str, attributes: Mapping[str, Any]) -> int:
    value = attribute_value(attributes[name])
    return len(value) if isinstance(value, list) else int(value or 0)


@functools.cache
def _takes_functions(op: str) -> bool:
    signature = signature_of(op)
    return signature is None or any(a.kind in _FUNCTIONS for a in signature.attributes)


def _called(node: Node) -> Iterable[str]:
    """The functions that a node names in its attributes."""
    if not _takes_functions(node.op):
        return
    for attribute in node.attr.values():
        kind = attribute.WhichOneof("value")
        if kind == "func":
            yield attribute.func.name
        elif kind == "list":
            for function in attribute.list.func:
                yield function.name
