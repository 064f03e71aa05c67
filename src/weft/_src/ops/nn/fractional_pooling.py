"""Pools whose windows differ in size, so that sizes shrink by a fraction.

Where windows begin is drawn (`FractionalPoolingSequence`); the rest is made of other ops.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INDEX, NUMERIC, int32, int64
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import DTypeError, InvalidArgumentError, UnsupportedError
from weft._src.ops import rules
from weft._src.ops.arrays import joining, ranges, shape as shapes
from weft._src.ops.elementwise import arithmetic, casting, division
from weft._src.ops.indexing import gathering
from weft._src.ops.reduce import extrema, order, sums
from weft._src.ops.registry import NO_NATIVE, NO_XLA, NOT_DIFFERENTIABLE, args, define_op
from weft._src.ops.sampling import graph_forms
from weft._src.ops.sampling.draws import STATE
from weft._src.ops.sampling.streams import next_state


def _sequence_infer(
    size: TensorSpec, state: TensorSpec, *, op: str, ratio: float, pseudo_random: bool
) -> TensorSpec:
    rules.check_rank(op, size, 0, name="the size of an axis")
    rules.check_rank(op, state, 1, name="state")
    known = rules.known(size)
    ends = int(known / ratio) + 1 if isinstance(known, int) and known >= ratio else Dim()
    return TensorSpec.of(int64, (ends,))


def _sequence_kernel(
    xp: ArrayNamespace, size: Any, state: Array, *, op: str, ratio: float, pseudo_random: bool
) -> Array:
    inputs = operator.index(size)
    outputs = int(inputs / ratio)
    if not outputs:
        raise InvalidArgumentError(
            None, None, f"{op}: pooling_ratio {ratio} leaves nothing of an axis of size {inputs}."
        )
    words = [operator.index(word) & (2**64 - 1) for word in state]
    generator = np.random.Generator(np.random.Philox(key=words[2], counter=[*words[:2], 0, 0]))
    if not pseudo_random:
        steps = np.full(outputs, inputs // outputs, np.int64)
        steps[: inputs % outputs] += 1
        return np.concatenate([[0], np.cumsum(generator.permutation(steps))])
    # Graham's sequences: ceil(alpha * (i + u)), with u such that the last step fits as well.
    alpha = inputs / outputs
    shortest = int(alpha)
    most = min((shortest + 2) / alpha - 1, (inputs + 1 - shortest) / alpha - (outputs - 1))
    start = (1 - generator.random()) * most  # above 0
    inner = np.ceil(alpha * (np.arange(1, outputs) + start)).astype(np.int64)
    return np.concatenate([[0], inner - 1, [inputs]])


sequence_op = define_op(
    "FractionalPoolingSequence",
    args("size", INDEX, is_shape=True) + STATE,
    infer=_sequence_infer,
    kernel=_sequence_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    graphdef=graph_forms.pooling_sequence,
)


def _ratios(op: str, pooling_ratio: float | Sequence[float]) -> tuple[float, float]:
    """The ratios of rows and columns."""
    given = pooling_ratio
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        given = [1.0, given, given, 1.0]
    elif isinstance(given, (list, tuple)) and len(given) in (1, 2):
        given = [1.0, given[0], given[-1], 1.0]
    if (
        not isinstance(given, (list, tuple))
        or len(given) != 4
        or not all(isinstance(ratio, (int, float)) and math.isfinite(ratio) for ratio in given)
    ):
        raise ValueError(
            f"{op}: pooling_ratio must be a number, or a list of one, two or four, got "
            f"{pooling_ratio!r}."
        )
    if min(given) < 1:
        raise InvalidArgumentError(
            None, None, f"{op}: pooling_ratio must not be less than 1, got {min(given)}."
        )
    if given[0] != 1 or given[3] != 1:
        raise UnsupportedError(
            f"{op}: pooling_ratio must be 1 for batch and channels, got {given}."
        )
    return float(given[1]), float(given[2])


def _windows(ends: Tensor, size: Tensor, overlapping: bool) -> tuple[Tensor, Tensor]:
    """Which elements each window has, filled up with its last one, and which of them count."""
    first, last = ends[:-1], ends[1:] - (0 if overlapping else 1)
    last = arithmetic.minimum(last, size - 1)
    longest = extrema.reduce_max(last - first) + 1
    places = shapes.expand_dims_op(first, axis=1) + ranges.range(longest)
    last = shapes.expand_dims_op(last, axis=1)
    return arithmetic.minimum(places, last), places <= last


def _pooled(
    op: str,
    value: TensorLike,
    pooling_ratio: float | Sequence[float],
    pseudo_random: bool,
    overlapping: bool,
    seed: int,
    is_mean: bool,
) -> FractionalPool:
    if is_mean and not isinstance(pooling_ratio, (list, tuple)):
        raise TypeError(f"{op}: pooling_ratio must be a list of four, got {pooling_ratio!r}.")
    x = convert_to_tensor(value)
    if x.dtype not in NUMERIC or x.dtype.is_complex:
        raise DTypeError(f"{op}: value must hold real numbers, got {x.dtype.name}.")
    rules.check_rank(op, x.spec, 4, name="value")
    if x.spec.rank is None:
        raise UnsupportedError(f"{op}: value must have a known rank, which is 4.")
    sizes = shapes.shape_op(x, out_type=int64)
    ends, places, counted = [], [], []
    for axis, ratio in zip((1, 2), _ratios(op, pooling_ratio), strict=True):
        kind = (op, bool(pseudo_random), axis)
        start = next_state(op, kind, seed or None, convert_to_tensor([1], dtype=int32))
        found = sequence_op(
            sizes[axis], start, op=op, ratio=ratio, pseudo_random=bool(pseudo_random)
        )
        where, counts = _windows(found, sizes[axis], bool(overlapping))
        ends.append(found)
        places.append(where)
        counted.append(counts)
    x = gathering.gather(x, places[0], axis=1)  # batch, rows, window, width, channels
    x = gathering.gather(x, places[1], axis=3)  # batch, rows, window, columns, window, channels
    if is_mean:
        return FractionalPool(_mean(x, counted), ends[0], ends[1])
    x = shapes.transpose_op(x, perm=(0, 1, 3, 5, 2, 4))
    outer = shapes.shape_op(x, out_type=int64)[:4]
    x = shapes.reshape(x, joining.concat([outer, [-1]], 0))
    best = shapes.expand_dims_op(order.argmax(x, axis=-1), axis=-1)
    out = gathering.gather(x, best, axis=4, batch_dims=4)  # the first of equal ones, as gradients
    return FractionalPool(shapes.squeeze_op(out, axis=(-1,)), ends[0], ends[1])


def _mean(x: Tensor, counted: list[Tensor]) -> Tensor:
    """Of windows of rows (axis 2) and columns (axis 4), without what only fills them up."""
    rows = shapes.reshape(casting.cast(counted[0], x.dtype), [1, *_sizes(counted[0]), 1, 1, 1])
    columns = shapes.reshape(casting.cast(counted[1], x.dtype), [1, 1, 1, *_sizes(counted[1]), 1])
    numbers = rows * columns
    total = sums.reduce_sum(x * numbers, axis=[2, 4])
    size = sums.reduce_sum(numbers, axis=[2, 4])
    return division.truncatediv(total, size) if x.dtype.is_integer else total / size


def _sizes(x: Tensor) -> list[Tensor]:
    sizes = shapes.shape_op(x, out_type=int64)
    return [sizes[0], sizes[1]]


class FractionalPool(NamedTuple):
    """What `tf.nn.fractional_max_pool` and `fractional_avg_pool` return."""

    output: Tensor
    row_pooling_sequence: Tensor
    col_pooling_sequence: Tensor


def fractional_max_pool(
    value: TensorLike,
    pooling_ratio: float | Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> FractionalPool:
    """The largest elements of windows that differ in size and are drawn at random.

    Args:
      value: images [batch, height, width, channels] of real numbers.
      pooling_ratio: how many times smaller the result is, at least 1: a number, one for height and
        one for width, or a list of four, whose first and last are 1.
      pseudo_random: whether windows are spread evenly from a random start; else each is drawn.
      overlapping: whether a window has the first element of the next one, too.
      seed: an integer, which goes with the global seed; 0 means windows that nobody can foresee,
        unless a global seed is set.

    Returns:
      Three tensors: the result, and for height and width where windows begin, with the size.

    Raises:
      InvalidArgumentError: if a ratio is less than 1, or leaves nothing.
      ShapeError: if `value` does not have four axes.
      UnsupportedError: if batches or channels shall be pooled, or the rank is unknown.
      ValueError: if there are not one, two or four ratios.

    >>> x = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> out, rows, columns = tf.nn.fractional_max_pool(x, 2.0)
    >>> out.numpy()[0, :, :, 0], rows.numpy()
    (array([[ 5.,  7.],
           [13., 15.]], dtype=float32), array([0, 2, 4]))
    """
    op = "fractional_max_pool"
    return _pooled(op, value, pooling_ratio, pseudo_random, overlapping, seed, is_mean=False)


def fractional_avg_pool(
    value: TensorLike,
    pooling_ratio: Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> FractionalPool:
    """The means of windows that differ in size and are drawn at random.

    Args:
      value: images [batch, height, width, channels] of real numbers.
      pooling_ratio: how many times smaller the result is, at least 1: a list of four, whose first
        and last are 1.
      pseudo_random: whether windows are spread evenly from a random start; else each is drawn.
      overlapping: whether a window has the first element of the next one, too.
      seed: an integer, which goes with the global seed; 0 means windows that nobody can foresee,
        unless a global seed is set.

    Returns:
      Three tensors: the result, and for height and width where windows begin, with the size.

    Raises:
      InvalidArgumentError: if a ratio is less than 1, or leaves nothing.
      ShapeError: if `value` does not have four axes.
      UnsupportedError: if batches or channels shall be pooled, or the rank is unknown.
      TypeError: if `pooling_ratio` is no list.
      ValueError: if there are not one, two or four ratios.

    >>> x = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> tf.nn.fractional_avg_pool(x, [1.0, 2.0, 2.0, 1.0])[0].numpy()[0, :, :, 0]
    array([[ 2.5,  4.5],
           [10.5, 12.5]], dtype=float32)
    """
    op = "fractional_avg_pool"
    return _pooled(op, value, pooling_ratio, pseudo_random, overlapping, seed, is_mean=True)
