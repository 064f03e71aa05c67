"""Graphs as GraphDefs with TensorFlow's ops: what `tf.Graph.as_graph_def` gives."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Any

import numpy as np

from weft._src.core.aliases import PathLike
from weft._src.core.dtypes import DType
from weft._src.fileio.paths import file_errors, path_text
from weft._src.graph.ir import Graph, Node
from weft._src.messages.graphs import (
    AttrValue,
    FunctionDefLibrary,
    GraphDef,
    NodeDef,
    VersionDef,
)
from weft._src.ops.graph_forms import sizes_of
from weft._src.saved_model.exporting import Body, Functions, Written, attribute, plain_name
from weft._src.saved_model.main_graph import PRODUCER


def as_graph_def(graph: Graph, *, add_shapes: bool = False) -> GraphDef:
    """The graph with TensorFlow's ops. One that has no form there keeps its own name."""
    functions = _AnyFunctions()
    body = _GraphBody(functions, graph, add_shapes=add_shapes)
    body.write()
    return GraphDef(
        node=body.nodes,
        library=FunctionDefLibrary(function=functions.definitions),
        versions=VersionDef(producer=PRODUCER),
    )


class _AnyFunctions(Functions):
    """Functions in which ops without a form stand under the names they have in Weft."""

    def without_form(self, body: Body, node: Node, why: str) -> list[Written]:
        return body.foreign(node, {key: _shown(value) for key, value in node.attrs.items()})


def _shown(value: Any) -> AttrValue:
    """An attribute that no op of TensorFlow's has, for people and tools that draw graphs."""
    if isinstance(value, bool):
        return attribute("bool", value)
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return attribute("int", value)
    if isinstance(value, float):
        return attribute("float", value)
    if isinstance(value, DType):
        return attribute("type", value)
    return attribute("string", value if isinstance(value, str) else repr(value))


class _GraphBody(Body):
    """A graph that is no function: inputs are placeholders, and outputs have numbers."""

    def __init__(self, functions: Functions, graph: Graph, *, add_shapes: bool) -> None:
        super().__init__(functions, graph)
        self._add_shapes = add_shapes

    def write(self) -> None:
        """Writes all nodes."""
        body = {id(node) for node in self.graph.body}
        for node in [node for node in self.graph.nodes if id(node) not in body]:
            (out,) = node.outputs
            name = self._unique(node.name)
            made = NodeDef(name=name, op="Placeholder")
            made.attr["dtype"].CopyFrom(attribute("type", out.dtype))
            made.attr["shape"].CopyFrom(attribute("shape", sizes_of(out.spec.dims)))
            self._shape(made, node)
            self.nodes.append(made)
            self.known[id(out)] = Written(f"{name}:output:0", out.spec)
            self.places[name] = {"output:0": 0}
        self.write_nodes()
        for made in self.nodes:
            made.input[:] = [self._numbered(text) for text in made.input]

    def named(self, node: Node, made: list[Written], written: list[NodeDef]) -> list[Written]:
        """The results under the names that tensors of Weft have."""
        made = super().named(node, made, written)
        name = plain_name(node.name)
        wanted = [f"{name}:{i}" if i else name for i in range(len(made))]
        if made and [self._numbered(x.text) for x in made] != wanted:
            before = len(self.nodes)
            results = (
                self.add("IdentityN", made) if len(made) > 1 else [self.add("Identity", *made)]
            )
            written = self.nodes[before:]
            made = super().named(node, list(results), written)
        for one in written:
            if one.name == name:
                self._shape(one, node)
        return made

    def _shape(self, made: NodeDef, node: Node) -> None:
        if self._add_shapes:
            shapes = [sizes_of(out.spec.dims) for out in node.outputs]
            made.attr["_output_shapes"].CopyFrom(attribute("list(shape)", shapes))

    def _numbered(self, text: str) -> str:
        name, colon, rest = text.partition(":")
        number = self.places[name][rest] if colon else 0
        return f"{name}:{number}" if number else name


def write_graph(graph_or_graph_def: Any, logdir: PathLike, name: str, as_text: bool = True) -> str:
    """Writes a graph into a file, which TensorFlow and `tf.import_graph_def` read.

    Args:
      graph_or_graph_def: a `tf.Graph` or a GraphDef.
      logdir: the folder, which is made if it is not there.
      name: the name of the file.
      as_text: whether the file is text; otherwise it is the serialized GraphDef.

    Returns:
      The path of the file.

    Raises:
      TypeError: if it is neither a graph nor a GraphDef, or `as_text` no bool.
      tf.errors.OpError: if the file cannot be written.

    >>> concrete = tf.function(lambda x: x + 1.0).get_concrete_function(tf.TensorSpec([]))
    >>> tf.io.write_graph(concrete.graph, "graphs", "plus.pbtxt")
    'graphs/plus.pbtxt'
    """
    definition = graph_or_graph_def
    if isinstance(definition, Graph):
        definition = as_graph_def(definition)
    if not hasattr(definition, "SerializeToString"):
        raise TypeError(
            f"tf.io.write_graph: a tf.Graph or a GraphDef is expected, got {definition!r}."
        )
    if not isinstance(as_text, (bool, np.bool_)):
        raise TypeError(f"tf.io.write_graph: as_text must be True or False, got {as_text!r}.")
    folder = path_text("tf.io.write_graph", logdir)
    path = os.path.join(folder, name)
    data = str(definition).encode() if as_text else definition.SerializeToString()
    temporary = f"{path}.tmp-{uuid.uuid4().hex[:12]}"
    with file_errors("tf.io.write_graph", path):
        os.makedirs(folder, exist_ok=True)
        Path(temporary).write_bytes(data)
        os.replace(temporary, path)
    return path
