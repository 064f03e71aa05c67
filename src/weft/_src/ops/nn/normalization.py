"""Biases, moments, batch normalisation, embeddings."""

from __future__ import annotations

from weft._src.core.aliases import ArrayNamespace, AxisLike, TensorLike
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.dtypes import NUMERIC, bfloat16, float16, float32
from weft._src.core.native_rules import Reduction, Special
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL
from weft._src.ops import batching, graph_forms, rules
from weft._src.ops.arrays import fill
from weft._src.ops.elementwise import arithmetic, casting, comparison, guarded, unary
from weft._src.ops.elementwise.operands import zeros_like
from weft._src.ops.reduce import sums
from weft._src.ops.registry import Op, args, define_op

# --- bias --------------------------------------------------------------------------------------


def _bias_add_infer(value: TensorSpec, bias: TensorSpec, *, channels_first: bool) -> TensorSpec:
    rules.check_rank_at_least("bias_add", value, 2, name="value")
    rules.check_rank("bias_add", bias, 1, name="bias")
    if value.dims is None or bias.dims is None:
        return value
    at = 1 if channels_first else len(value.dims) - 1
    what = f"the size of bias and of axis {at} of value (shape {value.shape})"
    size = rules.unify("bias_add", bias.dims[0], value.dims[at], what)
    return value.with_dims(rules.replace(value.dims, at, size))


def _bias_add_kernel(
    xp: ArrayNamespace, value: Array, bias: Array, *, channels_first: bool
) -> Array:
    if channels_first:
        bias = xp.reshape(bias, (-1, *[1] * (value.ndim - 2)))
    return xp.add(value, bias)


bias_add_op: Op = define_op(
    "BiasAdd",
    args("value bias", NUMERIC),
    batch=batching.merged,
    infer=_bias_add_infer,
    kernel=_bias_add_kernel,
    native=Special("bias_add"),
    xla=KERNEL,
    vjp=lambda ctx, g: (g, bias_add_grad_op(g, **ctx.attrs)),
    fresh=True,
    cheap=True,
    ragged="elementwise",
    graphdef=graph_forms.bias,
)


def _bias_add_grad_infer(g: TensorSpec, *, channels_first: bool) -> TensorSpec:
    if g.dims is None:
        return g.with_dims((Dim(),))
    return g.with_dims((g.dims[1 if channels_first else -1],))


def _bias_add_grad_kernel(xp: ArrayNamespace, g: Array, *, channels_first: bool) -> Array:
    at = 1 if channels_first else g.ndim - 1
    return xp.reduction(xp.add, g, tuple([i for i in range(g.ndim) if i != at]), False)


bias_add_grad_op: Op = define_op(
    "BiasAddGrad",
    args("out_backprop", NUMERIC),
    infer=_bias_add_grad_infer,
    kernel=_bias_add_grad_kernel,
    native=Reduction("bias_add_grad"),
    xla=KERNEL,
    vjp=lambda ctx, h: (bias_add_op(zeros_like(ctx.inputs[0]), h, **ctx.attrs),),
    fresh=True,
    batch=batching.channel_sums,
    graphdef=graph_forms.bias,
)


def bias_add(
    value: TensorLike, bias: TensorLike, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """value plus one number for each channel: on the last axis, or on axis 1 with "NC...".

    Args:
      value: a tensor of numbers, of rank 2 or more.
      bias: a vector of the same dtype, as long as the axis of channels.
      data_format: None or a string such as "NHWC" for channels on the last axis; "NC..." for axis
        1.

    Returns:
      A tensor of the shape and dtype of `value`.

    Raises:
      ShapeError: if the ranks or the number of channels do not fit.
      ValueError: if there is no such format.

    >>> tf.nn.bias_add([[1.0, 2.0], [3.0, 4.0]], [10.0, 20.0]).numpy()
    array([[11., 22.],
           [13., 24.]], dtype=float32)
    """
    if data_format is not None and not str(data_format).startswith("N"):
        raise ValueError(f"bias_add: data_format must be 'N...C' or 'NC...', got {data_format!r}.")
    first = data_format is not None and data_format.startswith("NC")
    x = convert_to_tensor(value)
    return bias_add_op(x, adopt(bias, x.dtype), channels_first=first, name=name)


# --- moments -----------------------------------------------------------------------------------


def moments(
    x: TensorLike,
    axes: AxisLike,
    shift: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The mean and the variance over the given axes. `shift` is accepted and not used.

    Args:
      x: a tensor of numbers; narrow floats are added up in float32.
      axes: an axis or a list of axes; None means all.
      shift: accepted for compatibility, ignored.
      keepdims: whether the axes stay, with size 1.

    Returns:
      Two tensors of the dtype of `x` without these axes: the mean and the variance.

    Raises:
      ShapeError: if there are no such axes.

    >>> [t.numpy() for t in tf.nn.moments([1.0, 2.0, 3.0, 4.0], axes=[0])]
    [np.float32(2.5), np.float32(1.25)]
    """
    x = convert_to_tensor(x)
    wide = casting.cast(x, float32) if x.dtype in (float16, bfloat16) else x
    mean = sums.reduce_mean(wide, axes, keepdims=True)
    squares = guarded.squared_difference_op(wide, mean)
    variance = sums.reduce_mean(squares, axes, keepdims, name=name)
    if not keepdims:
        mean = sums.reduce_sum(mean, axes)  # of size one: nothing is added
    return casting.cast(mean, x.dtype), casting.cast(variance, x.dtype)


def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    offset: TensorLike | None,
    scale: TensorLike | None,
    variance_epsilon: TensorLike,
    name: str | None = None,
) -> Tensor:
    """scale * (x - mean) / sqrt(variance + epsilon) + offset; scale and offset may be None.

    Args:
      x: a tensor of floating numbers.
      mean: a number or tensor that broadcasts with `x`.
      variance: of this kind, too.
      offset: of this kind, too; None means 0.
      scale: of this kind, too; None means 1.
      variance_epsilon: a small number that is added to the variance.

    Returns:
      A tensor of the dtype of `x` and the shape that all broadcast to.

    Raises:
      DTypeError: if dtypes differ, or are not floating.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.nn.batch_normalization([1.0, 3.0], 2.0, 1.0, 5.0, None, 0.0).numpy()
    array([4., 6.], dtype=float32)
    """
    x = convert_to_tensor(x)
    factor = unary.rsqrt_op(adopt(variance, x.dtype) + adopt(variance_epsilon, x.dtype))
    if scale is not None:
        factor = factor * adopt(scale, x.dtype)
    shift = -adopt(mean, x.dtype) * factor
    if offset is not None:
        shift = adopt(offset, x.dtype) + shift
    return arithmetic.add(x * factor, shift, name=name or "batchnorm")


def zero_fraction(value: TensorLike, name: str | None = None) -> Tensor:
    """Which part of the elements is zero.

    Args:
      value: a tensor of numbers or truth values; of strings, the empty ones count.

    Returns:
      A float32 scalar; NaN if there are no elements.

    >>> tf.nn.zero_fraction([0.0, 1.0, 0.0, 2.0]).numpy()
    np.float32(0.5)
    """
    x = convert_to_tensor(value)
    is_zero = casting.cast(comparison.equal(x, fill.zeros_like(x)), float32)
    return sums.mean_op(is_zero, axis=None, keepdims=False, name=name or "zero_fraction")


def batch_norm_with_global_normalization(
    input: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    beta: TensorLike,
    gamma: TensorLike,
    variance_epsilon: TensorLike,
    scale_after_normalization: bool,
    name: str | None = None,
) -> Tensor:
    """The form of `batch_normalization` that older programs use.

    Args:
      input: a tensor of floating numbers.
      mean: a number or tensor that broadcasts with `input`.
      variance: of this kind, too.
      beta: what is added, of this kind, too.
      gamma: a factor, of this kind, too.
      variance_epsilon: a small number that is added to the variance.
      scale_after_normalization: whether `gamma` counts.

    Returns:
      A tensor of the dtype of `input` and the shape that all broadcast to.

    Raises:
      DTypeError: if dtypes differ, or are not floating.
      ShapeError: if the shapes cannot be broadcast together.

    >>> normalize = tf.nn.batch_norm_with_global_normalization
    >>> normalize([1.0, 3.0], 2.0, 1.0, 5.0, 2.0, 0.0, True).numpy()
    array([3., 7.], dtype=float32)
    """
    factor = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, factor, variance_epsilon, name)
