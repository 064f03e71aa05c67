"""`tf.summary.experimental`."""

from weft._src.public.namespaces import open_namespace as _open_namespace
from weft._src.summary.recording import get_step, set_step
from weft._src.summary.writing import summary_scope, write_raw_pb

__all__ = ["get_step", "set_step", "summary_scope", "write_raw_pb"]

_open_namespace(__name__)
