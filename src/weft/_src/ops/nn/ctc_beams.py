"""Decoding by a search that keeps the most likely beginnings: `tf.nn.ctc_beam_search_decoder`."""

from __future__ import annotations

import heapq
import math
from typing import Any

from weft._src.core.aliases import ArrayNamespace, IntLike, TensorLike
from weft._src.core.convert import convert_to_tensor, of_dtype
from weft._src.core.dtypes import INDEX, float32, float64, int32, int64
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import FailedPreconditionError, InvalidArgumentError
from weft._src.ops import rules, static
from weft._src.ops.registry import DATA_SHAPED, NO_NATIVE, NOT_DIFFERENTIABLE, args, define_op
from weft._src.ops.sparse.tensor import SparseTensor

_NAME = "ctc_beam_search_decoder"
_NEVER = -math.inf


def _infer(
    inputs: TensorSpec, lengths: TensorSpec, *, beam_width: int, top_paths: int
) -> tuple[TensorSpec, ...]:
    rules.check_rank(_NAME, inputs, 3, name="inputs")
    rules.check_rank(_NAME, lengths, 1, name="sequence_length")
    batch: Any = Dim() if inputs.dims is None else inputs.dims[1]
    if lengths.dims is not None:
        what = "the batch sizes of inputs and sequence_length"
        batch = rules.unify(_NAME, batch, lengths.dims[0], what)
    counts = [Dim() for _ in range(top_paths)]
    return (
        *[TensorSpec.of(int64, (count, 2)) for count in counts],
        *[TensorSpec.of(int64, (count,)) for count in counts],
        *[TensorSpec.of(int64, (2,)) for _ in counts],
        inputs.with_dims((batch, top_paths)),
    )


def _kernel(
    xp: ArrayNamespace, inputs: Array, lengths: Array, *, beam_width: int, top_paths: int
) -> tuple[Array, ...]:
    times, batch, _ = inputs.shape
    if not inputs.size:
        raise InvalidArgumentError(None, None, f"{_NAME}: inputs must not be empty.")
    if (lengths > times).any() or (lengths < 0).any():
        raise FailedPreconditionError(
            None,
            None,
            f"{_NAME}: sequence_length must be between 0 and {times}, got {lengths.tolist()[:20]}.",
        )
    wide = inputs.astype(xp.float64)
    peaks = xp.max(wide, -1, keepdims=True, initial=-xp.inf)
    likely = wide - peaks - xp.log(xp.sum(xp.exp(wide - peaks), -1, keepdims=True))
    found = [_search(likely[: lengths[i], i].tolist(), beam_width) for i in range(batch)]
    for beams in found:
        if len(beams) < top_paths:
            raise InvalidArgumentError(
                None,
                None,
                f"{_NAME}: there are only {len(beams)} sequences of labels, and top_paths asks "
                f"for {top_paths}.",
            )
    indices, values, shapes = [], [], []
    for path in range(top_paths):
        rows = [beams[path][1] for beams in found]
        places = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
        indices.append(xp.array(places, xp.int64).reshape(-1, 2))
        values.append(xp.array([label for row in rows for label in row], xp.int64))
        longest = max([len(row) for row in rows], default=0)
        shapes.append(xp.array([batch, longest], xp.int64))
    scores = [[beams[path][0] for path in range(top_paths)] for beams in found]
    return (
        *indices, *values, *shapes,
        xp.array(scores, inputs.dtype).reshape(batch, top_paths),
    )  # fmt: skip


def _search(likely: list[list[float]], width: int) -> list[tuple[float, tuple[int, ...]]]:
    """The best sequences of labels, the best first, with the logarithms of their probabilities.

    A beginning is reached by paths that end with a blank and by paths that end with its last label:
    only after the former can that label follow once more.
    """
    beams: dict[tuple[int, ...], tuple[float, float]] = {(): (0.0, _NEVER)}
    for row in likely:
        *labels, blank = row
        following: dict[tuple[int, ...], tuple[float, float]] = {}
        for labels_so_far, (ends_blank, ends_label) in beams.items():
            total = _sum(ends_blank, ends_label)
            before = following.get(labels_so_far, (_NEVER, _NEVER))
            again = ends_label + labels[labels_so_far[-1]] if labels_so_far else _NEVER
            following[labels_so_far] = (_sum(before[0], total + blank), _sum(before[1], again))
            for label, score in enumerate(labels):
                repeats = labels_so_far and labels_so_far[-1] == label
                longer = (*labels_so_far, label)
                before = following.get(longer, (_NEVER, _NEVER))
                reached = (ends_blank if repeats else total) + score
                following[longer] = (before[0], _sum(before[1], reached))
        best = heapq.nlargest(width, following.items(), key=lambda item: _sum(*item[1]))
        beams = dict(best)
    ranked = [(_sum(*ends), labels_so_far) for labels_so_far, ends in beams.items()]
    return sorted(ranked, key=lambda pair: -pair[0])


def _sum(a: float, b: float) -> float:
    """The logarithm of a sum of two probabilities, from their logarithms."""
    if a < b:
        a, b = b, a
    return a if b == _NEVER else a + math.log1p(math.exp(b - a))


beams_op = define_op(
    "CTCBeamSearchDecoder",
    args("inputs", {float32, float64}) + args("sequence_length", INDEX),
    infer=_infer,
    kernel=_kernel,
    native=NO_NATIVE,
    xla=DATA_SHAPED,
    vjp=NOT_DIFFERENTIABLE,
    outputs=None,
    fresh=True,
)


def ctc_beam_search_decoder(
    inputs: TensorLike,
    sequence_length: TensorLike,
    beam_width: IntLike = 100,
    top_paths: IntLike = 1,
) -> tuple[list[SparseTensor], Tensor]:
    """The most likely sequences of labels, and the logarithms of their probabilities.

    The blank is the last class. Of all beginnings the `beam_width` most likely ones are followed.

    Args:
      inputs: logits, float32 or float64 [time, batch, classes].
      sequence_length: how many times count, an int32 vector [batch].
      beam_width: how many beginnings are kept at each time, an integer.
      top_paths: how many sequences are wanted, an integer up to `beam_width`.

    Returns:
      A list of `top_paths` int64 tensors `tf.SparseTensor` [batch, most labels], the most likely
      sequences first, and a matrix [batch, top_paths] of the dtype of `inputs`.

    Raises:
      FailedPreconditionError: if a length is negative or more than there are times.
      InvalidArgumentError: if there are fewer sequences than wanted, or `inputs` is empty.
      ValueError: if more sequences are wanted than are kept.
      ShapeError: if ranks or the sizes of the batches do not fit.

    >>> inputs = tf.constant([[[0.0, 9.0, 0.0]], [[0.0, 8.0, 0.0]], [[7.0, 0.0, 0.0]]])
    >>> (decoded,), scores = tf.nn.ctc_beam_search_decoder(inputs, [3])
    >>> decoded.values.numpy()
    array([1, 0])
    """
    width = static.static_int(_NAME, beam_width, "beam_width")
    wanted = static.static_int(_NAME, top_paths, "top_paths")
    if not 1 <= wanted <= width:
        raise ValueError(
            f"{_NAME}: top_paths must be between 1 and beam_width, {width}, got {wanted}."
        )
    *parts, scores = beams_op(
        convert_to_tensor(inputs),
        of_dtype(_NAME, sequence_length, int32, "sequence_length"),
        beam_width=width,
        top_paths=wanted,
    )
    paths = zip(parts[:wanted], parts[wanted : 2 * wanted], parts[2 * wanted :], strict=True)
    return [SparseTensor(*path) for path in paths], scores
