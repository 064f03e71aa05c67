"""Initialisers: objects that make the first value of a variable from its shape and dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.aliases import DTypeLike, ShapeLike, TensorLike
from weft._src.core.convert import constant
from weft._src.core.dtypes import DType, float32
from weft._src.core.shapes import TensorShape
from weft._src.core.tensor import Tensor
from weft._src.ops.arrays import fill
from weft._src.ops.sampling import stateful, stateless

_PARTITION = ("partition_shape", "partition_offset")


class Initializer:
    """Base of initialisers; `get_config` and `from_config` take them apart and rebuild them."""

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} must define __call__.")

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal initialiser.

        Returns:
          A dict of the names and values of arguments.
        """
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        """An initialiser from what `get_config` returned.

        Args:
          config: a dict of the names and values of arguments; a "dtype" in it is left out.

        Returns:
          An initialiser of this class.
        """
        return cls(**{key: value for key, value in config.items() if key != "dtype"})


def _shape_to_make(shape: ShapeLike, kwargs: dict[str, Any]) -> Any:
    """The shape asked for, or that of the partition asked for."""
    for key in kwargs:
        if key not in _PARTITION:
            raise TypeError(
                f"An initialiser takes {' and '.join(_PARTITION)} besides shape and dtype, "
                f"got {key!r}."
            )
    partition = kwargs.get("partition_shape")
    return shape if partition is None else partition


def _checked(name: str, dtype: DTypeLike, allowed: frozenset[DType]) -> DType:
    dtype = dtypes.as_dtype(dtype)
    if dtype not in allowed:
        names = ", ".join(sorted(d.name for d in allowed))
        raise ValueError(f"{name}: dtype must be one of {names}, got {dtype.name}.")
    return dtype


class Zeros(Initializer):
    """Makes zeros.

    >>> tf.zeros_initializer()([2]).numpy()
    array([0., 0.], dtype=float32)
    """

    def __call__(self, shape: Any, dtype: Any = float32, **kwargs: Any) -> Tensor:
        dtype = _checked("zeros_initializer", dtype, dtypes.NUMERIC | dtypes.BOOL)
        return fill.zeros(_as_vector(_shape_to_make(shape, kwargs)), dtype)


class Ones(Initializer):
    """Makes ones.

    >>> tf.ones_initializer()([2], tf.int32).numpy()
    array([1, 1], dtype=int32)
    """

    def __call__(self, shape: Any, dtype: Any = float32, **kwargs: Any) -> Tensor:
        dtype = _checked("ones_initializer", dtype, dtypes.NUMERIC | dtypes.BOOL)
        return fill.ones(_as_vector(_shape_to_make(shape, kwargs)), dtype)


class Constant(Initializer):
    """Makes a given value: a number that is repeated, or all elements.

    >>> tf.constant_initializer([1, 2, 3, 4])([2, 2]).numpy()
    array([[1, 2],
           [3, 4]], dtype=int32)
    """

    def __init__(self, value: TensorLike = 0, support_partition: bool = False) -> None:
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray, np.generic))):
            raise TypeError(
                "constant_initializer: value must be a number, a string, a list or an array, got "
                f"{value!r}."
            )
        self.value = value
        self.support_partition = support_partition

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        _shape_to_make(shape, kwargs)
        if kwargs and not self.support_partition:
            raise ValueError(
                f"constant_initializer: {', '.join(kwargs)} needs support_partition=True."
            )
        return constant(self.value, dtype=dtype, shape=_as_vector(shape))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal initialiser.

        Returns:
          A dict with the key "value".

        >>> tf.constant_initializer(3).get_config()
        {'value': 3}
        """
        return {"value": self.value}


class RandomUniform(Initializer):
    """Makes uniform numbers; the same ones at every call if it has a seed.

    >>> tf.random_uniform_initializer(seed=5)([2]).numpy()
    array([-0.04381467,  0.03316691], dtype=float32)
    """

    def __init__(
        self, minval: TensorLike = -0.05, maxval: TensorLike = 0.05, seed: TensorLike | None = None
    ) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape: Any, dtype: Any = float32, **kwargs: Any) -> Tensor:
        shape = _shape_to_make(shape, kwargs)
        dtype = _checked("random_uniform_initializer", dtype, dtypes.FLOATING | dtypes.INTEGER)
        if self.seed is None:
            return stateful.uniform(shape, self.minval, self.maxval, dtype)
        return stateless.stateless_uniform(shape, [self.seed, 0], self.minval, self.maxval, dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal initialiser.

        Returns:
          A dict with the keys "minval", "maxval" and "seed".

        >>> tf.random_uniform_initializer(seed=5).get_config()
        {'minval': -0.05, 'maxval': 0.05, 'seed': 5}
        """
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}


class RandomNormal(Initializer):
    """Makes normal numbers; the same ones at every call if it has a seed.

    >>> tf.random_normal_initializer(stddev=0.1)([2, 3]).shape
    TensorShape([2, 3])
    """

    def __init__(
        self, mean: TensorLike = 0.0, stddev: TensorLike = 0.05, seed: TensorLike | None = None
    ) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape: Any, dtype: Any = float32, **kwargs: Any) -> Tensor:
        shape = _shape_to_make(shape, kwargs)
        dtype = _checked("random_normal_initializer", dtype, dtypes.FLOATING)
        if self.seed is None:
            return stateful.normal(shape, self.mean, self.stddev, dtype)
        return stateless.stateless_normal(shape, [self.seed, 0], self.mean, self.stddev, dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal initialiser.

        Returns:
          A dict with the keys "mean", "stddev" and "seed".

        >>> tf.random_normal_initializer(seed=5).get_config()
        {'mean': 0.0, 'stddev': 0.05, 'seed': 5}
        """
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}


def _as_vector(shape: ShapeLike) -> Any:
    """A single size stands for a vector of it."""
    return TensorShape([shape]) if isinstance(shape, int) else shape
