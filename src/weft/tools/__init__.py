"""`weft.tools`: pictures of graphs."""

from weft._src.public.namespaces import open_namespace as _open_namespace
from weft.tools import drawing

__all__ = ["drawing"]

_open_namespace(__name__)
