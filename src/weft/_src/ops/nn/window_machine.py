"""Kernels of machine code for convolutions of arrays, and which convolutions are worth them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from weft._src.core.machine_offers import Offer
from weft._src.core.tensor import Array
from weft._src.ops.nn.windows import Geometry

_FROM = 1 << 20  # multiplications
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


offer: Offer[Kernels] = Offer()


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
    return offer.attempted(machine, plain)
