"""`tf.test.experimental`."""

from weft._src.public.namespaces import open_namespace as _open_namespace
from weft._src.testing.benchmarks import sync_devices

__all__ = ["sync_devices"]

_open_namespace(__name__)
