"""`tf.xla.experimental`: functions and scopes that are compiled."""

from weft._src.function.compiled_scopes import compile, jit_scope
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = ["compile", "jit_scope"]

_open_namespace(__name__)
