"""`Mesh`: devices in a grid, whose axes have names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from weft._src.config.device_names import DeviceSpec
from weft._src.core.convert import convert_to_tensor
from weft._src.core.tensor import Tensor
from weft._src.execution.devices import HERE, count_gpus, names


class MeshDimension(NamedTuple):
    """An axis of a mesh."""

    name: str
    size: int


class Mesh:
    """Devices in a grid; `create_mesh` makes one.

    >>> mesh = tf.experimental.dtensor.create_mesh([("batch", 1)], devices=["CPU:0"])
    >>> mesh.dim_size("batch"), mesh.size
    (1, 1)
    """

    def __init__(
        self,
        dim_names: list[str],
        global_device_ids: np.ndarray[Any, Any],
        local_device_ids: list[int],
        local_devices: Sequence[DeviceSpec | str],
        mesh_name: str = "",
        global_devices: Sequence[DeviceSpec | str] | None = None,
        use_xla_spmd: bool = False,
    ) -> None:
        ids = np.asarray(global_device_ids)
        if ids.ndim != len(dim_names):
            raise ValueError(
                f"Mesh: there are {len(dim_names)} names of axes, {list(dim_names)}, and the "
                f"devices have {ids.ndim} axes."
            )
        if len(set(dim_names)) < len(dim_names):
            raise ValueError(f"Mesh: the names of axes must differ, got {list(dim_names)}.")
        if len(local_device_ids) != len(local_devices):
            raise ValueError(
                f"Mesh: there are {len(local_device_ids)} numbers of devices and "
                f"{len(local_devices)} devices."
            )
        self._dim_names = [str(name) for name in dim_names]
        self._ids = ids
        self._local_ids = [int(i) for i in local_device_ids]
        self._devices = [_full(device) for device in local_devices]
        self._name = mesh_name
        kinds = {device.device_type for device in self._devices}
        if len(kinds) > 1:
            raise ValueError(
                f"Mesh: all devices must be of one type, got {sorted(map(str, kinds))}."
            )
        self._uses_spmd = use_xla_spmd

    # --- axes --------------------------------------------------------------------------------

    @property
    def dim_names(self) -> list[str]:
        """The names of the axes."""
        return list(self._dim_names)

    @property
    def name(self) -> str:
        """The name of the mesh."""
        return self._name

    @property
    def size(self) -> int:
        """How many devices there are."""
        return int(self._ids.size)

    @property
    def strides(self) -> list[int]:
        """How far apart neighbours along each axis are in the list of devices."""
        return [math.prod(self._ids.shape[i + 1 :]) for i in range(self._ids.ndim)]

    def shape(self) -> list[int]:
        """The sizes of the axes.

        Returns:
          A list of ints.
        """
        return list(self._ids.shape)

    def contains_dim(self, dim_name: str) -> bool:
        """Whether there is an axis of that name.

        Args:
          dim_name: the name.

        Returns:
          A bool.
        """
        return dim_name in self._dim_names

    def dim_size(self, dim_name: str) -> int:
        """The size of an axis.

        Args:
          dim_name: its name.

        Returns:
          An int.

        Raises:
          ValueError: if there is no such axis.
        """
        if dim_name not in self._dim_names:
            raise ValueError(
                f"Mesh: there is no axis {dim_name!r}; there are {', '.join(self._dim_names)}."
            )
        return int(self._ids.shape[self._dim_names.index(dim_name)])

    def __getitem__(self, dim_name: str) -> MeshDimension:
        return MeshDimension(dim_name, self.dim_size(dim_name))

    def unravel_index(self) -> dict[int, dict[str, int]]:
        """Where each device is.

        Returns:
          A dict from the places of devices in the list to dicts from names of axes to positions.
        """
        places = np.ndindex(*self._ids.shape)
        return {i: dict(zip(self._dim_names, place)) for i, place in enumerate(places)}

    def coords(self, device_idx: int) -> Tensor:
        """Where a device is.

        Args:
          device_idx: its place in the list of devices.

        Returns:
          A tensor of its positions along the axes.
        """
        place = np.unravel_index(device_idx, self._ids.shape)
        return convert_to_tensor(np.array(place, np.int32))

    # --- devices -----------------------------------------------------------------------------

    def device_type(self) -> str:
        """The type of the devices, such as "CPU".

        Returns:
          A string.
        """
        return str(self._devices[0].device_type)

    def device_numbers(self) -> list[int]:
        """The numbers in the names of the devices, in their order.

        Returns:
          A list of ints.
        """
        return [int(device.device_index or 0) for device in self._devices]

    def largest_number(self) -> int:
        """The largest number in the name of a device.

        Returns:
          An int.
        """
        return max(self.device_numbers())

    def global_device_ids(self) -> np.ndarray[Any, Any]:
        """The numbers of all devices, in the grid.

        Returns:
          An array.
        """
        return self._ids.copy()

    def local_device_ids(self) -> list[int]:
        """The numbers of the devices of this process.

        Returns:
          A list of ints.
        """
        return list(self._local_ids)

    def local_devices(self) -> list[str]:
        """The names of the devices of this process.

        Returns:
          A list of strings.
        """
        return [device.to_string() for device in self._devices]

    def num_local_devices(self) -> int:
        """How many devices of this process there are.

        Returns:
          An int.
        """
        return len(self._devices)

    def local_device_locations(self) -> list[dict[str, int]]:
        """Where the devices of this process are.

        Returns:
          A list of dicts from names of axes to positions.
        """
        places = self.unravel_index()
        return [places[int(np.flatnonzero(self._ids == i)[0])] for i in self._local_ids]

    def min_global_device_id(self) -> int:
        """The smallest number of a device.

        Returns:
          An int.
        """
        return int(self._ids.min())

    def is_remote(self) -> bool:
        """Whether no device is of this process: never.

        Returns:
          False.
        """
        return False

    def is_single_device(self) -> bool:
        """Whether it was made of one device by `from_device`.

        Returns:
          A bool.
        """
        return not self._dim_names

    def use_xla_spmd(self) -> bool:
        """Whether XLA was asked to divide the work, which it always does here.

        Returns:
          What it was made with.
        """
        return self._uses_spmd

    def host_mesh(self) -> Mesh:
        """The same grid with CPUs in place of the devices.

        Returns:
          A mesh; this one if its devices are CPUs.
        """
        if self.device_type() == "CPU":
            return self
        devices = [device.replace(device_type="CPU") for device in self._devices]
        return Mesh(self._dim_names, self._ids, self._local_ids, devices, self._name)

    # --- text --------------------------------------------------------------------------------

    def to_string(self) -> str:
        """The mesh as text, which `from_string` reads.

        Returns:
          The name, the axes, the numbers of all devices, and numbers and names of those here.
        """
        axes = ",".join(f"{n}={s}" for n, s in zip(self._dim_names, self._ids.shape))
        ids = ",".join(map(str, self._ids.reshape(-1).tolist()))
        local = ",".join(map(str, self._local_ids))
        return f"{self._name}|{axes}|{ids}|{local}|{','.join(self.local_devices())}"

    @staticmethod
    def from_string(mesh_str: str) -> Mesh:
        """The mesh that `to_string` wrote.

        Args:
          mesh_str: the text.

        Returns:
          A mesh.

        Raises:
          ValueError: if it is no such text.
        """
        try:
            name, axes, ids, local, devices, *_ = mesh_str.split("|")
            sizes = [axis.split("=") for axis in axes.split(",")]
            grid = np.array([int(i) for i in ids.split(",")]).reshape([int(n) for _, n in sizes])
            own = [int(i) for i in local.split(",")]
        except ValueError:
            raise ValueError(f"Mesh.from_string: {mesh_str!r} is no mesh as text.") from None
        return Mesh([n for n, _ in sizes], grid, own, devices.split(","), name)

    @staticmethod
    def from_device(device: str) -> Mesh:
        """A mesh of one device, without axes.

        Args:
          device: its name.

        Returns:
          A mesh.
        """
        return Mesh([], np.array(0), [0], [device])

    def layout_of(self, array: Any) -> Any:
        """The layout of an array of jax on this mesh.

        Args:
          array: the array.

        Returns:
          A `tf.experimental.dtensor.Layout`.
        """
        spec = tuple(array.sharding.spec)
        spec += (None,) * (array.ndim - len(spec))
        return self._make_layout([UNSHARDED if axis is None else axis for axis in spec], self)

    _make_layout: Any  # the class of layouts, which is above

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self.to_string())

    def __repr__(self) -> str:
        return f"Mesh.from_string({self.to_string()})"


UNSHARDED = "unsharded"


def _full(device: DeviceSpec | str) -> DeviceSpec:
    spec = device if isinstance(device, DeviceSpec) else DeviceSpec.from_string(device)
    return DeviceSpec.from_string(HERE).make_merged_spec(spec)


def preferred_device_type() -> str:
    """The type of devices that meshes are made of if nothing else is said.

    Returns:
      "GPU" if jax finds one and is in use, else "CPU".

    >>> tf.experimental.dtensor.preferred_device_type()
    'CPU'
    """
    return "GPU" if count_gpus() else "CPU"


def local_devices(device_type: str, for_client_id: int | None = None) -> list[DeviceSpec]:
    """The devices of this process.

    Args:
      device_type: such as "CPU".
      for_client_id: the number of a process; there is one.

    Returns:
      A list of `tf.DeviceSpec`.

    >>> [device.to_string() for device in tf.experimental.dtensor.local_devices("CPU")]
    ['/job:localhost/replica:0/task:0/device:CPU:0']
    """
    count = {"CPU": names.cpus, "GPU": count_gpus()}.get(str(device_type).upper(), 0)
    return [_full(f"/device:{device_type.upper()}:{i}") for i in range(count)]


def create_mesh(
    mesh_dims: Sequence[tuple[str, int]] | dict[str, int] | None = None,
    mesh_name: str = "",
    devices: Sequence[str | DeviceSpec] | None = None,
    device_type: str | None = None,
    use_xla_spmd: bool = False,
) -> Mesh:
    """A mesh of devices of this process.

    The CPU can be several: `tf.config.set_logical_device_configuration` gives it names, before jax
    is used.

    Args:
      mesh_dims: the names and sizes of the axes; None is one axis "x" of all devices.
      mesh_name: the name of the mesh.
      devices: the devices, in the order of the grid; None is all of a type.
      device_type: that type; None is "GPU" if there is one.
      use_xla_spmd: accepted for compatibility.

    Returns:
      A `tf.experimental.dtensor.Mesh`.

    Raises:
      ValueError: if there are not as many devices as the axes say.

    >>> tf.experimental.dtensor.create_mesh({"x": 1}, devices=["CPU:0"]).shape()
    [1]
    """
    chosen = (
        devices if devices is not None else local_devices(device_type or preferred_device_type())
    )
    pairs = mesh_dims.items() if isinstance(mesh_dims, dict) else mesh_dims
    axes = [("x", len(chosen))] if pairs is None else [(str(n), int(s)) for n, s in pairs]
    sizes = [size for _, size in axes]
    if math.prod(sizes) != len(chosen):
        raise ValueError(
            f"create_mesh: axes of the sizes {sizes} need {math.prod(sizes)} devices, and there "
            f"are {len(chosen)}. tf.config.set_logical_device_configuration gives the CPU more "
            "names."
        )
    ids = np.arange(len(chosen)).reshape(sizes)
    return Mesh(
        [n for n, _ in axes], ids, list(range(len(chosen))), chosen, mesh_name,
        use_xla_spmd=use_xla_spmd,
    )  # fmt: skip
