"""Devices: the CPU, which can have several names, and the GPUs that jax finds.

jax is asked only where it has been imported, or functions run on XLA: loading it takes a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from weft._src.core.flags import flags
from weft._src.execution.devices import count_gpus, names


class PhysicalDevice(NamedTuple):
    """A device of the machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device under the name that `tf.device` takes."""

    name: str
    device_type: str


class LogicalDeviceConfiguration(NamedTuple):
    """How one logical device is set up; the fields are accepted, and have no effect on the CPU.

    >>> tf.config.LogicalDeviceConfiguration().memory_limit is None
    True
    """

    memory_limit: Any = None
    experimental_priority: Any = None
    experimental_device_ordinal: Any = None


_CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")


class _Devices:
    """What has been set."""

    def __init__(self) -> None:
        self.configurations: tuple[LogicalDeviceConfiguration, ...] | None = None


_devices = _Devices()


def _is_wanted(device_type: Any, kind: str = "CPU") -> bool:
    if device_type is not None and not isinstance(device_type, str):
        raise TypeError(f"tf.config: device_type must be a string or None, got {device_type!r}.")
    return device_type in (None, kind)


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of the machine that Weft can use: the CPU, and GPUs where functions run on XLA.

    Args:
      device_type: the type that is wanted, such as "CPU" or "GPU"; None is every type.

    Returns:
      A list of the one CPU and of the GPUs that jax finds, if it is in use (imported by the
      program, or by `weft.config.execution = "xla"`).

    Raises:
      TypeError: if `device_type` is neither a string nor None.

    >>> tf.config.list_physical_devices("GPU")
    []
    """
    found = [_CPU] if _is_wanted(device_type) else []
    if _is_wanted(device_type, "GPU"):
        found += [PhysicalDevice(f"/physical_device:GPU:{i}", "GPU") for i in range(count_gpus())]
    return found


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The names of devices: one for the CPU, unless it was given more.

    Args:
      device_type: the type that is wanted, such as "CPU" or "GPU"; None is every type.

    Returns:
      A list with as many devices as `set_logical_device_configuration` was given, one if it was not
      called, and the GPUs of `list_physical_devices`.

    Raises:
      TypeError: if `device_type` is neither a string nor None.

    >>> tf.config.list_logical_devices()
    [LogicalDevice(name='/device:CPU:0', device_type='CPU')]
    """
    found = []
    if _is_wanted(device_type):
        found = [LogicalDevice(f"/device:CPU:{i}", "CPU") for i in range(names.cpus)]
    if _is_wanted(device_type, "GPU"):
        found += [LogicalDevice(f"/device:GPU:{i}", "GPU") for i in range(count_gpus())]
    return found


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that are used: the CPU.

    Args:
      device_type: the type that is wanted, such as "CPU" or "GPU"; None is every type.

    Returns:
      A list of the one CPU, or an empty one for any other type.

    Raises:
      TypeError: if `device_type` is neither a string nor None.

    >>> tf.config.get_visible_devices()
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    return list_physical_devices(device_type)


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Says which devices are to be used; the CPU must be among them if it is spoken of.

    Args:
      devices: one of `tf.config.list_physical_devices()`, or a list of them.
      device_type: the type that is spoken of; None is every type.

    Raises:
      ValueError: if one of the devices does not exist, or if the CPU is not to be used.
      TypeError: if `device_type` is neither a string nor None.

    >>> tf.config.set_visible_devices([], "GPU")
    """
    wanted = list(devices) if isinstance(devices, (list, tuple)) and devices != _CPU else [devices]
    for device in wanted:
        check_device(device)
    if _is_wanted(device_type) and not wanted:
        raise ValueError("tf.config.set_visible_devices: the CPU is needed; nothing else computes.")


def check_device(device: Any) -> None:
    """Raises ValueError unless it is a device of this machine."""
    if device == _CPU:  # without asking jax, which looks for devices once
        return
    there = list_physical_devices()
    if device not in there:
        raise ValueError(
            f"tf.config: {device!r} is no device; tf.config.list_physical_devices() gives {there}."
        )


def set_logical_device_configuration(device: Any, logical_devices: Any) -> None:
    """Gives a device several names, as many as there are configurations.

    Args:
      device: the CPU, from `tf.config.list_physical_devices()`.
      logical_devices: a list of `tf.config.LogicalDeviceConfiguration`, one for each name.

    Raises:
      ValueError: if there is no such device, or the list is empty or holds something else.

    >>> cpu = tf.config.list_physical_devices("CPU")[0]
    >>> one = tf.config.LogicalDeviceConfiguration()
    >>> tf.config.set_logical_device_configuration(cpu, [one, one])
    >>> [device.name for device in tf.config.list_logical_devices()]
    ['/device:CPU:0', '/device:CPU:1']
    >>> tf.config.set_logical_device_configuration(cpu, [one])
    """
    check_device(device)
    if device != _CPU:
        raise ValueError(
            f"tf.config.set_logical_device_configuration: {device!r} is one device; the CPU alone "
            "can have several names."
        )
    given: Sequence[Any] = logical_devices if isinstance(logical_devices, (list, tuple)) else ()
    if not given or not all(isinstance(item, LogicalDeviceConfiguration) for item in given):
        raise ValueError(
            "tf.config.set_logical_device_configuration: logical_devices must be a list of "
            f"tf.config.LogicalDeviceConfiguration, got {logical_devices!r}."
        )
    _devices.configurations = tuple(given)
    names.cpus = len(given)


def get_logical_device_configuration(device: Any) -> list[LogicalDeviceConfiguration] | None:
    """What `set_logical_device_configuration` has set for a device, None if nothing was.

    Args:
      device: the CPU, from `tf.config.list_physical_devices()`.

    Returns:
      A list of `tf.config.LogicalDeviceConfiguration`, or None.

    Raises:
      ValueError: if there is no such device.

    >>> cpu = tf.config.list_physical_devices("CPU")[0]
    >>> len(tf.config.get_logical_device_configuration(cpu) or [1])
    1
    """
    check_device(device)
    return None if _devices.configurations is None else list(_devices.configurations)


def set_soft_device_placement(enabled: bool) -> None:
    """Whether the CPU takes what a device of `tf.device` cannot run, or is not there for.

    Args:
      enabled: whether it does; else that is an InvalidArgumentError.

    >>> tf.config.set_soft_device_placement(False)
    >>> with tf.device("/GPU:7"):
    ...     tf.zeros([2])
    Traceback (most recent call last):
    ...
    weft.errors.InvalidArgumentError: tf.device: there is no device /device:GPU:7; ...
    >>> tf.config.set_soft_device_placement(True)
    """
    flags.soft_placement = bool(enabled)


def get_soft_device_placement() -> bool:
    """What `set_soft_device_placement` has set.

    Returns:
      A bool; True if nothing was set.

    >>> tf.config.get_soft_device_placement()
    True
    """
    return flags.soft_placement
