"""Products of arrays by tiles, where OpenBLAS has shorter vectors than the processor.

Half as long vectors are half the pace. NumPy keeps what is small, and right sides that are given
transposed: to arrange them takes as long as the product.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.execution.native.array_tiles import MAKERS, ArrayMaker, attempt
from weft._src.execution.native.loops.kernels.blocking import (
    LINE_ROWS,
    PAD,
    are_pages_apart,
    product_places,
    row_lines,
)

Array = np.ndarray[Any, Any]

_FEWEST_ROWS = 16
_STRIPED_FROM = 512  # rows from which it pays to arrange the right side


class ProductKernels:
    """Products of matrices; None where NumPy is to do it."""

    def product(self, a: Array, b: Array) -> Array | None:
        """a @ b, where a may be a transposed array."""
        if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
            return None  # which NumPy tells the user
        if a.shape[0] < _FEWEST_ROWS or not b.flags.c_contiguous:
            return None
        if not a.flags.c_contiguous and not a.flags.f_contiguous:
            return None
        maker = MAKERS[a.dtype]
        return attempt(lambda: _product(maker, a, b))


def _product(maker: ArrayMaker, a: Array, b: Array) -> Array:
    (m, k), n = a.shape, b.shape[1]
    right = maker.stripes(b, (k, n), copy=m >= _STRIPED_FROM, rows=min(m, LINE_ROWS))
    if a.flags.c_contiguous:
        row, step, whole_row = k, 1, k
        if are_pages_apart(m, n, k * a.itemsize):
            padded = np.empty((m, k + PAD), a.dtype)
            padded[:, :k] = a
            a, row, whole_row = padded, k + PAD, k + PAD
    else:
        a, row, step, whole_row = a.T, 1, m, 1
    sizes = (m, n, k)
    places = product_places(sizes, right, row_lines(m), row=row, step=step, whole_row=whole_row)
    return maker.product(a, right.value, (m, n), places)
