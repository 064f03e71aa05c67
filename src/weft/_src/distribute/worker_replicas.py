"""Several processes with several replicas each."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src import nest
from weft._src.core.convert import convert_to_tensor
from weft._src.distribute import input as inputs
from weft._src.distribute.collectives import all_reduced, gather_op
from weft._src.distribute.current import current
from weft._src.distribute.process_group import ProcessGroup
from weft._src.distribute.replicated import Replicas, along
from weft._src.distribute.values import InputContext, ValueContext
from weft._src.distribute.variables import MirroredVariable, OnReadVariable, creator_for
from weft._src.distribute.workers import ReadTogether, heartbeat_seconds
from weft._src.execution.devices import names


class WorkersOnReadVariable(ReadTogether, OnReadVariable):
    """A variable of which each replica of each process has a value."""


def check_alike(job: tuple[ProcessGroup, int], local: int) -> None:
    """ValueError, for all of them, unless all processes have as many replicas."""
    group, number = job
    counts = [int(parts[0]) for parts in group.all_gather(number, [np.array(local)])]
    if len(set(counts)) > 1:
        raise ValueError(
            "tf.distribute.MultiWorkerMirroredStrategy: all workers must have the same number of "
            f"devices; they have {', '.join(map(str, counts))}."
        )


def span_processes(job: tuple[ProcessGroup, int], address: str) -> None:
    """From now on programs of XLA can run on the devices of all processes.

    Args:
      job: the group, and the number of this process.
      address: that of process 0, whose machine coordinates jax.
    """
    from weft._src.execution.xla import runtime

    group, number = job
    host = address.rpartition(":")[0]
    with socket.create_server((host.strip("[]") if number == 0 else "", 0)) as free:
        port = free.getsockname()[1]
    ports = [int(parts[0]) for parts in group.all_gather(number, [np.array(port)])]
    runtime.join(f"{host}:{ports[0]}", group.size, number, names.cpus, heartbeat_seconds())
    names.of_other_processes = True


class WorkerReplicas(Replicas):
    """The replicas of a job, as a process with several of them sees it."""

    def __init__(self, strategy: Any, group: ProcessGroup, number: int, local: int) -> None:
        super().__init__(strategy, local, (group, number))
        self._group, self._number = group, number
        make = creator_for(strategy, local)

        def create(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
            made: Any = make(next_creator, **kwargs)
            if isinstance(made, MirroredVariable):
                cell = made.handle._value
                if cell.data is not None:  # all begin with what process 0 has
                    cell.write(group.all_reduce(number, [cell.data], "FIRST")[0])
            elif isinstance(made, OnReadVariable):
                made.__class__ = WorkersOnReadVariable
            return made

        self._create = create

    # --- combining ---------------------------------------------------------------------------

    def reduce(self, how: str, value: Any, axis: int | None) -> Any:
        """Values of all replicas as one tensor."""
        if current.in_replica:
            return super().reduce(how, value, axis)
        leaves = nest.flatten(value)
        if axis is not None and how == "MEAN":  # of all rows, however many each replica has
            means = [along(how, self.gather(x, axis), axis) for x in leaves]
            return nest.pack_sequence_as(value, means)
        return all_reduced(how, super().reduce(how, value, axis))

    def gather(self, value: Any, axis: int) -> Any:
        """Values of all replicas behind one another."""
        size = self._group.size
        return nest.map_structure(
            lambda x: gather_op(super(WorkerReplicas, self).gather(x, axis), axis=axis, size=size),
            value,
        )

    # --- input -------------------------------------------------------------------------------

    def split(self, dataset: Any) -> Any:
        """The dataset with pieces of each batch for the replicas of this process."""
        first = self._number * self.local
        return inputs.split(dataset, self.count, range(first, first + self.local))

    def from_function(self, dataset_fn: Callable[[Any], Any]) -> Any:
        """The dataset that a function makes for this process."""
        context = InputContext(self._group.size, self._number, self.count)
        return inputs.grouped(dataset_fn(context), self.local)

    def values_from(self, value_fn: Callable[[Any], Any]) -> Any:
        """The values that a function makes for the replicas of this process."""
        first = self._number * self.local
        contexts = [ValueContext(first + i, self.count) for i in range(self.local)]
        return inputs.values_from(value_fn, contexts, convert_to_tensor)
