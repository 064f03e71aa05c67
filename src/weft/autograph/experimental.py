"""`tf.autograph.experimental`."""

from weft._src.autograph.experimental import Feature, do_not_convert, set_loop_options
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = ["Feature", "do_not_convert", "set_loop_options"]

_open_namespace(__name__)
