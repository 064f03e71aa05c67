"""Tensors that live on another device than the host's first CPU, or on several.

Such a tensor holds what the device's library calls an array. NumPy's form of the value is made when
somebody asks for it, and kept: nobody changes a tensor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.context import state
from weft._src.core.dtypes import DType
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, EagerTensor

_host = EagerTensor.__dict__["_value"]  # where a tensor has its NumPy array
# Ops ask for this: the same place under another name, which subclasses can replace.
EagerTensor._array = _host


class PlacedTensor(EagerTensor):
    """A tensor on a device.

    held: the array there, or one of NumPy's if the device is but a name of the CPU.
    value: the same for NumPy, if it is known already.
    """

    __slots__ = ("_device", "held")

    def __init__(self, held: Any, device: str, value: Array | None = None) -> None:
        self.held = held
        self._device = device
        if value is not None:
            _host.__set__(self, value)

    @property
    def _value(self) -> Any:
        """The value on the host."""
        try:
            return _host.__get__(self)
        except AttributeError:
            value = np.asarray(self.held)
            _host.__set__(self, value)
            return value

    def __dlpack__(self, **kwargs: Any) -> Any:
        """A capsule of the memory on the device itself, where the device is no name of the CPU."""
        if isinstance(self.held, np.ndarray):
            return super().__dlpack__(**kwargs)
        if state.mode:
            self._tell_tapes()
        return self.held.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        if isinstance(self.held, np.ndarray):
            return super().__dlpack_device__()
        kind, number = self.held.__dlpack_device__()
        return int(kind), int(number)

    @property
    def _array(self) -> Any:
        return self._value

    @property
    def device(self) -> str:
        """The full name of the device where the value lives."""
        return self._device

    # What is known without a look at the numbers, which would have to be brought here.

    @property
    def spec(self) -> TensorSpec:  # type: ignore[override]
        """The dtype and shape."""
        return TensorSpec.of(self.dtype, tuple(self.held.shape))

    @property
    def shape(self) -> TensorShape:
        """The shape."""
        return TensorShape.of(tuple(self.held.shape))

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return dtypes.from_numpy(self.held.dtype)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.held.shape)


class MeshInput(Exception):  # noqa: N818 - no error by itself: the dispatcher catches it
    """An op was given something that several devices have together."""


ON_MESH = "/job:localhost/replica:0/task:0/device:CUSTOM:0"


class MeshTensor(PlacedTensor):
    """A tensor whose parts several devices have, those of a mesh.

    held: the array of jax, which knows who has which part.
    mesh: the `tf.experimental.dtensor.Mesh`.
    """

    __slots__ = ("mesh",)

    def __init__(self, held: Any, mesh: Any, value: Array | None = None) -> None:
        super().__init__(held, ON_MESH, value)
        self.mesh = mesh

    @property
    def _array(self) -> Any:
        raise MeshInput

    @property
    def layout(self) -> Any:
        """Which axis is divided among which devices, a `tf.experimental.dtensor.Layout`."""
        return self.mesh.layout_of(self.held)

    def __repr__(self) -> str:
        return f'{super().__repr__()[:-1]}, layout="{self.layout.to_string()}">'

    def __str__(self) -> str:
        return f'{super().__str__()[:-1]}, layout="{self.layout.to_string()}")'


class MeshHandle(EagerTensor):
    """The handle of a variable that several devices have together."""

    __slots__ = ()

    @property
    def _array(self) -> Any:
        raise MeshInput
