"""Whether convolutions of arrays are done by machine code: a hook, and when it is asked.

The execution layer offers the kernels (`install_kernels`). They are loaded in the background when
NumPy has spent some time with convolutions; a program that needs two or three of them never loads
LLVM for it. With `tf.config.experimental.enable_op_determinism` NumPy does all of them, as results
must not depend on what else a program has computed; and so it is for the reference interpreter.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from weft._src.core.flags import flags
from weft._src.core.machine_jobs import left_to_numpy
from weft._src.core.tensor import Array
from weft._src.ops.nn.windows import Geometry

_FROM = 1 << 20  # multiplications
_SPENT = 0.02  # seconds of NumPy before machine code is loaded
_DTYPES = frozenset({np.dtype(np.float32), np.dtype(np.float64)})


class Kernels(Protocol):
    """What the execution layer offers; each gives None where NumPy is to do it."""

    def convolved(self, x: Array, filters: Array, where: Geometry) -> Array | None:
        """The convolution of images with channels last."""

    def filter_gradient(
        self, x: Array, shape: tuple[int, ...], g: Array, where: Geometry
    ) -> Array | None:
        """The gradient for filters of a shape."""

    def input_gradient(
        self, shape: tuple[int, ...], filters: Array, g: Array, where: Geometry
    ) -> Array | None:
        """The gradient for images of a shape."""

    def convolved_channels(self, x: Array, filters: Array, where: Geometry) -> Array | None:
        """The convolution with one filter (height, width, channels) for each channel."""

    def channels_filter_gradient(self, x: Array, g: Array, where: Geometry) -> Array | None:
        """The gradient for these filters."""

    def channels_input_gradient(self, g: Array, filters: Array, where: Geometry) -> Array | None:
        """The gradient for images that were convolved with them."""


class _State:
    def __init__(self) -> None:
        self.load: Callable[[Callable[[Kernels], None]], None] | None = None
        self.kernels: Kernels | None = None
        self.spent = 0.0
        self.is_asked = False

    def take(self, kernels: Kernels) -> None:
        self.kernels = kernels


_state = _State()


def install_kernels(load: Callable[[Callable[[Kernels], None]], None]) -> None:
    """Sets what loads the kernels some time later, and hands them to whom it is given."""
    _state.load = load


def attempted(
    size: int, dtype: Any, machine: Callable[[Kernels], Array | None], plain: Callable[[], Array]
) -> Array:
    """What machine code gives, if it is there and the work is worth it; else what NumPy gives.

    Args:
      size: how many multiplications there are.
      dtype: of the arrays.
      machine: asks the kernels.
      plain: does it with NumPy.
    """
    if size < _FROM or dtype not in _DTYPES:
        return plain()
    if left_to_numpy() or flags.deterministic:
        return plain()
    if _state.kernels is not None:
        found = machine(_state.kernels)
        return plain() if found is None else found
    started = time.perf_counter()
    out = plain()
    _state.spent += time.perf_counter() - started
    if _state.spent > _SPENT and not _state.is_asked and _state.load is not None:
        _state.is_asked = True
        _state.load(_state.take)
    return out
