"""`tf.experimental.extension_type`: functions of extension types."""

from weft._src.ops.extension.extension_type import as_dict
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = ["as_dict"]

_open_namespace(__name__)
