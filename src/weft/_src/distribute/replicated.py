"""Several replicas: their function is traced once, and run on all of them."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from weft._src import nest
from weft._src.autograph.conversion import converted
from weft._src.core.composite import CompositeTensor
from weft._src.core.context import state
from weft._src.core.convert import convert_to_tensor
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.distribute import input as inputs
from weft._src.distribute.collectives import (
    all_gathered,
    all_reduced,
    replica_id_op,
)
from weft._src.distribute.current import current
from weft._src.distribute.groups import Group
from weft._src.distribute.per_replica import PerReplica
from weft._src.distribute.replica_run import ReplicaProgram, replica_run_op
from weft._src.distribute.values import InputContext, ValueContext
from weft._src.distribute.variables import creator_for
from weft._src.errors import UnsupportedError
from weft._src.function.decorator import function
from weft._src.ops.arrays.joining import concat, stack
from weft._src.ops.control.nested import NestedTrace, pack_like, share_captures
from weft._src.ops.reduce.sums import reduce_mean, reduce_sum

_MOST_FUNCTIONS = 64  # that `run` has been called with outside of functions


class Replicas:
    """Several replicas of one process; `count` are all there are, `local` those that are here."""

    def __init__(self, strategy: Any, local: int, job: tuple[Group, int] | None = None) -> None:
        self.strategy = strategy
        self.job = job
        self.local = local
        self.count = local if job is None else local * job[0].size
        self._create = creator_for(strategy, local)
        self._functions: OrderedDict[Any, Any] = OrderedDict()

    @contextlib.contextmanager
    def creating(self) -> Iterator[None]:
        """Inside, variables belong to the replicas."""
        outer = state.variable_creators
        if self._create not in outer:
            state.variable_creators = (*outer, self._create)
        try:
            yield
        finally:
            state.variable_creators = outer

    # --- running -----------------------------------------------------------------------------

    def run(self, fn: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """`fn` on every replica; a value for each of them in place of every tensor it returns."""
        if current.in_replica:
            raise RuntimeError(
                "Strategy.run was called by a function that runs on replicas already. Call the "
                "function itself there."
            )
        if state.graph is None:
            return self._function_of(fn)(tuple(args), kwargs)
        return self._traced(fn, tuple(args), kwargs)

    def _function_of(self, fn: Callable[..., Any]) -> Any:
        """`run` outside of functions traces the function like one: all replicas run one graph."""
        try:
            found = self._functions.get(fn)
        except TypeError as error:
            raise TypeError(f"Strategy.run: fn must be hashable, got {fn!r}.") from error
        if found is None:

            def run_on_replicas(args: Any, kwargs: Any) -> Any:
                return self._traced(fn, args, kwargs)

            found = self._functions[fn] = function(run_on_replicas, autograph=False)
            while len(self._functions) > _MOST_FUNCTIONS:
                self._functions.popitem(last=False)
        self._functions.move_to_end(fn)
        return found

    def _traced(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        leaves = nest.flatten((args, kwargs))
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, PerReplica)]
        given = [leaves[i].values for i in places]
        for values in given:
            if len(values) != self.local:
                raise ValueError(
                    f"Strategy.run: an argument has values for {len(values)} replicas; this "
                    f"strategy has {self.local}{' here' if self.job else ''}."
                )
        inputs = [values[i] for i in range(self.local) for values in given]
        specs = [_common_spec(values) for values in given]
        specs += [t.spec for t in inputs[len(given) :]]

        def replica(*placeholders: Tensor) -> Any:
            own = list(leaves)
            for i, placeholder in zip(places, placeholders):
                own[i] = placeholder
            own_args, own_kwargs = nest.pack_sequence_as((args, kwargs), own)
            with self._in_replica():
                return converted(fn)(*own_args, **own_kwargs)

        trace = NestedTrace(replica, "replica", specs, tuple(inputs), scope="replica")
        captured = share_captures([trace])
        devices = self.strategy.extended.worker_devices
        program = ReplicaProgram(trace.graph, self.local, len(given), devices, self.job)
        results = replica_run_op(
            *inputs,
            *captured,
            body=trace.graph,
            program=program,
            replicas=self.local,
            arguments=len(given),
            name="replica_run",
        )
        return self._joined(trace.result, results)

    @contextlib.contextmanager
    def _in_replica(self) -> Iterator[None]:
        outer = current.strategy, current.across_replicas, current.in_replica
        current.strategy, current.across_replicas = self.strategy, False
        current.in_replica = True
        try:
            yield
        finally:
            current.strategy, current.across_replicas, current.in_replica = outer

    def _joined(self, result: Any, values: Sequence[Tensor]) -> Any:
        """The structure that the function returned, with the values of all replicas in it."""
        for leaf in nest.flatten(result):
            if isinstance(leaf, CompositeTensor):
                raise UnsupportedError(
                    f"Strategy.run: fn returns a {type(leaf).__name__}, which several replicas "
                    "cannot (yet). Return its tensors."
                )
        count = len(values) // self.local
        each = [pack_like(result, values[i * count : (i + 1) * count]) for i in range(self.local)]
        return nest.map_structure(_per_replica, *each)

    # --- combining ---------------------------------------------------------------------------

    def all_reduce(self, how: str, value: Any) -> Any:
        """The values of all replicas combined, for a function that runs on one of them."""
        return all_reduced(how, value)

    def all_gather(self, value: Any, axis: int) -> Any:
        """The values of all replicas joined, for a function that runs on one of them."""
        return all_gathered(value, axis, self.count)

    def reduce(self, how: str, value: Any, axis: int | None) -> Any:
        """Values of replicas as one tensor, outside of them; or in what they do together."""
        if current.in_replica:
            return self.all_reduce(how, along(how, value, axis))
        return nest.map_structure(lambda x: self._reduced(how, x, axis), value)

    def _reduced(self, how: str, value: Any, axis: int | None) -> Any:
        if not isinstance(value, PerReplica):
            if how == "SUM":
                raise ValueError(
                    f"Strategy.reduce: SUM needs a value for each replica, as Strategy.run returns "
                    f"them, got {value!r}. Use MEAN for one that is the same on all."
                )
            return along(how, value, axis)
        values = value.values
        if axis is None:
            joined = stack(list(values))
            return reduce_sum(joined, 0) if how == "SUM" else reduce_mean(joined, 0)
        joined = concat([_with_axis(x, axis) for x in values], axis)
        return along(how, joined, axis)

    def gather(self, value: Any, axis: int) -> Any:
        """Values of replicas behind one another, outside of them."""
        return nest.map_structure(
            lambda x: concat(
                list(x.values if isinstance(x, PerReplica) else [x] * self.local), axis
            ),
            value,
        )

    def local_results(self, value: Any) -> tuple[Any, ...]:
        """The values of the replicas as a tuple."""
        leaves = nest.flatten(value)
        if not any(isinstance(leaf, PerReplica) for leaf in leaves):
            return tuple([value] * self.local)
        return tuple(
            [
                nest.pack_sequence_as(
                    value, [x.values[i] if isinstance(x, PerReplica) else x for x in leaves]
                )
                for i in range(self.local)
            ]
        )

    # --- input -------------------------------------------------------------------------------

    def split(self, dataset: Any) -> Any:
        """The dataset with a piece of each batch for every replica."""
        return inputs.split(dataset, self.count)

    def from_function(self, dataset_fn: Callable[[Any], Any]) -> Any:
        """The dataset that a function makes, an element for each replica at a time."""
        context = InputContext(num_replicas_in_sync=self.count)
        return inputs.grouped(dataset_fn(context), self.count)

    def values_from(self, value_fn: Callable[[Any], Any]) -> Any:
        """The values that a function makes for the replicas."""
        contexts = [ValueContext(i, self.count) for i in range(self.count)]
        return inputs.values_from(value_fn, contexts, convert_to_tensor)

    @property
    def replica_id(self) -> Any:
        """The number of the replica whose function is being traced."""
        return replica_id_op()


def _per_replica(*values: Any) -> Any:
    return values[0] if values[0] is None else PerReplica(values)


def _common_spec(values: Sequence[Tensor]) -> TensorSpec:
    """The type that the values of all replicas have."""
    spec = values[0].spec
    for value in values[1:]:
        if value.dtype is not spec.dtype:
            raise TypeError(
                f"Strategy.run: an argument has dtype {spec.dtype.name} on replica 0 and "
                f"{value.dtype.name} on another one."
            )
        shape = spec.shape.most_specific_compatible_shape(value.shape)
        spec = TensorSpec(shape, spec.dtype)
    return spec


def _with_axis(x: Tensor, axis: int) -> Tensor:
    if x.spec.rank == 0:
        raise ValueError(
            f"Strategy.reduce: axis is {axis}, and a value is a scalar. Use axis=None to combine "
            "the values of replicas only."
        )
    return x


def along(how: str, value: Any, axis: int | None) -> Any:
    """Sums or means along an axis of every value; without one, the values."""
    if axis is None:
        return value
    reduce = reduce_sum if how == "SUM" else reduce_mean
    return nest.map_structure(lambda x: reduce(convert_to_tensor(x), axis), value)
