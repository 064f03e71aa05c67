"""Pooling: the maximum or the mean of every window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike, WindowLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import FLOATING, INDEX, REAL
from weft._src.core.native_rules import Special
from weft._src.core.shapes import Dim, Dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import ShapeError
from weft._src.ops import batching, graph_forms, rules
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise.operands import zeros_like
from weft._src.ops.nn import windows
from weft._src.ops.nn.windows import Geometry, channels_back, channels_last
from weft._src.ops.reduce.sums import SHAPE_DTYPE
from weft._src.ops.registry import Op, args, define_op


def _geometry(op: str, x: Array, attrs: dict[str, Any]) -> Geometry:
    ones = (1,) * len(attrs["ksize"])
    return Geometry.of(op, x.shape[1:-1], attrs["ksize"], attrs["strides"], ones, attrs["padding"])


def _infer(op: str, n: int) -> Any:
    def infer(x: TensorSpec, **attrs: Any) -> TensorSpec:
        rules.check_rank(op, x, n + 2, name="input")
        first = attrs["channels_first"]
        unknown: Dims = tuple([Dim() for _ in range(n + 2)])
        batch, sizes, channels = windows.spatial_dims(x.dims or unknown, first)
        ones = (1,) * n
        out = windows.output_sizes(
            op, sizes, attrs["ksize"], attrs["strides"], ones, attrs["padding"]
        )
        return x.with_dims(windows.image_dims(batch, out, channels, first))

    return infer


def _merged(op: str, pooled: Dims | None, *others: Dims | None) -> None:
    """ShapeError if results or their gradients have not the shape that pooling gives."""
    for other in others:
        rules.merge_dims(op, pooled, other, "the result and its gradient")


def _check_pooled(op: str, where: Geometry, x_shape: Sequence[int], *others: Array) -> None:
    """The same of arrays: sizes that were unknown while tracing, of which some would broadcast."""
    _merged(op, (x_shape[0], *where.outputs, x_shape[-1]), *[other.shape for other in others])


# --- maximum -----------------------------------------------------------------------------------


def _lowest(xp: ArrayNamespace, dtype: Any) -> Any:
    return xp.iinfo(dtype).min if dtype.kind in "iu" else -xp.inf


def _winners(xp: ArrayNamespace, where: Geometry, padded: Array, y: Array) -> Any:
    """For each place in the window: which windows have their (first) maximum there."""
    free: Any = None
    for _, at in where.positions():
        # In one piece first: loops over the channels of single places take longer than copying.
        hit = xp.ascontiguousarray(padded[(slice(None), *at)]) == y
        if free is None:
            free = ~hit
        else:
            hit &= free
            free ^= hit
        yield (slice(None), *at), hit


def _define_max(name: str, op: str, n: int) -> tuple[Op, Op]:
    """Max pooling over n spatial axes and its gradient; the gradient of that is defined, too."""

    def kernel(xp: ArrayNamespace, x: Array, **attrs: Any) -> Array:
        x = channels_last(xp, x, attrs["channels_first"])
        where = _geometry(op, x, attrs)
        low = _lowest(xp, x.dtype)
        out = where.pad(xp, x, low)
        for axis in range(n):  # along one axis after the other: the first has long rows
            first, *others = where.along(axis)
            found = out[first].copy()
            for at in others:
                xp.maximum(found, out[at], out=found)
            out = found
        return channels_back(xp, out, attrs["channels_first"])

    pooled = _infer(op, n)

    def grad_infer(x: TensorSpec, y: TensorSpec, g: TensorSpec, **attrs: Any) -> TensorSpec:
        _merged(op, pooled(x, **attrs).dims, y.dims, g.dims)
        return x

    def pick_infer(x: TensorSpec, y: TensorSpec, h: TensorSpec, **attrs: Any) -> TensorSpec:
        _merged(op, pooled(x, **attrs).dims, y.dims)
        rules.merge_dims(op, x.dims, h.dims, "the input and what is picked from")
        return y

    def grad_kernel(xp: ArrayNamespace, x: Array, y: Array, g: Array, **attrs: Any) -> Array:
        first = attrs["channels_first"]
        x, y, g = [channels_last(xp, part, first) for part in (x, y, g)]
        where = _geometry(op, x, attrs)
        _check_pooled(op, where, x.shape, y, g)
        padded = where.pad(xp, x, _lowest(xp, x.dtype))
        out = xp.zeros(padded.shape, xp.widen(g).dtype)
        apart = all(s >= k for s, k in zip(where.strides, where.window))
        g = xp.ascontiguousarray(g)
        for at, hit in _winners(xp, where, padded, y):
            won = xp.or_nothing(hit, g)
            if apart:  # no place is in two windows
                out[at] = won
            else:
                out[at] += won
        return channels_back(xp, out[where.inside()].astype(g.dtype, copy=False), first)

    def pick_kernel(xp: ArrayNamespace, x: Array, y: Array, h: Array, **attrs: Any) -> Array:
        first = attrs["channels_first"]
        x, y, h = [channels_last(xp, part, first) for part in (x, y, h)]
        where = _geometry(op, x, attrs)
        _check_pooled(op, where, x.shape, y)
        rules.merge_dims(op, x.shape, h.shape, "the input and what is picked from")
        padded, spread = where.pad(xp, x, _lowest(xp, x.dtype)), where.pad(xp, h)
        out = xp.zeros(y.shape, h.dtype)
        for at, hit in _winners(xp, where, padded, y):
            out = xp.where(hit, spread[at], out)
        return channels_back(xp, out, first)

    max_op = define_op(
        name,
        args("input", REAL),
        batch=batching.merged,
        infer=pooled,
        kernel=kernel,
        native=Special("max_pool"),
        xla=Lowered("max_pool"),
        slow_kernel=True,
        vjp=lambda ctx, g: (grad_op(ctx.inputs[0], ctx.outputs[0], g, **ctx.attrs),),
        graphdef=graph_forms.windows,
    )
    grad_op: Op = define_op(
        f"{name}Grad",
        args("orig_input orig_output grad", REAL),
        batch=batching.merged_all,
        infer=grad_infer,
        kernel=grad_kernel,
        native=Special("max_pool_grad"),
        xla=Lowered("max_pool_grad"),
        slow_kernel=True,
        # Which element is the largest does not change with small steps: zeros, as in TensorFlow.
        vjp=lambda ctx, h: (
            zeros_like(ctx.inputs[0]),
            zeros_like(ctx.inputs[1]),
            pick_op(*ctx.inputs[:2], h, **ctx.attrs),
        ),
        graphdef=graph_forms.windows,
    )
    pick_op: Op = define_op(
        f"{name}GradGrad",
        args("orig_input orig_output grad", REAL),
        batch=batching.merged_all,
        infer=pick_infer,
        kernel=pick_kernel,
        native=Special("max_pool_grad_grad"),
        xla=Lowered("max_pool_grad_grad"),
        vjp=lambda ctx, g: (
            zeros_like(ctx.inputs[0]),
            zeros_like(ctx.inputs[1]),
            grad_op(*ctx.inputs[:2], g, **ctx.attrs),
        ),
        graphdef=graph_forms.windows,
    )
    return max_op, grad_op


# --- mean --------------------------------------------------------------------------------------


def _define_mean(name: str, op: str, n: int) -> Op:
    """Mean pooling over n spatial axes, and the op of its gradient."""

    def kernel(xp: ArrayNamespace, x: Array, **attrs: Any) -> Array:
        dtype = x.dtype
        x = xp.widen(channels_last(xp, x, attrs["channels_first"]))
        where = _geometry(op, x, attrs)
        padded = where.pad(xp, x)
        out = xp.zeros((x.shape[0], *where.outputs, x.shape[-1]), x.dtype)
        for _, at in where.positions():
            out += padded[(slice(None), *at)]
        out /= windows.counts(xp, where, out.dtype)
        return channels_back(xp, out.astype(dtype, copy=False), attrs["channels_first"])

    pooled = _infer(op, n)

    def grad_infer(shape: TensorSpec, g: TensorSpec, **attrs: Any) -> TensorSpec:
        out = g.with_dims(rules.dims_from_value(f"{op} gradient", shape))
        _merged(op, pooled(out, **attrs).dims, g.dims)
        return out

    def grad_kernel(xp: ArrayNamespace, shape: Array, g: Array, **attrs: Any) -> Array:
        first, dtype = attrs["channels_first"], g.dtype
        g = xp.widen(channels_last(xp, g, first))
        batch, sizes, channels = windows.spatial_dims(tuple(shape.tolist()), first)
        ones = (1,) * n
        where = Geometry.of(op, sizes, attrs["ksize"], attrs["strides"], ones, attrs["padding"])
        _check_pooled(op, where, (batch, channels), g)
        out = xp.zeros(where.padded_shape((batch, *sizes, channels)), g.dtype)
        share = g / windows.counts(xp, where, g.dtype)
        for _, at in where.positions():
            out[(slice(None), *at)] += share
        return channels_back(xp, out[where.inside()].astype(dtype, copy=False), first)

    def vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
        shape = shapes.shape_op(ctx.inputs[0], out_type=SHAPE_DTYPE)
        return (grad_op(shape, g, **ctx.attrs),)

    mean_op = define_op(
        name,
        args("value", FLOATING),
        batch=batching.merged,
        infer=pooled,
        kernel=kernel,
        native=Special("avg_pool"),
        xla=Lowered("avg_pool"),
        slow_kernel=True,
        vjp=vjp,
        graphdef=graph_forms.windows,
    )
    grad_op: Op = define_op(
        f"{name}Grad",
        args("orig_input_shape", INDEX, is_shape=True) + args("grad", FLOATING),
        batch=batching.merged_back,
        infer=grad_infer,
        kernel=grad_kernel,
        native=Special("avg_pool_grad"),
        xla=Lowered("avg_pool_grad"),
        slow_kernel=True,
        vjp=lambda ctx, h: (None, mean_op(h, **ctx.attrs)),
        graphdef=graph_forms.windows,
    )
    return mean_op


max_pool_op, max_pool_grad_op = _define_max("MaxPool", "max_pool2d", 2)
_MAX = {2: max_pool_op, 3: _define_max("MaxPool3D", "max_pool3d", 3)[0]}
_MEAN = {
    2: _define_mean("AvgPool", "avg_pool2d", 2),
    3: _define_mean("AvgPool3D", "avg_pool3d", 3),
}


# --- public ------------------------------------------------------------------------------------


def _pool(
    table: dict[int, Op],
    op: str,
    n: int,
    input: TensorLike,
    ksize: WindowLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]],
    data_format: str | None,
    name: str | None,
) -> Tensor:
    first = windows.check_format(op, data_format, n)
    x = convert_to_tensor(input)
    rules.check_rank(op, x.spec, n + 2, name="input")
    attrs = {
        "ksize": windows.per_axis(op, "ksize", ksize, n, first),
        "strides": windows.per_axis(op, "strides", strides, n, first),
        "padding": windows.check_padding(op, padding, n, first),
        "channels_first": first,
    }
    if n > 1:
        return table[n](x, **attrs, name=name)
    at = 2 if first else 1
    explicit = not isinstance(attrs["padding"], str)
    out = table[2](
        shapes.expand_dims_op(x, axis=at),
        ksize=(1, *attrs["ksize"]),
        strides=(1, *attrs["strides"]),
        padding=((0, 0), *attrs["padding"]) if explicit else attrs["padding"],
        channels_first=first,
        name=name,
    )
    return shapes.squeeze_op(out, axis=(at,))


def _spatial_rank(
    op: str, input: TensorLike, data_format: str | None, ksize: WindowLike
) -> tuple[Tensor, int]:
    """The number of spatial axes, from the format, the tensor or the window."""
    x = convert_to_tensor(input)
    if data_format is not None:
        n = len(str(data_format)) - 2
    elif x.spec.rank is not None:
        n = x.spec.rank - 2
    else:
        n = len(ksize) - 2 if isinstance(ksize, (list, tuple)) else 0
    if n not in (1, 2, 3):
        raise ShapeError(f"{op}: input must have rank 3, 4 or 5, got shape {x.shape}.")
    return x, n


def max_pool(
    input: TensorLike,
    ksize: WindowLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]],
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The maximum of every window, over one, two or three spatial axes.

    Args:
      input: a tensor of rank 3, 4 or 5: sequences, images or volumes with channels, of real
        numbers.
      ksize: the size of windows: a number, one for each spatial axis, or one for every axis.
      strides: how far windows are apart: a number, one for each spatial axis, or one for every
        axis.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size has
        strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and channels.
      data_format: such as "NWC", "NHWC" or "NCHW"; None means channels last.

    Returns:
      A tensor of the rank, channels and dtype of `input`.

    Raises:
      ShapeError: if a rank, the padding or a window does not fit.
      ValueError: if there is no such format or padding, or sizes or strides have a wrong length.
      DTypeError: if `input` has another dtype.

    >>> x = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
    >>> tf.nn.max_pool(x, 2, 2, "VALID").numpy().ravel()
    array([3.], dtype=float32)
    """
    x, n = _spatial_rank("max_pool", input, data_format, ksize)
    return _pool(_MAX, "max_pool", n, x, ksize, strides, padding, data_format, name)


def max_pool1d(
    input: TensorLike,
    ksize: WindowLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of every window of sequences.

    Args:
      input: sequences [batch, width, channels], or in the order of `data_format`, of real numbers.
      ksize: the size of windows: a number, one for each spatial axis, or one for every axis.
      strides: how far windows are apart: a number, one for each spatial axis, or one for every
        axis.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size has
        strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and channels.
      data_format: "NWC" or "NCW": the order of batch, spatial axes and channels.

    Returns:
      A tensor of the rank, channels and dtype of `input`.

    Raises:
      ShapeError: if a rank, the padding or a window does not fit.
      ValueError: if there is no such format or padding, or sizes or strides have a wrong length.
      DTypeError: if `input` has another dtype.

    >>> tf.nn.max_pool1d([[[1.0], [3.0], [2.0], [0.0]]], 2, 2, "VALID").numpy().ravel()
    array([3., 2.], dtype=float32)
    """
    return _pool(_MAX, "max_pool1d", 1, input, ksize, strides, padding, data_format, name)


def max_pool2d(
    input: TensorLike,
    ksize: WindowLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of every window of images.

    Args:
      input: images [batch, height, width, channels], or in the order of `data_format`, of real
        numbers.
      ksize: the size of windows: a number, one for each spatial axis, or one for every axis.
      strides: how far windows are apart: a number, one for each spatial axis, or one for every
        axis.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size has
        strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and channels.
      data_format: "NHWC" or "NCHW": the order of batch, spatial axes and channels.

    Returns:
      A tensor of the rank, channels and dtype of `input`.

    Raises:
      ShapeError: if a rank, the padding or a window does not fit.
      ValueError: if there is no such format or padding, or sizes or strides have a wrong length.
      DTypeError: if `input` has another dtype.

    >>> tf.nn.max_pool2d(tf.reshape(tf.range(6.0), [1, 2, 3, 1]), 2, 1, "VALID").numpy().ravel()
    array([4., 5.], dtype=float32)
    """
    return _pool(_MAX, "max_pool2d", 2, input, ksize, strides, padding, data_format, name)


def max_pool3d(
    input: TensorLike,
    ksize: WindowLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of every window of volumes.

    Args:
      input: volumes [batch, depth, height, width, channels], or in the order of `data_format`, of
        real numbers.
      ksize: the size of windows: a number, one for each spatial axis, or one for every axis.
      strides: how far windows are apart: a number, one for each spatial axis, or one for every
        axis.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size has
        strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and channels.
      data_format: "NDHWC" or "NCDHW": the order of batch, spatial axes and channels.

    Returns:
      A tensor of the rank, channels and dtype of `input`.

    Raises:
      ShapeError: if a rank, the padding or a window does not fit.
      ValueError: if there is no such format or padding, or sizes or strides have a wrong length.
      DTypeError: if `input` has another dtype.

    >>> tf.nn.max_pool3d(tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1]), 2, 2, "VALID").numpy().ravel()
    array([7.], dtype=float32)
    """
    return _pool(_MAX, "max_pool3d", 3, input, ksize, strides, padding, data_format, name)


def avg_pool(
    input: TensorLike,
    ksize: WindowLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]],
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The mean of every window, over one, two or three spatial axes; padding does not count.

    Args:
      input: a tensor of rank 3, 4 or 5: sequences, images or volumes with channels, of floating
        numbers.
      ksize: the size of windows: a number, one for each spatial axis, or one for every axis.
      strides: how far windows are apart: a number, one for each spatial axis, or one for every
        axis.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size has
        strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and channels.
      data_format: such as "NWC", "NHWC" or "NCHW"; None means channels last.

    Returns:
      A tensor of the rank, channels and dtype of `input`.

    Raises:
      ShapeError: if a rank, the padding or a window does not fit.
      ValueError: if there is no such format or padding, or sizes or strides have a wrong length.
      DTypeError: if `input` has another dtype.

    >>> x = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
    >>> tf.nn.avg_pool(x, 2, 2, "VALID").numpy().ravel()
    array([1.5], dtype=float32)
    """
    x, n = _spatial_rank("avg_pool", input, data_format, ksize)
    return _pool(_MEAN, "avg_pool", n, x, ksize, strides, padding, data_format, name)


def avg_pool1d(
    input: TensorLike,
    ksize: WindowLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NWC",
    name: str | None = None,
) -> Tensor:
    """The mean of every window of sequences; padding does not count.

    Args:
      input: sequences [batch, width, channels], or in the order of `data_format`, of floating
        numbers.
      ksize: the size of windows: a number, one for each spatial axis, or one for every axis.
      strides: how far windows are apart: a number, one for each spatial axis, or one for every
        axis.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size has
        strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and channels.
      data_format: "NWC" or "NCW": the order of batch, spatial axes and channels.

    Returns:
      A tensor of the rank, channels and dtype of `input`.

    Raises:
      ShapeError: if a rank, the padding or a window does not fit.
      ValueError: if there is no such format or padding, or sizes or strides have a wrong length.
      DTypeError: if `input` has another dtype.

    >>> tf.nn.avg_pool1d([[[1.0], [3.0], [2.0], [0.0]]], 2, 2, "VALID").numpy().ravel()
    array([2., 1.], dtype=float32)
    """
    return _pool(_MEAN, "avg_pool1d", 1, input, ksize, strides, padding, data_format, name)


def avg_pool2d(
    input: TensorLike,
    ksize: WindowLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """The mean of every window of images; padding does not count.

    Args:
      input: images [batch, height, width, channels], or in the order of `data_format`, of floating
        numbers.
      ksize: the size of windows: a number, one for each spatial axis, or one for every axis.
      strides: how far windows are apart: a number, one for each spatial axis, or one for every
        axis.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size has
        strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and channels.
      data_format: "NHWC" or "NCHW": the order of batch, spatial axes and channels.

    Returns:
      A tensor of the rank, channels and dtype of `input`.

    Raises:
      ShapeError: if a rank, the padding or a window does not fit.
      ValueError: if there is no such format or padding, or sizes or strides have a wrong length.
      DTypeError: if `input` has another dtype.

    >>> tf.nn.avg_pool2d(tf.reshape(tf.range(6.0), [1, 2, 3, 1]), 2, 1, "VALID").numpy().ravel()
    array([2., 3.], dtype=float32)
    """
    return _pool(_MEAN, "avg_pool2d", 2, input, ksize, strides, padding, data_format, name)


def avg_pool3d(
    input: TensorLike,
    ksize: WindowLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The mean of every window of volumes; padding does not count.

    Args:
      input: volumes [batch, depth, height, width, channels], or in the order of `data_format`, of
        floating numbers.
      ksize: the size of windows: a number, one for each spatial axis, or one for every axis.
      strides: how far windows are apart: a number, one for each spatial axis, or one for every
        axis.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size has
        strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and channels.
      data_format: "NDHWC" or "NCDHW": the order of batch, spatial axes and channels.

    Returns:
      A tensor of the rank, channels and dtype of `input`.

    Raises:
      ShapeError: if a rank, the padding or a window does not fit.
      ValueError: if there is no such format or padding, or sizes or strides have a wrong length.
      DTypeError: if `input` has another dtype.

    >>> tf.nn.avg_pool3d(tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1]), 2, 2, "VALID").numpy().ravel()
    array([3.5], dtype=float32)
    """
    return _pool(_MEAN, "avg_pool3d", 3, input, ksize, strides, padding, data_format, name)
