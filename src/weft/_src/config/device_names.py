"""`tf.DeviceSpec`: the name of a device, part by part."""

from __future__ import annotations

import re
from typing import Any, Self

_PARTS = ("job", "replica", "task", "device_type", "device_index")
_PART = re.compile(
    r"/?(?:job:(?P<job>[^/]+)|replica:(?P<replica>\d+)|task:(?P<task>\d+)"
    r"|(?:device:)?(?P<device_type>[A-Za-z_]+)(?::(?P<device_index>\d+|\*))?)"
)
_TYPES = frozenset({"CPU", "GPU", "TPU", "TPU_SYSTEM", "XLA_CPU", "XLA_GPU"})


class DeviceSpec:
    """The name of a device: job, replica, task, type and number, of which any may be missing.

    >>> spec = tf.DeviceSpec(job="worker", task=1, device_type="GPU", device_index=2)
    >>> spec.to_string()
    '/job:worker/task:1/device:GPU:2'
    >>> spec.replace(task=3).task
    3
    """

    __slots__ = tuple(f"_{name}" for name in _PARTS)
    _job: str | None
    _replica: int | None
    _task: int | None
    _device_type: str | None
    _device_index: int | None

    def __init__(
        self,
        job: str | None = None,
        replica: int | None = None,
        task: int | None = None,
        device_type: str | None = None,
        device_index: int | None = None,
    ) -> None:
        self._job = None if job is None else str(job)
        self._replica = None if replica is None else int(replica)
        self._task = None if task is None else int(task)
        if device_type is None:
            self._device_type = None
        else:
            text = str(device_type)
            self._device_type = text.upper() if text.upper() in ("CPU", "GPU") else text
        self._device_index = None if device_index is None else int(device_index)

    @classmethod
    def from_string(cls, spec: str) -> Self:
        """A spec of the name of a device.

        Args:
          spec: such as "/job:worker/task:1/device:GPU:2" or "CPU:0".

        Returns:
          A `tf.DeviceSpec`.

        Raises:
          ValueError: if it is no such name.
        """
        if not isinstance(spec, str):
            raise TypeError(f"DeviceSpec.from_string: spec must be text, got {spec!r}.")
        found: dict[str, Any] = {}
        for part in filter(None, spec.split("/")):
            match = _PART.fullmatch(part)
            named = {} if match is None else {k: v for k, v in match.groupdict().items() if v}
            kind = named.get("device_type")
            bare = kind is not None and not part.startswith("device:")
            if not named or (bare and str(kind).upper() not in _TYPES):
                raise ValueError(f"DeviceSpec: {part!r} in {spec!r} is no part of a device's name.")
            if found.keys() & named.keys():
                raise ValueError(f"DeviceSpec: {spec!r} names something twice.")
            found.update(named)
        if found.get("device_index") == "*":
            del found["device_index"]
        return cls(**found)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """A spec of a name; this one stays as it is.

        Args:
          spec: such as "/job:worker/task:1/device:GPU:2".

        Returns:
          A `tf.DeviceSpec`.

        Raises:
          ValueError: if it is no such name.
        """
        return type(self).from_string(spec)

    @property
    def job(self) -> str | None:
        """The name of the job."""
        return self._job

    @property
    def replica(self) -> int | None:
        """The number of the replica."""
        return self._replica

    @property
    def task(self) -> int | None:
        """The number of the task."""
        return self._task

    @property
    def device_type(self) -> str | None:
        """Such as "CPU"."""
        return self._device_type

    @property
    def device_index(self) -> int | None:
        """The number of the device."""
        return self._device_index

    def _parts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _PARTS}

    def to_string(self) -> str:
        """The name as text.

        Returns:
          Such as "/job:worker/task:1/device:GPU:2"; what is missing is left out.
        """
        out = "".join(
            f"/{name}:{value}"
            for name, value in self._parts().items()
            if value is not None and not name.startswith("device")
        )
        if self.device_type is None:
            return out
        index = "*" if self.device_index is None else self.device_index
        return f"{out}/device:{self.device_type}:{index}"

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """This spec with all that another one knows in its place.

        Args:
          dev: the other one.

        Returns:
          A `tf.DeviceSpec`.
        """
        known = {name: value for name, value in dev._parts().items() if value is not None}
        return self.replace(**known)

    def replace(self, **kwargs: Any) -> DeviceSpec:
        """This spec with other parts.

        Args:
          **kwargs: job, replica, task, device_type or device_index.

        Returns:
          A `tf.DeviceSpec`.

        Raises:
          TypeError: if there is no such part.
        """
        return type(self)(**{**self._parts(), **kwargs})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(tuple(self._parts().values()))

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={value}" for name, value in self._parts().items())
        return f"<DeviceSpec({parts})>"
