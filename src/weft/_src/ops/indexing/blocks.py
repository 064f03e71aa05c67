"""`tf.slice`: a block of a tensor, given by where it begins and how large it is."""

from __future__ import annotations

import builtins
from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DATA, INDEX, int32
from weft._src.core.native_rules import IndexMap
from weft._src.core.shapes import Dim, Size
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import ShapeError
from weft._src.ops import batching, rules
from weft._src.ops.arrays import padding, shape as shapes, source
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import casting
from weft._src.ops.registry import Op, define_op, each


def _slice_infer(x: TensorSpec, begin: TensorSpec, size: TensorSpec) -> TensorSpec:
    length: Size = Dim() if x.rank is None else x.rank
    for name, spec in (("begin", begin), ("size", size)):
        rules.check_rank("slice", spec, 1, name=name)
        if spec.dims is not None:
            what = f"the rank of input_ and the lengths of begin and size (here {name})"
            length = rules.unify("slice", length, spec.dims[0], what)
    if not isinstance(length, int):
        return x.with_dims(None)
    dims = x.dims or tuple([Dim() for _ in range(length)])
    starts = rules.known(begin) or [Dim()] * length
    sizes = rules.known(size) or [Dim() for _ in range(length)]
    parts = zip(range(length), dims, starts, sizes, strict=True)
    return x.with_dims(tuple([_block_size(*part) for part in parts]))


def _block_size(axis: int, have: Any, start: Any, size: Any) -> Size:
    """The size of a block along an axis, -1 meaning all the rest; ShapeError if it sticks out."""
    numbers = [n for n in (have, start, size) if not isinstance(n, Dim)]
    if isinstance(start, int) and (start < 0 or (isinstance(have, int) and start > have)):
        raise ShapeError(f"slice: begin[{axis}] must be in [0, {have}], got {start}.")
    if not isinstance(size, Dim) and size == -1:
        return have if not isinstance(start, Dim) and start == 0 else have - start
    if len(numbers) == 3 and not 0 <= size <= have - start:
        raise ShapeError(
            f"slice: size[{axis}] must be -1 or in [0, {have - start}], got {size} (begin "
            f"{start}, size of the axis {have})."
        )
    return rules.size_from(size)


def _slice_kernel(xp: ArrayNamespace, x: Array, begin: Array, size: Array) -> Array:
    if begin.shape != (x.ndim,) or size.shape != (x.ndim,):
        raise ValueError("the type rule says what is wrong")
    parts = zip(range(x.ndim), x.shape, begin.tolist(), size.tolist(), strict=True)
    sizes = [_block_size(*part) for part in parts]
    ends = zip(begin.tolist(), sizes, strict=True)
    index: tuple[Any, ...] = (*[builtins.slice(int(b), int(b + n)) for b, n in ends], ...)
    return x[index]


def _slice_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor, None, None]:
    x, begin, _ = ctx.inputs
    before = casting.cast(begin, int32)
    after = shapes.shape_op(x, out_type=int32) - shapes.shape_op(g, out_type=int32) - before
    return padding.pad_op(g, source.pack_op(before, after, axis=1)), None, None


slice_op: Op = define_op(
    "Slice",
    each("input_", DATA) + each("begin size", INDEX, is_shape=True),
    infer=_slice_infer,
    kernel=_slice_kernel,
    native=IndexMap("slice"),
    xla=Lowered("slice"),
    vjp=_slice_vjp,
    trusts_kernel=True,
    shape_arithmetic=True,
    batch=batching.block,
)


def slice(
    input_: TensorLike, begin: TensorLike, size: TensorLike, name: str | None = None
) -> Tensor:
    """The block of a tensor that begins at `begin` and has size `size`; -1 is all the rest.

    Args:
      input_: the tensor.
      begin: the first index along each axis, a list or int32 or int64 vector; not counted from the
        end.
      size: how many elements along each axis, of this kind, too.

    Returns:
      A tensor of the dtype and rank of `input_`, with sizes `size`.

    Raises:
      ShapeError: if the block sticks out of the tensor, or the lengths are not its rank.

    >>> tf.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [-1, 2]).numpy()
    array([[2, 3],
           [5, 6]], dtype=int32)
    """
    x = convert_to_tensor(input_)
    return slice_op(x, shapes.shape_argument(begin), shapes.shape_argument(size), name=name)
