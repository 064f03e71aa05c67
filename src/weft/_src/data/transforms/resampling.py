"""`rejection_resample`: elements left out so that classes are as frequent as is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import FLOATING, float32
from weft._src.core.tensor import Tensor
from weft._src.data.core.base import DatasetBase, check_dataset
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops.elementwise import casting, guarded
from weft._src.ops.indexing import gathering, one_hot
from weft._src.ops.reduce import extrema, sums
from weft._src.ops.sampling import stateful


def rejection_resample(
    class_func: Callable[..., Any],
    target_dist: TensorLike,
    initial_dist: TensorLike | None = None,
    seed: int | None = None,
) -> Callable[[Any], Any]:
    """Leaves elements out at random, so that classes are as frequent as is asked for.

    Args:
      class_func: a function of an element that returns its class, an integer scalar.
      target_dist: how frequent each class shall be, a vector of floating numbers.
      initial_dist: how frequent each class is; None means that it is counted as elements come, so
        that it holds only after some of them.
      seed: the seed of what is left out.

    Returns:
      A function from a dataset to a dataset of pairs (class, element), for `Dataset.apply`.

    Raises:
      ShapeError: if the distributions are no vectors of one length.
      DTypeError: if they are not floating.
      TypeError: if `class_func` cannot be called.

    >>> bits = tf.data.Dataset.from_tensor_slices([0, 1] * 100)
    >>> resample = tf.data.experimental.rejection_resample(
    ...     lambda x: x, target_dist=[0.0, 1.0], initial_dist=[0.5, 0.5]
    ... )
    >>> {int(kind) for kind, _ in bits.apply(resample)}
    {1}
    """
    op = "rejection_resample"
    if not callable(class_func):
        raise TypeError(f"{op}: class_func must be callable, got {class_func!r}.")
    target = _distribution(op, target_dist, "target_dist")
    initial = None if initial_dist is None else _distribution(op, initial_dist, "initial_dist")
    if initial is not None and initial.shape != target.shape:
        raise ShapeError(
            f"{op}: target_dist and initial_dist must have one length, got {target.shape} and "
            f"{initial.shape}."
        )

    def classified(*element: Any) -> Any:
        kind = convert_to_tensor(class_func(*element))
        return kind, element[0] if len(element) == 1 else element

    def step(counts: Tensor, pair: Any) -> Any:
        kind, element = pair
        counts = counts + one_hot.one_hot(kind, target.shape[0], dtype=float32)
        return counts, (kind, element, _chance(target, counts / sums.reduce_sum(counts), kind))

    def known(kind: Any, element: Any) -> Any:
        assert initial is not None
        return kind, element, _chance(target, initial, kind)

    def chosen(_kind: Any, _element: Any, chance: Any) -> Any:
        return stateful.uniform([], seed=seed) < chance

    def apply(dataset: Any) -> Any:
        rows = check_dataset(op, "dataset", dataset).map(classified)
        if initial is None:
            zeros = np.zeros(target.shape[0], np.float32)
            rows = rows.scan(zeros, step)
        else:
            rows = rows.map(known)
        return rows.filter(chosen).map(lambda kind, element, _: (kind, element))

    return apply


def _distribution(op: str, value: TensorLike, name: str) -> Tensor:
    found = convert_to_tensor(value, dtype_hint=float32)
    if found.dtype not in FLOATING:
        raise DTypeError(f"{op}: {name} must be of floating numbers, got {found.dtype.name}.")
    if found.shape.rank != 1 or not found.shape[0]:
        raise ShapeError(f"{op}: {name} must be a vector that is not empty, got {found.shape}.")
    return casting.cast(found, float32)


def _chance(target: Tensor, initial: Tensor, kind: Tensor) -> Tensor:
    """How likely an element of a class stays: all of the class that is rarest for its target."""
    ratios = guarded.divide_no_nan(target, initial)
    return gathering.gather(ratios, kind) / extrema.reduce_max(ratios)


class ResamplingMethods(DatasetBase):
    """The method of datasets."""

    def rejection_resample(
        self,
        class_func: Callable[..., Any],
        target_dist: TensorLike,
        initial_dist: TensorLike | None = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> Any:
        """Pairs (class, element), some left out so that classes are as frequent as is asked for.

        Args:
          class_func: a function of an element that returns its class, an integer scalar.
          target_dist: how frequent each class shall be, a vector of floating numbers.
          initial_dist: how frequent each class is; None means that it is counted as elements come.
          seed: the seed of what is left out.
          name: accepted for compatibility.

        Returns:
          A dataset.

        Raises:
          ShapeError: if the distributions are no vectors of one length.
          DTypeError: if they are not floating.
          TypeError: if `class_func` cannot be called.

        >>> bits = tf.data.Dataset.from_tensor_slices([0, 1] * 100)
        >>> ones = bits.rejection_resample(lambda x: x, [0.0, 1.0], [0.5, 0.5])
        >>> {int(kind) for kind, _ in ones}
        {1}
        """
        return rejection_resample(class_func, target_dist, initial_dist, seed)(self)
