"""Functions of a GraphDef run as raw ops: eagerly, or into the graph that is being traced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import weft as tf
from weft._src.errors import DataLossError, UnsupportedError
from weft._src.raw_ops.signatures import signature_of
from weft._src.saved_model.nodes import attribute_value, in_order

_MOST_DEEP = 100  # functions that call functions
# The old form of branches and loops: nodes that pass tensors on or not.
_OF_TENSORFLOW_1 = frozenset({"Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond"})
# What reaches out of the model: files, other programs, Python.
_OUTSIDE = frozenset(
    {
        *("ReadFile", "WriteFile", "MatchingFiles", "ReaderReadV2", "WholeFileReaderV2"),
        *("TFRecordDataset", "TFRecordDatasetV2", "TextLineDataset", "TextLineDatasetV2"),
        *("FixedLengthRecordDataset", "FixedLengthRecordDatasetV2", "CSVDataset", "CSVDatasetV2"),
        *("SaveV2", "Save", "SaveSlices", "RestoreV2", "Restore", "MergeV2Checkpoints"),
        *("PyFunc", "PyFuncStateless", "EagerPyFunc", "PrintV2", "Print"),
        *("SaveDataset", "SaveDatasetV2", "LoadDataset", "SnapshotDataset", "SnapshotDatasetV2"),
        *("WriteSummary", "WriteScalarSummary", "CreateSummaryFileWriter", "LogSummary"),
        *("InitializeTableFromTextFileV2", "InitializeTableFromTextFile"),
    }
)
_TABLES_OF_FILES = frozenset({"InitializeTableFromTextFileV2", "InitializeTableFromTextFile"})
_PRINTS = frozenset({"PrintV2", "Print"})


class Library:
    """The functions of a model, by name."""

    def __init__(self, functions: Iterable[Any], source: str, *, allow_io: bool) -> None:
        self._functions = {function.signature.name: function for function in functions}
        self._bodies: dict[str, list[Any]] = {}
        self._source = source
        self._allow_io = allow_io
        self._depth = 0

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

    def ops(self, names: Iterable[str]) -> Counter[str]:
        """How often each op occurs in functions and in what they call."""
        count: Counter[str] = Counter()
        pending, seen = list(names), set(names)
        while pending:
            for node in self.function(pending.pop()).node_def:
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
        count = self.ops(names)
        missing = {op: n for op, n in count.items() if problem_of(op, self._allow_io) is not None}
        if missing:
            lines = [
                f"  {op} ({n} times): {problem_of(op, self._allow_io)}"
                for op, n in sorted(missing.items())
            ]
            raise UnsupportedError(
                f"{self._source} cannot be loaded, because of these ops:\n" + "\n".join(lines)
            )

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
                results[node.name] = self._node(node, given)
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

    def _node(self, node: Any, given: list[Any]) -> dict[str, list[Any]]:
        if node.op in self:
            found = self.run(node.op, given)
            names = [output.name for output in self.function(node.op).signature.output_arg]
            return {name: [value] for name, value in zip(names, found, strict=True)}
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
        out = getattr(tf.raw_ops, node.op)(**arguments)
        parts = [] if not signature.outputs else [out] if len(signature.outputs) == 1 else list(out)
        return {
            output.name: list(part) if output.many else [part]
            for output, part in zip(signature.outputs, parts, strict=True)
        }

    def _attribute(self, message: Any) -> Any:
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


def _called(node: Any) -> Iterable[str]:
    """The functions that a node names in its attributes."""
    for attribute in node.attr.values():
        kind = attribute.WhichOneof("value")
        if kind == "func":
            yield attribute.func.name
        elif kind == "list":
            for function in attribute.list.func:
                yield function.name


def problem_of(op: str, allow_io: bool) -> str | None:
    """Why an op cannot run; None if it can."""
    if op in _OF_TENSORFLOW_1:
        return (
            "branches and loops of TensorFlow 1; save the model again with TensorFlow 2, with "
            "tf.compat.v1.enable_control_flow_v2()"
        )
    if op in _OUTSIDE and not allow_io and op not in _TABLES_OF_FILES | _PRINTS:
        return "it reaches out of the model (files, Python); allow_io=True lets it"
    if not hasattr(tf.raw_ops, op):
        return "Weft does not have it"
    return None
