"""`tf.autograph`: Python control flow on tensors becomes graph control flow."""

from weft._src.autograph.api import set_verbosity, to_code, to_graph, trace
from weft._src.public.namespaces import open_namespace as _open_namespace
from weft.autograph import experimental

__all__ = ["experimental", "set_verbosity", "to_code", "to_graph", "trace"]

_open_namespace(__name__)
