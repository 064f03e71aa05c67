"""What strategies hand out: values of several replicas, and how such values are combined."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple


class ReduceOp(enum.Enum):
    """How the values of all replicas become one.

    >>> tf.distribute.ReduceOp.SUM.value
    'SUM'
    """

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: enum.Enum) -> ReduceOp:
        """The way in which a variable's updates are combined.

        Args:
          aggregation: a `tf.VariableAggregation`, SUM or MEAN.

        Returns:
          The `ReduceOp` of the same name.

        Raises:
          ValueError: for any other aggregation.

        >>> tf.distribute.ReduceOp.from_variable_aggregation(tf.VariableAggregation.MEAN)
        <ReduceOp.MEAN: 'MEAN'>
        """
        try:
            return ReduceOp[aggregation.name]
        except KeyError:
            raise ValueError(f"{aggregation} is no way to reduce values of replicas.") from None


def reduce_op(wanted: ReduceOp | str, function: str) -> ReduceOp:
    """A `ReduceOp`, or the one of a name in any case."""
    if isinstance(wanted, ReduceOp):
        return wanted
    try:
        return ReduceOp[str(wanted).upper()]
    except KeyError:
        raise ValueError(
            f"{function}: reduce_op must be tf.distribute.ReduceOp.SUM or MEAN, or their name, got "
            f"{wanted!r}."
        ) from None


class DistributedValues:
    """A value for each of several replicas. Strategies of one replica use plain values instead.

    >>> isinstance(tf.constant(1.0), tf.distribute.DistributedValues)
    False
    """


class DistributedDataset:
    """A dataset whose elements are dealt out to several replicas. One replica has a plain dataset.

    >>> isinstance(tf.data.Dataset.range(3), tf.distribute.DistributedDataset)
    False
    """


class DistributedIterator:
    """An iterator over a `DistributedDataset`. One replica has a plain iterator.

    >>> isinstance(iter(tf.data.Dataset.range(3)), tf.distribute.DistributedIterator)
    False
    """


class InputReplicationMode(enum.Enum):
    """How the function of `Strategy.distribute_datasets_from_function` is called: once, either way.

    >>> tf.distribute.InputReplicationMode.PER_WORKER.value
    'PER_WORKER'
    """

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class RunOptions(NamedTuple):
    """Options of `Strategy.run`; accepted, and without effect on one replica.

    >>> tf.distribute.RunOptions().experimental_enable_dynamic_batch_size
    True
    """

    experimental_enable_dynamic_batch_size: bool = True
    experimental_bucketizing_dynamic_shape: bool = False
    experimental_xla_options: Any = None


class CommunicationImplementation(enum.Enum):
    """What carries collectives; accepted, and without effect.

    >>> tf.distribute.experimental.CommunicationImplementation.AUTO.value
    'AUTO'
    """

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


CollectiveCommunication = CommunicationImplementation


class CommunicationOptions(NamedTuple):
    """Options of collectives: how many seconds one waits for workers that are alive.

    >>> tf.distribute.experimental.CommunicationOptions(timeout_seconds=60.0).timeout_seconds
    60.0
    """

    bytes_per_pack: int = 0
    timeout_seconds: float | None = None
    implementation: CommunicationImplementation = CommunicationImplementation.AUTO


class InputOptions(NamedTuple):
    """Options of datasets that are distributed; accepted, and without effect on one replica.

    >>> tf.distribute.InputOptions().experimental_per_replica_buffer_size
    1
    """

    experimental_fetch_to_device: bool | None = None
    experimental_replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER
    experimental_place_dataset_on_device: bool = False
    experimental_per_replica_buffer_size: int = 1


class InputContext:
    """What a function that makes the input of a worker can ask.

    >>> context = tf.distribute.InputContext(num_replicas_in_sync=1)
    >>> context.get_per_replica_batch_size(32)
    32
    """

    def __init__(
        self,
        num_input_pipelines: int = 1,
        input_pipeline_id: int = 0,
        num_replicas_in_sync: int = 1,
    ) -> None:
        self.num_input_pipelines = num_input_pipelines
        self.input_pipeline_id = input_pipeline_id
        self.num_replicas_in_sync = num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """How many samples of a batch each replica gets.

        Args:
          global_batch_size: the size of a batch for all replicas together.

        Returns:
          An int.

        Raises:
          ValueError: if the batch cannot be dealt out evenly.

        >>> tf.distribute.InputContext(num_replicas_in_sync=4).get_per_replica_batch_size(32)
        8
        """
        size, rest = divmod(global_batch_size, self.num_replicas_in_sync)
        if rest:
            raise ValueError(
                f"A batch of {global_batch_size} cannot be dealt out evenly to "
                f"{self.num_replicas_in_sync} replicas."
            )
        return size


class ValueContext:
    """What a function that makes the value of a replica can ask.

    >>> tf.distribute.experimental.ValueContext(replica_id_in_sync_group=2).replica_id_in_sync_group
    2
    """

    def __init__(self, replica_id_in_sync_group: int = 0, num_replicas_in_sync: int = 1) -> None:
        self.replica_id_in_sync_group = replica_id_in_sync_group
        self.num_replicas_in_sync = num_replicas_in_sync
