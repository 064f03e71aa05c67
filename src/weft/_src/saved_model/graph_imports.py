"""`tf.import_graph_def`: nodes of a GraphDef become nodes of the graph that is being built."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import weft as tf
from weft._src.core.context import state
from weft._src.core.tensor import SymbolicTensor
from weft._src.errors import DataLossError, ParseError
from weft._src.messages.graphs import GraphDef
from weft._src.saved_model.importing import Library
from weft._src.saved_model.nodes import Node, in_order

_WHAT = "tf.import_graph_def"
_PLACEHOLDERS = frozenset({"Placeholder", "PlaceholderV2"})


def _message(given: Any) -> Any:
    """A GraphDef of ours, from one of any library, or from its bytes."""
    if isinstance(given, GraphDef):
        return given
    data = given
    if not isinstance(data, bytes):
        if not hasattr(given, "SerializeToString"):
            raise TypeError(f"{_WHAT}: a GraphDef, or its bytes, are expected, got {given!r}.")
        data = given.SerializeToString()
    try:
        return GraphDef.FromString(data)
    except ParseError:
        raise DataLossError(None, None, f"{_WHAT}: the bytes are no GraphDef.") from None


def _split(text: str) -> tuple[str, int]:
    """The node and the number of the output that an input names."""
    name, _, number = text.partition(":")
    if number and not number.isdecimal():
        raise DataLossError(None, None, f"{_WHAT}: {text!r} names no output of a node.")
    return name, int(number or 0)


class _Import:
    """The nodes of one GraphDef while they are run."""

    def __init__(self, definition: Any, mapped: dict[str, Any], allow_io: bool) -> None:
        self._nodes = in_order(definition.node, "The GraphDef")
        self._by_name = {node.name: node for node in self._nodes}
        self._library = Library(definition.library.function, "The GraphDef", allow_io=allow_io)
        self._mapped = {_split(key): value for key, value in mapped.items()}
        unknown = sorted({name for name, _ in self._mapped} - set(self._by_name))
        if unknown:
            raise ValueError(
                f"{_WHAT}: input_map names {', '.join(map(repr, unknown))}, which the graph does "
                "not have."
            )
        self.results: dict[str, list[Any]] = {}
        self._names: dict[str, str] = {}
        left = [node for node in self._nodes if not self._is_replaced(node)]
        run = [node for node in left if node.op not in _PLACEHOLDERS]
        self._library.check_ops(self._library.ops([], run))
        waiting = [node.name for node in left if node.op in _PLACEHOLDERS]
        if waiting and (state.graph is None or not state.graph.is_built_by_hand):
            raise ValueError(
                f"{_WHAT}: nothing is known of the placeholders {', '.join(map(repr, waiting))}. "
                "Give their values by input_map, or import the graph into one of its own: `with "
                "tf.Graph().as_default():`."
            )

    def _is_replaced(self, node: Node) -> bool:
        return node.op in _PLACEHOLDERS and (node.name, 0) in self._mapped

    def run(self) -> None:
        """Runs all nodes. In a graph their names are theirs, whatever they are made of."""
        graph = state.graph
        if graph is not None:
            begin = state.name_scope
            left = [node.name for node in self._nodes if not self._is_replaced(node)]
            self._names = {name: graph.unique_name(begin + name) for name in left}
        for node in self._nodes:
            if self._is_replaced(node):
                self.results[node.name] = [self._mapped[node.name, 0]]
                continue
            given = [self._tensor(x, node) for x in node.input if not x.startswith("^")]
            before = 0 if graph is None else len(graph.nodes)
            flat = self._run(node, given)
            if graph is not None:
                flat = self._named(node.name, flat, {id(x) for x in graph.nodes[before:]})
            self.results[node.name] = flat

    def _run(self, node: Node, given: list[Any]) -> list[Any]:
        if node.op in _PLACEHOLDERS:
            dtype, shape = [node.value(key) for key in ("dtype", "shape")]
            return [tf.compat.v1.placeholder(dtype, shape, node.name)]
        found = self._library.node(node, given)
        return [x for part in found.values() for x in part]

    def _named(self, name: str, flat: list[Any], new: set[int]) -> list[Any]:
        """Results of one node that has the name; more nodes if an op is made of several."""
        if not flat:
            return flat
        wanted = list(range(len(flat)))
        first = flat[0]
        is_one = isinstance(first, SymbolicTensor) and id(first.node) in new
        if not is_one or [(id(x.node), x.index) for x in flat] != [
            (id(first.node), i) for i in wanted
        ]:
            flat = list(tf.identity_n(flat)) if len(flat) > 1 else [tf.identity(first)]
        flat[0].node.name = self._names[name]
        return flat

    def _tensor(self, text: str, node: Node) -> Any:
        name, number = _split(text)
        if (name, number) in self._mapped:
            return self._mapped[name, number]
        found = self.results.get(name)
        if found is None or number >= len(found):
            raise DataLossError(
                None, None, f"{_WHAT}: {node.name!r} needs {text!r}, which is not in the graph."
            )
        return found[number]

    def element(self, text: str) -> Any:
        """A tensor, or an operation, by name."""
        name, number = _split(text)
        found = self.results.get(name)
        if found is None or number >= max(len(found), 1):
            raise ValueError(f"{_WHAT}: return_elements names {text!r}, which the graph lacks.")
        if ":" in text:
            return found[number]
        if not found or not isinstance(found[0], SymbolicTensor):
            raise ValueError(
                f"{_WHAT}: {text!r} is no operation of a graph here. Name one of its tensors, such "
                f"as {text + ':0'!r}."
            )
        return found[0].op


def import_graph_def(
    graph_def: Any,
    input_map: dict[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
    *,
    allow_io: bool = False,
) -> list[Any] | None:
    """Adds the nodes of a GraphDef to the graph that is being built; outside of one, runs them.

    Args:
      graph_def: a GraphDef: of `tf.Graph.as_graph_def`, of TensorFlow, or its bytes.
      input_map: tensors in the place of those of the graph, by name, such as "x" or "split:1".
      return_elements: names of what is to be returned: "x:0" is a tensor, "x" an operation.
      name: what goes in front of the names of nodes; None is "import", "" nothing.
      op_dict: accepted for compatibility.
      producer_op_list: accepted for compatibility.
      allow_io: whether ops that read and write files, or call Python, may be part of it.

    Returns:
      The elements that were asked for; None if none were.

    Raises:
      TypeError: if it is no GraphDef.
      ValueError: if names are not in the graph, or placeholders have no value.
      tf.errors.DataLossError: if the graph is damaged.
      UnsupportedError: if ops are missing in Weft; all of them are listed.

    >>> twice = tf.function(lambda x: x * 2.0)
    >>> graph = twice.get_concrete_function(tf.TensorSpec([None], name="x")).graph
    >>> graph_def = graph.as_graph_def()
    >>> x = tf.constant([1.0, 2.0])
    >>> tf.import_graph_def(graph_def, {"x": x}, [graph.outputs[0].name])[0].numpy()
    array([2., 4.], dtype=float32)
    """
    mapped = {
        key.decode() if isinstance(key, bytes) else str(key): tf.convert_to_tensor(value)
        for key, value in (input_map or {}).items()
    }
    prefix = "import" if name is None else name
    scope = tf.name_scope(prefix) if prefix else contextlib.nullcontext()
    try:
        made = _Import(_message(graph_def), mapped, allow_io)
        with scope:
            made.run()
    except ParseError as error:
        raise DataLossError(None, None, f"{_WHAT}: {error}") from None
    if return_elements is None:
        return None
    return [made.element(str(text)) for text in return_elements]
