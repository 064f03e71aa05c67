"""`tf.sets`: rows as sets."""

from weft._src.ops.sparse.sets import difference, intersection, size, union
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = ["difference", "intersection", "size", "union"]

_open_namespace(__name__)
