"""`tf.config.experimental`: determinism, and older names of what stands in `tf.config`."""

from __future__ import annotations

from weft._src.config.devices import (
    LogicalDeviceConfiguration as VirtualDeviceConfiguration,
    get_logical_device_configuration as get_virtual_device_configuration,
    set_logical_device_configuration as set_virtual_device_configuration,
)
from weft._src.core.flags import flags as _flags

__all__ = [
    "VirtualDeviceConfiguration",
    "get_virtual_device_configuration",
    "set_virtual_device_configuration",
]


def enable_op_determinism() -> None:
    """From now on the same program with the same seeds gives exactly the same numbers.

    Every call of a function runs the same code then, and random ops need a seed.

    >>> tf.config.experimental.enable_op_determinism
    <function enable_op_determinism at ...>
    """
    _flags.deterministic = True


def enable_strict_mode() -> None:
    """Warnings about what is deprecated would be errors from now on; Weft has none.

    >>> tf.experimental.enable_strict_mode()
    """
