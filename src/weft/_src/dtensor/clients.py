"""Who takes part: one process, with devices of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.config.device_names import DeviceSpec
from weft._src.config.devices import (
    LogicalDeviceConfiguration,
    list_physical_devices,
    set_logical_device_configuration,
)
from weft._src.core.placed import ON_MESH
from weft._src.dtensor.mesh import Mesh, create_mesh, local_devices, preferred_device_type
from weft._src.errors import UnsupportedError

_JOB = "localhost"


def client_id() -> int:
    """The number of this process.

    Returns:
      0.

    >>> tf.experimental.dtensor.client_id()
    0
    """
    return 0


def num_clients() -> int:
    """How many processes have meshes together.

    Returns:
      1.

    >>> tf.experimental.dtensor.num_clients()
    1
    """
    return 1


def job_name() -> str:
    """The name of the job that devices belong to.

    Returns:
      A string.

    >>> tf.experimental.dtensor.job_name()
    'localhost'
    """
    return _JOB


def jobs() -> list[str]:
    """The addresses of all processes.

    Returns:
      An empty list: there is one.

    >>> tf.experimental.dtensor.jobs()
    []
    """
    return []


def full_job_name(task_id: int | None = None) -> str:
    """The name of the job with that of a process.

    Args:
      task_id: the number of the process; None is this one.

    Returns:
      A string.

    >>> tf.experimental.dtensor.full_job_name()
    'localhost/replica:0/task:0'
    """
    return f"{_JOB}/replica:0/task:{task_id or 0}"


def device_name() -> str:
    """The name of the device that tensors of meshes are on.

    Returns:
      A string.

    >>> tf.experimental.dtensor.device_name()
    '/job:localhost/replica:0/task:0/device:CUSTOM:0'
    """
    return ON_MESH


def heartbeat_enabled() -> bool:
    """Whether processes watch each other: there is one.

    Returns:
      False.

    >>> tf.experimental.dtensor.heartbeat_enabled()
    False
    """
    return False


def num_local_devices(device_type: str) -> int:
    """How many devices this process has.

    Args:
      device_type: such as "CPU".

    Returns:
      An int.

    >>> tf.experimental.dtensor.num_local_devices("CPU")
    1
    """
    return len(local_devices(device_type))


def num_global_devices(device_type: str) -> int:
    """How many devices all processes have: those of this one.

    Args:
      device_type: such as "CPU".

    Returns:
      An int.

    >>> tf.experimental.dtensor.num_global_devices("CPU")
    1
    """
    return num_local_devices(device_type)


def barrier(mesh: Mesh, barrier_name: str | None = None, timeout_in_ms: int | None = None) -> None:
    """Waits for all processes: there is one, so not at all.

    Args:
      mesh: the mesh.
      barrier_name: accepted for compatibility.
      timeout_in_ms: accepted for compatibility.

    >>> d = tf.experimental.dtensor
    >>> d.barrier(d.create_mesh([("x", 1)], devices=["CPU:0"]))
    """


def create_distributed_mesh(
    mesh_dims: Sequence[tuple[str, int]] | dict[str, int],
    mesh_name: str = "",
    local_devices: Sequence[DeviceSpec | str] | None = None,
    device_type: str | None = None,
    use_xla_spmd: bool = False,
) -> Mesh:
    """A mesh of the devices of all processes: of this one.

    Args:
      mesh_dims: the names and sizes of the axes.
      mesh_name: the name of the mesh.
      local_devices: the devices; None is all of a type.
      device_type: that type.
      use_xla_spmd: accepted for compatibility.

    Returns:
      A `tf.experimental.dtensor.Mesh`.

    Raises:
      ValueError: if there are not as many devices as the axes say.

    >>> d = tf.experimental.dtensor
    >>> d.create_distributed_mesh([("x", 1)], local_devices=["CPU:0"]).size
    1
    """
    return create_mesh(mesh_dims, mesh_name, local_devices, device_type, use_xla_spmd)


def initialize_accelerator_system(
    device_type: str | None = None,
    enable_coordination_service: bool | None = True,
    num_logical_cpu_devices: int | None = None,
    experimental_reset_context: bool | None = False,
    experimental_enable_megcore: bool | None = False,
) -> str:
    """Sets up devices; not needed, but for giving the CPU several names.

    Args:
      device_type: the type of devices that is wanted; None is "GPU" if there is one.
      enable_coordination_service: accepted for compatibility.
      num_logical_cpu_devices: how many names the CPU gets.
      experimental_reset_context: accepted for compatibility.
      experimental_enable_megcore: accepted for compatibility.

    Returns:
      The type of devices.

    Raises:
      UnsupportedError: for a TPU.

    >>> tf.experimental.dtensor.initialize_accelerator_system("CPU")
    'CPU'
    """
    kind = (device_type or preferred_device_type()).upper()
    if kind == "TPU":
        raise _no_tpu("initialize_accelerator_system")
    if num_logical_cpu_devices is not None:
        cpu = list_physical_devices("CPU")[0]
        one = LogicalDeviceConfiguration()
        set_logical_device_configuration(cpu, [one] * num_logical_cpu_devices)
    return kind


def shutdown_accelerator_system() -> None:
    """Ends what `initialize_accelerator_system` began: nothing.

    >>> tf.experimental.dtensor.shutdown_accelerator_system()
    """


def create_tpu_mesh(*args: Any, **kwargs: Any) -> Mesh:
    """Refuses: there are no TPUs.

    Args:
      *args: accepted for compatibility.
      **kwargs: accepted for compatibility.

    Returns:
      Nothing: it always raises.

    Raises:
      UnsupportedError: always.

    >>> tf.experimental.dtensor.create_tpu_mesh(["x"], [1], "mesh")
    Traceback (most recent call last):
    ...
    weft.errors.UnsupportedError: create_tpu_mesh: ...
    """
    raise _no_tpu("create_tpu_mesh")


def _no_tpu(function: str) -> UnsupportedError:
    return UnsupportedError(
        f"{function}: Weft has no TPUs. create_mesh makes a mesh of GPUs, or of names of the CPU."
    )


initialize_multi_client = initialize_tpu_system = initialize_accelerator_system
shutdown_tpu_system = shutdown_accelerator_system
