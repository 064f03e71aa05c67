"""Convolutions over any number of axes, dilated ones, and transposed ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft._src.core.aliases import ShapeLike, TensorLike, WindowLike
from weft._src.core.convert import adopt, convert_to_tensor, of_dtype
from weft._src.core.dtypes import int32
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.ops import rules, static
from weft._src.ops.arrays import joining, shape as shapes, space
from weft._src.ops.nn import convolution as convolutions

_FORMATS = {1: "NWC", 2: "NHWC", 3: "NDHWC"}
_FUNCTIONS = {1: convolutions.conv1d, 2: convolutions.conv2d, 3: convolutions.conv3d}


def _spatial_rank(op: str, filters: Tensor) -> int:
    rank = filters.spec.rank
    if rank not in (3, 4, 5):
        raise ShapeError(
            f"{op}: filters must have rank 3, 4 or 5 (1, 2 or 3 spatial axes), got shape "
            f"{filters.shape}."
        )
    return rank - 2


def convolution(
    input: TensorLike,
    filters: TensorLike,
    strides: WindowLike | None = None,
    padding: str | Sequence[Sequence[int]] = "VALID",
    data_format: str | None = None,
    dilations: WindowLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The convolution over as many axes as the filters have; more leading ones are batches.

    Args:
      input: batches (of any number of axes) of sequences, images or volumes with channels, of
        floating numbers or int32.
      filters: a tensor [*sizes, inputs, outputs] of rank 3, 4 or 5, of the same dtype.
      strides: how far windows are apart: a number, one for each spatial axis, or one for every
        axis; None means 1.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size has
        strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and channels.
      data_format: such as "NWC", "NHWC" or "NCHW"; None means channels last.
      dilations: how far elements of a filter are apart, given like `strides`; None means 1.

    Returns:
      A tensor of the rank and dtype of `input`, with as many channels as there are outputs.

    Raises:
      ShapeError: if a rank, the channels, the padding or a window does not fit.
      ValueError: if there is no such format or padding, or strides or dilations have a wrong
        length.
      DTypeError: if the dtypes differ, or are others than these.

    >>> x = tf.reshape(tf.range(4.0), [1, 4, 1])
    >>> tf.nn.convolution(x, tf.ones([2, 1, 1])).numpy().ravel()
    array([1., 3., 5.], dtype=float32)
    """
    x = convert_to_tensor(input)
    kernel = adopt(filters, x.dtype)
    n = _spatial_rank("convolution", kernel)
    rules.check_rank_at_least("convolution", x.spec, n + 2, name="input")
    form = _FORMATS[n] if data_format is None else data_format
    rank = x.spec.rank
    lead = None
    if rank is not None and rank > n + 2:
        lead = shapes.shape(x)[: rank - n - 1]
        x = shapes.reshape(x, joining.concat([[-1], shapes.shape(x)[rank - n - 1 :]], 0))
    step = 1 if strides is None else strides
    out = _FUNCTIONS[n](x, kernel, step, padding, form, dilations, name)
    if lead is None:
        return out
    return shapes.reshape(out, joining.concat([lead, shapes.shape(out)[1:]], 0))


def atrous_conv2d(
    value: TensorLike,
    filters: TensorLike,
    rate: TensorLike,
    padding: str | Sequence[Sequence[int]],
    name: str | None = None,
) -> Tensor:
    """The convolution of images with filters whose elements are `rate` pixels apart.

    Args:
      value: images [batch, height, width, channels], of floating numbers or int32.
      filters: a tensor [height, width, inputs, outputs] of the same dtype.
      rate: how far elements of a filter are apart, a Python integer of at least 1.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size has
        strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and channels.

    Returns:
      A tensor of rank 4 and the dtype of `value`, with as many channels as there are outputs.

    Raises:
      ShapeError: if `rate` is below 1, or a rank, the channels, the padding or a window does not
        fit.

    >>> x = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> tf.nn.atrous_conv2d(x, tf.ones([2, 2, 1, 1]), rate=2, padding="VALID").numpy().ravel()
    array([16.], dtype=float32)
    """
    step = static.static_int("atrous_conv2d", rate, "rate")
    if step < 1:
        raise ShapeError(f"atrous_conv2d: rate must be at least 1, got {step}.")
    return convolutions.conv2d(value, filters, 1, padding, dilations=step, name=name)


# --- transposed --------------------------------------------------------------------------------


def _output_shape(op: str, output_shape: Any, n: int) -> Tensor:
    if n == 3:  # TensorFlow takes int64 here, and only here
        shape = shapes.shape_argument(output_shape)
    else:
        shape = of_dtype(op, output_shape, int32, "output_shape")
    rules.check_rank(op, shape.spec, 1, name="output_shape")
    if shape.spec.dims is not None:
        what = "the length of output_shape and the rank of the output"
        rules.unify(op, shape.spec.dims[0], n + 2, what)
    return shape


def conv1d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]] = "SAME",
    data_format: str = "NWC",
    dilations: WindowLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv1d`: filters have shape (width, outputs, inputs).

    Args:
      input: sequences [batch, width, channels], or in the order of `data_format`, of floating
        numbers or int32.
      filters: a tensor [width, outputs, inputs] of the same dtype.
      output_shape: the shape of the result, batch and channels included: a list or integer vector.
      strides: how far windows in the result are apart: a number, one for each spatial axis, or one
        for every axis.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size of the
        result has strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and
        channels.
      data_format: "NWC" or "NCW": the order of batch, spatial axes and channels.
      dilations: how far elements of a filter are apart, given like `strides`; None means 1.

    Returns:
      A tensor of shape `output_shape` and the dtype of `input`.

    Raises:
      ShapeError: if a rank, the channels, the padding or a window does not fit.
      ValueError: if there is no such format or padding, or strides or dilations have a wrong
        length.
      DTypeError: if the dtypes differ, or are others than these.

    >>> x = tf.reshape(tf.constant([1.0, 2.0]), [1, 2, 1])
    >>> tf.nn.conv1d_transpose(x, tf.ones([2, 1, 1]), [1, 4, 1], strides=2).numpy().ravel()
    array([1., 1., 2., 2.], dtype=float32)
    """
    op = "conv1d_transpose"
    attrs = convolutions.attributes(op, 1, strides, padding, data_format, dilations)
    x = convert_to_tensor(input)
    kernel = adopt(filters, x.dtype)
    rules.check_rank(op, x.spec, 3, name="input")
    rules.check_rank(op, kernel.spec, 3, name="filters")
    shape = _output_shape(op, output_shape, 1)
    at = 3 if attrs["channels_first"] else 2
    one = shapes.reshape(adopt(1, shape.dtype), [1])
    out = convolutions.CONVOLUTIONS[2].input_gradient(
        joining.concat([shape[:at], one, shape[at:]], 0),
        shapes.expand_dims_op(kernel, axis=1),
        shapes.expand_dims_op(x, axis=at),
        **convolutions.with_width(attrs),
        name=name,
    )
    return shapes.squeeze_op(out, axis=(at,))


def conv3d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]] = "SAME",
    data_format: str = "NDHWC",
    dilations: WindowLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv3d`: filters have shape (depth, height, width, outputs, inputs).

    Args:
      input: volumes [batch, depth, height, width, channels], or in the order of `data_format`, of
        floating numbers or int32.
      filters: a tensor [depth, height, width, outputs, inputs] of the same dtype.
      output_shape: the shape of the result, batch and channels included: a list or integer vector.
      strides: how far windows in the result are apart: a number, one for each spatial axis, or one
        for every axis.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size of the
        result has strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and
        channels.
      data_format: "NDHWC" or "NCDHW": the order of batch, spatial axes and channels.
      dilations: how far elements of a filter are apart, given like `strides`; None means 1.

    Returns:
      A tensor of shape `output_shape` and the dtype of `input`.

    Raises:
      ShapeError: if a rank, the channels, the padding or a window does not fit.
      ValueError: if there is no such format or padding, or strides or dilations have a wrong
        length.
      DTypeError: if the dtypes differ, or are others than these.

    >>> x = tf.ones([1, 1, 1, 1, 1])
    >>> tf.nn.conv3d_transpose(x, tf.ones([1, 1, 2, 1, 1]), [1, 1, 1, 2, 1], 2).shape
    TensorShape([1, 1, 1, 2, 1])
    """
    op = "conv3d_transpose"
    attrs = convolutions.attributes(op, 3, strides, padding, data_format, dilations)
    x = convert_to_tensor(input)
    shape = _output_shape(op, output_shape, 3)
    transpose = convolutions.CONVOLUTIONS[3].input_gradient
    return transpose(shape, adopt(filters, x.dtype), x, **attrs, name=name)


def conv_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]] = "SAME",
    data_format: str | None = None,
    dilations: WindowLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `convolution` over as many axes as the filters have.

    Args:
      input: a tensor of rank 3, 4 or 5: sequences, images or volumes, of floating numbers or int32.
      filters: a tensor [*sizes, outputs, inputs] of the same rank and dtype.
      output_shape: the shape of the result, batch and channels included: a list or integer vector.
      strides: how far windows in the result are apart: a number, one for each spatial axis, or one
        for every axis.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size of the
        result has strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and
        channels.
      data_format: such as "NWC", "NHWC" or "NCHW"; None means channels last.
      dilations: how far elements of a filter are apart, given like `strides`; None means 1.

    Returns:
      A tensor of shape `output_shape` and the dtype of `input`.

    Raises:
      ShapeError: if a rank, the channels, the padding or a window does not fit.
      ValueError: if there is no such format or padding, or strides or dilations have a wrong
        length.
      DTypeError: if the dtypes differ, or are others than these.

    >>> x = tf.ones([1, 2, 1])
    >>> tf.nn.conv_transpose(x, tf.ones([2, 1, 1]), [1, 4, 1], strides=2).shape
    TensorShape([1, 4, 1])
    """
    x = convert_to_tensor(input)
    kernel = adopt(filters, x.dtype)
    n = _spatial_rank("conv_transpose", kernel)
    form = _FORMATS[n] if data_format is None else data_format
    functions = {1: conv1d_transpose, 2: convolutions.conv2d_transpose, 3: conv3d_transpose}
    return functions[n](x, kernel, output_shape, strides, padding, form, dilations, name)


def atrous_conv2d_transpose(
    value: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    rate: int,
    padding: str,
    name: str | None = None,
) -> Tensor:
    """The transpose of `atrous_conv2d`: the gradient of a dilated convolution for its input.

    Args:
      value: images [batch, height, width, inputs] of floating numbers.
      filters: a tensor [height, width, outputs, inputs] of the same dtype.
      output_shape: the four sizes of the result.
      rate: how far elements of a filter are apart.
      padding: "VALID" or "SAME", that of the convolution that this transposes.

    Returns:
      A tensor of these sizes and the dtype of `value`.

    Raises:
      ShapeError: if shapes or channels do not fit.
      ValueError: if there is no such padding, or the rate is not positive.

    >>> x = tf.ones([1, 1, 1, 1])
    >>> y = tf.nn.atrous_conv2d_transpose(x, tf.ones([1, 2, 1, 1]), [1, 1, 3, 1], 2, "VALID")
    >>> y.numpy().ravel()
    array([1., 0., 1.], dtype=float32)
    """
    op = "atrous_conv2d_transpose"
    if not isinstance(padding, str) or padding not in ("VALID", "SAME"):
        raise ValueError(f"{op}: padding must be 'VALID' or 'SAME', got {padding!r}.")
    step = static.static_int(op, rate, "rate")
    if step < 1:
        raise ValueError(f"{op}: rate must be positive, got {rate!r}.")
    return convolutions.conv2d_transpose(
        value, filters, output_shape, 1, padding, "NHWC", step, name=name
    )


def with_space_to_batch(
    input: TensorLike,
    dilation_rate: TensorLike,
    padding: str,
    op: Callable[[Tensor, int, str], Tensor],
    filter_shape: TensorLike | None = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Tensor:
    """A function of windows, dilated: it gets every nth element of the input as a batch.

    Args:
      input: a tensor, of a rank that is known.
      dilation_rate: how far elements of windows are apart, a positive integer for each spatial
        axis.
      padding: "VALID" or "SAME".
      op: a function of a tensor, the number of spatial axes and the padding.
      filter_shape: the sizes of the windows, which "SAME" needs.
      spatial_dims: the spatial axes, next to each other and rising; None means those after the
        first.
      data_format: None, or such as "NHWC" or "NCHW", which says where channels are.

    Returns:
      What `op` gives, put together.

    Raises:
      ValueError: if arguments do not fit.
      ShapeError: if the input has too few axes.

    >>> x = tf.reshape(tf.range(5.0), [1, 5, 1])
    >>> tf.nn.with_space_to_batch(
    ...     x, [2], "VALID", lambda x, _, padding: tf.nn.conv1d(x, tf.ones([2, 1, 1]), 1, padding)
    ... ).numpy().ravel()
    array([2., 4., 6.], dtype=float32)
    """
    function = "with_space_to_batch"
    x = convert_to_tensor(input)
    rates = _positive(function, dilation_rate, "dilation_rate")
    n = len(rates)
    first = 2 if data_format is not None and str(data_format).startswith("NC") else 1
    axes = list(range(first, first + n))
    if spatial_dims is not None:
        axes = _positive(function, spatial_dims, "spatial_dims")
    if not axes or axes != list(range(axes[0], axes[0] + n)):
        raise ValueError(
            f"{function}: spatial_dims must be {n} axes next to each other, from 1 on, got "
            f"{spatial_dims!r}."
        )
    if not isinstance(padding, str) or padding not in ("VALID", "SAME"):
        raise ValueError(f"{function}: padding must be 'VALID' or 'SAME', got {padding!r}.")
    if not callable(op):
        raise TypeError(f"{function}: op must be a function, got {op!r}.")
    rules.check_rank_at_least(function, x.spec, axes[-1] + 1, name="input")
    if all(rate == 1 for rate in rates):
        return op(x, n, padding)
    sizes = shapes.shape(x)[axes[0] : axes[-1] + 1]
    base = [[0, 0]] * n
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError(f"{function}: filter_shape must be given for the padding 'SAME'.")
        windows = _positive(function, filter_shape, "filter_shape")[:n]
        extra = [(size - 1) * rate for size, rate in zip(windows, rates, strict=True)]
        base = [[amount // 2, amount - amount // 2] for amount in extra]
    outer = [1] * (axes[0] - 1)
    paddings, crops = space.required_space_to_batch_paddings(sizes, rates, base)
    if outer:
        nothing = [[0, 0]] * len(outer)
        paddings, crops = (joining.concat([nothing, pairs], 0) for pairs in (paddings, crops))
    block = [*outer, *rates]
    result = op(space.space_to_batch(x, block, paddings), n, "VALID")
    return space.batch_to_space(result, block, crops)


def _positive(op: str, value: Any, name: str) -> list[int]:
    numbers = static.static_value(convert_to_tensor(value, dtype_hint=int32))
    is_list = isinstance(numbers, np.ndarray) and numbers.ndim == 1 and numbers.dtype.kind == "i"
    if numbers is None or not is_list or (numbers < 1).any():
        raise ValueError(f"{op}: {name} must be a list of positive integers, got {value!r}.")
    out: list[int] = numbers.tolist()
    return out
