"""Distributions out of draws: what stateless functions, stateful ones and generators share.

Location and scale are applied with ordinary ops, so that gradients flow to them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from weft._src.core import dtypes
from weft._src.core.aliases import DTypeLike, ShapeLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import FLOATING, INDEX, SIGNED, DType, int32, int64
from weft._src.core.tensor import Tensor
from weft._src.errors import DTypeError
from weft._src.ops import rules
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.registry import Op
from weft._src.ops.sampling import draws

# Gives the state to draw from: for which op, of which dtype, and the shape of what is drawn.
StateSource: TypeAlias = Callable[[Op, DType, Tensor], Tensor]

_UNIFORM = FLOATING | draws.FULL_INTS


def _listed(allowed: frozenset[DType]) -> str:
    return ", ".join(sorted(d.name for d in allowed))


def shape_of(op: str, shape: ShapeLike) -> Tensor:
    """A shape as a tensor, refused before a stream moves on for it."""
    shape = shapes.shape_argument(shape)
    if shape.dtype not in INDEX:
        raise DTypeError(f"{op}: shape must be int32 or int64, got {shape.dtype.name}.")
    rules.check_rank(op, shape.spec, 1, name="shape")
    return shape


def uniform(
    op: str,
    shape: Any,
    minval: Any,
    maxval: Any,
    dtype: DTypeLike,
    name: str | None,
    source: StateSource,
) -> Tensor:
    """Numbers in [minval, maxval); integers of the whole range if both are None."""
    dtype = dtypes.as_dtype(dtype)
    if dtype not in _UNIFORM:
        raise ValueError(f"{op}: dtype must be one of {_listed(_UNIFORM)}, got {dtype.name}.")
    shape = shape_of(op, shape)
    if not dtype.is_integer:
        return _uniform_float(
            op, shape, minval, 1 if maxval is None else maxval, dtype, name, source
        )
    if (minval is None) != (maxval is None):
        raise ValueError(
            f"{op}: for the integer dtype {dtype.name} give both minval and maxval, or None for "
            f"both to draw from its whole range; got minval={minval!r} and maxval={maxval!r}."
        )
    if minval is None:
        return full_int(op, shape, dtype, name, source)
    if dtype not in SIGNED:
        raise ValueError(
            f"{op}: dtype {dtype.name} has no draws between minval and maxval. Use int32 or "
            "int64, or None for both to draw from its whole range."
        )
    minval = convert_to_tensor(minval, dtype)
    maxval = convert_to_tensor(maxval, dtype)
    state = source(draws.uniform_int_op, dtype, shape)
    return draws.uniform_int_op(shape, state, minval, maxval, name=name)


def _uniform_float(
    op: str,
    shape: Tensor,
    minval: Any,
    maxval: Any,
    dtype: DType,
    name: str | None,
    source: StateSource,
) -> Tensor:
    if minval is None:
        raise ValueError(f"{op}: minval must be a number for the dtype {dtype.name}, got None.")
    plain = _is(minval, 0) and _is(maxval, 1)
    if not plain:
        minval = convert_to_tensor(minval, dtype)
        maxval = convert_to_tensor(maxval, dtype)
    state = source(draws.uniform_op, dtype, shape)
    drawn = draws.uniform_op(shape, state, dtype=dtype, name=name if plain else None)
    return drawn if plain else drawn * (maxval - minval) + minval


def full_int(
    op: str, shape: ShapeLike, dtype: DTypeLike, name: str | None, source: StateSource
) -> Tensor:
    """Integers of the whole range of their dtype."""
    dtype = dtypes.as_dtype(dtype)
    if dtype not in draws.FULL_INTS:
        raise DTypeError(
            f"{op}: dtype must be one of {_listed(draws.FULL_INTS)}, got {dtype.name}."
        )
    shape = shape_of(op, shape)
    return draws.full_int_op(shape, source(draws.full_int_op, dtype, shape), dtype=dtype, name=name)


def normal(
    op: str,
    draw: Op,
    shape: ShapeLike,
    mean: TensorLike,
    stddev: TensorLike,
    dtype: DTypeLike,
    name: str | None,
    source: StateSource,
) -> Tensor:
    """(Truncated) normal numbers, scaled and moved."""
    dtype = dtypes.as_dtype(dtype)
    if dtype not in FLOATING:
        raise DTypeError(f"{op}: dtype must be one of {_listed(FLOATING)}, got {dtype.name}.")
    shape = shape_of(op, shape)
    plain = _is(mean, 0) and _is(stddev, 1)
    if not plain:
        mean = convert_to_tensor(mean, dtype)
        stddev = convert_to_tensor(stddev, dtype)
    state = source(draw, dtype, shape)
    drawn = draw(shape, state, dtype=dtype, name=name if plain else None)
    return drawn if plain else drawn * stddev + mean


def _is(value: Any, number: int) -> bool:
    """Whether it is this Python number, with which nothing has to be computed."""
    return type(value) in (int, float) and value == number


def class_dtype(op: str, dtype: Any) -> DType:
    """The dtype of drawn class numbers: int32 or int64 (the default)."""
    dtype = int64 if dtype is None else dtypes.as_dtype(dtype)
    if dtype not in (int32, int64):
        raise ValueError(f"{op}: dtype must be int32 or int64, got {dtype.name}.")
    return dtype
