"""Joining strings: of several tensors element by element, and along axes of one tensor."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, AxisLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INDEX, STRING, int32, string
from weft._src.core.growing import GrowingList
from weft._src.core.shapes import Dim, Dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.ops import batching, graph_forms, rules, static
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, args, define_op
from weft._src.ops.strings import making, packed
from weft._src.ops.strings.elements import as_array, string_tensor, text_argument


def _join_infer(*inputs: TensorSpec, separator: str) -> TensorSpec:
    dims: Dims | None = ()
    for x in inputs:
        if x.dims is None:
            dims = dims or None
        elif x.dims:
            dims = x.dims if not dims else rules.merge_dims("join", dims, x.dims, "inputs")
    return TensorSpec.of(string, dims)


def _join_kernel(xp: ArrayNamespace, *inputs: Any, separator: str) -> Array:
    arrays = [as_array(x) for x in inputs]
    shape = next((x.shape for x in arrays if x.ndim), ())
    size = 1
    for n in shape:
        size *= n
    if any(x.ndim and x.shape != shape for x in arrays):
        raise ValueError("inputs differ in shape")
    if shape and packed.pays(size, "making", costly=False):
        found = making.joined([x.reshape(-1) for x in arrays], size, separator.encode())
        if found is not None:
            return found.reshape(shape)
    # A scalar goes with every element.
    columns = [x.reshape(-1).tolist() if x.ndim else [x[()]] * size for x in arrays]
    join = separator.encode().join
    joined = list(map(join, zip(*columns, strict=True))) if columns else [b""]
    return xp.as_strings(joined, shape)


join_op = define_op(
    "StringJoin",
    args("*inputs", STRING),
    infer=_join_infer,
    kernel=_join_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    ragged="elementwise",
    batch=batching.pointwise,
)


def join(inputs: Sequence[Any], separator: str = "", name: str | None = None) -> Tensor:
    """Strings of several tensors joined element by element; scalars go with every element.

    Args:
      inputs: a list of string tensors: scalars, and others of one shape.
      separator: a Python string that stands between them.

    Returns:
      A string tensor of this shape; an empty list gives an empty string.

    Raises:
      TypeError: if `inputs` is no list.
      ShapeError: if the shapes differ.
      DTypeError: if one does not hold strings.

    >>> tf.strings.join([["a", "b"], "x"], separator="-").numpy()
    array([b'a-x', b'b-x'], dtype=object)
    """
    if isinstance(inputs, GrowingList):
        return reduce_join(inputs.stacked(0), axis=0, separator=separator, name=name)
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"strings.join: inputs must be a list of tensors, got {inputs!r}.")
    separator = text_argument("strings.join", separator, "separator")
    return join_op(*[string_tensor(x) for x in inputs], separator=separator, name=name)


def _reduce_join_infer(
    x: TensorSpec, *, axis: tuple[int, ...] | None, keepdims: bool, separator: str
) -> TensorSpec:
    if x.dims is None:
        return x if axis is not None or keepdims else x.with_dims(())
    axes = rules.normalize_axes("reduce_join", axis, len(x.dims))
    if keepdims:
        return x.with_dims(tuple([1 if i in axes else d for i, d in enumerate(x.dims)]))
    return x.with_dims(tuple([d for i, d in enumerate(x.dims) if i not in axes]))


def _reduce_join_kernel(
    xp: ArrayNamespace, x: Any, *, axis: tuple[int, ...] | None, keepdims: bool, separator: str
) -> Array:
    x = as_array(x)
    axes = rules.normalize_axes("reduce_join", axis, x.ndim)
    if axis is None:
        axes = axes[::-1]
    kept = [i for i in range(x.ndim) if i not in axes]
    rows_shape = tuple([x.shape[i] for i in kept])
    # The first axis is joined first, so its elements stand next to each other.
    rows = x.transpose(*kept, *reversed(axes)).reshape(*rows_shape, -1) if x.size else None
    shape = (
        tuple([1 if i in axes else n for i, n in enumerate(x.shape)]) if keepdims else rows_shape
    )
    if rows is None:
        return xp.full(shape, b"", object)
    rows = np.ascontiguousarray(rows.reshape(-1, rows.shape[-1]))
    if packed.pays(x.size, "making", costly=False):
        count, width = rows.shape
        starts, sizes = np.arange(count) * width, np.full(count, width)
        found = making.joined_runs(rows.reshape(-1), starts, sizes, separator.encode())
        if found is not None:
            return found.reshape(shape)
    join = separator.encode().join
    return xp.as_strings([join(row) for row in rows.tolist()], shape)


reduce_join_op = define_op(
    "ReduceJoin",
    args("inputs", STRING),
    infer=_reduce_join_infer,
    kernel=_reduce_join_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    ragged="join",
    batch=batching.along_axes,
    graphdef=graph_forms.reduction,
)


def reduce_join(
    inputs: Sequence[Any],
    axis: AxisLike | None = None,
    keepdims: bool = False,
    separator: str = "",
    name: str | None = None,
) -> Tensor:
    """All strings, or those along axes, joined to one; several axes in the order given.

    Args:
      inputs: a tensor of strings.
      axis: an axis or a list of axes, counted from the end if negative; None means all.
      keepdims: whether the axes stay, with size 1.
      separator: a Python string that stands between them.

    Returns:
      A string tensor without these axes.

    Raises:
      ShapeError: if there is no such axis, or one is named twice.
      DTypeError: if `inputs` does not hold strings.

    >>> tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=-1, separator=",").numpy()
    array([b'a,b', b'c,d'], dtype=object)
    """
    x = string_tensor(inputs)
    separator = text_argument("strings.reduce_join", separator, "separator")
    try:
        axes = static.static_ints("reduce_join", axis, "axis")
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead("reduction", reduce_join, x, axis, keepdims, separator=separator)
    axes = (axes,) if isinstance(axes, int) else axes
    return reduce_join_op(x, axis=axes, keepdims=bool(keepdims), separator=separator, name=name)


def _segment_join_infer(
    x: TensorSpec, ids: TensorSpec, num: TensorSpec, *, separator: str
) -> TensorSpec:
    rules.check_rank("unsorted_segment_join", num, 0, name="num_segments")
    if x.dims is None or ids.dims is None:
        return x.with_dims(None)
    if len(ids.dims) > len(x.dims):
        raise ShapeError(
            f"unsorted_segment_join: segment_ids of shape {ids.shape} do not fit inputs of shape "
            f"{x.shape}."
        )
    lead = x.dims[: len(ids.dims)]
    rules.merge_dims("unsorted_segment_join", lead, ids.dims, "inputs and segment_ids")
    known = rules.known(num)
    if known is not None and not isinstance(known, Dim) and known < 0:
        raise ShapeError(f"unsorted_segment_join: num_segments must not be negative, got {known}.")
    return x.with_dims((Dim() if known is None else known, *x.dims[len(ids.dims) :]))


def _segment_join_kernel(
    xp: ArrayNamespace, x: Any, ids: Any, num: Any, *, separator: str
) -> Array:
    x, ids = as_array(x), xp.asarray(ids)
    count, inner = int(num), x.shape[ids.ndim :]
    outside = (ids < 0) | (ids >= count)
    if outside.any():
        raise InvalidArgumentError(
            None,
            None,
            f"unsorted_segment_join: segment_ids must lie between 0 and {count - 1}, got "
            f"{ids[outside][0]}.",
        )
    if x.shape == ids.shape and packed.pays(x.size, "making", costly=False):
        flat = x.reshape(-1)
        found = making.joined_segments(flat, ids.reshape(-1), count, separator.encode())
        if found is not None:
            return found
    out = xp.full((count, *inner), b"", object)
    join = separator.encode().join
    rows = x.reshape(ids.size, -1) if x.size else []
    members: dict[int, list[Any]] = {}
    for number, row in zip(ids.reshape(-1).tolist(), rows):
        members.setdefault(number, []).append(row.tolist())
    for number, texts in members.items():
        # Empty strings before the first other one bring no separator, as in TensorFlow.
        columns = [itertools.dropwhile(lambda text: not text, column) for column in zip(*texts)]
        out.reshape(count, -1)[number, :] = [join(column) for column in columns]
    return out


unsorted_segment_join_op = define_op(
    "UnsortedSegmentJoin",
    args("inputs", STRING)
    + args("segment_ids", INDEX)
    + args("num_segments", INDEX, is_shape=True),
    infer=_segment_join_infer,
    kernel=_segment_join_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    batch=batching.segments,
)


def unsorted_segment_join(
    inputs: Sequence[Any],
    segment_ids: TensorLike,
    num_segments: TensorLike,
    separator: str = "",
    name: str | None = None,
) -> Tensor:
    """The strings of each segment joined in the order in which they come.

    Empty strings at the beginning of a segment are left out, with their separators.

    Args:
      inputs: a tensor of strings whose shape begins with that of `segment_ids`.
      segment_ids: int32 or int64, the segment of each.
      num_segments: the number of segments, an integer or integer scalar.
      separator: a Python string that stands between them.

    Returns:
      A string tensor with `num_segments` rows; those without strings are empty.

    Raises:
      InvalidArgumentError: if an id is negative or not below `num_segments`.
      ShapeError: if the shapes do not fit, or `num_segments` is negative.

    >>> tf.strings.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 2, separator=":").numpy()
    array([b'b', b'a:c'], dtype=object)
    """
    return unsorted_segment_join_op(
        string_tensor(inputs),
        convert_to_tensor(segment_ids, dtype_hint=int32),
        convert_to_tensor(num_segments, dtype_hint=int32),
        separator=text_argument("unsorted_segment_join", separator, "separator"),
        name=name,
    )
