"""`tf.types`: the protocols that other classes can take part in."""

from weft._src.public.namespaces import open_namespace as _open_namespace
from weft.types import experimental

__all__ = ["experimental"]

_open_namespace(__name__)
