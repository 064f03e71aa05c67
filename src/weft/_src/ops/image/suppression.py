"""Boxes that overlap better ones are left out: non-maximum suppression."""

from __future__ import annotations

import heapq
import operator
from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor, of_dtype
from weft._src.core.dtypes import float16, float32, int32
from weft._src.core.shapes import Dim, Size
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.ops import graph_forms, rules
from weft._src.ops.elementwise import casting
from weft._src.ops.image import images
from weft._src.ops.registry import DATA_SHAPED, NO_NATIVE, NOT_DIFFERENTIABLE, Op, args, define_op

_FLOAT = frozenset({float32})
_NUMBERS = ("max_output_size", "iou_threshold", "score_threshold", "soft_nms_sigma")


# --- of one set of boxes -------------------------------------------------------------------------


def _corners(xp: ArrayNamespace, boxes: Array) -> tuple[Array, Array]:
    """The lower and the upper corner of each box, whichever is given first."""
    pair = boxes[:, :2], boxes[:, 2:]
    return xp.minimum(*pair), xp.maximum(*pair)


def overlaps_with(xp: ArrayNamespace, boxes: Array) -> Any:
    """A function of i that says how much each box has in common with box i, from 0 to 1."""
    low, high = _corners(xp, boxes)
    areas = (high - low).prod(1)

    def overlap(i: int) -> Array:
        sides = xp.minimum(high, high[i]) - xp.maximum(low, low[i])
        common = xp.maximum(sides, 0).prod(1)
        union = areas + areas[i] - common
        usable = (areas > 0) & (areas[i] > 0)
        return xp.where(usable, common / xp.where(usable, union, 1), 0)

    return overlap


def chosen(
    xp: ArrayNamespace, overlap: Any, scores: Array, most: int, iou: Any, least: Any
) -> Array:
    """The places of boxes, from the best on, none of which overlaps a better one too much."""
    places = xp.nonzero(scores > least)[0]
    places = places[xp.argsort(-scores[places], kind="stable")]
    out: list[int] = []
    is_left = xp.ones(len(scores), bool)
    for i in places:
        if len(out) >= most:
            break
        if is_left[i]:
            out.append(i)
            is_left &= ~(overlap(i) > iou)
    return xp.array(out, xp.int32)


def _softly_chosen(
    xp: ArrayNamespace, overlap: Any, scores: Array, most: int, least: Any, sigma: Any
) -> tuple[Array, Array]:
    """The same, but boxes that overlap are not left out: their scores become less."""
    # The best is in front: (score, place, how many of those chosen it has been compared with).
    queue = [(-score, i, 0) for i, score in enumerate(scores) if score > least]
    heapq.heapify(queue)
    out: list[int] = []
    values: list[Any] = []
    found: list[Array] = []
    while queue and len(out) < most:
        negative, i, seen = heapq.heappop(queue)
        score = -negative
        for others in reversed(found[seen:]):
            score *= xp.exp(xp.float32(-0.5) / sigma * others[i] * others[i])
            if score <= least:
                break
        if score == -negative:
            out.append(i)
            values.append(score)
            found.append(overlap(i))
        elif score > least:
            heapq.heappush(queue, (-score, i, len(out)))
    return xp.array(out, xp.int32), xp.array(values, scores.dtype)


def _check_numbers(op: str, most: int, iou: Any) -> None:
    if most < 0:
        raise ShapeError(f"{op}: max_output_size must not be negative, got {most}.")
    if not 0 <= iou <= 1:
        raise InvalidArgumentError(None, None, f"{op}: iou_threshold must be in [0, 1], got {iou}.")


def _suppression_infer(
    boxes: TensorSpec, scores: TensorSpec, most: TensorSpec, *numbers: TensorSpec, pad: bool
) -> tuple[TensorSpec, ...]:
    op = "non_max_suppression"
    rules.check_rank(op, boxes, 2, name="boxes")
    rules.check_rank(op, scores, 1, name="scores")
    for name, spec in zip(_NUMBERS, (most, *numbers), strict=True):
        rules.check_rank(op, spec, 0, name=name)
    if boxes.dims is not None and scores.dims is not None:
        rules.unify(op, boxes.dims[0], scores.dims[0], "the numbers of boxes and scores")
        rules.unify(op, boxes.dims[1], 4, "the size of a box and 4")
    size: Size = Dim()
    known = rules.known(most)
    if pad and known is not None:
        size = rules.size_from(known)
    return (
        TensorSpec.of(int32, (size,)),
        TensorSpec.of(float32, (size,)),
        TensorSpec.of(int32, ()),
    )


def _suppression_kernel(
    xp: ArrayNamespace,
    boxes: Array,
    scores: Array,
    most: Any,
    iou: Any,
    least: Any,
    sigma: Any,
    *,
    pad: bool,
) -> tuple[Array, ...]:
    count = operator.index(most)
    _check_numbers("non_max_suppression", count, iou)
    overlap = overlaps_with(xp, boxes)
    if sigma > 0:
        places, values = _softly_chosen(xp, overlap, scores, count, least, sigma)
    else:
        places = chosen(xp, overlap, scores, count, iou, least)
        values = scores[places]
    valid = xp.array(len(places), xp.int32)
    if pad:
        missing = (0, count - len(places))
        places, values = xp.pad(places, missing), xp.pad(values, missing)
    return places, values, valid


suppression_op: Op = define_op(
    "NonMaxSuppressionV5",
    args("boxes scores", _FLOAT)
    + args("max_output_size", {int32}, is_shape=True)
    + args("iou_threshold score_threshold soft_nms_sigma", _FLOAT),
    infer=_suppression_infer,
    kernel=_suppression_kernel,
    native=NO_NATIVE,
    xla=DATA_SHAPED,
    vjp=NOT_DIFFERENTIABLE,
    outputs=3,
    fresh=True,
    graphdef=graph_forms.as_op("NonMaxSuppressionV5", pad="pad_to_max_output_size"),
)


def floats_of(op: str, value: TensorLike, name: str) -> Tensor:
    """Numbers as float32, narrower ones too."""
    x = convert_to_tensor(value, dtype_hint=float32)
    if x.dtype is float16:
        return casting.cast(x, float32)
    return of_dtype(op, value, float32, name)


def scalar_of(op: str, value: TensorLike, name: str) -> Tensor:
    """One number as float32."""
    x = floats_of(op, value, name)
    rules.check_rank(op, x.spec, 0, name=name)
    return x


def suppressed(
    op: str,
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike,
    score_threshold: TensorLike,
    soft_nms_sigma: TensorLike = 0.0,
    *,
    pad: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """The places of the boxes that stay, their scores, and how many they are."""
    most = convert_to_tensor(images.number(op, max_output_size, "max_output_size"))
    numbers = [
        scalar_of(op, value, name)
        for value, name in (
            (iou_threshold, "iou_threshold"),
            (score_threshold, "score_threshold"),
            (soft_nms_sigma, "soft_nms_sigma"),
        )
    ]
    found = floats_of(op, boxes, "boxes"), floats_of(op, scores, "scores")
    places, values, count = suppression_op(*found, most, *numbers, pad=pad)
    return places, values, count


def non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """The places of boxes, from the best on, none of which overlaps a better one too much.

    Args:
      boxes: floats [boxes, 4]: two opposite corners of each, (y, x, y, x).
      scores: floats [boxes]: how good they are.
      max_output_size: how many are wanted at most, an integer or integer scalar.
      iou_threshold: what two boxes may have in common, divided by what they cover together.
      score_threshold: boxes must be better than this.

    Returns:
      A vector of int32.

    Raises:
      ShapeError: if shapes do not fit, or `max_output_size` is negative.
      InvalidArgumentError: if `iou_threshold` is not in [0, 1].
      DTypeError: if `max_output_size` is not an integer, or others are not numbers.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9], [0.0, 2.0, 1.0, 3.0]]
    >>> tf.image.non_max_suppression(boxes, [0.5, 0.9, 0.7], max_output_size=3).numpy()
    array([1, 2], dtype=int32)
    """
    op = "non_max_suppression"
    return suppressed(op, boxes, scores, max_output_size, iou_threshold, score_threshold)[0]


def non_max_suppression_with_scores(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"),
    soft_nms_sigma: TensorLike = 0.0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The places of the best boxes and their scores, which may become less by overlaps.

    Args:
      boxes: floats [boxes, 4]: two opposite corners of each, (y, x, y, x).
      scores: floats [boxes]: how good they are.
      max_output_size: how many are wanted at most, an integer or integer scalar.
      iou_threshold: what two boxes may have in common, divided by what they cover together.
      score_threshold: boxes must be better than this.
      soft_nms_sigma: above 0, boxes that overlap better ones are not left out, but get lower
        scores: the smaller this is, the lower. The threshold for overlaps then plays no role.

    Returns:
      A vector of int32, and one of float32.

    Raises:
      ShapeError: if shapes do not fit, or `max_output_size` is negative.
      InvalidArgumentError: if `iou_threshold` is not in [0, 1].
      DTypeError: if `max_output_size` is not an integer, or others are not numbers.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9], [0.0, 2.0, 1.0, 3.0]]
    >>> places, scores = tf.image.non_max_suppression_with_scores(
    ...     boxes, [0.5, 0.9, 0.7], max_output_size=3, iou_threshold=1.0, soft_nms_sigma=0.5
    ... )
    >>> places.numpy(), scores.numpy().round(3)
    (array([1, 2, 0], dtype=int32), array([0.9  , 0.7  , 0.222], dtype=float32))
    """
    op = "non_max_suppression_with_scores"
    places, values, _ = suppressed(
        op, boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma
    )
    return places, values
