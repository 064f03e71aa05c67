"""Diagonals of tensors: a tensor of rank n on the diagonal of one of rank 2n."""

from __future__ import annotations

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import NUMERIC
from weft._src.core.native_rules import Special
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL, Lowered
from weft._src.errors import ShapeError
from weft._src.ops import rules
from weft._src.ops.registry import Op, args, define_op


def _tensor_diag_infer(diagonal: TensorSpec) -> TensorSpec:
    rules.check_rank_at_least("tensor_diag", diagonal, 1, name="diagonal")
    return diagonal if diagonal.dims is None else diagonal.with_dims(diagonal.dims * 2)


def _tensor_diag_kernel(xp: ArrayNamespace, diagonal: Array) -> Array:
    out = xp.zeros((diagonal.size, diagonal.size), diagonal.dtype)
    i = xp.arange(diagonal.size)
    out[i, i] = diagonal.reshape(-1)
    return xp.reshape(out, diagonal.shape * 2)


tensor_diag_op: Op = define_op(
    "Diag",
    args("diagonal", NUMERIC),
    infer=_tensor_diag_infer,
    kernel=_tensor_diag_kernel,
    native=Special("tensor_diag"),
    xla=Lowered("tensor_diag"),
    vjp=lambda ctx, g: (tensor_diag_part_op(g),),
    fresh=True,
)


def tensor_diag(diagonal: TensorLike, name: str | None = None) -> Tensor:
    """A tensor of twice the rank, zero but for its diagonal.

    Args:
      diagonal: a tensor of numbers, of rank 1 or more.

    Returns:
      A tensor of the same dtype whose shape is that of `diagonal` twice.

    Raises:
      ShapeError: if `diagonal` is a scalar.

    >>> tf.linalg.tensor_diag([1, 2]).numpy()
    array([[1, 0],
           [0, 2]], dtype=int32)
    """
    return tensor_diag_op(convert_to_tensor(diagonal), name=name)


def _tensor_diag_part_infer(x: TensorSpec) -> TensorSpec:
    if x.dims is None:
        return x
    half, odd = divmod(len(x.dims), 2)
    if odd or not half:
        raise ShapeError(
            f"tensor_diag_part: input must have an even rank above 0, got shape {x.shape}."
        )
    what = "the two halves of the shape of input"
    return x.with_dims(rules.merge_dims("tensor_diag_part", x.dims[:half], x.dims[half:], what))


def _tensor_diag_part_kernel(xp: ArrayNamespace, x: Array) -> Array:
    shape = x.shape[: x.ndim // 2]
    n = 1
    for size in shape:
        n *= size
    return xp.reshape(xp.diagonal(xp.reshape(x, (n, n))), shape)


tensor_diag_part_op: Op = define_op(
    "DiagPart",
    args("input", NUMERIC),
    infer=_tensor_diag_part_infer,
    kernel=_tensor_diag_part_kernel,
    native=Special("tensor_diag_part"),
    xla=KERNEL,
    vjp=lambda ctx, g: (tensor_diag_op(g),),
)


def tensor_diag_part(input: TensorLike, name: str | None = None) -> Tensor:
    """The diagonal of a tensor of even rank, with half its rank.

    Args:
      input: a tensor of numbers whose shape consists of two equal halves.

    Returns:
      A tensor of the same dtype, with one half of the shape.

    Raises:
      ShapeError: if the rank is odd or 0, or the halves differ.

    >>> tf.linalg.tensor_diag_part([[1, 2], [3, 4]]).numpy()
    array([1, 4], dtype=int32)
    """
    return tensor_diag_part_op(convert_to_tensor(input), name=name)
