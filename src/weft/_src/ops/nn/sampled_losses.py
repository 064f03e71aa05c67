"""Losses of many classes, computed with a sample of them."""

from __future__ import annotations

from typing import Any, NamedTuple

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.dtypes import float32, int32, int64
from weft._src.core.tensor import Tensor
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops import rules, static
from weft._src.ops.arrays import fill, joining, ranges, selection, shape as shapes
from weft._src.ops.elementwise import arithmetic, casting
from weft._src.ops.linalg import products
from weft._src.ops.nn import losses, softmax
from weft._src.ops.nn.embeddings import embedding_lookup
from weft._src.ops.reduce import logic, sums
from weft._src.ops.sampling.candidates import log_uniform_candidate_sampler

_LOWEST = -3.4028234663852886e38


class AccidentalHits(NamedTuple):
    """Where candidates are true classes: rows, places among the candidates, what to add there."""

    indices: Tensor
    ids: Tensor
    weights: Tensor


def _hits(true: Tensor, sampled: Tensor) -> Tensor:
    """[batch, num_true, candidates]: whether a candidate is this true class.

    Of candidates that are the same the last one counts, as in TensorFlow.
    """
    same = shapes.expand_dims_op(sampled, axis=1) == sampled
    later = ranges.range(shapes.size(sampled))
    is_last = ~logic.reduce_any(same & (later > shapes.expand_dims_op(later, axis=1)), axis=1)
    wide = shapes.expand_dims_op(true, axis=2)
    return (wide == shapes.reshape(sampled, [1, 1, -1])) & is_last


def _classes(op: str, value: Any, name: str, rank: int) -> Tensor:
    x = convert_to_tensor(value, dtype_hint=int64)
    if x.dtype not in (int32, int64):
        raise DTypeError(f"{op}: {name} must be int64, got {x.dtype.name}.")
    rules.check_rank(op, x.spec, rank, name=name)
    return casting.cast(x, int64)


def compute_accidental_hits(
    true_classes: TensorLike,
    sampled_candidates: TensorLike,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> AccidentalHits:
    """Where sampled candidates are true classes.

    Args:
      true_classes: an int64 tensor [batch, num_true] with the classes of each row.
      sampled_candidates: an int64 vector, the candidates.
      num_true: how many true classes a row has.
      seed: accepted for compatibility.

    Returns:
      A named tuple of vectors: `indices`, the row of each hit; `ids`, its place among the
      candidates; `weights`, the lowest float32, to be added to logits.

    Raises:
      ShapeError: if a shape does not fit.
      DTypeError: if the classes are no integers.

    >>> hits = tf.nn.compute_accidental_hits([[1], [5]], [5, 2, 1], 1)
    >>> hits.indices.numpy(), hits.ids.numpy()
    (array([0, 1], dtype=int32), array([2, 0]))
    """
    op = "compute_accidental_hits"
    true = _classes(op, true_classes, "true_classes", 2)
    sampled = _classes(op, sampled_candidates, "sampled_candidates", 1)
    columns = static.static_int(op, num_true, "num_true")
    if true.spec.dims is not None:
        what = "the columns of true_classes and num_true"
        rules.unify(op, true.spec.dims[1], columns, what)
    found = selection.where(_hits(true, sampled))
    rows, ids = found[:, 0], found[:, 2]
    weights = fill.fill(shapes.shape_op(ids, out_type=int32), convert_to_tensor(_LOWEST, float32))
    return AccidentalHits(casting.cast(rows, int32), ids, weights)


def _logits(
    op: str,
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Any,
    remove_accidental_hits: bool,
    seed: int | None,
) -> tuple[Tensor, Tensor]:
    """Logits and labels, [batch, num_true + num_sampled]: the true classes, then the sample."""
    true = _classes(op, labels, "labels", 2)
    x = convert_to_tensor(inputs)
    rules.check_rank(op, x.spec, 2, name="inputs")
    columns = static.static_int(op, num_true, "num_true")
    if true.spec.dims is not None:
        rules.unify(op, true.spec.dims[1], columns, "the columns of labels and num_true")
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(
            true, columns, num_sampled, True, num_classes, seed
        )
    if not isinstance(sampled_values, (tuple, list)) or len(sampled_values) != 3:
        raise ValueError(
            f"{op}: sampled_values must be what a candidate sampler gives: candidates, and how "
            f"often the true classes and these are expected, got {sampled_values!r}."
        )
    sampled = _classes(op, sampled_values[0], "sampled_values[0]", 1)
    true_expected, sampled_expected = (adopt(value, x.dtype) for value in sampled_values[1:])
    flat = shapes.reshape(true, [-1])
    ids = joining.concat([flat, sampled], 0)
    rows, bias = _looked_up(op, weights, "weights", ids), _looked_up(op, biases, "biases", ids)
    count = shapes.shape_op(flat, out_type=int32)[0]
    width = shapes.shape_op(x, out_type=int32)[1]
    true_rows = shapes.reshape(rows[:count], [-1, columns, width])
    true_logits = sums.reduce_sum(shapes.expand_dims_op(x, axis=1) * true_rows, axis=2)
    true_logits = true_logits + shapes.reshape(bias[:count], [-1, columns])
    sampled_logits = products.matmul(x, rows[count:], transpose_b=True) + bias[count:]
    if remove_accidental_hits:
        is_hit = logic.reduce_any(_hits(true, sampled), axis=1)
        sampled_logits = selection.where(
            is_hit, sampled_logits + casting.cast(_LOWEST, x.dtype), sampled_logits
        )
    true_logits = true_logits - arithmetic.log_op(casting.cast(true_expected, x.dtype))
    sampled_logits = sampled_logits - arithmetic.log_op(casting.cast(sampled_expected, x.dtype))
    shares = fill.ones_like(true_logits) / columns
    return (
        joining.concat([true_logits, sampled_logits], 1),
        joining.concat([shares, fill.zeros_like(sampled_logits)], 1),
    )


def _looked_up(op: str, params: Any, name: str, ids: Tensor) -> Tensor:
    try:
        return embedding_lookup(params, ids)
    except ShapeError as error:
        raise ShapeError(f"{op}: {name} must have a row for each class: {error}") from None


def nce_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    name: str | None = "nce_loss",
) -> Tensor:
    """The noise-contrastive estimation loss: true classes told apart from a sample of others.

    Args:
      weights: a tensor [num_classes, dim], or a list of such parts.
      biases: a vector [num_classes].
      labels: an integer tensor [batch, num_true], the true classes of each row.
      inputs: a tensor [batch, dim].
      num_sampled: how many classes are drawn for all rows together.
      num_classes: how many classes there are.
      num_true: how many true classes a row has.
      sampled_values: what a candidate sampler gave; None means
        `tf.random.log_uniform_candidate_sampler`.
      remove_accidental_hits: whether candidates that are true classes of a row do not count.

    Returns:
      A vector with a loss for each row.

    Raises:
      ShapeError: if the shapes do not fit.
      InvalidArgumentError: if there are no such classes.

    >>> candidates = ([2], [[0.5]], [0.5])
    >>> loss = tf.nn.nce_loss(
    ...     tf.ones([3, 2]), tf.zeros([3]), [[1]], [[1.0, 2.0]], 1, 3, sampled_values=candidates
    ... )
    >>> loss.numpy().round(4)
    array([3.7423], dtype=float32)
    """
    del name
    logits, truth = _logits(
        "nce_loss",
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
        None,
    )
    found = losses.sigmoid_cross_entropy_with_logits(truth, logits)
    return sums.reduce_sum(found, axis=1)


def sampled_softmax_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    seed: int | None = None,
    name: str | None = "sampled_softmax_loss",
) -> Tensor:
    """The cross entropy of a softmax over the true classes and a sample of others.

    Args:
      weights: a tensor [num_classes, dim], or a list of such parts.
      biases: a vector [num_classes].
      labels: an integer tensor [batch, num_true], the true classes of each row.
      inputs: a tensor [batch, dim].
      num_sampled: how many classes are drawn for all rows together.
      num_classes: how many classes there are.
      num_true: how many true classes a row has.
      sampled_values: what a candidate sampler gave; None means
        `tf.random.log_uniform_candidate_sampler`.
      remove_accidental_hits: whether candidates that are true classes of a row do not count.
      seed: the seed of the sample.

    Returns:
      A vector with a loss for each row.

    Raises:
      ShapeError: if the shapes do not fit.
      InvalidArgumentError: if there are no such classes.

    >>> candidates = ([2], [[0.5]], [0.5])
    >>> loss = tf.nn.sampled_softmax_loss(
    ...     tf.ones([3, 2]), tf.zeros([3]), [[1]], [[1.0, 2.0]], 1, 3, sampled_values=candidates
    ... )
    >>> loss.numpy().round(4)
    array([0.6931], dtype=float32)
    """
    del name
    logits, truth = _logits(
        "sampled_softmax_loss",
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
        seed,
    )
    return softmax.softmax_cross_entropy_with_logits(truth, logits)
