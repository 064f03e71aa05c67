"""Whether there is a jax to work with, and the settings under which Weft uses it."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from weft._src.errors import UnavailableError, UnimplementedError
from weft._src.execution import devices
from weft._src.execution.native.machine import cache

_INSTALL = "Install it with: pip install 'weft[xla]'"


def require(wanted_by: str) -> None:
    """UnimplementedError unless jax is installed; `wanted_by` says who asks for it."""
    if importlib.util.find_spec("jax") is None:
        raise UnimplementedError(
            None, None, f"{wanted_by} needs the package jax, which is not installed. {_INSTALL}"
        )


@functools.cache
def _jax() -> Any:
    """The module, set up: programs that took long to compile are kept beside Weft's own code."""
    import jax

    if devices.names.cpus > 1:  # each is a device; jax looks for them when it is used first
        with contextlib.suppress(RuntimeError):
            jax.config.update("jax_num_cpu_devices", devices.names.cpus)
    folder, config = cache.folder(), jax.config
    if folder is not None and getattr(config, "jax_compilation_cache_dir") is None:  # noqa: B009
        config.update("jax_compilation_cache_dir", str(folder / "xla"))
        config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
    return jax


def count_gpus() -> int:
    """How many GPUs jax finds; 0 without jax."""
    if "jax" not in sys.modules and importlib.util.find_spec("jax") is None:
        return 0
    return sum(device.platform == "gpu" for device in _jax().devices())


def device(kind: str, index: int) -> Any:
    """The device of jax of a kind ("cpu" or "gpu") and a number, among those of this process."""
    return _jax().local_devices(backend=kind)[index]


def device_of(name: str) -> Any:
    """The device of jax that has a full name, such as ".../device:GPU:1"."""
    kind, _, number = name.rpartition("/device:")[2].partition(":")
    return device(kind.lower(), int(number or 0))


def usual_device() -> Any:
    """The device of jax that programs run on of which nothing is said."""
    return _jax().local_devices()[0]


def provide_devices(count: int) -> None:
    """Has jax make several devices of a CPU; UnavailableError if it is too late for that."""
    jax = _jax()
    with contextlib.suppress(RuntimeError):  # which says that jax has been used already
        jax.config.update("jax_num_cpu_devices", count)
    there = len(jax.local_devices(backend="cpu"))
    if there < count:
        raise UnavailableError(
            None,
            None,
            f"jax makes {there} devices of the CPU, and {count} are wanted. It looks for devices "
            "once, when it is used first: before that, call "
            "tf.config.set_logical_device_configuration, and then make the strategy or use "
            "tf.device.",
        )


def version() -> str:
    """The version of jax."""
    return str(_jax().__version__)


def spans_processes() -> bool:
    """Whether jax can run one program on several devices of several processes: from 0.12 on."""
    return tuple(int(part) for part in version().split(".")[:2]) >= (0, 12)


def join(coordinator: str, count: int, number: int, local: int, heartbeat: float) -> None:
    """Makes jax know the devices of all processes of a job; before it has looked for its own.

    Args:
      coordinator: host and port where process 0 listens.
      count: how many processes there are.
      number: which of them this is.
      local: how many devices each has, if these are of the CPU.
      heartbeat: after how many seconds a silent process counts as dead.
    """
    jax = _jax()
    try:
        jax.config.update("jax_num_cpu_devices", local)
        jax.config.update("jax_enable_preemption_service", False)  # it would swallow SIGTERM
        jax.distributed.initialize(
            coordinator, count, number, heartbeat_timeout_seconds=max(int(heartbeat), 1)
        )
    except RuntimeError as error:
        raise UnavailableError(
            None,
            None,
            f"jax cannot take part in the job: {error}. Make the strategy before anything else "
            "uses jax, which looks for devices once.",
        ) from error


def wide_types() -> AbstractContextManager[Any]:
    """Inside, jax keeps 64-bit numbers. A context: the user's own programs keep their default."""
    return _jax().enable_x64(True)


@contextlib.contextmanager
def computing_on(backend: Any) -> Iterator[None]:
    """Inside, jax keeps 64-bit numbers, and computes on a device of its own; None is any."""
    jax = _jax()
    with jax.enable_x64(True), jax.default_device(backend):
        yield
