"""`tf.lookup.experimental`: tables whose content changes."""

from weft._src.lookup.mutable import DenseHashTable, MutableHashTable
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = ["DenseHashTable", "MutableHashTable"]

_open_namespace(__name__)
