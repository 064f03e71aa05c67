"""Connectionist temporal classification: labels of a sequence without their places in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor, of_dtype
from weft._src.core.dtypes import FLOATING, INDEX, int32, int64
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import FailedPreconditionError, InvalidArgumentError, UnsupportedError
from weft._src.ops import composed_graph_forms, rules, static
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.indexing import scattering
from weft._src.ops.reduce import counting
from weft._src.ops.registry import (
    DATA_SHAPED,
    NO_NATIVE,
    NO_XLA,
    NOT_DIFFERENTIABLE,
    Op,
    args,
    define_op,
)
from weft._src.ops.sparse.tensor import SparseTensor

# --- loss --------------------------------------------------------------------------------------


def _loss_infer(
    labels: TensorSpec,
    logits: TensorSpec,
    label_length: TensorSpec,
    logit_length: TensorSpec,
    *,
    blank_index: int,
) -> tuple[TensorSpec, TensorSpec]:
    rules.check_rank("ctc_loss", labels, 2, name="labels")
    rules.check_rank("ctc_loss", logits, 3, name="logits")
    batch: Any = Dim() if logits.dims is None else logits.dims[1]
    for name, spec, rank in (
        ("labels", labels, 2),
        ("label_length", label_length, 1),
        ("logit_length", logit_length, 1),
    ):
        rules.check_rank("ctc_loss", spec, rank, name=name)
        if spec.dims is not None:
            what = f"the batch sizes of logits and {name}"
            batch = rules.unify("ctc_loss", batch, spec.dims[0], what)
    return logits.with_dims((batch,)), logits


def _states(xp: ArrayNamespace, labels: Array, lengths: Array, blank: int) -> tuple[Array, Array]:
    """Labels with blanks around each, and which of these states are not beyond the end."""
    batch, most = labels.shape
    states = xp.full((batch, 2 * most + 1), blank, xp.int64)
    inside = xp.arange(most) < lengths[:, None]
    states[:, 1::2] = xp.where(inside, labels, blank)
    return states, xp.arange(2 * most + 1) <= 2 * lengths[:, None]


def _moved(xp: ArrayNamespace, x: Array, by: int) -> Array:
    """A row of states moved by some places; nothing (-inf) comes in."""
    out = xp.full(x.shape, -xp.inf)
    if abs(by) >= x.shape[1]:
        return out
    if by > 0:
        out[:, by:] = x[:, :-by]
    else:
        out[:, :by] = x[:, -by:]
    return out


def _loss_kernel(
    xp: ArrayNamespace,
    labels: Array,
    logits: Array,
    label_length: Array,
    logit_length: Array,
    *,
    blank_index: int,
) -> tuple[Array, Array]:
    times, batch, classes = logits.shape
    blank = blank_index + classes if blank_index < 0 else blank_index
    _check(xp, labels, label_length, logit_length, logits.shape, blank)
    wide = logits.astype(xp.float64)
    scores = wide - xp.special.logsumexp(wide, -1, keepdims=True) if wide.size else wide
    states, real = _states(xp, labels, label_length, blank)
    rows = xp.arange(batch)
    emitted = xp.where(real, scores[:, rows[:, None], states], -xp.inf)
    skips = xp.zeros(states.shape, bool)
    skips[:, 2:] = (states[:, 2:] != blank) & (states[:, 2:] != states[:, :-2])
    forward = _forward(xp, emitted, skips)

    ends = 2 * label_length[:, None]
    place = xp.arange(states.shape[1])
    is_end = (place == ends) | (place == xp.maximum(ends - 1, 0))
    last = xp.maximum(logit_length - 1, 0)
    final = forward[last, rows] if times else xp.full(states.shape, -xp.inf)
    likelihood = xp.logaddexp.reduce(xp.where(is_end, final, -xp.inf), 1)
    nothing = xp.where(label_length == 0, 0.0, -xp.inf)  # without time only no label is possible
    likelihood = xp.where(logit_length == 0, nothing, likelihood)

    gradient = xp.exp(scores)
    backward = _backward(xp, emitted, skips, is_end, last)
    shares = xp.exp(forward + backward - likelihood[:, None])
    for s in range(states.shape[1]):
        gradient[:, rows, states[:, s]] -= shares[..., s]
    counts = (xp.arange(times)[:, None] < logit_length) & xp.isfinite(likelihood)
    gradient = xp.where(counts[..., None], gradient, 0.0)
    return (-likelihood).astype(logits.dtype), gradient.astype(logits.dtype)


def _forward(xp: ArrayNamespace, emitted: Array, skips: Array) -> Array:
    """log of the probability to be in a state at a time, having emitted all until then."""
    out = xp.full(emitted.shape, -xp.inf)
    out[:1, :, :2] = emitted[:1, :, :2]
    for t in range(1, len(out)):
        reached = xp.logaddexp(out[t - 1], _moved(xp, out[t - 1], 1))
        skipped = xp.where(skips, _moved(xp, out[t - 1], 2), -xp.inf)
        out[t] = xp.logaddexp(reached, skipped) + emitted[t]
    return out


def _backward(
    xp: ArrayNamespace, emitted: Array, skips: Array, is_end: Array, last: Array
) -> Array:
    """log of the probability to emit, from a state at a time on, all that comes behind."""
    out = xp.full(emitted.shape, -xp.inf)
    skips = xp.concatenate([skips[:, 2:], xp.zeros((len(skips), min(2, skips.shape[1])), bool)], 1)
    ending = xp.where(is_end, 0.0, -xp.inf)
    for t in range(len(out) - 1, -1, -1):
        if t < len(out) - 1:
            ahead = out[t + 1] + emitted[t + 1]
            reached = xp.logaddexp(ahead, _moved(xp, ahead, -1))
            out[t] = xp.logaddexp(reached, xp.where(skips, _moved(xp, ahead, -2), -xp.inf))
        out[t] = xp.where((last == t)[:, None], ending, out[t])
    return out


def _check(
    xp: ArrayNamespace,
    labels: Array,
    label_length: Array,
    logit_length: Array,
    shape: tuple[int, ...],
    blank: int,
) -> None:
    problem, (times, _, classes) = None, shape
    inside = xp.arange(labels.shape[1]) < label_length[:, None]
    used = labels[inside]
    if not 0 <= blank < classes:
        problem = f"blank_index {blank} is no class: there are {classes}."
    elif (label_length < 0).any() or (label_length > labels.shape[1]).any():
        problem = f"label_length must be between 0 and {labels.shape[1]}."
    elif (logit_length < 0).any() or (logit_length > times).any():
        problem = f"logit_length must be between 0 and {times}, the size of the time axis."
    elif used.size and (used.min() < 0 or used.max() >= classes):
        problem = f"labels must be in [0, {classes}), got {used.min()} to {used.max()}."
    elif (used == blank).any():
        problem = (
            f"labels must not be the blank, {blank}, within label_length; give the real number of "
            "labels in each row, or another blank_index."
        )
    if problem is not None:
        raise InvalidArgumentError(None, None, f"ctc_loss: {problem}")


def _loss_vjp(ctx: VjpContext, g: Tensor | None, more: Tensor | None) -> tuple[Tensor | None, ...]:
    if more is not None:
        raise UnsupportedError("ctc_loss: second derivatives are not available.")
    if g is None:
        return None, None, None, None
    scale = shapes.expand_dims_op(shapes.expand_dims_op(g, axis=0), axis=-1)
    return None, scale * ctx.outputs[1], None, None


loss_op: Op = define_op(
    "CTCLossDense",
    args("labels", INDEX)
    + args("logits", FLOATING)
    + args("label_length", INDEX)
    + args("logit_length", INDEX),
    infer=_loss_infer,
    kernel=_loss_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=_loss_vjp,
    outputs=2,
    fresh=True,
    graphdef=composed_graph_forms.temporal_loss,
)


def dense_labels(labels: Any) -> tuple[Tensor, Tensor]:
    """Sparse labels as rows, and the number of them in each row."""
    shape = convert_to_tensor(labels.dense_shape, dtype=int64)
    indices = convert_to_tensor(labels.indices, dtype=int64)
    dense = scattering.scatter_nd(indices, convert_to_tensor(labels.values), shape)
    rows = shape[0]
    return dense, counting.bincount(indices[:, 0], minlength=rows, maxlength=rows, dtype=int64)


def ctc_loss(
    labels: TensorLike,
    logits: TensorLike,
    label_length: TensorLike,
    logit_length: TensorLike,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """-log of the probability of the labels, summed over all their places in time.

    Labels are rows (of which `label_length` count), or sparse. It is infinite, with a gradient of
    0, where the labels do not fit into the time. `unique` is accepted, and not needed.

    Args:
      labels: class numbers [batch, most labels], int32 or int64, or a `tf.SparseTensor` of them.
      logits: floating numbers [time, batch, classes].
      label_length: how many labels of each row count, [batch]; not used for sparse labels.
      logit_length: how many times count, [batch].
      logits_time_major: whether time is the first axis; if not, logits are [batch, time, classes].
      unique: accepted for compatibility, ignored.
      blank_index: the class of the blank, a Python integer; None means 0, and is for dense labels
        only.

    Returns:
      A vector [batch] of the dtype of `logits`.

    Raises:
      ValueError: if dense labels come without `label_length`, or sparse ones without `blank_index`.
      InvalidArgumentError: if a length, a label or the blank is out of range, or a label is the
        blank.
      ShapeError: if ranks or the sizes of the batches do not fit.

    >>> logits = tf.math.log([[[0.5, 0.5]], [[0.5, 0.5]]])
    >>> tf.exp(-tf.nn.ctc_loss([[1]], logits, [1], [2])).numpy().round(4)
    array([0.75], dtype=float32)
    """
    x = convert_to_tensor(logits)
    if not logits_time_major:
        rules.check_rank("ctc_loss", x.spec, 3, name="logits")
        x = shapes.transpose(x, [1, 0, 2])
    if hasattr(labels, "dense_shape"):
        if blank_index is None:
            raise ValueError("ctc_loss: blank_index must be given when labels are sparse.")
        rows, lengths = dense_labels(labels)
    else:
        if label_length is None:
            raise ValueError("ctc_loss: label_length must be given when labels are dense.")
        rows = convert_to_tensor(labels, dtype_hint=int32)
        lengths = convert_to_tensor(label_length, dtype_hint=int32)
    blank = 0 if blank_index is None else static.static_int("ctc_loss", blank_index, "blank_index")
    times = convert_to_tensor(logit_length, dtype_hint=int32)
    found: Tensor = loss_op(rows, x, lengths, times, blank_index=blank, name=name)[0]
    return found


# --- decoding ----------------------------------------------------------------------------------


def _decode_infer(
    inputs: TensorSpec, lengths: TensorSpec, *, merge_repeated: bool, blank_index: int
) -> tuple[TensorSpec, ...]:
    rules.check_rank("ctc_greedy_decoder", inputs, 3, name="inputs")
    rules.check_rank("ctc_greedy_decoder", lengths, 1, name="sequence_length")
    batch: Any = Dim() if inputs.dims is None else inputs.dims[1]
    if lengths.dims is not None:
        what = "the batch sizes of inputs and sequence_length"
        batch = rules.unify("ctc_greedy_decoder", batch, lengths.dims[0], what)
    count = Dim()
    return (
        TensorSpec.of(int64, (count, 2)),
        TensorSpec.of(int64, (count,)),
        TensorSpec.of(int64, (2,)),
        inputs.with_dims((batch, 1)),
    )


def _decode_kernel(
    xp: ArrayNamespace, inputs: Array, lengths: Array, *, merge_repeated: bool, blank_index: int
) -> tuple[Array, ...]:
    times, batch, classes = inputs.shape
    if not inputs.size:
        raise InvalidArgumentError(None, None, "ctc_greedy_decoder: inputs must not be empty.")
    if (lengths > times).any() or (lengths < 0).any():
        raise FailedPreconditionError(
            None,
            None,
            f"ctc_greedy_decoder: sequence_length must be between 0 and {times}, got "
            f"{lengths.tolist()[:20]}.",
        )
    blank = blank_index + classes if blank_index < 0 else blank_index
    best = xp.argmax(xp.widen(inputs), -1)
    inside = xp.arange(times)[:, None] < lengths
    peaks = xp.where(inside, xp.max(xp.widen(inputs), -1, initial=-xp.inf), 0)
    kept = inside & (best != blank)
    if merge_repeated:
        kept[1:] &= best[1:] != best[:-1]
    rows, places = xp.nonzero(kept.T)
    first = xp.searchsorted(rows, xp.arange(batch))
    columns = xp.arange(len(rows)) - first[rows]
    longest = int(columns.max()) + 1 if len(rows) else 0
    return (
        xp.stack([rows, columns], 1).astype(xp.int64),
        best.T[rows, places].astype(xp.int64),
        xp.array([batch, longest], xp.int64),
        -peaks.sum(0)[:, None].astype(inputs.dtype),
    )


decode_op = define_op(
    "CTCGreedyDecoder",
    args("inputs", FLOATING) + args("sequence_length", INDEX),
    infer=_decode_infer,
    kernel=_decode_kernel,
    native=NO_NATIVE,
    xla=DATA_SHAPED,
    vjp=NOT_DIFFERENTIABLE,
    outputs=4,
    fresh=True,
)


def ctc_greedy_decoder(
    inputs: Sequence[Any],
    sequence_length: TensorLike,
    merge_repeated: bool = True,
    blank_index: TensorLike | None = None,
) -> tuple[list[SparseTensor], Tensor]:
    """The labels of the best class at each time, without blanks; and minus the sum of its logits.

    The blank is the last class unless `blank_index` says otherwise.

    Args:
      inputs: logits, floating numbers [time, batch, classes].
      sequence_length: how many times count, an int32 vector [batch].
      merge_repeated: whether a class that follows itself counts once.
      blank_index: the class of the blank, counted from the end if negative; None means the last
        one.

    Returns:
      A list with one int64 `tf.SparseTensor` [batch, most labels], and a matrix [batch, 1] of the
      dtype of `inputs`.

    Raises:
      FailedPreconditionError: if a length is negative or more than there are times.
      InvalidArgumentError: if `inputs` is empty.
      ShapeError: if ranks or the sizes of the batches do not fit.

    >>> inputs = tf.constant([[[0.0, 9.0, 0.0]], [[0.0, 8.0, 0.0]], [[7.0, 0.0, 0.0]]])
    >>> (decoded,), scores = tf.nn.ctc_greedy_decoder(inputs, [3])
    >>> decoded.values.numpy(), scores.numpy()
    (array([1, 0]), array([[-24.]], dtype=float32))
    """
    op = "ctc_greedy_decoder"
    blank = -1 if blank_index is None else static.static_int(op, blank_index, "blank_index")
    *parts, scores = decode_op(
        convert_to_tensor(inputs),
        of_dtype(op, sequence_length, int32, "sequence_length"),
        merge_repeated=bool(merge_repeated),
        blank_index=blank,
    )
    return [SparseTensor(*parts)], scores
