"""The values of variables where jax has them.

A variable that only programs of XLA use stays with jax (`core.cells.LentCell`): nothing is copied,
and NumPy's form of its value is made when somebody asks. On a CPU both are the same memory.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from weft._src.core.cells import VariableCell, lend, note_lent
from weft._src.core.random_numbers.stream_state import RngCell
from weft._src.core.replica_cells import OnReadCell


def held(cell: VariableCell | RngCell, backend: Any = None) -> Any:
    """The value of a variable as an array of jax; the same one as long as nobody writes.

    Args:
      cell: the variable.
      backend: the device of jax that it is needed on; None is any.
    """
    if isinstance(cell, RngCell):
        return cell.read()
    if isinstance(cell, OnReadCell):  # the values of replicas along a first axis
        parts: list[Any] = list(cell.parts)
        return np.stack(parts)
    if cell.held is not None and not cell.held.is_fully_addressable:  # of other processes, too
        note_lent(cell, cell.held.addressable_data(0))
    if cell.held is None:
        note_lent(cell, jax.device_put(cell.data, backend))
    elif backend is not None and cell.held.devices() != {backend}:
        note_lent(cell, jax.device_put(cell.held, backend))
    return cell.held


def given(value: Any, backend: Any) -> Any:
    """A value that a program is given, on a device of jax; None is any.

    jax uses the memory of an array of NumPy that begins at a multiple of 64 bytes: nothing is
    copied on the CPU, and nobody changes the arrays of tensors.
    """
    if backend is None or (isinstance(value, jax.Array) and value.devices() == {backend}):
        return value
    return jax.device_put(value, backend)


def store(cell: VariableCell | RngCell, value: Any) -> None:
    """Makes an array of jax the value of a variable, whose lock is held, or of a stream."""
    if isinstance(cell, RngCell):
        cell.give_back(np.asarray(value))
        return
    if isinstance(cell, OnReadCell):
        cell.parts = list(np.asarray(value))
        return
    lend(cell, value)
