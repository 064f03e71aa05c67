"""Settings of the whole program; public as `tf.config`."""

from __future__ import annotations

import os
from typing import Any as _Any

from weft.config import (
    experimental as experimental,
    optimizer as optimizer,
    threading as threading,
)
from weft.config.devices import (
    LogicalDevice as LogicalDevice,
    LogicalDeviceConfiguration as LogicalDeviceConfiguration,
    PhysicalDevice as PhysicalDevice,
    get_logical_device_configuration as get_logical_device_configuration,
    get_soft_device_placement as get_soft_device_placement,
    get_visible_devices as get_visible_devices,
    list_logical_devices as list_logical_devices,
    list_physical_devices as list_physical_devices,
    set_logical_device_configuration as set_logical_device_configuration,
    set_soft_device_placement as set_soft_device_placement,
    set_visible_devices as set_visible_devices,
)
from weft.config.flags import flags as flags
from weft.errors import _missing_name

# Which tier runs functions: "auto" (NumPy first, machine code when it is worth it), "numpy",
# "native" (compiled at the first call), or "verify" (every call also runs natively and on the
# reference interpreter, and their difference is an error). Set it as
# `weft.config.execution = "numpy"`.
execution = os.environ.get("WEFT_EXECUTION", "auto")


def execution_wanted() -> str:
    """The tier that is set, checked."""
    if execution not in ("auto", "numpy", "native", "verify"):
        raise ValueError(
            "weft.config.execution must be 'auto', 'numpy', 'native' or 'verify', got "
            f"{execution!r}."
        )
    return execution


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Makes calls of a `tf.function` run its Python body itself, for debugging.

    >>> tf.config.run_functions_eagerly(True)
    >>> tf.config.functions_run_eagerly()
    True
    >>> tf.config.run_functions_eagerly(False)
    """
    flags.set_run_functions_eagerly(bool(run_eagerly))


def functions_run_eagerly() -> bool:
    """Whether functions run their Python body itself.

    >>> tf.config.functions_run_eagerly()
    False
    """
    return flags.run_functions_eagerly


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
