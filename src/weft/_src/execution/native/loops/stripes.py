"""Stripes of an array: the order in which tiles read the right side of a product.

A matrix [k, n] becomes [stripes, k, width]: all steps of some columns, then those of the next ones,
with zeros in columns that do not exist. What is here serves arrays that are there; machine code
makes stripes of its values itself (`front/lowering/products.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft._src.core.cells import aligned_empty

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Striping:
    """How an array is read, and how wide its stripes are."""

    shape: tuple[int, ...]  # [..., k, n]
    width: int
    turned: bool = False  # the array is [..., n, k]
    leads_back: bool = False  # it is filters [taps, n, outputs]; a step is a tap and an output

    @property
    def result_shape(self) -> tuple[int, ...]:
        """[..., stripes, k, width]."""
        *batch, k, n = self._matrix_shape
        return (*batch, -(-n // self.width), k, self.width)

    @property
    def size(self) -> int:
        """The numbers of all stripes."""
        return math.prod(self.result_shape)

    @property
    def _matrix_shape(self) -> tuple[int, ...]:
        if self.leads_back:
            taps, inputs, outputs = self.shape
            return (taps * outputs, inputs)
        return (*self.shape[:-2], *self.shape[:-3:-1]) if self.turned else self.shape

    def of(self, array: Array) -> Array:
        """The stripes of an array, which begin where vectors do."""
        matrix = array.reshape(self.shape)
        if self.leads_back:  # the last tap comes first
            matrix = matrix[::-1].swapaxes(1, 2).reshape(self._matrix_shape)
        elif self.turned:
            matrix = matrix.swapaxes(-1, -2)
        out = aligned_empty(self.result_shape, array.dtype)
        n, width = matrix.shape[-1], self.width
        for number in range(out.shape[-3]):
            columns = min(width, n - number * width)
            out[..., number, :, :columns] = matrix[..., number * width : number * width + columns]
            out[..., number, :, columns:] = 0
        return out
