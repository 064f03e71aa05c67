"""Joining strings: of several tensors element by element, and along axes of one tensor."""

from __future__ import annotations

from typing import Any

from weft.core.dtypes import STRING, string
from weft.core.shapes import Dims
from weft.core.specs import TensorSpec
from weft.core.tensor import Array, Tensor
from weft.ops import rules, static
from weft.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, args, define_op
from weft.ops.strings.elements import as_array, string_tensor, text_argument


def _join_infer(*inputs: TensorSpec, separator: str) -> TensorSpec:
    dims: Dims | None = ()
    for x in inputs:
        if x.dims is None:
            dims = dims or None
        elif x.dims:
            dims = x.dims if not dims else rules.merge_dims("join", dims, x.dims, "inputs")
    return TensorSpec.of(string, dims)


def _join_kernel(xp: Any, *inputs: Any, separator: str) -> Array:
    arrays = [as_array(x) for x in inputs]
    shape = next((x.shape for x in arrays if x.ndim), ())
    size = 1
    for n in shape:
        size *= n
    if any(x.ndim and x.shape != shape for x in arrays):
        raise ValueError("inputs differ in shape")
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
)


def join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """Strings of several tensors joined element by element; scalars go with every element.

    >>> tf.strings.join([["a", "b"], "x"], separator="-").numpy()
    array([b'a-x', b'b-x'], dtype=object)
    """
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
    xp: Any, x: Any, *, axis: tuple[int, ...] | None, keepdims: bool, separator: str
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
    join = separator.encode().join
    return xp.as_strings([join(row) for row in rows.reshape(-1, rows.shape[-1]).tolist()], shape)


reduce_join_op = define_op(
    "ReduceJoin",
    args("inputs", STRING),
    infer=_reduce_join_infer,
    kernel=_reduce_join_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def reduce_join(
    inputs: Any,
    axis: Any = None,
    keepdims: bool = False,
    separator: str = "",
    name: str | None = None,
) -> Tensor:
    """All strings, or those along axes, joined to one; several axes in the order given.

    >>> tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=-1, separator=",").numpy()
    array([b'a,b', b'c,d'], dtype=object)
    """
    axes = static.static_ints("reduce_join", axis, "axis")
    return reduce_join_op(
        string_tensor(inputs),
        axis=(axes,) if isinstance(axes, int) else axes,
        keepdims=bool(keepdims),
        separator=text_argument("strings.reduce_join", separator, "separator"),
        name=name,
    )
