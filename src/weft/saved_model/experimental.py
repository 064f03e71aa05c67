"""`tf.saved_model.experimental`."""

from weft._src.lookup.base import TrackableResource
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = ["TrackableResource"]

_open_namespace(__name__)
