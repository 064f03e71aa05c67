"""What all strategies have in common, and the default one: one replica.

A program that is written for several replicas runs there as it is: with one of them, to run a
function on every replica is to call it, and to combine what they give is to take it. Several
replicas are the matter of `replicated.py`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from weft._src import nest
from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.distribute.current import current
from weft._src.distribute.replicated import Replicas
from weft._src.distribute.values import InputContext, ReduceOp, ValueContext, reduce_op
from weft._src.distribute.workers import Workers
from weft._src.ops.reduce.sums import reduce_mean, reduce_sum


class Strategy:
    """How a program is spread over replicas; this one is the default: there is one of them.

    >>> strategy = tf.distribute.get_strategy()
    >>> strategy.num_replicas_in_sync
    1
    >>> strategy.run(lambda x: x * 2.0, args=(tf.constant(3.0),)).numpy()
    np.float32(6.0)
    """

    def __init__(self, extended: StrategyExtended | None = None, replicas: int = 1) -> None:
        self._extended = extended or StrategyExtended(self)
        self._replicas: Replicas | Workers | None = None
        if replicas > 1:
            self._replicas = Replicas(self, replicas)

    @property
    def extended(self) -> StrategyExtended:
        """What libraries need besides."""
        return self._extended

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return 1 if self._replicas is None else self._replicas.count

    @property
    def cluster_resolver(self) -> None:
        """What tells which machines there are: there is one."""
        return None

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Variables that are made inside belong to the strategy.

        Returns:
          A context manager that gives the strategy.

        Raises:
          RuntimeError: if another strategy's scope is open.

        >>> strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
        >>> with strategy.scope():
        ...     print(tf.distribute.get_strategy() is strategy)
        True
        """
        outer = current.strategy, current.across_replicas
        if outer[0] is not None and outer[0] is not self:
            raise RuntimeError(
                f"The scope of a {type(self).__name__} cannot be opened in that of another "
                f"strategy, a {type(outer[0]).__name__}. Leave that one first."
            )
        current.strategy, current.across_replicas = self, True
        try:
            with contextlib.nullcontext() if self._replicas is None else self._replicas.creating():
                yield self
        finally:
            current.strategy, current.across_replicas = outer

    def run(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
        options: Any = None,
    ) -> Any:
        """Calls a function on every replica.

        Args:
          fn: the function.
          args: its arguments.
          kwargs: its keyword arguments.
          options: accepted for compatibility.

        Returns:
          What the function returns; with several replicas, a value for each of them in place of
          every tensor (`tf.distribute.DistributedValues`).

        Raises:
          RuntimeError: if a function that runs on several replicas calls it.

        >>> tf.distribute.get_strategy().run(tf.add, args=(1, 2)).numpy()
        np.int32(3)
        """
        if self._replicas is not None:
            return self._replicas.run(fn, args, kwargs or {})
        outer = current.strategy, current.across_replicas
        current.strategy = None if self is _default else self
        current.across_replicas = False
        try:
            return fn(*args, **(kwargs or {}))
        finally:
            current.strategy, current.across_replicas = outer

    def reduce(self, reduce_op: ReduceOp | str, value: TensorLike, axis: int | None) -> Any:
        """Combines the values of all replicas, and along an axis of each.

        Args:
          reduce_op: `tf.distribute.ReduceOp.SUM` or `MEAN`, or their name.
          value: what `run` returned, or a nest of such values.
          axis: the axis along which values are combined too; None: they are not.

        Returns:
          A tensor, or a nest of them.

        Raises:
          ValueError: if `reduce_op` is neither.

        >>> strategy = tf.distribute.get_strategy()
        >>> strategy.reduce("SUM", tf.constant([1.0, 2.0]), axis=0).numpy()
        np.float32(3.0)
        """
        if self._replicas is not None:
            return self._replicas.reduce(_name(reduce_op, "reduce"), value, axis)
        return nest.map_structure(lambda x: _reduced(reduce_op, x, axis), value)

    def gather(self, value: TensorLike, axis: int) -> Any:
        """The values of all replicas behind one another.

        Args:
          value: what `run` returned, or a nest of such values.
          axis: the axis along which they are joined.

        Returns:
          A tensor, or a nest of them.

        >>> tf.distribute.get_strategy().gather(tf.constant([1, 2]), axis=0).numpy()
        array([1, 2], dtype=int32)
        """
        if self._replicas is not None:
            return self._replicas.gather(value, axis)
        return nest.map_structure(convert_to_tensor, value)

    def experimental_local_results(self, value: TensorLike) -> tuple[Any, ...]:
        """The values of the replicas on this machine, as a tuple.

        Args:
          value: what `run` returned.

        Returns:
          A tuple of as many values as there are replicas.

        >>> tf.distribute.get_strategy().experimental_local_results(3)
        (3,)
        """
        if self._replicas is not None:
            return self._replicas.local_results(value)
        return (value,)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """Deals the elements of a dataset out to the replicas.

        Args:
          dataset: a `tf.data.Dataset` with batches for all replicas together.
          options: accepted for compatibility.

        Returns:
          With one replica the dataset itself. With several, a `tf.distribute.DistributedDataset`,
          whose elements have a piece of the batch for each of them.

        Raises:
          ValueError: if there are several replicas, and the elements are no batches.

        >>> dataset = tf.data.Dataset.range(4).batch(2)
        >>> tf.distribute.get_strategy().experimental_distribute_dataset(dataset) is dataset
        True
        """
        if self._replicas is not None:
            return self._replicas.split(dataset)
        return dataset

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[Any], Any], options: Any = None
    ) -> Any:
        """The datasets that a function makes for the replicas.

        Args:
          dataset_fn: a function of an `InputContext` that returns a dataset.
          options: accepted for compatibility.

        Returns:
          With one replica its dataset. With several, a `tf.distribute.DistributedDataset`, which
          gives each of them an element of the dataset at a time.

        >>> strategy = tf.distribute.get_strategy()
        >>> dataset = strategy.distribute_datasets_from_function(
        ...     lambda context: tf.data.Dataset.range(context.num_replicas_in_sync)
        ... )
        >>> [int(x) for x in dataset]
        [0]
        """
        if self._replicas is not None:
            return self._replicas.from_function(dataset_fn)
        return dataset_fn(InputContext())

    def experimental_distribute_values_from_function(self, value_fn: Callable[[Any], Any]) -> Any:
        """The values that a function makes for the replicas.

        Args:
          value_fn: a function of a `ValueContext`.

        Returns:
          With one replica its value, with several a value for each of them.

        >>> strategy = tf.distribute.get_strategy()
        >>> strategy.experimental_distribute_values_from_function(
        ...     lambda context: context.replica_id_in_sync_group
        ... )
        0
        """
        if self._replicas is not None:
            return self._replicas.values_from(value_fn)
        return value_fn(ValueContext())

    def __repr__(self) -> str:
        count = "one replica" if self._replicas is None else f"{self._replicas.count} replicas"
        return f"<tf.distribute.{type(self).__name__} of {count}>"


def _reduced(how: ReduceOp | str, value: TensorLike, axis: int | None) -> Any:
    wanted = reduce_op(how, "tf.distribute.Strategy.reduce")
    if axis is None:
        return value
    return (reduce_sum if wanted is ReduceOp.SUM else reduce_mean)(value, axis=axis)


def _name(how: ReduceOp | str, function: str) -> str:
    return reduce_op(how, f"tf.distribute.Strategy.{function}").name


class StrategyExtended:
    """What libraries ask of a strategy besides.

    >>> tf.distribute.get_strategy().extended.worker_devices
    ('/job:localhost/replica:0/task:0/device:CPU:0',)
    """

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self.worker_devices: tuple[str, ...] = ("/job:localhost/replica:0/task:0/device:CPU:0",)
        self.parameter_devices: tuple[str, ...] = self.worker_devices

    def _use_merge_call(self) -> bool:
        """Whether replicas have to meet before variables are changed; one has nobody to meet."""
        return False

    def _in_multi_worker_mode(self) -> bool:
        """Whether several processes work together."""
        return isinstance(self._strategy._replicas, Workers)

    @contextlib.contextmanager
    def colocate_vars_with(self, colocate_with_variable: Any) -> Iterator[None]:
        """Variables that are made inside live where another one does.

        Args:
          colocate_with_variable: the other variable.

        Returns:
          A context manager.

        >>> extended = tf.distribute.get_strategy().extended
        >>> with extended.colocate_vars_with(tf.Variable(1.0)):
        ...     v = tf.Variable(2.0)
        """
        yield

    def variable_created_in_scope(self, v: Any) -> bool:
        """Whether a variable belongs to the strategy, or may be used as if it did.

        Args:
          v: a variable.

        Returns:
          A bool.

        >>> tf.distribute.get_strategy().extended.variable_created_in_scope(tf.Variable(1.0))
        True
        """
        return True

    def update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
        group: bool = True,
    ) -> Any:
        """Changes a variable by a function of it, on every device that has a copy.

        Args:
          var: the variable.
          fn: the function, whose first argument is the variable.
          args: its other arguments.
          kwargs: its keyword arguments.
          group: accepted for compatibility.

        Returns:
          What the function returns.

        >>> v = tf.Variable(1.0)
        >>> _ = tf.distribute.get_strategy().extended.update(v, lambda v, x: v.assign(x), (2.0,))
        >>> v.numpy()
        np.float32(2.0)
        """
        outer = current.is_updating
        current.is_updating = True  # what is assigned is the same on all replicas
        try:
            return fn(var, *args, **(kwargs or {}))
        finally:
            current.is_updating = outer

    def reduce_to(self, reduce_op: ReduceOp | str, value: TensorLike, destinations: Any) -> Any:
        """Combines the values of all replicas.

        Args:
          reduce_op: `tf.distribute.ReduceOp.SUM` or `MEAN`.
          value: the value.
          destinations: accepted for compatibility.

        Returns:
          The value.

        >>> tf.distribute.get_strategy().extended.reduce_to("SUM", 3, None)
        3
        """
        return self._strategy.reduce(reduce_op, value, axis=None)


class ReplicaContext:
    """What a function that runs on a replica can ask about it, and do with the others.

    >>> context = tf.distribute.get_replica_context()
    >>> context.replica_id_in_sync_group, context.num_replicas_in_sync
    (0, 1)
    """

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy

    @property
    def strategy(self) -> Strategy:
        """The strategy that runs the function."""
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self._strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> Any:
        """The number of this replica; with several, a scalar tensor."""
        several = self._strategy._replicas
        return 0 if several is None else several.replica_id

    @property
    def devices(self) -> tuple[str, ...]:
        """Where this replica runs."""
        return self._strategy.extended.worker_devices

    def all_reduce(self, reduce_op: ReduceOp | str, value: TensorLike, options: Any = None) -> Any:
        """Combines the values of all replicas, and gives each of them the result.

        Args:
          reduce_op: `tf.distribute.ReduceOp.SUM` or `MEAN`.
          value: a tensor, or a nest of them.
          options: accepted for compatibility.

        Returns:
          The combined value; of one replica its own.

        Raises:
          ValueError: if `reduce_op` is neither.

        >>> tf.distribute.get_replica_context().all_reduce("SUM", tf.constant(3.0)).numpy()
        np.float32(3.0)
        """
        if self._strategy._replicas is not None:
            return self._strategy._replicas.all_reduce(_name(reduce_op, "all_reduce"), value)
        return nest.map_structure(lambda x: _reduced(reduce_op, x, None), value)

    def all_gather(self, value: TensorLike, axis: int, options: Any = None) -> Any:
        """The values of all replicas behind one another, for each of them.

        Args:
          value: a tensor, or a nest of them.
          axis: the axis along which they are joined.
          options: accepted for compatibility.

        Returns:
          The joined values; of one replica its own.

        >>> tf.distribute.get_replica_context().all_gather(tf.constant([1, 2]), axis=0).numpy()
        array([1, 2], dtype=int32)
        """
        if self._strategy._replicas is not None:
            return self._strategy._replicas.all_gather(value, axis)
        return nest.map_structure(convert_to_tensor, value)

    def merge_call(
        self,
        merge_fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Calls a function once for all replicas, with the values of all of them.

        Args:
          merge_fn: a function whose first argument is the strategy.
          args: its other arguments.
          kwargs: its keyword arguments.

        Returns:
          What the function returns.

        >>> tf.distribute.get_replica_context().merge_call(lambda strategy, x: x + 1, (2,))
        3
        """
        outer = current.across_replicas
        current.across_replicas = True
        try:
            return merge_fn(self._strategy, *args, **(kwargs or {}))
        finally:
            current.across_replicas = outer


_default = Strategy()


def get_strategy() -> Strategy:
    """The strategy whose scope is open, or that runs the function which asks; else the default.

    Returns:
      A `tf.distribute.Strategy`.

    >>> tf.distribute.get_strategy().num_replicas_in_sync
    1
    """
    return current.strategy or _default


def has_strategy() -> bool:
    """Whether a strategy other than the default one is in use.

    Returns:
      A bool.

    >>> tf.distribute.has_strategy()
    False
    """
    return current.strategy is not None


def get_replica_context() -> ReplicaContext | None:
    """What the replica that asks can ask about itself.

    Returns:
      A `tf.distribute.ReplicaContext`; None outside of replicas, directly in a strategy's scope.

    >>> tf.distribute.get_replica_context().replica_id_in_sync_group
    0
    """
    return None if current.across_replicas else ReplicaContext(get_strategy())


def in_cross_replica_context() -> bool:
    """Whether the program is outside of replicas, directly in a strategy's scope.

    Returns:
      A bool.

    >>> tf.distribute.in_cross_replica_context()
    False
    """
    return current.across_replicas
