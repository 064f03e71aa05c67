"""Which meshes of devices a graph has to do with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weft._src.core.placed import MeshHandle, MeshTensor
from weft._src.graph.ir import Graph
from weft._src.ops.arrays.relayout import relayout_op


def meshes_of(graph: Graph) -> list[Any]:
    """The meshes that a graph names, and those of what it captures; each once."""
    found: list[Any] = []
    for mesh in (*_captured_meshes(graph), *_named_meshes(graph)):
        if mesh not in found:
            found.append(mesh)
    return found


def _captured_meshes(graph: Graph) -> Iterator[Any]:
    for outer, _ in graph.captures:
        mesh = mesh_of(outer)
        if mesh is not None:
            yield mesh


def _named_meshes(graph: Graph) -> Iterator[Any]:
    for node in graph.body:
        if node.op is relayout_op:
            yield node.attrs["layout"].mesh
        for _, inner in node.nested:
            yield from _named_meshes(inner)


def mesh_of(tensor: Any) -> Any:
    """The mesh that a tensor or the handle of a variable belongs to; None for any other."""
    if isinstance(tensor, MeshTensor):
        return tensor.mesh
    if isinstance(tensor, MeshHandle):
        return tensor._value.layout.mesh
    return None
