"""Sobol sequences: points that fill the unit cube evenly."""

from __future__ import annotations

from typing import Any

from weft._src.core import dtypes
from weft._src.core.aliases import ArrayNamespace, DTypeLike, TensorLike
from weft._src.core.convert import of_dtype
from weft._src.core.dtypes import INDEX, DType, float32, float64, int32
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops import rules
from weft._src.ops.registry import NO_NATIVE, NO_XLA, NOT_DIFFERENTIABLE, args, define_op

_MOST_DIMENSIONS = 21201  # for so many, direction numbers are known


def _infer(dim: TensorSpec, count: TensorSpec, skip: TensorSpec, *, dtype: DType) -> TensorSpec:
    ranges = {
        "dim": (dim, 1, _MOST_DIMENSIONS),
        "num_results": (count, 1, 2**31 - 1),
        "skip": (skip, 0, 2**31 - 1),
    }
    sizes = []
    for name, (spec, low, high) in ranges.items():
        rules.check_rank("sobol_sample", spec, 0, name=name)
        size = rules.known(spec)
        if isinstance(size, int) and not low <= size <= high:
            raise ShapeError(f"sobol_sample: {name} must be between {low} and {high}, got {size}.")
        sizes.append(Dim() if size is None else size)
    return TensorSpec.of(dtype, (sizes[1], sizes[0]))


def _kernel(xp: ArrayNamespace, dim: Any, count: Any, skip: Any, *, dtype: DType) -> Array:
    from scipy.stats import qmc  # takes a third of a second to import, so only who needs it pays

    points = qmc.Sobol(int(dim), scramble=False)
    points.fast_forward(int(skip) + 1)  # the origin is not part of the sequence
    return points.random(int(count)).astype(dtype.numpy_dtype)


sobol_op = define_op(
    "SobolSample",
    args("dim", INDEX, is_shape=True)
    + args("num_results", INDEX, is_shape=True)
    + args("skip", INDEX, is_shape=True),
    infer=_infer,
    kernel=_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def sobol_sample(
    dim: Any,
    num_results: TensorLike,
    skip: TensorLike = 0,
    dtype: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:
    """The first points (after `skip` others) of the Sobol sequence in `dim` dimensions.

    Args:
      dim: the number of dimensions, an integer from 1 to 21201.
      num_results: how many points, a positive integer.
      skip: how many points are left out before, an integer of 0 or more.
      dtype: the dtype of the result, float32 or float64.

    Returns:
      A tensor of shape [num_results, dim] with numbers in [0, 1).

    Raises:
      ShapeError: if a number is out of range.
      DTypeError: if the dtype is another one.

    >>> tf.math.sobol_sample(2, 3).numpy()
    array([[0.5 , 0.5 ],
           [0.75, 0.25],
           [0.25, 0.75]], dtype=float32)
    """
    found = dtypes.as_dtype(dtype)
    if found not in (float32, float64):
        raise DTypeError(f"sobol_sample: dtype must be float32 or float64, got {found.name}.")
    given = {"dim": dim, "num_results": num_results, "skip": skip}
    numbers = [of_dtype("sobol_sample", n, int32, name) for name, n in given.items()]
    return sobol_op(*numbers, dtype=found, name=name)
