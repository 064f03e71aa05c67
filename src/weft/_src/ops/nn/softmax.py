"""Softmax, and the cross entropy between labels and its result."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import ArrayNamespace, AxisLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import FLOATING, INDEX
from weft._src.core.native_rules import Special
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL, Lowered
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.ops import batching, graph_forms, rules, static
from weft._src.ops.arrays import shape as shapes, shape_checks
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import casting, unary
from weft._src.ops.elementwise.operands import sum_to
from weft._src.ops.reduce import sums
from weft._src.ops.registry import Op, args, define_op


def _along(op: str) -> Any:
    """The type rule of ops that work along one axis and keep the shape."""

    def infer(logits: TensorSpec, *, axis: int) -> TensorSpec:
        if logits.dims is not None:
            rules.normalize_axis(op, axis, len(logits.dims))
        return logits

    return infer


def _shifted(xp: ArrayNamespace, x: Array, axis: int) -> Array:
    """Wide enough to add up, and with maximum 0, so that nothing overflows."""
    x = xp.widen(x)
    if not x.shape[axis]:
        return x
    return x - xp.max(x, axis=axis, keepdims=True)


def _softmax_kernel(xp: ArrayNamespace, x: Array, *, axis: int) -> Array:
    e = xp.exp(_shifted(xp, x, axis))
    e /= xp.sum(e, axis=axis, keepdims=True)
    return e.astype(x.dtype, copy=False)


def _sum(x: Tensor, axis: int) -> Tensor:
    return sums.sum_op(x, axis=(axis,), keepdims=True)


def _softmax_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    y, axis = ctx.outputs[0], ctx.attrs["axis"]
    return ((g - _sum(g * y, axis)) * y,)


softmax_op: Op = define_op(
    "Softmax",
    args("logits", FLOATING),
    infer=_along("softmax"),
    kernel=_softmax_kernel,
    native=Special("softmax"),
    xla=KERNEL,
    vjp=_softmax_vjp,
    fresh=True,
    slow_kernel=True,
    ragged="softmax",
    batch=batching.inexact(batching.along_axis),
    graphdef=graph_forms.softmax,
)


def _axis(op: str, axis: Any) -> int:
    return -1 if axis is None else static.static_int(op, axis, "axis")


def softmax(logits: TensorLike, axis: AxisLike | None = None, name: str | None = None) -> Tensor:
    """exp(x), scaled so that the sum along an axis (the last one) is 1.

    Args:
      logits: a tensor of floating numbers, of rank 1 or more.
      axis: the axis, counted from the end if negative; None means the last one.

    Returns:
      A tensor of the shape and dtype of `logits`.

    Raises:
      ShapeError: if `logits` is a scalar, or there is no such axis.
      DTypeError: if it is not floating.

    >>> tf.nn.softmax([0.0, 0.0]).numpy()
    array([0.5, 0.5], dtype=float32)
    """
    x = convert_to_tensor(logits)
    try:
        at = _axis("softmax", axis)
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead("along", softmax, x, axis)
    return softmax_op(x, axis=at, name=name)


def _log_softmax_kernel(xp: ArrayNamespace, x: Array, *, axis: int) -> Array:
    shifted = _shifted(xp, x, axis)
    out = shifted - xp.log(xp.sum(xp.exp(shifted), axis=axis, keepdims=True))
    return out.astype(x.dtype, copy=False)


def _log_softmax_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    return (g - unary.exp_op(ctx.outputs[0]) * _sum(g, ctx.attrs["axis"]),)


log_softmax_op = define_op(
    "LogSoftmax",
    args("logits", FLOATING),
    infer=_along("log_softmax"),
    kernel=_log_softmax_kernel,
    native=Special("log_softmax"),
    xla=KERNEL,
    vjp=_log_softmax_vjp,
    fresh=True,
    slow_kernel=True,
    batch=batching.inexact(batching.along_axis),
    graphdef=graph_forms.log_softmax,
)


def log_softmax(
    logits: TensorLike, axis: AxisLike | None = None, name: str | None = None
) -> Tensor:
    """The logarithm of `softmax`, exact also for small probabilities.

    Args:
      logits: a tensor of floating numbers, of rank 1 or more.
      axis: the axis, counted from the end if negative; None means the last one.

    Returns:
      A tensor of the shape and dtype of `logits`.

    Raises:
      ShapeError: if `logits` is a scalar, or there is no such axis.
      DTypeError: if it is not floating.

    >>> tf.nn.log_softmax([0.0, -1000.0]).numpy()
    array([    0., -1000.], dtype=float32)
    """
    x = convert_to_tensor(logits)
    try:
        at = _axis("log_softmax", axis)
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead("along", log_softmax, x, axis)
    return log_softmax_op(x, axis=at, name=name)


# --- cross entropy -----------------------------------------------------------------------------
# Both ops also give the gradient for the logits, which is nearly free: softmax - labels.


def _cross_entropy_infer(logits: TensorSpec, labels: TensorSpec) -> tuple[TensorSpec, TensorSpec]:
    op = "softmax_cross_entropy_with_logits"
    rules.check_rank_at_least(op, logits, 1, name="logits")
    rules.check_rank_at_least(op, labels, 1, name="labels")
    out = logits.with_dims(rules.broadcast_dims(op, logits.dims, labels.dims))
    return (out if out.dims is None else out.with_dims(out.dims[:-1])), out


def _cross_entropy_kernel(xp: ArrayNamespace, logits: Array, labels: Array) -> tuple[Array, Array]:
    shifted = _shifted(xp, logits, -1)
    e = xp.exp(shifted)
    total = xp.sum(e, axis=-1, keepdims=True)
    wide = xp.widen(labels)
    loss = xp.sum(wide * (xp.log(total) - shifted), axis=-1)
    return loss.astype(logits.dtype), (e / total - wide).astype(logits.dtype)


def _column(g: Tensor) -> Tensor:
    return shapes.expand_dims_op(g, axis=-1)


def _cross_entropy_vjp(
    ctx: VjpContext, g_loss: Tensor | None, g_slope: Tensor | None
) -> tuple[Tensor | None, Tensor | None]:
    logits, labels = ctx.inputs
    g_logits = g_labels = None
    if g_loss is not None:
        g_logits = _column(g_loss) * ctx.outputs[1]
        g_labels = -_column(g_loss) * log_softmax_op(logits, axis=-1)
    if g_slope is not None:
        second = _second_order(logits, g_slope)
        g_logits = second if g_logits is None else g_logits + second
        g_labels = -g_slope if g_labels is None else g_labels - g_slope
    return (
        None if g_logits is None else sum_to(g_logits, logits),
        None if g_labels is None else sum_to(g_labels, labels),
    )


def _second_order(logits: Tensor, g: Tensor) -> Tensor:
    y = softmax_op(logits, axis=-1)
    return (g - _sum(g * y, -1)) * y


cross_entropy_op = define_op(
    "SoftmaxCrossEntropyWithLogits",
    args("features labels", FLOATING),
    infer=_cross_entropy_infer,
    kernel=_cross_entropy_kernel,
    native=Special("softmax_cross_entropy"),
    xla=KERNEL,
    vjp=_cross_entropy_vjp,
    outputs=2,
    fresh=True,
    slow_kernel=True,
    batch=batching.inexact(batching.systems),
)


def softmax_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, axis: AxisLike = -1, name: str | None = None
) -> Tensor:
    """The cross entropy between probabilities `labels` and softmax(logits), along an axis.

    Args:
      labels: a tensor of probabilities, which is cast to the dtype of `logits`.
      logits: a tensor of floating numbers; the two are broadcast together.
      axis: the axis of the classes.

    Returns:
      A tensor of the dtype of `logits`, of the broadcast shape without the axis.

    Raises:
      ShapeError: if the shapes cannot be broadcast together, or there is no such axis.

    >>> tf.nn.softmax_cross_entropy_with_logits([[0.0, 1.0]], [[0.0, 0.0]]).numpy()
    array([0.6931472], dtype=float32)
    """
    x = convert_to_tensor(logits)
    y = casting.cast(labels, x.dtype)
    try:
        at = _axis("softmax_cross_entropy_with_logits", axis)
    except static.UnknownWhileTracingError as unknown:
        x, y = unknown.instead("last", x, axis), unknown.instead("last", y, axis)
    else:
        if at != -1:
            x, y = _last(x, at), _last(y, at)
    return cross_entropy_op(_with_classes(x, y), y, name=name)[0]


def _with_classes(logits: Tensor, labels: Tensor) -> Tensor:
    """Logits that stand for several classes with one number, as many as there are classes."""
    if logits.spec.rank == 0 or labels.spec.rank == 0:
        return logits  # which the op refuses
    ours, theirs = [x.spec.dims[-1] if x.spec.dims else None for x in (logits, labels)]
    if ours is not None and (ours == theirs or (isinstance(ours, int) and ours != 1)):
        return logits
    shape = shape_checks.broadcast_dynamic_shape(shapes.shape(logits), shapes.shape(labels))
    return shapes.broadcast_to(logits, shape)


def _last(x: Tensor, axis: int) -> Tensor:
    """x with the axis moved to the end."""
    rank = x.spec.rank
    if rank is None:
        raise ShapeError(
            "softmax_cross_entropy_with_logits: an axis other than the last one needs a tensor of "
            "known rank. Give the function an input signature, or use tf.ensure_shape."
        )
    at = rules.normalize_axis("softmax_cross_entropy_with_logits", axis, rank)
    return shapes.transpose_op(x, perm=(*[i for i in range(rank) if i != at], at))


def _sparse_infer(logits: TensorSpec, labels: TensorSpec) -> tuple[TensorSpec, TensorSpec]:
    op = "sparse_softmax_cross_entropy_with_logits"
    rules.check_rank_at_least(op, logits, 1, name="logits")
    lead = None if logits.dims is None else logits.dims[:-1]
    try:
        dims = rules.merge_dims(op, lead, labels.dims, "labels and logits without its last axis")
    except ShapeError:
        raise ShapeError(
            f"{op}: labels must have the shape of logits without its last axis, got labels of "
            f"shape {labels.shape} and logits of shape {logits.shape}."
        ) from None
    return logits.with_dims(dims), logits


def _sparse_kernel(xp: ArrayNamespace, logits: Array, labels: Array) -> tuple[Array, Array]:
    n = logits.shape[-1]
    wrong = (labels < 0) | (labels >= n)
    if xp.any(wrong):
        raise InvalidArgumentError(
            None,
            None,
            "sparse_softmax_cross_entropy_with_logits: labels must be from 0 to "
            f"{n - 1}, as there are {n} classes, got {xp.asarray(labels)[wrong][0]}.",
        )
    shifted = _shifted(xp, logits, -1)
    e = xp.exp(shifted)
    total = xp.sum(e, axis=-1, keepdims=True)
    at = xp.expand_dims(labels, -1)
    loss = (xp.log(total) - xp.take_along_axis(shifted, at, -1))[..., 0]
    slope = e / total
    xp.put_along_axis(slope, at, xp.take_along_axis(slope, at, -1) - 1, -1)
    return loss.astype(logits.dtype), slope.astype(logits.dtype)


def _sparse_vjp(
    ctx: VjpContext, g_loss: Tensor | None, g_slope: Tensor | None
) -> tuple[Tensor | None, None]:
    g_logits = None
    if g_loss is not None:
        g_logits = _column(g_loss) * ctx.outputs[1]
    if g_slope is not None:
        second = _second_order(ctx.inputs[0], g_slope)
        g_logits = second if g_logits is None else g_logits + second
    return g_logits, None


sparse_cross_entropy_op = define_op(
    "SparseSoftmaxCrossEntropyWithLogits",
    args("features", FLOATING) + args("labels", INDEX),
    infer=_sparse_infer,
    kernel=_sparse_kernel,
    native=Special("sparse_softmax_cross_entropy"),
    xla=Lowered("sparse_softmax_cross_entropy"),
    vjp=_sparse_vjp,
    outputs=2,
    fresh=True,
    slow_kernel=True,
    batch=batching.inexact(batching.systems),
)


def sparse_softmax_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, name: str | None = None
) -> Tensor:
    """The cross entropy between class numbers `labels` and softmax(logits), on the last axis.

    Args:
      labels: class numbers, int32 or int64, of the shape of `logits` without its last axis.
      logits: a tensor of floating numbers, with the classes on its last axis.

    Returns:
      A tensor of the shape of `labels` and the dtype of `logits`.

    Raises:
      InvalidArgumentError: if a label is negative or no class.
      ShapeError: if the shapes do not fit.

    >>> tf.nn.sparse_softmax_cross_entropy_with_logits([1], [[0.0, 0.0]]).numpy()
    array([0.6931472], dtype=float32)
    """
    labels = convert_to_tensor(labels)
    return sparse_cross_entropy_op(convert_to_tensor(logits), labels, name=name)[0]
