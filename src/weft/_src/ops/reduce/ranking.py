"""Questions about order: is a class among the best, is a sequence sorted, about the top k."""

from __future__ import annotations

from typing import Any, NamedTuple

from weft._src.core.aliases import ArrayNamespace, AxisLike, TensorLike
from weft._src.core.convert import convert_to_tensor, of_dtype
from weft._src.core.dtypes import FLOATING, INDEX, REAL, bool_, float32, int32
from weft._src.core.native_rules import Special
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops import batching, rules
from weft._src.ops.arrays import joining, shape as shapes
from weft._src.ops.reduce import logic, order
from weft._src.ops.registry import NOT_DIFFERENTIABLE, args, define_op


def _in_top_k_infer(predictions: TensorSpec, targets: TensorSpec, k: TensorSpec) -> TensorSpec:
    rules.check_rank("in_top_k", predictions, 2, name="predictions")
    rules.check_rank("in_top_k", targets, 1, name="targets")
    rules.check_rank("in_top_k", k, 0, name="k")
    if predictions.dims is not None and targets.dims is not None:
        what = "the numbers of predictions and targets"
        rules.unify("in_top_k", predictions.dims[0], targets.dims[0], what)
    return targets.with_dtype(bool_)


def _in_top_k_kernel(xp: ArrayNamespace, predictions: Array, targets: Array, k: Any) -> Array:
    classes = predictions.shape[1]
    known = (targets >= 0) & (targets < classes)
    if not classes:
        return known
    wide = xp.widen(predictions)
    places = xp.where(known, targets, 0)[:, None]
    counts = _counts_above(xp, wide, xp.take_along_axis(wide, places, 1))
    found = known & (counts < int(k))
    if wide.size and not (xp.isfinite(wide.max()) and xp.isfinite(wide.min())):
        # Rows with such numbers cannot tell; the ends of a row are such numbers then.
        found &= xp.isfinite(wide.max(1)) & xp.isfinite(wide.min(1))
    return found


_LANES = 8  # bytes of a word


def _counts_above(xp: ArrayNamespace, rows: Array, limits: Array) -> Array:
    """How many numbers of each row are above its limit.

    Eight flags are added at once, as bytes of a word, of which none becomes larger than 255.
    """
    words = -(-rows.shape[1] // _LANES)
    if words > 255:
        return xp.count_nonzero(rows > limits, axis=1)
    above = xp.zeros((len(rows), words * _LANES), bool)
    xp.greater(rows, limits, out=above[:, : rows.shape[1]])
    totals = xp.add.reduce(above.view(xp.uint64), 1, keepdims=True)
    return xp.add.reduce(totals.view(xp.uint8), 1, dtype=xp.int64)


in_top_k_op = define_op(
    "InTopKV2",
    args("predictions", FLOATING) + args("targets", INDEX) + args("k", INDEX),
    infer=_in_top_k_infer,
    kernel=_in_top_k_kernel,
    native=Special("in_top_k"),
    xla=Lowered("in_top_k"),
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    batch=batching.among_best,
)


def in_top_k(
    targets: TensorLike, predictions: TensorLike, k: TensorLike, name: str | None = None
) -> Tensor:
    """Whether the prediction for the target class of each row is among the k largest.

    Args:
      targets: class numbers, an int32 or int64 vector.
      predictions: float32 numbers [rows, classes].
      k: how many count, an integer or integer scalar.

    Returns:
      A bool vector; False where the target is no class or a prediction is not finite.

    Raises:
      ShapeError: if the ranks or the numbers of rows do not fit.

    >>> tf.math.in_top_k([1, 2], [[0.1, 0.9, 0.3], [0.5, 0.2, 0.1]], k=2).numpy()
    array([ True, False])
    """
    return in_top_k_op(
        of_dtype("in_top_k", predictions, float32, "predictions"),
        convert_to_tensor(targets, dtype_hint=int32),
        convert_to_tensor(k, dtype_hint=int32),
        name=name,
    )


# --- top k, also of the smallest, along any axis -----------------------------------------------


class ApproxTopK(NamedTuple):
    """The best elements and where they were."""

    values: Tensor
    indices: Tensor


def _best(
    op: str, operand: TensorLike, k: TensorLike, dimension: Any, sign: int, recall: Any
) -> ApproxTopK:
    x = convert_to_tensor(operand)
    if x.dtype not in FLOATING:
        raise DTypeError(f"{op}: operand must be floating-point, got dtype {x.dtype.name}.")
    if not 0 < recall <= 1:
        raise ValueError(f"{op}: recall_target must be in (0, 1], got {recall!r}.")
    axis = joining.single_axis(op, dimension, "reduction_dimension")
    rank = x.spec.rank
    if rank is None:
        if axis != -1:
            raise ShapeError(f"{op}: a reduction_dimension other than -1 needs a known rank.")
        perm = None
    else:
        axis = rules.normalize_axis(op, axis, rank, name="reduction_dimension")
        perm = tuple([rank - 1 if i == axis else axis if i == rank - 1 else i for i in range(rank)])
        x = shapes.transpose(x, perm)
    values, indices = order.top_k(x if sign > 0 else -x, k)
    values = values if sign > 0 else -values
    if perm is None:
        return ApproxTopK(values, indices)
    return ApproxTopK(shapes.transpose(values, perm), shapes.transpose(indices, perm))


def approx_max_k(
    operand: TensorLike,
    k: TensorLike,
    reduction_dimension: AxisLike = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """The k largest elements along an axis and their indices: here always all of them, sorted.

    Args:
      operand: a tensor of floating numbers.
      k: how many, an integer.
      reduction_dimension: the axis, counted from the end if negative.
      recall_target: a number above 0 and up to 1; it does not change the result.
      reduction_input_size_override: accepted for compatibility, ignored.
      aggregate_to_topk: accepted for compatibility, ignored.

    Returns:
      A named tuple (values, indices) of two tensors with size `k` along the axis; indices are
      int32.

    Raises:
      DTypeError: if `operand` is not floating.
      ValueError: if `recall_target` is out of range.
      ShapeError: if there is no such axis, or it has fewer elements.

    >>> values, indices = tf.math.approx_max_k([3.0, 1.0, 2.0, 9.0], 2)
    >>> values.numpy(), indices.numpy()
    (array([9., 3.], dtype=float32), array([3, 0], dtype=int32))
    """
    return _best("approx_max_k", operand, k, reduction_dimension, 1, recall_target)


def approx_min_k(
    operand: TensorLike,
    k: TensorLike,
    reduction_dimension: AxisLike = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """The k smallest elements along an axis and their indices: here always all of them, sorted.

    Args:
      operand: a tensor of floating numbers.
      k: how many, an integer.
      reduction_dimension: the axis, counted from the end if negative.
      recall_target: a number above 0 and up to 1; it does not change the result.
      reduction_input_size_override: accepted for compatibility, ignored.
      aggregate_to_topk: accepted for compatibility, ignored.

    Returns:
      A named tuple (values, indices) of two tensors with size `k` along the axis; indices are
      int32.

    Raises:
      DTypeError: if `operand` is not floating.
      ValueError: if `recall_target` is out of range.
      ShapeError: if there is no such axis, or it has fewer elements.

    >>> values, indices = tf.math.approx_min_k([3.0, 1.0, 2.0, 9.0], 2)
    >>> values.numpy(), indices.numpy()
    (array([1., 2.], dtype=float32), array([1, 2], dtype=int32))
    """
    return _best("approx_min_k", operand, k, reduction_dimension, -1, recall_target)


# --- sorted or not -----------------------------------------------------------------------------


def _neighbours(op: str, x: TensorLike) -> tuple[Tensor, Tensor]:
    x = convert_to_tensor(x)
    if x.dtype not in REAL:
        raise DTypeError(f"{op}: x must be numeric and real, got dtype {x.dtype.name}.")
    flat = shapes.reshape(x, [-1])
    return flat[:-1], flat[1:]


def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """Whether no element is smaller than the one before it, in row-major order.

    Args:
      x: a tensor of real numbers.

    Returns:
      A scalar bool; True if there are fewer than two elements.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.is_non_decreasing([1, 1, 2]).numpy()
    np.True_
    """
    before, after = _neighbours("is_non_decreasing", x)
    return logic.reduce_all(before <= after, name=name)


def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """Whether each element is larger than the one before it, in row-major order.

    Args:
      x: a tensor of real numbers.

    Returns:
      A scalar bool; True if there are fewer than two elements.

    Raises:
      DTypeError: if `x` has another dtype.

    >>> tf.math.is_strictly_increasing([1, 1, 2]).numpy()
    np.False_
    """
    before, after = _neighbours("is_strictly_increasing", x)
    return logic.reduce_all(before < after, name=name)
