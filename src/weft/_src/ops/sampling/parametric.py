"""Draws whose distribution depends on tensors of parameters: gamma, Poisson, binomial."""

from __future__ import annotations

from typing import Any

from weft._src.core import memory
from weft._src.core.aliases import ArrayNamespace, DTypeLike, ShapeLike, TensorLike
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.dtypes import (
    FLOATING,
    INTEGER,
    DType,
    as_dtype,
    float16,
    float32,
    float64,
    int32,
    int64,
)
from weft._src.core.random_numbers import index_shuffle as shuffling, rejection, seeds
from weft._src.core.shapes import format_dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import DTypeError, InvalidArgumentError, ShapeError, UnsupportedError
from weft._src.ops import rules
from weft._src.ops.arrays import joining, shape as shapes
from weft._src.ops.arrays.shape_checks import broadcast_dynamic_shape
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import arithmetic, casting, incomplete
from weft._src.ops.elementwise.operands import sum_to
from weft._src.ops.reduce import products
from weft._src.ops.registry import NO_NATIVE, NO_XLA, NOT_DIFFERENTIABLE, Op, args, define_op
from weft._src.ops.sampling import distributions, draws, graph_forms

_COUNTS = frozenset({float16, float32, float64, int32, int64})


def _drawn_dims(op: str, shape: TensorSpec, state: TensorSpec, *parameters: TensorSpec) -> Any:
    """The shape that is asked for; the parameters must broadcast to its end."""
    rules.check_rank(op, state, 1, name="state")
    dims = rules.dims_from_value(op, shape)
    for x in parameters:
        both = rules.broadcast_dims(op, dims, x.dims)
        if dims is not None and both is not None:
            try:
                rules.merge_dims(op, dims, both, "shape")
            except ShapeError:
                raise ShapeError(
                    f"{op}: shape must end with the shape of the parameters, {x.shape}, got "
                    f"{format_dims(dims)}."
                ) from None
    return dims


def _flat(
    xp: ArrayNamespace, shape: Array, *parameters: Array
) -> tuple[tuple[int, ...], list[Array]]:
    sizes = tuple(shape.tolist())
    memory.check("random", sizes, xp.dtype(xp.float64))
    wide = [xp.broadcast_to(x.astype(xp.float64), sizes) for x in parameters]
    return sizes, [xp.reshape(x, (-1,)) for x in wide]


# --- gamma -------------------------------------------------------------------------------------


def _gamma_kernel(xp: ArrayNamespace, shape: Array, state: Array, alpha: Array) -> Array:
    sizes, (flat,) = _flat(xp, shape, alpha)
    drawn = rejection.gamma(*seeds.key_counter_from_state(state), flat)
    return xp.reshape(drawn, sizes).astype(alpha.dtype)


def _gamma_vjp(ctx: VjpContext, g: Tensor) -> tuple[None, None, Tensor]:
    alpha = ctx.inputs[2]
    return None, None, sum_to(g * gamma_slope_op(alpha, ctx.outputs[0]), alpha)


gamma_op: Op = define_op(
    "StatelessRandomGammaV3",
    draws.SHAPE + draws.STATE + args("alpha", FLOATING),
    infer=lambda shape, state, alpha: alpha.with_dims(_drawn_dims("gamma", shape, state, alpha)),
    kernel=_gamma_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=_gamma_vjp,
    fresh=True,
    graphdef=graph_forms.drawn,
)


def _gamma_slope_kernel(xp: ArrayNamespace, alpha: Array, sample: Array) -> Array:
    a, x = alpha.astype(xp.float64), sample.astype(xp.float64)
    density = xp.exp((a - 1) * xp.log(x) - x - xp.special.gammaln(a))
    return (-incomplete.gammainc_slope(xp, a, x) / density).astype(sample.dtype)


def _refuse(ctx: VjpContext, g: Tensor) -> tuple[Tensor | None, ...]:
    raise UnsupportedError("gamma: second derivatives of draws by alpha are not available.")


# How a draw moves with alpha when its place in the distribution stays.
gamma_slope_op = define_op(
    "RandomGammaGrad",
    args("alpha sample", FLOATING),
    infer=rules.broadcast("RandomGammaGrad"),
    kernel=_gamma_slope_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    elementwise=True,
    vjp=_refuse,
    fresh=True,
)


def gamma(
    op: str,
    shape: ShapeLike,
    alpha: Any,
    beta: Any,
    dtype: DTypeLike,
    name: str | None,
    source: Any,
    whole: bool,
) -> Tensor:
    """Gamma numbers; `shape` is that of the `whole` result, or of the draws for each alpha."""
    found = as_dtype(dtype)
    if found not in FLOATING:
        raise DTypeError(f"{op}: dtype must be floating-point, got {found.name}.")
    a = convert_to_tensor(alpha, dtype=found)
    rate = None if beta is None else convert_to_tensor(beta, dtype=found)
    parameters = [a] if rate is None else [a, rate]
    full = _full_shape(op, shape, parameters, whole)
    drawn = gamma_op(full, source(gamma_op, found, full), a)
    # Not 0, whose logarithm and inverse users take.
    tiny = adopt(found.as_numpy_dtype(_tiny(found)), found)
    drawn = arithmetic.maximum(drawn, tiny, name=name if rate is None else None)
    return drawn if rate is None else arithmetic.divide(drawn, rate, name=name)


def _tiny(dtype: DType) -> float:
    return {float16: 6.1035e-05, float64: 2.2250738585072014e-308}.get(dtype, 1.1754944e-38)


def _full_shape(op: str, shape: ShapeLike, parameters: list[Tensor], whole: bool) -> Tensor:
    wanted = distributions.shape_of(op, shape)
    if whole:
        return wanted
    inner = shapes.shape_op(parameters[0], out_type=wanted.dtype)
    for x in parameters[1:]:
        inner = broadcast_dynamic_shape(inner, shapes.shape_op(x, out_type=wanted.dtype))
    return joining.concat([wanted, inner], 0)


# --- Poisson -----------------------------------------------------------------------------------


def _poisson_infer(
    shape: TensorSpec, state: TensorSpec, lam: TensorSpec, *, dtype: DType
) -> TensorSpec:
    return TensorSpec.of(dtype, _drawn_dims("poisson", shape, state, lam))


def _poisson_kernel(
    xp: ArrayNamespace, shape: Array, state: Array, lam: Array, *, dtype: DType
) -> Array:
    sizes, (rate,) = _flat(xp, shape, lam)
    if not xp.isfinite(rate).all():
        raise InvalidArgumentError(None, None, "poisson: lam must be finite.")
    drawn = rejection.poisson(*seeds.key_counter_from_state(state), rate)
    return casting.converted(xp, xp.reshape(drawn, sizes), dtype)


poisson_op: Op = define_op(
    "StatelessRandomPoisson",
    draws.SHAPE + draws.STATE + args("lam", _COUNTS),
    infer=_poisson_infer,
    kernel=_poisson_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def count_dtype(op: str, dtype: DTypeLike) -> DType:
    """The dtype of numbers that count something."""
    found = as_dtype(dtype)
    if found not in _COUNTS:
        names = ", ".join(sorted(d.name for d in _COUNTS))
        raise DTypeError(f"{op}: dtype must be one of {names}, got {found.name}.")
    return found


def poisson(
    op: str,
    shape: ShapeLike,
    lam: TensorLike,
    dtype: DTypeLike,
    name: str | None,
    source: Any,
    whole: bool,
) -> Tensor:
    """Poisson numbers; `shape` is that of the `whole` result, or of the draws for each lam."""
    found = count_dtype(op, dtype)
    rate = convert_to_tensor(lam)
    full = _full_shape(op, shape, [rate], whole)
    return poisson_op(full, source(poisson_op, found, full), rate, dtype=found, name=name)


# --- binomial ----------------------------------------------------------------------------------


def _binomial_infer(
    shape: TensorSpec, state: TensorSpec, counts: TensorSpec, probs: TensorSpec, *, dtype: DType
) -> TensorSpec:
    return TensorSpec.of(dtype, _drawn_dims("binomial", shape, state, counts, probs))


def _binomial_kernel(
    xp: ArrayNamespace, shape: Array, state: Array, counts: Array, probs: Array, *, dtype: DType
) -> Array:
    sizes, (n, p) = _flat(xp, shape, counts, probs)
    if not xp.isfinite(n).all() or xp.isnan(p).any():
        raise InvalidArgumentError(
            None, None, "binomial: counts must be finite, and probs must not be NaN."
        )
    drawn = rejection.binomial(*seeds.key_counter_from_state(state), n, p)
    return casting.converted(xp, xp.reshape(drawn, sizes), dtype)


binomial_op: Op = define_op(
    "StatelessRandomBinomial",
    draws.SHAPE + draws.STATE + args("counts probs", _COUNTS),
    infer=_binomial_infer,
    kernel=_binomial_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def binomial(
    op: str,
    shape: ShapeLike,
    counts: TensorLike,
    probs: TensorLike,
    dtype: DTypeLike,
    name: str | None,
    source: Any,
) -> Tensor:
    """Binomial numbers; the parameters broadcast to the end of the shape."""
    found = count_dtype(op, dtype)
    p = convert_to_tensor(probs)
    n = convert_to_tensor(counts)
    n = casting.cast(n, p.dtype) if n.dtype.is_integer else n
    full = distributions.shape_of(op, shape)
    return binomial_op(full, source(binomial_op, found, full), n, p, dtype=found, name=name)


def binomial_numbers(shape: Tensor, counts: TensorLike, probs: TensorLike) -> Tensor:
    """How many numbers a generator gives up for a draw: as many as TensorFlow reserves.

    That is 50 for each number, and for three more where parameters change.
    """
    sizes = [shapes.shape_op(convert_to_tensor(x), out_type=int64) for x in (counts, probs)]
    changes = products.reduce_prod(broadcast_dynamic_shape(*sizes))
    total = products.reduce_prod(casting.cast(shape, int64))
    one = adopt(1, int64)
    return changes * (total // arithmetic.maximum(changes, one) + 3) * 50


# --- single places of a permutation ------------------------------------------------------------


def _index_shuffle_infer(index: TensorSpec, seed: TensorSpec, max_index: TensorSpec) -> TensorSpec:
    op = "index_shuffle"
    for name, x, most in (("index", index, 1), ("seed", seed, 2), ("max_index", max_index, 1)):
        if x.rank is not None and x.rank > most:
            raise ShapeError(f"{op}: {name} must have rank {most} at most, got shape {x.shape}.")
    if seed.dims is not None:
        if not seed.dims:
            raise ShapeError(f"{op}: seed must be two integers, or two for each index, got one.")
        rules.unify(op, seed.dims[-1], 2, "the last size of seed and 2")
    lead = None if seed.dims is None else seed.dims[:-1]
    return index.with_dims(rules.broadcast_dims(op, index.dims, max_index.dims, lead))


def _index_shuffle_kernel(xp: ArrayNamespace, index: Array, seed: Array, max_index: Array) -> Array:
    place, first, second, largest = xp.broadcast_arrays(
        index, seed[..., 0], seed[..., 1], max_index
    )
    if place.size and (place.min() < 0 or (place > largest).any()):
        raise InvalidArgumentError(
            None, None, "index_shuffle: index must be between 0 and max_index, both included."
        )
    words = [xp.ravel(x).astype(xp.uint64) for x in (place, first, second, largest)]
    return xp.reshape(shuffling.shuffled(*words), place.shape).astype(index.dtype)


_WORDS = draws.FULL_INTS

index_shuffle_op = define_op(
    "RandomIndexShuffle",
    args("index", _WORDS) + args("seed", _WORDS) + args("max_index", _WORDS),
    infer=_index_shuffle_infer,
    kernel=_index_shuffle_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def index_shuffle(index: Any, seed: TensorLike, max_index: TensorLike) -> Tensor:
    """Where an index goes in a permutation of 0..max_index that a seed determines.

    Args:
      index: integers of 32 or 64 bits from 0 to max_index, a scalar or a vector.
      seed: two integers, or a matrix with two for each index.
      max_index: the largest index, a scalar or a vector.

    Returns:
      A tensor of the dtype of `index`, of the shape that all broadcast to.

    Raises:
      InvalidArgumentError: if an index is negative or above `max_index`.
      ShapeError: if the ranks are too high, or the seed is not pairs.

    >>> tf.random.experimental.index_shuffle(tf.range(5), seed=[1, 2], max_index=4).numpy()
    array([3, 1, 0, 4, 2], dtype=int32)
    """
    place = convert_to_tensor(index)
    limit = convert_to_tensor(max_index)
    if place.dtype in INTEGER and limit.dtype in INTEGER:
        limit = casting.cast(limit, place.dtype)
    return index_shuffle_op(place, convert_to_tensor(seed), limit)
