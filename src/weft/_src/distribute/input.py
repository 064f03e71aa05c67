"""Datasets that are dealt out to replicas."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from weft._src import nest
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec, TypeSpec
from weft._src.core.tensor import Tensor
from weft._src.data.core.base import INPUT, DatasetSpec, dataset_op, make_dataset
from weft._src.data.core.stage import Cursor, Run, Stage, scaled
from weft._src.data.core.structure import Values
from weft._src.data.dataset import Dataset
from weft._src.distribute.per_replica import PerReplica, PerReplicaSpec
from weft._src.distribute.values import DistributedDataset
from weft._src.errors import InvalidArgumentError, UnsupportedError
from weft._src.ops.arrays import shape as shapes


class DealtDatasetSpec(TypeSpec):
    """The type of a distributed dataset: that of its elements, a value for each replica."""

    __slots__ = ("element_spec",)

    def __init__(self, element_spec: Any) -> None:
        self.element_spec = element_spec

    @property
    def value_type(self) -> type:
        """The class of the values this spec describes."""
        return DealtDataset

    def _serialize(self) -> tuple[Any, ...]:
        return (self.element_spec,)

    @property
    def _component_specs(self) -> Any:
        return DatasetSpec(self.element_spec)._component_specs

    def _to_components(self, value: DealtDataset) -> Any:
        return value._dataset._variant

    def _from_components(self, components: Any) -> DealtDataset:
        return DealtDataset(make_dataset(components, self.element_spec))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DealtDatasetSpec) and DatasetSpec(
            self.element_spec
        ) == DatasetSpec(other.element_spec)

    def __hash__(self) -> int:
        return hash(DatasetSpec(self.element_spec))

    def __repr__(self) -> str:
        return f"DistributedDatasetSpec({self.element_spec!r})"


class DealtDataset(DistributedDataset):
    """A dataset whose elements have a value for each replica in place of every tensor."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    @property
    def element_spec(self) -> Any:
        """The types of the elements: a value for each replica in place of every tensor."""
        return self._dataset.element_spec

    @property
    def cardinality(self) -> Any:
        """How many elements there are, as a scalar int64 tensor."""
        return self._dataset.cardinality

    @property
    def _type_spec(self) -> DealtDatasetSpec:
        return DealtDatasetSpec(self.element_spec)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._dataset)

    def __autograph_for__(self, *loop: Any) -> None:
        self._dataset.__autograph_for__(*loop)

    def __repr__(self) -> str:
        return f"<tf.distribute.DistributedDataset element_spec={self.element_spec!r}>"


def split(dataset: Dataset, replicas: int, own: range | None = None) -> DealtDataset:
    """A dataset whose batches are cut into pieces, one for each replica, or for some of them.

    All pieces of a batch have the same number of rows, but for the last ones of a batch that cannot
    be cut so, the last batch of a dataset as a rule.
    """
    _check_batches(dataset)
    wanted = range(replicas) if own is None else own
    return DealtDataset(dataset.map(lambda *parts: _dealt(_element(parts), replicas, wanted)))


def _check_batches(dataset: Dataset) -> None:
    for spec in nest.flatten(dataset.element_spec):
        if getattr(spec, "shape", None) is None or spec.shape.rank == 0:
            raise ValueError(
                "experimental_distribute_dataset: the elements of the dataset must be batches, "
                f"whose rows are dealt out to replicas, got {dataset.element_spec}. Use "
                "dataset.batch(...) first, with the batch size of all replicas together."
            )


def _element(parts: tuple[Any, ...]) -> Any:
    return parts[0] if len(parts) == 1 else parts


def _dealt(element: Any, replicas: int, own: range) -> Any:
    return nest.map_structure(lambda x: _pieces(x, replicas, own), element)


def _pieces(x: Tensor, replicas: int, own: range) -> PerReplica:
    rows = shapes.shape(x)[0]
    size = (rows + replicas - 1) // replicas
    return PerReplica([x[i * size : (i + 1) * size] for i in own])


def own_pieces(dataset: Dataset, number: int, count: int) -> Dataset:
    """The rows of each batch that one of several workers gets."""
    _check_batches(dataset)
    return dataset.map(
        lambda *parts: nest.map_structure(
            lambda x: _pieces(x, count, range(number, number + 1)).values[0], _element(parts)
        )
    )


def grouped(dataset: Dataset, replicas: int) -> DealtDataset:
    """A dataset with a batch of its own for each replica, those that follow one another.

    Missing ones at the end have no rows.
    """

    def of_replicas(spec: TensorSpec) -> PerReplicaSpec:
        if not isinstance(spec, TensorSpec):
            raise UnsupportedError(
                "distribute_datasets_from_function: the elements of the dataset must be tensors, "
                f"got {spec}."
            )
        later = spec if not spec.dims else spec.with_dims((Dim(), *spec.dims[1:]))
        return PerReplicaSpec(spec, *[later] * (replicas - 1))

    spec = nest.map_structure(of_replicas, dataset.element_spec)
    return DealtDataset(dataset._derived(group_op, spec=spec, name=None, replicas=replicas))


class GroupStage(Stage):
    """Several elements at a time, as the values of replicas."""

    __slots__ = ("replicas", "source")

    def __init__(self, source: Stage, replicas: int) -> None:
        self.source, self.replicas = source, replicas

    def cursor(self, run: Run) -> Cursor:
        """A walk through the elements."""
        return _GroupCursor(self.source.cursor(run), self.replicas)

    def cardinality(self) -> int:
        """The number of groups; the last one may lack some."""
        return scaled(self.source.cardinality(), lambda n: -(-n // self.replicas))


class _GroupCursor(Cursor):
    inputs = ("_source",)

    def __init__(self, source: Cursor, replicas: int) -> None:
        self._source, self._replicas = source, replicas

    def __next__(self) -> Values:
        taken = list(islice(self._source, self._replicas))
        if not taken:
            raise StopIteration
        missing = self._replicas - len(taken)
        if missing:
            taken += [tuple([_no_rows(x) for x in taken[-1]])] * missing
        return tuple([x for column in zip(*taken, strict=True) for x in column])


def _no_rows(x: Any) -> Any:
    if not x.ndim:
        raise InvalidArgumentError(
            None,
            None,
            "distribute_datasets_from_function: there is no element left for the last replicas, "
            "and none without rows, since elements are scalars. Use dataset.batch(...), or a "
            "number of elements that the number of replicas divides.",
        )
    return x[:0]


group_op = dataset_op(
    "GroupOfReplicasDataset",
    INPUT,
    lambda xp, source, *, replicas: GroupStage(source, replicas),
)


def values_from(value_fn: Callable[[Any], Any], contexts: list[Any], convert: Any) -> Any:
    """A value for each replica, made by a function of what it is told of the replica."""
    made = [value_fn(context) for context in contexts]
    return nest.map_structure(lambda *values: PerReplica([convert(v) for v in values]), *made)
