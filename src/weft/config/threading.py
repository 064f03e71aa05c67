"""`tf.config.threading`: how many threads share the work."""

from weft._src.config.threads import (
    get_inter_op_parallelism_threads,
    get_intra_op_parallelism_threads,
    set_inter_op_parallelism_threads,
    set_intra_op_parallelism_threads,
)
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = [
    "get_inter_op_parallelism_threads",
    "get_intra_op_parallelism_threads",
    "set_inter_op_parallelism_threads",
    "set_intra_op_parallelism_threads",
]

_open_namespace(__name__)
