"""Variables of several replicas: alike on all of them, or with a value on each."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.replica_cells import OnReadCell
from weft._src.core.tensor import EagerTensor
from weft._src.distribute.collectives import reduce_op
from weft._src.distribute.current import current
from weft._src.distribute.values import DistributedValues
from weft._src.state.creators import VariableAggregation, VariableSynchronization
from weft._src.state.variable import Variable

HOW = {
    VariableAggregation.SUM: "SUM",
    VariableAggregation.MEAN: "MEAN",
    VariableAggregation.ONLY_FIRST_REPLICA: "FIRST",
}


class MirroredVariable(Variable, DistributedValues):
    """A variable that has the same value on all replicas.

    A replica that assigns to it assigns what all of them agree on: the sum or mean of their values,
    or that of the first, as `aggregation` says. Without aggregation they have to assign the same;
    if they do not, that of the first is what stays.
    """

    _strategy: Callable[[], Any]
    _count: int

    @property
    def values(self) -> tuple[Any, ...]:
        """The variable as each replica has it: the same."""
        return (self,) * self._count

    def _agreed(self, value: TensorLike) -> Any:
        """What replicas assign together."""
        if not current.in_replica:
            return value
        if current.strategy is not self._strategy():
            raise ValueError(
                f"The variable {self.name!r} belongs to {self._strategy()!r}, and is changed by a "
                f"replica of {current.strategy!r}. Make it in the scope of that strategy."
            )
        if current.is_updating:
            return value
        how = HOW.get(self.aggregation)
        if how is None:
            return value
        return reduce_op(convert_to_tensor(value, dtype=self.dtype), how=how)[0]

    def assign(self, value: TensorLike, *args: Any, **kwargs: Any) -> Any:
        """Sets the value, which replicas combine; otherwise as of any variable.

        Args:
          value: a tensor of the variable's dtype and shape, or what can become one.
          *args: as of `tf.Variable.assign`.
          **kwargs: as of `tf.Variable.assign`.

        Returns:
          The variable, or None with `read_value=False`.
        """
        return super().assign(self._agreed(value), *args, **kwargs)

    def assign_add(self, delta: TensorLike, *args: Any, **kwargs: Any) -> Any:
        """Adds to the value what replicas combine; otherwise as of any variable.

        Args:
          delta: a tensor of the variable's dtype and shape, or what can become one.
          *args: as of `tf.Variable.assign_add`.
          **kwargs: as of `tf.Variable.assign_add`.

        Returns:
          The variable, or None with `read_value=False`.
        """
        return super().assign_add(self._agreed(delta), *args, **kwargs)

    def assign_sub(self, delta: TensorLike, *args: Any, **kwargs: Any) -> Any:
        """Subtracts from the value what replicas combine; otherwise as of any variable.

        Args:
          delta: a tensor of the variable's dtype and shape, or what can become one.
          *args: as of `tf.Variable.assign_sub`.
          **kwargs: as of `tf.Variable.assign_sub`.

        Returns:
          The variable, or None with `read_value=False`.
        """
        return super().assign_sub(self._agreed(delta), *args, **kwargs)


class OnReadVariable(Variable, DistributedValues):
    """A variable of which each replica has a value; outside of them it is these, combined."""

    @property
    def values(self) -> tuple[EagerTensor, ...]:
        """The values of the replicas, as tensors."""
        cell = self._handle._value
        return tuple([EagerTensor(part) for part in cell.parts])

    def spread(self, replicas: int) -> None:
        """Gives each replica its own storage; called once, when the variable is made.

        Args:
          replicas: how many there are.
        """
        value = self._handle._value.data
        cell = OnReadCell(None, self._name, self.aggregation.name, replicas)
        if value is not None:  # all of it, also of a sum: as in TensorFlow
            cell.parts = [value.copy() for _ in range(replicas)]
        cell.variable = self
        self._handle = EagerTensor(cell)


def mirrored(variable: Any, strategy: Any, replicas: int) -> MirroredVariable:
    """A new variable, as one that is the same on all replicas of a strategy."""
    variable.__class__ = MirroredVariable
    variable._strategy, variable._count = weakref.ref(strategy), replicas
    if variable.synchronization is VariableSynchronization.AUTO:
        variable._synchronization = VariableSynchronization.ON_WRITE
    return variable


def creator_for(strategy: Any, replicas: int) -> Callable[..., Any]:
    """What makes variables in the scope of a strategy of several replicas."""

    def create(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        made: Any = next_creator(**kwargs)
        if type(made) is not Variable:
            return made
        if made.synchronization is not VariableSynchronization.ON_READ:
            return mirrored(made, strategy, replicas)
        changed: Any = made  # a type checker thinks that it stays what it was
        changed.__class__ = OnReadVariable
        changed.spread(replicas)
        return changed

    return create
