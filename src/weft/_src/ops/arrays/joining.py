"""Joining tensors and taking them apart again: concat, stack, unstack, split."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, AxisLike, TensorLike
from weft._src.core.convert import convert_to_tensor, items_of
from weft._src.core.dtypes import DATA, INDEX, int32
from weft._src.core.growing import GrowingList
from weft._src.core.native_rules import IndexMap
from weft._src.core.shapes import Dim, Size
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.ops import batching, graph_forms, rules, static
from weft._src.ops.arrays import shape as shapes, source
from weft._src.ops.contexts import VjpContext
from weft._src.ops.registry import Op, args, define_op

Tensors = tuple[Tensor, ...]


def matching_tensors(values: Any) -> list[Tensor]:
    """Tensors out of a list; whatever is not one yet takes the dtype of the first tensor."""
    items = list(values)
    found = next((v for v in items if isinstance(v, Tensor) or hasattr(v, "__tf_tensor__")), None)
    dtype = None if found is None else found.dtype
    out: list[Tensor] = []
    for item in items:
        out.append(item if isinstance(item, Tensor) else convert_to_tensor(item, dtype=dtype))
        dtype = dtype or out[0].dtype
    return out


# --- concat ------------------------------------------------------------------------------------


def _concat_infer(*values: TensorSpec, axis: int) -> TensorSpec:
    known = [v for v in values if v.dims is not None]
    if not known:
        return values[0]
    first = known[0].dims
    assert first is not None
    if not first:
        raise ShapeError("concat: scalars cannot be joined along an axis. Use tf.stack.")
    at = rules.normalize_axis("concat", axis, len(first))
    dims = list(first)
    dims[at] = 0
    for i, value in enumerate(values):
        if value.dims is None:
            dims[at] = Dim()
            continue
        if len(value.dims) != len(first):
            raise ShapeError(
                f"concat: values must have equal rank, got shapes {known[0].shape} and "
                f"{value.shape} (values[{i}])."
            )
        for k, size in enumerate(value.dims):
            if k == at:
                dims[k] = dims[k] + size
            else:
                what = f"the sizes of axis {k} in {known[0].shape} and {value.shape} (values[{i}])"
                dims[k] = rules.unify("concat", dims[k], size, what)
    return values[0].with_dims(tuple(dims))


def sizes_along(values: Sequence[Tensor], axis: int) -> Tensor:
    """The sizes that tensors have along an axis, as a vector."""
    static_sizes = [None if v.spec.dims is None else v.spec.dims[axis] for v in values]
    if all(isinstance(size, int) for size in static_sizes):
        return convert_to_tensor(np.array(static_sizes, np.int32))
    return source.pack_op(*[shapes.shape_op(v, out_type=int32)[axis] for v in values], axis=0)


def _concat_vjp(ctx: VjpContext, g: Tensor) -> Tensors:
    axis = ctx.attrs["axis"]
    return split_v_op(g, sizes_along(ctx.inputs, axis), num=len(ctx.inputs), axis=axis)


concat_op = define_op(
    "ConcatV2",
    args("*values", DATA),
    infer=_concat_infer,
    kernel=lambda xp, *values, axis: xp.concatenate(values, axis),
    native=IndexMap("concat"),
    xla=KERNEL,
    vjp=_concat_vjp,
    trusts_kernel=True,
    fresh=True,
    shape_arithmetic=True,
    ragged="concat",
    batch=batching.joined_along_axis,
    graphdef=graph_forms.concat,
)


def concat(values: TensorLike, axis: AxisLike, name: str = "concat") -> Tensor:
    """Tensors joined along an axis they all have.

    Args:
      values: a list of tensors of one dtype, equal in rank and in all sizes but that of `axis`.
        What is not a tensor yet takes the dtype of the first tensor.
      axis: the axis, an integer or integer scalar; counted from the end if negative.

    Returns:
      A tensor whose size along `axis` is the sum of the sizes of `values`.

    Raises:
      ShapeError: if there are no values, they are scalars, their shapes do not fit, or there is no
        such axis.
      DTypeError: if tensors have different dtypes.

    >>> tf.concat([[[1, 2]], [[3, 4], [5, 6]]], 0).numpy()
    array([[1, 2],
           [3, 4],
           [5, 6]], dtype=int32)
    """
    try:
        at = single_axis("concat", axis)
    except static.UnknownWhileTracingError as unknown:
        parts = matching_tensors(values if isinstance(values, (list, tuple)) else [values])
        return unknown.instead("concat", parts, axis)
    if isinstance(values, GrowingList):
        return values.joined(at)
    tensors = matching_tensors(values if isinstance(values, (list, tuple)) else [values])
    if not tensors:
        raise ShapeError("concat: at least one tensor is needed, got none.")
    if len(tensors) == 1:
        return source.identity_op(tensors[0], name=name)
    return concat_op(*tensors, axis=at, name=name)


def single_axis(op: str, axis: AxisLike, name: str = "axis") -> int:
    """An axis as a number; a list or vector of one number will do."""
    found = static.static_ints(op, axis, name)
    if isinstance(found, tuple) and len(found) == 1:
        return found[0]
    if not isinstance(found, int):
        raise TypeError(f"{op}: {name} must be one integer, got {axis!r}.")
    return found


# --- stack and unstack -------------------------------------------------------------------------


def stack(values: TensorLike, axis: AxisLike = 0, name: str = "stack") -> Tensor:
    """Tensors of one shape joined along a new axis.

    Args:
      values: a list of tensors of one shape and dtype, or a tensor, which stands for its rows.
      axis: where the new axis is in the result; counted from the end if negative.

    Returns:
      A tensor of a rank one higher, its size along `axis` being the number of values.

    Raises:
      ShapeError: if there are no values, their shapes differ, or there is no such axis.
      DTypeError: if tensors have different dtypes.

    >>> tf.stack([[1, 2, 3], [4, 5, 6]], axis=1).numpy()
    array([[1, 4],
           [2, 5],
           [3, 6]], dtype=int32)
    """
    at = single_axis("stack", axis)
    if isinstance(values, GrowingList):
        return values.stacked(at)
    if hasattr(values, "__tf_tensor__") and at == 0:
        return convert_to_tensor(values)
    items = unstack(values) if isinstance(values, Tensor) else items_of("stack", values, "values")
    if not any(isinstance(v, Tensor) or hasattr(v, "__tf_tensor__") for v in items) and at == 0:
        try:
            return convert_to_tensor(items, name=name)  # numbers of mixed kinds find their dtype
        except ValueError:
            pass  # ragged: the op names the two shapes that differ
    if not items:
        raise ShapeError("stack: at least one tensor is needed, got none.")
    return source.pack_op(*matching_tensors(items), axis=at, name=name)


def unstack(
    value: TensorLike, num: int | None = None, axis: AxisLike = 0, name: str = "unstack"
) -> list[Any]:
    """The slices of a tensor along an axis, which they lose, as a list.

    Args:
      value: a tensor of rank 1 or more.
      num: the size of the axis; None means what is known of it while tracing.
      axis: the axis, an integer known while tracing; counted from the end if negative.

    Returns:
      A list of tensors, as many as the axis has elements, of a rank one lower.

    Raises:
      ValueError: if `num` is left out and the size is not known while tracing.
      ShapeError: if `num` is not the size of the axis, or there is no such axis.

    >>> [t.numpy() for t in tf.unstack([[1, 2, 3], [4, 5, 6]])]
    [array([1, 2, 3], dtype=int32), array([4, 5, 6], dtype=int32)]
    """
    x = convert_to_tensor(value)
    at = single_axis("unstack", axis)
    if num is None:
        num = _static_size("unstack", x, at, "num")
    return list(source.unpack_op(x, num=num, axis=at, name=name))


def _static_size(op: str, x: Tensor, axis: int, argument: str) -> int:
    if x.spec.dims is None:
        size: Any = None
    else:
        size = x.spec.dims[rules.normalize_axis(op, axis, len(x.spec.dims))]
    if not isinstance(size, int):
        raise ValueError(
            f"{op}: the size of axis {axis} of {x!r} is not known while tracing, and it is the "
            f"number of results. Pass it as `{argument}`."
        )
    return size


# --- split -------------------------------------------------------------------------------------


def _axis_of(op: str, x: TensorSpec, axis: int) -> int | None:
    rules.check_rank_at_least(op, x, 1, name="value")
    return None if x.dims is None else rules.normalize_axis(op, axis, len(x.dims))


def _split_infer(x: TensorSpec, *, num: int, axis: int) -> tuple[TensorSpec, ...]:
    at = _axis_of("split", x, axis)
    if at is None or x.dims is None:
        return (x,) * num
    size = x.dims[at]
    if isinstance(size, Dim):
        return (x.with_dims(rules.replace(x.dims, at, Dim())),) * num
    if size % num:
        raise _uneven(size, num, axis)
    return (x.with_dims(rules.replace(x.dims, at, size // num)),) * num


def _uneven(size: int, num: int, axis: int) -> ShapeError:
    return ShapeError(
        f"split: axis {axis} of size {size} cannot be split into {num} equal parts. Pass a number "
        "that divides the size, or a list of sizes."
    )


def _cut(x: Array, sizes: Sequence[int], axis: int) -> tuple[Array, ...]:
    lead = (slice(None),) * (axis % x.ndim)
    out, start = [], 0
    for size in sizes:
        out.append(x[(*lead, slice(start, start + size))])
        start += size
    return tuple(out)


def _split_kernel(xp: ArrayNamespace, x: Array, *, num: int, axis: int) -> tuple[Array, ...]:
    size = x.shape[axis]
    if size % num:
        raise _uneven(size, num, axis)
    return _cut(x, [size // num] * num, axis)


def _split_vjp(ctx: VjpContext, *gs: Tensor | None) -> tuple[Tensor]:
    filled = [ctx.zeros_like_output(i) if g is None else g for i, g in enumerate(gs)]
    return (concat(filled, ctx.attrs["axis"]),)


split_op = define_op(
    "Split",
    args("value", DATA),
    infer=_split_infer,
    kernel=_split_kernel,
    native=IndexMap("split"),
    xla=KERNEL,
    vjp=_split_vjp,
    outputs=None,
    shape_arithmetic=True,
    trusts_kernel=True,
    ragged="split",
    batch=batching.along_axis,
    graphdef=graph_forms.split,
)


def _split_v_infer(
    x: TensorSpec, sizes: TensorSpec, *, num: int, axis: int
) -> tuple[TensorSpec, ...]:
    rules.check_rank("split", sizes, 1, name="num_or_size_splits")
    if sizes.dims is not None:
        what = "num and the length of num_or_size_splits"
        rules.unify("split", num, sizes.dims[0], what)
    at = _axis_of("split", x, axis)
    if at is None or x.dims is None:
        return (x,) * num
    wanted: list[Size] = rules.known(sizes) or [Dim() for _ in range(num)]
    if all(isinstance(d, int) for d in (*wanted, x.dims[at])):
        wanted = list(_exact_sizes(wanted, x.dims[at]))
    wanted = [Dim() if d == -1 else rules.size_from(d) for d in wanted]
    return tuple([x.with_dims(rules.replace(x.dims, at, d)) for d in wanted])


def _exact_sizes(sizes: Sequence[Any], total: Any) -> list[int]:
    """The sizes with -1 worked out; an error unless they are what the axis has."""
    known = sum(size for size in sizes if size != -1)
    free = list(sizes).count(-1)
    if any(size < -1 for size in sizes) or free > 1:
        problem = "sizes must not be negative, except for one -1"
    elif (free and known > total) or (not free and known != total):
        problem = "the sizes do not add up to the size of the axis"
    else:
        return [total - known if size == -1 else size for size in sizes]
    raise ShapeError(f"split: {problem}, got {list(sizes)} for an axis of size {total}.")


def _split_v_kernel(
    xp: ArrayNamespace, x: Array, sizes: Array, *, num: int, axis: int
) -> tuple[Array, ...]:
    if sizes.shape != (num,):
        raise ShapeError(f"split: {num} sizes are wanted, got a tensor of shape {sizes.shape}.")
    return _cut(x, _exact_sizes(sizes.tolist(), x.shape[axis]), axis)


def _split_v_vjp(ctx: VjpContext, *gs: Tensor | None) -> tuple[Tensor, None]:
    return _split_vjp(ctx, *gs)[0], None


split_v_op: Op = define_op(
    "SplitV",
    args("value", DATA) + args("num_or_size_splits", INDEX, is_shape=True),
    infer=_split_v_infer,
    kernel=_split_v_kernel,
    native=IndexMap("split"),
    xla=KERNEL,
    vjp=_split_v_vjp,
    outputs=None,
    shape_arithmetic=True,
    trusts_kernel=True,
    ragged="split",
    batch=batching.along_axis,
    graphdef=graph_forms.split_sizes,
)


def split(
    value: TensorLike,
    num_or_size_splits: TensorLike,
    axis: AxisLike = 0,
    num: int | None = None,
    name: str = "split",
) -> list[Tensor]:
    """A tensor cut along an axis: into a number of equal parts, or parts of the given sizes.

    Args:
      value: a tensor of rank 1 or more.
      num_or_size_splits: a Python number of equal parts, or a list or integer vector of the sizes
        of the parts, one of which may be -1 and is worked out.
      axis: the axis, an integer or integer scalar; counted from the end if negative.
      num: the number of sizes, needed if the length of a vector of them is unknown while tracing.

    Returns:
      A list of the parts, in order.

    Raises:
      ShapeError: if the axis cannot be cut into so many equal parts, or the sizes do not add up to
        it.
      InvalidArgumentError: if the number of parts is less than 1.
      ValueError: if the number is given as a scalar tensor, or the number of parts is not known.

    >>> [t.numpy() for t in tf.split([1, 2, 3, 4, 5], [2, -1])]
    [array([1, 2], dtype=int32), array([3, 4, 5], dtype=int32)]
    """
    x = convert_to_tensor(value)
    try:
        at = single_axis("split", axis)
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead("split", x, num_or_size_splits, axis, num)
    if isinstance(num_or_size_splits, (int, np.integer)):
        parts = int(num_or_size_splits)
        if parts < 1:
            raise InvalidArgumentError(
                None, None, f"split: num_or_size_splits must be at least 1, got {parts}."
            )
        return list(split_op(x, num=parts, axis=at, name=name))
    if getattr(num_or_size_splits, "shape", None) == ():
        raise ValueError(
            "split: num_or_size_splits must be a Python number or a vector of sizes, got the "
            f"scalar {num_or_size_splits!r}."
        )
    sizes = shapes.shape_argument(num_or_size_splits)
    if num is None:
        num = _static_size("split", sizes, 0, "num")
    return list(split_v_op(x, sizes, num=num, axis=at, name=name))


def parallel_stack(values: Any, name: str = "parallel_stack") -> Tensor:
    """Tensors of one shape as the rows of another; the same as `tf.stack` here.

    Args:
      values: a list of tensors of one shape and dtype.

    Returns:
      A tensor with a new first axis.

    Raises:
      ShapeError: if the shapes differ.

    >>> tf.parallel_stack([[1, 2], [3, 4]]).numpy()
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    return stack(values, name=name)
