"""What `tf.config.experimental` says of the memory of devices: that of this process, on the CPU."""

from __future__ import annotations

import re
import resource
import sys
from typing import Any

from weft._src.config.devices import PhysicalDevice, check_device
from weft._src.errors import UnsupportedError

_CPU = re.compile(r"(/device:)?cpu(:\d+)?", re.IGNORECASE)


def _check_name(op: str, device: PhysicalDevice | str) -> None:
    if not isinstance(device, str) or not _CPU.fullmatch(device):
        raise ValueError(f"{op}: there is no device {device!r}; Weft computes on 'CPU:0'.")


def _status() -> dict[str, int]:
    """What the system says of this process, in bytes; empty where it has no such file."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            lines = re.findall(r"^(Vm\w+):\s+(\d+) kB", file.read(), re.MULTILINE)
    except OSError:
        return {}
    return {name: int(number) * 1024 for name, number in lines}


def get_memory_info(device: str) -> dict[str, int]:
    """How much memory this process uses, and the most it has used.

    Args:
      device: "CPU:0".

    Returns:
      A dict with "current" and "peak", in bytes: that of the whole process, since arrays on the
      CPU have no allocator of their own.

    Raises:
      ValueError: if there is no such device.

    >>> found = tf.config.experimental.get_memory_info("CPU:0")
    >>> 0 < found["current"] <= found["peak"]
    True
    """
    _check_name("get_memory_info", device)
    status = _status()
    unit = 1 if sys.platform == "darwin" else 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    current = status.get("VmRSS", most)
    return {"current": current, "peak": max(current, status.get("VmHWM", most))}


def get_memory_usage(device: str) -> int:
    """How much memory this process uses, in bytes; an older form of `get_memory_info`.

    Args:
      device: "CPU:0".

    Returns:
      The number of bytes.

    Raises:
      ValueError: if there is no such device.

    >>> tf.config.experimental.get_memory_usage("CPU:0") > 0
    True
    """
    _check_name("get_memory_usage", device)
    return get_memory_info(device)["current"]


def reset_memory_stats(device: str) -> None:
    """Lets `get_memory_info` forget the most that was used until now.

    Args:
      device: "CPU:0".

    Raises:
      ValueError: if there is no such device.
      UnsupportedError: if the system does not let a process do that; Linux does.

    >>> tf.config.experimental.reset_memory_stats  # changes what the system counts
    <function reset_memory_stats at ...>
    """
    _check_name("reset_memory_stats", device)
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError as error:
        raise UnsupportedError(
            f"reset_memory_stats: this system does not let a process reset its peak: {error}. Take "
            "the difference of two calls of get_memory_info instead."
        ) from error


def get_memory_growth(device: PhysicalDevice | str) -> bool:
    """Whether a GPU takes memory as it needs it; there is none.

    Args:
      device: a device of `tf.config.list_physical_devices()`.

    Raises:
      ValueError: always, as no device of Weft has such a setting.

    Returns:
      Nothing: it always raises.

    >>> tf.config.experimental.get_memory_growth(tf.config.list_physical_devices()[0])
    Traceback (most recent call last):
    ...
    ValueError: get_memory_growth: ...
    """
    check_device(device)
    raise ValueError(_no_growth("get_memory_growth", device))


def set_memory_growth(device: PhysicalDevice | str, enable: bool) -> None:
    """Says whether a GPU takes memory as it needs it; there is none.

    Args:
      device: a device of `tf.config.list_physical_devices()`.
      enable: what to set.

    Raises:
      ValueError: always, as no device of Weft has such a setting.

    >>> for gpu in tf.config.list_physical_devices("GPU"):  # none
    ...     tf.config.experimental.set_memory_growth(gpu, True)
    """
    check_device(device)
    raise ValueError(_no_growth("set_memory_growth", device))


def _no_growth(op: str, device: PhysicalDevice | str) -> str:
    name = getattr(device, "name", device)
    return f"{op}: {name} is no GPU; the CPU takes memory as it needs it."


def get_device_details(device: PhysicalDevice | str) -> dict[str, Any]:
    """What is known of a device: nothing, for a CPU.

    Args:
      device: a device of `tf.config.list_physical_devices()`.

    Returns:
      An empty dict.

    Raises:
      ValueError: if there is no such device.

    >>> tf.config.experimental.get_device_details(tf.config.list_physical_devices()[0])
    {}
    """
    check_device(device)
    return {}
