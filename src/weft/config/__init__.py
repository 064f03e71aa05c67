"""`tf.config`: settings of the whole program; `execution` says which tier runs functions."""

import sys as _sys

from weft._src.config.devices import (
    LogicalDevice,
    LogicalDeviceConfiguration,
    PhysicalDevice,
    get_logical_device_configuration,
    get_soft_device_placement,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    set_logical_device_configuration,
    set_soft_device_placement,
    set_visible_devices,
)
from weft._src.config.execution import (
    ConfigModule as _ConfigModule,
    functions_run_eagerly,
    functions_run_eagerly as experimental_functions_run_eagerly,
    run_functions_eagerly,
    run_functions_eagerly as experimental_run_functions_eagerly,
)
from weft._src.public.namespaces import open_namespace as _open_namespace
from weft.config import experimental, optimizer, threading

__all__ = [
    "LogicalDevice",
    "LogicalDeviceConfiguration",
    "PhysicalDevice",
    "execution",
    "experimental",
    "experimental_functions_run_eagerly",
    "experimental_run_functions_eagerly",
    "functions_run_eagerly",
    "get_logical_device_configuration",
    "get_soft_device_placement",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "optimizer",
    "run_functions_eagerly",
    "set_logical_device_configuration",
    "set_soft_device_placement",
    "set_visible_devices",
    "threading",
]

_sys.modules[__name__].__class__ = _ConfigModule
_open_namespace(__name__)
