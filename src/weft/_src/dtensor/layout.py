"""`Layout`: which axis of a tensor is divided along which axis of a mesh."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

from weft._src.core.shapes import TensorShape
from weft._src.dtensor.mesh import UNSHARDED, Mesh
from weft._src.errors import InvalidArgumentError

MATCH = "match"

_TEXT = re.compile(r"sharding_specs:(?P<specs>[^ ]*?),? mesh:(?P<mesh>.*)")


class Layout:
    """For each axis of a tensor the axis of a mesh that its parts lie along, or UNSHARDED.

    >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> layout = tf.experimental.dtensor.Layout(["x", tf.experimental.dtensor.UNSHARDED], mesh)
    >>> layout.num_shards(0), layout.rank
    (1, 2)
    """

    def __init__(self, sharding_specs: Sequence[str], mesh: Mesh) -> None:
        if not isinstance(mesh, Mesh):
            raise ValueError(f"Layout: mesh must be a Mesh, got {mesh!r}.")
        if isinstance(sharding_specs, str):
            raise ValueError(
                f"Layout: sharding_specs must be a list of names, got {sharding_specs!r}."
            )
        specs = [str(spec) for spec in sharding_specs]
        for spec in specs:
            if spec not in (UNSHARDED, MATCH) and not mesh.contains_dim(spec):
                raise ValueError(
                    f"Layout: {spec!r} is no axis of the mesh, which has "
                    f"{', '.join(mesh.dim_names)}; an axis of a tensor that is not divided is "
                    f"{UNSHARDED!r}."
                )
        divided = [spec for spec in specs if spec not in (UNSHARDED, MATCH)]
        if len(set(divided)) < len(divided):
            raise ValueError(
                f"Layout: an axis of the mesh can divide one axis of a tensor only, got {specs}."
            )
        self._specs, self._mesh = specs, mesh

    # --- making ------------------------------------------------------------------------------

    @staticmethod
    def replicated(mesh: Mesh, rank: int) -> Layout:
        """The layout of a tensor that all devices have as a whole.

        Args:
          mesh: the mesh.
          rank: how many axes the tensor has.

        Returns:
          A layout.
        """
        return Layout([UNSHARDED] * rank, mesh)

    @staticmethod
    def batch_sharded(mesh: Mesh, batch_dim: str, rank: int, axis: int = 0) -> Layout:
        """The layout of a tensor of which one axis is divided, the first unless said otherwise.

        Args:
          mesh: the mesh.
          batch_dim: the axis of the mesh.
          rank: how many axes the tensor has.
          axis: the one that is divided.

        Returns:
          A layout.
        """
        specs = [UNSHARDED] * rank
        specs[axis] = batch_dim
        return Layout(specs, mesh)

    @staticmethod
    def inner_sharded(mesh: Mesh, inner_dim: str, rank: int) -> Layout:
        """The layout of a tensor whose last axis is divided.

        Args:
          mesh: the mesh.
          inner_dim: the axis of the mesh.
          rank: how many axes the tensor has.

        Returns:
          A layout.
        """
        return Layout.batch_sharded(mesh, inner_dim, rank, axis=rank - 1)

    @staticmethod
    def from_device(device: str) -> Layout:
        """The layout of a scalar on one device.

        Args:
          device: its name.

        Returns:
          A layout.
        """
        return Layout([], Mesh.from_device(device))

    @staticmethod
    def from_single_device_mesh(mesh: Mesh) -> Layout:
        """The layout of a scalar on a mesh of one device.

        Args:
          mesh: the mesh.

        Returns:
          A layout.
        """
        return Layout([], mesh)

    @staticmethod
    def from_string(layout_str: str) -> Layout:
        """The layout that `to_string` wrote.

        Args:
          layout_str: the text.

        Returns:
          A layout.

        Raises:
          ValueError: if it is no such text.
        """
        match = _TEXT.fullmatch(layout_str)
        if match is None:
            raise ValueError(f"Layout.from_string: {layout_str!r} is no layout as text.")
        specs = [spec for spec in match["specs"].split(",") if spec]
        return Layout(specs, Mesh.from_string(match["mesh"]))

    def delete(self, dims: Sequence[int]) -> Layout:
        """The layout without some axes of the tensor.

        Args:
          dims: their positions.

        Returns:
          A layout.
        """
        gone = set(dims)
        return Layout([s for i, s in enumerate(self._specs) if i not in gone], self._mesh)

    # --- reading -----------------------------------------------------------------------------

    @property
    def sharding_specs(self) -> list[str]:
        """For each axis of the tensor the name of an axis of the mesh, or "unsharded"."""
        return list(self._specs)

    @property
    def mesh(self) -> Mesh:
        """The mesh."""
        return self._mesh

    @property
    def rank(self) -> int:
        """How many axes the tensor has."""
        return len(self._specs)

    @property
    def shape(self) -> list[int]:
        """The sizes of the axes of the mesh."""
        return self._mesh.shape()

    def num_shards(self, idx: int) -> int:
        """In how many parts an axis is divided.

        Args:
          idx: its position.

        Returns:
          An int; 1 if it is not divided.
        """
        spec = self._specs[idx]
        return self._mesh.dim_size(spec) if self._mesh.contains_dim(spec) else 1

    def is_fully_replicated(self) -> bool:
        """Whether no axis is divided.

        Returns:
          A bool.
        """
        return all(spec == UNSHARDED for spec in self._specs)

    def is_batch_parallel(self) -> bool:
        """Whether at most the first axis is divided.

        Returns:
          A bool.
        """
        return all(spec == UNSHARDED for spec in self._specs[1:])

    def is_single_device(self) -> bool:
        """Whether it is that of one device without a grid.

        Returns:
          A bool.
        """
        return self._mesh.is_single_device()

    def offset_to_shard(self) -> list[tuple[int, ...]]:
        """Which part each device has.

        Returns:
          A list with the positions along all axes of the part of each device, in their order.
        """
        places = self._mesh.unravel_index()
        return [tuple([place.get(spec, 0) for spec in self._specs]) for place in places.values()]

    def offset_tuple_to_global_index(self, offset_tuple: Sequence[int]) -> int:
        """The number of a part, counted along the axes of the tensor.

        Args:
          offset_tuple: its positions along them.

        Returns:
          An int.
        """
        index = 0
        for i, offset in enumerate(offset_tuple):
            index = index * self.num_shards(i) + offset
        return index

    def global_shape_from_local_shape(self, local_shape: TensorShape) -> TensorShape:
        """The shape of a tensor with parts of some shape.

        Args:
          local_shape: the shape of a part.

        Returns:
          A `tf.TensorShape`.
        """
        return TensorShape(
            [
                n if n is None else n * self.num_shards(i)
                for i, n in enumerate(local_shape.as_list())
            ]
        )

    def local_shape_from_global_shape(self, global_shape: TensorShape) -> TensorShape:
        """The shape of the parts of a tensor.

        Args:
          global_shape: the shape of the tensor.

        Returns:
          A `tf.TensorShape`.
        """
        return TensorShape(
            [
                n if n is None else n // self.num_shards(i)
                for i, n in enumerate(global_shape.as_list())
            ]
        )

    def to_parted(self) -> Layout:
        """The layout itself: parts always have one size here.

        Returns:
          This layout.
        """
        return self

    def check(self, shape: Sequence[int]) -> None:
        """Whether a tensor of a shape can have the layout.

        Args:
          shape: the shape.

        Raises:
          InvalidArgumentError: if it has another rank, or an axis cannot be divided evenly.
        """
        if len(shape) != self.rank:
            raise InvalidArgumentError(
                None,
                None,
                f"dtensor: a tensor of shape {tuple(shape)} has {len(shape)} axes, and the layout "
                f"{self._specs} is for {self.rank}.",
            )
        for i, (size, spec) in enumerate(zip(shape, self._specs)):
            if size % self.num_shards(i):
                raise InvalidArgumentError(
                    None,
                    None,
                    f"dtensor: axis {i} of a tensor of shape {tuple(shape)} cannot be divided "
                    f"evenly into {self.num_shards(i)} parts along {spec!r}. Pad it, or use "
                    f"{UNSHARDED!r} for this axis.",
                )

    def resolved(self, current: Layout | None) -> Layout:
        """The layout with what "match" stands for: what the tensor has now.

        Args:
          current: the layout that a tensor has; None if it has none.

        Returns:
          A layout without "match".
        """
        if MATCH not in self._specs:
            return self
        now = [UNSHARDED] * self.rank if current is None else current.sharding_specs
        specs = [b if a == MATCH else a for a, b in itertools.zip_longest(self._specs, now)]
        return Layout([spec for spec in specs if spec is not None], self._mesh)

    def to_string(self) -> str:
        """The layout as text, which `from_string` reads.

        Returns:
          A string.
        """
        specs = ",".join(self._specs)
        comma = "," if specs else ""
        return f"sharding_specs:{specs}{comma} mesh:{self._mesh.to_string()}"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Layout) and self._specs == other._specs and self._mesh == other._mesh
        )

    def __hash__(self) -> int:
        return hash((tuple(self._specs), self._mesh))

    def __repr__(self) -> str:
        return f"Layout.from_string({self.to_string()})"


Mesh._make_layout = Layout


def as_layout(function: str, layout: Any) -> Layout:
    """A layout, or a TypeError that says what was given instead."""
    if not isinstance(layout, Layout):
        raise TypeError(
            f"{function}: layout must be a tf.experimental.dtensor.Layout, got {layout!r}."
        )
    return layout
