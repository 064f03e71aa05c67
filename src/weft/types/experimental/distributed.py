"""`tf.types.experimental.distributed`: values of several replicas."""

from weft._src.distribute.per_replica import PerReplica
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = ["PerReplica"]

_open_namespace(__name__)
