"""Grayscale dilation and erosion: the largest sum of pixel and filter in each window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike, WindowLike
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.dtypes import FLOATING, REAL
from weft._src.core.shapes import Dim, Dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.ops import batching, composed_graph_forms, rules
from weft._src.ops.arrays import tiling
from weft._src.ops.contexts import VjpContext
from weft._src.ops.nn import windows
from weft._src.ops.nn.windows import Geometry
from weft._src.ops.registry import NO_NATIVE, NO_XLA, Op, args, define_op


def _geometry(x: Array, filters: Array, attrs: dict[str, Any]) -> Geometry:
    return Geometry.of(
        "dilation2d",
        x.shape[1:3],
        filters.shape[:2],
        attrs["strides"],
        attrs["rates"],
        attrs["padding"],
    )


def _infer(x: TensorSpec, filters: TensorSpec, **attrs: Any) -> TensorSpec:
    rules.check_rank("dilation2d", x, 4, name="input")
    rules.check_rank("dilation2d", filters, 3, name="filters")
    unknown: Dims = tuple([Dim() for _ in range(4)])
    batch, *sizes, channels = x.dims or unknown
    *window, depth = filters.dims or unknown[:3]
    channels = rules.unify("dilation2d", channels, depth, "the channels of input and filters")
    out = windows.output_sizes(
        "dilation2d",
        tuple(sizes),
        tuple(window),
        attrs["strides"],
        attrs["rates"],
        attrs["padding"],
    )
    return x.with_dims((batch, *out, channels))


def _padded(xp: ArrayNamespace, where: Geometry, x: Array) -> Array:
    lowest = xp.iinfo(x.dtype).min if x.dtype.kind in "iu" else -xp.inf
    return where.pad(xp, x, lowest)


def _kernel(xp: ArrayNamespace, x: Array, filters: Array, **attrs: Any) -> Array:
    where = _geometry(x, filters, attrs)
    padded, out = _padded(xp, where, x), None
    for place, at in where.positions():
        found = padded[(slice(None), *at)] + filters[place]
        out = found if out is None else xp.maximum(out, found)
    if out is None:
        return xp.zeros((x.shape[0], *where.outputs, x.shape[-1]), x.dtype)
    return out.astype(x.dtype, copy=False)


def _winners(
    xp: ArrayNamespace, x: Array, filters: Array, attrs: dict[str, Any]
) -> Iterator[tuple[Any, Any, Array]]:
    """For each place in the window: the pixels there, and the windows it is the (first) best of."""
    where = _geometry(x, filters, attrs)
    padded, best = _padded(xp, where, x), _kernel(xp, x, filters, **attrs)
    free = xp.ones(best.shape, bool)
    for place, at in where.positions():
        index = (slice(None), *at)
        hit = ((padded[index] + filters[place]) == best) & free
        free &= ~hit
        yield place, index, hit


def _input_kernel(xp: ArrayNamespace, x: Array, filters: Array, g: Array, **attrs: Any) -> Array:
    where = _geometry(x, filters, attrs)
    out = xp.zeros(where.padded_shape(x.shape), xp.widen(g).dtype)
    for _, index, hit in _winners(xp, x, filters, attrs):
        out[index] += xp.where(hit, g, g.dtype.type(0))
    return out[where.inside()].astype(g.dtype)


def _filter_kernel(xp: ArrayNamespace, x: Array, filters: Array, g: Array, **attrs: Any) -> Array:
    out = xp.zeros(filters.shape, xp.widen(g).dtype)
    for place, _, hit in _winners(xp, x, filters, attrs):
        out[place] = xp.where(hit, xp.widen(g), 0).sum((0, 1, 2))
    return out.astype(g.dtype, copy=False)


def _pick_kernel(
    xp: ArrayNamespace, x: Array, filters: Array, image: Array, weights: Array, **attrs: Any
) -> Array:
    where = _geometry(x, filters, attrs)
    padded = where.pad(xp, image)
    out = xp.zeros((x.shape[0], *where.outputs, x.shape[-1]), x.dtype)
    for place, index, hit in _winners(xp, x, filters, attrs):
        out = xp.where(hit, padded[index] + weights[place], out)
    return out


def _vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor, Tensor]:
    inputs = (*ctx.inputs, g)
    return input_op(*inputs, **ctx.attrs), filter_op(*inputs, **ctx.attrs)


def _input_vjp(ctx: VjpContext, h: Tensor) -> tuple[None, None, Tensor]:
    x, filters, _ = ctx.inputs
    return None, None, pick_op(x, filters, h, filters * 0, **ctx.attrs)


def _filter_vjp(ctx: VjpContext, h: Tensor) -> tuple[None, None, Tensor]:
    x, filters, _ = ctx.inputs
    return None, None, pick_op(x, filters, x * 0, h, **ctx.attrs)


def _pick_vjp(ctx: VjpContext, g: Tensor) -> tuple[None, None, Tensor, Tensor]:
    inputs = (*ctx.inputs[:2], g)
    return None, None, input_op(*inputs, **ctx.attrs), filter_op(*inputs, **ctx.attrs)


dilation_op: Op = define_op(
    "Dilation2D",
    args("input filter", REAL),
    infer=_infer,
    kernel=_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=_vjp,
    fresh=True,
    batch=batching.inexact(batching.merged),
    graphdef=composed_graph_forms.dilation,
)
input_op: Op = define_op(
    "Dilation2DBackpropInput",
    args("input filter out_backprop", FLOATING),
    infer=rules.same,
    kernel=_input_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=_input_vjp,
    fresh=True,
    graphdef=composed_graph_forms.dilation,
)
filter_op: Op = define_op(
    "Dilation2DBackpropFilter",
    args("input filter out_backprop", FLOATING),
    infer=lambda x, filters, g, **attrs: filters,
    kernel=_filter_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=_filter_vjp,
    fresh=True,
    graphdef=composed_graph_forms.dilation,
)
# What lies where each window has its best pixel, in an image and in a filter: both gradients' own.
pick_op: Op = define_op(
    "Dilation2DPick",
    args("input filter image weights", FLOATING),
    infer=lambda x, filters, image, weights, **attrs: _infer(x, filters, **attrs),
    kernel=_pick_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=_pick_vjp,
    fresh=True,
)


def attributes(
    op: str,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]],
    data_format: str,
    dilations: WindowLike,
) -> Any:
    if data_format != "NHWC":
        raise ValueError(f"{op}: data_format must be 'NHWC', got {data_format!r}.")
    for name, given in (("strides", strides), ("dilations", dilations)):
        if not isinstance(given, (list, tuple)):
            raise TypeError(f"{op}: {name} must be a list of four numbers, got {given!r}.")
    return {
        "strides": windows.per_axis(op, "strides", strides, 2, False),
        "rates": windows.per_axis(op, "dilations", dilations, 2, False),
        "padding": windows.check_padding(op, padding, 2, False),
    }


def dilation2d(
    input: TensorLike,
    filters: TensorLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]],
    data_format: str,
    dilations: WindowLike,
    name: str | None = None,
) -> Tensor:
    """The largest sum of pixel and filter, of shape (height, width, channels), in each window.

    Args:
      input: images [batch, height, width, channels] of real numbers.
      filters: a tensor [height, width, channels] of the same dtype.
      strides: how far windows are apart: a list with a number for every axis, 1 for batch and
        channels.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size has
        strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and channels.
      data_format: only "NHWC".
      dilations: how far elements of a filter are apart, given like `strides`.

    Returns:
      A tensor of rank 4, with the channels and dtype of `input`.

    Raises:
      ShapeError: if a rank, the channels, the padding or a window does not fit.
      TypeError: if strides or dilations are no lists.
      ValueError: if the format or the padding is another one, or strides or dilations have a wrong
        length.

    >>> x = tf.reshape(tf.constant([1.0, 5.0, 2.0]), [1, 1, 3, 1])
    >>> ones = [1, 1, 1, 1]
    >>> tf.nn.dilation2d(x, tf.zeros([1, 2, 1]), ones, "VALID", "NHWC", ones).numpy().ravel()
    array([5., 5.], dtype=float32)
    """
    attrs = attributes("dilation2d", strides, padding, data_format, dilations)
    x = convert_to_tensor(input)
    return dilation_op(x, adopt(filters, x.dtype), **attrs, name=name)


def erosion2d(
    value: TensorLike,
    filters: TensorLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]],
    data_format: str,
    dilations: WindowLike,
    name: str | None = None,
) -> Tensor:
    """The smallest difference of pixel and filter (turned around) in each window.

    Args:
      value: images [batch, height, width, channels] of real numbers.
      filters: a tensor [height, width, channels] of the same dtype.
      strides: how far windows are apart: a list with a number for every axis, 1 for batch and
        channels.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size has
        strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and channels.
      data_format: only "NHWC".
      dilations: how far elements of a filter are apart, given like `strides`.

    Returns:
      A tensor of rank 4, with the channels and dtype of `value`.

    Raises:
      ShapeError: if a rank, the channels, the padding or a window does not fit.
      TypeError: if strides or dilations are no lists.
      ValueError: if the format or the padding is another one, or strides or dilations have a wrong
        length.

    >>> x = tf.reshape(tf.constant([1.0, 5.0, 2.0]), [1, 1, 3, 1])
    >>> ones = [1, 1, 1, 1]
    >>> tf.nn.erosion2d(x, tf.zeros([1, 2, 1]), ones, "VALID", "NHWC", ones).numpy().ravel()
    array([1., 2.], dtype=float32)
    """
    attrs = attributes("erosion2d", strides, padding, data_format, dilations)
    x = convert_to_tensor(value)
    kernel = adopt(filters, x.dtype)
    rules.check_rank("erosion2d", kernel.spec, 3, name="filters")
    return -dilation_op(-x, tiling.reverse(kernel, [0, 1]), **attrs, name=name)
