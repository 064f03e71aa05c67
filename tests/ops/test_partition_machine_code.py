"""Partitions by machine code are those of NumPy, for elements of any size."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft._src.core.flags import flags


@pytest.mark.parametrize("guards", ["", "end", "start"])
@pytest.mark.parametrize("ids", ["int32", "int64"])
@pytest.mark.parametrize("dtype", ["int8", "bool", "float16", "float32", "float64", "complex64"])
def test_partitions(dtype: str, ids: str, guards: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    data = rng.integers(0, 100, 3_001).astype(dtype)
    which = rng.integers(0, 7, 3_001).astype(ids)
    monkeypatch.setattr(flags, "guard_pages", guards)
    monkeypatch.setattr(flags, "execution", "native")
    for parts in (7, 9):
        found = tf.dynamic_partition(data, which, parts)
        for i, part in enumerate(found):
            np.testing.assert_array_equal(part, data[which == i])
            assert part.dtype.as_numpy_dtype == data.dtype
    by_rows = tf.dynamic_partition(data.reshape(-1, 1), which, 7)
    np.testing.assert_array_equal(by_rows[3][:, 0], data[which == 3])
    for wrong in (-1, 7):
        which[17] = wrong
        with pytest.raises(tf.errors.InvalidArgumentError, match="partitions must be in"):
            tf.dynamic_partition(data, which, 7)
