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
from weft._src.config.memory import (
    get_device_details,
    get_memory_growth,
    get_memory_info,
    get_memory_usage,
    reset_memory_stats,
    set_memory_growth,
)
from weft._src.config.policies import (
    enable_tensor_float_32_execution,
    get_device_policy,
    get_synchronous_execution,
    set_device_policy,
    set_synchronous_execution,
    tensor_float_32_execution_enabled,
)
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = [
    "VirtualDeviceConfiguration",
    "enable_op_determinism",
    "enable_tensor_float_32_execution",
    "get_device_details",
    "get_device_policy",
    "get_memory_growth",
    "get_memory_info",
    "get_memory_usage",
    "get_synchronous_execution",
    "get_virtual_device_configuration",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "reset_memory_stats",
    "set_device_policy",
    "set_memory_growth",
    "set_synchronous_execution",
    "set_virtual_device_configuration",
    "set_visible_devices",
    "tensor_float_32_execution_enabled",
]

_open_namespace(__name__)
