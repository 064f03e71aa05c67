"""Where values of a graph come from: constants, parameters, identities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src import nest
from weft._src.core import convert, dtypes, native_rules
from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.api_targets import is_dispatchable
from weft._src.core.convert import convert_to_tensor, items_of
from weft._src.core.dtypes import ANY, DATA, DType
from weft._src.core.shapes import Dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL, Lowered
from weft._src.ops import batching, rules
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import casting
from weft._src.ops.registry import FOLDED, NOT_DIFFERENTIABLE, args, define_op, each

const_op = define_op(
    "Const",
    (),
    infer=lambda *, value: TensorSpec.of(dtypes.from_numpy(value.dtype), value.shape),
    kernel=lambda xp, *, value: value,
    native=native_rules.Special("constant"),
    xla=KERNEL,
    vjp=NOT_DIFFERENTIABLE,
    cheap=True,
    computes=False,
)


def make_constant(value: Array, name: str | None) -> Tensor:
    """A constant of the graph that is being built."""
    value.flags.writeable = False  # graphs share it
    return const_op(value=value, name=name)


def _placeholder_kernel(xp: ArrayNamespace, *, dtype: DType, shape: Dims | None) -> Any:
    raise AssertionError("A placeholder is fed, never run.")


placeholder_op = define_op(
    "Placeholder",
    (),
    infer=lambda *, dtype, shape: TensorSpec.of(dtype, shape),
    kernel=_placeholder_kernel,
    native=FOLDED,
    vjp=NOT_DIFFERENTIABLE,
    computes=False,
)

identity_op = define_op(
    "Identity",
    args("input", ANY),
    infer=rules.same,
    kernel=lambda xp, x: x,
    native=native_rules.IndexMap("identity"),
    xla=KERNEL,
    vjp=lambda ctx, g: (g,),
    trusts_kernel=True,
    shape_arithmetic=True,
    zero_at_zero=True,
    elementwise=True,
    identity=True,
    computes=False,
    linear=(0,),
    rows_vjp=lambda ctx, g: (g,),
)


def identity(input: TensorLike, name: str | None = None) -> Tensor:
    """A tensor with the same value.

    Args:
      input: a tensor of any dtype, `tf.IndexedSlices`, or a value of several tensors.

    Returns:
      Another tensor with the value, shape and dtype of `input`.

    >>> tf.identity([1, 2]).numpy()
    array([1, 2], dtype=int32)
    """
    if hasattr(input, "with_values"):  # rows of a tensor: tf.IndexedSlices
        slices: Any = input
        return slices.with_values(identity(slices.values, name))
    return _of_tensors(lambda x: identity_op(x, name=name), input)


def _of_tensors(function: Callable[[Tensor], Tensor], value: Any) -> Any:
    """A function of a tensor, or of each tensor that a value of several is made of."""
    try:
        x = convert_to_tensor(value)
    except ValueError:
        if not is_dispatchable(value):
            raise
        return nest.map_structure(function, value, expand_composites=True)
    return function(x)


identity_n_op = define_op(
    "IdentityN",
    each("*input", ANY),
    infer=lambda *xs: xs,
    kernel=lambda xp, *xs: xs,
    native=native_rules.IndexMap("identities"),
    xla=Lowered("identities"),
    vjp=lambda ctx, *gs: gs,
    outputs=None,
    trusts_kernel=True,
    identity=True,
    computes=False,
    batch=batching.same_shapes,
)


def identity_n(input: TensorLike, name: str | None = None) -> list[Tensor]:
    """Tensors with the same values, as one operation.

    Args:
      input: a list of tensors, of any dtypes.

    Returns:
      A list of as many tensors.

    Raises:
      TypeError: if `input` is no list.

    >>> [t.numpy() for t in tf.identity_n([1, 2.5])]
    [np.int32(1), np.float32(2.5)]
    """
    return list(
        identity_n_op(
            *[convert_to_tensor(x) for x in items_of("identity_n", input, "input")], name=name
        )
    )


stop_gradient_op = define_op(
    "StopGradient",
    args("input", DATA),
    infer=rules.same,
    kernel=lambda xp, x: x,
    native=native_rules.IndexMap("identity"),
    xla=KERNEL,
    vjp=NOT_DIFFERENTIABLE,
    shape_arithmetic=True,
    trusts_kernel=True,
    zero_at_zero=True,
    elementwise=True,
    identity=True,
)


def stop_gradient(input: TensorLike, name: str | None = None) -> Tensor:
    """The same value, through which no gradient flows.

    Args:
      input: a tensor, `tf.IndexedSlices`, or a value of several tensors.

    Returns:
      A tensor with the value of `input`. For gradients it is a constant.

    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * tf.stop_gradient(x)
    >>> tape.gradient(y, x).numpy()
    np.float32(3.0)
    """
    if hasattr(input, "with_values"):  # rows of a tensor: tf.IndexedSlices
        slices: Any = input
        return slices.with_values(stop_gradient(slices.values, name))
    return _of_tensors(lambda x: stop_gradient_op(x, name=name), input)


no_op_op = define_op(
    "NoOp",
    (),
    infer=lambda: (),
    kernel=lambda xp: (),
    native=native_rules.Special("nothing"),
    xla=Lowered("nothing"),
    vjp=NOT_DIFFERENTIABLE,
    outputs=0,
)


def no_op(name: str | None = None) -> Any:
    """Does nothing.

    Returns:
      None.

    >>> tf.no_op()
    """
    no_op_op(name=name)


def _pack(value: Any, dtype: DType | None, name: str | None) -> Tensor:
    """A tensor from nested lists that hold tensors: items are stacked, numbers adopt a dtype.

    Tensors are converted to a dtype that was asked for. If none was, the first one decides, but
    sizes of both integer dtypes may stand side by side: `[tf.shape(x)[0], tf.size(y, tf.int64)]`.
    """
    if dtype is None:
        found = _dtypes_in(value)
        dtype = dtypes.int64 if set(found) == {dtypes.int32, dtypes.int64} else found[0]
        casts = dtype is dtypes.int64
    else:
        casts = True
    return _packed(value, dtype, casts, name)


def _packed(value: Any, dtype: DType, casts: bool, name: str | None) -> Tensor:
    items: list[Tensor] = []
    for item in value:
        if isinstance(item, (list, tuple)):
            items.append(_packed(item, dtype, casts, None))
        elif casts and _is_tensor(item):
            items.append(casting.cast(item, dtype))
        else:
            items.append(convert_to_tensor(item, dtype=dtype))
    return pack_op(*items, axis=0, name=name)


def _is_tensor(item: Any) -> bool:
    return isinstance(item, Tensor) or hasattr(item, "__tf_tensor__")


def _dtypes_in(value: Any) -> list[DType]:
    """The dtypes of the tensors in a nested list."""
    found: list[DType] = []
    for item in value:
        if isinstance(item, (list, tuple)):
            found += _dtypes_in(item)
        elif _is_tensor(item):
            found.append(item.dtype)
    return found


def _pack_infer(*values: TensorSpec, axis: int) -> TensorSpec:
    dims = values[0].dims
    for i, other in enumerate(values[1:], 1):
        dims = rules.merge_dims("stack", dims, other.dims, f"values[0] and values[{i}]")
    if dims is None:
        return values[0].with_dims(None)
    at = rules.normalize_axis("stack", axis, len(dims) + 1)
    return values[0].with_dims((*dims[:at], len(values), *dims[at:]))


def _pack_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor, ...]:
    return tuple(unpack_op(g, num=len(ctx.inputs), axis=ctx.attrs["axis"]))


pack_op = define_op(
    "Pack",
    args("*values", DATA),
    infer=_pack_infer,
    kernel=lambda xp, *values, axis: xp.stack(values, axis),
    native=native_rules.IndexMap("stack"),
    xla=KERNEL,
    vjp=_pack_vjp,
    fresh=True,
    trusts_kernel=True,
    shape_arithmetic=True,
    ragged="stack",
    batch=batching.joined_along_axis,
)


def _unpack_infer(x: TensorSpec, *, num: int, axis: int) -> tuple[TensorSpec, ...]:
    rules.check_rank_at_least("unstack", x, 1, name="value")
    if x.dims is None:
        return (x,) * num
    at = rules.normalize_axis("unstack", axis, len(x.dims))
    rules.unify("unstack", x.dims[at], num, "num and the size of the axis")
    return (x.with_dims(rules.replace(x.dims, at)),) * num


def _unpack_kernel(xp: ArrayNamespace, x: Array, *, num: int, axis: int) -> tuple[Array, ...]:
    rows = xp.moveaxis(x, axis, 0)
    if len(rows) != num:
        raise ValueError("the type rule says what is wrong")
    # The ellipsis keeps rows of a vector arrays, where a plain index gives scalars (or bytes).
    return tuple([rows[i, ...] for i in range(num)])


def _unpack_vjp(ctx: VjpContext, *gs: Tensor | None) -> tuple[Tensor]:
    filled = [ctx.zeros_like_output(i) if g is None else g for i, g in enumerate(gs)]
    return (pack_op(*filled, axis=ctx.attrs["axis"]),)


unpack_op = define_op(
    "Unpack",
    args("value", DATA),
    infer=_unpack_infer,
    kernel=_unpack_kernel,
    native=native_rules.IndexMap("split", drops_axis=True),
    xla=KERNEL,
    vjp=_unpack_vjp,
    outputs=None,
    trusts_kernel=True,
    shape_arithmetic=True,
    batch=batching.along_axis,
)

convert.install(make_constant, _pack)
