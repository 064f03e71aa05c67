"""`tf.graph_util`: graphs as messages."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from weft._src.public.namespaces import open_namespace as _open_namespace

if _TYPE_CHECKING:
    from weft._src.saved_model.graph_imports import import_graph_def as import_graph_def

__all__ = ["import_graph_def"]

_open_namespace(__name__, lazy={"import_graph_def": "weft._src.saved_model.graph_imports"})
