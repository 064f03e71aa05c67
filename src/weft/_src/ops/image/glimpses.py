"""Windows of images, each at its own place: `extract_glimpse`."""

from __future__ import annotations

import numpy as np

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor, of_dtype
from weft._src.core.dtypes import float32, int32
from weft._src.core.tensor import Tensor
from weft._src.ops import rules
from weft._src.ops.arrays import fill, ranges, selection, shape as shapes
from weft._src.ops.elementwise import arithmetic, casting, clipping
from weft._src.ops.image import images
from weft._src.ops.image.images import HEIGHT, WIDTH, Number
from weft._src.ops.indexing import gathering
from weft._src.ops.reduce import extrema, moments, sums
from weft._src.ops.sampling import stateful

_OP = "extract_glimpse"
_NOISES = ("uniform", "gaussian", "zero")
_FAR = 2.0**30  # pixels: nothing is there


def extract_glimpse(
    input: TensorLike,
    size: TensorLike,
    offsets: TensorLike,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> Tensor:
    """A window of each image, filled up with noise where it is beyond the edges.

    Args:
      input: float32 images [batch, height, width, channels].
      size: the height and width of the windows: two int32.
      offsets: where the window of each image is, float32 [batch, 2]: down and across.
      centered: whether offsets count from the centre of an image, rather than from its top left
        corner.
      normalized: whether 1 is the height or width of an image (from the centre: half of it), rather
        than a pixel. If both, an offset is that of the centre of the window, otherwise of its top
        left corner.
      noise: "uniform" is as bright as any pixel of the image, "gaussian" as its pixels are on
        average, "zero" is black.
      name: the name of the node in a graph.

    Returns:
      A tensor [batch, height, width, channels].

    Raises:
      ShapeError: if a shape is another, or the size not positive.
      DTypeError: if `input` or `offsets` is not float32, or `size` not int32.
      TypeError: if a flag is no bool.
      ValueError: if `noise` is another word.

    >>> x = tf.reshape(tf.range(12.0), [1, 3, 4, 1])
    >>> tf.image.extract_glimpse(x, [2, 2], [[0.0, 0.0]])[0, :, :, 0].numpy()
    array([[1., 2.],
           [5., 6.]], dtype=float32)
    >>> tf.image.extract_glimpse(x, [2, 2], [[1.0, 1.0]], noise="zero")[0, :, :, 0].numpy()
    array([[11.,  0.],
           [ 0.,  0.]], dtype=float32)
    """
    x = of_dtype(_OP, input, float32, "input")
    rules.check_rank(_OP, x.spec, 4, name="input")
    places = of_dtype(_OP, offsets, float32, "offsets")
    rules.check_rank(_OP, places.spec, 2, name="offsets")
    for flag, value in (("centered", centered), ("normalized", normalized)):
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{_OP}: {flag} must be True or False, got {value!r}.")
    if noise not in _NOISES:
        raise ValueError(f"{_OP}: noise must be one of {', '.join(_NOISES)}, got {noise!r}.")
    wanted = images.wanted_sizes(_OP, size)
    found, insides = x, []
    for axis, (along, count) in enumerate(zip((HEIGHT, WIDTH), wanted, strict=True)):
        whole = images.size_at(x, along)
        images.check(lambda n: n > 0, f"{_OP}: input must have pixels", size=whole)
        start = _start(places[:, axis], whole, count, bool(centered), bool(normalized))
        numbers = shapes.expand_dims(start, 1) + ranges.range(count)
        insides.append((numbers >= 0) & (numbers < whole))
        nearest = clipping.clip_by_value(numbers, 0, whole - 1)
        found = gathering.gather(found, nearest, axis=axis + 1, batch_dims=1)
    inside = shapes.expand_dims(insides[0], 2) & shapes.expand_dims(insides[1], 1)
    other = _noise(noise, x, found)
    return selection.where(shapes.expand_dims(inside, 3), found, other, name)


def _start(place: Tensor, whole: Number, count: Number, centered: bool, normalized: bool) -> Tensor:
    """The first row or column of each window, which may be outside."""
    sizes = [convert_to_tensor(n, dtype_hint=int32) for n in (whole, count)]
    full, window = [casting.cast(n, float32) for n in sizes]
    at = casting.cast(place, float32)
    if normalized:
        at = at * full
    if centered:
        at = (at / 2.0 if normalized else at) + full / 2.0
    if centered and normalized:
        at = at - window / 2.0
    return casting.cast(clipping.clip_by_value(at, -_FAR, _FAR), int32)


def _noise(kind: str, x: Tensor, found: Tensor) -> Tensor:
    """What is beyond the edges, of the shape of the windows."""
    if kind == "zero":
        return fill.zeros_like(found)
    shape = shapes.shape(found)
    if kind == "uniform":
        low = extrema.reduce_min(x, axis=(1, 2, 3), keepdims=True)
        high = extrema.reduce_max(x, axis=(1, 2, 3), keepdims=True)
        return low + (high - low) * casting.cast(stateful.uniform(shape), x.dtype)
    rough = casting.cast(stateful.normal(shape), x.dtype)[..., :1]  # one number for all channels
    mean = sums.reduce_mean(x, axis=(1, 2), keepdims=True)
    spread = moments.reduce_std(x, axis=(1, 2), keepdims=True)
    low = extrema.reduce_min(x, axis=(1, 2), keepdims=True)
    high = extrema.reduce_max(x, axis=(1, 2), keepdims=True)
    return arithmetic.minimum(arithmetic.maximum(mean + spread * rough, low), high)
