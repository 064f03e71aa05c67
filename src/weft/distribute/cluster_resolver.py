"""`tf.distribute.cluster_resolver`: who the workers of a job are."""

from weft._src.distribute.resolvers import (
    ClusterResolver,
    SimpleClusterResolver,
    SlurmClusterResolver,
    TFConfigClusterResolver,
)
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = [
    "ClusterResolver",
    "SimpleClusterResolver",
    "SlurmClusterResolver",
    "TFConfigClusterResolver",
]

_open_namespace(__name__)
