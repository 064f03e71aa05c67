"""What functions of images share: checks, and sizes that may only be known at run time.

An image is [height, width, channels], and there may be a batch of them. Axes are counted from the
end, so that one text serves both, and tensors whose rank is not known while tracing. A size is an
int where it is known, and else a scalar tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor, of_dtype
from weft._src.core.dtypes import REAL, DType, int32, int64
from weft._src.core.tensor import Tensor
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops import rules, static
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.elementwise import arithmetic, casting
from weft._src.ops.host.requiring import require

HEIGHT, WIDTH, CHANNELS = -3, -2, -1

Number = int | Tensor  # a scalar tensor of int32 if it is only known at run time


def images_of(op: str, value: TensorLike, name: str = "image") -> Tensor:
    """An image or a batch of them: of rank 3 or 4."""
    x = convert_to_tensor(value)
    if x.spec.rank not in (None, 3, 4):
        raise ShapeError(
            f"{op}: {name} must be [height, width, channels] or a batch of these, got shape "
            f"{x.shape}."
        )
    return x


def at_least_images(op: str, value: TensorLike, name: str = "image") -> Tensor:
    """Images with any number of axes in front of height, width and channels."""
    x = convert_to_tensor(value)
    rules.check_rank_at_least(op, x.spec, 3, name=name)
    return x


def with_channels(op: str, value: TensorLike, count: int, name: str = "images") -> Tensor:
    """A tensor with so many channels in the last axis."""
    x = convert_to_tensor(value)
    rules.check_rank_at_least(op, x.spec, 1, name=name)
    if x.spec.dims is not None and isinstance(x.spec.dims[-1], int) and x.spec.dims[-1] != count:
        raise ShapeError(
            f"{op}: {name} must have {count} channel{'s' if count > 1 else ''} in the last axis, "
            f"got shape {x.shape}."
        )
    return x


def numeric_image(op: str, x: Tensor, name: str = "image") -> DType:
    """The dtype of an image; DTypeError unless it is real numbers."""
    if x.dtype not in REAL:
        raise DTypeError(f"{op}: {name} must hold real numbers, got dtype {x.dtype.name}.")
    return x.dtype


def size_at(x: Tensor, axis: int) -> Number:
    """The size of an axis."""
    dims = x.spec.dims
    if dims is not None and isinstance(dims[axis], int):
        return dims[axis]  # type: ignore[return-value]
    return shapes.shape_op(x, out_type=int32)[axis]


def number(op: str, value: Any, name: str, *, may_be_wide: bool = False) -> Number:
    """A whole number that is given as such or as a scalar tensor of int32, or maybe int64."""
    if type(value) is int:
        return value
    if may_be_wide and getattr(value, "dtype", None) == int64:
        value = casting.cast(value, int32)
    x = of_dtype(op, value, int32, name)
    rules.check_rank(op, x.spec, 0, name=name)
    known = static.static_value(x)
    return x if known is None else int(known)


def at_least(x: Number, low: int) -> Number:
    """The larger of two numbers."""
    return max(x, low) if isinstance(x, int) else arithmetic.maximum(x, low)


def at_most(x: Number, high: Number) -> Number:
    """The smaller of two numbers."""
    if isinstance(x, int) and isinstance(high, int):
        return min(x, high)
    return arithmetic.minimum(x, high)


def check(holds: Callable[..., Any], text: str, **numbers: Number) -> None:
    """ShapeError unless a condition holds for the numbers; an assertion if they are not known."""
    if all(isinstance(x, int) for x in numbers.values()):
        if not holds(*numbers.values()):
            shown = ", ".join(f"{name} = {x}" for name, x in numbers.items())
            raise ShapeError(f"{text}, got {shown}.")
        return
    tensors = [convert_to_tensor(x, dtype_hint=int32) for x in numbers.values()]
    require(holds, tensors, text, list(numbers))


def wanted_sizes(op: str, size: Any, name: str = "size") -> tuple[Number, Number]:
    """A new height and width, positive."""
    x = of_dtype(op, size, int32, name)
    dims = x.spec.dims
    if dims is not None and (len(dims) != 1 or (isinstance(dims[0], int) and dims[0] != 2)):
        raise ShapeError(f"{op}: {name} must be [height, width], got shape {x.shape}.")
    known = static.static_value(x, partial=True)
    numbers: list[Number] = []
    for i, side in enumerate(("height", "width")):
        if known is None or known[i] is None:
            numbers.append(x[i])
            continue
        numbers.append(int(known[i]))
        check(lambda n: n > 0, f"{op}: the new {side} must be positive", **{side: numbers[i]})
    return numbers[0], numbers[1]
