"""Python indexing: ints, slices, Ellipsis, newaxis, and scalar tensors in any of these places.

The index is an attribute made of plain tuples; what is only known at run time is an input. So
`x[i, 2:]` with a tensor i is StridedSlice(x, i) with index (("input", 0), (2, None, None)).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike, WindowLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import ANY, INDEX, int16, int32
from weft._src.core.native_rules import IndexMap
from weft._src.core.shapes import Dim, Size
from weft._src.core.specs import TensorSpec, ValueSpec
from weft._src.core.tensor import Array, EagerTensor, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import ShapeError
from weft._src.ops import batching, graph_forms, rules, static
from weft._src.ops.arrays import selection, shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import casting
from weft._src.ops.indexing import masks
from weft._src.ops.registry import args, define_op

# One entry of an index: an int, ("input", i), a slice (start, stop, step) whose parts are the
# same or None, ELLIPSIS, or NEW_AXIS.
ELLIPSIS = "..."
NEW_AXIS = "new"
Entry = Any


def get_item(x: TensorLike, key: TensorLike) -> Tensor:
    """x[key]."""
    x = convert_to_tensor(x)
    index, dynamic = parse_index(key)
    if index is None:
        return masks.boolean_mask(x, key[0] if isinstance(key, tuple) else key)
    return strided_slice_op(x, *dynamic, index=index, name="strided_slice")


def parse_index(key: Any) -> tuple[tuple[Entry, ...] | None, list[Tensor]]:
    """The key as an attribute of the op and its inputs; the attribute is None for a mask."""
    entries = key if isinstance(key, tuple) else (key,)
    dynamic: list[Tensor] = []
    index = tuple([_entry(entry, dynamic) for entry in entries])
    if "mask" not in index:
        return index, dynamic
    if len(entries) > 1:
        raise _bad_index(key)
    return None, dynamic


def _entry(entry: Any, dynamic: list[Tensor]) -> Entry:
    kind = type(entry)
    if kind is int:
        return entry
    if kind is slice:
        return (
            _bound(entry.start, dynamic),
            _bound(entry.stop, dynamic),
            _bound(entry.step, dynamic),
        )
    if entry is None:
        return NEW_AXIS
    if entry is Ellipsis:
        return ELLIPSIS
    if isinstance(entry, (Tensor, np.ndarray)) and _is_bool(entry):
        return "mask"
    return _bound(entry, dynamic)


def _is_bool(entry: Any) -> bool:
    return getattr(entry.dtype, "is_bool", entry.dtype == bool)


def _bound(value: Any, dynamic: list[Tensor]) -> Any:
    if value is None or type(value) is int:
        return value
    if hasattr(value, "__tf_tensor__"):
        value = convert_to_tensor(value)
    if isinstance(value, Tensor):
        if value.dtype is int16:
            value = casting.cast(value, int32)
        if value.dtype not in INDEX or value.spec.rank not in (None, 0):
            raise _bad_index(value)
        if isinstance(value, EagerTensor):
            return int(value._value)
        dynamic.append(value)
        return ("input", len(dynamic) - 1)
    if isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0 and value.dtype.kind in "iu":
        return int(value)
    if not isinstance(value, (bool, np.generic, np.ndarray)) and hasattr(value, "__index__"):
        return value.__index__()
    raise _bad_index(value)


def _bad_index(value: Any) -> TypeError:
    return TypeError(
        "A tensor is indexed with ints, slices, Ellipsis, tf.newaxis and scalar int32/int64 "
        f"tensors, got {value!r}. To pick several elements use tf.gather or tf.gather_nd, to "
        "pick by a condition tf.boolean_mask."
    )


def strided_slice(
    input_: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: WindowLike | None = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """A slice per axis, as x[begin:end:strides, ...]; bit i of a mask speaks of entry i.

    A bit of begin_mask or end_mask leaves that bound out, of ellipsis_mask stands for `...`, of
    new_axis_mask for a new axis, and of shrink_axis_mask for the single index begin[i].

    Args:
      input_: a tensor of any dtype.
      begin: a vector of integers, of a length known while tracing; negative ones count from the
        end.
      end: another one; as in Python the bound itself is left out.
      strides: the steps, other than 0; None means 1 everywhere.
      begin_mask: the bits of entries that start where the axis does.
      end_mask: the bits of entries that end where the axis does.
      ellipsis_mask: the bit of the entry that stands for all axes in between; at most one.
      new_axis_mask: the bits of entries that add an axis of size 1.
      shrink_axis_mask: the bits of entries whose axis goes.
      var: accepted for compatibility, ignored.

    Returns:
      A tensor of the dtype of `input_`.

    Raises:
      ShapeError: if the vectors have different lengths, there are more entries than axes, a single
        index is out of range, or a step is 0.

    >>> tf.strided_slice([[1, 2, 3], [4, 5, 6]], [0, 2], [2, 0], [1, -1]).numpy()
    array([[3, 2],
           [6, 5]], dtype=int32)
    """
    index, dynamic = slice_entries(
        begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
    )
    x = convert_to_tensor(input_)
    return strided_slice_op(x, *dynamic, index=index, name=name or "strided_slice")


def slice_entries(
    begin: TensorLike,
    end: TensorLike,
    strides: WindowLike | None = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> tuple[tuple[Entry, ...], list[Tensor]]:
    """The index that vectors and masks stand for, and the tensors in it (see `strided_slice`)."""
    starts, stops = _positions(begin, "begin"), _positions(end, "end")
    steps = [1] * len(starts) if strides is None else _positions(strides, "strides")
    if not len(starts) == len(stops) == len(steps):
        raise ShapeError(
            "strided_slice: begin, end and strides must have equal lengths, got "
            f"{len(starts)}, {len(stops)} and {len(steps)}."
        )
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask = [
        static.static_int("strided_slice", mask, "a mask") for mask in masks
    ]
    dynamic: list[Tensor] = []
    index: list[Entry] = []
    for i, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            index.append(ELLIPSIS)
        elif new_axis_mask & bit:
            index.append(NEW_AXIS)
        elif shrink_axis_mask & bit:
            if type(step) is int and step < 0:
                raise ShapeError(
                    f"strided_slice: a single index has no step, got strides[{i}] < 0."
                )
            index.append(_bound(start, dynamic))
        else:
            start, stop = None if begin_mask & bit else start, None if end_mask & bit else stop
            index.append((_bound(start, dynamic), _bound(stop, dynamic), _bound(step, dynamic)))
    return tuple(index), dynamic


def _positions(value: Any, name: str) -> list[Any]:
    """The entries of a vector: numbers where they are known, else scalar tensors."""
    vector = shapes.shape_argument(value)
    length = vector.spec.dims[0] if vector.spec.rank == 1 else None  # type: ignore[index]
    if not isinstance(length, int):
        raise ShapeError(
            f"strided_slice: {name} must be a vector of known length, got shape {vector.shape}."
        )
    known = static.known_value(vector)
    numbers = [None] * length if known is None else known.tolist()
    return [
        n if isinstance(n, int) else strided_slice_op(vector, index=(i,))
        for i, n in enumerate(numbers)
    ]


# --- the op ------------------------------------------------------------------------------------


def expanded(index: tuple[Entry, ...], rank: int) -> list[Entry]:
    """The index with one entry per axis: Ellipsis spelled out, missing slices added."""
    used = sum(1 for e in index if e not in (ELLIPSIS, NEW_AXIS))
    if index.count(ELLIPSIS) > 1:
        raise ShapeError("strided_slice: only one Ellipsis is allowed in an index.")
    if used > rank:
        raise ShapeError(
            f"strided_slice: {used} indices for a tensor of rank {rank}; it has too few axes."
        )
    at = index.index(ELLIPSIS) if ELLIPSIS in index else len(index)
    rest = index[at + 1 :] if ELLIPSIS in index else ()
    return [*index[:at], *[(None, None, None)] * (rank - used), *rest]


def strided_slice_infer(
    x: TensorSpec, *dynamic: TensorSpec, index: tuple[Entry, ...]
) -> TensorSpec:
    """The type of x[index]."""
    if x.dims is None:
        return x
    known = [_known_position(d) for d in dynamic]
    dims: list[Size] = []
    axis = 0
    for entry in expanded(index, len(x.dims)):
        if entry == NEW_AXIS:
            dims.append(1)
            continue
        size = x.dims[axis]
        if isinstance(entry, tuple) and entry[0] != "input":
            dims.append(_slice_size(size, [_resolve(part, known) for part in entry]))
        else:
            _check_index(_resolve(entry, known), size, axis)
        axis += 1
    return x.with_dims(tuple(dims))


def _known_position(spec: TensorSpec) -> Any:
    rules.check_rank("strided_slice", spec, 0, name="an index")
    value = rules.known(spec) if isinstance(spec, ValueSpec) else None
    return Dim() if value is None else value


def _resolve(part: Any, values: list[Any]) -> Any:
    return values[part[1]] if isinstance(part, tuple) else part


def _check_index(i: Any, size: Size, axis: int) -> None:
    if isinstance(i, Dim) or isinstance(size, Dim):
        return
    if not -size <= i < size:
        raise ShapeError(
            f"strided_slice: index {i} is out of range for axis {axis} of size {size}."
        )


def _slice_size(size: Size, parts: list[Any]) -> Size:
    start, stop, step = parts
    if parts == [None, None, None] or (start in (None, 0) and stop is size and step in (None, 1)):
        return size
    if step == 0:
        raise ShapeError("strided_slice: the step of a slice must not be 0.")
    if any(isinstance(part, (Dim, tuple)) for part in parts) or isinstance(size, Dim):
        return stop if _is_prefix(start, stop, step, size) else Dim()
    return len(range(*slice(start, stop, step).indices(size)))


def _is_prefix(start: Size | None, stop: Size | None, step: Size | None, size: Size) -> bool:
    """x[:0] is empty whatever the size; other unknown sizes stay unknown."""
    return start in (None, 0) and step in (None, 1) and not isinstance(stop, Dim) and stop == 0


def runtime_index(x: Any, dynamic: tuple[Any, ...], index: tuple[Entry, ...]) -> tuple[Any, ...]:
    """The NumPy index of an array that the attribute and the inputs stand for, checked."""
    values = [int(d) for d in dynamic]
    out: list[Any] = []
    axis = 0
    for entry in expanded(index, x.ndim):
        if entry == NEW_AXIS:
            out.append(None)
            continue
        if isinstance(entry, tuple) and entry[0] != "input":
            out.append(slice(*[_resolve(part, values) for part in entry]))
        else:
            i = _resolve(entry, values)
            _check_index(i, x.shape[axis], axis)
            out.append(i)
        axis += 1
    return tuple(out)


_ONE_ROW = (("input", 0),)


def _strided_slice_kernel(
    xp: ArrayNamespace, x: Array, *dynamic: Any, index: tuple[Entry, ...]
) -> Any:
    if index == _ONE_ROW and x.ndim > 1:  # x[i], 0.7 us instead of 3.9: loops over rows
        i = int(dynamic[0])
        if -len(x) <= i < len(x):
            return x[i]
    # The ellipsis keeps a single element an array instead of a scalar (or bytes).
    return x[(*runtime_index(x, dynamic, index), ...)]


class Row:
    """The gradient of x[i]: zeros but for one row.

    It becomes a tensor when it is known what else there is. Reading many rows one by one then makes
    one tensor, not one for each.
    """

    def __init__(self, x: Tensor, index: tuple[Entry, ...], dynamic: list[Tensor], g: Tensor):
        self._x, self._index, self._dynamic = x, index, dynamic
        self.value = g

    @property
    def shape(self) -> Tensor:
        """The shape of x."""
        return shapes.shape_op(self._x, out_type=int32)

    @property
    def tensor(self) -> Tensor:
        """The gradient of x, if this is all."""
        return strided_slice_grad_op(self.shape, self.value, *self._dynamic, index=self._index)

    @property
    def number(self) -> Any:
        """The number of the row, counted from the front: an int or a tensor."""
        if not self._dynamic:
            (i,) = self._index
            return i if i >= 0 else _from_front(self._x, i)
        (position,) = self._dynamic
        size = casting.cast(self.shape[0], position.dtype)
        return selection.where(position < 0, position + size, position)


def _from_front(x: Tensor, i: int) -> Any:
    size = x.spec.dims[0] if x.spec.dims else None
    return i + size if isinstance(size, int) else shapes.shape_op(x, out_type=int32)[0] + i


def _strided_slice_vjp(ctx: VjpContext, g: Tensor) -> tuple[Any, ...]:
    x, *dynamic = ctx.inputs
    index = ctx.attrs["index"]
    if len(index) == 1 and (type(index[0]) is int or index == _ONE_ROW):
        return (Row(x, index, dynamic, g), *[None] * len(dynamic))
    grad = strided_slice_grad_op(shapes.shape_op(x, out_type=int32), g, *dynamic, index=index)
    return (grad, *[None] * len(dynamic))


strided_slice_op = define_op(
    "StridedSlice",
    args("input", ANY) + args("*positions", INDEX, is_shape=True),
    infer=strided_slice_infer,
    kernel=_strided_slice_kernel,
    native=IndexMap("strided_slice"),
    xla=Lowered("strided_slice"),
    vjp=_strided_slice_vjp,
    trusts_kernel=True,
    shape_arithmetic=True,
    batch=batching.sliced,
    graphdef=graph_forms.strided_slice,
)


def _strided_slice_grad_infer(
    shape: TensorSpec, g: TensorSpec, *dynamic: TensorSpec, index: tuple[Entry, ...]
) -> TensorSpec:
    return g.with_dims(rules.dims_from_value("StridedSliceGrad", shape))


def _strided_slice_grad_kernel(
    xp: ArrayNamespace, shape: Array, g: Array, *dynamic: Any, index: tuple[Entry, ...]
) -> Array:
    out = xp.zeros(tuple(shape.tolist()), g.dtype)
    out[runtime_index(out, dynamic, index)] = g
    return out


def _strided_slice_grad_vjp(ctx: VjpContext, g: Tensor) -> tuple[Any, ...]:
    _, _, *dynamic = ctx.inputs
    return (
        None,
        strided_slice_op(g, *dynamic, index=ctx.attrs["index"]),
        *[None] * len(dynamic),
    )


strided_slice_grad_op = define_op(
    "StridedSliceGrad",
    args("shape", INDEX, is_shape=True) + args("dy", ANY) + args("*positions", INDEX),
    infer=_strided_slice_grad_infer,
    kernel=_strided_slice_grad_kernel,
    native=IndexMap("strided_slice_grad"),
    xla=Lowered("strided_slice_grad"),
    vjp=_strided_slice_grad_vjp,
    fresh=True,
    batch=batching.sliced_back,
    graphdef=graph_forms.strided_slice_grad,
)
