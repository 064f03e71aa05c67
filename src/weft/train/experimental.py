"""`tf.train.experimental`."""

from weft._src.public.namespaces import open_namespace as _open_namespace
from weft._src.saving.python_state import PythonState
from weft._src.saving.sharding import (
    MaxShardSizePolicy,
    ShardableTensor,
    ShardByTaskPolicy,
    ShardingCallback,
)

__all__ = [
    "MaxShardSizePolicy",
    "PythonState",
    "ShardByTaskPolicy",
    "ShardableTensor",
    "ShardingCallback",
]

_open_namespace(__name__)
