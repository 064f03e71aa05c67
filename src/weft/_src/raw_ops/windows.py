"""Raw ops on windows of images: convolutions and pools, with every padding, and their gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import weft as tf
from weft._src.core.aliases import TensorLike, WindowLike
from weft._src.core.convert import adopt
from weft._src.ops.arrays.shape import shape_argument
from weft._src.ops.nn import convolution, depthwise, morphology, windows
from weft._src.ops.registry import Op, find_op
from weft._src.raw_ops.gradients import pulled_back


def _padding(op: str, padding: str, explicit: Sequence[int]) -> Any:
    """The name of a padding, or the pairs that a flat list stands for."""
    if padding != "EXPLICIT":
        if explicit:
            raise ValueError(
                f"{op}: explicit_paddings are for padding='EXPLICIT', got {padding!r}."
            )
        return padding
    numbers = [int(n) for n in explicit]
    return [numbers[i : i + 2] for i in range(0, len(numbers), 2)]


# --- convolutions --------------------------------------------------------------------------------


def _attributes(
    op: str,
    n: int,
    strides: WindowLike,
    padding: str,
    explicit_paddings: Sequence[int],
    data_format: str,
    dilations: WindowLike,
) -> dict[str, Any]:
    pairs = _padding(op, padding, explicit_paddings)
    return convolution.attributes(op, n, strides, pairs, data_format, dilations)


def _convolution(op: Op, n: int) -> Callable[..., tf.Tensor]:
    def convolve(
        input: TensorLike,
        filter: TensorLike,
        strides: WindowLike,
        padding: str,
        data_format: str,
        dilations: WindowLike,
        explicit_paddings: Sequence[int] = (),
        name: str | None = None,
    ) -> tf.Tensor:
        given = (strides, padding, explicit_paddings, data_format, dilations)
        attrs = _attributes(op.name, n, *given)
        x = tf.convert_to_tensor(input)
        return op(x, adopt(filter, x.dtype), **attrs, name=name)

    return convolve


def _input_gradient(op: Op, n: int) -> Callable[..., tf.Tensor]:
    def gradient(
        input_sizes: TensorLike,
        filter: TensorLike,
        out_backprop: TensorLike,
        strides: WindowLike,
        padding: str,
        data_format: str,
        dilations: WindowLike,
        explicit_paddings: Sequence[int] = (),
        name: str | None = None,
    ) -> tf.Tensor:
        given = (strides, padding, explicit_paddings, data_format, dilations)
        attrs = _attributes(op.name, n, *given)
        g, sizes = tf.convert_to_tensor(out_backprop), shape_argument(input_sizes)
        kernel = adopt(filter, g.dtype)
        if sizes.shape == (n,):  # without batch and channels
            sizes = _whole_shape(sizes, g, kernel, attrs["channels_first"])
        return op(sizes, kernel, g, **attrs, name=name)

    return gradient


def _whole_shape(
    sizes: tf.Tensor, g: tf.Tensor, kernel: tf.Tensor, channels_first: bool
) -> tf.Tensor:
    batch, channels = tf.shape(g)[:1], tf.shape(kernel)[-2:-1]
    spatial = tf.cast(sizes, tf.int32)
    parts = [batch, channels, spatial] if channels_first else [batch, spatial, channels]
    return tf.concat(parts, 0)


def _filter_gradient(op: Op, n: int) -> Callable[..., tf.Tensor]:
    def gradient(
        input: TensorLike,
        filter_sizes: TensorLike,
        out_backprop: TensorLike,
        strides: WindowLike,
        padding: str,
        data_format: str,
        dilations: WindowLike,
        explicit_paddings: Sequence[int] = (),
        name: str | None = None,
    ) -> tf.Tensor:
        given = (strides, padding, explicit_paddings, data_format, dilations)
        attrs = _attributes(op.name, n, *given)
        x = tf.convert_to_tensor(input)
        sizes, g = shape_argument(filter_sizes), adopt(out_backprop, x.dtype)
        return op(x, sizes, g, **attrs, name=name)

    return gradient


conv2d, conv3d = [_convolution(convolution.CONVOLUTIONS[n].forward, n) for n in (2, 3)]
conv2d_input, conv3d_input = [
    _input_gradient(convolution.CONVOLUTIONS[n].input_gradient, n) for n in (2, 3)
]
conv2d_filter, conv3d_filter = [
    _filter_gradient(convolution.CONVOLUTIONS[n].filter_gradient, n) for n in (2, 3)
]
depthwise_conv2d = _convolution(depthwise.depthwise_op, 2)
depthwise_input = _input_gradient(depthwise.input_op, 2)
depthwise_filter = _filter_gradient(depthwise.filter_op, 2)


def _dilation_gradient(op: Op) -> Callable[..., tf.Tensor]:
    def gradient(
        input: TensorLike,
        filter: TensorLike,
        out_backprop: TensorLike,
        strides: WindowLike,
        rates: WindowLike,
        padding: str,
        name: str | None = None,
    ) -> tf.Tensor:
        attrs = morphology.attributes(op.name, strides, padding, "NHWC", rates)
        x = tf.convert_to_tensor(input)
        return op(x, adopt(filter, x.dtype), adopt(out_backprop, x.dtype), **attrs, name=name)

    return gradient


dilation_input = _dilation_gradient(morphology.input_op)
dilation_filter = _dilation_gradient(morphology.filter_op)


# --- pools ---------------------------------------------------------------------------------------


def _pool_attributes(
    op: str,
    n: int,
    ksize: WindowLike,
    strides: WindowLike,
    padding: str,
    explicit_paddings: Sequence[int],
    data_format: str,
) -> dict[str, Any]:
    first = windows.check_format(op, data_format, n)
    pairs = _padding(op, padding, explicit_paddings)
    return {
        "ksize": windows.per_axis(op, "ksize", ksize, n, first),
        "strides": windows.per_axis(op, "strides", strides, n, first),
        "padding": windows.check_padding(op, pairs, n, first),
        "channels_first": first,
    }


def _pool(name: str, n: int) -> Callable[..., tf.Tensor]:
    op = find_op(name)

    def pool(
        input: TensorLike,
        ksize: WindowLike,
        strides: WindowLike,
        padding: str,
        data_format: str,
        explicit_paddings: Sequence[int] = (),
        name: str | None = None,
    ) -> tf.Tensor:
        given = (ksize, strides, padding, explicit_paddings, data_format)
        attrs = _pool_attributes(op.name, n, *given)
        return op(tf.convert_to_tensor(input), **attrs, name=name)

    return pool


max_pool, max_pool3d = _pool("MaxPool", 2), _pool("MaxPool3D", 3)
avg_pool, avg_pool3d = _pool("AvgPool", 2), _pool("AvgPool3D", 3)


def _max_pool_gradient(name: str, n: int) -> Callable[..., tf.Tensor]:
    op = find_op(name)

    def gradient(
        orig_input: TensorLike,
        orig_output: TensorLike,
        grad: TensorLike,
        ksize: WindowLike,
        strides: WindowLike,
        padding: str,
        data_format: str,
        explicit_paddings: Sequence[int] = (),
        name: str | None = None,
    ) -> tf.Tensor:
        given = (ksize, strides, padding, explicit_paddings, data_format)
        attrs = _pool_attributes(op.name, n, *given)
        x = tf.convert_to_tensor(orig_input)
        return op(x, adopt(orig_output, x.dtype), adopt(grad, x.dtype), **attrs, name=name)

    return gradient


of_max_pool, of_max_pool3d = (
    _max_pool_gradient("MaxPoolGrad", 2),
    _max_pool_gradient("MaxPool3DGrad", 3),
)
of_max_pool_gradient, of_max_pool3d_gradient = (
    _max_pool_gradient("MaxPoolGradGrad", 2),
    _max_pool_gradient("MaxPool3DGradGrad", 3),
)


def _avg_pool_gradient(name: str, n: int) -> Callable[..., tf.Tensor]:
    op = find_op(name)

    def gradient(
        orig_input_shape: TensorLike,
        grad: TensorLike,
        ksize: WindowLike,
        strides: WindowLike,
        padding: str,
        data_format: str,
        name: str | None = None,
    ) -> tf.Tensor:
        attrs = _pool_attributes(op.name, n, ksize, strides, padding, (), data_format)
        return op(shape_argument(orig_input_shape), tf.convert_to_tensor(grad), **attrs, name=name)

    return gradient


of_avg_pool, of_avg_pool3d = (
    _avg_pool_gradient("AvgPoolGrad", 2),
    _avg_pool_gradient("AvgPool3DGrad", 3),
)


def of_argmax_pool(
    input: TensorLike,
    grad: TensorLike,
    argmax: TensorLike,
    ksize: WindowLike,
    strides: WindowLike,
    padding: str,
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    """Each gradient is added where the maximum of its window was found."""
    x, g = tf.convert_to_tensor(input), tf.convert_to_tensor(grad)
    places = tf.cast(argmax, tf.int64)
    if not include_batch_in_index:
        sizes = tf.shape(x, tf.int64)
        numbers = tf.range(sizes[0]) * tf.reduce_prod(sizes[1:])
        places += tf.reshape(numbers, [-1, 1, 1, 1])
    flat = tf.scatter_nd(
        tf.reshape(places, [-1, 1]), tf.reshape(g, [-1]), tf.size(x, tf.int64)[tf.newaxis]
    )
    return tf.reshape(flat, tf.shape(x), name=name)


# --- over channels -------------------------------------------------------------------------------


def of_response(
    input_grads: TensorLike,
    input_image: TensorLike,
    output_image: TensorLike,
    depth_radius: int = 5,
    bias: float = 1.0,
    alpha: float = 1.0,
    beta: float = 0.5,
    name: str | None = None,
) -> tf.Tensor:
    def normalized(x: tf.Tensor) -> tf.Tensor:
        return tf.nn.local_response_normalization(x, depth_radius, bias, alpha, beta)

    return pulled_back(normalized, input_image, input_grads)


# --- a convolution of any number of batches ------------------------------------------------------

_FORMATS = {
    ("CHANNELS_LAST", 2): "NHWC", ("CHANNELS_LAST", 3): "NDHWC",
    ("CHANNELS_FIRST", 2): "NCHW", ("CHANNELS_FIRST", 3): "NCDHW",
}  # fmt: skip


def any_convolution(
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int],
    data_format: str,
    dilations: Sequence[int],
    batch_dims: int,
    groups: int,
    name: str | None = None,
) -> tf.Tensor:
    """The op `Conv`: all batches are one while it runs."""
    x = tf.convert_to_tensor(input)
    kernel = adopt(filter, x.dtype)
    if x.shape.rank is None:
        raise tf.errors.UnsupportedError("Conv: the rank of input must be known while tracing.")
    spatial = x.shape.rank - batch_dims - 1
    if spatial not in (2, 3) or batch_dims < 1:
        raise tf.errors.InvalidArgumentError(
            None, None, f"Conv: two or three axes must be left beside {batch_dims} of batches and "
            f"the channels, got shape {x.shape}.",
        )  # fmt: skip
    if (data_format, spatial) not in _FORMATS:
        raise ValueError(
            f"Conv: data_format must be 'CHANNELS_LAST' or 'CHANNELS_FIRST', got {data_format!r}."
        )
    if len(strides) != spatial + 2 or len(dilations) not in (0, spatial + 2):
        raise tf.errors.ArgumentError(
            f"Conv: strides and dilations must have {spatial + 2} numbers, got {strides!r} and "
            f"{dilations!r}."
        )
    form = _FORMATS[data_format, spatial]
    channels, each = x.shape[form.index("C") + batch_dims - 1], kernel.shape[-2]
    if channels is not None and each is not None and channels != each * groups:
        raise tf.errors.ShapeError(
            f"Conv: {groups} groups of {each} channels, which the filter is for, are not the "
            f"{channels} channels of input."
        )
    sizes = tf.shape(x)
    flat = tf.reshape(x, tf.concat([[-1], sizes[batch_dims:]], 0)) if batch_dims > 1 else x
    convolve = conv2d if spatial == 2 else conv3d
    rates = list(dilations) or [1] * (spatial + 2)
    out = convolve(flat, kernel, strides, padding, form, rates, explicit_paddings, name=name)
    if batch_dims == 1:
        return out
    return tf.reshape(out, tf.concat([sizes[:batch_dims], tf.shape(out)[1:]], 0))
