"""The values of variables where jax has them.

A cell keeps what jax holds of its value beside the value itself (`VariableCell.held`), so a
variable that only programs of XLA use is never copied. On a CPU, NumPy sees the memory of jax's
array; it is marked as shared, and whoever writes to the variable takes a new buffer.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from weft._src.core.cells import VariableCell


def held(cell: VariableCell) -> Any:
    """The value of a variable as an array of jax; the same one as long as nobody writes."""
    known, data = cell.held, cell.data
    if known is not None and known[0] is data:
        return known[1]
    assert data is not None  # asked before
    made = jax.device_put(data)
    cell.held = (data, made)
    cell.shared = True
    return made


def store(cell: VariableCell, value: Any) -> None:
    """Makes an array of jax the value of a variable, whose lock is held."""
    data = np.asarray(value)
    cell.data, cell.shared, cell.held = data, True, (data, value)
    cell.version += 1
