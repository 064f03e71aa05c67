"""`tf.profiler`: where the time of a program goes."""

from weft._src.public.namespaces import open_namespace as _open_namespace
from weft.profiler import experimental

__all__ = ["experimental"]

_open_namespace(__name__)
