"""`tf.compat`: strings in the form one wants, and names of TensorFlow 1; 2 is Weft itself."""

import weft as v2
from weft._src.compat.dimensions import dimension_at_index, dimension_value
from weft._src.compat.text import as_bytes, as_str, as_str_any, as_text
from weft._src.public.namespaces import open_namespace as _open_namespace
from weft.compat import v1

__all__ = [
    "as_bytes",
    "as_str",
    "as_str_any",
    "as_text",
    "dimension_at_index",
    "dimension_value",
    "v1",
    "v2",
]

_open_namespace(__name__)
