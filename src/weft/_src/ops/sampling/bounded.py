"""Normal numbers between bounds that are given for each of them."""

from __future__ import annotations

from weft._src.core.aliases import ShapeLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import FLOATING, float32, int32
from weft._src.core.tensor import Tensor
from weft._src.errors import DTypeError
from weft._src.ops.arrays import selection, shape as shapes
from weft._src.ops.elementwise import clipping, error_function, special
from weft._src.ops.host.requiring import require
from weft._src.ops.sampling import stateless


def between(
    drawn: Tensor, means: TensorLike, stddevs: TensorLike, minvals: TensorLike, maxvals: TensorLike
) -> Tensor:
    """Uniform numbers as normal ones between two bounds, by the inverse of their distribution.

    Bounds above the mean are mirrored: the distribution is exact near 0, not near 1.
    """
    dtype = drawn.dtype
    mean, spread, low, high = [
        convert_to_tensor(x, dtype_hint=dtype) for x in (means, stddevs, minvals, maxvals)
    ]
    a, b = (low - mean) / spread, (high - mean) / spread
    flipped = a > 0
    a, b = selection.where(flipped, -b, a), selection.where(flipped, -a, b)
    first, last = [0.5 * error_function.erfc(-x / 2**0.5) for x in (a, b)]
    x = special.ndtri(first + drawn * (last - first))
    out = selection.where(flipped, -x, x) * spread + mean
    return clipping.clip_by_value(out, low, high)


def stateless_parameterized_truncated_normal(
    shape: ShapeLike,
    seed: TensorLike,
    means: TensorLike = 0.0,
    stddevs: TensorLike = 1.0,
    minvals: TensorLike = -2.0,
    maxvals: TensorLike = 2.0,
    name: str | None = None,
) -> Tensor:
    """Normal numbers between bounds, the same for the same seed; not TensorFlow's numbers.

    Args:
      shape: the sizes of the result: a list, `tf.TensorShape`, int32 or int64 vector.
      seed: two integers.
      means: the means, of a floating dtype; they broadcast with the result.
      stddevs: the standard deviations, positive, of this kind, too.
      minvals: the lower bounds, of this kind, too.
      maxvals: the upper bounds, of this kind, too.

    Returns:
      A tensor of this shape and the dtype of the parameters.

    Raises:
      DTypeError: if the parameters have different dtypes, or none that is floating.
      InvalidArgumentError: if a lower bound is above the upper one, or a deviation not positive.
      ShapeError: if the parameters do not broadcast to the shape.

    >>> x = tf.random.stateless_parameterized_truncated_normal([1000], [1, 2], minvals=1.0)
    >>> bool(np.all((x.numpy() >= 1) & (x.numpy() <= 2)))
    True
    """
    op = "stateless_parameterized_truncated_normal"
    given = {"means": means, "stddevs": stddevs, "minvals": minvals, "maxvals": maxvals}
    typed = [x.dtype for x in given.values() if isinstance(x, Tensor)]
    dtype = typed[0] if typed else float32
    found = {key: convert_to_tensor(x, dtype_hint=dtype) for key, x in given.items()}
    for key, x in found.items():
        if x.dtype not in FLOATING or x.dtype is not found["means"].dtype:
            kinds = ", ".join(f"{k}: {y.dtype.name}" for k, y in found.items())
            raise DTypeError(f"{op}: {key} and others must have one floating dtype, got {kinds}.")
    low, high, spread = found["minvals"], found["maxvals"], found["stddevs"]
    require(
        lambda a, b: a <= b,
        [low, high],
        f"{op}: minvals must not be above maxvals",
        ["minvals", "maxvals"],
    )
    require(lambda x: x > 0, [spread], f"{op}: stddevs must be positive", ["stddevs"])
    drawn = stateless.stateless_uniform(shape, seed, dtype=found["means"].dtype, name=name)
    sizes = shapes.shape_op(drawn, out_type=int32)
    return between(drawn, *[shapes.broadcast_to(x, sizes) for x in found.values()])
