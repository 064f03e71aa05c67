"""`tf.config.optimizer`: whether functions become machine code."""

from weft._src.config.optimizer import get_jit, set_jit
from weft._src.config.policies import get_experimental_options, set_experimental_options
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = [
    "get_experimental_options",
    "get_jit",
    "set_experimental_options",
    "set_jit",
]

_open_namespace(__name__)
