"""Parts of a batch of operators: slices of what they were made of."""

from __future__ import annotations

from typing import Any

import weft as tf


def slices_of(given: Any, rank: int) -> tuple[Any, ...]:
    """An item for each of the leading axes; what is behind them cannot be sliced."""
    items = list(given) if isinstance(given, tuple) else [given]
    if Ellipsis in items:
        at = items.index(Ellipsis)
        items[at : at + 1] = [slice(None)] * (rank - len(items) + 1)
    if len(items) > rank or not all(isinstance(item, (int, slice)) for item in items):
        raise ValueError(
            f"An operator with {rank} leading axes takes as many slices or integers, got {given!r}."
        )
    return tuple(items + [slice(None)] * (rank - len(items)))


def part_of(value: Any, items: tuple[Any, ...], own_rank: int | None) -> Any:
    """The part of a parameter that belongs to a part of a batch, with an item for each axis.

    Operators are sliced as they are, tensors by their leading axes; `own_rank` is how many axes
    they have without a batch, None if they are the same for all. Leading axes that a parameter does
    not have, or has with size 1, are those along which it broadcasts.
    """
    if isinstance(value, tf.linalg.LinearOperator):
        rank = len(value.batch_shape)
        return value[items[len(items) - rank :]] if rank else value
    if own_rank is None and isinstance(value, (list, tuple)):
        return [part_of(x, items, None) for x in value]
    if own_rank is None or value is None:
        return value
    tensor = tf.convert_to_tensor(value)
    rank = len(tensor.shape) - own_rank
    wanted = []
    for size, item in zip(tensor.shape[:rank], items[len(items) - rank :], strict=True):
        single = slice(None) if isinstance(item, slice) else 0
        wanted.append(single if size == 1 else item)
    return tensor[tuple(wanted)]
