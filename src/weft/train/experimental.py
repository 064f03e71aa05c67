"""`tf.train.experimental`."""

from weft._src.public.namespaces import open_namespace as _open_namespace
from weft._src.saving.python_state import PythonState

__all__ = ["PythonState"]

_open_namespace(__name__)
