"""Convolutions that treat each channel apart, and what is built on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike, WindowLike
from weft._src.core.convert import adopt, convert_to_tensor, of_dtype
from weft._src.core.dtypes import FLOATING, INDEX, float32, int32
from weft._src.core.native_rules import Special
from weft._src.core.shapes import Dim, Dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import ShapeError
from weft._src.ops import batching, composed_graph_forms, graph_forms, rules, static
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.nn import convolution as convolutions, window_machine, windows
from weft._src.ops.nn.windows import Geometry, channels_back, channels_last
from weft._src.ops.reduce.sums import SHAPE_DTYPE
from weft._src.ops.registry import Op, args, define_op

_OP = "depthwise_conv2d"


def _geometry(sizes: Sequence[Any], window: Any, attrs: dict[str, Any]) -> Geometry:
    return Geometry.of(_OP, sizes, window, attrs["strides"], attrs["dilations"], attrs["padding"])


def _infer(x: TensorSpec, filters: TensorSpec, **attrs: Any) -> TensorSpec:
    rules.check_rank(_OP, x, 4, name="input")
    rules.check_rank(_OP, filters, 4, name="filter")
    first = attrs["channels_first"]
    unknown: Dims = tuple([Dim() for _ in range(4)])
    batch, sizes, channels = windows.spatial_dims(x.dims or unknown, first)
    *window, inputs, multiplier = filters.dims or unknown
    inputs = rules.unify(_OP, channels, inputs, "the channels of input and of filter (axis 2)")
    out = windows.output_sizes(
        _OP, sizes, tuple(window), attrs["strides"], attrs["dilations"], attrs["padding"]
    )
    return x.with_dims(windows.image_dims(batch, out, rules.product([inputs, multiplier]), first))


def _infer_filled(x: TensorSpec, filters: TensorSpec, **attrs: Any) -> TensorSpec:
    if 0 in (filters.dims or ()):
        raise ShapeError(f"{_OP}: filter must have elements, got shape {filters.shape}.")
    return _infer(x, filters, **attrs)


def _kernel(xp: ArrayNamespace, x: Array, filters: Array, **attrs: Any) -> Array:
    first, dtype = attrs["channels_first"], x.dtype
    x, filters = xp.widen(channels_last(xp, x, first)), xp.widen(filters)
    where = _geometry(x.shape[1:-1], filters.shape[:2], attrs)
    out = window_machine.attempted(
        _size(x.shape[0], where, filters.shape),
        x.dtype,
        lambda kernels: kernels.convolved_channels(x, filters[..., 0], where),
        lambda: _convolved(xp, x, filters, where),
    )
    return channels_back(xp, out.astype(dtype, copy=False), first)


def _size(batch: int, where: Geometry, filters: tuple[int, ...]) -> int:
    """How many multiplications there are; machine code is for one filter per channel only."""
    return batch * math.prod(where.outputs) * math.prod(filters) if filters[-1] == 1 else 0


def _convolved(xp: ArrayNamespace, x: Array, filters: Array, where: Geometry) -> Array:
    padded = where.pad(xp, x)
    *_, channels, multiplier = filters.shape
    out = xp.zeros((x.shape[0], *where.outputs, channels, multiplier), x.dtype)
    part = xp.empty(out.shape, out.dtype)
    for place, at in where.positions():
        out += xp.multiply(padded[(slice(None), *at)][..., None], filters[place], out=part)
    return xp.reshape(out, (*out.shape[:3], channels * multiplier))


def _by_channel(xp: ArrayNamespace, g: Array, filters: Any) -> Array:
    """(batch, *outputs, channels, filters of each), for filters of a shape."""
    return xp.reshape(g, (*g.shape[:3], *filters[2:]))


def _check_gradient_shape(
    where: Geometry, g: Array, batch: int, channels: int, filters: tuple[int, ...]
) -> None:
    """Sizes that were unknown while tracing: those that differ might broadcast, or lie outside."""
    expected = (batch, *where.outputs, filters[2] * filters[3])
    if channels != filters[2]:
        raise ShapeError(f"{_OP}: the input has {channels} channels, the filter {filters[2]}.")
    if g.shape != expected:
        raise ShapeError(
            f"{_OP}: out_backprop has shape {g.shape} (channels last), sizes and strides make "
            f"{expected}."
        )


def _input_infer(shape: TensorSpec, filters: TensorSpec, g: TensorSpec, **_: Any) -> TensorSpec:
    return g.with_dims(rules.dims_from_value(_OP, shape, name="input_sizes"))


def _input_kernel(
    xp: ArrayNamespace, shape: Array, filters: Array, g: Array, **attrs: Any
) -> Array:
    first, dtype = attrs["channels_first"], g.dtype
    batch, sizes, channels = windows.spatial_dims(tuple(shape.tolist()), first)
    g, filters = xp.widen(channels_last(xp, g, first)), xp.widen(filters)
    where = _geometry(sizes, filters.shape[:2], attrs)
    _check_gradient_shape(where, g, batch, channels, filters.shape)
    whole = (batch, *sizes, channels)
    out = window_machine.attempted(
        _size(batch, where, filters.shape),
        g.dtype,
        lambda kernels: kernels.channels_input_gradient(g, filters[..., 0], where),
        lambda: _added_up(xp, whole, filters, g, where),
    )
    return channels_back(xp, out.astype(dtype), first)


def _added_up(
    xp: ArrayNamespace, shape: tuple[int, ...], filters: Array, g: Array, where: Geometry
) -> Array:
    g = _by_channel(xp, g, filters.shape)
    out = xp.zeros(where.padded_shape(shape), g.dtype)
    for place, at in where.positions():
        out[(slice(None), *at)] += (g * filters[place]).sum(-1)
    return out[where.inside()]


def _filter_infer(x: TensorSpec, shape: TensorSpec, g: TensorSpec, **_: Any) -> TensorSpec:
    return g.with_dims(rules.dims_from_value(_OP, shape, name="filter_sizes"))


def _filter_kernel(xp: ArrayNamespace, x: Array, shape: Array, g: Array, **attrs: Any) -> Array:
    first, dtype = attrs["channels_first"], g.dtype
    wanted = tuple(shape.tolist())
    x, g = xp.widen(channels_last(xp, x, first)), xp.widen(channels_last(xp, g, first))
    where = _geometry(x.shape[1:-1], wanted[:2], attrs)
    _check_gradient_shape(where, g, x.shape[0], x.shape[-1], wanted)
    out = window_machine.attempted(
        _size(x.shape[0], where, wanted),
        g.dtype,
        lambda kernels: kernels.channels_filter_gradient(x, g, where),
        lambda: _met(xp, x, wanted, g, where),
    )
    return xp.reshape(out, wanted).astype(dtype, copy=False)


def _met(xp: ArrayNamespace, x: Array, shape: tuple[int, ...], g: Array, where: Geometry) -> Array:
    padded, g = where.pad(xp, x), _by_channel(xp, g, shape)
    out = xp.zeros(shape, g.dtype)
    for place, at in where.positions():
        out[place] = xp.einsum("nhwc,nhwcm->cm", padded[(slice(None), *at)], g)
    return out


def _shape(x: Tensor) -> Tensor:
    return shapes.shape_op(x, out_type=SHAPE_DTYPE)


def _vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor | None, ...]:
    x, filters = ctx.inputs
    return (
        input_op(_shape(x), filters, g, **ctx.attrs) if ctx.wants(0) else None,
        filter_op(x, _shape(filters), g, **ctx.attrs) if ctx.wants(1) else None,
    )


def _input_vjp(ctx: VjpContext, h: Tensor) -> tuple[Tensor | None, ...]:
    _, filters, g = ctx.inputs
    return (
        None,
        filter_op(h, _shape(filters), g, **ctx.attrs) if ctx.wants(1) else None,
        depthwise_op(h, filters, **ctx.attrs) if ctx.wants(2) else None,
    )


def _filter_vjp(ctx: VjpContext, h: Tensor) -> tuple[Tensor | None, ...]:
    x, _, g = ctx.inputs
    return (
        input_op(_shape(x), h, g, **ctx.attrs) if ctx.wants(0) else None,
        None,
        depthwise_op(x, h, **ctx.attrs) if ctx.wants(2) else None,
    )


depthwise_op: Op = define_op(
    "DepthwiseConv2dNative",
    args("input filter", FLOATING),
    infer=_infer_filled,
    kernel=_kernel,
    native=Special("depthwise_convolution"),
    xla=Lowered("depthwise_convolution"),
    vjp=_vjp,
    fresh=True,
    slow_kernel=True,
    batch=batching.inexact(batching.merged),
    graphdef=composed_graph_forms.depthwise,
)
input_op: Op = define_op(
    "DepthwiseConv2dNativeBackpropInput",
    args("input_sizes", INDEX, is_shape=True) + args("filter out_backprop", FLOATING),
    infer=_input_infer,
    kernel=_input_kernel,
    native=Special("depthwise_convolution_input_gradient"),
    xla=Lowered("depthwise_convolution_input_gradient"),
    vjp=_input_vjp,
    fresh=True,
    slow_kernel=True,
    batch=batching.merged_back,
    graphdef=graph_forms.windows,
)
_x, _g = args("input out_backprop", FLOATING)
filter_op: Op = define_op(
    "DepthwiseConv2dNativeBackpropFilter",
    (_x, *args("filter_sizes", INDEX, is_shape=True), _g),
    infer=_filter_infer,
    kernel=_filter_kernel,
    native=Special("depthwise_convolution_filter_gradient"),
    xla=Lowered("depthwise_convolution_filter_gradient"),
    vjp=_filter_vjp,
    fresh=True,
    slow_kernel=True,
    graphdef=graph_forms.windows,
)


def depthwise_conv2d(
    input: TensorLike,
    filter: TensorLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]],
    data_format: str | None = None,
    dilations: WindowLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Each channel of images with filters of its own: (height, width, channels, filters each).

    Args:
      input: images [batch, height, width, channels], or in the order of `data_format`, of floating
        numbers.
      filter: a tensor [height, width, channels, filters for each channel] of the same dtype.
      strides: how far windows are apart: a number, one for each spatial axis, or one for every
        axis.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size has
        strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and channels.
      data_format: "NHWC" or "NCHW": the order of batch, spatial axes and channels; None means
        "NHWC".
      dilations: how far elements of a filter are apart, given like `strides`; None means 1.

    Returns:
      A tensor of rank 4 and the dtype of `input`; the results of the filters of a channel are
      channels next to each other.

    Raises:
      ShapeError: if a rank, the channels, the padding or a window does not fit.
      ValueError: if there is no such format or padding, or strides or dilations have a wrong
        length.
      DTypeError: if the dtypes differ, or are others than these.

    >>> x = tf.reshape(tf.range(8.0), [1, 2, 2, 2])
    >>> tf.nn.depthwise_conv2d(x, tf.ones([2, 2, 2, 1]), [1, 1, 1, 1], "VALID").numpy().ravel()
    array([12., 16.], dtype=float32)
    """
    attrs = convolutions.attributes(_OP, 2, strides, padding, data_format, dilations)
    x = convert_to_tensor(input)
    return depthwise_op(x, adopt(filter, x.dtype), **attrs, name=name)


def separable_conv2d(
    input: TensorLike,
    depthwise_filter: TensorLike,
    pointwise_filter: TensorLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]],
    data_format: str | None = None,
    dilations: WindowLike | None = None,
    name: str | None = None,
) -> Tensor:
    """A `depthwise_conv2d`, and then a mixture of its channels by filters of size 1.

    Args:
      input: images [batch, height, width, channels], or in the order of `data_format`, of floating
        numbers.
      depthwise_filter: a tensor [height, width, channels, filters for each channel] of the same
        dtype.
      pointwise_filter: a tensor [1, 1, channels * filters for each channel, outputs] of the same
        dtype.
      strides: how far windows are apart: a number, one for each spatial axis, or one for every
        axis.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size has
        strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and channels.
      data_format: "NHWC" or "NCHW": the order of batch, spatial axes and channels; None means
        "NHWC".
      dilations: how far elements of a filter are apart, given like `strides`; None means 1.

    Returns:
      A tensor of rank 4 and the dtype of `input`, with as many channels as there are outputs.

    Raises:
      ShapeError: if a rank, the channels, the padding or a window does not fit.
      ValueError: if there is no such format or padding, or strides or dilations have a wrong
        length.
      DTypeError: if the dtypes differ, or are others than these.

    >>> x = tf.reshape(tf.range(8.0), [1, 2, 2, 2])
    >>> depthwise, pointwise = tf.ones([2, 2, 2, 1]), tf.ones([1, 1, 2, 1])
    >>> y = tf.nn.separable_conv2d(x, depthwise, pointwise, [1, 1, 1, 1], "VALID")
    >>> y.numpy().ravel()
    array([28.], dtype=float32)
    """
    x = convert_to_tensor(input)
    mixture = adopt(pointwise_filter, x.dtype)
    rules.check_rank("separable_conv2d", mixture.spec, 4, name="pointwise_filter")
    if mixture.spec.dims is not None:
        what = "the first two sizes of pointwise_filter and (1, 1)"
        rules.merge_dims("separable_conv2d", mixture.spec.dims[:2], (1, 1), what)
    apart = depthwise_conv2d(x, depthwise_filter, strides, padding, data_format, dilations)
    form = "NHWC" if data_format is None else data_format
    return convolutions.conv2d(apart, mixture, 1, "VALID", form, name=name)


# --- gradients as functions ----------------------------------------------------------------------


def _sizes(op: str, value: TensorLike, name: str) -> tuple[Tensor, TensorSpec]:
    """Sizes as a tensor, and what a tensor of these sizes is like."""
    sizes = of_dtype(op, value, int32, name)
    rules.check_rank(op, sizes.spec, 1, name=name)
    known = static.static_value(sizes)
    dims = rules.dims_from_value(op, sizes.spec, name=name) if known is None else tuple(known)
    like = TensorSpec.of(float32, None if dims is None else tuple(map(_plain, dims)))
    rules.check_rank(op, like, 4, name=f"what {name} describes")
    return sizes, like


def _plain(size: Any) -> Any:
    return size if isinstance(size, Dim) else int(size)


def _check_gradient(op: str, result: TensorSpec, g: Tensor) -> None:
    rules.check_rank(op, g.spec, 4, name="out_backprop")
    rules.merge_dims(op, result.dims, g.spec.dims, "the result and out_backprop")


def depthwise_conv2d_backprop_input(
    input_sizes: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NHWC",
    dilations: WindowLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The gradient of `depthwise_conv2d` for its input.

    Args:
      input_sizes: the four sizes of the input.
      filter: a tensor [height, width, channels, filters for each channel] of floating numbers.
      out_backprop: the gradient of the result, of the same dtype.
      strides: how far windows are apart: a number, one for each spatial axis, or one for every
        axis.
      padding: "VALID", "SAME", or a list of pairs [before, after] for every axis.
      data_format: "NHWC" or "NCHW": the order of batch, spatial axes and channels.
      dilations: how far elements of a filter are apart, given like `strides`; None means 1.

    Returns:
      A tensor of these sizes.

    Raises:
      ShapeError: if the shapes do not fit.
      ValueError: if there is no such format or padding.

    >>> g = tf.ones([1, 1, 1, 2])
    >>> tf.nn.depthwise_conv2d_backprop_input(
    ...     [1, 1, 2, 2], tf.ones([1, 2, 2, 1]), g, [1, 1, 1, 1], "VALID"
    ... ).numpy().ravel()
    array([1., 1., 1., 1.], dtype=float32)
    """
    op = "depthwise_conv2d_backprop_input"
    attrs = convolutions.attributes(op, 2, strides, padding, data_format, dilations)
    g = convert_to_tensor(out_backprop)
    sizes, like = _sizes(op, input_sizes, "input_sizes")
    kernel = adopt(filter, g.dtype)
    _check_gradient(op, _infer(like, kernel.spec, **attrs), g)
    return input_op(sizes, kernel, g, **attrs, name=name)


def depthwise_conv2d_backprop_filter(
    input: TensorLike,
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NHWC",
    dilations: WindowLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The gradient of `depthwise_conv2d` for its filter.

    Args:
      input: images [batch, height, width, channels], or in the order of `data_format`, of floating
        numbers.
      filter_sizes: the four sizes of the filter.
      out_backprop: the gradient of the result, of the same dtype.
      strides: how far windows are apart: a number, one for each spatial axis, or one for every
        axis.
      padding: "VALID", "SAME", or a list of pairs [before, after] for every axis.
      data_format: "NHWC" or "NCHW": the order of batch, spatial axes and channels.
      dilations: how far elements of a filter are apart, given like `strides`; None means 1.

    Returns:
      A tensor of these sizes.

    Raises:
      ShapeError: if the shapes do not fit.
      ValueError: if there is no such format or padding.

    >>> x = tf.reshape(tf.range(4.0), [1, 1, 2, 2])
    >>> tf.nn.depthwise_conv2d_backprop_filter(
    ...     x, [1, 2, 2, 1], tf.ones([1, 1, 1, 2]), [1, 1, 1, 1], "VALID"
    ... ).numpy().ravel()
    array([0., 1., 2., 3.], dtype=float32)
    """
    op = "depthwise_conv2d_backprop_filter"
    attrs = convolutions.attributes(op, 2, strides, padding, data_format, dilations)
    x = convert_to_tensor(input)
    g = adopt(out_backprop, x.dtype)
    sizes, like = _sizes(op, filter_sizes, "filter_sizes")
    _check_gradient(op, _infer(x.spec, like, **attrs), g)
    return filter_op(x, sizes, g, **attrs, name=name)
