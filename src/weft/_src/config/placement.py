"""`tf.device`: where ops run, and variables live."""

from __future__ import annotations

from typing import Any

from weft._src.config.device_names import DeviceSpec
from weft._src.config.devices import LogicalDevice
from weft._src.core.context import HOST, set_device, state
from weft._src.errors import InvalidArgumentError
from weft._src.execution import placement as placement  # runs what is called in a scope
from weft._src.execution.devices import place_of
from weft._src.graph.older_methods import OlderMethods


class device:  # noqa: N801 - TensorFlow's name
    """A context: ops inside run on a device, and variables that are made inside live there.

    Parts that a name leaves out are those of the scope around it; None leaves all of that. A
    function that is called inside runs there, but for what it places itself. If there is no such
    device, or it cannot run something, the CPU does, unless
    `tf.config.set_soft_device_placement(False)` makes that an error.

    GPUs are those that jax finds; looking for them imports it. Further names of the CPU
    (`tf.config.set_logical_device_configuration`) are just names, unless functions run on XLA
    (`weft.config.execution = "xla"`): then each is a device of its own, as a GPU is.

    >>> with tf.device("/CPU:0"):
    ...     print((tf.constant(1) + 1).device)
    /job:localhost/replica:0/task:0/device:CPU:0
    """

    def __init__(self, device_name: str | DeviceSpec | LogicalDevice | None) -> None:
        self._spec = None if device_name is None else _spec_of(device_name)
        self._outer: list[tuple[str | None, bool]] = []

    def __enter__(self) -> None:
        self._outer.append((state.device, state.is_elsewhere))
        if self._spec is None:
            set_device(None, False)
            return
        spec = self._spec
        if state.device is not None:
            spec = DeviceSpec.from_string(state.device).make_merged_spec(spec)
        name = spec.to_string()
        if not name:  # nothing is said
            return
        set_device(name, _is_elsewhere(name))

    def __exit__(self, *exc_info: object) -> None:
        set_device(*self._outer.pop())


def _spec_of(given: Any) -> DeviceSpec:
    if isinstance(given, DeviceSpec):
        return given
    if callable(given):
        raise RuntimeError("tf.device takes the name of a device, not a function.")
    name = given.name if isinstance(given, LogicalDevice) else given
    if not isinstance(name, str):
        raise ValueError(f"tf.device: device_name must be a string, got {name!r}.")
    try:
        return DeviceSpec.from_string(name.replace("/replica:*", "").replace("/task:*", ""))
    except ValueError:
        raise ValueError(
            f"tf.device: {name!r} is no device; names look like '/CPU:0' or "
            "'/job:worker/task:0/device:GPU:1'."
        ) from None


def _is_elsewhere(name: str) -> bool:
    """Whether the dispatcher has to think about where ops run."""
    try:
        return place_of(name).name != HOST
    except InvalidArgumentError:  # the first op says so, as in TensorFlow
        return True


OlderMethods.device_scope = device
