"""`tf.lookup`: tables from keys to values."""

from weft._src.lookup.initializers import (
    KeyValueTensorInitializer,
    TextFileIndex,
    TextFileInitializer,
)
from weft._src.lookup.static import StaticHashTable, StaticVocabularyTable
from weft._src.public.namespaces import open_namespace as _open_namespace
from weft.lookup import experimental

__all__ = [
    "KeyValueTensorInitializer",
    "StaticHashTable",
    "StaticVocabularyTable",
    "TextFileIndex",
    "TextFileInitializer",
    "experimental",
]

_open_namespace(__name__)
