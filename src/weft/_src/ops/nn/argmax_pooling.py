"""Pooling with the places of the maxima, and pooling over any number of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from weft._src.core import dtypes
from weft._src.core.aliases import ArrayNamespace, DTypeLike, TensorLike, WindowLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INDEX, REAL, DType, int64
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops import composed_graph_forms, rules, static
from weft._src.ops.arrays import shape as shapes, space
from weft._src.ops.contexts import VjpContext
from weft._src.ops.nn import pooling, windows
from weft._src.ops.nn.windows import Geometry
from weft._src.ops.registry import NO_NATIVE, NO_XLA, Op, args, define_op

# --- with the places of the maxima -------------------------------------------------------------


class MaxPoolWithArgmax(NamedTuple):
    """The maxima, and their places in the flattened image (or batch of images)."""

    output: Tensor
    argmax: Tensor


def _infer(x: TensorSpec, *, targmax: DType, whole: bool, **attrs: Any) -> tuple[TensorSpec, ...]:
    out = pooling.max_pool_op.infer(x, **attrs, channels_first=False)
    return out, out.with_dtype(targmax)


def _kernel(
    xp: ArrayNamespace, x: Array, *, targmax: DType, whole: bool, **attrs: Any
) -> tuple[Array, Array]:
    op = "max_pool_with_argmax"
    ones = (1, 1)
    where = Geometry.of(op, x.shape[1:-1], attrs["ksize"], attrs["strides"], ones, attrs["padding"])
    low = xp.iinfo(x.dtype).min if x.dtype.kind in "iu" else -xp.inf
    batch, channels = x.shape[0], x.shape[-1]
    numbers = xp.reshape(xp.arange(x.size, dtype=xp.int64), x.shape)
    if not whole and batch:
        numbers = xp.broadcast_to(numbers[:1], x.shape)
    padded, places = where.pad(xp, x, low), where.pad(xp, numbers, -1)
    out = xp.full((batch, *where.outputs, channels), low, x.dtype)
    found = xp.full(out.shape, -1, xp.int64)
    for _, at in where.positions():
        index = (slice(None), *at)
        better = (padded[index] > out) | ((found < 0) & (places[index] >= 0))
        out = xp.where(better, padded[index], out)
        found = xp.where(better, places[index], found)
    return out, found.astype(targmax.numpy_dtype)


def _vjp(ctx: VjpContext, g: Tensor | None, _: Tensor | None) -> tuple[Tensor | None]:
    if g is None:
        return (None,)
    attrs = {key: ctx.attrs[key] for key in ("ksize", "strides", "padding")}
    x, out = ctx.inputs[0], ctx.outputs[0]
    return (pooling.max_pool_grad_op(x, out, g, **attrs, channels_first=False),)


argmax_op: Op = define_op(
    "MaxPoolWithArgmax",
    args("input", REAL),
    infer=_infer,
    kernel=_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=_vjp,
    outputs=2,
    fresh=True,
    graphdef=composed_graph_forms.argmax_pool,
)


def max_pool_with_argmax(
    input: TensorLike,
    ksize: WindowLike,
    strides: WindowLike,
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NHWC",
    output_dtype: DTypeLike = int64,
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> MaxPoolWithArgmax:
    """The maximum of every window of images, and where it is in the flattened image.

    Args:
      input: images [batch, height, width, channels] of real numbers.
      ksize: the size of windows: a number, one for each spatial axis, or one for every axis.
      strides: how far windows are apart: a number, one for each spatial axis, or one for every
        axis.
      padding: "VALID" or "SAME".
      data_format: only "NHWC".
      output_dtype: the dtype of the places, int32 or int64.
      include_batch_in_index: whether places are counted in the flattened batch, not in the image.

    Returns:
      A named tuple (output, argmax) of two tensors of one shape: the maxima, in the dtype of
      `input`, and their places.

    Raises:
      ShapeError: if the rank is not 4, or sizes or strides are not positive.
      ValueError: if the format or the padding is another one.
      DTypeError: if `output_dtype` or the dtype of `input` is another one.

    >>> x = tf.reshape(tf.constant([1.0, 9.0, 3.0, 2.0]), [1, 2, 2, 1])
    >>> output, argmax = tf.nn.max_pool_with_argmax(x, 2, 2, "VALID")
    >>> output.numpy().ravel(), argmax.numpy().ravel()
    (array([9.], dtype=float32), array([1]))
    """
    op = "max_pool_with_argmax"
    if data_format != "NHWC":
        raise ValueError(f"{op}: data_format must be 'NHWC', got {data_format!r}.")
    if not isinstance(padding, str) or padding not in ("SAME", "VALID"):
        raise ValueError(f"{op}: padding must be 'SAME' or 'VALID', got {padding!r}.")
    dtype = dtypes.as_dtype(output_dtype)
    if dtype not in INDEX:
        raise DTypeError(f"{op}: output_dtype must be int32 or int64, got {dtype.name}.")
    x = convert_to_tensor(input)
    rules.check_rank(op, x.spec, 4, name="input")
    found = argmax_op(
        x,
        ksize=windows.per_axis(op, "ksize", ksize, 2, False),
        strides=windows.per_axis(op, "strides", strides, 2, False),
        padding=padding,
        targmax=dtype,
        whole=bool(include_batch_in_index),
        name=name,
    )
    return MaxPoolWithArgmax(*found)


# --- over any number of axes -------------------------------------------------------------------

_FUNCTIONS: dict[str, dict[int, Any]] = {
    "MAX": {1: pooling.max_pool1d, 2: pooling.max_pool2d, 3: pooling.max_pool3d},
    "AVG": {1: pooling.avg_pool1d, 2: pooling.avg_pool2d, 3: pooling.avg_pool3d},
}
_FORMATS = {1: "NWC", 2: "NHWC", 3: "NDHWC"}


def pool(
    input: TensorLike,
    window_shape: Any,
    pooling_type: str,
    strides: WindowLike | None = None,
    padding: str | Sequence[Sequence[int]] = "VALID",
    data_format: str | None = None,
    dilations: WindowLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The maximum ("MAX") or mean ("AVG") of windows over one, two or three axes.

    Args:
      input: a tensor of rank 3, 4 or 5: sequences, images or volumes with channels, real numbers
        for "MAX" and floating ones for "AVG".
      window_shape: a list of 1, 2 or 3 sizes, one for each spatial axis.
      pooling_type: "MAX" or "AVG".
      strides: how far windows are apart: a number, one for each spatial axis, or one for every
        axis; None means 1.
      padding: "VALID" for no padding, "SAME" for padding to as many windows as the size has
        strides, or a list of pairs [before, after] for every axis, [0, 0] for batch and channels.
      data_format: such as "NWC", "NHWC" or "NCHW"; None means channels last.
      dilations: how far elements of a window are apart, given like `strides`; None means 1. Others
        need "VALID" and strides of 1.

    Returns:
      A tensor of the rank, channels and dtype of `input`.

    Raises:
      ShapeError: if the number of sizes, the rank, the padding or a window does not fit.
      ValueError: if there is no such type, format or padding, or dilations come with padding or
        strides.

    >>> x = tf.reshape(tf.range(5.0), [1, 5, 1])
    >>> tf.nn.pool(x, [2], "MAX", dilations=[2]).numpy().ravel()
    array([2., 3., 4.], dtype=float32)
    """
    x = convert_to_tensor(input)
    if not isinstance(pooling_type, str) or pooling_type not in _FUNCTIONS:
        raise ValueError(f"pool: pooling_type must be 'MAX' or 'AVG', got {pooling_type!r}.")
    found = static.static_ints("pool", window_shape, "window_shape")
    if not isinstance(found, tuple) or len(found) not in (1, 2, 3):
        raise ShapeError(f"pool: window_shape must have 1, 2 or 3 sizes, got {window_shape!r}.")
    n = len(found)
    rules.check_rank("pool", x.spec, n + 2, name="input")
    form = _FORMATS[n] if data_format is None else data_format
    first = windows.check_format("pool", form, n)
    steps = windows.per_axis("pool", "strides", strides, n, first)
    rates = windows.per_axis("pool", "dilations", dilations, n, first)
    function = _FUNCTIONS[pooling_type][n]
    if all(rate == 1 for rate in rates):
        return function(x, found, steps, padding, form, name)
    if not isinstance(padding, str) or padding != "VALID" or any(step != 1 for step in steps):
        raise ValueError(
            "pool: dilations are only possible with padding='VALID' and strides of 1, got "
            f"padding={padding!r} and strides={list(steps)}."
        )
    if x.spec.dims is not None:
        _, have, _ = windows.spatial_dims(x.spec.dims, first)
        windows.output_sizes("pool", have, found, steps, rates, "VALID")
    # Elements that are `rate` apart become neighbours in batches of their own.
    order = (0, *range(2, n + 2), 1)
    x = shapes.transpose(x, order) if first else x
    sizes = shapes.shape(x)[1:-1]
    paddings, crops = space.required_space_to_batch_paddings(sizes, list(rates))
    apart = space.space_to_batch(x, list(rates), paddings)
    out = space.batch_to_space(function(apart, found, 1, "VALID"), list(rates), crops, name)
    return shapes.transpose(out, (0, n + 1, *range(1, n + 1))) if first else out
