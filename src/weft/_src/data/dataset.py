"""`tf.data.Dataset`: all methods together, and what concerns a dataset as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src import nest
from weft._src.core.aliases import ArrayNamespace, IntLike
from weft._src.core.dtypes import int64, variant
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.data.core import structure
from weft._src.data.core.base import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, DatasetBase
from weft._src.data.core.iterators import Iterator, NumpyIterator, iterate, run_of
from weft._src.data.core.options import Options
from weft._src.data.core.stage import Run, Stage
from weft._src.data.loops import stage_loop
from weft._src.data.sources.generator import GeneratorMethods
from weft._src.data.sources.in_memory import SourceMethods
from weft._src.data.sources.listing import ListingMethods
from weft._src.data.transforms.batching import BatchingMethods
from weft._src.data.transforms.caching import CachingMethods
from weft._src.data.transforms.combining import CombiningMethods
from weft._src.data.transforms.filtering import FilteringMethods
from weft._src.data.transforms.folding import FoldingMethods
from weft._src.data.transforms.mapping import MappingMethods
from weft._src.data.transforms.nesting import NestingMethods
from weft._src.data.transforms.padding import PaddingMethods
from weft._src.data.transforms.prefetching import PrefetchingMethods
from weft._src.data.transforms.resampling import ResamplingMethods
from weft._src.data.transforms.sampling import SamplingMethods
from weft._src.data.transforms.saving import SavingMethods
from weft._src.data.transforms.selecting import SelectingMethods
from weft._src.data.transforms.shuffling import ShufflingMethods
from weft._src.data.transforms.windows import WindowMethods
from weft._src.errors import InvalidArgumentError
from weft._src.ops.elementwise import unary
from weft._src.ops.host.requiring import require
from weft._src.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, args, define_op

cardinality_op = define_op(
    "DatasetCardinality",
    args("input_dataset", {variant}),
    infer=lambda input_dataset: TensorSpec.of(int64, ()),
    kernel=lambda xp, input_dataset: xp.asarray(input_dataset.cardinality(), xp.int64),
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    trusts_kernel=True,
)


def _single_kernel(
    xp: ArrayNamespace, dataset: Stage, *, specs: tuple[TensorSpec, ...], run: Run
) -> Any:
    cursor = dataset.cursor(run)
    found = []
    for values in cursor:
        found.append(values)
        if len(found) > 1:
            break
    cursor.close()
    if len(found) != 1:
        raise InvalidArgumentError(
            None,
            None,
            "Dataset.get_single_element: the dataset must have exactly one element, it has "
            + ("none." if not found else "more."),
        )
    return found[0]


single_element_op = define_op(
    "DatasetToSingleElement",
    args("dataset", {variant}),
    infer=lambda dataset, *, specs, run: tuple([spec.with_fresh_dims() for spec in specs]),
    kernel=_single_kernel,
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    outputs=None,
    host_io=True,
    trusts_kernel=True,
)


class Dataset(
    SourceMethods,
    GeneratorMethods,
    ListingMethods,
    CombiningMethods,
    SamplingMethods,
    SelectingMethods,
    MappingMethods,
    FilteringMethods,
    FoldingMethods,
    NestingMethods,
    WindowMethods,
    ShufflingMethods,
    BatchingMethods,
    PaddingMethods,
    CachingMethods,
    SavingMethods,
    PrefetchingMethods,
    ResamplingMethods,
):
    """A sequence of elements, each a nest of tensors, made when it is iterated over.

    >>> dataset = tf.data.Dataset.from_tensor_slices([1, 2, 3]).map(lambda x: x * 2)
    >>> for x in dataset:
    ...     print(x.numpy())
    2
    4
    6
    """

    def __init__(self, variant_tensor: Any) -> None:
        raise TypeError(
            "tf.data.Dataset is made by its methods: Dataset.range, Dataset.from_tensor_slices, "
            f"Dataset.from_generator, ...; got Dataset({variant_tensor!r})."
        )

    # --- looking at elements --------------------------------------------------------------------

    def __iter__(self) -> Iterator:
        return iterate(self)

    def __autograph_for__(self, *loop: Any) -> None:
        stage_loop(iterate(self), *loop)

    def __autograph_enumerate__(self, start: IntLike) -> Any:
        return self.enumerate(start)

    def __autograph_zip__(self, *others: Any) -> Any:
        return Dataset.zip(self, *others)

    def __autograph_map__(self, function: Callable[..., Any], *others: Any) -> Any:
        return Dataset.zip(self, *others).map(function) if others else self.map(function)

    def __autograph_filter__(self, function: Callable[..., Any]) -> Any:
        return self.filter(function)

    def __autograph_abs__(self) -> Any:
        return self.map(
            lambda *parts: nest.map_structure(unary.abs, parts[0] if len(parts) == 1 else parts)
        )

    def __autograph_len__(self) -> Tensor:
        count = self.cardinality()
        text = "len() of a dataset needs a number of elements that is known and finite"
        require(lambda n: n >= 0, [count], text, ("cardinality",))
        return count

    def __autograph_any__(self) -> Tensor:
        return self.reduce(False, lambda found, x: found | x)

    def __autograph_all__(self) -> Tensor:
        return self.reduce(True, lambda found, x: found & x)

    def as_numpy_iterator(self) -> NumpyIterator:
        """An iterator that gives NumPy arrays instead of tensors.

        Returns:
          An iterator over nests of arrays with the structure of `element_spec`.

        Raises:
          TypeError: if elements hold what is no array, such as ragged tensors or datasets.
          RuntimeError: if it is called while a function is traced.

        >>> list(tf.data.Dataset.range(2).as_numpy_iterator())
        [np.int64(0), np.int64(1)]
        """
        for leaf in nest.flatten(self.element_spec):
            if not isinstance(leaf, (TensorSpec, structure.NoneTensorSpec)):
                raise TypeError(
                    f"Dataset.as_numpy_iterator: elements hold {leaf!r}, which is no array."
                )
        if not isinstance(self._variant, EagerTensor):
            raise RuntimeError("Dataset.as_numpy_iterator works eagerly only, not in a function.")
        return NumpyIterator(self)

    def get_single_element(self, name: str | None = None) -> Any:
        """The element of a dataset that has exactly one.

        Returns:
          A nest of tensors with the structure of `element_spec`.

        Raises:
          tf.errors.InvalidArgumentError: if the dataset has no element, or more than one.

        >>> tf.data.Dataset.range(10).batch(10).get_single_element().numpy().sum()
        np.int64(45)
        """
        flat = single_element_op(
            self._variant,
            specs=tuple(structure.flat_specs(self.element_spec)),
            run=run_of(self._options),
            name=name,
        )
        return structure.pack(self.element_spec, flat)

    # --- how many there are ---------------------------------------------------------------------

    def cardinality(self) -> Tensor:
        """The number of elements, `tf.data.INFINITE_CARDINALITY` or `UNKNOWN_CARDINALITY`.

        Returns:
          An int64 scalar. The two constants are negative: -1 (infinite) and -2 (unknown).

        >>> tf.data.Dataset.range(10).batch(4).cardinality().numpy()
        np.int64(3)
        """
        return cardinality_op(self._variant)

    def __len__(self) -> int:
        if not isinstance(self._variant, EagerTensor):
            raise TypeError(
                "len() of a dataset is not known in a function; use dataset.cardinality()."
            )
        n = self._stage.cardinality()
        if n == INFINITE_CARDINALITY:
            raise TypeError("The dataset is infinite, so it has no len().")
        if n == UNKNOWN_CARDINALITY:
            raise TypeError("The length of this dataset is unknown until it is iterated over.")
        return n

    def __bool__(self) -> bool:
        return True  # as every object without __len__; the length may be unknown

    # --- as a whole -----------------------------------------------------------------------------

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """What a function makes of the dataset.

        Args:
          transformation_func: a function of a dataset that returns one, such as those of
            `tf.data.experimental`.

        Returns:
          The dataset that the function returned.

        Raises:
          TypeError: if it is no function, or does not return a dataset.

        >>> dataset = tf.data.Dataset.range(5).apply(lambda ds: ds.skip(3))
        >>> [int(x) for x in dataset]
        [3, 4]
        """
        if not callable(transformation_func):
            raise TypeError(f"Dataset.apply takes a function, got {transformation_func!r}.")
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(f"Dataset.apply: the function must return a dataset, got {made!r}.")
        return made

    def options(self) -> Options:
        """The options of the pipeline.

        Returns:
          A copy, `tf.data.Options`; changing it does not change the dataset.

        >>> tf.data.Dataset.range(3).options().deterministic is None
        True
        """
        return Options().merge(self._options)

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """The dataset with options for the whole pipeline; later ones win.

        Args:
          options: `tf.data.Options`. What is None in it stays as it was.
          name: accepted for compatibility.

        Returns:
          A dataset with the same elements.

        Raises:
          TypeError: if `options` is something else.

        >>> options = tf.data.Options()
        >>> options.deterministic = False
        >>> tf.data.Dataset.range(3).with_options(options).options().deterministic
        False
        """
        if not isinstance(options, Options):
            raise TypeError(f"Dataset.with_options takes tf.data.Options, got {options!r}.")
        made = _same(self)
        made._options = self._options.merge(options)
        return made

    def __debug_string__(self) -> str:
        return repr(self)


def _same(dataset: Dataset) -> Dataset:
    made = object.__new__(Dataset)
    made._variant, made._element_spec = dataset._variant, dataset._element_spec
    return made


DatasetBase.dataset_class = Dataset
