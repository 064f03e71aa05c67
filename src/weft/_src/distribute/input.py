"""Datasets that are dealt out to replicas."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from weft._src import nest
from weft._src.core.tensor import Tensor
from weft._src.data.dataset import Dataset
from weft._src.distribute.per_replica import PerReplica
from weft._src.distribute.values import DistributedDataset
from weft._src.ops.arrays import shape as shapes


class SplitDataset(DistributedDataset):
    """A dataset whose batches are cut into pieces, one for each replica.

    All pieces of a batch have the same number of rows, but for the last ones of a batch that cannot
    be cut so, the last batch of a dataset as a rule.
    """

    def __init__(self, dataset: Dataset, replicas: int) -> None:
        _check_batches(dataset)
        self._source = dataset
        self._dataset = dataset.map(lambda *parts: _dealt(_element(parts), replicas))

    @property
    def element_spec(self) -> Any:
        """The types of the elements: a value for each replica in place of every tensor."""
        return self._dataset.element_spec

    @property
    def cardinality(self) -> Any:
        """How many elements there are, as a scalar int64 tensor."""
        return self._source.cardinality

    def __iter__(self) -> Iterator[Any]:
        return iter(self._dataset)

    def __repr__(self) -> str:
        return f"<tf.distribute.DistributedDataset of {self._source!r}>"


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


def _dealt(element: Any, replicas: int) -> Any:
    return nest.map_structure(lambda x: _pieces(x, replicas), element)


def _pieces(x: Tensor, replicas: int) -> PerReplica:
    rows = shapes.shape(x)[0]
    size = (rows + replicas - 1) // replicas
    return PerReplica([x[i * size : (i + 1) * size] for i in range(replicas)])


def own_pieces(dataset: Dataset, number: int, count: int) -> Dataset:
    """The rows of each batch that one of several workers gets."""
    _check_batches(dataset)
    return dataset.map(
        lambda *parts: nest.map_structure(
            lambda x: _pieces(x, count).values[number], _element(parts)
        )
    )


class DatasetOfFunction(DistributedDataset):
    """A dataset with a batch of its own for each replica, one behind the other."""

    def __init__(self, dataset: Any, replicas: int) -> None:
        self._dataset = dataset
        self._replicas = replicas

    @property
    def element_spec(self) -> Any:
        """The types of the batches of one replica."""
        return self._dataset.element_spec

    def __iter__(self) -> Iterator[Any]:
        """As many batches as there are replicas at a time; missing ones at the end have no rows."""
        source = iter(self._dataset)
        while True:
            taken = [element for _, element in zip(range(self._replicas), source)]
            if not taken:
                return
            empty = nest.map_structure(lambda x: x[:0], taken[-1])
            taken += [empty] * (self._replicas - len(taken))
            yield nest.map_structure(lambda *values: PerReplica(values), *taken)


def values_from(value_fn: Callable[[Any], Any], contexts: list[Any], convert: Any) -> Any:
    """A value for each replica, made by a function of what it is told of the replica."""
    made = [value_fn(context) for context in contexts]
    return nest.map_structure(lambda *values: PerReplica([convert(v) for v in values]), *made)
