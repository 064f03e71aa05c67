"""The values of variables where jax has them.

A variable that only programs of XLA use stays with jax (`core.cells.LentCell`): nothing is copied,
and NumPy's form of its value is made when somebody asks. On a CPU both are the same memory.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from weft._src.core.cells import VariableCell, lend, note_lent
from weft._src.core.replica_cells import OnReadCell


def held(cell: VariableCell) -> Any:
    """The value of a variable as an array of jax; the same one as long as nobody writes."""
    if isinstance(cell, OnReadCell):  # the values of replicas along a first axis
        parts: list[Any] = list(cell.parts)
        return np.stack(parts)
    if cell.held is None:
        note_lent(cell, jax.device_put(cell.data))
    return cell.held


def store(cell: VariableCell, value: Any) -> None:
    """Makes an array of jax the value of a variable, whose lock is held."""
    if isinstance(cell, OnReadCell):
        cell.parts = list(np.asarray(value))
        return
    lend(cell, value)
