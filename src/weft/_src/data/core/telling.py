"""`weft.progress`: a pass through a dataset, or through anything else, with a line that tells."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from typing import TypeVar

from weft._src.core import progress as lines
from weft._src.core.tensor import EagerTensor
from weft._src.data.core.base import DatasetBase

_T = TypeVar("_T")


def progress(items: Iterable[_T], description: str = "Working") -> Iterable[_T]:
    """The elements of a dataset (or of anything else), with a line on the terminal.

    The line says how many are done, how long that took and how long the rest may take. It comes
    after two seconds, and not where nobody looks: in files, notebooks, and threads beside the main
    one.

    Args:
      items: a dataset, or anything else that can be gone through.
      description: what the line begins with.

    Returns:
      Something to go through that gives the same elements.

    >>> sum(int(x) for x in tf.progress(tf.data.Dataset.range(4), "Adding"))
    6
    """
    return lines.each(items, description, _length(items))


def _length(items: Iterable[_T]) -> int | None:
    if isinstance(items, DatasetBase) and isinstance(items._variant, EagerTensor):
        return max(items._stage.cardinality(), 0) or None
    return len(items) if isinstance(items, Sized) else None
