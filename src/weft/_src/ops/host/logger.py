"""`tf.get_logger`."""

from __future__ import annotations

import logging


def get_logger() -> logging.Logger:
    """The logger that all messages of Weft go to.

    Returns:
      A `logging.Logger`, always the same.

    >>> tf.get_logger().name
    'weft'
    """
    return logging.getLogger("weft")
