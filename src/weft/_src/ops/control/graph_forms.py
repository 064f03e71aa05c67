"""How branches, loops, calls and lists are written for TensorFlow (see `ops.graph_forms`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core.dtypes import DType, int32, int64
from weft._src.ops.graph_forms import FormBody, NoForm, Written, cast, element_shape, sizes_of


def _types(b: FormBody) -> dict[str, Any]:
    return {"Tout": [spec.dtype for spec in b.outputs]}


def _shapes(specs: Sequence[Any]) -> list[Any]:
    return [sizes_of(spec.dims) for spec in specs]


def if_form(b: FormBody, pred: Written, *inputs: Any, branches: Sequence[Any]) -> Any:
    """If, which is stateless where no branch has effects."""
    yes, no = [b.function(branch) for branch in branches]
    op = "StatelessIf" if b.is_pure else "If"
    shapes = _shapes(b.outputs)
    return b.add(
        op, pred, inputs, then_branch=yes, else_branch=no, output_shapes=shapes, **_types(b)
    )


def case_form(b: FormBody, index: Written, *inputs: Any, branches: Sequence[Any]) -> Any:
    """Case, the same."""
    functions = [b.function(branch) for branch in branches]
    op = "StatelessCase" if b.is_pure else "Case"
    shapes = _shapes(b.outputs)
    return b.add(op, index, inputs, branches=functions, output_shapes=shapes, **_types(b))


def while_form(
    b: FormBody, *inputs: Any, cond: Any, body: Any, maximum_iterations: int | None
) -> Any:
    """While with a counter and a limit in front, and captures behind: what its gradient expects."""
    limited = maximum_iterations is not None
    functions = b.loop_functions(cond, body, limited=limited)
    start = b.const(0), b.const(maximum_iterations if limited else -1)
    kept = [*b.outputs] + [x.spec for x in inputs[len(b.outputs) :]]
    made = b.add(
        "StatelessWhile" if b.is_pure else "While",
        [*start, *inputs],
        cond=functions[0],
        body=functions[1],
        output_shapes=[[], [], *_shapes(kept)],
    )
    return made[2:]


def call_form(b: FormBody, *inputs: Any, body: Any) -> Any:
    """A call."""
    op = "PartitionedCall" if b.is_pure else "StatefulPartitionedCall"
    return b.add(op, inputs, f=b.function(body), **_types(b))


# --- lists ----------------------------------------------------------------------------------------


def reserve(b: FormBody, size: Written, *, dtype: DType) -> Any:
    """TensorListReserve, of elements of any shape."""
    return b.add("TensorListReserve", element_shape(b, None), size, element_dtype=dtype)


def set_item(b: FormBody, handle: Written, index: Written, item: Written, *, grow: bool) -> Any:
    """TensorListSetItem; a list that grows gets its length first, as older versions need it."""
    index = cast(b, index, int32)
    if grow:
        needed = b.add("AddV2", index, b.const(1))
        size = b.add("Maximum", b.add("TensorListLength", handle), needed)
        handle = b.add("TensorListResize", handle, size)
    return b.add("TensorListSetItem", handle, index, item)


def get_item(
    b: FormBody, handle: Written, index: Written, *, dtype: DType, shape: Sequence[Any] | None
) -> Any:
    """TensorListGetItem."""
    sizes = element_shape(b, shape)
    return b.add("TensorListGetItem", handle, index, sizes, element_dtype=dtype)


def pop(b: FormBody, handle: Written, *, dtype: DType, shape: Sequence[Any] | None) -> Any:
    """TensorListPopBack."""
    return b.add("TensorListPopBack", handle, element_shape(b, shape), element_dtype=dtype)


def to_tensor(b: FormBody, handle: Written, *, dtype: DType, shape: Sequence[Any] | None) -> Any:
    """TensorListStack."""
    return b.add("TensorListStack", handle, element_shape(b, shape), element_dtype=dtype)


def from_tensor(b: FormBody, tensor: Written) -> Any:
    """TensorListFromTensor."""
    dims = tensor.spec.dims
    return b.add(
        "TensorListFromTensor", tensor, element_shape(b, dims if dims is None else dims[1:])
    )


def get_shaped_item(
    b: FormBody, handle: Written, index: Written, shape: Written, *, dtype: DType
) -> Any:
    """An element, or zeros of a shape."""
    return b.add("TensorListGetItem", handle, index, cast(b, shape, int32), element_dtype=dtype)


def pop_shaped(b: FormBody, handle: Written, shape: Written, *, dtype: DType) -> Any:
    """The last element, or zeros of a shape."""
    return b.add("TensorListPopBack", handle, cast(b, shape, int32), element_dtype=dtype)


def clear_item(b: FormBody, handle: Written, index: Written) -> Any:
    """Zeros in the place of an element, which has been read just before."""
    item = b.same_inputs_before()
    if item is None:
        raise NoForm("the dtype of the elements is not known")
    return b.add("TensorListSetItem", handle, cast(b, index, int32), b.add("ZerosLike", item))


def to_shape(b: FormBody, handle: Written, shape: Written, *, dtype: DType) -> Any:
    """All elements, with zeros for those that are missing."""
    length, row = b.add("SplitV", shape, b.const([1, -1]), b.const(0), num_split=2)
    whole = b.add("TensorListResize", handle, b.add("Squeeze", length, squeeze_dims=[0]))
    return b.add("TensorListStack", whole, cast(b, row, int32), element_dtype=dtype)


def _at_least(b: FormBody, handle: Written, length: Any) -> Any:
    """A list that is as long as is said, or longer."""
    size = b.add("Maximum", b.add("TensorListLength", handle), cast(b, length, int32))
    return b.add("TensorListResize", handle, size)


def add_lists(b: FormBody, x: Written, y: Written) -> Any:
    """Lists added element by element; one that is shorter has no elements behind its end."""
    whole = _at_least(b, x, b.add("TensorListLength", y))
    return b.add("AddN", [whole, _at_least(b, y, b.add("TensorListLength", x))])


def no_rows(b: FormBody) -> Any:
    """A list without elements, which others are added to."""
    return b.add(
        "TensorListReserve", element_shape(b, None), b.const(0), element_dtype=b.list_dtype()
    )


def add_rows(
    b: FormBody, handle: Written, indices: Written, values: Written, length: Written
) -> Any:
    """Rows added to those that are there; an index may come twice."""
    whole, indices = _at_least(b, handle, length), cast(b, indices, int32)
    dtype = values.dtype
    if indices.spec.rank == 0:
        shape = b.add("Shape", values)
        item = b.add("TensorListGetItem", whole, indices, shape, element_dtype=dtype)
        return b.add("TensorListSetItem", whole, indices, b.add("AddV2", item, values))
    _, shape = b.add("SplitV", b.add("Shape", values), b.const([1, -1]), b.const(0), num_split=2)
    there = b.add("TensorListStack", whole, shape, element_dtype=dtype)
    added = b.add("UnsortedSegmentSum", values, indices, b.add("TensorListLength", whole))
    return b.add("TensorListFromTensor", b.add("AddV2", there, added), shape)


def read_rows(
    b: FormBody, handle: Written, indices: Written, *, dtype: DType, shape: Sequence[Any] | None
) -> Any:
    """TensorListGather."""
    sizes = element_shape(b, shape)
    return b.add("TensorListGather", handle, cast(b, indices, int32), sizes, element_dtype=dtype)


def concat_items(
    b: FormBody,
    handle: Written,
    like: Written,
    *,
    dtype: DType,
    shape: Sequence[Any] | None,
    axis: int,
) -> Any:
    """TensorListConcatV2, which joins along the first axis elements that have all been written."""
    if axis != 0:
        raise NoForm("TensorFlow's lists are joined along their first axis only")
    sizes = sizes_of(shape)
    first = b.const(-1 if sizes is None else np.array([-1, *sizes[1:]], np.int32), int32)
    none = b.const(np.zeros(0, np.int64), int64)
    return b.add("TensorListConcatV2", handle, first, none, element_dtype=dtype)[0]


def split_items(b: FormBody, tensor: Written, lengths: Written, *, axis: int) -> Any:
    """TensorListSplit, along the first axis."""
    if axis != 0:
        raise NoForm("TensorFlow splits along the first axis only")
    sizes = sizes_of(tensor.spec.dims)
    shape = b.const(-1 if sizes is None else np.array([-1, *sizes[1:]], np.int32), int32)
    return b.add("TensorListSplit", tensor, shape, cast(b, lengths, int64))


def custom_gradient(b: FormBody, *inputs: Any, gradient: Any) -> Any:
    """The results; their gradient cannot be saved, and TensorFlow says so to who asks for it."""
    if gradient.results > len(inputs):
        raise NoForm("it has no such results")
    message = "A gradient given by tf.custom_gradient is not part of a SavedModel written by Weft."
    return [b.add("PreventGradient", x, message=message) for x in inputs[: gradient.results]]
