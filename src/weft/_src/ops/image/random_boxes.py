"""Parts of images at random that show enough of the things in boxes: TensorFlow's numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import float32, int8, int16, int32, int64, uint8
from weft._src.core.random_numbers import seeds
from weft._src.core.random_numbers.philox import philox_block
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import InvalidArgumentError
from weft._src.ops import rules
from weft._src.ops.registry import NO_NATIVE, NO_XLA, NOT_DIFFERENTIABLE, args, define_op
from weft._src.ops.sampling import draws
from weft._src.ops.sampling.streams import next_state
from weft._src.ops.static import as_float, static_int

_OP = "sample_distorted_bounding_box"
_INTEGERS = frozenset({uint8, int8, int16, int32, int64})
_LEAST_AREA = 1.0  # of a box that counts
_TINY = float(np.float32(1e-7))

F = np.float32  # all is computed in it, as rounding decides which pixels are in


class SampledBox(NamedTuple):
    """A part of an image: for `tf.slice` where it begins and its size, and as a box."""

    begin: Tensor
    size: Tensor
    bboxes: Tensor


class _Box(NamedTuple):
    """Pixels from the first to before the last."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def area(self) -> int:
        return max(0, self.right - self.left) * max(0, self.bottom - self.top)

    def common(self, other: _Box) -> _Box:
        """What is in both."""
        return _Box(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )


def _invalid(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, f"{_OP}: {text}")


def _sample_infer(
    state: TensorSpec, image_size: TensorSpec, boxes: TensorSpec, covered: TensorSpec, **_: Any
) -> tuple[TensorSpec, TensorSpec, TensorSpec]:
    rules.check_rank(_OP, state, 1, name="state")
    rules.check_rank(_OP, image_size, 1, name="image_size")
    rules.check_rank(_OP, boxes, 3, name="bounding_boxes")
    rules.check_rank(_OP, covered, 0, name="min_object_covered")
    if image_size.dims is not None:
        rules.unify(_OP, image_size.dims[0], 3, "the numbers in image_size and 3")
    if boxes.dims is not None:
        rules.unify(_OP, boxes.dims[2], 4, "the size of a box and 4")
    place = TensorSpec.of(image_size.dtype, (3,))
    return place, place, TensorSpec.of(float32, (1, 1, 4))


def _sample_kernel(
    xp: ArrayNamespace,
    state: Array,
    image_size: Array,
    boxes: Array,
    covered: Any,
    *,
    aspect_ratio_range: tuple[float, float],
    area_range: tuple[float, float],
    max_attempts: int,
    use_image_if_no_bounding_boxes: bool,
) -> tuple[Array, Array, Array]:
    height, width = image_size.tolist()[:2]
    if height < 1 or width < 1:
        raise _invalid(f"image_size must be positive, got {image_size.tolist()}.")
    things = _in_pixels(boxes.reshape(-1, 4), height, width)
    if not things:
        if not use_image_if_no_bounding_boxes:
            raise _invalid(
                "bounding_boxes must hold a box. With use_image_if_no_bounding_boxes=True the "
                "whole image counts as one."
            )
        things = [_Box(0, 0, width, height)]
    words = _words(*seeds.key_counter_from_state(state))
    low, high = [F(bound) for bound in aspect_ratio_range]
    part = _Box(0, 0, width, height)
    for _ in range(max_attempts):
        ratio = F(_share(next(words)) * (high - low) + low)
        found = _part(width, height, area_range, ratio, words)
        if found is not None and _shows(found, things, F(covered)):
            part = found
            break
    dtype = image_size.dtype
    begin = np.array([part.top, part.left, 0]).astype(dtype)
    size = np.array([part.bottom - part.top, part.right - part.left, -1]).astype(dtype)
    ends = np.array([part.top, part.left, part.bottom, part.right], F)
    box = ends / np.array([height, width, height, width], F)
    return begin, size, box.reshape(1, 1, 4)


def _in_pixels(boxes: Array, height: int, width: int) -> list[_Box]:
    if not ((boxes >= 0) & (boxes <= 1)).all():
        raise _invalid("bounding_boxes must be from 0 to 1, got others.")
    scaled = (boxes * np.array([height, width, height, width], F)).astype(np.int64)
    return [_Box(left, top, right, bottom) for top, left, bottom, right in scaled.tolist()]


def _words(key: int, counter: int) -> Iterator[int]:
    for block in itertools.count(counter):
        yield from philox_block(key, block)


def _share(word: int) -> Any:
    """A number from 0 to 1, of the lower bits."""
    return np.uint32(word & 0x7FFFFF | 0x3F800000).view(F) - F(1)


def _below(words: Iterator[int], limit: int) -> int:
    """A whole number below a limit; words that would favour some are left out."""
    if not limit & (limit - 1):
        return next(words) & (limit - 1)
    refused = 0xFFFFFFFF % limit + 1
    word = next(words)
    while word < refused:
        word = next(words)
    return word % limit


def _rounded(x: Any) -> int:
    return int(np.rint(F(x)))


def _part(
    width: int, height: int, shares: tuple[float, float], ratio: Any, words: Iterator[int]
) -> _Box | None:
    """A part of an image with that ratio of width to height and an area in the range, or None."""
    least, most = [F(share) * F(width) * F(height) for share in shares]
    if most <= 0 or ratio <= 0 or least > most:
        return None
    tall, tallest = [_rounded(np.sqrt(area / ratio)) for area in (least, most)]
    if _rounded(F(tallest) * ratio) > width:
        tallest = int((width + 0.5 - _TINY) / float(ratio))
    tallest = min(tallest, height)
    tall = min(tall, tallest)
    if tall < tallest:
        tall += _below(words, tallest - tall + 1)
    wide = _rounded(F(tall) * ratio)
    for step, is_wrong in ((1, F(wide * tall) < least), (-1, F(wide * tall) > most)):
        if is_wrong:  # by rounding
            tall += step
            wide = _rounded(F(tall) * ratio)
            break
    if not least <= F(wide * tall) <= most or not (0 < wide <= width and 0 < tall <= height):
        return None
    top = _below(words, height - tall) if tall < height else 0
    left = _below(words, width - wide) if wide < width else 0
    return _Box(left, top, left + wide, top + tall)


def _shows(part: _Box, things: Sequence[_Box], least: Any) -> bool:
    """Whether enough of one of the things is there."""
    return any(
        thing.area >= _LEAST_AREA and F(part.common(thing).area) / F(thing.area) >= least
        for thing in things
    )


sample_box_op = define_op(
    "SampleBox",
    args("state", {int64})
    + args("image_size", _INTEGERS)
    + args("bounding_boxes min_object_covered", {float32}),
    infer=_sample_infer,
    kernel=_sample_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    outputs=3,
    fresh=True,
)


def _range(value: Any, default: tuple[float, float], name: str, most: float) -> tuple[float, float]:
    if value is None:
        return default
    try:
        low, high = [as_float(bound) for bound in value]
    except (TypeError, ValueError):
        raise TypeError(f"{_OP}: {name} must be two numbers, got {value!r}.") from None
    if not (low > 0 and high > 0 and low <= most and high <= most):
        limit = "" if most == np.inf else f" and at most {most:g}"
        raise _invalid(f"{name} must be positive{limit}, got [{low:g}, {high:g}].")
    return low, high


def _sampled(
    state: Tensor,
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    min_object_covered: TensorLike,
    attempts: int,
    aspect_ratio_range: Any,
    area_range: Any,
    use_image: Any,
    name: str | None,
) -> SampledBox:
    if not isinstance(use_image, (bool, np.bool_, type(None))):
        raise TypeError(
            f"{_OP}: use_image_if_no_bounding_boxes must be True or False, got {use_image!r}."
        )
    out = sample_box_op(
        state,
        convert_to_tensor(image_size, dtype_hint=int32),
        convert_to_tensor(bounding_boxes, dtype_hint=float32),
        convert_to_tensor(min_object_covered, dtype_hint=float32),
        aspect_ratio_range=_range(
            aspect_ratio_range, (0.75, 1.33), "aspect_ratio_range", float(np.inf)
        ),
        area_range=_range(area_range, (0.05, 1.0), "area_range", 1.0),
        max_attempts=attempts,
        use_image_if_no_bounding_boxes=bool(use_image),
        name=name,
    )
    return SampledBox(*out)


def _attempts(value: Any) -> int:
    number = 100 if value is None else static_int(_OP, value, "max_attempts")
    if number < 1:
        raise _invalid(f"max_attempts must be positive, got {number}.")
    return number


def sample_distorted_bounding_box(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: Any = 0,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> SampledBox:
    """A part of an image at random, with enough of a thing in it.

    Args:
      image_size: the height, width and number of channels: three integers.
      bounding_boxes: where the things are, float32 [images, boxes, 4]: the top, left, bottom and
        right of each, from 0 to 1.
      seed: an integer, together with `tf.random.set_seed` for numbers that come again; 0 is none.
      min_object_covered: the part of one of the things that must be in it.
      aspect_ratio_range: the least and most width for its height, [0.75, 1.33] if None.
      area_range: the least and largest part of the image, [0.05, 1] if None.
      max_attempts: how often another part is tried, 100 times if None; then all of the image is
        taken.
      use_image_if_no_bounding_boxes: whether the image itself is the thing if there are no boxes;
        otherwise that is an error.
      name: the name of the node in a graph.

    Returns:
      `begin` and `size`, three integers each, for `tf.slice`; and `bboxes`, the part as a box
      [1, 1, 4] for `tf.image.draw_bounding_boxes`.

    Raises:
      tf.errors.InvalidArgumentError: if there are no boxes, a box is not within the image, or a
        number is not in its range.
      ShapeError: if a shape is another.
      TypeError: if an argument is of another type.

    >>> image = tf.zeros([40, 60, 3])
    >>> box = tf.image.sample_distorted_bounding_box(tf.shape(image), [[[0.2, 0.1, 0.9, 0.8]]])
    >>> tf.slice(image, box.begin, box.size).shape[-1]
    3
    """
    attempts = _attempts(max_attempts)
    given = seed if isinstance(seed, tuple) else (seed or None)
    state = next_state(_OP, ("SampleBox",), given, convert_to_tensor(attempts), step=1)
    return _sampled(
        state, image_size, bounding_boxes, min_object_covered, attempts, aspect_ratio_range,
        area_range, use_image_if_no_bounding_boxes, name,
    )  # fmt: skip


def stateless_sample_distorted_bounding_box(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: TensorLike,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> SampledBox:
    """A part of an image at random, with enough of a thing in it: the same for the same seed.

    Args:
      image_size: as in `sample_distorted_bounding_box`.
      bounding_boxes: as in `sample_distorted_bounding_box`.
      seed: two integers.
      min_object_covered: as in `sample_distorted_bounding_box`.
      aspect_ratio_range: as in `sample_distorted_bounding_box`.
      area_range: as in `sample_distorted_bounding_box`.
      max_attempts: as in `sample_distorted_bounding_box`.
      use_image_if_no_bounding_boxes: as in `sample_distorted_bounding_box`.
      name: the name of the node in a graph.

    Returns:
      As of `sample_distorted_bounding_box`.

    Raises:
      tf.errors.InvalidArgumentError: if there are no boxes, a box is not within the image, or a
        number is not in its range.
      ShapeError: if a shape is another.
      TypeError: if an argument is of another type.

    >>> box = tf.image.stateless_sample_distorted_bounding_box(
    ...     [40, 50, 3], [[[0.1, 0.2, 0.5, 0.9]]], seed=[0, 5]
    ... )
    >>> box.begin.numpy(), box.size.numpy()
    (array([ 1, 22,  0], dtype=int32), array([17, 18, -1], dtype=int32))
    """
    attempts = _attempts(max_attempts)
    state = draws.key_counter_op(convert_to_tensor(seed, dtype_hint=int32))
    return _sampled(
        state, image_size, bounding_boxes, min_object_covered, attempts, aspect_ratio_range,
        area_range, use_image_if_no_bounding_boxes, name,
    )  # fmt: skip
