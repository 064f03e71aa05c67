"""`tf.debugging.experimental`: says what to use instead of TensorFlow's debugger."""

from weft._src.config.policies import disable_dump_debug_info, enable_dump_debug_info
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = ["disable_dump_debug_info", "enable_dump_debug_info"]

_open_namespace(__name__)
