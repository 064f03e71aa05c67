"""`tf.one_hot`: indices as rows that are "on" in one place."""

from __future__ import annotations

from typing import Any

from weft._src.core import dtypes, memory
from weft._src.core.aliases import ArrayNamespace, AxisLike, DTypeLike, TensorLike
from weft._src.core.convert import convert_to_tensor, of_dtype
from weft._src.core.dtypes import DATA, INDEX, DType, float32, int8, int32, string, uint8
from weft._src.core.native_rules import Special
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL
from weft._src.errors import ShapeError
from weft._src.ops import batching, rules
from weft._src.ops.arrays import joining
from weft._src.ops.registry import NOT_DIFFERENTIABLE, args, define_op


def _check_depth(depth: Any) -> Any:
    if not isinstance(depth, Dim) and depth < 0:
        raise ShapeError(f"one_hot: depth must not be negative, got {depth}.")
    return depth


def _one_hot_infer(
    indices: TensorSpec, depth: TensorSpec, on: TensorSpec, off: TensorSpec, *, axis: int
) -> TensorSpec:
    for name, spec in (("depth", depth), ("on_value", on), ("off_value", off)):
        rules.check_rank("one_hot", spec, 0, name=name)
    if indices.dims is None:
        return on.with_dims(None)
    at = rules.normalize_axis("one_hot", axis, len(indices.dims) + 1)
    known = rules.known(depth)
    size = Dim() if known is None else _check_depth(known)
    return on.with_dims((*indices.dims[:at], size, *indices.dims[at:]))


def _one_hot_kernel(
    xp: ArrayNamespace, indices: Array, depth: Any, on: Any, off: Any, *, axis: int
) -> Array:
    if depth.ndim or on.ndim or off.ndim:
        raise ValueError("the type rule says what is wrong")
    at = rules.normalize_axis("one_hot", axis, indices.ndim + 1)
    size = _check_depth(int(depth))
    shape = (*indices.shape[:at], size, *indices.shape[at:])
    memory.check("one_hot", shape, on.dtype)
    numbers = xp.reshape(xp.arange(size), (size, *[1] * (indices.ndim - at)))
    return xp.where(xp.expand_dims(indices, at) == numbers, on, off)


one_hot_op = define_op(
    "OneHot",
    args("indices", INDEX | {uint8, int8})
    + args("depth", INDEX, is_shape=True)
    + args("on_value off_value", DATA),
    infer=_one_hot_infer,
    kernel=_one_hot_kernel,
    native=Special("one_hot"),
    xla=KERNEL,
    vjp=NOT_DIFFERENTIABLE,
    trusts_kernel=True,
    fresh=True,
    ragged="one_hot",
    batch=batching.one_hot,
)


def one_hot(
    indices: TensorLike,
    depth: TensorLike,
    on_value: TensorLike | None = None,
    off_value: TensorLike | None = None,
    axis: AxisLike | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """For each index a row of `depth` elements: on_value at the index, off_value elsewhere.

    Args:
      indices: int8, uint8, int32 or int64, of any shape. Those outside of [0, depth) get no
        on_value.
      depth: the size of the new axis, an integer or integer scalar.
      on_value: a scalar; None means 1 (or True).
      off_value: a scalar of the same dtype; None means 0 (or False).
      axis: where the new axis is in the result; None means the last one.
      dtype: the dtype of the result; None means that of the values, float32 without any.

    Returns:
      A tensor with the shape of `indices` and the new axis.

    Raises:
      TypeError: if the dtypes of the values differ from each other or from `dtype`, or there is
        only one value for strings.
      ShapeError: if `depth` is negative, or there is no such axis.

    >>> tf.one_hot([0, 2], 3).numpy()
    array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    on, off = _value("on_value", on_value, wanted), _value("off_value", off_value, wanted)
    if on is not None and off is not None and on.dtype is not off.dtype:
        raise TypeError(
            f"one_hot: on_value has dtype {on.dtype.name}, but off_value has {off.dtype.name}."
        )
    kind = wanted or (on if on is not None else off if off is not None else None)
    kind = kind if isinstance(kind, DType) else float32 if kind is None else kind.dtype
    if kind is string and (on is None or off is None):
        raise TypeError("one_hot: strings need both on_value and off_value.")
    return one_hot_op(
        convert_to_tensor(indices, dtype_hint=int32),
        of_dtype("one_hot", depth, int32, "depth"),
        convert_to_tensor(1 if not kind.is_bool else True, dtype=kind) if on is None else on,
        convert_to_tensor(0 if not kind.is_bool else False, dtype=kind) if off is None else off,
        axis=-1 if axis is None else joining.single_axis("one_hot", axis),
        name=name,
    )


def _value(name: str, value: Any, dtype: DType | None) -> Tensor | None:
    if value is None:
        return None
    tensor = convert_to_tensor(value, dtype_hint=dtype)
    if dtype is not None and tensor.dtype is not dtype:
        raise TypeError(
            f"one_hot: {name} has dtype {tensor.dtype.name}, but dtype={dtype.name} is asked for."
        )
    return tensor
