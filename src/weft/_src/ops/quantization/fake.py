"""`fake_quant_with_min_max_*`: floats moved to levels, with gradients for numbers and ranges."""

from __future__ import annotations

from typing import Any, NamedTuple

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import adopt, of_dtype
from weft._src.core.dtypes import FLOATING, float32
from weft._src.core.native_rules import Pointwise
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import InvalidArgumentError
from weft._src.ops import composed_graph_forms, rules
from weft._src.ops.arrays import selection
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import comparison
from weft._src.ops.elementwise.operands import sum_to, zero
from weft._src.ops.quantization import levels
from weft._src.ops.registry import NO_XLA, NOT_DIFFERENTIABLE, Op, args, define_op
from weft._src.ops.static import as_float, static_int

Gradients = tuple[Tensor | None, ...]


def _kernel(
    xp: ArrayNamespace,
    x: Array,
    low: Array,
    high: Array,
    *,
    num_bits: int,
    narrow_range: bool,
    divides: bool,
) -> Array:
    dtype = x.dtype
    x, low, high = xp.widen(x), xp.widen(low), xp.widen(high)
    found = levels.nudged(xp, low, high, *levels.ends(num_bits, narrow_range))
    shifted = levels.clipped(xp, x, found.start, found.end) - found.start
    level = shifted / found.step if divides else shifted * found.steps
    out = xp.floor(level - found.zero + 0.5) * found.step
    return xp.where((low == 0) & (high == 0), x.dtype.type(0), out).astype(dtype, copy=False)


def _side_kernel(
    xp: ArrayNamespace, x: Array, low: Array, high: Array, *, num_bits: int, narrow_range: bool
) -> Array:
    dtype = x.dtype
    x, low, high = xp.widen(x), xp.widen(low), xp.widen(high)
    found = levels.nudged(xp, low, high, *levels.ends(num_bits, narrow_range))
    inside = xp.where(xp.isnan(x), x, x.dtype.type(0))
    side = xp.where(x < found.start, -1, xp.where(x > found.end, 1, inside)).astype(dtype)
    return xp.where((low == 0) & (high == 0), dtype.type(0), side)


# Where a number lies: -1 below all levels, 1 above, 0 between them, NaN if it is no number.
side_op: Op = define_op(
    "FakeQuantSide",
    args("inputs min max", FLOATING),
    infer=levels.like_numbers("fake_quant"),
    kernel=_side_kernel,
    native=Pointwise("fake_quant_side"),
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    slow_kernel=True,
    batch=levels.numbers_with_rows,
)


def _parts(g: Tensor, x: Tensor, low: Tensor, high: Tensor, attrs: Any) -> tuple[Tensor, ...]:
    """Gradients of the numbers between the levels, of those below, and of those above."""
    side, nothing = side_op(x, low, high, **attrs), zero(g)
    where = (comparison.equal, comparison.less, comparison.greater)
    return tuple([selection.where(here(side, nothing), g, nothing) for here in where])


def _vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    x, low, high = ctx.inputs
    form = {key: ctx.attrs[key] for key in ("num_bits", "narrow_range")}
    inside, below, above = _parts(g, x, low, high, form)
    return (
        inside if ctx.wants(0) else None,
        sum_to(below, low) if ctx.wants(1) else None,
        sum_to(above, high) if ctx.wants(2) else None,
    )


# `divides`: by the step; TensorFlow multiplies by its inverse where the range is not one tensor.
fake_quant_op: Op = define_op(
    "FakeQuantWithMinMaxVars",
    args("inputs min max", FLOATING),
    infer=levels.like_numbers("fake_quant"),
    kernel=_kernel,
    native=Pointwise("fake_quant"),
    xla=NO_XLA,
    vjp=_vjp,
    fresh=True,
    slow_kernel=True,
    batch=levels.numbers_with_rows,
    graphdef=composed_graph_forms.fake_quantization,
)


# --- arguments ---------------------------------------------------------------------------------


def _form(op: str, num_bits: Any, narrow_range: Any) -> dict[str, Any]:
    bits = static_int(op, num_bits, "num_bits")
    if not 2 <= bits <= 16:
        raise InvalidArgumentError(None, None, f"{op}: num_bits must be from 2 to 16, got {bits}.")
    return {"num_bits": bits, "narrow_range": bool(narrow_range)}


def _number(op: str, value: Any, name: str) -> float:
    try:
        return as_float(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"{op}: {name} must be a Python number, got {value!r}. For tensors there is "
            "fake_quant_with_min_max_vars."
        ) from None


def _fixed(op: str, x: Tensor, low: Any, high: Any) -> tuple[Tensor, Tensor]:
    """The range of the functions that take Python numbers."""
    low, high = _number(op, low, "min"), _number(op, high, "max")
    if not low < high:
        raise InvalidArgumentError(
            None, None, f"{op}: min must be smaller than max, got {low} and {high}."
        )
    return adopt(low, x.dtype), adopt(high, x.dtype)


def _variable(op: str, x: Tensor, low: TensorLike, high: TensorLike) -> tuple[Tensor, Tensor]:
    ranges = of_dtype(op, low, float32, "min"), of_dtype(op, high, float32, "max")
    for name, value in zip(("min", "max"), ranges, strict=True):
        rules.check_rank(op, value.spec, 0, name=name)
    return ranges


def _per_channel(op: str, x: Tensor, low: TensorLike, high: TensorLike) -> tuple[Tensor, Tensor]:
    ranges = of_dtype(op, low, float32, "min"), of_dtype(op, high, float32, "max")
    rules.check_rank_at_least(op, x.spec, 1, name="inputs")
    for name, value in zip(("min", "max"), ranges, strict=True):
        rules.check_rank(op, value.spec, 1, name=name)
        if x.spec.dims is not None and value.spec.dims is not None:
            what = f"the size of {name} and that of the last axis of inputs"
            rules.unify(op, value.spec.dims[0], x.spec.dims[-1], what)
    return ranges


def _gradient_of(
    op: str, gradients: TensorLike, inputs: TensorLike, ranges: Any, low: Any, high: Any, attrs: Any
) -> tuple[Tensor, Tensor, Tensor]:
    x = of_dtype(op, inputs, float32, "inputs")
    g = of_dtype(op, gradients, float32, "gradients")
    rules.merge_dims(op, g.spec.dims, x.spec.dims, "gradients and inputs")
    low, high = ranges(op, x, low, high)
    inside, below, above = _parts(g, x, low, high, attrs)
    return inside, sum_to(below, low), sum_to(above, high)


# --- public ------------------------------------------------------------------------------------


def fake_quant_with_min_max_args(
    inputs: TensorLike,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """Numbers moved to the nearest of 2**num_bits levels between two numbers; floats stay floats.

    The range is moved a little so that zero is one of the levels. Gradients pass where a number
    lies in this range, and are zero where it was cut off.

    Args:
      inputs: a float32 tensor.
      min: where the levels begin, a Python number.
      max: where they end.
      num_bits: how many bits tell the levels apart, from 2 to 16.
      narrow_range: whether there is one level less, at the lower end.

    Returns:
      A float32 tensor of the shape of `inputs`.

    Raises:
      InvalidArgumentError: if `min` is not smaller than `max`, or there are other numbers of bits.
      DTypeError: if `inputs` holds no floats.

    >>> tf.quantization.fake_quant_with_min_max_args([-9.0, 0.3, 2.0], min=0, max=3, num_bits=2)
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([0., 0., 2.], dtype=float32)>
    """
    op = "fake_quant_with_min_max_args"
    x, attrs = of_dtype(op, inputs, float32, "inputs"), _form(op, num_bits, narrow_range)
    return fake_quant_op(x, *_fixed(op, x, min, max), divides=False, name=name, **attrs)


def fake_quant_with_min_max_args_gradient(
    gradients: TensorLike,
    inputs: TensorLike,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of `fake_quant_with_min_max_args`, from that of its result.

    Args:
      gradients: the gradient of the result.
      inputs: what the function was called with.
      min: where the levels begin, a Python number.
      max: where they end.
      num_bits: how many bits tell the levels apart, from 2 to 16.
      narrow_range: whether there is one level less, at the lower end.

    Returns:
      The gradient where a number lies between the levels, else 0.

    Raises:
      InvalidArgumentError: if `min` is not smaller than `max`, or there are other numbers of bits.
      ShapeError: if `gradients` and `inputs` have different shapes.

    >>> tf.quantization.fake_quant_with_min_max_args_gradient([5.0, 5.0], [-9.0, 2.0]).numpy()
    array([0., 5.], dtype=float32)
    """
    op = "fake_quant_with_min_max_args_gradient"
    attrs = _form(op, num_bits, narrow_range)
    return _gradient_of(op, gradients, inputs, _fixed, min, max, attrs)[0]


def fake_quant_with_min_max_vars(
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """Numbers moved to the nearest of 2**num_bits levels of a range that can be learnt.

    The range is moved a little so that zero is one of the levels; from 0 to 0 everything is 0. The
    gradients of numbers below it are added up as that of `min`, of those above as that of `max`.

    Args:
      inputs: a float32 tensor.
      min: where the levels begin, a scalar.
      max: where they end.
      num_bits: how many bits tell the levels apart, from 2 to 16.
      narrow_range: whether there is one level less, at the lower end.

    Returns:
      A float32 tensor of the shape of `inputs`.

    Raises:
      ShapeError: if `min` or `max` is no scalar.
      InvalidArgumentError: if there are other numbers of bits.
      DTypeError: if `inputs` holds no floats, or `min` and `max` have another dtype.

    >>> low, high = tf.Variable(-1.0), tf.Variable(2.0)
    >>> tf.quantization.fake_quant_with_min_max_vars([-5.0, 0.2, 1.4], low, high, num_bits=2)
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([-1.,  0.,  1.], dtype=float32)>
    """
    op = "fake_quant_with_min_max_vars"
    x, attrs = of_dtype(op, inputs, float32, "inputs"), _form(op, num_bits, narrow_range)
    return fake_quant_op(x, *_variable(op, x, min, max), divides=True, name=name, **attrs)


class FakeQuantWithMinMaxVarsGradient(NamedTuple):
    """Gradients of the numbers and of both ends of their range."""

    backprops_wrt_input: Tensor
    backprop_wrt_min: Tensor
    backprop_wrt_max: Tensor


def fake_quant_with_min_max_vars_gradient(
    gradients: TensorLike,
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> FakeQuantWithMinMaxVarsGradient:
    """The gradients of `fake_quant_with_min_max_vars`, from that of its result.

    Args:
      gradients: the gradient of the result.
      inputs: what the function was called with.
      min: where the levels begin, a scalar.
      max: where they end.
      num_bits: how many bits tell the levels apart, from 2 to 16.
      narrow_range: whether there is one level less, at the lower end.

    Returns:
      A named tuple (backprops_wrt_input, backprop_wrt_min, backprop_wrt_max).

    Raises:
      ShapeError: if `gradients` and `inputs` have different shapes, or a limit is no scalar.
      InvalidArgumentError: if there are other numbers of bits.

    >>> out = tf.quantization.fake_quant_with_min_max_vars_gradient([5.0, 7.0], [-9.0, 2.0], -6, 6)
    >>> [x.numpy().tolist() for x in out]
    [[0.0, 7.0], 5.0, 0.0]
    """
    op = "fake_quant_with_min_max_vars_gradient"
    attrs = _form(op, num_bits, narrow_range)
    parts = _gradient_of(op, gradients, inputs, _variable, min, max, attrs)
    return FakeQuantWithMinMaxVarsGradient(*parts)


def fake_quant_with_min_max_vars_per_channel(
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """`fake_quant_with_min_max_vars` with a range for each place along the last axis.

    Args:
      inputs: a float32 tensor of rank 1 or more.
      min: where the levels begin, a vector as long as the last axis.
      max: where they end.
      num_bits: how many bits tell the levels apart, from 2 to 16.
      narrow_range: whether there is one level less, at the lower end.

    Returns:
      A float32 tensor of the shape of `inputs`.

    Raises:
      ShapeError: if `inputs` is a scalar, or a limit is no vector of that size.
      InvalidArgumentError: if there are other numbers of bits.
      DTypeError: if `inputs` holds no floats, or `min` and `max` have another dtype.

    >>> x = tf.constant([[0.4, 0.4], [9.0, 9.0]])
    >>> tf.quantization.fake_quant_with_min_max_vars_per_channel(x, [0, 0], [3, 6], num_bits=2)
    <tf.Tensor: shape=(2, 2), dtype=float32, numpy=
    array([[0., 0.],
           [3., 6.]], dtype=float32)>
    """
    op = "fake_quant_with_min_max_vars_per_channel"
    x, attrs = of_dtype(op, inputs, float32, "inputs"), _form(op, num_bits, narrow_range)
    return fake_quant_op(x, *_per_channel(op, x, min, max), divides=False, name=name, **attrs)


class FakeQuantWithMinMaxVarsPerChannelGradient(NamedTuple):
    """Gradients of the numbers and of both ends of each range."""

    backprops_wrt_input: Tensor
    backprop_wrt_min: Tensor
    backprop_wrt_max: Tensor


def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: TensorLike,
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> FakeQuantWithMinMaxVarsPerChannelGradient:
    """The gradients of `fake_quant_with_min_max_vars_per_channel`, from that of its result.

    Args:
      gradients: the gradient of the result.
      inputs: what the function was called with.
      min: where the levels begin, a vector as long as the last axis.
      max: where they end.
      num_bits: how many bits tell the levels apart, from 2 to 16.
      narrow_range: whether there is one level less, at the lower end.

    Returns:
      A named tuple (backprops_wrt_input, backprop_wrt_min, backprop_wrt_max).

    Raises:
      ShapeError: if `gradients` and `inputs` have different shapes, or a limit another size.
      InvalidArgumentError: if there are other numbers of bits.

    >>> gradient = tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient
    >>> out = gradient([[5.0, 7.0]], [[-9.0, 2.0]], [-6, -6], [6, 6])
    >>> [x.numpy().tolist() for x in out]
    [[[0.0, 7.0]], [5.0, 0.0], [0.0, 0.0]]
    """
    op = "fake_quant_with_min_max_vars_per_channel_gradient"
    attrs = _form(op, num_bits, narrow_range)
    parts = _gradient_of(op, gradients, inputs, _per_channel, min, max, attrs)
    return FakeQuantWithMinMaxVarsPerChannelGradient(*parts)
