"""From ragged tensors to tensors and back."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import ShapeLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType, int64
from weft._src.core.shapes import TensorShape
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.ops import rules
from weft._src.ops.arrays import fill, joining, ranges, shape as shapes
from weft._src.ops.elementwise import arithmetic, casting, comparison
from weft._src.ops.indexing import gathering, masks, scattering
from weft._src.ops.programs import with_kernel
from weft._src.ops.ragged import row_arrays, rows, tensor as ragged
from weft._src.ops.reduce import extrema, logic, products


def bounding_shape(rt: ragged.RaggedTensor) -> Tensor:
    """The shape of the smallest tensor that holds all rows."""
    dtype = rt.row_splits.dtype
    sizes = [rt.nrows(), *[longest_row(splits) for splits in rt.nested_row_splits]]
    inner = shapes.shape_op(rt.flat_values, out_type=dtype)[1:]
    return joining.concat([joining.stack(sizes), inner], 0)


def sizes_along(sizes: Tensor, axis: Any) -> Tensor:
    """The size of an axis, or of several as a vector."""
    if isinstance(axis, (list, tuple)):
        return joining.stack([sizes[i] for i in axis])
    return sizes[axis]


def longest_row(splits: Tensor) -> Tensor:
    """The length of the longest row; 0 if there are none."""
    return extrema.reduce_max(joining.concat([splits[:1], rows.lengths(splits)], 0))


def to_tensor(rt: ragged.RaggedTensor, default_value: Any, shape: Any) -> Tensor:
    """A tensor with short rows filled up; `shape` cuts, or fills up further."""
    wanted = _wanted_sizes(rt, shape)
    default = _default(rt, default_value)
    return _filled(rt, default, wanted)


def _wanted_sizes(rt: ragged.RaggedTensor, shape: ShapeLike) -> list[Any]:
    """One size per axis; None for what it takes."""
    rank = rt.shape.rank
    if rank is None:
        raise ValueError("to_tensor: the rank of the ragged tensor must be known while tracing.")
    if shape is None:
        return [None] * rank
    if isinstance(shape, Tensor):
        sizes: list[Any] = list(joining.unstack(casting.cast(shape, rt.row_splits.dtype)))
    else:
        given = TensorShape(shape)
        sizes = [None] * rank if given.rank is None else given.as_list()
    if len(sizes) != rank:
        raise ShapeError(f"to_tensor: shape must have {rank} sizes, got {shape!r}.")
    for i in range(rt.ragged_rank + 1, rank):
        have, want = rt.shape[i], sizes[i]
        if have is not None and want is not None and not isinstance(want, Tensor) and have != want:
            raise ShapeError(f"to_tensor: axis {i} is not ragged and has size {have}, not {want}.")
    return sizes


def _default(rt: ragged.RaggedTensor, value: TensorLike) -> Tensor:
    if value is None:
        return convert_to_tensor(b"") if rt.dtype.name == "string" else fill.zeros([], rt.dtype)
    default = convert_to_tensor(value, dtype_hint=rt.dtype)
    if default.dtype is not rt.dtype:
        raise TypeError(
            f"to_tensor: default_value must have dtype {rt.dtype.name}, got {default.dtype.name}."
        )
    return default


def _filled(rt: ragged.RaggedTensor, default: Tensor, wanted: list[Any]) -> Tensor:
    values = rt.values
    if isinstance(values, ragged.RaggedTensor):
        values = _filled(values, default, [None, *wanted[2:]])
    if wanted[0] is None and wanted[1] is None:
        return _padded(values, rt.row_splits, default)
    return _placed(values, rt.row_splits, default, wanted[:2])


@with_kernel(row_arrays.padded)
def _padded(values: Tensor, splits: Tensor, default: Tensor) -> Tensor:
    return _placed(values, splits, default, [None, None])


def _placed(values: Tensor, splits: Tensor, default: Tensor, wanted: list[Any]) -> Tensor:
    ids = rows.rowids(splits)
    columns = rows.columns(splits, ids)
    sizes = [
        found if size is None else casting.cast(size, splits.dtype)
        for size, found in zip(wanted, (_row_count(splits), longest_row(splits)), strict=True)
    ]
    places = ids * sizes[1] + columns  # in all rows one behind the other
    if wanted[0] is not None or wanted[1] is not None:
        inside = comparison.logical_and(ids < sizes[0], columns < sizes[1])
        values, places = masks.boolean_mask(values, inside), masks.boolean_mask(places, inside)
    inner = shapes.shape_op(values, out_type=splits.dtype)[1:]
    count = shapes.reshape(sizes[0] * sizes[1], [1])
    canvas = shapes.broadcast_to(default, joining.concat([count, inner], 0))
    places = shapes.expand_dims(places, 1)
    filled = scattering.tensor_scatter_nd_update(canvas, places, values)
    out = shapes.reshape(filled, joining.concat([joining.stack(sizes), inner], 0))
    if values.shape.rank is not None:
        out.set_shape([None, None, *values.shape[1:]])
    return out


def _row_count(splits: Tensor) -> Tensor:
    return rows.count(splits, splits.dtype) - 1


def from_tensor(
    tensor: TensorLike, lengths: Any, padding: Any, ragged_rank: int, dtype: DType
) -> ragged.RaggedTensor:
    """The rows of a tensor without what lies behind their lengths, or is padding."""
    x = convert_to_tensor(tensor)
    rank = x.shape.rank
    if rank is None:
        raise ValueError("from_tensor: the rank of the tensor must be known while tracing.")
    if not isinstance(ragged_rank, int) or not 1 <= ragged_rank < rank:
        raise ValueError(
            "from_tensor: ragged_rank must be at least 1 and below the rank of the tensor "
            f"({rank}), got {ragged_rank!r}."
        )
    if lengths is not None and padding is not None:
        raise ValueError("from_tensor: pass lengths or padding, not both.")
    if isinstance(lengths, (list, tuple)) and any(isinstance(n, (list, tuple)) for n in lengths):
        first = from_tensor(x, lengths[0], None, 1, dtype)
        if len(lengths) == 1:
            return first
        return first.with_values(from_tensor(first.values, lengths[1:], None, 1, dtype))
    if ragged_rank > 1:
        return _several_axes(x, lengths, padding, ragged_rank, dtype)
    width = shapes.shape_op(x, out_type=dtype)[1]
    if lengths is not None:
        each = casting.cast(rows.integers(lengths, "lengths", dtype), dtype)
        each = arithmetic.minimum(arithmetic.maximum(each, 0), width)
    elif padding is not None:
        each = _lengths_without(x, padding, dtype)
    else:
        return _uniform(x, dtype)
    inside = ranges.range(width, dtype=dtype) < shapes.expand_dims(each, -1)
    return ragged.RaggedTensor._of(masks.boolean_mask(x, inside), rows.from_lengths(each))


def _several_axes(
    x: Tensor, lengths: TensorLike, padding: Any, ragged_rank: int, dtype: DType
) -> ragged.RaggedTensor:
    """All axes but the last ragged one are uniform: their rows are as long as the tensor is."""
    sizes = shapes.shape_op(x, out_type=dtype)
    merged = joining.concat([[-1], sizes[ragged_rank:]], 0)
    out = from_tensor(shapes.reshape(x, merged), lengths, padding, 1, dtype)
    for axis in range(ragged_rank - 1, 0, -1):
        count = products.reduce_prod(sizes[:axis])
        splits = ranges.range(count + 1, dtype=dtype) * sizes[axis]
        out = ragged.RaggedTensor._of(out, splits, _size(x, axis, sizes))
    return out


def _size(x: Tensor, axis: int, sizes: Tensor) -> int | Tensor:
    """The size of an axis: a number if it is known."""
    known = x.shape[axis]
    return sizes[axis] if known is None else known


def _uniform(x: Tensor, dtype: DType) -> ragged.RaggedTensor:
    sizes = shapes.shape_op(x, out_type=dtype)
    flat = joining.concat([sizes[:1] * sizes[1:2], sizes[2:]], 0)
    splits = ranges.range(sizes[0] + 1, dtype=dtype) * sizes[1]
    return ragged.RaggedTensor._of(shapes.reshape(x, flat), splits, _size(x, 1, sizes))


def _lengths_without(x: Tensor, padding: Any, dtype: DType) -> Tensor:
    """How long each row is if what is padding at its end does not count."""
    value = convert_to_tensor(padding, dtype=x.dtype)
    differs = comparison.not_equal(x, value)
    for _ in range(x.shape.rank - 2):  # type: ignore[operator]
        differs = logic.reduce_any(differs, axis=-1)
    number = ranges.range(1, shapes.shape_op(x, out_type=dtype)[1] + 1, dtype=dtype)
    last = casting.cast(differs, dtype) * number
    empty = fill.zeros(joining.concat([shapes.shape_op(last, out_type=int64)[:1], [1]], 0), dtype)
    return extrema.reduce_max(joining.concat([empty, last], 1), axis=1)


def merge_dims(rt: ragged.RaggedTensor, outer_axis: int, inner_axis: int) -> Any:
    """Axes from outer to inner joined into one."""
    rank = rt.shape.rank
    outer, inner = [
        axis if axis >= 0 or rank is None else rules.normalize_axis("merge_dims", axis, rank)
        for axis in (outer_axis, inner_axis)
    ]
    if not 0 <= outer <= inner or (rank is not None and inner >= rank):
        raise ShapeError(
            f"merge_dims: axes must be in order and lie in a tensor of rank {rank}, got "
            f"{outer_axis} and {inner_axis}."
        )
    out: Any = rt
    for _ in range(inner - outer):
        out = _merged(out, outer)
    return out


def _merged(x: Any, axis: int) -> Any:
    """The axes `axis` and `axis + 1` joined into one."""
    if not isinstance(x, ragged.RaggedTensor):
        sizes = shapes.shape_op(x, out_type=int64)
        both = sizes[axis : axis + 1] * sizes[axis + 1 : axis + 2]
        return shapes.reshape(x, joining.concat([sizes[:axis], both, sizes[axis + 2 :]], 0))
    values = x.values
    if axis == 0:
        return values
    if axis > 1:
        return x.with_values(_merged(values, axis - 1))
    if isinstance(values, ragged.RaggedTensor):
        splits = gathering.gather(values.row_splits, x.row_splits)
        return ragged.RaggedTensor._of(values.values, splits)
    width = shapes.shape_op(values, out_type=x.row_splits.dtype)[1]
    return ragged.RaggedTensor._of(_merged(values, 0), x.row_splits * width)
