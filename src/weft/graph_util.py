"""`tf.graph_util`: graphs as messages."""

from weft._src.public.namespaces import open_namespace as _open_namespace
from weft._src.saved_model.graph_imports import import_graph_def

__all__ = ["import_graph_def"]

_open_namespace(__name__)
