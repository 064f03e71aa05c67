"""Functions of a GraphDef run as raw ops: eagerly, or into the graph that is being traced."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import weft as tf
from weft._src.errors import DataLossError, UnsupportedError
from weft._src.messages.message import Message
from weft._src.raw_ops.reaching_out import check_files, problem_of
from weft._src.raw_ops.signatures import signature_of
from weft._src.saved_model.nodes import attribute_value, in_order

_MOST_DEEP = 100  # functions that call functions
_MOST_NODES = 1_000_000  # of one trace, counted as often as they are run
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
_loads = itertools.count()


class Library:
    """The functions of a model, by name."""

    def __init__(self, functions: Iterable[Any], source: str, *, allow_io: bool) -> None:
        self._functions = {function.signature.name: function for function in functions}
        self._bodies: dict[str, list[Any]] = {}
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
            raise DataLossError(
                None, None, f"{self._source}: there is no function {name!r}, though it is called."
            )
        return found

    def _body(self, name: str) -> list[Any]:
        if name not in self._bodies:
            nodes = list(self.function(name).node_def)
            self._bodies[name] = in_order(nodes, f"{self._source}, function {name!r}")
        return self._bodies[name]

    # --- what a model needs -----------------------------------------------------------------------

    def ops(self, names: Iterable[str], nodes: Iterable[Any] = ()) -> Counter[str]:
        """How often each op occurs among nodes, in functions and in what they call."""
        count: Counter[str] = Counter()
        pending, seen = list(names), set(names)
        bodies: list[Any] = [list(nodes)]
        while pending or bodies:
            for node in bodies.pop() if bodies else self.function(pending.pop()).node_def:
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
            raise DataLossError(
                None,
                None,
                f"{self._source}: {name!r} takes {len(arguments)} tensors and gets {len(tensors)}.",
            )
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
            if not rest:
                return inputs[node]
            output, _, number = rest.partition(":")
            return results[node][output][int(number or 0)]

        try:
            for node in self._body(name):
                given = [tensor(text) for text in node.input if not text.startswith("^")]
                results[node.name] = self.node(node, given)
            named = dict(function.ret.items())
            return [tensor(named[output.name]) for output in function.signature.output_arg]
        except (KeyError, IndexError, ValueError) as error:
            if isinstance(error, tf.errors.OpError) or not isinstance(
                error, (KeyError, IndexError)
            ):
                raise
            raise DataLossError(
                None, None, f"{self._source}, function {name!r}: there is no tensor {error}."
            ) from None

    def node(self, node: Message, given: list[Any]) -> dict[str, list[Any]]:
        """What a node gives: lists of tensors, by the names of outputs."""
        if node.op in self:
            found = self.run(node.op, given)
            names = [output.name for output in self.function(node.op).signature.output_arg]
            return {name: [value] for name, value in zip(names, found, strict=True)}
        self._check_node(node.op)
        signature = signature_of(node.op)
        if signature is None:
            raise UnsupportedError(f"{self._source}: TensorFlow has no op {node.op!r}.")
        attributes = dict(node.attr.items())
        called = signature.names
        arguments: dict[str, Any] = {}
        at = 0
        for part in signature.inputs:
            count = _count(part.many, attributes) if part.many else 1
            taken = given[at : at + count]
            at += count
            arguments[called[part.name]] = taken if part.many else taken[0]
        for attribute in signature.attributes:
            if attribute.name not in signature.inferred and attribute.name in attributes:
                value = self._attribute(attributes[attribute.name])
                arguments[called[attribute.name]] = value
        if arguments.get("shared_name"):  # shared within this model, not with others
            arguments["shared_name"] += self._load
        if not self._allow_io:
            check_files(node.op, arguments, self._source)
        out = getattr(tf.raw_ops, node.op)(**arguments)
        parts = [] if not signature.outputs else [out] if len(signature.outputs) == 1 else list(out)
        return {
            output.name: list(part) if output.many else [part]
            for output, part in zip(signature.outputs, parts, strict=True)
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
        return call


def _count(name: str, attributes: dict[str, Any]) -> int:
    value = attribute_value(attributes[name])
    return value if isinstance(value, int) else len(value)


def _called(node: Message) -> Iterable[str]:
    """The functions that a node names in its attributes."""
    for attribute in node.attr.values():
        kind = attribute.WhichOneof("value")
        if kind == "func":
            yield attribute.func.name
        elif kind == "list":
            for function in attribute.list.func:
                yield function.name
