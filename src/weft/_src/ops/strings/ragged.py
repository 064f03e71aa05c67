"""What functions share that turn each string into a row of things."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src.core.dtypes import string
from weft._src.core.tensor import Tensor
from weft._src.errors import DTypeError
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.strings.elements import string_tensor

Rows = Callable[[Tensor], tuple[RaggedTensor, ...]]


def rows_of_strings(op: str, value: Any, rows: Rows) -> list[Any]:
    """Applies a function that makes ragged rows out of a vector to strings of any shape.

    A single string gives tensors, everything else ragged tensors with one axis more.
    """
    x = value if isinstance(value, RaggedTensor) else string_tensor(value)
    if x.dtype is not string:
        raise DTypeError(f"{op}: input must hold strings, got dtype {x.dtype.name}.")
    if isinstance(x, RaggedTensor):
        inner = rows_of_strings(op, x.flat_values, rows)
        return [x.with_flat_values(part) for part in inner]
    rank = x.shape.rank
    if rank is None:
        raise ValueError(f"{op}: the rank of input must be known while tracing.")
    if rank == 0:
        return [part.values for part in rows(shapes.expand_dims(x, 0))]
    if rank == 1:
        return list(rows(x))
    frame = RaggedTensor.from_tensor(x, ragged_rank=rank - 1)
    return [frame.with_flat_values(part) for part in rows(frame.flat_values)]
