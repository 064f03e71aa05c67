"""Blocks of spatial axes moved into the batch or into the channels, and back."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import BOOL, INDEX, NUMERIC, int32
from weft._src.core.native_rules import IndexMap
from weft._src.core.shapes import Dim, Dims, Size
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL, Lowered
from weft._src.errors import ShapeError
from weft._src.ops import batching, graph_forms, rules, static
from weft._src.ops.arrays import fill, joining, shape as shapes
from weft._src.ops.registry import Op, args, define_op, each

_ALLOWED = NUMERIC | BOOL

# --- batch -------------------------------------------------------------------------------------


def _block(op: str, x: TensorSpec, block: TensorSpec, amounts: TensorSpec, name: str) -> Any:
    """The known sizes of the block and pairs of amounts, checked; None for what is unknown."""
    rules.check_rank(op, block, 1, name="block_shape")
    rules.check_rank(op, amounts, 2, name=name)
    sizes, pairs = rules.known(block), rules.known(amounts)
    if block.dims is not None and amounts.dims is not None:
        what = f"{name} and (the number of blocks, 2)"
        rules.merge_dims(op, amounts.dims, (block.dims[0], 2), what)
    if block.dims is not None and isinstance(block.dims[0], int):
        rules.check_rank_at_least(op, x, block.dims[0] + 1, name="input")
    for size in sizes or ():
        if isinstance(size, int) and size < 1:
            raise ShapeError(f"{op}: block_shape must be positive, got {sizes}.")
    for pair in pairs or ():
        if any(isinstance(p, int) and p < 0 for p in pair):
            raise ShapeError(f"{op}: {name} must not be negative, got {pairs}.")
    return sizes, pairs


def _to_batch_infer(x: TensorSpec, block: TensorSpec, paddings: TensorSpec) -> TensorSpec:
    op = "space_to_batch"
    sizes, pairs = _block(op, x, block, paddings, "paddings")
    if x.dims is None or sizes is None:
        return x.with_dims(None if x.dims is None else tuple([Dim() for _ in x.dims]))
    out: list[Any] = [x.dims[0]]
    for i, size in enumerate(sizes):
        out[0] = out[0] * size
        have: Any = x.dims[i + 1]
        total = have + pairs[i][0] + pairs[i][1] if pairs is not None else Dim()
        if isinstance(total, int) and isinstance(size, int) and total % size:
            raise ShapeError(
                f"{op}: axis {i + 1} with its padding has size {total}, which is no multiple of "
                f"the block's size {size}. tf.required_space_to_batch_paddings tells the padding."
            )
        known = isinstance(total, int) and isinstance(size, int)
        out.append(total // size if known else Dim())
    return x.with_dims((rules.size_from(out[0]), *out[1:], *x.dims[len(sizes) + 1 :]))


def _to_batch_kernel(xp: ArrayNamespace, x: Array, block: Array, paddings: Array) -> Array:
    sizes, m = block.tolist(), len(block)
    rest = x.shape[m + 1 :]
    x = xp.pad(x, [(0, 0), *paddings.tolist(), *[(0, 0) for _ in rest]]) if m else x
    split = [n for i, size in enumerate(sizes) for n in (x.shape[i + 1] // size, size)]
    x = xp.reshape(x, (x.shape[0], *split, *rest))
    spatial, inner = [2 * i + 1 for i in range(m)], [2 * i + 2 for i in range(m)]
    x = xp.transpose(x, (*inner, 0, *spatial, *range(2 * m + 1, x.ndim)))
    return xp.reshape(x, (math.prod(x.shape[: m + 1]), *x.shape[m + 1 :]))


def _to_space_infer(x: TensorSpec, block: TensorSpec, crops: TensorSpec) -> TensorSpec:
    op = "batch_to_space"
    sizes, pairs = _block(op, x, block, crops, "crops")
    if x.dims is None or sizes is None:
        return x.with_dims(None if x.dims is None else tuple([Dim() for _ in x.dims]))
    count: Any = rules.product(sizes)
    batch: Any = x.dims[0]
    out: list[Any] = [Dim()]
    if isinstance(count, int) and isinstance(batch, int):
        if batch % count:
            raise ShapeError(
                f"{op}: the batch size {batch} is no multiple of the size of a block, {count}."
            )
        out = [batch // count]
    for i, size in enumerate(sizes):
        have: Any = x.dims[i + 1]
        known = pairs is not None and all(isinstance(n, int) for n in (have, size, *pairs[i]))
        if known and have * size < sum(pairs[i]):
            raise ShapeError(
                f"{op}: crops {list(pairs[i])} are more than axis {i + 1} has, {have * size}."
            )
        out.append(have * size - sum(pairs[i]) if known else Dim())
    return x.with_dims((*out, *x.dims[len(sizes) + 1 :]))


def _to_space_kernel(xp: ArrayNamespace, x: Array, block: Array, crops: Array) -> Array:
    sizes, m = block.tolist(), len(block)
    batch, rest = x.shape[0] // math.prod(sizes), x.shape[m + 1 :]
    x = xp.reshape(x, (*sizes, batch, *x.shape[1:]))
    order = [n for i in range(m) for n in (m + 1 + i, i)]
    x = xp.transpose(x, (m, *order, *range(2 * m + 1, x.ndim)))
    spatial = [x.shape[2 * i + 1] * x.shape[2 * i + 2] for i in range(m)]
    x = xp.reshape(x, (batch, *spatial, *rest))
    ends = zip(crops.tolist(), spatial, strict=True)
    return xp.array(x[(slice(None), *[slice(a, n - b) for (a, b), n in ends])])


to_batch_op: Op = define_op(
    "SpaceToBatchND",
    args("input", _ALLOWED)
    + args("block_shape", INDEX, is_shape=True)
    + args("paddings", INDEX, is_shape=True),
    infer=_to_batch_infer,
    kernel=_to_batch_kernel,
    native=IndexMap("space_to_batch"),
    xla=KERNEL,
    vjp=lambda ctx, g: (to_space_op(g, *ctx.inputs[1:]), None, None),
    fresh=True,
)
to_space_op: Op = define_op(
    "BatchToSpaceND",
    args("input", _ALLOWED)
    + args("block_shape", INDEX, is_shape=True)
    + args("crops", INDEX, is_shape=True),
    infer=_to_space_infer,
    kernel=_to_space_kernel,
    native=IndexMap("batch_to_space"),
    xla=KERNEL,
    vjp=lambda ctx, g: (to_batch_op(g, *ctx.inputs[1:]), None, None),
    fresh=True,
)


def _pairs(value: TensorLike) -> Tensor:
    return convert_to_tensor(value, dtype_hint=int32)


def space_to_batch(
    input: TensorLike, block_shape: TensorLike, paddings: TensorLike, name: str | None = None
) -> Tensor:
    """The elements at each place in blocks of the axes behind the first, as batches of their own.

    Args:
      input: a tensor of numbers or truth values: batches, then M axes that are cut, then others.
      block_shape: the M sizes of a block, positive integers.
      paddings: an integer matrix of shape [M, 2]: how many zeros are added before and after.

    Returns:
      A tensor whose first axis is larger by the number of elements in a block, and whose M next
      axes are shorter by the sizes of a block.

    Raises:
      ShapeError: if an axis with its padding is no multiple of the block, or arguments do not fit.

    >>> x = tf.reshape(tf.range(4), [1, 2, 2, 1])
    >>> tf.space_to_batch(x, [2, 2], [[0, 0], [0, 0]]).shape
    TensorShape([4, 1, 1, 1])
    """
    x = convert_to_tensor(input)
    return to_batch_op(x, shapes.shape_argument(block_shape), _pairs(paddings), name=name)


def space_to_batch_nd(
    input: TensorLike, block_shape: TensorLike, paddings: TensorLike, name: str | None = None
) -> Tensor:
    """Another name of `tf.space_to_batch`.

    Args:
      input: a tensor of numbers or truth values: batches, then M axes that are cut, then others.
      block_shape: the M sizes of a block, positive integers.
      paddings: an integer matrix of shape [M, 2]: how many zeros are added before and after.

    Returns:
      A tensor whose first axis is larger by the number of elements in a block, and whose M next
      axes are shorter by the sizes of a block.

    Raises:
      ShapeError: if an axis with its padding is no multiple of the block, or arguments do not fit.

    >>> x = tf.reshape(tf.range(4), [1, 4])
    >>> tf.space_to_batch_nd(x, [2], [[0, 0]]).numpy()
    array([[0, 2],
           [1, 3]], dtype=int32)
    """
    return space_to_batch(input, block_shape, paddings, name)


def batch_to_space(
    input: TensorLike, block_shape: TensorLike, crops: TensorLike, name: str | None = None
) -> Tensor:
    """What `tf.space_to_batch` took apart, put together and cropped.

    Args:
      input: a tensor of numbers or truth values: batches, then M axes, then others.
      block_shape: the M sizes of a block, positive integers.
      crops: an integer matrix of shape [M, 2]: how many elements are cut off before and after.

    Returns:
      A tensor whose first axis is shorter by the number of elements in a block, and whose M next
      axes are longer by the sizes of a block, less the crops.

    Raises:
      ShapeError: if the first axis is no multiple of a block, or the crops are more than an axis
        has.

    >>> tf.batch_to_space([[0, 2], [1, 3]], [2], [[0, 1]]).numpy()
    array([[0, 1, 2]], dtype=int32)
    """
    x = convert_to_tensor(input)
    return to_space_op(x, shapes.shape_argument(block_shape), _pairs(crops), name=name)


class PaddingsAndCrops(NamedTuple):
    """What `tf.space_to_batch` has to add, and `tf.batch_to_space` to take away."""

    paddings: Tensor
    crops: Tensor


def required_space_to_batch_paddings(
    input_shape: Any,
    block_shape: TensorLike,
    base_paddings: TensorLike | None = None,
    name: str | None = None,
) -> PaddingsAndCrops:
    """The paddings that make the sizes multiples of the block's, and the crops that undo them.

    Args:
      input_shape: the sizes of the axes that are cut, an int32 vector.
      block_shape: the sizes of a block, an int32 vector as long.
      base_paddings: paddings of shape [M, 2] that are wanted at least; None means none.

    Returns:
      A named tuple of two int32 matrices of shape [M, 2]: `paddings` and `crops`. What is added to
      the base stands at the ends.

    Raises:
      ShapeError: if the arguments are of other shapes.

    >>> paddings, crops = tf.required_space_to_batch_paddings([5, 6], [2, 3])
    >>> paddings.numpy().tolist(), crops.numpy().tolist()
    ([[0, 1], [0, 0]], [[0, 1], [0, 0]])
    """
    op = "required_space_to_batch_paddings"
    sizes = convert_to_tensor(input_shape, dtype=int32)
    block = convert_to_tensor(block_shape, dtype=int32)
    rules.check_rank(op, block.spec, 1, name="block_shape")
    rules.merge_dims(op, sizes.spec.dims, block.spec.dims, "input_shape and block_shape")
    if base_paddings is None:
        start = end = fill.zeros_like(sizes)
    else:
        base = convert_to_tensor(base_paddings, dtype=int32)
        rules.check_rank(op, base.spec, 2, name="base_paddings")
        start, end = base[:, 0], base[:, 1]
    extra = (-(sizes + start + end)) % block
    paddings = joining.stack([start, end + extra], axis=1)
    return PaddingsAndCrops(paddings, joining.stack([fill.zeros_like(extra), extra], axis=1))


# --- channels ----------------------------------------------------------------------------------


def _depth_parts(op: str, x: TensorSpec, first: bool) -> tuple[Any, Any, Any, Any] | None:
    rules.check_rank(op, x, 4, name="input")
    if x.dims is None:
        return None
    n, a, b, c = x.dims
    return (n, b, c, a) if first else (n, a, b, c)


def _dims(batch: Any, height: Any, width: Any, depth: Any, first: bool) -> Dims:
    return (batch, depth, height, width) if first else (batch, height, width, depth)


def _times(size: Size, factor: int) -> Size:
    return size * factor if isinstance(size, int) else Dim()


def _parts(op: str, what: str, size: Size, factor: int) -> Size:
    if not isinstance(size, int):
        return Dim()
    if size % factor:
        raise ShapeError(f"{op}: the {what} must be a multiple of {factor}, got {size}.")
    return size // factor


def _to_depth_infer(x: TensorSpec, *, block_size: int, channels_first: bool) -> TensorSpec:
    op = "space_to_depth"
    parts = _depth_parts(op, x, channels_first)
    if parts is None:
        return x.with_dims(tuple([Dim() for _ in range(4)]))
    batch, height, width, depth = parts
    height = _parts(op, "height", height, block_size)
    width = _parts(op, "width", width, block_size)
    return x.with_dims(_dims(batch, height, width, _times(depth, block_size**2), channels_first))


def _to_depth_kernel(
    xp: ArrayNamespace, x: Array, *, block_size: int, channels_first: bool
) -> Array:
    x = xp.moveaxis(x, 1, -1) if channels_first else x
    (n, h, w, c), b = x.shape, block_size
    x = xp.reshape(x, (n, h // b, b, w // b, b, c))
    out = xp.reshape(xp.transpose(x, (0, 1, 3, 2, 4, 5)), (n, h // b, w // b, b * b * c))
    return xp.array(xp.moveaxis(out, -1, 1) if channels_first else out, order="C")


def _from_depth_infer(x: TensorSpec, *, block_size: int, channels_first: bool) -> TensorSpec:
    op = "depth_to_space"
    parts = _depth_parts(op, x, channels_first)
    if parts is None:
        return x.with_dims(tuple([Dim() for _ in range(4)]))
    batch, height, width, depth = parts
    depth = _parts(op, "number of channels", depth, block_size**2)
    height, width = _times(height, block_size), _times(width, block_size)
    return x.with_dims(_dims(batch, height, width, depth, channels_first))


def _from_depth_kernel(
    xp: ArrayNamespace, x: Array, *, block_size: int, channels_first: bool
) -> Array:
    x = xp.moveaxis(x, 1, -1) if channels_first else x
    (n, h, w, c), b = x.shape, block_size
    x = xp.reshape(x, (n, h, w, b, b, c // (b * b)))
    out = xp.reshape(xp.transpose(x, (0, 1, 3, 2, 4, 5)), (n, h * b, w * b, c // (b * b)))
    return xp.array(xp.moveaxis(out, -1, 1) if channels_first else out, order="C")


to_depth_op: Op = define_op(
    "SpaceToDepth",
    each("input", _ALLOWED),
    infer=_to_depth_infer,
    kernel=_to_depth_kernel,
    native=IndexMap("depth_blocks", to_depth=True),
    xla=Lowered("depth_blocks", to_depth=True),
    vjp=lambda ctx, g: (from_depth_op(g, **ctx.attrs),),
    fresh=True,
    batch=batching.merged,
    graphdef=graph_forms.bias,
)
from_depth_op: Op = define_op(
    "DepthToSpace",
    each("input", _ALLOWED),
    infer=_from_depth_infer,
    kernel=_from_depth_kernel,
    native=IndexMap("depth_blocks"),
    xla=Lowered("depth_blocks"),
    vjp=lambda ctx, g: (to_depth_op(g, **ctx.attrs),),
    fresh=True,
    batch=batching.merged,
    graphdef=graph_forms.bias,
)


def _depth_attributes(op: str, block_size: TensorLike, data_format: str) -> dict[str, Any]:
    size = static.static_int(op, block_size, "block_size")
    if not 2 <= size < 2**15:
        raise ShapeError(f"{op}: block_size must be at least 2, got {size}.")
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError(f"{op}: data_format must be 'NHWC' or 'NCHW', got {data_format!r}.")
    return {"block_size": size, "channels_first": data_format == "NCHW"}


def space_to_depth(
    input: TensorLike, block_size: TensorLike, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Square blocks of images as channels of smaller images.

    Args:
      input: a tensor of rank 4 of numbers or truth values, laid out as `data_format` says.
      block_size: the height and width of a block, a Python integer of at least 2.
      data_format: "NHWC" or "NCHW".

    Returns:
      A tensor whose height and width are smaller by `block_size`, with block_size² as many
      channels.

    Raises:
      ShapeError: if height or width is no multiple of `block_size`, or the rank is not 4.
      ValueError: if there is no such format.

    >>> tf.nn.space_to_depth(tf.reshape(tf.range(4), [1, 2, 2, 1]), 2).numpy().tolist()
    [[[[0, 1, 2, 3]]]]
    """
    attrs = _depth_attributes("space_to_depth", block_size, data_format)
    return to_depth_op(convert_to_tensor(input), **attrs, name=name)


def depth_to_space(
    input: TensorLike, block_size: TensorLike, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Channels of images as square blocks of larger images.

    Args:
      input: a tensor of rank 4 of numbers or truth values, laid out as `data_format` says.
      block_size: the height and width of a block, a Python integer of at least 2.
      data_format: "NHWC" or "NCHW".

    Returns:
      A tensor whose height and width are larger by `block_size`, with fewer channels by
      block_size².

    Raises:
      ShapeError: if the channels are no multiple of block_size², or the rank is not 4.
      ValueError: if there is no such format.

    >>> tf.nn.depth_to_space(tf.reshape(tf.range(4), [1, 1, 1, 4]), 2).numpy()[0, :, :, 0]
    array([[0, 1],
           [2, 3]], dtype=int32)
    """
    attrs = _depth_attributes("depth_to_space", block_size, data_format)
    return from_depth_op(convert_to_tensor(input), **attrs, name=name)
