"""Random numbers as pure ops: a shape and the state of a stream determine the tensor.

A state is three int64 words, (counter low, counter high, key). Stateless functions compute it from
their seed (`StatelessRandomGetKeyCounter`), stateful ones take it from a resource
(`RngReadAndSkip` in `ops.random.streams`); the draw itself is the same op for both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.core import memory
from weft._src.core.aliases import ArrayNamespace
from weft._src.core.dtypes import DATA, FLOATING, INDEX, DType, int32, int64, uint32, uint64
from weft._src.core.native_rules import Special
from weft._src.core.random_numbers import discrete, distributions, seeds
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.ops import rules
from weft._src.ops.contexts import VjpContext
from weft._src.ops.registry import NOT_DIFFERENTIABLE, Op, args, define_op
from weft._src.ops.sampling import graph_forms
from weft._src.ops.worth import NEVER

INT64 = frozenset({int64})
FULL_INTS = frozenset({int32, int64, uint32, uint64})

SHAPE = args("shape", INDEX, is_shape=True)
STATE = args("state", INT64)


def _check_vector(op: str, x: TensorSpec, size: int, name: str) -> None:
    if x.dims is None:
        return
    if len(x.dims) != 1 or not (isinstance(x.dims[0], Dim) or x.dims[0] == size):
        raise ShapeError(f"{op}: {name} must have shape ({size},), got {x.shape}.")


def _size(shape: Array, dtype: np.dtype[Any]) -> tuple[int, ...]:
    sizes = tuple(shape.tolist())
    if shape.ndim != 1 or min(sizes, default=0) < 0:
        raise ValueError("a size is negative, or this is no shape")  # the type rule says it better
    memory.check("random", sizes, dtype)
    return sizes


# --- from seeds to states ----------------------------------------------------------------------


def _key_counter_infer(seed: TensorSpec) -> TensorSpec:
    _check_vector("StatelessRandomGetKeyCounter", seed, 2, "seed")
    return TensorSpec.of(int64, (3,))


def _key_counter_kernel(xp: ArrayNamespace, seed: Array) -> Array:
    return seeds.state_from_key_counter(*seeds.key_counter_from_seed(seed.tolist()))


key_counter_op = define_op(
    "StatelessRandomGetKeyCounter",
    args("seed", INDEX),
    infer=_key_counter_infer,
    kernel=_key_counter_kernel,
    native=Special("philox_seed"),
    xla=Lowered("philox_seed"),
    vjp=NOT_DIFFERENTIABLE,
    trusts_kernel=True,
    fresh=True,
    graphdef=graph_forms.key_counter,
)


# --- arrays of numbers -------------------------------------------------------------------------


def _draw(name: str, function: Callable[..., Any], rule: str) -> Op:
    """An op that draws numbers of a given dtype, independent of each other."""

    def infer(shape: TensorSpec, state: TensorSpec, *, dtype: DType) -> TensorSpec:
        _check_vector(name, state, 3, "state")
        return TensorSpec.of(dtype, rules.dims_from_value(name, shape))

    def kernel(xp: ArrayNamespace, shape: Array, state: Array, *, dtype: DType) -> Array:
        sizes = _size(shape, dtype.numpy_dtype)
        return function(*seeds.key_counter_from_state(state), sizes, dtype.numpy_dtype)

    return define_op(
        name,
        SHAPE + STATE,
        infer=infer,
        kernel=kernel,
        native=Special(rule),
        xla=Lowered(rule),
        vjp=NOT_DIFFERENTIABLE,
        trusts_kernel=True,
        fresh=True,
        graphdef=graph_forms.drawn,
    )


uniform_op = _draw("StatelessRandomUniformV2", distributions.uniform_float, "philox_uniform")
full_int_op = _draw(
    "StatelessRandomUniformFullIntV2", distributions.uniform_full_int, "philox_full_int"
)
normal_op = _draw("StatelessRandomNormalV2", distributions.normal, "philox_normal")
truncated_normal_op = _draw(
    "StatelessTruncatedNormalV2", distributions.truncated_normal, "philox_truncated_normal"
)


def _uniform_int_infer(
    shape: TensorSpec, state: TensorSpec, minval: TensorSpec, maxval: TensorSpec
) -> TensorSpec:
    op = "StatelessRandomUniformIntV2"
    _check_vector(op, state, 3, "state")
    rules.check_rank(op, minval, 0, name="minval")
    rules.check_rank(op, maxval, 0, name="maxval")
    return minval.with_dims(rules.dims_from_value(op, shape))


def _uniform_int_kernel(
    xp: ArrayNamespace, shape: Array, state: Array, minval: Any, maxval: Any
) -> Array:
    low, high = int(minval), int(maxval)
    sizes = _size(shape, minval.dtype)
    if low >= high and 0 not in sizes:
        raise InvalidArgumentError(
            None,
            None,
            f"StatelessRandomUniformIntV2: minval must be below maxval, got minval {low} and "
            f"maxval {high}.",
        )
    key, counter = seeds.key_counter_from_state(state)
    return distributions.uniform_int(key, counter, sizes, minval.dtype, low, high)


uniform_int_op = define_op(
    "StatelessRandomUniformIntV2",
    SHAPE + STATE + args("minval maxval", FULL_INTS),
    infer=_uniform_int_infer,
    kernel=_uniform_int_kernel,
    native=Special("philox_uniform_int"),
    xla=Lowered("philox_uniform_int"),
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    graphdef=graph_forms.drawn,
)


# --- classes and permutations ------------------------------------------------------------------


def _multinomial_infer(
    logits: TensorSpec, num_samples: TensorSpec, state: TensorSpec, *, dtype: DType
) -> TensorSpec:
    op = "StatelessMultinomial"
    rules.check_rank(op, logits, 2, name="logits")
    rules.check_rank(op, num_samples, 0, name="num_samples")
    _check_vector(op, state, 3, "state")
    count = rules.known(num_samples)
    if count is None:
        count = Dim()
    elif not isinstance(count, Dim) and count < 0:
        raise ShapeError(f"{op}: num_samples must not be negative, got {count}.")
    if logits.dims is not None and logits.dims[1] == 0:
        raise ShapeError(f"{op}: logits must have at least one class, got shape {logits.shape}.")
    return TensorSpec.of(dtype, (Dim() if logits.dims is None else logits.dims[0], count))


def _multinomial_kernel(
    xp: ArrayNamespace, logits: Array, num_samples: Any, state: Array, *, dtype: DType
) -> Array:
    count = int(num_samples)
    memory.check("categorical", (logits.shape[0], count), dtype.numpy_dtype)
    key, counter = seeds.key_counter_from_state(state)
    return discrete.categorical(key, counter, logits, count, dtype.numpy_dtype)


multinomial_op = define_op(
    "StatelessMultinomial",
    args("logits", FLOATING) + args("num_samples", INDEX, is_shape=True) + STATE,
    infer=_multinomial_infer,
    kernel=_multinomial_kernel,
    native=Special("philox_multinomial"),
    xla=Lowered("philox_multinomial"),
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    slow_kernel=True,
    graphdef=graph_forms.categories,
)


def _shuffle_infer(value: TensorSpec, state: TensorSpec, *, inverse: bool) -> TensorSpec:
    _check_vector("StatelessShuffle", state, 3, "state")
    return value


def _shuffle_kernel(xp: ArrayNamespace, value: Array, state: Array, *, inverse: bool) -> Array:
    if value.ndim == 0:
        return value
    key, counter = seeds.key_counter_from_state(state)
    if value.ndim == 1 and not inverse:
        shuffled = np.array(value)
        discrete.shuffle(key, counter, shuffled)
        return shuffled
    order = discrete.permutation(key, counter, value.shape[0])
    if not inverse:
        return value[order]
    out = np.empty_like(value)
    out[order] = value
    return out


def _shuffle_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor, None]:
    back = not ctx.attrs["inverse"]
    return shuffle_op(g, ctx.inputs[1], inverse=back), None


shuffle_op: Op = define_op(
    "StatelessShuffle",
    args("value", DATA) + STATE,
    infer=_shuffle_infer,
    kernel=_shuffle_kernel,
    native=Special("philox_shuffle"),
    xla=Lowered("philox_shuffle"),
    vjp=_shuffle_vjp,
    graphdef=graph_forms.shuffled,
)
# The kernel changes elements where they are, which machine code of graphs does not.
shuffle_op.worth_compiling_from = NEVER
