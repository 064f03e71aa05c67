"""Losses that work element by element, and their averages."""

from __future__ import annotations

import math
from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.dtypes import FLOATING, int32
from weft._src.core.native_rules import Reduction
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops import batching, rules
from weft._src.ops.arrays import fill, joining, selection, shape as shapes
from weft._src.ops.elementwise import arithmetic, casting, comparison, guarded, unary
from weft._src.ops.host.requiring import require
from weft._src.ops.nn import activations
from weft._src.ops.reduce import sums
from weft._src.ops.registry import args, define_op


def _l2_loss_kernel(xp: ArrayNamespace, x: Array) -> Any:
    flat = xp.reshape(xp.widen(x), -1)
    return (xp.dot(flat, flat) / 2).astype(x.dtype)


l2_loss_op = define_op(
    "L2Loss",
    args("t", FLOATING),
    infer=lambda t: t.with_dims(()),
    kernel=_l2_loss_kernel,
    native=Reduction("l2_loss"),
    xla=KERNEL,
    vjp=lambda ctx, g: (g * ctx.inputs[0],),
    trusts_kernel=True,
    fresh=True,
    batch=batching.half_of_squares,
)


def l2_loss(t: TensorLike, name: str | None = None) -> Tensor:
    """Half the sum of squares.

    Args:
      t: a tensor of floating numbers.

    Returns:
      A scalar of the dtype of `t`.

    Raises:
      DTypeError: if `t` has another dtype.

    >>> tf.nn.l2_loss([1.0, 2.0, 3.0]).numpy()
    np.float32(7.0)
    """
    return l2_loss_op(convert_to_tensor(t), name=name)


def _pair(op: str, names: tuple[str, str], first: Any, second: Any) -> tuple[Tensor, Tensor]:
    """Two tensors of one shape; the second one's dtype is what numbers in the first one take."""
    y = convert_to_tensor(second)
    x = adopt(first, y.dtype)
    what = f"{names[0]} and {names[1]}"
    try:
        rules.merge_dims(op, x.spec.dims, y.spec.dims, what)
    except ShapeError:
        raise ShapeError(
            f"{op}: {what} must have the same shape, got {x.shape} and {y.shape}."
        ) from None
    return x, y


def sigmoid_cross_entropy_with_logits(
    labels: TensorLike | None = None, logits: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The cross entropy between probabilities `labels` and sigmoid(logits), element by element.

    Args:
      labels: a tensor of numbers from 0 to 1; Python numbers take the dtype of `logits`.
      logits: a tensor of floating numbers, of the same shape and dtype.

    Returns:
      A tensor of this shape and dtype.

    Raises:
      ValueError: if one is left out.
      ShapeError: if the shapes differ; they are not broadcast.

    >>> tf.nn.sigmoid_cross_entropy_with_logits([1.0, 1.0], [0.0, -100.0]).numpy()
    array([  0.6931472, 100.       ], dtype=float32)
    """
    if labels is None or logits is None:
        raise ValueError("sigmoid_cross_entropy_with_logits: labels and logits must be given.")
    op = "sigmoid_cross_entropy_with_logits"
    labels, logits = _pair(op, ("labels", "logits"), labels, logits)
    # max(x, 0) - x * z + log(1 + exp(-|x|)), which overflows nowhere.
    positive = logits >= 0
    above = selection.where(positive, logits, 0)
    minus_size = selection.where(positive, -logits, logits)
    rest = unary.log1p_op(unary.exp_op(minus_size))
    return arithmetic.add(above - logits * labels, rest, name=name or "logistic_loss")


def weighted_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, pos_weight: TensorLike, name: str | None = None
) -> Tensor:
    """Like `sigmoid_cross_entropy_with_logits` with positive labels counted `pos_weight` times.

    Args:
      labels: a tensor of numbers from 0 to 1; Python numbers take the dtype of `logits`.
      logits: a tensor of floating numbers, of the same shape and dtype.
      pos_weight: a number, or a tensor that broadcasts with `logits`.

    Returns:
      A tensor of this shape and dtype.

    Raises:
      ShapeError: if the shapes of labels and logits differ.

    >>> tf.nn.weighted_cross_entropy_with_logits([1.0], [0.0], 2.0).numpy()
    array([1.3862944], dtype=float32)
    """
    op = "weighted_cross_entropy_with_logits"
    labels, logits = _pair(op, ("labels", "logits"), labels, logits)
    weight = 1 + (adopt(pos_weight, logits.dtype) - 1) * labels
    small = unary.log1p_op(unary.exp_op(-unary.abs_op(logits))) + activations.relu_op(-logits)
    return arithmetic.add((1 - labels) * logits, weight * small, name=name or "logistic_loss")


def log_poisson_loss(
    targets: TensorLike, log_input: Any, compute_full_loss: bool = False, name: str | None = None
) -> Tensor:
    """The log-likelihood loss of Poisson counts `targets` with rates exp(log_input).

    The full loss adds Stirling's approximation of log(targets!), without which it is a constant
    too low.

    Args:
      targets: a tensor of counts; Python numbers take the dtype of `log_input`.
      log_input: logarithms of the rates, floating numbers of the same shape and dtype.
      compute_full_loss: whether Stirling's approximation is added, where targets are above 1.

    Returns:
      A tensor of this shape and dtype.

    Raises:
      ShapeError: if the shapes differ; they are not broadcast.

    >>> tf.nn.log_poisson_loss([1.0], [0.0]).numpy()
    array([1.], dtype=float32)
    """
    op = "log_poisson_loss"
    targets, log_input = _pair(op, ("targets", "log_input"), targets, log_input)
    loss = unary.exp_op(log_input) - log_input * targets
    if not compute_full_loss:
        return loss
    stirling = targets * arithmetic.log_op(targets) - targets
    stirling = stirling + 0.5 * arithmetic.log_op(2 * math.pi * targets)
    return loss + selection.where((targets >= 0) & (targets <= 1), 0, stirling)


# --- averages over batches ---------------------------------------------------------------------


def _with_axes_of(losses: Tensor, weights: Tensor) -> Tensor:
    """Weights with one more axis at the end if they have one less than the losses."""
    ranks = losses.spec.rank, weights.spec.rank
    if ranks[0] is not None and ranks[1] is not None:
        is_one_less = ranks[1] == ranks[0] - 1
        return shapes.expand_dims_op(weights, axis=-1) if is_one_less else weights
    missing = comparison.equal(shapes.rank(losses) - shapes.rank(weights), 1)
    more = fill.fill(shapes.reshape(casting.cast(missing, int32), [1]), 1)
    return shapes.reshape(weights, joining.concat([shapes.shape(weights), more], 0))


def compute_average_loss(
    per_example_loss: Any,
    sample_weight: TensorLike | None = None,
    global_batch_size: TensorLike | None = None,
) -> Tensor:
    """The sum of (weighted) losses divided by the size of the batch.

    Args:
      per_example_loss: a tensor of rank 1 or more, with the batch as its first axis.
      sample_weight: weights that broadcast with the losses, or have one axis less; None means 1.
      global_batch_size: the size of the whole batch, an integer or integer scalar; None means that
        of the first axis.

    Returns:
      A scalar of the dtype of the losses; 0 if the size is 0.

    Raises:
      ShapeError: if the losses are a scalar, or the size is none.
      DTypeError: if the size is not an integer.
      InvalidArgumentError: if the size is negative.

    >>> tf.nn.compute_average_loss([1.0, 2.0, 3.0], global_batch_size=12).numpy()
    np.float32(0.5)
    """
    op = "compute_average_loss"
    losses = convert_to_tensor(per_example_loss)
    rules.check_rank_at_least(op, losses.spec, 1, name="per_example_loss")
    if sample_weight is not None:
        weights = adopt(sample_weight, losses.dtype)
        losses = losses * _with_axes_of(losses, weights)
    if global_batch_size is None:
        size = shapes.shape(losses)[0]
    else:
        size = convert_to_tensor(global_batch_size)
        rules.check_rank(op, size.spec, 0, name="global_batch_size")
        if not size.dtype.is_integer:
            raise DTypeError(
                f"{op}: global_batch_size must be an integer, got dtype {size.dtype.name}."
            )
        text = f"{op}: global_batch_size must not be negative"
        require(lambda n: n >= 0, [size], text, ("global_batch_size",))
    total = sums.reduce_sum(losses)
    return guarded.divide_no_nan(total, casting.cast(size, total.dtype))


def scale_regularization_loss(regularization_loss: TensorLike) -> Tensor:
    """The sum of a regularisation loss, divided by the number of replicas (here one).

    Args:
      regularization_loss: a tensor of numbers.

    Returns:
      A scalar of the same dtype.

    >>> tf.nn.scale_regularization_loss([1.0, 2.0]).numpy()
    np.float32(3.0)
    """
    return sums.reduce_sum(convert_to_tensor(regularization_loss))
