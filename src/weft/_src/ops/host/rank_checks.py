"""Assertions about ranks: assert_rank, assert_rank_at_least, assert_rank_in, assert_scalar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor, items_of, of_dtype
from weft._src.core.dtypes import int32
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.ops import static
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.elementwise import comparison
from weft._src.ops.host.requiring import prefix, require


def _rank(function: str, rank: Any) -> Tensor:
    """A rank given as a number or as a tensor, as a scalar int32 tensor."""
    tensor = convert_to_tensor(rank, dtype_hint=int32)
    if not tensor.dtype.is_integer:
        raise TypeError(f"{function}: rank must be an integer, got {rank!r}.")
    tensor = of_dtype(function, rank, int32, "rank")
    if tensor.shape.rank not in (None, 0):
        raise ValueError(f"{function}: rank must be a scalar, got shape {tensor.shape}.")
    return tensor


def _check_rank(
    function: str,
    x: Any,
    ranks: list[Tensor],
    condition: Callable[..., Tensor],
    holds: Callable[[int, list[int]], bool],
    wanted: str,
    message: str | None,
    name: str | None,
) -> None:
    """At once if all is known, else in every run."""
    text = f"{prefix(function, message)}x must have {wanted}"
    x = convert_to_tensor(x)
    known = [static.static_value(rank) for rank in ranks]
    if x.shape.rank is None or any(rank is None for rank in known):
        actual = shapes.rank(x)
        labels = ["got", *["wanted"] * len(ranks)]
        require(condition, [actual, *ranks], text, labels, name=name)
        return
    numbers = [int(rank) for rank in known]  # type: ignore[arg-type]
    if not holds(x.shape.rank, numbers):
        shown = numbers if function == "assert_rank_in" else numbers[0]
        raise ShapeError(f"{text} {shown}, got rank {x.shape.rank} (shape {x.shape}).")


def assert_rank(
    x: TensorLike, rank: TensorLike, message: str | None = None, name: str | None = None
) -> None:
    """ValueError (InvalidArgumentError when it runs) unless x has the given rank.

    Args:
      x: a tensor.
      rank: the rank, an integer or integer scalar.
      message: a string that the error begins with; None means none.

    Raises:
      ShapeError: if both ranks are known and differ.
      InvalidArgumentError: if they differ when it runs.
      TypeError: if `rank` is no integer.
      ValueError: if `rank` is no scalar.

    >>> tf.debugging.assert_rank([[1, 2]], 2)
    """
    _check_rank(
        "assert_rank", x, [_rank("assert_rank", rank)], comparison.equal,
        lambda have, ranks: have == ranks[0], "rank", message, name,
    )  # fmt: skip


def assert_rank_at_least(
    x: TensorLike, rank: TensorLike, message: str | None = None, name: str | None = None
) -> None:
    """ValueError (InvalidArgumentError when it runs) unless x has at least the given rank.

    Args:
      x: a tensor.
      rank: the lowest rank, an integer or integer scalar.
      message: a string that the error begins with; None means none.

    Raises:
      ShapeError: if both ranks are known and that of `x` is lower.
      InvalidArgumentError: if it is lower when it runs.
      TypeError: if `rank` is no integer.
      ValueError: if `rank` is no scalar.

    >>> tf.debugging.assert_rank_at_least([[1, 2]], 1)
    """
    _check_rank(
        "assert_rank_at_least", x, [_rank("assert_rank_at_least", rank)],
        comparison.greater_equal, lambda have, ranks: have >= ranks[0], "rank at least", message,
        name,
    )  # fmt: skip


def assert_rank_in(
    x: TensorLike, ranks: Sequence[Any], message: str | None = None, name: str | None = None
) -> None:
    """ValueError (InvalidArgumentError when it runs) unless x has one of the given ranks.

    Args:
      x: a tensor.
      ranks: a list of integers or integer scalars.
      message: a string that the error begins with; None means none.

    Raises:
      ShapeError: if all ranks are known and that of `x` is not among them.
      InvalidArgumentError: if it is not among them when it runs.
      TypeError: if `ranks` is no list of integers.

    >>> tf.debugging.assert_rank_in([[1, 2]], (0, 2))
    """
    allowed = [_rank("assert_rank_in", rank) for rank in items_of("assert_rank_in", ranks, "ranks")]

    def among(have: Tensor, *allowed: Tensor) -> Tensor:
        out = comparison.not_equal(have, have)
        for rank in allowed:
            out = comparison.logical_or(out, comparison.equal(have, rank))
        return out

    _check_rank(
        "assert_rank_in", x, allowed, among,
        lambda have, ranks: have in ranks, "one of the ranks", message, name,
    )  # fmt: skip


def assert_scalar(tensor: TensorLike, message: str | None = None, name: str | None = None) -> None:
    """ValueError (InvalidArgumentError when it runs) unless the tensor is a scalar.

    Args:
      tensor: a tensor.
      message: a string that the error begins with; None means none.

    Raises:
      ShapeError: if the rank is known and not 0.
      InvalidArgumentError: if it is not 0 when it runs.

    >>> tf.debugging.assert_scalar(3.0)
    """
    _check_rank(
        "assert_scalar", tensor, [_rank("assert_scalar", 0)], comparison.equal,
        lambda have, ranks: have == 0, "rank", message, name,
    )  # fmt: skip
