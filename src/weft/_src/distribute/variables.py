"""Variables of several replicas: alike on all of them, or with a value on each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.replica_cells import OnReadCell
from weft._src.core.tensor import EagerTensor
from weft._src.distribute.collectives import reduce_op
from weft._src.distribute.current import current
from weft._src.state.creators import VariableAggregation, VariableSynchronization
from weft._src.state.variable import Variable

_HOW = {
    VariableAggregation.SUM: "SUM",
    VariableAggregation.MEAN: "MEAN",
    VariableAggregation.ONLY_FIRST_REPLICA: "FIRST",
}


class MirroredVariable(Variable):
    """A variable that has the same value on all replicas.

    A replica that assigns to it assigns what all of them agree on: the sum or mean of their values,
    or that of the first, as `aggregation` says.
    """

    def _agreed(self, value: TensorLike, method: str) -> Any:
        """What replicas assign together."""
        if not current.in_replica or current.is_updating:
            return value
        how = _HOW.get(self.aggregation)
        if how is None:
            raise ValueError(
                f"{method}: the variable {self.name!r} is the same on all replicas, and each of "
                "them assigns a value of its own. Say how these become one, with aggregation="
                "tf.VariableAggregation.SUM, MEAN or ONLY_FIRST_REPLICA when it is made; or, if "
                "each is to have its own, with synchronization=tf.VariableSynchronization.ON_READ."
            )
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
        return super().assign(self._agreed(value, "assign"), *args, **kwargs)

    def assign_add(self, delta: TensorLike, *args: Any, **kwargs: Any) -> Any:
        """Adds to the value what replicas combine; otherwise as of any variable.

        Args:
          delta: a tensor of the variable's dtype and shape, or what can become one.
          *args: as of `tf.Variable.assign_add`.
          **kwargs: as of `tf.Variable.assign_add`.

        Returns:
          The variable, or None with `read_value=False`.
        """
        return super().assign_add(self._agreed(delta, "assign_add"), *args, **kwargs)

    def assign_sub(self, delta: TensorLike, *args: Any, **kwargs: Any) -> Any:
        """Subtracts from the value what replicas combine; otherwise as of any variable.

        Args:
          delta: a tensor of the variable's dtype and shape, or what can become one.
          *args: as of `tf.Variable.assign_sub`.
          **kwargs: as of `tf.Variable.assign_sub`.

        Returns:
          The variable, or None with `read_value=False`.
        """
        return super().assign_sub(self._agreed(delta, "assign_sub"), *args, **kwargs)


class OnReadVariable(Variable):
    """A variable of which each replica has a value; outside of them it is these, combined."""

    def spread(self, replicas: int) -> None:
        """Gives each replica its own storage; called once, when the variable is made.

        Args:
          replicas: how many there are.
        """
        value = self._handle._value.data
        cell = OnReadCell(value, self._name, self.aggregation.name, replicas)
        cell.variable = self
        self._handle = EagerTensor(cell)


def creator_for(replicas: int) -> Callable[..., Any]:
    """What makes variables in the scope of a strategy of several replicas."""

    def create(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        made: Any = next_creator(**kwargs)
        if type(made) is not Variable:
            return made
        is_apart = made.synchronization is VariableSynchronization.ON_READ
        vars_of: Any = made
        vars_of.__class__ = OnReadVariable if is_apart else MirroredVariable
        if is_apart:
            vars_of.spread(replicas)
        return vars_of

    return create
