"""Programs on a mesh of devices: where the parts of values are, and what becomes of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from weft._src.core.cells import VariableCell, note_lent
from weft._src.core.random_numbers.stream_state import RngCell
from weft._src.core.tensor import SymbolicTensor
from weft._src.execution.native.loops.values import NotCompilableError
from weft._src.execution.xla import arrays, runtime
from weft._src.execution.xla.plan import Program, are_variables
from weft._src.graph.ir import Graph
from weft._src.graph.passes.inline import inline_calls
from weft._src.ops.arrays.relayout import relayout_op
from weft._src.ops.state.variables import read_op


@functools.cache
def mesh_of_jax(mesh: Any) -> Mesh:
    """A mesh of Weft's as one of jax's, with the devices that it names."""
    kind = mesh.device_type().lower()
    if kind == "cpu":
        runtime.provide_devices(mesh.largest_number() + 1)
    devices = [runtime.device(kind, number) for number in mesh.device_numbers()]
    return Mesh(np.array(devices).reshape(mesh.shape()), tuple(mesh.dim_names))


def sharding_of(layout: Any) -> NamedSharding:
    """What jax calls a layout."""
    axes = [None if spec == "unsharded" else spec for spec in layout.sharding_specs]
    return NamedSharding(mesh_of_jax(layout.mesh), PartitionSpec(*axes))


def placed(value: Any, layout: Any) -> Any:
    """A value with its parts where a layout has them."""
    with runtime.wide_types():
        return jax.device_put(value, sharding_of(layout))


def copied(array: Any) -> Any:
    """The same parts at the same places, in memory of their own."""
    with runtime.wide_types():
        return jnp.array(array, copy=True)


def packed(parts: Sequence[Any], layout: Any, shape: tuple[int, ...]) -> Any:
    """An array made of the parts of all devices, in their order."""
    devices = mesh_of_jax(layout.mesh).devices.reshape(-1)
    with runtime.wide_types():
        own = [jax.device_put(x, device) for x, device in zip(parts, devices, strict=True)]
        return jax.make_array_from_single_device_arrays(shape, sharding_of(layout), own)


def unpacked(array: Any, mesh: Any) -> list[Any]:
    """The parts of all devices, in their order, as arrays of NumPy."""
    by_device = {shard.device: shard.data for shard in array.addressable_shards}
    return [np.asarray(by_device[device]) for device in mesh_of_jax(mesh).devices.reshape(-1)]


class MeshProgram(Program):
    """A graph that is one program for all devices of a mesh."""

    def __init__(self, graph: Graph, fallback: Callable[..., Any], mesh: Any) -> None:
        self._mesh = mesh
        self._layouts: list[Any] = []  # those of the variables that are written
        flat = inline_calls(graph)
        self._origins = [_origin(flat, out) for out in flat.outputs]
        super().__init__(flat, fallback, keeps=True)

    def _compiled(self) -> Any:
        # Where new values of variables are is known; all else XLA decides.
        kept = [self._sharding(layout) for layout in self._layouts]
        if not kept:
            return jax.jit(self.run_traced, donate_argnums=0)
        return jax.jit(self.run_traced, donate_argnums=0, out_shardings=(None, kept, None))

    def _sharding(self, layout: Any) -> NamedSharding:
        if layout is None:
            return NamedSharding(mesh_of_jax(self._mesh), PartitionSpec())
        return sharding_of(layout)

    def __call__(self, *values: Any) -> Any:
        if not are_variables(values, self.cells):
            raise NotCompilableError("it uses resources that are no variables with a value")
        out = super().__call__(*values)
        wanted = [_layout_of(origin, values) for origin in self._origins]
        return tuple([self._with_layout(x, y) for x, y in zip(out, wanted, strict=True)])

    def _note_kinds(self, values: Sequence[Any]) -> None:
        super()._note_kinds(values)
        layouts = [getattr(values[i], "layout", None) for i in self.written]
        if layouts != self._layouts:
            self._layouts = layouts
            self._jitted = self._compiled()

    def _note_usual(self, values: Sequence[Any]) -> None:
        """Layouts are looked at each time."""

    def _inputs(self, values: Sequence[Any]) -> list[Any]:
        return [values[i] for i in self.arrays]

    def _held(self, cell: VariableCell | RngCell) -> Any:
        if not isinstance(cell, VariableCell):
            return arrays.held(cell)
        wanted = self._sharding(cell.layout)
        held = cell.data if cell.held is None else cell.held
        if getattr(held, "sharding", None) != wanted:
            held = jax.device_put(held, wanted)
            note_lent(cell, held)
        return held

    def _with_layout(self, value: Any, wanted: Any) -> Any:
        """A result with the layout that was asked for, or one that can be written down.

        That is one in which an axis is divided along one of the mesh only.
        """
        if wanted is not None:
            return placed(value, wanted)
        if not isinstance(value, jax.Array):  # by NumPy, as a check failed
            return self._moved(value, PartitionSpec())
        sharding = value.sharding
        mesh = mesh_of_jax(self._mesh)
        if isinstance(sharding, NamedSharding) and sharding.mesh == mesh:
            spec = sharding.spec
            if all(axis is None or isinstance(axis, str) for axis in spec):
                return value
            plain = [axis if isinstance(axis, str) else _only(axis) for axis in spec]
            return self._moved(value, PartitionSpec(*plain))
        return self._moved(value, PartitionSpec())

    def _moved(self, value: Any, spec: PartitionSpec) -> Any:
        with runtime.wide_types():
            return jax.device_put(value, NamedSharding(mesh_of_jax(self._mesh), spec))


def _origin(graph: Graph, tensor: SymbolicTensor) -> Any:
    """What tells the layout of a result: that of a `relayout`, or the place of a variable."""
    node = tensor.node
    while node.op.identity and len(node.inputs) == 1:
        node = node.inputs[0].node
    if node.op is relayout_op:
        return node.attrs["layout"]
    if node.op is read_op:
        places = [i for i, x in enumerate(graph.all_inputs) if x is node.inputs[0]]
        return places[0] if places else None
    return None


def _layout_of(origin: Any, values: Sequence[Any]) -> Any:
    return getattr(values[origin], "layout", None) if isinstance(origin, int) else origin


def _only(axes: Any) -> str | None:
    return axes[0] if axes and len(axes) == 1 else None
