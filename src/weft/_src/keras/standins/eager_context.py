"""`tensorflow.python.eager.context`: Keras waits for ops that run in the background (there are none
in Weft), and empties the cache of kernels in `clear_session` (there is none).
"""

from __future__ import annotations


class _Context:
    def clear_kernel_cache(self) -> None:
        """Eager ops are called where they are; nothing is cached."""


def context() -> _Context:
    """The context of eager ops."""
    return _Context()


def async_wait() -> None:
    """Every op has run when its call has returned."""


def _reset_context() -> None:
    """What tests of Keras call before they say how many devices the CPU is; that is never fixed."""
