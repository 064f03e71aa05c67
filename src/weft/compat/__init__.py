"""`tf.compat`: strings in the form one wants, and names of TensorFlow 1."""

from weft._src.compat.text import as_bytes, as_str, as_str_any, as_text
from weft._src.public.namespaces import open_namespace as _open_namespace
from weft.compat import v1

__all__ = ["as_bytes", "as_str", "as_str_any", "as_text", "v1"]

_open_namespace(__name__)
