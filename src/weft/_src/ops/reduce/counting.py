"""How often values occur: bincount, histograms, confusion matrices."""

from __future__ import annotations

from typing import Any

from weft._src.core import dtypes, memory
from weft._src.core.aliases import ArrayNamespace, AxisLike, DTypeLike, TensorLike
from weft._src.core.composite import CompositeTensor
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.dtypes import FLOATING, INDEX, REAL, DType, float32, float64, int32, int64
from weft._src.core.native_rules import Special
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import DTypeError, InvalidArgumentError, ShapeError
from weft._src.ops import batching, rules, static
from weft._src.ops.arrays import fill, joining, shape as shapes, shape_checks
from weft._src.ops.elementwise import arithmetic, casting, clipping, unary
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import scattering
from weft._src.ops.reduce import extrema
from weft._src.ops.registry import NO_XLA, NOT_DIFFERENTIABLE, args, define_op

_COUNTS = frozenset({int32, int64, float32, float64})

# --- bincount ----------------------------------------------------------------------------------


def _bincount_infer(
    x: TensorSpec, size: TensorSpec, weights: TensorSpec, *, binary_output: bool
) -> TensorSpec:
    if x.rank is not None and x.rank > 2:
        raise ShapeError(f"bincount: arr must have rank 2 at most here, got shape {x.shape}.")
    rules.check_rank("bincount", size, 0, name="size")
    if weights.dims is not None and weights.dims != (0,):
        rules.merge_dims("bincount", x.dims, weights.dims, "arr and weights")
    number = rules.known(size)
    if isinstance(number, int) and number < 0:
        raise ShapeError(f"bincount: the number of bins must not be negative, got {number}.")
    if x.dims is None:
        return weights.with_dims(None)
    return weights.with_dims((*x.dims[:-1], Dim() if number is None else number))


def _bincount_kernel(
    xp: ArrayNamespace, x: Array, size: Any, weights: Array, *, binary_output: bool
) -> Array:
    bins = int(size)
    rows = xp.reshape(x, (1, -1)) if x.ndim < 2 else x
    weighed = not binary_output and (bool(weights.size) or weights.shape == x.shape)
    if x.size and x.min() < 0:
        raise InvalidArgumentError(
            None, None, f"bincount: arr must not be negative, got {x.min()}."
        )
    flat, amounts = rows[0] if len(rows) else rows, xp.reshape(weights, (-1,)) if weighed else None
    if len(rows) != 1 or (x.size and x.max() >= bins):
        counted = rows < bins
        flat = (rows + xp.arange(len(rows), dtype=xp.int64)[:, None] * bins)[counted]
        amounts = xp.reshape(weights, rows.shape)[counted] if weighed else None
    memory.check("bincount", (len(rows), bins), xp.dtype(xp.int64))
    out = xp.bincount(flat, amounts, minlength=len(rows) * bins)
    if binary_output:
        out = out > 0
    shape = (*x.shape[:-1], bins) if x.ndim else (bins,)
    return xp.reshape(out, shape).astype(weights.dtype)


bincount_op = define_op(
    "DenseBincount",
    args("input", INDEX) + args("size", INDEX, is_shape=True) + args("weights", _COUNTS),
    infer=_bincount_infer,
    kernel=_bincount_kernel,
    native=Special("bincount"),
    xla=Lowered("bincount"),
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    ragged="bincount",
    batch=batching.counted,
)


def bincount(
    arr: TensorLike,
    weights: TensorLike | None = None,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    dtype: DTypeLike = int32,
    name: str | None = None,
    axis: AxisLike | None = None,
    binary_output: bool = False,
) -> Tensor:
    """How often each of 0, 1, 2, ... occurs (or the sum of the weights where it does).

    With `axis=-1` each row is counted apart; `binary_output` says only whether a number occurs.

    Args:
      arr: int32 or int64 (of floats the fraction is cut off), not negative; of any shape, of rank
        2 at most with `axis=-1`. Of ragged and sparse tensors the values they hold are counted.
      weights: a tensor of the shape of `arr`, of int32, int64, float32 or float64; None means 1.
      minlength: how many numbers are counted at least; None means no limit.
      maxlength: how many at most; larger numbers are not counted. None means no limit.
      dtype: the dtype of counts without weights: int32, int64, float32 or float64.
      axis: None or 0 count all elements, -1 each row.
      binary_output: whether the result is 1 for each number that occurs; not with weights.

    Returns:
      A vector, or a matrix with `axis=-1`, of `dtype` or the dtype of the weights.

    Raises:
      InvalidArgumentError: if a number is negative.
      ValueError: if `axis` is another one, or `binary_output` comes with weights.
      DTypeError: if a dtype is another one.
      ShapeError: if the shapes of `arr` and `weights` differ.

    >>> tf.math.bincount([1, 1, 3]).numpy()
    array([0, 2, 0, 1], dtype=int32)
    >>> tf.math.bincount([[1, 1], [0, 2]], axis=-1).numpy()
    array([[0, 2, 0],
           [1, 0, 1]], dtype=int32)
    """
    if axis is not None and joining.single_axis("bincount", axis) not in (0, -1):
        raise ValueError(f"bincount: axis must be None, 0 or -1, got {axis!r}.")
    if binary_output and weights is not None:
        raise ValueError("bincount: binary_output and weights exclude each other; leave one out.")
    x: Any = convert_to_tensor(arr, dtype_hint=int32)
    if x.dtype.is_floating:
        x = casting.cast(x, int32)
    amounts: Any
    if weights is None:
        amounts = fill.zeros([0], _count_type("bincount", dtype, _COUNTS))
    else:
        amounts = convert_to_tensor(weights)
    if axis is None or joining.single_axis("bincount", axis) == 0:
        x = shapes.reshape(_numbers(x), [-1])
        amounts = amounts if weights is None else shapes.reshape(_numbers(amounts), [-1])
    size = number_of_bins(_numbers(x), minlength, maxlength)
    return bincount_op(x, size, amounts, binary_output=bool(binary_output), name=name)


def _numbers(x: Any) -> Tensor:
    """What is counted: of ragged and sparse tensors the values they hold."""
    return x.all_values if isinstance(x, CompositeTensor) else x


def number_of_bins(x: Tensor, minlength: Any, maxlength: Any) -> Tensor:
    """One more than the largest number, within the limits."""
    ends = [
        None if n is None else static.static_value(adopt(n, x.dtype))
        for n in (minlength, maxlength)
    ]
    if ends[0] is not None and ends[0] == ends[1]:
        return adopt(minlength, x.dtype)  # whatever the values are
    not_empty = casting.cast(shapes.size(x) > 0, x.dtype)
    size = not_empty * (extrema.reduce_max(x) + 1)
    if minlength is not None:
        size = arithmetic.maximum(adopt(minlength, x.dtype), size)
    if maxlength is not None:
        size = arithmetic.minimum(adopt(maxlength, x.dtype), size)
    return size


def _count_type(op: str, dtype: DTypeLike, allowed: frozenset[DType]) -> DType:
    found = dtypes.as_dtype(dtype)
    if found not in allowed:
        names = ", ".join(sorted(d.name for d in allowed))
        raise DTypeError(f"{op}: dtype must be one of {names}, got {found.name}.")
    return found


# --- histograms --------------------------------------------------------------------------------


def _histogram_infer(
    values: TensorSpec, value_range: TensorSpec, nbins: TensorSpec, *, dtype: DType
) -> TensorSpec:
    op = "histogram_fixed_width"
    rules.merge_dims(op, value_range.dims, (2,), "value_range and (lowest, highest)")
    rules.check_rank(op, nbins, 0, name="nbins")
    bins = rules.known(nbins)
    if isinstance(bins, int) and bins < 1:
        raise ShapeError(f"{op}: nbins must be positive, got {bins}.")
    return TensorSpec.of(dtype, (Dim() if bins is None else bins,))


def _histogram_kernel(
    xp: ArrayNamespace, values: Array, value_range: Array, nbins: Any, *, dtype: DType
) -> Array:
    low, high = [float(end) for end in value_range]
    if not low < high:
        raise InvalidArgumentError(
            None,
            None,
            f"histogram_fixed_width: value_range must ascend, got [{low}, {high}].",
        )
    bins = int(nbins)
    places = (values.astype(xp.float64) - low) / ((high - low) / bins)
    if xp.isnan(places).any():
        raise InvalidArgumentError(
            None, None, "histogram_fixed_width: values must not contain NaN."
        )
    places = xp.clip(places, 0, bins - 1).astype(xp.int64)
    memory.check("histogram_fixed_width", (bins,), xp.dtype(xp.int64))
    return xp.bincount(xp.ravel(places), minlength=bins).astype(dtype.numpy_dtype)


histogram_op = define_op(
    "HistogramFixedWidth",
    args("values value_range", REAL) + args("nbins", INDEX, is_shape=True),
    infer=_histogram_infer,
    kernel=_histogram_kernel,
    native=Special("histogram"),
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def histogram_fixed_width(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike = 100,
    dtype: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:
    """How many values lie in each of `nbins` equal parts of a range; outliers in the end parts.

    Args:
      values: a tensor of real numbers.
      value_range: the lowest and the highest value, of the same dtype.
      nbins: the number of parts, a positive integer or integer scalar.
      dtype: the dtype of the result, int32 or int64.

    Returns:
      A vector of `nbins` counts.

    Raises:
      InvalidArgumentError: if the range does not ascend, or a value is NaN.
      ShapeError: if `nbins` is not positive, or the range not two numbers.
      DTypeError: if `dtype` is another one.

    >>> tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5).numpy()
    array([2, 1, 1, 0, 2], dtype=int32)
    """
    x, ends = joining.matching_tensors([values, value_range])
    count = convert_to_tensor(nbins, dtype_hint=int32)
    found = _count_type("histogram_fixed_width", dtype, INDEX)
    return histogram_op(x, ends, count, dtype=found, name=name)


def histogram_fixed_width_bins(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike = 100,
    dtype: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:
    """The part of a range, cut into `nbins` equal ones, in which each value lies.

    Args:
      values: a tensor of real numbers.
      value_range: the lowest and the highest value, of the same dtype.
      nbins: the number of parts, a positive integer or integer scalar.
      dtype: the dtype of the result, int32 or int64.

    Returns:
      A tensor of the shape of `values`, with numbers from 0 to nbins - 1; outliers get those of the
      ends.

    Raises:
      InvalidArgumentError: if the range does not ascend, or `nbins` is not positive.
      ShapeError: if the range is not two numbers.
      DTypeError: if `dtype` is another one.

    >>> tf.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0], [0.0, 5.0], nbins=5).numpy()
    array([0, 0, 1, 2, 4], dtype=int32)
    """
    op = "histogram_fixed_width_bins"
    x, ends = joining.matching_tensors([values, value_range])
    rules.merge_dims(op, ends.spec.dims, (2,), "value_range and (lowest, highest)")
    ends = shape_checks.ensure_shape(ends, [2])  # where that is known at run time only
    found = _count_type(op, dtype, INDEX)
    count = convert_to_tensor(nbins, dtype_hint=int32)
    require(lambda n: n > 0, [count], f"{op}: nbins must be positive", ("nbins",))
    require(lambda r: r[0] < r[1], [ends], f"{op}: value_range must ascend", ("value_range",))
    part = arithmetic.truediv(x - ends[0], ends[1] - ends[0])
    places = unary.floor(casting.cast(count, part.dtype) * part)
    last = casting.cast(count - 1, part.dtype)
    return casting.cast(clipping.clip_by_value(places, 0.0, last), found, name=name)


# --- confusion matrix --------------------------------------------------------------------------


def confusion_matrix(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: TensorLike | None = None,
    weights: TensorLike | None = None,
    dtype: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:
    """How often (or with what weight) class `row` was predicted as class `column`.

    Args:
      labels: class numbers, an integer vector (or column).
      predictions: class numbers, as many.
      num_classes: the number of classes; None means as many as the largest number needs.
      weights: a vector of as many weights; None means 1.
      dtype: the dtype of the result.

    Returns:
      A matrix of shape [num_classes, num_classes].

    Raises:
      InvalidArgumentError: if a class is negative, or not below `num_classes`.
      ShapeError: if the numbers of elements differ, or they are no vectors.
      DTypeError: if classes are floating.

    >>> tf.math.confusion_matrix([1, 2, 2], [2, 2, 1]).numpy()
    array([[0, 0, 0],
           [0, 0, 1],
           [0, 1, 1]], dtype=int32)
    """
    rows, columns = _classes("labels", labels), _classes("predictions", predictions)
    if num_classes is None:
        largest = arithmetic.maximum(extrema.reduce_max(rows), extrema.reduce_max(columns))
        count = arithmetic.maximum(largest + 1, 0)
    else:
        count = casting.cast(num_classes, int64)
        for what, classes in (("labels", rows), ("predictions", columns)):
            text = f"confusion_matrix: {what} must be less than num_classes"
            require(lambda c, n: c < n, [classes, count], text, (what, "num_classes"))
    found = dtypes.as_dtype(dtype)
    amounts = fill.ones_like(columns, found) if weights is None else casting.cast(weights, found)
    places = joining.stack([rows, columns], axis=1)
    return scattering.scatter_nd(places, amounts, joining.stack([count, count]), name=name)


def _classes(what: str, value: TensorLike) -> Tensor:
    """Class numbers as a vector; a column of them will do."""
    x = convert_to_tensor(value)
    if x.spec.rank == 2 and x.spec.dims[1] == 1:  # type: ignore[index]
        x = shapes.squeeze(x, [1])
    rules.check_rank("confusion_matrix", x.spec, 1, name=what)
    if x.dtype in FLOATING:
        raise DTypeError(
            f"confusion_matrix: {what} must be whole numbers, got dtype {x.dtype.name}. Convert "
            "them with tf.cast."
        )
    x = casting.cast(x, int64)
    require(lambda c: c >= 0, [x], f"confusion_matrix: {what} must not be negative", (what,))
    return x
