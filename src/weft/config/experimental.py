"""`tf.config.experimental`: determinism, and older names of what stands in `tf.config`."""

from weft._src.config.devices import (
    LogicalDeviceConfiguration as VirtualDeviceConfiguration,
    get_logical_device_configuration as get_virtual_device_configuration,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    set_logical_device_configuration as set_virtual_device_configuration,
    set_visible_devices,
)
from weft._src.config.experimental import enable_op_determinism
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = [
    "VirtualDeviceConfiguration",
    "enable_op_determinism",
    "get_virtual_device_configuration",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "set_virtual_device_configuration",
    "set_visible_devices",
]

_open_namespace(__name__)
