"""The storage of a variable of which every replica has a value of its own, as metrics have."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.cells import VariableCell

Array = np.ndarray[Any, Any]


class OnReadCell(VariableCell):
    """One array for each replica; whoever is outside of replicas reads them combined.

    aggregation: "SUM", "MEAN", "ONLY_FIRST_REPLICA", or "NONE", of which nobody can ask outside.
    """

    __slots__ = ("aggregation", "parts")

    def __init__(self, data: Array | None, name: str, aggregation: str, replicas: int) -> None:
        self.aggregation = aggregation
        self.parts: list[Array | None] = [None] * replicas
        super().__init__(None, name)
        # Machine code looks at the place of the array itself, and has to find that there is none.
        VariableCell.__dict__["data"].__set__(self, None)
        self.data = data

    @property
    def data(self) -> Array | None:
        """The values of all replicas, combined; a new array."""
        parts = [part for part in self.parts if part is not None]
        if not parts:
            return None
        if self.aggregation == "NONE":
            raise ValueError(
                f"The variable {self.name!r} has a value for each replica (synchronization "
                "ON_READ), and no aggregation that says what it is outside of them. Pass "
                "aggregation=tf.VariableAggregation.SUM, MEAN or ONLY_FIRST_REPLICA."
            )
        if self.aggregation == "ONLY_FIRST_REPLICA":
            return parts[0].copy()
        total = np.sum(parts, axis=0, dtype=parts[0].dtype)
        if self.aggregation == "MEAN":
            total = (total / len(parts)).astype(parts[0].dtype)
        return np.asarray(total)

    @data.setter
    def data(self, value: Array | None) -> None:
        """Gives each replica its share of a sum, or all of any other value."""
        if value is None:
            self.parts = [None] * len(self.parts)
            return
        share = value
        if self.aggregation == "SUM":
            share = np.asarray(value / len(self.parts)).astype(value.dtype)
        self.parts = [share.copy() for _ in self.parts]

    @property
    def shared(self) -> bool:
        """True: what `data` gives is no place to write to."""
        return True

    @shared.setter
    def shared(self, value: bool) -> None:
        pass
