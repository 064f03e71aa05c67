"""`tf.experimental.dlpack`: tensors for other libraries, and from them."""

from weft._src.experimental.dlpack import from_dlpack, to_dlpack
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = ["from_dlpack", "to_dlpack"]

_open_namespace(__name__)
