"""Shapes as tensors, and changing the shape without moving data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.aliases import ArrayNamespace, AxisLike, DTypeLike, ShapeLike, TensorLike
from weft._src.core.context import state
from weft._src.core.convert import array_from, convert_to_tensor
from weft._src.core.dtypes import ANY, DATA, INDEX, DType, int32
from weft._src.core.native_rules import IndexMap
from weft._src.core.shapes import Dim, Dims, Size, TensorShape, format_dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.core.xla_rules import KERNEL
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.ops import batching, graph_forms, rules, static
from weft._src.ops.arrays import source
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import casting, operands
from weft._src.ops.registry import FOLDED, NOT_DIFFERENTIABLE, Op, args, define_op


class RaggedSizesError(TypeError):
    """A shape is that of a ragged tensor, of which only some functions make something."""

    def __init__(self, text: str, shape: Any) -> None:
        super().__init__(text)
        self.shape = shape


def shape_argument(value: Any) -> Tensor:
    """A shape given as a number, list, TensorShape, tensor or array, as an integer vector."""
    if isinstance(value, Tensor):
        return value if value.spec.dims != () else expand_dims_op(value, axis=0)
    if type(value) is int:
        value = (value,)
    if type(value) in (list, tuple) and all(type(d) is int for d in value):
        # Written out because shapes are mostly short lists of ints: 1.5 us instead of 12.
        small = all(-(2**31) <= d < 2**31 for d in value)
        if not all(-(2**63) <= d < 2**63 for d in value):
            raise ValueError(f"A shape must consist of 64-bit integers, got {list(value)}.")
        array = np.array(value, np.int32 if small else np.int64)
        return EagerTensor(array) if state.graph is None else source.make_constant(array, None)
    if isinstance(value, (list, tuple)) and any(d is None for d in value):
        raise ValueError(
            f"A shape must not contain None, got {list(value)}. Give the size as a tensor, like "
            "tf.shape(x)[0], or as -1 to reshape."
        )
    if isinstance(value, np.ndarray) and not value.size:
        value = np.zeros(value.shape, np.int32)  # of no sizes the dtype is chance
    value = _whole(value)
    shape = convert_to_tensor(value)
    return shape if shape.spec.dims != () else expand_dims_op(shape, axis=0)


def _whole(value: Any) -> Any:
    """Sizes that were computed as floats, in an array or as tensors in a list, as integers."""
    if isinstance(value, (list, tuple)):
        return [
            casting.cast(d, int32) if isinstance(d, Tensor) and d.dtype.is_floating else d
            for d in value
        ]
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            integers = value.astype(np.int64)
        return integers if np.array_equal(integers, value) else value
    return value


def _index_dtype(op: str, out_type: Any) -> DType:
    dtype = int32 if out_type is None else dtypes.as_dtype(out_type)
    if not dtype.is_integer:
        raise TypeError(f"{op}: out_type must be an integer dtype, got {dtype.name}.")
    return dtype


def _shape_infer(x: TensorSpec, *, out_type: DType) -> TensorSpec:
    return TensorSpec.of(out_type, (Dim() if x.rank is None else x.rank,))


def _shape_kernel(xp: ArrayNamespace, x: Any, *, out_type: DType) -> Any:
    return xp.array(x.shape, out_type.numpy_dtype)


shape_op: Op = define_op(
    "Shape",
    args("input", ANY),
    infer=_shape_infer,
    kernel=_shape_kernel,
    native=FOLDED,
    measures=lambda dims: dims,
    vjp=NOT_DIFFERENTIABLE,
    smooth="Sizes do not depend on values.",
    trusts_kernel=True,
    fresh=True,
    cheap=True,
    ragged="shape",
    batch=batching.shape_only,
)


def shape(input: TensorLike, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """The shape of a tensor, as a tensor: also known when sizes are unknown while tracing.

    Args:
      input: a tensor of any dtype.
      out_type: an integer dtype; None means int32.

    Returns:
      A vector of dtype `out_type`, with one size for each axis.

    Raises:
      TypeError: if `out_type` is no integer dtype.

    >>> tf.shape([[1, 2, 3]]).numpy()
    array([1, 3], dtype=int32)
    """
    out_type = _index_dtype("shape", out_type)
    return shape_op(convert_to_tensor(input), out_type=out_type, name=name)


def _size_kernel(xp: ArrayNamespace, x: Any, *, out_type: DType) -> Any:
    return xp.array(x.size, out_type.numpy_dtype)


size_op = define_op(
    "Size",
    args("input", ANY),
    infer=lambda x, *, out_type: rules.scalar(out_type),
    kernel=_size_kernel,
    native=FOLDED,
    measures=rules.product,
    vjp=NOT_DIFFERENTIABLE,
    smooth="Sizes do not depend on values.",
    trusts_kernel=True,
    fresh=True,
    cheap=True,
    ragged="size",
    batch=batching.shape_only,
)


def size(input: TensorLike, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """The number of elements, as a tensor.

    Args:
      input: a tensor of any dtype.
      out_type: an integer dtype; None means int32.

    Returns:
      A scalar of dtype `out_type`.

    Raises:
      TypeError: if `out_type` is no integer dtype.

    >>> tf.size([[1, 2, 3]]).numpy()
    np.int32(3)
    """
    out_type = _index_dtype("size", out_type)
    return size_op(convert_to_tensor(input), out_type=out_type, name=name)


rank_op = define_op(
    "Rank",
    args("input", ANY),
    infer=lambda x: rules.scalar(int32),
    kernel=lambda xp, x: xp.array(x.ndim, xp.int32),
    native=FOLDED,
    measures=len,
    vjp=NOT_DIFFERENTIABLE,
    smooth="Sizes do not depend on values.",
    trusts_kernel=True,
    fresh=True,
    cheap=True,
    ragged="rank",
    batch=batching.shape_only,
)


def rank(input: TensorLike, name: str | None = None) -> Tensor:
    """The number of dimensions, as a tensor.

    Args:
      input: a tensor of any dtype.

    Returns:
      An int32 scalar.

    >>> tf.rank([[1, 2, 3]]).numpy()
    np.int32(2)
    """
    return rank_op(convert_to_tensor(input), name=name)


# --- reshape -----------------------------------------------------------------------------------


def _reshape_infer(x: TensorSpec, shape: TensorSpec) -> TensorSpec:
    if shape.rank not in (None, 1):
        raise ShapeError(f"reshape: shape must be a vector, got shape {shape.shape}.")
    wanted = rules.known(shape)
    if wanted is None:
        length = shape.dims[0] if shape.dims is not None else None
        return x.with_dims(None if not isinstance(length, int) else _unknowns(length))
    if sum(1 for d in wanted if _is(d, -1)) > 1:
        raise ShapeError(f"reshape: only one size may be -1, got {format_dims(wanted)}.")
    if any(not isinstance(d, Dim) and d < -1 for d in wanted):
        raise ShapeError(f"reshape: sizes must not be negative, got {format_dims(wanted)}.")
    wanted = [rules.size_from(d) for d in wanted]
    dims = x.dims
    if dims is None:
        return x.with_dims(tuple([Dim() if _is(d, -1) else d for d in wanted]))
    return x.with_dims(_fill_in(dims, wanted))


def _is(d: Any, n: int) -> bool:
    return not isinstance(d, Dim) and d == n


def _unknowns(n: int) -> Dims:
    return tuple([Dim() for _ in range(n)])


def _fill_in(have: Dims, wanted: list[Size]) -> Dims:
    """The shape asked for with -1 worked out; sizes that occur on both sides cancel."""
    missing = any(_is(d, -1) for d in wanted)
    if all(isinstance(d, int) for d in (*have, *wanted)):
        return _fill_in_ints(have, wanted)  # type: ignore[arg-type]
    left, right = _cancelled(have, wanted)
    n_left, n_right = rules.product(left), rules.product(right)
    if missing and isinstance(n_left, int) and isinstance(n_right, int) and n_right:
        rest: Size = n_left // n_right
    elif missing and n_right == 1:
        rest = n_left
    else:
        rest = Dim()
    return tuple([rest if _is(d, -1) else d for d in wanted])


def _cancelled(have: Sequence[Size], wanted: Sequence[Size]) -> tuple[list[Size], list[Size]]:
    """What is left on either side without the sizes that occur on both (and without -1)."""
    left, right = list(have), []
    for d in wanted:
        if d in left:
            left.remove(d)
        elif not _is(d, -1):
            right.append(d)
    return left, right


def _fill_in_ints(have: tuple[int, ...], wanted: list[int]) -> tuple[int, ...]:
    total = math.prod(have)
    out = tuple(wanted)
    if -1 in wanted:
        # With a size 0 on both sides any number would do: what is left without it is the likely
        # one, and the one that is found for unknown sizes.
        left, right = _cancelled(have, wanted)
        rest = math.prod(left) // math.prod([d for d in right if d])
        out = tuple([rest if d == -1 else d for d in wanted])
    if math.prod(out) != total:
        raise ShapeError(
            f"reshape: a tensor of shape {format_dims(have)} ({total} elements) cannot take shape "
            f"{format_dims(wanted)}."
        )
    return out


def _reshape_kernel(xp: ArrayNamespace, x: Any, shape: Any) -> Any:
    wanted = tuple(shape.tolist())
    if wanted and min(wanted) < 0:
        if min(wanted) < -1:
            raise InvalidArgumentError(None, None, f"reshape: negative size in {wanted}.")
        if x.size == 0 and x.dtype != object:
            wanted = _fill_in_ints(x.shape, list(wanted))
    return x.reshape(wanted)


def _reshape_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor, None]:
    return reshape_like(g, ctx.inputs[0]), None


reshape_op = define_op(
    "Reshape",
    args("tensor", ANY) + args("shape", INDEX, is_shape=True),
    infer=_reshape_infer,
    kernel=_reshape_kernel,
    native=IndexMap("reshape"),
    xla=KERNEL,
    vjp=_reshape_vjp,
    shape_arithmetic=True,
    trusts_kernel=True,
    ragged="reshape",
    batch=batching.reshaped,
)


def reshape(tensor: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """The same elements in another shape; one size may be -1 and is worked out.

    Args:
      tensor: a tensor of any dtype.
      shape: the sizes: a list, `tf.TensorShape`, int32 or int64 vector, or one number for a vector.

    Returns:
      A tensor of this shape with the elements of `tensor` in row-major order.

    Raises:
      ShapeError: if the number of elements does not fit, more than one size is -1, or one is below
        -1.
      ValueError: if the shape contains None.

    >>> tf.reshape([1, 2, 3, 4, 5, 6], [2, -1]).numpy()
    array([[1, 2, 3],
           [4, 5, 6]], dtype=int32)
    """
    try:
        sizes = shape_argument(shape)
    except RaggedSizesError as error:
        return error.shape._reshaped(convert_to_tensor(tensor))
    return reshape_op(convert_to_tensor(tensor), sizes, name=name)


def reshape_to(x: Tensor, dims: Dims) -> Tensor:
    """x in a shape that is fully known."""
    return reshape_op(x, convert_to_tensor(array_from(TensorShape(dims))))


def reshape_like(g: Tensor, x: Tensor) -> Tensor:
    """g in the shape of x."""
    dims = x.spec.dims
    if dims is not None and dims == g.spec.dims:
        return g
    if x.spec.is_static:
        return reshape_to(g, dims)  # type: ignore[arg-type]
    return reshape_op(g, shape_op(x, out_type=int32))


# --- axes of size one --------------------------------------------------------------------------


def _expand_dims_infer(x: TensorSpec, *, axis: int) -> TensorSpec:
    if x.dims is None:
        return x
    at = rules.normalize_axis("expand_dims", axis, len(x.dims) + 1)
    return x.with_dims((*x.dims[:at], 1, *x.dims[at:]))


expand_dims_op = define_op(
    "ExpandDims",
    args("input", ANY),
    infer=_expand_dims_infer,
    kernel=lambda xp, x, *, axis: xp.expand_dims(x, axis),
    native=IndexMap("reshape"),
    xla=KERNEL,
    vjp=lambda ctx, g: (reshape_like(g, ctx.inputs[0]),),
    trusts_kernel=True,
    shape_arithmetic=True,
    ragged="expand_dims",
    batch=batching.expanded,
    graphdef=graph_forms.with_axis,
)


def expand_dims(input: TensorLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """The tensor with a new axis of size one.

    Args:
      input: a tensor of any dtype.
      axis: where the new axis is in the result, an integer known while tracing; -1 means at the
        end.

    Returns:
      A tensor with the same elements, of a rank one higher.

    Raises:
      ShapeError: if the axis is not in [-rank - 1, rank].
      TypeError: if `axis` is not one integer.

    >>> tf.expand_dims([1, 2, 3], 0).shape
    TensorShape([1, 3])
    """
    try:
        at = static.static_ints("expand_dims", axis, "axis")
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead("expand_dims", convert_to_tensor(input), axis)
    if isinstance(at, tuple) and len(at) == 1:
        at = at[0]
    if not isinstance(at, int):
        raise TypeError(f"expand_dims: axis must be one integer, got {axis!r}.")
    return expand_dims_op(convert_to_tensor(input), axis=at, name=name)


def _squeeze_infer(x: TensorSpec, *, axis: tuple[int, ...] | None) -> TensorSpec:
    dims = x.dims
    if dims is None:
        return x
    if axis is None:
        if any(isinstance(d, Dim) for d in dims):
            return x.with_dims(None)
        return x.with_dims(tuple([d for d in dims if d != 1]))
    at = rules.normalize_axes("squeeze", axis, len(dims))
    for i in at:
        if not isinstance(dims[i], Dim) and dims[i] != 1:
            raise ShapeError(f"squeeze: axis {i} has size {dims[i]} in shape {x.shape}, not 1.")
    return x.with_dims(tuple([d for i, d in enumerate(dims) if i not in at]))


squeeze_op = define_op(
    "Squeeze",
    args("input", ANY),
    infer=_squeeze_infer,
    kernel=lambda xp, x, *, axis: xp.squeeze(x, axis),
    native=IndexMap("reshape"),
    xla=KERNEL,
    vjp=lambda ctx, g: (reshape_like(g, ctx.inputs[0]),),
    trusts_kernel=True,
    shape_arithmetic=True,
    ragged="squeeze",
    batch=batching.squeezed,
    graphdef=graph_forms.squeeze,
)


def squeeze(input: TensorLike, axis: AxisLike | None = None, name: str | None = None) -> Tensor:
    """The tensor without axes of size one (all of them, or those named).

    Args:
      input: a tensor of any dtype.
      axis: an axis or a list of axes that go; None or an empty list means all of size one.

    Returns:
      A tensor with the same elements, of lower rank.

    Raises:
      ShapeError: if a named axis has another size than one, is named twice, or does not exist.

    >>> tf.squeeze([[[1], [2]]]).numpy()
    array([1, 2], dtype=int32)
    """
    axis = static.static_ints("squeeze", axis, "axis")
    axis = (axis,) if isinstance(axis, int) else axis
    x = convert_to_tensor(input)
    if axis == () and isinstance(x, Tensor):  # of a ragged tensor it means none
        axis = None
    return squeeze_op(x, axis=axis, name=name)


# --- transpose ---------------------------------------------------------------------------------


def _transpose_infer(x: TensorSpec, *, perm: tuple[int, ...] | None) -> TensorSpec:
    dims = x.dims
    if dims is None:
        return x if perm is None else x.with_dims(_unknowns(len(perm)))
    if perm is None:
        return x.with_dims(dims[::-1])
    order = rules.normalize_axes("transpose", perm, len(dims), name="perm")
    if len(order) != len(dims):
        raise ShapeError(
            f"transpose: perm {perm} has {len(perm)} entries for a tensor of shape {x.shape}."
        )
    return x.with_dims(tuple([dims[i] for i in order]))


def _transpose_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    perm = ctx.attrs["perm"]
    if perm is not None:
        perm = tuple([p % len(perm) for p in perm])
        perm = tuple(sorted(range(len(perm)), key=perm.__getitem__))
    return (transpose_op(g, perm=perm),)


transpose_op = define_op(
    "Transpose",
    args("a", DATA),
    infer=_transpose_infer,
    kernel=lambda xp, x, *, perm: xp.transpose(x, perm),
    native=IndexMap("transpose"),
    xla=KERNEL,
    vjp=_transpose_vjp,
    shape_arithmetic=True,
    trusts_kernel=True,
    batch=batching.transposed,
    graphdef=graph_forms.transpose,
)


def transpose(
    a: TensorLike, perm: TensorLike | None = None, conjugate: bool = False, name: str = "transpose"
) -> Tensor:
    """The tensor with its axes in another order; reversed if `perm` is left out.

    Args:
      a: the tensor.
      perm: for each axis of the result the axis of `a` it is, integers known while tracing.
      conjugate: whether complex numbers are conjugated, too.

    Returns:
      A tensor of the same dtype, with sizes in the order of `perm`.

    Raises:
      ShapeError: if `perm` does not name each axis once.

    >>> tf.transpose([[1, 2, 3], [4, 5, 6]]).numpy()
    array([[1, 4],
           [2, 5],
           [3, 6]], dtype=int32)
    """
    try:
        perm = static.static_ints("transpose", perm, "perm")
    except static.UnknownWhileTracingError as unknown:
        found = unknown.instead("transpose", convert_to_tensor(a), perm)
        return operands.conj(found) if conjugate else found
    out = transpose_op(
        convert_to_tensor(a), perm=(perm,) if isinstance(perm, int) else perm, name=name
    )
    return operands.conj(out) if conjugate else out


# --- broadcast ---------------------------------------------------------------------------------


def _broadcast_to_infer(x: TensorSpec, shape: TensorSpec) -> TensorSpec:
    dims = rules.dims_from_value("broadcast_to", shape)
    if dims is None or x.dims is None:
        return x.with_dims(dims)
    if len(dims) < len(x.dims):
        raise ShapeError(f"broadcast_to: shape {format_dims(dims)} has lower rank than {x.shape}.")
    for have, want in zip(reversed(x.dims), reversed(dims), strict=False):
        if isinstance(have, int) and have != 1:
            rules.unify(
                "broadcast_to", have, want, f"the sizes of {x.shape} and {format_dims(dims)}"
            )
    return x.with_dims(dims)


def _broadcast_to_kernel(xp: ArrayNamespace, x: Any, shape: Any) -> Any:
    return xp.broadcast_to(x, tuple(shape.tolist()))


broadcast_to_op: Op = define_op(
    "BroadcastTo",
    args("input", DATA) + args("shape", INDEX, is_shape=True),
    infer=_broadcast_to_infer,
    kernel=_broadcast_to_kernel,
    native=IndexMap("broadcast"),
    xla=KERNEL,
    vjp=lambda ctx, g: (operands.sum_to(g, ctx.inputs[0]), None),
    shape_arithmetic=True,
    trusts_kernel=True,
    batch=batching.broadcast,
)


def broadcast_to(input: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """The tensor repeated along axes of size one to have the given shape.

    Args:
      input: the tensor.
      shape: the sizes: a list, `tf.TensorShape` or int32 or int64 vector. There may be more than
        `input` has axes: those come in front.

    Returns:
      A tensor of this shape, with the dtype of `input`.

    Raises:
      ShapeError: if an axis is neither of the wanted size nor of size one, or the rank is too low.

    >>> tf.broadcast_to([1, 2, 3], [2, 3]).numpy()
    array([[1, 2, 3],
           [1, 2, 3]], dtype=int32)
    """
    try:
        sizes = shape_argument(shape)
    except RaggedSizesError as error:
        return error.shape._broadcast(convert_to_tensor(input))
    return broadcast_to_op(convert_to_tensor(input), sizes, name=name)
