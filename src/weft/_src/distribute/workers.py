"""Several processes, each with one replica, which meet in collectives over the network."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from weft._src import nest
from weft._src.autograph.conversion import converted
from weft._src.core.aliases import TensorLike
from weft._src.core.context import state
from weft._src.core.convert import convert_to_tensor
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.distribute import groups
from weft._src.distribute.collectives import all_gathered, all_reduced, gather_op, reduce_op
from weft._src.distribute.current import current
from weft._src.distribute.input import own_pieces
from weft._src.distribute.process_group import ProcessGroup
from weft._src.distribute.replicated import along
from weft._src.distribute.values import DistributedValues, InputContext, ValueContext
from weft._src.distribute.variables import HOW, mirrored
from weft._src.state.creators import VariableAggregation, VariableSynchronization
from weft._src.state.variable import Variable


class ReadTogether(Variable):
    """A variable of which each worker has a value; outside of replicas it is these, combined.

    Whoever reads it there takes part in a collective, so all workers have to.
    """

    def _together(self, value: Tensor) -> Tensor:
        if current.in_replica:
            return value
        how = HOW.get(self.aggregation)
        if how is None:
            raise ValueError(
                f"The variable {self.name!r} has a value on each worker (synchronization ON_READ), "
                "and no aggregation that says what it is outside of replicas. Pass "
                "aggregation=tf.VariableAggregation.SUM, MEAN or ONLY_FIRST_REPLICA."
            )
        return reduce_op(value, how=how)[0]

    def assign(self, value: TensorLike, *args: Any, **kwargs: Any) -> Any:
        """Sets the value; outside of replicas each worker gets its share of a sum.

        Args:
          value: a tensor of the variable's dtype and shape, or what can become one.
          *args: as of `tf.Variable.assign`.
          **kwargs: as of `tf.Variable.assign`.

        Returns:
          The variable, or None with `read_value=False`.
        """
        return super().assign(share_of(self, value), *args, **kwargs)

    def value(self) -> Tensor:
        """The value of this worker in a replica, else what all have together.

        Returns:
          A tensor.
        """
        return self._together(super().value())

    def _read_now(self) -> EagerTensor:
        return self._together(super()._read_now())  # type: ignore[return-value]

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return saved_together(self)


class WorkerVariable(ReadTogether, DistributedValues):
    """Such a variable of workers with one replica each."""


def saved_together(variable: Variable) -> dict[str, Any]:
    """What a checkpoint keeps of a variable that all workers have a value of: these, combined.

    So all workers have to save, as in TensorFlow; each gets its share when it is restored.
    """
    if HOW.get(variable.aggregation) is None:
        return {"VARIABLE_VALUE": variable}
    return {"VARIABLE_VALUE": variable._read_now()}


def join_job(addresses: Sequence[str], number: int, options: Any) -> tuple[ProcessGroup, int]:
    """Takes part in a job as one of its processes: the group, and the number of this one."""
    if groups.job:
        raise RuntimeError(
            "This process takes part in a job already: a program has one "
            "MultiWorkerMirroredStrategy."
        )
    if not 0 <= number < len(addresses):
        raise ValueError(
            f"TF_CONFIG: the task has index {number}, and there are {len(addresses)} workers."
        )
    group = ProcessGroup(
        addresses,
        number,
        join_seconds=_seconds("WEFT_JOIN_SECONDS", 60.0),
        heartbeat_seconds=heartbeat_seconds(),
        collective_seconds=getattr(options, "timeout_seconds", None) or 600.0,
        token=os.environ.get("WEFT_JOB_TOKEN", ""),
    )
    groups.job.append((group, number))
    return group, number


def heartbeat_seconds() -> float:
    """After how many seconds a silent worker counts as dead."""
    return _seconds("WEFT_HEARTBEAT_SECONDS", 30.0)


def share_of(variable: Variable, value: TensorLike) -> Any:
    """What a process assigns to a variable of which each has a value: its share of a sum."""
    if current.in_replica or variable.aggregation is not VariableAggregation.SUM:
        return value
    whole = convert_to_tensor(value, dtype=variable.dtype)
    count = groups.job[-1][0].size
    return whole / count if variable.dtype.is_floating else whole // count


class Workers:
    """The replicas of a job of several processes with one each, as one of them sees it."""

    def __init__(self, strategy: Any, group: ProcessGroup, number: int) -> None:
        self.strategy = strategy
        self.count, self.number = group.size, number
        self.group = group

    @contextlib.contextmanager
    def creating(self) -> Iterator[None]:
        """Inside, variables belong to the job."""
        outer = state.variable_creators
        if self._create not in outer:
            state.variable_creators = (*outer, self._create)
        try:
            yield
        finally:
            state.variable_creators = outer

    def _create(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        made: Any = next_creator(**kwargs)
        if type(made) is not Variable:
            return made
        if made.synchronization is VariableSynchronization.ON_READ:
            made.__class__ = WorkerVariable
            return made
        made = mirrored(made, self.strategy, self.count)
        cell = made.handle._value
        if cell.data is not None:  # all begin with what worker 0 has
            cell.write(self.group.all_reduce(self.number, [cell.data], "FIRST")[0])
        return made

    # --- running -----------------------------------------------------------------------------

    def run(self, fn: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """`fn` on the replica of this worker."""
        if current.in_replica:
            raise RuntimeError("Strategy.run was called by a function that runs on replicas.")
        outer = current.strategy, current.across_replicas
        current.strategy, current.across_replicas = self.strategy, False
        current.in_replica = True
        try:
            call = fn if state.graph is None else converted(fn)
            return call(*args, **kwargs)
        finally:
            current.strategy, current.across_replicas = outer
            current.in_replica = False

    @property
    def replica_id(self) -> int:
        """The number of this worker's replica."""
        return self.number

    # --- combining ---------------------------------------------------------------------------

    def all_reduce(self, how: str, value: Any) -> Any:
        """The values of all workers combined."""
        return all_reduced(how, value)

    def all_gather(self, value: Any, axis: int) -> Any:
        """The values of all workers joined."""
        return all_gathered(value, axis, self.count)

    def reduce(self, how: str, value: Any, axis: int | None) -> Any:
        """The values of all workers as one."""
        leaves = [convert_to_tensor(x) for x in nest.flatten(value)]
        if any(x.spec.rank == 0 for x in leaves):
            axis = None
        if axis is not None and how == "MEAN":  # of all rows, however many each worker has
            return nest.map_structure(
                lambda x: along(
                    "MEAN", gather_op(convert_to_tensor(x), axis=axis, size=self.count), axis
                ),
                value,
            )
        return self.all_reduce(how, along(how, value, axis))

    def gather(self, value: Any, axis: int) -> Any:
        """The values of all workers joined."""
        return self.all_gather(value, axis)

    def local_results(self, value: Any) -> tuple[Any, ...]:
        """The values of the replicas of this worker: one."""
        return (value,)

    # --- input -------------------------------------------------------------------------------

    def split(self, dataset: Any) -> Any:
        """The rows of each batch that are this worker's."""
        return own_pieces(dataset, self.number, self.count)

    def from_function(self, dataset_fn: Callable[[Any], Any]) -> Any:
        """The dataset that a function makes for this worker."""
        return dataset_fn(InputContext(self.count, self.number, self.count))

    def values_from(self, value_fn: Callable[[Any], Any]) -> Any:
        """The value that a function makes for this worker."""
        return value_fn(ValueContext(self.number, self.count))


def _seconds(variable: str, usual: float) -> float:
    text = os.environ.get(variable)
    try:
        return usual if text is None else float(text)
    except ValueError:
        raise ValueError(f"{variable} must be a number of seconds, got {text!r}.") from None
