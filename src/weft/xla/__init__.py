"""`tf.xla`: compiling pieces of a program, by TensorFlow's names."""

from weft._src.public.namespaces import open_namespace as _open_namespace
from weft.xla import experimental

__all__ = ["experimental"]

_open_namespace(__name__)
