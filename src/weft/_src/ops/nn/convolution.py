"""Convolutions: windows as the rows of a matrix, times the filters as another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from weft._src.core.aliases import ArrayNamespace, ShapeLike, TensorLike, WindowLike
from weft._src.core.convert import adopt, convert_to_tensor, of_dtype
from weft._src.core.dtypes import FLOATING, INDEX, int32
from weft._src.core.native_rules import Special
from weft._src.core.shapes import Dim, Dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import ShapeError
from weft._src.ops import batching, graph_forms, rules
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.nn import window_products, windows
from weft._src.ops.nn.window_products import pieces
from weft._src.ops.nn.windows import Geometry, channels_back, channels_last
from weft._src.ops.reduce.sums import SHAPE_DTYPE
from weft._src.ops.registry import Op, args, define_op

_DTYPES = FLOATING | {int32}


class _Ops(NamedTuple):
    forward: Op
    input_gradient: Op
    filter_gradient: Op


def _groups(op: str, channels: Any, per_group: Any, outputs: Any) -> int:
    """How many groups of channels are convolved apart: usually one."""
    sizes = (channels, per_group, outputs)
    if any(isinstance(size, Dim) for size in sizes):
        return 1
    if channels == per_group:
        return 1
    if not per_group or not channels or channels % per_group or outputs % (channels // per_group):
        raise ShapeError(
            f"{op}: input has {channels} channels and filters are for {per_group}. They must be "
            "equal, or the former (and the number of filters) a multiple."
        )
    return channels // per_group


def _rows(xp: ArrayNamespace, columns: Array, n: int, groups: int) -> Array:
    """(batch, *outputs, *window, channels) as (groups, places, window * channels per group)."""
    window, channels = columns.shape[n + 1 : -1], columns.shape[-1]
    places, k = math.prod(columns.shape[: n + 1]), math.prod(window)
    parts = xp.reshape(columns, (places, k, groups, channels // groups))
    return xp.reshape(xp.moveaxis(parts, 2, 0), (groups, places, k * (channels // groups)))


def _filter_matrix(xp: ArrayNamespace, filters: Array, groups: int) -> Array:
    """(*window, inputs, outputs) as (groups, window * inputs, outputs per group)."""
    outputs = filters.shape[-1]
    flat = xp.reshape(filters, (math.prod(filters.shape[:-1]), groups, outputs // groups))
    return xp.moveaxis(flat, 1, 0)


def _split_outputs(xp: ArrayNamespace, y: Array, groups: int) -> Array:
    """(batch, *outputs, channels) as (groups, places, channels per group)."""
    places = math.prod(y.shape[:-1])
    flat = xp.reshape(y, (places, groups, y.shape[-1] // groups))
    return xp.moveaxis(flat, 1, 0)


def _define(name: str, names: tuple[str, str], n: int) -> _Ops:
    """The convolution over n spatial axes, and the two ops that are its gradients."""
    function = name.lower()

    def geometry(sizes: Sequence[Any], window: Any, attrs: dict[str, Any]) -> Geometry:
        return Geometry.of(
            function, sizes, window, attrs["strides"], attrs["dilations"], attrs["padding"]
        )

    def infer_filled(x: TensorSpec, filters: TensorSpec, **attrs: Any) -> TensorSpec:
        if 0 in (filters.dims or ()):
            raise ShapeError(f"{function}: filters must have elements, got shape {filters.shape}.")
        return infer(x, filters, **attrs)

    def infer(x: TensorSpec, filters: TensorSpec, **attrs: Any) -> TensorSpec:
        rules.check_rank(function, x, n + 2, name="input")
        rules.check_rank(function, filters, n + 2, name="filters")
        first = attrs["channels_first"]
        unknown: Dims = tuple([Dim() for _ in range(n + 2)])
        batch, sizes, channels = windows.spatial_dims(x.dims or unknown, first)
        *window, per_group, outputs = filters.dims or unknown
        _groups(function, channels, per_group, outputs)
        out = windows.output_sizes(
            function, sizes, tuple(window), attrs["strides"], attrs["dilations"], attrs["padding"]
        )
        return x.with_dims(windows.image_dims(batch, out, outputs, first))

    def kernel(xp: ArrayNamespace, x: Array, filters: Array, **attrs: Any) -> Array:
        first, dtype = attrs["channels_first"], x.dtype
        x, filters = xp.widen(channels_last(xp, x, first)), xp.widen(filters)
        where = geometry(x.shape[1:-1], filters.shape[:n], attrs)
        groups = _groups(function, x.shape[-1], filters.shape[-2], filters.shape[-1])
        if groups == 1:
            out = window_products.convolved(xp, x, filters, where)
            return channels_back(xp, out.astype(dtype, copy=False), first)
        padded, matrix = where.pad(xp, x), _filter_matrix(xp, filters, groups)
        columns = where.columns(xp, padded)
        out = xp.empty((x.shape[0], *where.outputs, filters.shape[-1]), x.dtype)
        for piece in pieces(where, x.shape[0], matrix.shape[1]):
            product = xp.matmul(_rows(xp, columns[piece], n, groups), matrix)
            out[piece] = xp.reshape(xp.moveaxis(product, 0, 1), out[piece].shape)
        return channels_back(xp, out.astype(dtype, copy=False), first)

    def vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor | None, Tensor | None]:
        x, filters = ctx.inputs
        return (
            input_gradient(_shape(x), filters, g, **ctx.attrs) if ctx.wants(0) else None,
            filter_gradient(x, _shape(filters), g, **ctx.attrs) if ctx.wants(1) else None,
        )

    # --- the gradient for the input -----------------------------------------------------------

    def input_infer(
        shape: TensorSpec, filters: TensorSpec, g: TensorSpec, **attrs: Any
    ) -> TensorSpec:
        rules.check_rank(function, g, n + 2, name="out_backprop")
        dims = rules.dims_from_value(names[0], shape, name="input_sizes")
        if dims is not None:
            expected = infer(g.with_dims(dims), filters, **attrs)
            rules.merge_dims(names[0], expected.dims, g.dims, "the output and its gradient")
        return g.with_dims(dims)

    def input_kernel(
        xp: ArrayNamespace, shape: Array, filters: Array, g: Array, **attrs: Any
    ) -> Array:
        first, dtype = attrs["channels_first"], g.dtype
        batch, sizes, channels = windows.spatial_dims(tuple(shape.tolist()), first)
        g, filters = xp.widen(channels_last(xp, g, first)), xp.widen(filters)
        where = geometry(sizes, filters.shape[:n], attrs)
        groups = _groups(function, channels, filters.shape[-2], filters.shape[-1])
        if groups == 1:
            whole = (batch, *sizes, channels)
            out = window_products.input_gradient(xp, whole, filters, g, where)
            return channels_back(xp, out.astype(dtype, copy=False), first)
        matrix = xp.swapaxes(_filter_matrix(xp, filters, groups), -1, -2)
        out = xp.zeros(where.padded_shape((batch, *sizes, channels)), g.dtype)
        k = math.prod(where.window)
        for images, rows in pieces(where, batch, matrix.shape[2]):
            part = g[images, rows]
            flat = xp.matmul(_split_outputs(xp, part, groups), matrix)
            split = xp.reshape(flat, (groups, flat.shape[1], k, channels // groups))
            columns = xp.moveaxis(split, 0, 2)
            columns = xp.reshape(columns, (*part.shape[:-1], *where.window, channels))
            for place, at in where.positions(rows):
                spatial = (slice(None),) * n
                out[(images, *at)] += columns[(slice(None), *spatial, *place)]
        return channels_back(xp, out[where.inside()].astype(dtype, copy=False), first)

    def input_vjp(ctx: VjpContext, h: Tensor) -> tuple[Tensor | None, ...]:
        _, filters, g = ctx.inputs
        return (
            None,
            filter_gradient(h, _shape(filters), g, **ctx.attrs) if ctx.wants(1) else None,
            forward(h, filters, **ctx.attrs) if ctx.wants(2) else None,
        )

    # --- the gradient for the filters ---------------------------------------------------------

    def filter_infer(x: TensorSpec, shape: TensorSpec, g: TensorSpec, **attrs: Any) -> TensorSpec:
        return g.with_dims(rules.dims_from_value(names[1], shape, name="filter_sizes"))

    def filter_kernel(xp: ArrayNamespace, x: Array, shape: Array, g: Array, **attrs: Any) -> Array:
        first, dtype = attrs["channels_first"], g.dtype
        wanted = tuple(shape.tolist())
        x, g = xp.widen(channels_last(xp, x, first)), xp.widen(channels_last(xp, g, first))
        where = geometry(x.shape[1:-1], wanted[:n], attrs)
        groups = _groups(function, x.shape[-1], wanted[-2], wanted[-1])
        if groups == 1:
            out = window_products.filter_gradient(xp, x, wanted, g, where)
            return out.astype(dtype, copy=False)
        padded = where.pad(xp, x)
        out = xp.zeros((groups, math.prod(wanted[:-1]), wanted[-1] // groups), g.dtype)
        columns = where.columns(xp, padded)
        for piece in pieces(where, x.shape[0], out.shape[1]):
            rows = xp.swapaxes(_rows(xp, columns[piece], n, groups), -1, -2)
            out += xp.matmul(rows, _split_outputs(xp, g[piece], groups))
        return xp.reshape(xp.moveaxis(out, 0, 1), wanted).astype(dtype, copy=False)

    def filter_vjp(ctx: VjpContext, h: Tensor) -> tuple[Tensor | None, ...]:
        x, _, g = ctx.inputs
        return (
            input_gradient(_shape(x), h, g, **ctx.attrs) if ctx.wants(0) else None,
            None,
            forward(x, h, **ctx.attrs) if ctx.wants(2) else None,
        )

    forward = define_op(
        name,
        args("input filter", _DTYPES),
        batch=batching.inexact(batching.merged),
        infer=infer_filled,
        kernel=kernel,
        native=Special("convolution"),
        xla=Lowered("convolution"),
        slow_kernel=True,
        vjp=vjp,
        fresh=True,
        graphdef=graph_forms.windows,
    )
    input_gradient = define_op(
        names[0],
        args("input_sizes", INDEX, is_shape=True) + args("filter out_backprop", _DTYPES),
        batch=batching.merged_back,
        infer=input_infer,
        kernel=input_kernel,
        native=Special("convolution_input_gradient"),
        xla=Lowered("convolution_input_gradient"),
        slow_kernel=True,
        vjp=input_vjp,
        graphdef=graph_forms.windows,
    )
    filter_gradient = define_op(
        names[1],
        _filter_gradient_args(),
        infer=filter_infer,
        kernel=filter_kernel,
        native=Special("convolution_filter_gradient"),
        xla=Lowered("convolution_filter_gradient"),
        slow_kernel=True,
        vjp=filter_vjp,
        graphdef=graph_forms.windows,
    )
    return _Ops(forward, input_gradient, filter_gradient)


def _filter_gradient_args() -> Any:
    x, g = args("input out_backprop", _DTYPES)
    return (x, *args("filter_sizes", INDEX, is_shape=True), g)


def _shape(x: Tensor) -> Tensor:
    return shapes.shape_op(x, out_type=SHAPE_DTYPE)


CONVOLUTIONS = {
    2: _define("Conv2D", ("Conv2DBackpropInput", "Conv2DBackpropFilter"), 2),
    3: _define("Conv3D", ("Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"), 3),
}


def attributes(
    op: str,
    n: int,
    strides: Any,
    padding: str | Sequence[Sequence[int]],
    data_format: Any,
    dilations: Any,
) -> dict[str, Any]:
    """The attributes of a convolution over n spatial axes, checked."""
    first = windows.check_format(op, data_format, n)
    return {
        "strides": windows.per_axis(op, "strides", strides, n, first),
        "padding": windows.check_padding(op, padding, n, first),
        "dilations": windows.per_axis(op, "dilations", dilations, n, first),
        "channels_first": first,
    }


def conv2d(
    input: TensorLike,
    filters: TensorLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NHWC",
    dilations: WindowLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The convolution of images with filters of shape (height, width, inputs, outputs).

    Args:
      input: images [batch, height, width, channels], or in the order of `data_format`, of floating
        numbers or int32.
      filters: a tensor [height, width, inputs, outputs] of the same dtype. If the channels are a
        multiple of the inputs, groups of them are convolved apart.
      strides: how far windows are apart: a number, one for each spatial axis, or one for every
        axis.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size has
        strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and channels.
      data_format: "NHWC" or "NCHW": the order of batch, spatial axes and channels.
      dilations: how far elements of a filter are apart, given like `strides`; None means 1.

    Returns:
      A tensor of the rank and dtype of `input`, with as many channels as there are outputs.

    Raises:
      ShapeError: if a rank, the channels, the padding or a window does not fit.
      ValueError: if there is no such format or padding, or strides or dilations have a wrong
        length.
      DTypeError: if the dtypes differ, or are others than these.

    >>> image = tf.reshape(tf.constant([1.0, 2.0, 3.0, 4.0]), [1, 2, 2, 1])
    >>> tf.nn.conv2d(image, tf.ones([2, 2, 1, 1]), strides=1, padding="VALID").numpy()
    array([[[[10.]]]], dtype=float32)
    """
    attrs = attributes("conv2d", 2, strides, padding, data_format, dilations)
    x = convert_to_tensor(input)
    return CONVOLUTIONS[2].forward(x, adopt(filters, x.dtype), **attrs, name=name)


def conv3d(
    input: TensorLike,
    filters: TensorLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NDHWC",
    dilations: WindowLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The convolution of volumes with filters of shape (depth, height, width, inputs, outputs).

    Args:
      input: volumes [batch, depth, height, width, channels], or in the order of `data_format`, of
        floating numbers or int32.
      filters: a tensor [depth, height, width, inputs, outputs] of the same dtype. If the channels
        are a multiple of the inputs, groups of them are convolved apart.
      strides: how far windows are apart: a number, one for each spatial axis, or one for every
        axis.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size has
        strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and channels.
      data_format: "NDHWC" or "NCDHW": the order of batch, spatial axes and channels.
      dilations: how far elements of a filter are apart, given like `strides`; None means 1.

    Returns:
      A tensor of the rank and dtype of `input`, with as many channels as there are outputs.

    Raises:
      ShapeError: if a rank, the channels, the padding or a window does not fit.
      ValueError: if there is no such format or padding, or strides or dilations have a wrong
        length.
      DTypeError: if the dtypes differ, or are others than these.

    >>> x = tf.ones([1, 2, 2, 2, 1])
    >>> tf.nn.conv3d(x, tf.ones([2, 2, 2, 1, 1]), strides=[1] * 5, padding="VALID").numpy().ravel()
    array([8.], dtype=float32)
    """
    attrs = attributes("conv3d", 3, strides, padding, data_format, dilations)
    x = convert_to_tensor(input)
    return CONVOLUTIONS[3].forward(x, adopt(filters, x.dtype), **attrs, name=name)


def conv1d(
    input: TensorLike,
    filters: TensorLike,
    stride: Any,
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NWC",
    dilations: WindowLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The convolution of sequences with filters of shape (width, inputs, outputs).

    Args:
      input: sequences [batch, width, channels], or in the order of `data_format`, of floating
        numbers or int32.
      filters: a tensor [width, inputs, outputs] of the same dtype. If the channels are a multiple
        of the inputs, groups of them are convolved apart.
      stride: how far windows are apart: a number, one for each spatial axis, or one for every axis.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size has
        strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and channels.
      data_format: "NWC" or "NCW": the order of batch, spatial axes and channels.
      dilations: how far elements of a filter are apart, given like `stride`; None means 1.

    Returns:
      A tensor of the rank and dtype of `input`, with as many channels as there are outputs.

    Raises:
      ShapeError: if a rank, the channels, the padding or a window does not fit.
      ValueError: if there is no such format or padding, or strides or dilations have a wrong
        length.
      DTypeError: if the dtypes differ, or are others than these.

    >>> x = tf.reshape(tf.constant([1.0, 2.0, 3.0]), [1, 3, 1])
    >>> tf.nn.conv1d(x, tf.ones([2, 1, 1]), stride=1, padding="VALID").numpy().ravel()
    array([3., 5.], dtype=float32)
    """
    attrs = attributes("conv1d", 1, stride, padding, data_format, dilations)
    x = convert_to_tensor(input)
    rules.check_rank("conv1d", x.spec, 3, name="input")
    flat = adopt(filters, x.dtype)
    rules.check_rank("conv1d", flat.spec, 3, name="filters")
    at = 3 if attrs["channels_first"] else 2
    out = CONVOLUTIONS[2].forward(
        shapes.expand_dims_op(x, axis=at),
        shapes.expand_dims_op(flat, axis=1),
        **with_width(attrs),
        name=name,
    )
    return shapes.squeeze_op(out, axis=(at,))


def with_width(attrs: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a convolution over one axis for images of width 1.

    (Not of height 1: large outputs are computed some rows at a time.)
    """
    padding = attrs["padding"]
    return attrs | {
        "strides": (*attrs["strides"], 1),
        "dilations": (*attrs["dilations"], 1),
        "padding": padding if isinstance(padding, str) else (*padding, (0, 0)),
    }


def conv2d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]] = "SAME",
    data_format: str = "NHWC",
    dilations: WindowLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv2d`: filters have shape (height, width, outputs, inputs).

    Args:
      input: images [batch, height, width, channels], or in the order of `data_format`, of floating
        numbers or int32.
      filters: a tensor [height, width, outputs, inputs] of the same dtype.
      output_shape: the shape of the result, batch and channels included: a list or integer vector.
      strides: how far windows in the result are apart: a number, one for each spatial axis, or one
        for every axis.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size of the
        result has strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and
        channels.
      data_format: "NHWC" or "NCHW": the order of batch, spatial axes and channels.
      dilations: how far elements of a filter are apart, given like `strides`; None means 1.

    Returns:
      A tensor of shape `output_shape` and the dtype of `input`.

    Raises:
      ShapeError: if a rank, the channels, the padding or a window does not fit.
      ValueError: if there is no such format or padding, or strides or dilations have a wrong
        length.
      DTypeError: if the dtypes differ, or are others than these.

    >>> x = tf.reshape(tf.constant([1.0, 2.0]), [1, 1, 2, 1])
    >>> y = tf.nn.conv2d_transpose(x, tf.ones([1, 2, 1, 1]), [1, 1, 4, 1], strides=[1, 2])
    >>> y.numpy().ravel()
    array([1., 1., 2., 2.], dtype=float32)
    """
    attrs = attributes("conv2d_transpose", 2, strides, padding, data_format, dilations)
    x = convert_to_tensor(input)
    shape = of_dtype("conv2d_transpose", output_shape, int32, "output_shape")
    return CONVOLUTIONS[2].input_gradient(shape, adopt(filters, x.dtype), x, **attrs, name=name)
