"""`tf.device` and `tf.get_logger`: what belongs to the machine and the process."""

from __future__ import annotations

import logging
import re

# "", "CPU:0", "/gpu:1", "/device:TPU:0", "/job:worker/replica:0/task:2/device:CPU:*"
_DEVICE = re.compile(
    r"/?(job:[A-Za-z]\w*)?(/?replica:(\d+|\*))?(/?task:(\d+|\*))?"
    r"(/?((device:\w+)|cpu|gpu|tpu|xla_cpu|xla_gpu)(:(\d+|\*))?)?",
    re.IGNORECASE,
)


class device:  # noqa: N801 - TensorFlow's name
    """A context for ops on a device. Weft computes on the CPU, so any valid name is accepted.

    >>> with tf.device("/CPU:0"):
    ...     print((tf.constant(1) + 1).device)
    /job:localhost/replica:0/task:0/device:CPU:0
    """

    def __init__(self, device_name: str | None) -> None:
        if callable(device_name):
            raise RuntimeError("tf.device takes the name of a device, not a function.")
        if device_name is not None and not isinstance(device_name, str):
            raise ValueError(f"tf.device: device_name must be a string, got {device_name!r}.")
        if device_name is not None and _DEVICE.fullmatch(device_name) is None:
            raise ValueError(
                f"tf.device: {device_name!r} is no device; names look like '/CPU:0' or "
                "'/job:worker/task:0/device:GPU:1'."
            )
        self._name = device_name

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc_info: object) -> None:
        return None


def get_logger() -> logging.Logger:
    """The logger that all messages of Weft go to.

    Returns:
      A `logging.Logger`, always the same.

    >>> tf.get_logger().name
    'weft'
    """
    return logging.getLogger("weft")
