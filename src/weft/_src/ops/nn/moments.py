"""Moments from sums, weighted moments, and normalisation over neighbouring channels."""

from __future__ import annotations

import math
from typing import Any

from weft._src.core.aliases import ArrayNamespace, AxisLike, TensorLike
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.dtypes import FLOATING, bfloat16, float16, float32
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.ops import batching, composed_graph_forms, rules, static
from weft._src.ops.arrays import fill, shape as shapes
from weft._src.ops.elementwise import arithmetic, casting, guarded, unary
from weft._src.ops.reduce import products, sums
from weft._src.ops.registry import NO_NATIVE, NO_XLA, Op, args, define_op

Statistics = tuple[Tensor, Tensor, Tensor, Tensor | None]


def sufficient_statistics(
    x: TensorLike,
    axes: AxisLike,
    shift: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Statistics:
    """The number of elements, their sum and sum of squares (less `shift`), and the shift.

    Args:
      x: a tensor of numbers.
      axes: an axis or a list of axes.
      shift: a number, or a tensor that broadcasts with `x`, near to the mean; None means 0.
      keepdims: whether the axes stay, with size 1.

    Returns:
      A tuple (count, sum, sum of squares, shift) of tensors of the dtype of `x`. The count is a
      scalar, the shift None if none is given.

    Raises:
      ValueError: if `axes` is None.
      ShapeError: if there are no such axes.

    >>> count, total, squares, shift = tf.nn.sufficient_statistics([1.0, 2.0, 3.0], [0])
    >>> count.numpy(), total.numpy(), squares.numpy()
    (np.float32(3.0), np.float32(6.0), np.float32(14.0))
    """
    x = convert_to_tensor(x)
    if axes is None:
        raise ValueError("sufficient_statistics: axes must be given, got None.")
    count = casting.cast(_count(x, axes), x.dtype)
    if shift is None:
        centre, moved, squares = None, x, unary.square(x)
    else:
        centre = adopt(shift, x.dtype)
        moved, squares = x - centre, guarded.squared_difference(x, centre)
    total = sums.reduce_sum(moved, axes, keepdims)
    return count, total, sums.reduce_sum(squares, axes, keepdims), centre


def _count(x: Tensor, axes: AxisLike) -> Any:
    """How many elements are added up along axes."""
    sizes = shapes.shape(x)
    try:
        along = sums.reduction_axes("sufficient_statistics", axes)
    except static.UnknownWhileTracingError as unknown:
        return products.reduce_prod(unknown.instead("sizes", x, axes))
    if x.spec.rank is not None:
        along = rules.normalize_axes("sufficient_statistics", along, x.spec.rank, name="axes")
    return math.prod([sizes[axis] for axis in along or ()])


def normalize_moments(
    counts: TensorLike,
    mean_ss: TensorLike,
    variance_ss: TensorLike,
    shift: TensorLike,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Mean and variance out of what `sufficient_statistics` gives.

    Args:
      counts: the number of elements, a floating scalar.
      mean_ss: their sums, less the shift.
      variance_ss: their sums of squares, less the shift.
      shift: the shift; None means that there was none.

    Returns:
      Two tensors of the shape and dtype of `mean_ss`: the mean and the variance.

    >>> mean, variance = tf.nn.normalize_moments(3.0, 6.0, 14.0, None)
    >>> mean.numpy(), variance.numpy().round(4)
    (np.float32(2.0), np.float32(0.6667))
    """
    total = convert_to_tensor(mean_ss)
    share = arithmetic.divide(1.0, adopt(counts, total.dtype))
    moved = total * share
    mean = moved if shift is None else moved + adopt(shift, total.dtype)
    return mean, adopt(variance_ss, total.dtype) * share - unary.square(moved)


def weighted_moments(
    x: TensorLike,
    axes: AxisLike,
    frequency_weights: TensorLike,
    keepdims: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Mean and variance of elements that count with weights.

    Args:
      x: a tensor of floating numbers.
      axes: an axis or a list of axes.
      frequency_weights: a tensor that broadcasts with `x`.
      keepdims: whether the axes stay, with size 1.

    Returns:
      Two tensors of the dtype of `x` without these axes: the mean and the variance.

    >>> mean, variance = tf.nn.weighted_moments([1.0, 2.0], [0], [1.0, 3.0])
    >>> mean.numpy(), variance.numpy()
    (np.float32(1.75), np.float32(0.1875))
    """
    x = convert_to_tensor(x)
    dtype = x.dtype
    weights = adopt(frequency_weights, dtype)
    narrow = dtype in (float16, bfloat16)
    if narrow:  # sums of narrow floats lose too much
        x, weights = casting.cast(x, float32), casting.cast(weights, float32)
    weights = weights + fill.zeros_like(x)  # in the shape of both
    total = sums.reduce_sum(weights, axes, True)
    share = guarded.divide_no_nan(fill.ones_like(total), total)
    mean = sums.reduce_sum(weights * x, axes, True) * share
    distances = weights * guarded.squared_difference(x, mean)
    variance = sums.reduce_sum(distances, axes, True) * share
    if not keepdims:  # the axes that are left have size one
        mean, variance = [sums.reduce_sum(part, axes) for part in (mean, variance)]
    if narrow:
        mean, variance = casting.cast(mean, dtype), casting.cast(variance, dtype)
    return mean, variance


# --- local response ----------------------------------------------------------------------------


def _window_infer(x: TensorSpec, *, radius: int) -> TensorSpec:
    rules.check_rank("local_response_normalization", x, 4, name="input")
    return x


_FEW_CHANNELS = 256


def _window_kernel(xp: ArrayNamespace, x: Array, *, radius: int) -> Array:
    wide, channels = xp.widen(x), x.shape[-1]
    if channels <= _FEW_CHANNELS:  # the product with a matrix of ones around its diagonal
        apart = xp.abs(xp.arange(channels)[:, None] - xp.arange(channels))
        out = wide @ (apart <= radius).astype(wide.dtype)
    else:
        out = wide.copy()
        for d in range(1, min(radius, channels - 1) + 1):
            out[..., d:] += wide[..., :-d]
            out[..., :-d] += wide[..., d:]
    return out.astype(x.dtype, copy=False)


# The sum of each channel and its neighbours; as a matrix it is symmetric, so its own gradient.
window_sum_op: Op = define_op(
    "ChannelWindowSum",
    args("input", FLOATING),
    infer=_window_infer,
    kernel=_window_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=lambda ctx, g: (window_sum_op(g, **ctx.attrs),),
    fresh=True,
    graphdef=composed_graph_forms.window_sum,
    batch=batching.inexact(batching.merged),
)


def local_response_normalization(
    input: TensorLike,
    depth_radius: TensorLike = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """Each channel divided by (bias + alpha * squares of it and its neighbours) ** beta.

    Args:
      input: images [batch, height, width, channels] of floating numbers.
      depth_radius: how many neighbours on each side count, a Python integer of 0 or more.
      bias: a number.
      alpha: a number.
      beta: a number.

    Returns:
      A tensor of the shape and dtype of `input`.

    Raises:
      ValueError: if `depth_radius` is negative.
      ShapeError: if the rank is not 4.

    >>> x = tf.reshape(tf.constant([1.0, 2.0, 3.0]), [1, 1, 1, 3])
    >>> tf.nn.local_response_normalization(x, depth_radius=1).numpy().ravel().round(4)
    array([0.4082, 0.5164, 0.8018], dtype=float32)
    """
    op = "local_response_normalization"
    radius = static.static_int(op, depth_radius, "depth_radius")
    if radius < 0:
        raise ValueError(f"{op}: depth_radius must not be negative, got {radius}.")
    x = convert_to_tensor(input)
    squares = window_sum_op(unary.square(x), radius=radius)
    scale = adopt(bias, x.dtype) + adopt(alpha, x.dtype) * squares
    return arithmetic.multiply(x, arithmetic.pow(scale, -adopt(beta, x.dtype)), name=name)


lrn = local_response_normalization
