"""`tf.compat.v1`: building graphs by hand, as far as that is still of use."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from weft._src.autodiff.gradients import gradients, hessians
from weft._src.compat.dimensions import Dimension
from weft._src.compat.v1 import (
    enable_eager_execution,
    enable_v2_behavior,
    get_default_graph,
    placeholder,
    reset_default_graph,
    sparse_placeholder,
    where,
)
from weft._src.core.context import executing_eagerly
from weft._src.graph.ir import Graph
from weft._src.graph.names import name_scope
from weft._src.messages.events import SummaryMetadata
from weft._src.messages.graphs import GraphDef
from weft._src.ops.control.branch import case, cond
from weft._src.ops.control.loop import while_loop
from weft._src.public.namespaces import open_namespace as _open_namespace
from weft.compat.v1 import logging

if _TYPE_CHECKING:
    from weft._src.saved_model.graph_imports import import_graph_def as import_graph_def

__all__ = [
    "Dimension",
    "Graph",
    "GraphDef",
    "SummaryMetadata",
    "case",
    "cond",
    "enable_eager_execution",
    "enable_v2_behavior",
    "executing_eagerly",
    "get_default_graph",
    "gradients",
    "hessians",
    "import_graph_def",
    "logging",
    "name_scope",
    "placeholder",
    "reset_default_graph",
    "sparse_placeholder",
    "where",
    "while_loop",
]

_open_namespace(__name__, lazy={"import_graph_def": "weft._src.saved_model.graph_imports"})
