"""`tf.queue`: queues of tensors between threads."""

from weft._src.public.namespaces import open_namespace as _open_namespace
from weft._src.state.queues import (
    FIFOQueue,
    PaddingFIFOQueue,
    PriorityQueue,
    QueueBase,
    RandomShuffleQueue,
)

__all__ = ["FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "QueueBase", "RandomShuffleQueue"]

_open_namespace(__name__)
