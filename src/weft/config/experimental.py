"""`tf.config.experimental`: determinism, and older names of what stands in `tf.config`."""

from __future__ import annotations

from typing import Any as _Any

from weft.config.devices import (
    LogicalDeviceConfiguration as VirtualDeviceConfiguration,
    get_logical_device_configuration as get_virtual_device_configuration,
    get_visible_devices as get_visible_devices,
    list_logical_devices as list_logical_devices,
    list_physical_devices as list_physical_devices,
    set_logical_device_configuration as set_virtual_device_configuration,
    set_visible_devices as set_visible_devices,
)
from weft.config.flags import flags as _flags
from weft.errors import _missing_name

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


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
