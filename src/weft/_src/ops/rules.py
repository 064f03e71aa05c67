"""Type rules shared by many ops: broadcasting, axes, shapes given as tensors.

A rule gets the specs of the inputs and the attributes, and returns the spec of the output. It
must cope with unknown sizes (`Dim`) and unknown rank (`dims is None`).

Two sizes that must be equal are unified: of a number and an unknown size the number is known
afterwards, two unknown sizes are taken to be the one that is named last, and two numbers that
differ are an error. Sizes that are broadcast may also be 1. With n and m unknown:

    unify(n, 5) = 5           broadcast (3, n) with (1, 5): (3, 5), since n is 5 or 1
    unify(n, m) = m           broadcast (n,) with (n,): (n,), without a check at run time
    unify(4, 5): ShapeError   broadcast (n,) with (m,): a new unknown size
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft._src.core import dtypes
from weft._src.core.conversions import how_to_be_one_of
from weft._src.core.dtypes import DType
from weft._src.core.shapes import Dim, Dims, Size, UnknownNumber, format_dims
from weft._src.core.specs import TensorSpec, ValueSpec
from weft._src.errors import DTypeError, ShapeError

Rule = Callable[..., Any]


def same(x: TensorSpec, *_: TensorSpec, **__: Any) -> TensorSpec:
    """The output is like the first input."""
    return x


def same_as(dtype: DType) -> Rule:
    """The output has the shape of the first input and a fixed dtype."""
    return lambda x, *_, **__: x.with_dtype(dtype)


def broadcast_dims(op: str, *shapes: Dims | None) -> Dims | None:
    """The shape that all broadcast to. ShapeError naming the op and both shapes if none exists."""
    out = shapes[0]
    for other in shapes[1:]:
        if out is other:
            continue
        if out is None or other is None:
            return None
        out = _broadcast_two(op, out, other)
    return out


def _broadcast_two(op: str, a: Dims, b: Dims) -> Dims:
    if a == b:
        return a
    n = max(len(a), len(b))
    wide_a, wide_b = (1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b
    out: list[Size] = []
    for x, y in zip(wide_a, wide_b, strict=True):
        if x == y or y == 1:
            out.append(x)
        elif x == 1:
            out.append(y)
        elif isinstance(x, Dim):
            out.append(Dim() if isinstance(y, Dim) else y)
        elif isinstance(y, Dim):
            out.append(x)
        else:
            raise ShapeError(
                f"{op}: shapes {format_dims(a)} and {format_dims(b)} cannot be broadcast together."
                " Sizes must be equal or 1, counted from the last axis."
            )
    return tuple(out)


def broadcast(op: str, dtype: DType | None = None) -> Rule:
    """Inputs broadcast together; the output has the first one's dtype, or a fixed one."""

    def rule(x: TensorSpec, y: TensorSpec, *more: TensorSpec, **_: Any) -> TensorSpec:
        dims = broadcast_dims(op, x.dims, y.dims, *[z.dims for z in more])
        return TensorSpec.of(dtype or x.dtype, dims)

    return rule


def normalize_axis(op: str, axis: int, rank: int, *, name: str = "axis") -> int:
    """A non-negative axis; ShapeError if it is out of range."""
    if not -rank <= axis < rank:
        bounds = f"[{-rank}, {rank})" if rank else "nothing: the tensor is a scalar"
        raise ShapeError(f"{op}: {name} {axis} is out of range; allowed is {bounds}.")
    return axis + rank if axis < 0 else axis


def normalize_axes(
    op: str, axes: Sequence[int] | None, rank: int, *, name: str = "axis"
) -> tuple[int, ...]:
    """Non-negative axes without repetition; None means all of them."""
    if axes is None:
        return tuple(range(rank))
    out = tuple([normalize_axis(op, a, rank, name=name) for a in axes])
    if len(set(out)) != len(out):
        raise ShapeError(f"{op}: {name} {tuple(axes)} names an axis twice.")
    return out


def check_rank(op: str, x: TensorSpec, rank: int, *, name: str = "x") -> None:
    """ShapeError unless x has this rank or an unknown one."""
    if x.rank not in (None, rank):
        raise ShapeError(f"{op}: {name} must have rank {rank}, got shape {x.shape}.")


def check_rank_at_least(op: str, x: TensorSpec, rank: int, *, name: str = "x") -> None:
    """ShapeError unless x has at least this rank or an unknown one."""
    if x.rank is not None and x.rank < rank:
        raise ShapeError(f"{op}: {name} must have rank at least {rank}, got shape {x.shape}.")


def check_dtype(op: str, dtype: DType, allowed: frozenset[DType], *, name: str = "x") -> None:
    """DTypeError unless the dtype is one of those allowed."""
    if dtype not in allowed:
        names = ", ".join(sorted(d.name for d in allowed))
        raise DTypeError(
            f"{op}: {name} has dtype {dtype.name}, expected one of {names}. "
            f"{how_to_be_one_of(name, dtype, allowed)}"
        )


def unify(op: str, a: Size, b: Size, what: str) -> Size:
    """The size that two sizes which must be equal have; ShapeError if they differ."""
    if isinstance(a, Dim):
        return b
    if isinstance(b, Dim) or a == b:
        return a
    raise ShapeError(f"{op}: {what} must be equal, got {a} and {b}.")


def merge_dims(op: str, a: Dims | None, b: Dims | None, what: str) -> Dims | None:
    """The shape that two shapes which must be equal have; ShapeError if they differ."""
    if a is None or b is None:
        return b if a is None else a
    if len(a) != len(b):
        raise ShapeError(
            f"{op}: {what} must have equal shapes, got {format_dims(a)} and {format_dims(b)}."
        )
    try:
        return tuple([unify(op, x, y, what) for x, y in zip(a, b, strict=True)])
    except ShapeError:
        raise ShapeError(
            f"{op}: {what} must have equal shapes, got {format_dims(a)} and {format_dims(b)}."
        ) from None


def dims_from_value(op: str, shape: TensorSpec, *, name: str = "shape") -> Dims | None:
    """The dims a shape-valued input describes, as far as they are known. Sizes must be >= 0."""
    if shape.rank not in (None, 1):
        raise ShapeError(f"{op}: {name} must be a vector, got shape {shape.shape}.")
    value = known(shape)
    if value is None:
        return None
    for d in value:
        if not isinstance(d, Dim) and d < 0:
            raise ShapeError(f"{op}: {name} must not be negative, got {format_dims(value)}.")
    return tuple(value)


def known(spec: TensorSpec) -> Any:
    """What is known of a shape-valued input: an int or Dim, a list of them, or None."""
    value = spec.value if isinstance(spec, ValueSpec) else None
    return None if value is None else value.tolist()


def size_from(number: Any) -> Size:
    """The size a number stands for where negative ones have a meaning of their own."""
    return Dim() if isinstance(number, UnknownNumber) else number


def product(sizes: Sequence[Size]) -> Size:
    """The product of sizes; unknown if one is (unless another is 0)."""
    out: Any = 1
    for size in sizes:
        out = out * size
    return out


def replace(dims: Dims, axis: int, *sizes: Size) -> Dims:
    """The dims with the one at `axis` replaced by any number of others."""
    return (*dims[:axis], *sizes, *dims[axis + 1 :])


def scalar(dtype: DType = dtypes.int32) -> TensorSpec:
    """The spec of a scalar."""
    return TensorSpec.of(dtype, ())
