"""Adding elements around a tensor: constants, or its own mirror image."""

from __future__ import annotations

from typing import Any

from weft._src.core import memory
from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DATA, INDEX, NUMERIC, int32
from weft._src.core.native_rules import IndexMap, Special
from weft._src.core.shapes import Dim, Dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL, Lowered
from weft._src.errors import ShapeError
from weft._src.ops import batching, rules
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.indexing import blocks
from weft._src.ops.reduce import sums
from weft._src.ops.registry import Op, args, define_op


def _padded_dims(x: TensorSpec, paddings: TensorSpec) -> Dims | None:
    rules.check_rank("pad", paddings, 2, name="paddings")
    rank = x.rank
    if paddings.dims is not None:
        rows, columns = paddings.dims
        rules.unify("pad", columns, 2, "the number of columns of paddings and 2")
        if rank is None and isinstance(rows, int):
            return tuple([Dim() for _ in range(rows)])
        if rank is not None:
            what = f"the rank of tensor (shape {x.shape}) and the number of rows of paddings"
            rules.unify("pad", rank, rows, what)
    if x.dims is None:
        return None
    amounts = rules.known(paddings)
    if amounts is None:
        return tuple([Dim() for _ in x.dims])
    _refuse_negative(amounts)
    sizes: list[Any] = [d + row[0] + row[1] for d, row in zip(x.dims, amounts, strict=True)]
    return tuple(sizes)


def _refuse_negative(amounts: list[Any]) -> None:
    for row in amounts:
        if any(isinstance(n, int) and n < 0 for n in row):
            raise ShapeError(f"pad: paddings must not be negative, got {amounts}.")


def _pad_infer(x: TensorSpec, paddings: TensorSpec, *constant: TensorSpec) -> TensorSpec:
    for value in constant:
        rules.check_rank("pad", value, 0, name="constant_values")
    return x.with_dims(_padded_dims(x, paddings))


def _pad_kernel(xp: ArrayNamespace, x: Array, paddings: Array, constant: Any = None) -> Array:
    amounts = paddings.tolist()
    _refuse_negative(amounts)
    shape = tuple([d + a + b for d, (a, b) in zip(x.shape, amounts, strict=True)])
    memory.check("pad", shape, x.dtype)
    if constant is None:
        constant = b"" if x.dtype == object else 0
    elif constant.ndim:
        raise ValueError("the type rule says what is wrong")
    out = xp.full(shape, constant, x.dtype)
    out[tuple([slice(a, a + d) for d, (a, _) in zip(x.shape, amounts, strict=True)])] = x
    return out


def _inner(g: Tensor, x: Tensor, paddings: Tensor) -> Tensor:
    """The part of a padded gradient that lies over the unpadded tensor."""
    return blocks.slice_op(g, paddings[:, 0], shapes.shape_op(x, out_type=int32))


def _pad_v2_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor | None, ...]:
    x, paddings, _ = ctx.inputs
    inner = _inner(g, x, paddings)
    around = sums.reduce_sum(g) - sums.reduce_sum(inner) if ctx.wants(2) else None
    return inner, None, around


pad_op: Op = define_op(
    "Pad",
    args("tensor", DATA) + args("paddings", INDEX, is_shape=True),
    infer=_pad_infer,
    kernel=_pad_kernel,
    native=IndexMap("pad"),
    xla=Lowered("pad"),
    trusts_kernel=True,
    vjp=lambda ctx, g: (_inner(g, *ctx.inputs), None),
    fresh=True,
    batch=batching.padded,
)
_tensor_arg, _constant_arg = args("tensor constant_values", DATA)
pad_v2_op: Op = define_op(
    "PadV2",
    (_tensor_arg, *args("paddings", INDEX, is_shape=True), _constant_arg),
    infer=_pad_infer,
    kernel=_pad_kernel,
    native=IndexMap("pad"),
    xla=Lowered("pad"),
    trusts_kernel=True,
    vjp=_pad_v2_vjp,
    fresh=True,
    batch=batching.padded,
)

# --- mirrors -----------------------------------------------------------------------------------


def _mirror_pad_infer(x: TensorSpec, paddings: TensorSpec, *, mode: str) -> TensorSpec:
    out = x.with_dims(_padded_dims(x, paddings))
    amounts = rules.known(paddings)
    if x.dims is not None and amounts is not None:
        for axis, (size, row) in enumerate(zip(x.dims, amounts, strict=True)):
            if isinstance(size, int):
                _check_mirror(axis, size, [n for n in row if isinstance(n, int)], mode)
    return out


def _check_mirror(axis: int, size: int, amounts: list[int], mode: str) -> None:
    limit = size - 1 if mode == "REFLECT" else size
    if any(n > max(limit, 0) for n in amounts):
        raise ShapeError(
            f"pad: axis {axis} of size {size} can be padded by at most {max(limit, 0)} in mode "
            f"{mode}, got {amounts}."
        )


def mirror_index(xp: ArrayNamespace, size: int, before: int, after: int, mode: str) -> Array:
    return xp.pad(xp.arange(size), (before, after), mode.lower())


def _mirror_pad_kernel(xp: ArrayNamespace, x: Array, paddings: Array, *, mode: str) -> Array:
    out = x
    amounts = paddings.tolist()
    _refuse_negative(amounts)
    for axis, (_, (before, after)) in enumerate(zip(x.shape, amounts, strict=True)):
        if before or after:
            _check_mirror(axis, x.shape[axis], [before, after], mode)
            index = mirror_index(xp, x.shape[axis], before, after, mode)
            out = xp.take(out, index, axis)
    return out


def _mirror_pad_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor, None]:
    x, paddings = ctx.inputs
    shape = shapes.shape_op(x, out_type=int32)
    return mirror_pad_grad_op(g, paddings, shape, mode=ctx.attrs["mode"]), None


mirror_pad_op: Op = define_op(
    "MirrorPad",
    args("tensor", DATA) + args("paddings", INDEX, is_shape=True),
    infer=_mirror_pad_infer,
    kernel=_mirror_pad_kernel,
    native=IndexMap("mirror_pad"),
    xla=KERNEL,
    trusts_kernel=True,
    vjp=_mirror_pad_vjp,
    batch=batching.padded,
)


def _mirror_pad_grad_infer(
    g: TensorSpec, paddings: TensorSpec, shape: TensorSpec, *, mode: str
) -> TensorSpec:
    dims = rules.dims_from_value("MirrorPadGrad", shape)
    if dims is not None and g.dims is not None and len(dims) != len(g.dims):
        raise ShapeError(f"MirrorPadGrad: shape must have {len(g.dims)} sizes, got {len(dims)}.")
    return g.with_dims(dims)


def _mirror_pad_grad_kernel(
    xp: ArrayNamespace, g: Array, paddings: Array, shape: Array, *, mode: str
) -> Array:
    out = xp.array(g)
    for axis, (_, (before, after)) in enumerate(zip(shape, paddings.tolist(), strict=True)):
        if before or after:
            size = int(shape[axis])
            _check_mirror(axis, size, [before, after], mode)
            folded = xp.zeros((*out.shape[:axis], size, *out.shape[axis + 1 :]), g.dtype)
            index = mirror_index(xp, size, before, after, mode)
            xp.scatter_add(xp.moveaxis(folded, axis, 0), index, xp.moveaxis(out, axis, 0))
            out = folded
    return out


mirror_pad_grad_op = define_op(
    "MirrorPadGrad",
    args("dy", NUMERIC) + args("paddings", INDEX) + args("shape", INDEX, is_shape=True),
    infer=_mirror_pad_grad_infer,
    kernel=_mirror_pad_grad_kernel,
    native=Special("mirror_pad_grad"),
    xla=Lowered("mirror_pad_grad"),
    vjp=lambda ctx, g: (mirror_pad_op(g, ctx.inputs[1], mode=ctx.attrs["mode"]), None, None),
    fresh=True,
    batch=batching.padded_back,
)


def pad(
    tensor: TensorLike,
    paddings: TensorLike,
    mode: str = "CONSTANT",
    constant_values: TensorLike = 0,
    name: str | None = None,
) -> Tensor:
    """A tensor with elements added before and after along each axis: constants or a mirror image.

    Args:
      tensor: the tensor.
      paddings: an int32 or int64 matrix with a row [before, after] for each axis.
      mode: "CONSTANT" pads with `constant_values`; "REFLECT" mirrors at the first and last element,
        "SYMMETRIC" at the edges before and after them. Upper or lower case.
      constant_values: a scalar of the dtype of `tensor`; 0 also means "" for strings and False.

    Returns:
      A tensor of the same dtype, with sizes grown by the amounts in `paddings`.

    Raises:
      ShapeError: if `paddings` is not of shape [rank, 2], an amount is negative, or more than can
        be mirrored: the size of the axis, one less for "REFLECT".
      ValueError: if there is no such mode.

    >>> tf.pad([1, 2, 3], [[1, 2]]).numpy()
    array([0, 1, 2, 3, 0, 0], dtype=int32)
    >>> tf.pad([1, 2, 3], [[2, 1]], mode="REFLECT").numpy()
    array([3, 2, 1, 2, 3, 2], dtype=int32)
    """
    x = convert_to_tensor(tensor)
    amounts = convert_to_tensor(paddings, dtype_hint=int32)
    kind = str(mode).upper()
    if kind in ("REFLECT", "SYMMETRIC"):
        return mirror_pad_op(x, amounts, mode=kind, name=name)
    if kind != "CONSTANT":
        raise ValueError(f"pad: mode must be 'CONSTANT', 'REFLECT' or 'SYMMETRIC', got {mode!r}.")
    if type(constant_values) in (int, float) and constant_values == 0:
        return pad_op(x, amounts, name=name)
    is_tensor = isinstance(constant_values, Tensor)
    constant = constant_values if is_tensor else convert_to_tensor(constant_values, dtype=x.dtype)
    return pad_v2_op(x, amounts, constant, name=name)
