"""Raw ops that TensorFlow has at the top, too, under names of functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import weft as tf
from weft._src.core.aliases import AxisLike, DTypeLike, TensorLike
from weft._src.raw_ops import functions, ragged, sparse, windows


def approx_top_k(
    input: TensorLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    is_max_k: bool = True,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> Any:
    """The k largest (or smallest) elements along an axis, and where they are: the exact ones.

    Args:
      input: a tensor of floating numbers.
      k: how many, a Python integer.
      reduction_dimension: the axis.
      recall_target: accepted for compatibility; all of them are found.
      is_max_k: whether the largest are wanted.
      reduction_input_size_override: accepted for compatibility.
      aggregate_to_topk: accepted for compatibility.

    Returns:
      The elements, and their places as int32.

    >>> [t.numpy().tolist() for t in tf.approx_top_k([3.0, 1.0, 2.0], 2)]
    [[3.0, 2.0], [0, 2]]
    """
    return functions.approximate_top_k(
        input, k, reduction_dimension, recall_target, is_max_k, name=name
    )


def extract_volume_patches(
    input: TensorLike,
    ksizes: Sequence[int],
    strides: Sequence[int],
    padding: str,
    name: str | None = None,
) -> tf.Tensor:
    """The elements of each window of volumes, one after the other in the channels.

    Args:
      input: volumes [batch, planes, rows, columns, channels].
      ksizes: the size of windows, five numbers of which the first and the last are 1.
      strides: how far they are apart, likewise.
      padding: "VALID" or "SAME".

    Returns:
      A tensor [batch, planes, rows, columns, elements of a window].

    Raises:
      ShapeError: if the number of channels is not known.

    >>> x = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
    >>> tf.extract_volume_patches(x, [1, 1, 2, 2, 1], [1] * 5, "VALID").numpy().ravel()
    array([0., 1., 2., 3., 4., 5., 6., 7.], dtype=float32)
    """
    return functions.volume_patches(input, ksizes, strides, padding, name)


def guarantee_const(input: TensorLike, name: str | None = None) -> tf.Tensor:
    """The tensor itself: a promise that it will not change, which every tensor keeps.

    Args:
      input: a tensor.

    Returns:
      A tensor of the same value.

    >>> tf.guarantee_const(5).numpy()
    np.int32(5)
    """
    return tf.identity(input, name=name)


def random_index_shuffle(
    index: TensorLike,
    seed: TensorLike,
    max_index: TensorLike,
    rounds: int = 4,
    name: str | None = None,
) -> tf.Tensor:
    """Where an index goes in a permutation of 0..max_index that a seed determines.

    Args:
      index: integers of 32 or 64 bits from 0 to max_index.
      seed: three integers; the first two count.
      max_index: the largest index.
      rounds: accepted for compatibility.

    Returns:
      A tensor of the dtype of `index`. Weft's permutations are not TensorFlow's.

    >>> places = [tf.random_index_shuffle(i, [1, 2, 3], 4) for i in range(5)]
    >>> sorted(int(p) for p in places)
    [0, 1, 2, 3, 4]
    """
    pair = tf.convert_to_tensor(seed)[..., :2]
    return tf.random.experimental.index_shuffle(index, pair, max_index)


def ragged_fill_empty_rows(
    value_rowids: TensorLike,
    values: TensorLike,
    nrows: TensorLike,
    default_value: TensorLike,
    name: str | None = None,
) -> Any:
    """Rows without values get the default value; which rows these are, and where values went.

    Args:
      value_rowids: the row of each value, an int64 vector.
      values: a vector of as many values.
      nrows: the number of rows, an int64 scalar.
      default_value: a scalar of the dtype of the values.

    Returns:
      The rows and the values of the result, a bool vector that says which rows were empty, and an
      int64 vector with the place of each given value.

    Raises:
      InvalidArgumentError: if a row is not below `nrows`.

    >>> [t.numpy().tolist() for t in tf.ragged_fill_empty_rows([0, 2], [5, 6], 3, 9)]
    [[0, 1, 2], [5, 9, 6], [False, True, False], [0, 2]]
    """
    return ragged.fill_empty_rows(value_rowids, values, nrows, default_value, name)


def ragged_fill_empty_rows_grad(
    reverse_index_map: TensorLike, grad_values: TensorLike, name: str | None = None
) -> Any:
    """The gradient of `tf.ragged_fill_empty_rows`.

    Args:
      reverse_index_map: the last result of that.
      grad_values: the gradient of its values.

    Returns:
      The gradients of the given values and of the default value.

    >>> [t.numpy().tolist() for t in tf.ragged_fill_empty_rows_grad([0, 2], [1.0, 2.0, 3.0])]
    [[1.0, 3.0], 2.0]
    """
    return sparse.of_fill_empty_rows(reverse_index_map, grad_values, name)


def conv2d_backprop_filter_v2(
    input: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> tf.Tensor:
    """The gradient of a convolution of images with respect to its filter.

    Args:
      input: the images.
      filter: a tensor of the shape of the filter.
      out_backprop: the gradient of the result.
      strides: four numbers.
      padding: "VALID", "SAME" or "EXPLICIT".
      use_cudnn_on_gpu: accepted for compatibility.
      explicit_paddings: eight numbers for "EXPLICIT".
      data_format: "NHWC" or "NCHW".
      dilations: four numbers.

    Returns:
      A tensor of the shape of `filter`.

    >>> x, g = tf.ones([1, 3, 3, 1]), tf.ones([1, 2, 2, 1])
    >>> found = tf.conv2d_backprop_filter_v2(x, tf.zeros([2, 2, 1, 1]), g, [1] * 4, "VALID")
    >>> found.numpy().ravel()
    array([4., 4., 4., 4.], dtype=float32)
    """
    return windows.conv2d_filter(
        input, tf.shape(filter), out_backprop, strides, padding, data_format, dilations,
        explicit_paddings, name,
    )  # fmt: skip


def conv2d_backprop_input_v2(
    input: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> tf.Tensor:
    """The gradient of a convolution of images with respect to them.

    Args:
      input: a tensor of the shape of the images.
      filter: the filter.
      out_backprop: the gradient of the result.
      strides: four numbers.
      padding: "VALID", "SAME" or "EXPLICIT".
      use_cudnn_on_gpu: accepted for compatibility.
      explicit_paddings: eight numbers for "EXPLICIT".
      data_format: "NHWC" or "NCHW".
      dilations: four numbers.

    Returns:
      A tensor of the shape of `input`.

    >>> w, g = tf.ones([2, 2, 1, 1]), tf.ones([1, 2, 2, 1])
    >>> found = tf.conv2d_backprop_input_v2(tf.zeros([1, 3, 3, 1]), w, g, [1] * 4, "VALID")
    >>> found.numpy().ravel()
    array([1., 2., 1., 2., 4., 2., 1., 2., 1.], dtype=float32)
    """
    return windows.conv2d_input(
        tf.shape(input), filter, out_backprop, strides, padding, data_format, dilations,
        explicit_paddings, name,
    )  # fmt: skip


def fftnd(
    input: TensorLike, fft_length: TensorLike, axes: AxisLike, name: str | None = None
) -> tf.Tensor:
    """The Fourier transform over chosen axes; `tf.signal.fftnd` has more settings.

    Args:
      input: a tensor of complex numbers.
      fft_length: lengths that the axes are cropped or padded to before, a vector.
      axes: the axes, as many.

    Returns:
      A tensor of the dtype of `input`.

    >>> tf.fftnd(tf.ones([2, 2], tf.complex64), [2], [0]).numpy().real
    array([[2., 2.],
           [0., 0.]], dtype=float32)
    """
    return tf.signal.fftnd(input, fft_length, axes, name=name)


def ifftnd(
    input: TensorLike, fft_length: TensorLike, axes: AxisLike, name: str | None = None
) -> tf.Tensor:
    """What undoes `tf.fftnd`; `tf.signal.ifftnd` has more settings.

    Args:
      input: a tensor of complex numbers.
      fft_length: lengths that the axes are cropped or padded to before, a vector.
      axes: the axes, as many.

    Returns:
      A tensor of the dtype of `input`.

    >>> tf.ifftnd(tf.ones([2, 2], tf.complex64), [2], [0]).numpy().real
    array([[1., 1.],
           [0., 0.]], dtype=float32)
    """
    return tf.signal.ifftnd(input, fft_length, axes, name=name)


def rfftnd(
    input: TensorLike,
    fft_length: TensorLike,
    axes: AxisLike,
    Tcomplex: DTypeLike = tf.complex64,
    name: str | None = None,
) -> tf.Tensor:
    """The Fourier transform of real signals over chosen axes; `tf.signal.rfftnd` has more settings.

    Args:
      input: a float32 or float64 tensor.
      fft_length: lengths that the axes are cropped or padded to before, a vector.
      axes: the axes, as many.
      Tcomplex: the dtype of the result, complex64 or complex128.

    Returns:
      A tensor of this dtype.

    >>> tf.rfftnd(tf.ones([2, 4]), [4], [1]).numpy().real
    array([[4., 0., 0.],
           [4., 0., 0.]], dtype=float32)
    """
    return tf.cast(tf.signal.rfftnd(input, fft_length, axes), Tcomplex, name=name)


def irfftnd(
    input: TensorLike,
    fft_length: TensorLike,
    axes: AxisLike,
    Treal: DTypeLike = tf.float32,
    name: str | None = None,
) -> tf.Tensor:
    """What undoes `tf.rfftnd`; `tf.signal.irfftnd` has more settings.

    Args:
      input: a tensor of complex numbers.
      fft_length: the lengths of the result along the axes, a vector.
      axes: the axes, as many.
      Treal: the dtype of the result, float32 or float64.

    Returns:
      A tensor of this dtype.

    >>> tf.irfftnd(tf.ones([2, 3], tf.complex64), [4], [1]).numpy()
    array([[1., 0., 0., 0.],
           [1., 0., 0., 0.]], dtype=float32)
    """
    return tf.cast(tf.signal.irfftnd(input, fft_length, axes), Treal, name=name)


def conv(
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "CHANNELS_LAST",
    dilations: Sequence[int] = (),
    batch_dims: int = 1,
    groups: int = 1,
    name: str | None = None,
) -> tf.Tensor:
    """A convolution over two or three axes, of any number of batches.

    Args:
      input: a tensor [*batches, *sizes, channels], or with the channels before the sizes.
      filter: a tensor [*sizes, channels / groups, outputs] of the same dtype.
      strides: a number for every axis with one batch, 1 for batch and channels.
      padding: "VALID", "SAME" or "EXPLICIT".
      explicit_paddings: two numbers for every axis, for "EXPLICIT".
      data_format: "CHANNELS_LAST" or "CHANNELS_FIRST".
      dilations: like `strides`; none means 1.
      batch_dims: how many axes are batches.
      groups: how many groups of channels are convolved for themselves.

    Returns:
      A tensor of the dtype of `input`.

    Raises:
      InvalidArgumentError: if there are not two or three axes to go over, or groups do not fit.
      ValueError: if there is no such padding or format.

    >>> tf.conv(
    ...     tf.ones([2, 1, 4, 4, 3]), tf.ones([2, 2, 3, 5]), [1] * 4, "VALID", batch_dims=2
    ... ).shape
    TensorShape([2, 1, 3, 3, 5])
    """
    return windows.any_convolution(
        input, filter, strides, padding, explicit_paddings, data_format, dilations, batch_dims,
        groups, name,
    )  # fmt: skip


def check_pinned(tensor: TensorLike, name: str | None = None) -> tf.Tensor:
    """Always an error: no memory is pinned for a GPU here, as in TensorFlow without one.

    Args:
      tensor: a tensor.

    Returns:
      Nothing: it does not get so far.

    Raises:
      FailedPreconditionError: in any case.

    >>> tf.check_pinned([1.0])
    Traceback (most recent call last):
    weft.errors.FailedPreconditionError: check_pinned: Weft has no memory that is pinned for a GPU.
    """
    tf.convert_to_tensor(tensor)
    raise tf.errors.FailedPreconditionError(
        None, None, "check_pinned: Weft has no memory that is pinned for a GPU."
    )
