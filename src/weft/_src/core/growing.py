"""Lists whose length is only known when the graph runs, as ops see them.

A Python list of tensors tells its length while tracing; one that grew in a graph loop does not.
Functions that make one tensor of a list ask it for that tensor. All others refuse it by name: taken
for a tensor it would be another thing than the list it is to the user.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NoReturn

from weft._src.core.location import called_function
from weft._src.errors import OperatorNotAllowedInGraphError


class GrowingList(ABC):
    """Base of lists of tensors whose length is a tensor."""

    @abstractmethod
    def joined(self, axis: int) -> Any:
        """All elements joined along an axis they have: `tf.concat`."""

    @abstractmethod
    def stacked(self, axis: int) -> Any:
        """All elements joined along a new axis: `tf.stack`."""

    @abstractmethod
    def summed(self) -> Any:
        """The sum of all elements: `tf.add_n`."""

    def refusal(self, what: str | None = None) -> OperatorNotAllowedInGraphError:
        """The error for something that has to know the elements: the function the user called."""
        return OperatorNotAllowedInGraphError(
            f"{what or called_function()} has to know how many elements a list has. This one grew "
            "in a graph loop, so that is only known when the graph runs. Make a tensor of it with "
            "tf.stack(l), tf.concat(l, axis) or tf.add_n(l), go through it with `for x in l:`, or "
            "let it grow in a Python loop, `for i in range(n):`."
        )

    def __iter__(self) -> Iterator[Any]:
        name = called_function()
        raise self.refusal("Python" if name == "__iter__" else name)

    def __len__(self) -> NoReturn:
        raise self.refusal("Python")

    def __bool__(self) -> NoReturn:
        raise OperatorNotAllowedInGraphError(
            "Whether a list that grew in a graph loop is empty is only known when the graph runs. "
            "Write `len(l) > 0`: that is a tensor."
        )

    def __contains__(self, item: object) -> NoReturn:
        raise self.refusal("`in`")

    def __eq__(self, other: object) -> NoReturn:
        raise self.refusal("`==`")

    __hash__ = None  # type: ignore[assignment]
