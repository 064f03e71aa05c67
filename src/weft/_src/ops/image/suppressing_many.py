"""Non-maximum suppression of batches and classes, and by overlaps that are given."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor, of_dtype
from weft._src.core.dtypes import float32, int32
from weft._src.core.shapes import Dim, Size
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import InvalidArgumentError, ShapeError, UnsupportedError
from weft._src.ops import composed_graph_forms, rules, static
from weft._src.ops.arrays import joining, shape as shapes
from weft._src.ops.control import functional
from weft._src.ops.image import images, suppression
from weft._src.ops.registry import (
    DATA_SHAPED,
    NO_NATIVE,
    NO_XLA,
    NOT_DIFFERENTIABLE,
    Op,
    args,
    define_op,
)

_FLOAT = frozenset({float32})


# --- overlaps that are given ---------------------------------------------------------------------


def _overlaps_infer(overlaps: TensorSpec, scores: TensorSpec, *numbers: TensorSpec) -> TensorSpec:
    op = "non_max_suppression_overlaps"
    rules.check_rank(op, overlaps, 2, name="overlaps")
    rules.check_rank(op, scores, 1, name="scores")
    names = ("max_output_size", "overlap_threshold", "score_threshold")
    for name, spec in zip(names, numbers, strict=True):
        rules.check_rank(op, spec, 0, name=name)
    if overlaps.dims is not None and scores.dims is not None:
        for size in overlaps.dims:
            rules.unify(op, size, scores.dims[0], "the sizes of overlaps and scores")
    return TensorSpec.of(int32, (Dim(),))


def _overlaps_kernel(
    xp: ArrayNamespace, overlaps: Array, scores: Array, most: Any, threshold: Any, least: Any
) -> Array:
    if most < 0:
        raise ShapeError(
            f"non_max_suppression_overlaps: max_output_size must not be negative, got {most}."
        )
    return suppression.chosen(
        xp, lambda i: overlaps[:, i], scores, operator.index(most), threshold, least
    )


overlaps_op: Op = define_op(
    "NonMaxSuppressionWithOverlaps",
    args("overlaps scores", _FLOAT)
    + args("max_output_size", {int32})
    + args("overlap_threshold score_threshold", _FLOAT),
    infer=_overlaps_infer,
    kernel=_overlaps_kernel,
    native=NO_NATIVE,
    xla=DATA_SHAPED,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def non_max_suppression_overlaps(
    overlaps: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    overlap_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """The places of boxes, from the best on, of which no two overlap too much.

    Args:
      overlaps: floats [boxes, boxes]: how much two boxes overlap.
      scores: floats [boxes]: how good they are.
      max_output_size: how many are wanted at most, an integer or integer scalar.
      overlap_threshold: how much two boxes may overlap.
      score_threshold: boxes must be better than this.

    Returns:
      A vector of int32.

    Raises:
      ShapeError: if shapes do not fit, or `max_output_size` is negative.
      DTypeError: if `max_output_size` is not an integer, or others are not numbers.

    >>> overlaps = [[1.0, 0.8, 0.0], [0.8, 1.0, 0.1], [0.0, 0.1, 1.0]]
    >>> tf.image.non_max_suppression_overlaps(overlaps, [0.5, 0.9, 0.7], 3).numpy()
    array([1, 2], dtype=int32)
    """
    op = "non_max_suppression_overlaps"
    return overlaps_op(
        of_dtype(op, overlaps, float32, "overlaps"),
        of_dtype(op, scores, float32, "scores"),
        convert_to_tensor(images.number(op, max_output_size, "max_output_size")),
        suppression.scalar_of(op, overlap_threshold, "overlap_threshold"),
        suppression.scalar_of(op, score_threshold, "score_threshold"),
        name=name,
    )


# --- batches and classes -------------------------------------------------------------------------


def _combined_infer(
    boxes: TensorSpec,
    scores: TensorSpec,
    *numbers: TensorSpec,
    each: int,
    total: int,
    pad_per_class: bool,
    clip_boxes: bool,
) -> tuple[TensorSpec, ...]:
    op = "combined_non_max_suppression"
    rules.check_rank(op, boxes, 4, name="boxes")
    rules.check_rank(op, scores, 3, name="scores")
    batch: Size = Dim()
    classes: Size = Dim()
    if boxes.dims is not None and scores.dims is not None:
        batch = rules.unify(op, boxes.dims[0], scores.dims[0], "the batches of boxes and scores")
        rules.unify(op, boxes.dims[1], scores.dims[1], "the numbers of boxes and scores")
        rules.unify(op, boxes.dims[3], 4, "the size of a box and 4")
        classes = scores.dims[2]
        if boxes.dims[2] != 1:
            rules.unify(op, boxes.dims[2], classes, "the classes of boxes and scores")
    size: Any = total
    if pad_per_class:
        size = min(total, each * classes) if isinstance(classes, int) else Dim()
    return (
        TensorSpec.of(float32, (batch, size, 4)),
        TensorSpec.of(float32, (batch, size)),
        TensorSpec.of(float32, (batch, size)),
        TensorSpec.of(int32, (batch,)),
    )


def _combined_kernel(
    xp: ArrayNamespace,
    boxes: Array,
    scores: Array,
    iou: Any,
    least: Any,
    *,
    each: int,
    total: int,
    pad_per_class: bool,
    clip_boxes: bool,
) -> tuple[Array, ...]:
    if not 0 <= iou <= 1:
        raise InvalidArgumentError(
            None, None, f"combined_non_max_suppression: iou_threshold must be in [0, 1], got {iou}."
        )
    batch, _, classes = scores.shape
    size = min(total, each * classes) if pad_per_class else total
    out = xp.zeros((batch, size, 4), xp.float32)
    best, kinds = xp.zeros((batch, size), xp.float32), xp.zeros((batch, size), xp.float32)
    counts = xp.zeros((batch,), xp.int32)
    for b in range(batch):
        found = [_of_class(xp, boxes[b], scores[b], k, each, iou, least) for k in range(classes)]
        if not found:
            continue
        places, values, labels = [xp.concatenate(part) for part in zip(*found, strict=True)]
        order = xp.argsort(-values, kind="stable")[:size]
        n = counts[b] = len(order)
        column = labels[order] if boxes.shape[2] > 1 else 0
        out[b, :n] = boxes[b, places[order], column]
        best[b, :n], kinds[b, :n] = values[order], labels[order]
    return xp.clip(out, 0, 1) if clip_boxes else out, best, kinds, counts


def _of_class(
    xp: ArrayNamespace, boxes: Array, scores: Array, k: int, each: int, iou: Any, least: Any
) -> tuple[Array, Array, Array]:
    """The places, scores and labels of the boxes that stay in a class."""
    own = boxes[:, k if boxes.shape[1] > 1 else 0]
    values = scores[:, k]
    places = suppression.chosen(xp, suppression.overlaps_with(xp, own), values, each, iou, least)
    return places, values[places], xp.full(len(places), k)


combined_op: Op = define_op(
    "CombinedNonMaxSuppression",
    args("boxes scores", _FLOAT) + args("iou_threshold score_threshold", _FLOAT),
    infer=_combined_infer,
    kernel=_combined_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    outputs=4,
    fresh=True,
    graphdef=composed_graph_forms.combined_suppression,
)


class CombinedBoxes(NamedTuple):
    """What `tf.image.combined_non_max_suppression` returns."""

    nmsed_boxes: Tensor
    nmsed_scores: Tensor
    nmsed_classes: Tensor
    valid_detections: Tensor


def combined_non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size_per_class: int,
    max_total_size: int,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"),
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> CombinedBoxes:
    """The best boxes of each image in a batch, where boxes of one class do not overlap too much.

    Args:
      boxes: floats [batch, boxes, classes, 4]: two opposite corners of each, (y, x, y, x); with
        1 in the place of classes, all classes have the same boxes.
      scores: floats [batch, boxes, classes]: how good they are.
      max_output_size_per_class: how many of one class are wanted at most, a Python integer.
      max_total_size: how many are wanted at most, a Python integer.
      iou_threshold: what two boxes may have in common, divided by what they cover together.
      score_threshold: boxes must be better than this.
      pad_per_class: whether results are no larger than all classes together can fill.
      clip_boxes: whether corners are cut to [0, 1].

    Returns:
      Boxes [batch, size, 4], their scores [batch, size] and classes [batch, size] in float32, from
      the best on and filled up with zeros, and how many there are, int32 [batch].

    Raises:
      ShapeError: if shapes do not fit, or a size is not positive.
      InvalidArgumentError: if `iou_threshold` is not in [0, 1].
      DTypeError: if `boxes` or `scores` are not numbers.
      TypeError: if a size is not known while tracing.

    >>> boxes = tf.constant([[[[0.0, 0.0, 0.5, 0.5]], [[0.0, 0.0, 0.5, 0.4]]]])
    >>> found = tf.image.combined_non_max_suppression(boxes, [[[0.9, 0.1], [0.8, 0.3]]], 1, 3)
    >>> found[1].numpy(), found[2].numpy(), found[3].numpy().tolist()
    (array([[0.9, 0.3, 0. ]], dtype=float32), array([[0., 1., 0.]], dtype=float32), [2])
    """
    op = "combined_non_max_suppression"
    sizes = [
        static.static_int(op, value, label)
        for value, label in (
            (max_output_size_per_class, "max_output_size_per_class"),
            (max_total_size, "max_total_size"),
        )
    ]
    if min(sizes) < 1:
        raise ShapeError(f"{op}: sizes must be positive, got {sizes[0]} and {sizes[1]}.")
    found, values, kinds, counts = combined_op(
        of_dtype(op, boxes, float32, "boxes"),
        of_dtype(op, scores, float32, "scores"),
        suppression.scalar_of(op, iou_threshold, "iou_threshold"),
        suppression.scalar_of(op, score_threshold, "score_threshold"),
        each=sizes[0],
        total=sizes[1],
        pad_per_class=bool(pad_per_class),
        clip_boxes=bool(clip_boxes),
        name=name,
    )
    return CombinedBoxes(found, values, kinds, counts)


def non_max_suppression_padded(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"),
    pad_to_max_output_size: bool = False,
    name: str | None = None,
    sorted_input: bool = False,
    canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> tuple[Tensor, Tensor]:
    """The places of the best boxes, filled up with zeros, and how many there are.

    Args:
      boxes: floats [..., boxes, 4]: two opposite corners of each, (y, x, y, x).
      scores: floats [..., boxes]: how good they are.
      max_output_size: how many are wanted at most, an integer or integer scalar.
      iou_threshold: what two boxes may have in common, divided by what they cover together.
      score_threshold: boxes must be better than this.
      pad_to_max_output_size: whether there are always as many places; needed for batches.
      sorted_input: that scores fall; makes no difference.
      canonicalized_coordinates: that the lower corner comes first; makes no difference.
      tile_size: makes no difference.

    Returns:
      Places, int32 [..., max_output_size], and their numbers, int32 [...].

    Raises:
      ShapeError: if shapes do not fit, or `max_output_size` is negative.
      InvalidArgumentError: if `iou_threshold` is not in [0, 1].
      DTypeError: if `max_output_size` is not an integer, or others are not numbers.
      ValueError: if batches are not to be filled up.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9], [0.0, 2.0, 1.0, 3.0]]
    >>> places, count = tf.image.non_max_suppression_padded(
    ...     boxes, [0.5, 0.9, 0.7], max_output_size=3, pad_to_max_output_size=True
    ... )
    >>> places.numpy(), int(count)
    (array([1, 2, 0], dtype=int32), 2)
    """
    op = "non_max_suppression_padded"
    corners = suppression.floats_of(op, boxes, "boxes")
    values = suppression.floats_of(op, scores, "scores")
    rules.check_rank_at_least(op, corners.spec, 2, name="boxes")

    def of_one(pair: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        places, _, count = suppression.suppressed(
            op, *pair, max_output_size, iou_threshold, score_threshold, pad=pad_to_max_output_size
        )
        return places, count

    if corners.spec.rank is None:
        raise UnsupportedError(f"{op}: the rank of boxes must be known while tracing.")
    if corners.spec.rank == 2:
        return of_one((corners, values))
    if not pad_to_max_output_size:
        raise ValueError(f"{op}: pad_to_max_output_size must be True for batches of boxes.")
    lead = shapes.shape(corners)[:-2]
    flat = (
        shapes.reshape(corners, joining.concat([[-1], shapes.shape(corners)[-2:]], 0)),
        shapes.reshape(values, joining.concat([[-1], shapes.shape(values)[-1:]], 0)),
    )
    size = images.number(op, max_output_size, "max_output_size")
    known = size if isinstance(size, int) else None
    types = (TensorSpec([known], int32), TensorSpec([], int32))
    places, counts = functional.map_fn(of_one, flat, fn_output_signature=types)
    wanted = joining.concat([lead, shapes.shape(places)[1:]], 0)
    return shapes.reshape(places, wanted), shapes.reshape(counts, lead)
