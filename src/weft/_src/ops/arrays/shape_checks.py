"""Shapes of several tensors, and shapes that are promised: shape_n, broadcasting, ensure_shape."""

from __future__ import annotations

from weft._src.core.aliases import ArrayNamespace, DTypeLike, ShapeLike, TensorLike
from weft._src.core.convert import convert_to_tensor, items_of
from weft._src.core.dtypes import ANY, INDEX, int32
from weft._src.core.native_rules import IndexMap
from weft._src.core.shapes import Dim, TensorShape, format_dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL
from weft._src.errors import ShapeError
from weft._src.ops import batching, rules
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.registry import FOLDED, NOT_DIFFERENTIABLE, Op, args, define_op


def shape_n(
    input: TensorLike, out_type: DTypeLike = int32, name: str | None = None
) -> list[Tensor]:
    """The shapes of several tensors.

    Args:
      input: a list of tensors.
      out_type: an integer dtype.

    Returns:
      A list with an integer vector for each tensor, as `tf.shape` gives it.

    Raises:
      TypeError: if `input` is no list, or `out_type` no integer dtype.

    >>> [s.numpy() for s in tf.shape_n([[1, 2], [[3]]])]
    [array([2], dtype=int32), array([1, 1], dtype=int32)]
    """
    return [shapes.shape(x, out_type) for x in items_of("shape_n", input, "input")]


def broadcast_static_shape(shape_x: TensorLike, shape_y: TensorLike) -> TensorShape:
    """The shape that two shapes broadcast to, as far as it is known.

    Args:
      shape_x: a `tf.TensorShape`, or a list of sizes with None for unknown ones.
      shape_y: another one.

    Returns:
      A `tf.TensorShape`; of unknown rank if one of the shapes is.

    Raises:
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3]))
    TensorShape([2, 3])
    """
    x, y = TensorShape(shape_x), TensorShape(shape_y)
    dims = rules.broadcast_dims("broadcast_static_shape", x.dims_or_none, y.dims_or_none)
    return TensorShape.of(dims)


def _broadcast_args_infer(x: TensorSpec, y: TensorSpec) -> TensorSpec:
    sizes = []
    for name, spec in (("shape_x", x), ("shape_y", y)):
        rules.check_rank("broadcast_dynamic_shape", spec, 1, name=name)
        sizes.append(Dim() if spec.dims is None else spec.dims[0])
    known = all(isinstance(n, int) for n in sizes)
    a, b = rules.known(x), rules.known(y)
    if a is not None and b is not None:
        rules.broadcast_dims("broadcast_dynamic_shape", tuple(a), tuple(b))
    return x.with_dims((max(sizes) if known else Dim(),))  # type: ignore[type-var]


def _broadcast_args_kernel(xp: ArrayNamespace, x: Array, y: Array) -> Array:
    dims = rules.broadcast_dims("broadcast_dynamic_shape", tuple(x.tolist()), tuple(y.tolist()))
    return xp.array(dims, x.dtype)


broadcast_args_op = define_op(
    "BroadcastArgs",
    args("shape_x shape_y", INDEX, is_shape=True),
    infer=_broadcast_args_infer,
    kernel=_broadcast_args_kernel,
    native=FOLDED,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    shape_arithmetic=True,
)


def _broadcast_axes_infer(x: TensorSpec, y: TensorSpec) -> tuple[TensorSpec, TensorSpec]:
    for name, spec in (("s0", x), ("s1", y)):
        rules.check_rank("BroadcastGradientArgs", spec, 1, name=name)
    return x.with_dims((Dim(),)), y.with_dims((Dim(),))


def _broadcast_axes_kernel(xp: ArrayNamespace, x: Array, y: Array) -> tuple[Array, Array]:
    one, other = tuple(x.tolist()), tuple(y.tolist())
    rank = len(rules.broadcast_dims("BroadcastGradientArgs", one, other) or ())
    axes: list[list[int]] = [[], []]
    for sizes, found in zip((one, other), axes, strict=True) if one != other else ():
        missing = rank - len(sizes)
        found += [*range(missing), *[missing + i for i, n in enumerate(sizes) if n == 1]]
    return xp.array(axes[0], x.dtype), xp.array(axes[1], y.dtype)


# The axes over which the gradient of what is broadcast has to be summed, for each of two shapes.
broadcast_axes_op = define_op(
    "BroadcastGradientArgs",
    args("s0 s1", INDEX),
    infer=_broadcast_axes_infer,
    kernel=_broadcast_axes_kernel,
    native=FOLDED,
    vjp=NOT_DIFFERENTIABLE,
    outputs=2,
    fresh=True,
)


def broadcast_dynamic_shape(shape_x: TensorLike, shape_y: TensorLike) -> Tensor:
    """The shape that two shapes broadcast to, as a tensor.

    Args:
      shape_x: a shape, an int32 or int64 vector.
      shape_y: another one. What is no tensor takes the dtype of the one that is.

    Returns:
      A vector, as long as the longer one, with the dtype of both.

    Raises:
      ShapeError: if the shapes cannot be broadcast together, or are not vectors.

    >>> tf.broadcast_dynamic_shape([2, 1], [3]).numpy()
    array([2, 3], dtype=int32)
    """
    x, y = shapes.shape_argument(shape_x), shapes.shape_argument(shape_y)
    if x.dtype is not y.dtype:
        if not isinstance(shape_y, Tensor):
            y = convert_to_tensor(shape_y, dtype=x.dtype)
        elif not isinstance(shape_x, Tensor):
            x = convert_to_tensor(shape_x, dtype=y.dtype)
    return broadcast_args_op(x, y)


# --- ensure_shape ------------------------------------------------------------------------------

Promise = tuple[int | None, ...] | None


def _ensure_shape_infer(x: TensorSpec, *, shape: Promise) -> TensorSpec:
    if shape is None or x.dims is None:
        return x if shape is None else x.with_dims(TensorShape(shape).dims_or_none)
    if not x.shape.is_compatible_with(TensorShape(shape)):
        raise ShapeError(
            f"ensure_shape: the shape is {x.shape}, which is not compatible with the promised "
            f"{format_dims(TensorShape(shape).dims_or_none)}."
        )
    dims = [d if isinstance(d, int) or n is None else n for d, n in zip(x.dims, shape, strict=True)]
    return x.with_dims(tuple(dims))


def _ensure_shape_kernel(xp: ArrayNamespace, x: Array, *, shape: Promise) -> Array:
    if shape is not None:
        _ensure_shape_infer(TensorSpec.of(int32, x.shape), shape=shape)  # only shapes are compared
    return x


ensure_shape_op: Op = define_op(
    "EnsureShape",
    args("x", ANY),
    infer=_ensure_shape_infer,
    kernel=_ensure_shape_kernel,
    native=IndexMap("identity"),
    xla=KERNEL,
    vjp=lambda ctx, g: (ensure_shape_op(g, shape=ctx.attrs["shape"]),),
    shape_arithmetic=True,
    trusts_kernel=True,
    batch=batching.ensured,
)


def ensure_shape(x: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """x itself, after a check at run time that its shape is as promised; None fits any size.

    Args:
      x: a tensor of any dtype.
      shape: the promised shape, with None for sizes that may be anything; None fits any rank.

    Returns:
      `x`, with a shape that is known as far as `x` or the promise tells.

    Raises:
      ShapeError: if the shape is another one: while tracing if that is known, else when it runs.

    >>> tf.ensure_shape([[1, 2]], [None, 2]).shape
    TensorShape([1, 2])
    """
    promised = TensorShape(shape)
    plain = None if promised.rank is None else tuple(promised)
    return ensure_shape_op(convert_to_tensor(x), shape=plain, name=name)
