"""`tf.config.threading`: how many threads share the work."""

from __future__ import annotations

import operator
from typing import Any

from weft._src.core.flags import flags

_between_ops = [0]


def _count(value: Any) -> int:
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(
            f"tf.config.threading: num_threads must be an int, got {value!r}."
        ) from None
    if count < 0:
        raise ValueError(f"tf.config.threading: num_threads must not be negative, got {count}.")
    return count


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """How many threads share a large loop of machine code; 0 is one per processor.

    Args:
      num_threads: the number of threads.

    Raises:
      TypeError: if it is no integer.
      ValueError: if it is negative.

    >>> tf.config.threading.set_intra_op_parallelism_threads(0)
    """
    flags.threads = _count(num_threads)


def get_intra_op_parallelism_threads() -> int:
    """How many threads share a large loop; 0 is one per processor.

    Returns:
      What `set_intra_op_parallelism_threads` has set; 0 at first.

    >>> tf.config.threading.get_intra_op_parallelism_threads()
    0
    """
    return flags.threads


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """How many ops may run at a time: remembered. Weft runs the ops of a graph in order.

    Args:
      num_threads: the number that `get_inter_op_parallelism_threads` is to give.

    Raises:
      TypeError: if it is no integer.
      ValueError: if it is negative.

    >>> tf.config.threading.set_inter_op_parallelism_threads(0)
    """
    _between_ops[0] = _count(num_threads)


def get_inter_op_parallelism_threads() -> int:
    """What `set_inter_op_parallelism_threads` has set.

    Returns:
      The number; 0 at first.

    >>> tf.config.threading.get_inter_op_parallelism_threads()
    0
    """
    return _between_ops[0]
