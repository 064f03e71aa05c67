"""Where the largest elements are, and sorting. NaN counts as larger than every number."""

from __future__ import annotations

from typing import Any, NamedTuple

from weft._src.core import dtypes
from weft._src.core.aliases import ArrayNamespace, AxisLike, DTypeLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import BOOL, INDEX, REAL, DType, int16, int32, int64, uint16
from weft._src.core.native_rules import Special
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL, Lowered
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops import batching, graph_forms, rules, static
from weft._src.ops.arrays import joining, shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.indexing import along_axis
from weft._src.ops.registry import NOT_DIFFERENTIABLE, Op, args, define_op

# --- argmax and argmin -------------------------------------------------------------------------


_MANY = 1 << 14


def _holds_nan(xp: ArrayNamespace, x: Array, found: Array, axis: int) -> bool:
    """Whether one of the elements that were found is NaN; for few it is quicker to look at all."""
    if x.size > _MANY and axis == x.ndim - 1 and x.flags.c_contiguous:
        places = xp.reshape(found, (-1,)) + xp.arange(found.size) * x.shape[-1]
        x = xp.reshape(x, (-1,))[places]
    elif x.size > _MANY:
        x = xp.take_along_axis(x, xp.expand_dims(found, axis), axis)
    return bool(xp.isnan(xp.max(x)))


def _define_arg(name: str, function: str, best: str) -> Op:
    worst = -float("inf") if best == "maximum" else float("inf")

    def infer(x: TensorSpec, *, axis: int, output_type: DType) -> TensorSpec:
        if x.dims is None:
            return TensorSpec.of(output_type, None)
        at = rules.normalize_axis(function, axis, len(x.dims))
        if isinstance(x.dims[at], int) and x.dims[at] == 0:
            raise ShapeError(f"{function}: axis {axis} of shape {x.shape} is empty.")
        return TensorSpec.of(output_type, rules.replace(x.dims, at))

    def kernel(xp: ArrayNamespace, x: Array, *, axis: int, output_type: DType) -> Any:
        find = getattr(xp, function)
        axis = rules.normalize_axis(function, axis, x.ndim)  # NumPy lets scalars pass
        wide = xp.widen(x)
        out = find(wide, axis)
        # NumPy finds a NaN first; here it is never the best, as long as there is another.
        if wide.dtype.kind == "f" and wide.size and _holds_nan(xp, wide, out, axis):
            out = find(xp.where(xp.isnan(wide), worst, wide), axis)
        return out.astype(output_type.numpy_dtype)

    return define_op(
        name,
        args("input", REAL | BOOL),
        batch=batching.along_axis,
        infer=infer,
        kernel=kernel,
        native=Special("first_place", best=best),
        xla=Lowered("first_place", best=best),
        vjp=NOT_DIFFERENTIABLE,
        smooth="Weigh all places with tf.nn.softmax(x) instead of choosing one.",
        trusts_kernel=True,
        fresh=True,
        graphdef=graph_forms.with_axis,
    )


argmax_op = _define_arg("ArgMax", "argmax", "maximum")
argmin_op = _define_arg("ArgMin", "argmin", "minimum")


def _place_type(
    op: str, value: DTypeLike, allowed: frozenset[DType], name: str = "output_type"
) -> DType:
    dtype = dtypes.as_dtype(value)
    if dtype not in allowed:
        names = ", ".join(sorted(d.name for d in allowed))
        raise DTypeError(f"{op}: {name} must be one of {names}, got {dtype.name}.")
    return dtype


def argmax(
    input: TensorLike,
    axis: AxisLike | None = None,
    output_type: DTypeLike = int64,
    name: str | None = None,
) -> Tensor:
    """The index of the largest element along an axis (the first one); the first of equal ones.

    Args:
      input: a tensor of real numbers or truth values; NaN is never the largest if there is another.
      axis: the axis, counted from the end if negative; None means 0.
      output_type: the dtype of the result: int16, uint16, int32 or int64.

    Returns:
      A tensor of this dtype without the axis.

    Raises:
      ShapeError: if there is no such axis, or it is empty.
      DTypeError: if `output_type` or the dtype of `input` is another one.

    >>> tf.argmax([[1, 9, 3], [7, 2, 7]], axis=1).numpy()
    array([1, 0])
    """
    try:
        at = 0 if axis is None else joining.single_axis("argmax", axis)
    except static.UnknownWhileTracingError as unknown:
        x = convert_to_tensor(input)
        return unknown.instead("without", argmax, x, axis, output_type=output_type)
    dtype = _place_type("argmax", output_type, INDEX | {int16, uint16})
    return argmax_op(convert_to_tensor(input), axis=at, output_type=dtype, name=name)


def argmin(
    input: TensorLike,
    axis: AxisLike | None = None,
    output_type: DTypeLike = int64,
    name: str | None = None,
) -> Tensor:
    """The index of the smallest element along an axis (the first one); the first of equal ones.

    Args:
      input: a tensor of real numbers or truth values; NaN is never the smallest if there is
        another.
      axis: the axis, counted from the end if negative; None means 0.
      output_type: the dtype of the result: int32 or int64.

    Returns:
      A tensor of this dtype without the axis.

    Raises:
      ShapeError: if there is no such axis, or it is empty.
      DTypeError: if `output_type` or the dtype of `input` is another one.

    >>> tf.argmin([[1, 9, 3], [7, 2, 7]], axis=1).numpy()
    array([0, 1])
    """
    try:
        at = 0 if axis is None else joining.single_axis("argmin", axis)
    except static.UnknownWhileTracingError as unknown:
        x = convert_to_tensor(input)
        return unknown.instead("without", argmin, x, axis, output_type=output_type)
    dtype = _place_type("argmin", output_type, INDEX)
    return argmin_op(convert_to_tensor(input), axis=at, output_type=dtype, name=name)


# --- sorting -----------------------------------------------------------------------------------


def _sorted_order(xp: ArrayNamespace, x: Array, axis: int, descending: bool) -> Array:
    """Indices that sort x along an axis; equal elements keep their order."""
    axis = rules.normalize_axis("sort", axis, x.ndim)  # NumPy lets scalars pass
    x = xp.widen(x)
    if not descending:
        return x.argsort(axis, kind="stable")
    # Sorted backwards and read backwards, so that equal elements keep their order here too.
    backwards = (slice(None),) * axis + (slice(None, None, -1),)
    return x.shape[axis] - 1 - x[backwards].argsort(axis, kind="stable")[backwards]


def _sort_infer(x: TensorSpec, *, axis: int, descending: bool) -> TensorSpec:
    if x.dims is not None:
        rules.normalize_axis("sort", axis, len(x.dims))
    return x


def _sort_kernel(xp: ArrayNamespace, x: Array, *, axis: int, descending: bool) -> Array:
    out = xp.sort(xp.widen(x), axis).astype(x.dtype, copy=False)
    return xp.flip(out, axis) if descending else out


def _sort_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    x = ctx.inputs[0]
    order = argsort_op(x, **ctx.attrs)
    shape = shapes.shape_op(x, out_type=int32)
    return (along_axis.put_along_op(shape, g, order, axis=ctx.attrs["axis"]),)


sort_op = define_op(
    "Sort",
    args("values", REAL),
    infer=_sort_infer,
    kernel=_sort_kernel,
    native=Special("sort"),
    xla=KERNEL,
    vjp=_sort_vjp,
    trusts_kernel=True,
    fresh=True,
    ragged="sort",
    batch=batching.along_axis,
    graphdef=graph_forms.sort,
)
argsort_op = define_op(
    "ArgSort",
    args("values", REAL),
    infer=lambda x, **attrs: _sort_infer(x, **attrs).with_dtype(int32),
    kernel=lambda xp, x, *, axis, descending: _sorted_order(xp, x, axis, descending).astype(
        xp.int32
    ),
    native=Special("argsort"),
    xla=Lowered("argsort"),
    vjp=NOT_DIFFERENTIABLE,
    trusts_kernel=True,
    fresh=True,
    ragged="argsort",
    batch=batching.along_axis,
    graphdef=graph_forms.argsort,
)


def _descending(op: str, direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"{op}: direction must be 'ASCENDING' or 'DESCENDING', got {direction!r}.")
    return direction == "DESCENDING"


def sort(
    values: TensorLike, axis: AxisLike = -1, direction: str = "ASCENDING", name: str | None = None
) -> Tensor:
    """The elements in order along an axis; NaN is the largest.

    Args:
      values: a tensor of real numbers, of rank 1 or more.
      axis: the axis, counted from the end if negative.
      direction: "ASCENDING" or "DESCENDING".

    Returns:
      A tensor of the shape and dtype of `values`.

    Raises:
      ValueError: if there is no such direction.
      ShapeError: if there is no such axis.
      DTypeError: if `values` are not real numbers.

    >>> tf.sort([3.0, 1.0, 2.0], direction="DESCENDING").numpy()
    array([3., 2., 1.], dtype=float32)
    """
    descending = _descending("sort", direction)
    x = convert_to_tensor(values)
    try:
        at = joining.single_axis("sort", axis)
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead("along", sort, x, axis, direction=direction)
    return sort_op(x, axis=at, descending=descending, name=name)


def argsort(
    values: TensorLike,
    axis: AxisLike = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """The indices that put the elements in order along an axis; always stable.

    Args:
      values: a tensor of real numbers, of rank 1 or more.
      axis: the axis, counted from the end if negative.
      direction: "ASCENDING" or "DESCENDING".
      stable: accepted for compatibility, ignored: equal elements always keep their order.

    Returns:
      An int32 tensor of the shape of `values`.

    Raises:
      ValueError: if there is no such direction.
      ShapeError: if there is no such axis.
      DTypeError: if `values` are not real numbers.

    >>> tf.argsort([3.0, 1.0, 2.0]).numpy()
    array([1, 2, 0], dtype=int32)
    """
    descending = _descending("argsort", direction)
    x = convert_to_tensor(values)
    try:
        at = joining.single_axis("argsort", axis)
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead("along", argsort, x, axis, direction=direction)
    return argsort_op(x, axis=at, descending=descending, name=name)


# --- top_k -------------------------------------------------------------------------------------


class TopKV2(NamedTuple):
    """The largest elements and where they were."""

    values: Tensor
    indices: Tensor


def _top_k_infer(
    x: TensorSpec, k: TensorSpec, *, sorted: bool, index_type: DType
) -> tuple[TensorSpec, TensorSpec]:
    rules.check_rank_at_least("top_k", x, 1, name="input")
    rules.check_rank("top_k", k, 0, name="k")
    if x.dims is None:
        return x, x.with_dtype(index_type)
    size = rules.known(k)
    size = Dim() if size is None else size
    _check_k(size, x.dims[-1])
    out = x.with_dims((*x.dims[:-1], size))
    return out, out.with_dtype(index_type)


def _check_k(k: Any, size: Any) -> None:
    if isinstance(k, int) and (k < 0 or (isinstance(size, int) and k > size)):
        raise ShapeError(
            f"top_k: k must be between 0 and the size of the last axis, {size}, got {k}."
        )


_LONG, _FEW = 512, 16  # from so many elements on, one in so many is found faster than sorted


def _largest(xp: ArrayNamespace, x: Array, count: int) -> Array:
    """The indices of the largest elements of each row, in the order that sorting would give."""
    rows = xp.widen(x).reshape(-1, x.shape[-1])
    out = xp.empty((len(rows), count), xp.int64)
    for i, row in enumerate(rows):
        best = row.copy()
        best.partition(-count)
        # Everything if there is NaN, which is equal to nothing and counts as largest.
        (found,) = (~(row < best[-count:].min())).nonzero()
        out[i] = found[_sorted_order(xp, row[found], 0, True)[:count]]
    return out.reshape(*x.shape[:-1], count)


def _top_k_kernel(
    xp: ArrayNamespace, x: Array, k: Any, *, sorted: bool, index_type: DType
) -> tuple[Array, Array]:
    if not x.ndim or k.ndim:
        raise ValueError("the type rule says what is wrong")
    count = int(k)
    _check_k(count, x.shape[-1])
    if count == 1:
        order = xp.expand_dims(xp.argmax(xp.widen(x), -1), -1)
    elif count * _FEW <= x.shape[-1] >= _LONG:
        order = _largest(xp, x, count)
    else:
        order = _sorted_order(xp, x, -1, True)[..., :count]
    values = x[order] if x.ndim == 1 else xp.take_along_axis(x, order, -1)
    return values, order.astype(index_type.numpy_dtype)


def _top_k_vjp(ctx: VjpContext, g: Tensor | None, _: Tensor | None) -> tuple[Tensor | None, None]:
    if g is None:
        return None, None
    indices = ctx.outputs[1]
    shape = shapes.shape_op(ctx.inputs[0], out_type=int32)
    return along_axis.put_along_op(shape, g, indices, axis=-1), None


top_k_op = define_op(
    "TopKV2",
    args("input", REAL) + args("k", INDEX | {int16}, is_shape=True),
    infer=_top_k_infer,
    kernel=_top_k_kernel,
    native=Special("top_k"),
    xla=Lowered("top_k"),
    vjp=_top_k_vjp,
    outputs=2,
    trusts_kernel=True,
    fresh=True,
    slow_kernel=True,
    batch=batching.leading,
)


def top_k(
    input: TensorLike,
    k: TensorLike = 1,
    sorted: bool = True,
    index_type: DTypeLike = int32,
    name: str | None = None,
) -> TopKV2:
    """The k largest elements along the last axis and their indices; of equal ones the first.

    Args:
      input: a tensor of real numbers, of rank 1 or more.
      k: how many, an integer or integer scalar from 0 to the size of the last axis.
      sorted: accepted for compatibility: the elements are always in descending order.
      index_type: the dtype of the indices: int16, int32 or int64.

    Returns:
      A named tuple (values, indices) of two tensors whose last axis has size `k`.

    Raises:
      ShapeError: if `k` is out of range, or `input` a scalar.
      DTypeError: if `index_type` or the dtype of `input` is another one.

    >>> values, indices = tf.math.top_k([1, 3, 2, 3], k=2)
    >>> values.numpy(), indices.numpy()
    (array([3, 3], dtype=int32), array([1, 3], dtype=int32))
    """
    dtype = _place_type("top_k", index_type, INDEX | {int16}, "index_type")
    count = convert_to_tensor(k, dtype_hint=int32)
    x = convert_to_tensor(input)
    return TopKV2(*top_k_op(x, count, sorted=bool(sorted), index_type=dtype, name=name))
