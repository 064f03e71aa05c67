"""A value for each replica, which functions take and return like any other."""

from __future__ import annotations

from collections.abc import Sequence

from weft._src.core.specs import TensorSpec, TypeSpec
from weft._src.core.tensor import Tensor
from weft._src.distribute.values import DistributedValues


class PerReplicaSpec(TypeSpec):
    """The type of a value for each replica: the types of the values."""

    __slots__ = ("specs",)

    def __init__(self, *specs: TensorSpec) -> None:
        self.specs = specs

    @property
    def value_type(self) -> type:
        """The class of the values this spec describes."""
        return PerReplica

    def _serialize(self) -> tuple[TensorSpec, ...]:
        return self.specs

    @property
    def _component_specs(self) -> list[TensorSpec]:
        return list(self.specs)

    def _to_components(self, value: PerReplica) -> list[Tensor]:
        return list(value.values)

    def _from_components(self, components: Sequence[Tensor]) -> PerReplica:
        return PerReplica(components)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PerReplicaSpec) and self.specs == other.specs

    def __hash__(self) -> int:
        return hash(self.specs)

    def __repr__(self) -> str:
        return f"PerReplicaSpec({', '.join(map(repr, self.specs))})"


class PerReplica(DistributedValues):
    """A tensor for each replica; `values` are these, in the order of the replicas."""

    def __init__(self, values: Sequence[Tensor]) -> None:
        self._values = tuple(values)

    @property
    def values(self) -> tuple[Tensor, ...]:
        """The tensors of the replicas."""
        return self._values

    @property
    def _type_spec(self) -> PerReplicaSpec:
        return PerReplicaSpec(*[TensorSpec(t.shape, t.dtype) for t in self._values])

    def __repr__(self) -> str:
        lines = [f"  {i}: {value!r}" for i, value in enumerate(self._values)]
        return "PerReplica:{\n" + ",\n".join(lines) + "\n}"
