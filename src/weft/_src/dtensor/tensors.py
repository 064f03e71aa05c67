"""Tensors that several devices have together: how they come to be, and where their parts go."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from weft._src import nest
from weft._src.core.aliases import TensorLike
from weft._src.core.context import state
from weft._src.core.convert import convert_to_tensor
from weft._src.core.placed import MeshHandle, MeshTensor, PlacedTensor
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.dtensor.layout import Layout, as_layout
from weft._src.dtensor.mesh import Mesh
from weft._src.errors import InvalidArgumentError
from weft._src.execution.devices import HERE
from weft._src.execution.mesh_names import mesh_of
from weft._src.execution.meshed import run_on_mesh
from weft._src.function.decorator import function
from weft._src.ops.arrays.relayout import relayout_op
from weft._src.state.variable import Variable


def relayout(tensor: TensorLike, layout: Layout, name: str | None = None) -> Tensor:
    """A tensor with the same value, whose parts are where a layout has them.

    Inside of a function it says so to XLA, which decides all other layouts.

    Args:
      tensor: a tensor of any kind; a plain one is copied to the devices.
      layout: the layout; "match" as the name of an axis keeps what the tensor has there.
      name: a name of the operation.

    Returns:
      A tensor that the devices of the layout's mesh have together.

    Raises:
      InvalidArgumentError: if an axis cannot be divided evenly, or the ranks differ.

    >>> d = tf.experimental.dtensor
    >>> mesh = d.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> y = d.relayout(tf.ones([2, 3]), d.Layout(["x", d.UNSHARDED], mesh))
    >>> d.fetch_layout(y).sharding_specs
    ['x', 'unsharded']
    """
    wanted = as_layout("relayout", layout)
    x = convert_to_tensor(tensor)
    if state.graph is not None:
        return relayout_op(x, layout=wanted.resolved(None), name=name)
    now = None
    if isinstance(x, MeshTensor):
        now = x.layout
        if now.mesh != wanted.mesh:  # by way of the host
            x, now = EagerTensor(x._value), None
    attrs = {"layout": wanted.resolved(now)}
    out = run_on_mesh(relayout_op, (x,), attrs)
    for tape in state.tapes:
        tape.record(relayout_op, (x,), attrs, out)
    return out


def relayout_like(tensor: TensorLike, layout_tensor: Any, name: str | None = None) -> Tensor:
    """A tensor with the same value, whose parts are where those of another one are.

    Args:
      tensor: the tensor.
      layout_tensor: the other one.
      name: a name of the operation.

    Returns:
      A tensor.

    >>> d = tf.experimental.dtensor
    >>> mesh = d.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> y = d.copy_to_mesh(tf.ones([2]), d.Layout(["x"], mesh))
    >>> d.fetch_layout(d.relayout_like(tf.zeros([4]), y)).sharding_specs
    ['x']
    """
    return relayout(tensor, fetch_layout(layout_tensor), name)


def copy_to_mesh(tensor: TensorLike, layout: Layout, source_layout: Layout | None = None) -> Tensor:
    """A plain tensor on the devices of a mesh; the older name of `relayout`.

    Args:
      tensor: the tensor.
      layout: where its parts go.
      source_layout: accepted for compatibility.

    Returns:
      A tensor that the devices have together.

    >>> d = tf.experimental.dtensor
    >>> mesh = d.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> d.is_dtensor(d.copy_to_mesh(tf.ones([2]), d.Layout.replicated(mesh, 1)))
    True
    """
    return relayout(tensor, layout)


def is_dtensor(tensor: Any) -> bool:
    """Whether several devices have a tensor or variable together.

    Args:
      tensor: anything.

    Returns:
      A bool.

    >>> tf.experimental.dtensor.is_dtensor(tf.constant(1.0))
    False
    """
    return mesh_of(tensor) is not None or mesh_of(getattr(tensor, "_handle", None)) is not None


def fetch_layout(tensor: Any) -> Layout:
    """The layout of a tensor or variable that several devices have together.

    Args:
      tensor: the tensor.

    Returns:
      Its `tf.experimental.dtensor.Layout`.

    Raises:
      InvalidArgumentError: if it is a plain tensor.

    >>> tf.experimental.dtensor.fetch_layout(tf.constant(1.0))
    Traceback (most recent call last):
    ...
    weft.errors.InvalidArgumentError: fetch_layout: ...
    """
    if isinstance(tensor, MeshTensor):
        return tensor.layout
    handle = getattr(tensor, "_handle", None)
    if isinstance(handle, MeshHandle):
        return handle._value.layout
    raise InvalidArgumentError(
        None,
        None,
        f"fetch_layout: a tensor that several devices have together is expected, got {tensor!r}. "
        "relayout makes one.",
    )


def check_layout(tensor: Any, layout: Layout) -> None:
    """Nothing, if a tensor has this layout.

    Args:
      tensor: the tensor.
      layout: the layout.

    Raises:
      ValueError: if it has another one.

    >>> d = tf.experimental.dtensor
    >>> layout = d.Layout.replicated(d.create_mesh([("x", 1)], devices=["CPU:0"]), 1)
    >>> d.check_layout(d.copy_to_mesh([1.0], layout), layout)
    """
    found = fetch_layout(tensor)
    if found != layout:
        raise ValueError(f"The tensor has the layout {found}, expected {layout}.")


def pack(tensors: Sequence[Any], layout: Layout) -> Any:
    """A tensor made of the parts of all devices.

    Args:
      tensors: as many tensors as the mesh has devices, in their order.
      layout: how they make up the whole. Where an axis of the mesh divides nothing, devices along
        it must be given the same.

    Returns:
      A tensor that the devices have together.

    Raises:
      InvalidArgumentError: if the number, the shapes or the dtypes of the parts are wrong.

    >>> d = tf.experimental.dtensor
    >>> mesh = d.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> d.pack([tf.constant([1.0, 2.0])], d.Layout(["x"], mesh)).numpy()
    array([1., 2.], dtype=float32)
    """
    wanted = as_layout("pack", layout)
    parts = [np.asarray(convert_to_tensor(x)) for x in tensors]
    problem = None
    if len(parts) != wanted.mesh.size:
        problem = f"the mesh has {wanted.mesh.size} devices, got {len(parts)} parts"
    elif len({(x.shape, x.dtype) for x in parts}) > 1:
        problem = f"all parts must have one shape and dtype, got {[x.shape for x in parts]}"
    elif parts[0].ndim != wanted.rank:
        problem = f"the parts have {parts[0].ndim} axes, and the layout is for {wanted.rank}"
    if problem is not None:
        raise InvalidArgumentError(None, None, f"pack: {problem}.")
    from weft._src.execution.xla import meshes

    shape = tuple([n * wanted.num_shards(i) for i, n in enumerate(parts[0].shape)])
    return MeshTensor(meshes.packed(parts, wanted, shape), wanted.mesh)


def unpack(tensor: Any) -> list[Any]:
    """The parts that the devices have of a tensor.

    Args:
      tensor: a tensor that several devices have together.

    Returns:
      A list of tensors, in the order of the devices.

    Raises:
      InvalidArgumentError: if it is a plain tensor.

    >>> d = tf.experimental.dtensor
    >>> mesh = d.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> [x.numpy() for x in d.unpack(d.relayout([1.0, 2.0], d.Layout(["x"], mesh)))]
    [array([1., 2.], dtype=float32)]
    """
    x = tensor.value() if isinstance(tensor, Variable) else tensor
    if not isinstance(x, MeshTensor):
        raise InvalidArgumentError(
            None,
            None,
            f"unpack: a tensor that several devices have together is expected, got {tensor!r}.",
        )
    from weft._src.execution.xla import meshes

    parts = meshes.unpacked(x.held, x.mesh)
    first = f"{HERE}/device:CPU:0"
    return [
        EagerTensor(part) if name == first else PlacedTensor(part, name, part)
        for part, name in zip(parts, x.mesh.local_devices(), strict=True)
    ]


def call_with_layout(
    fn: Callable[..., Any], layout: Layout | None, *args: Any, **kwargs: Any
) -> Any:
    """What a function returns, with its parts where a layout has them from the beginning.

    Args:
      fn: a function that makes tensors, such as `tf.zeros`.
      layout: the layout of what it returns; None calls it as it is.
      *args: its arguments.
      **kwargs: its keyword arguments.

    Returns:
      What the function returns, as tensors that the devices have together.

    >>> d = tf.experimental.dtensor
    >>> mesh = d.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> d.fetch_layout(d.call_with_layout(tf.zeros, d.Layout(["x"], mesh), [4])).sharding_specs
    ['x']
    """
    if layout is None:
        return fn(*args, **kwargs)
    wanted = as_layout("call_with_layout", layout)

    def make() -> Any:
        return nest.map_structure(lambda x: relayout(x, wanted), fn(*args, **kwargs))

    return make() if state.graph is not None else function(make, autograph=False)()


# --- a mesh for a block of a program -------------------------------------------------------------

_default: list[Mesh] = []


@contextlib.contextmanager
def default_mesh(mesh: Mesh) -> Iterator[None]:
    """A block in which `get_default_mesh` gives a mesh.

    Args:
      mesh: the mesh.

    Returns:
      A context manager.

    Raises:
      ValueError: if it is no mesh.

    >>> d = tf.experimental.dtensor
    >>> with d.default_mesh(d.create_mesh([("x", 1)], devices=["CPU:0"])) as mesh:
    ...     print(d.get_default_mesh().size)
    1
    """
    if not isinstance(mesh, Mesh):
        raise ValueError(f"default_mesh: a tf.experimental.dtensor.Mesh is expected, got {mesh!r}.")
    _default.append(mesh)
    try:
        yield
    finally:
        _default.pop()


def get_default_mesh() -> Mesh | None:
    """The mesh of the block that is running.

    Returns:
      A `tf.experimental.dtensor.Mesh`; None outside of `default_mesh`.

    >>> tf.experimental.dtensor.get_default_mesh() is None
    True
    """
    return _default[-1] if _default else None


run_on = default_mesh
