"""`tf.nondifferentiable_batch_function`: functions for many callers at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from weft._src import nest
from weft._src.core.convert import convert_to_tensor
from weft._src.errors import ShapeError
from weft._src.function.decorator import function
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.arrays.source import stop_gradient
from weft._src.ops.host.requiring import require

_NAME = "nondifferentiable_batch_function"
_F = TypeVar("_F", bound=Callable[..., Any])


def nondifferentiable_batch_function(
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: Sequence[int] | None = None,
    max_enqueued_batches: int = 10,
    autograph: bool = True,
    enable_large_batch_splitting: bool = True,
) -> Callable[[_F], _F]:
    """A decorator for functions whose rows are independent, for calls of many threads.

    TensorFlow waits for other calls and runs them together. Here each call is a batch of its own,
    as calls take microseconds: results are the same, nothing waits, no batch is split.

    Args:
      num_batch_threads: accepted for compatibility.
      max_batch_size: the largest number of rows; it is kept if large batches are not to be split.
      batch_timeout_micros: accepted for compatibility.
      allowed_batch_sizes: growing numbers, the last of which is `max_batch_size`.
      max_enqueued_batches: accepted for compatibility.
      autograph: whether the function is converted.
      enable_large_batch_splitting: whether there may be more rows.

    Returns:
      A decorator. Its functions take tensors and return tensors, through which no gradient flows.

    Raises:
      ValueError: if `allowed_batch_sizes` are others.

    >>> @tf.nondifferentiable_batch_function(1, 10, 1000)
    ... def double(x):
    ...     return x * 2
    >>> double(tf.constant([1.0, 2.0])).numpy()
    array([2., 4.], dtype=float32)
    """
    sizes = list(allowed_batch_sizes or [max_batch_size])
    if sizes != sorted(set(sizes)) or sizes[-1] != max_batch_size:
        raise ValueError(
            f"{_NAME}: allowed_batch_sizes must grow up to max_batch_size, {max_batch_size}, got "
            f"{allowed_batch_sizes!r}."
        )

    def decorate(fn: _F) -> _F:
        traced = function(fn, autograph=autograph)

        def call(*args: Any) -> Any:
            tensors = [convert_to_tensor(x) for x in args]
            for x in tensors:
                if x.shape.rank == 0:
                    raise ShapeError(f"{_NAME}: arguments must have rows, got a scalar.")
                if not enable_large_batch_splitting:
                    rows = shapes.shape(x)[0]
                    text = f"{_NAME}: there must be at most {max_batch_size} rows"
                    require(lambda n: n <= max_batch_size, [rows], text, ["rows"])
            return nest.map_structure(stop_gradient, traced(*tensors))

        return call  # type: ignore[return-value]

    return decorate
