"""Elements of several datasets mixed: `choose_from_datasets`, `sample_from_datasets`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from weft._src.core.aliases import IntLike, SpecNest, TensorLike
from weft._src.core.convert import array_from
from weft._src.core.dtypes import FLOATING, int64, variant
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, EagerTensor, Tensor
from weft._src.data.core import structure
from weft._src.data.core.base import (
    DatasetBase,
    check_dataset,
    dataset_op,
    make_dataset,
    static_bool,
)
from weft._src.data.core.stage import INFINITE, UNKNOWN, Cursor, Run, Stage
from weft._src.data.core.structure import Values
from weft._src.data.transforms.shuffling import Numbers, Seeds, SeedSource
from weft._src.errors import InvalidArgumentError
from weft._src.ops.registry import args, each
from weft._src.ops.sampling.streams import seed_pair

if TYPE_CHECKING:
    from weft._src.data.dataset import Dataset


class DirectedStage(Stage):
    """Elements of several stages; another stage of numbers says of which one the next comes."""

    __slots__ = ("choices", "stages", "stops")

    def __init__(self, choices: Stage, stages: Sequence[Stage], stops: bool) -> None:
        self.choices, self.stages, self.stops = choices, tuple(stages), stops

    def cursor(self, run: Run) -> Cursor:
        return _DirectedCursor(self, run)

    def cardinality(self) -> int:
        counts = [s.cardinality() for s in self.stages]
        if all(n == INFINITE for n in counts) and self.choices.cardinality() == INFINITE:
            return INFINITE
        return UNKNOWN


class _DirectedCursor(Cursor):
    own = ("_open",)
    inputs = ("_choices",)

    def __init__(self, stage: DirectedStage, run: Run) -> None:
        self._stops = stage.stops
        self._choices = stage.choices.cursor(run)
        self._cursors = [s.cursor(run) for s in stage.stages]
        self._open = [True] * len(self._cursors)

    def __next__(self) -> Values:
        while any(self._open):
            i = int(next(self._choices)[0])
            if not 0 <= i < len(self._cursors):
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Dataset.choose_from_datasets: there are {len(self._cursors)} datasets, the "
                    f"choice is {i}.",
                )
            if not self._open[i]:
                continue
            for values in self._cursors[i]:
                return values
            if self._stops:
                self._open = [False] * len(self._open)
            self._open[i] = False
        raise StopIteration

    def save(self) -> dict[str, Any]:
        return {**super().save(), "cursors": [c.save() for c in self._cursors]}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        for cursor, saved in zip(self._cursors, state["cursors"], strict=True):
            cursor.restore(saved)

    def close(self) -> None:
        for cursor in (self._choices, *self._cursors):
            cursor.close()


directed_op = dataset_op(
    "DirectedInterleaveDataset",
    args("selector_input_dataset", {variant}) + each("*data_input_datasets", {variant}),
    lambda xp, choices, *stages, stop_on_empty_dataset: DirectedStage(
        choices, stages, stop_on_empty_dataset
    ),
)


# --- which one is next, at random ----------------------------------------------------------------


class WeightedStage(Stage):
    """Numbers of datasets, drawn with weights; the weights may be a dataset themselves."""

    __slots__ = ("seeds", "weights")

    def __init__(self, weights: Stage | Array, seeds: SeedSource) -> None:
        self.weights, self.seeds = weights, seeds

    def cursor(self, run: Run) -> Cursor:
        weights = self.weights
        if isinstance(weights, Stage):
            return _WeightedCursor(None, weights.cursor(run), self.seeds.take())
        return _WeightedCursor(_bounds(weights), None, self.seeds.take())

    def cardinality(self) -> int:
        return self.weights.cardinality() if isinstance(self.weights, Stage) else INFINITE


def _bounds(weights: Array) -> Any:
    """Where in 0..1 each one ends."""
    wide = np.asarray(weights, np.float64)
    if wide.ndim != 1 or not np.all(wide >= 0) or not wide.sum() > 0:
        raise InvalidArgumentError(
            None,
            None,
            "Dataset.sample_from_datasets: weights must be numbers that are not negative, and not "
            f"all zero, got {np.asarray(weights).tolist()}.",
        )
    return np.cumsum(wide) / wide.sum()


class _WeightedCursor(Cursor):
    inputs = ("_changing",)

    def __init__(self, bounds: Any, changing: Cursor | None, seeds: Seeds) -> None:
        self._bounds, self._changing = bounds, changing
        self._numbers = Numbers(seeds)

    def __next__(self) -> Values:
        bounds = self._bounds if self._changing is None else _bounds(next(self._changing)[0])
        number = self._numbers.next() / 2**32
        return (np.int64(np.searchsorted(bounds, number, side="right")),)

    def save(self) -> dict[str, Any]:
        state = super().save()
        return {**state, "seeds": self._numbers.seeds, "drawn": self._numbers.drawn}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self._numbers = Numbers(state["seeds"], state["drawn"])


weighted_op = dataset_op(
    "WeightedChoiceDataset",
    args("weights", FLOATING | {variant}),
    lambda xp, weights, *, seeds, rerandomize: WeightedStage(
        weights, SeedSource(seeds, rerandomize)
    ),
)


class SamplingMethods(DatasetBase):
    """Several datasets mixed."""

    @staticmethod
    def choose_from_datasets(
        datasets: Sequence[Any], choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """Elements of several datasets; `choice_dataset` says of which one the next comes.

        Args:
          datasets: a list of datasets, whose elements have one structure and dtype.
          choice_dataset: a dataset of int64 scalars: the number of a dataset in the list, for each
            element.
          stop_on_empty_dataset: whether the whole ends when a dataset that is chosen has ended; if
            not, such choices are skipped.

        Returns:
          A dataset.

        Raises:
          ValueError: if `datasets` is no list, or empty.
          TypeError: if the datasets have elements of different types, or those of `choice_dataset`
            are no int64 scalars.

        >>> a, b = (tf.data.Dataset.from_tensors(x).repeat() for x in "ab")
        >>> choice = tf.data.Dataset.range(2).repeat(2)
        >>> dataset = tf.data.Dataset.choose_from_datasets([a, b], choice)
        >>> list(dataset.as_numpy_iterator())
        [b'a', b'b', b'a', b'b']
        """
        spec = _common_spec("choose_from_datasets", datasets)
        check_dataset("choose_from_datasets", "choice_dataset", choice_dataset)
        choice = choice_dataset.element_spec
        if not isinstance(choice, TensorSpec) or choice.dtype is not int64 or choice.dims != ():
            raise TypeError(
                "Dataset.choose_from_datasets: the elements of choice_dataset must be int64 "
                f"scalars, got {choice!r}."
            )
        stops = static_bool("choose_from_datasets", "stop_on_empty_dataset", stop_on_empty_dataset)
        return _directed(datasets, choice_dataset._variant, stops, spec)

    @staticmethod
    def sample_from_datasets(
        datasets: Sequence[Any],
        weights: Any = None,
        seed: IntLike | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:
        """Elements of several datasets, the next one of a random one of them.

        `weights` says how likely each is: a list, a tensor, or a dataset of such. A dataset that
        has ended is left out, or ends the whole with `stop_on_empty_dataset`.

        Args:
          datasets: a list of datasets, whose elements have one structure and dtype.
          weights: how likely each is, numbers that need not sum to 1; None is all equally.
          seed: what the choices depend on; None lets `tf.random.set_seed` or chance decide.
          stop_on_empty_dataset: whether the whole ends when one of the datasets has ended.
          rerandomize_each_iteration: whether choices differ each time the dataset is iterated over;
            None is False, with or without a seed.

        Returns:
          A dataset.

        Raises:
          ValueError: if `datasets` is no list or empty, or if there is not one weight for each.
          tf.errors.InvalidArgumentError: if a weight is negative, or all are zero.
          TypeError: if the datasets have elements of different types.

        >>> a, b = (tf.data.Dataset.from_tensors(x).repeat(3) for x in "ab")
        >>> dataset = tf.data.Dataset.sample_from_datasets([a, b], weights=[0.5, 0.5], seed=1)
        >>> sorted(dataset.as_numpy_iterator())
        [b'a', b'a', b'a', b'b', b'b', b'b']
        """
        spec = _common_spec("sample_from_datasets", datasets)
        given = _weights(weights, len(datasets))
        seeds = seed_pair("Dataset.sample_from_datasets", seed)
        method = "sample_from_datasets"
        renewed = False if rerandomize_each_iteration is None else rerandomize_each_iteration
        again = static_bool(method, "rerandomize_each_iteration", renewed)
        stops = static_bool(method, "stop_on_empty_dataset", stop_on_empty_dataset)
        choices = weighted_op(given, seeds=seeds, rerandomize=again)
        return _directed(datasets, choices, stops, spec)


def _directed(datasets: Sequence[Any], choices: Tensor, stops: bool, spec: SpecNest) -> Any:
    handles = [dataset._variant for dataset in datasets]
    made = make_dataset(directed_op(choices, *handles, stop_on_empty_dataset=stops), spec)
    for dataset in datasets:
        made._options = made._options.merge(dataset._options)
    return made


def _common_spec(method: str, datasets: Sequence[Any]) -> Any:
    if not isinstance(datasets, (list, tuple)) or not datasets:
        raise ValueError(
            f"Dataset.{method}: datasets must be a list of at least one dataset, got {datasets!r}."
        )
    spec = check_dataset(method, "each of datasets", datasets[0]).element_spec
    for i, dataset in enumerate(datasets):
        other = check_dataset(method, "each of datasets", dataset).element_spec
        try:
            spec = structure.widened(spec, other)
        except (TypeError, ValueError):
            raise TypeError(
                f"Dataset.{method}: all datasets must have elements of one type, dataset {i} has "
                f"{other!r}, those before it {spec!r}."
            ) from None
    return spec


def _weights(weights: TensorLike | Dataset | None, count: int) -> Tensor:
    if isinstance(weights, DatasetBase):
        return weights._variant
    if weights is None:
        return EagerTensor(np.full(count, 1.0 / count))
    try:
        array = array_from(weights) if not isinstance(weights, Tensor) else np.asarray(weights)
    except (TypeError, ValueError):
        array = np.array("")
    if array.dtype.kind not in "fiu" or array.shape != (count,):
        raise ValueError(
            f"Dataset.sample_from_datasets: weights must be one number for each of {count} "
            f"datasets, got {weights!r}."
        )
    wide = array.astype(np.float64)
    _bounds(wide)
    return EagerTensor(wide)
