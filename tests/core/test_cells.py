"""The storage of variables."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.threads import in_threads
from weft._src.core.cells import SMALL_READ_BYTES, VariableCell, aligned_empty

LARGE = SMALL_READ_BYTES  # float32 elements: four times the limit for copying


@pytest.mark.parametrize("n", [3, LARGE])
def test_a_value_that_was_read_stays(n: int) -> None:
    cell = VariableCell(np.zeros(n, np.float32))
    before = cell.read()
    cell.write(np.ones(n, np.float32))
    cell.update(np.add, np.ones(n, np.float32))
    cell.modify(lambda data: data.fill(7))
    assert before.sum() == 0
    assert cell.read()[0] == 7


def test_large_reads_share_and_small_ones_copy() -> None:
    large, small = VariableCell(np.zeros(LARGE, np.float32)), VariableCell(np.zeros(3, np.float32))
    assert large.read() is large.data
    assert small.read() is not small.data


def test_writes_without_readers_keep_the_buffer() -> None:
    cell = VariableCell(np.zeros(LARGE, np.float32))
    address = cell.data.ctypes.data  # type: ignore[union-attr]
    cell.write(np.ones(LARGE, np.float32))
    cell.modify(lambda data: data.fill(2))
    assert cell.data.ctypes.data == address  # type: ignore[union-attr]


def test_version_counts_writes() -> None:
    cell = VariableCell(np.zeros(3, np.float32))
    cell.write(np.ones(3, np.float32))
    cell.update(np.add, np.ones(3, np.float32))
    assert cell.version == 2


def test_uninitialised() -> None:
    with pytest.raises(tf.errors.FailedPreconditionError, match="'w' was read before"):
        VariableCell(None, "w").read()


def test_updates_of_many_threads_all_count() -> None:
    cell = VariableCell(np.zeros((), np.int64))
    in_threads(lambda _: [cell.update(np.add, np.int64(1)) for _ in range(500)])
    assert cell.read() == 2000


def test_buffers_are_aligned() -> None:
    for n in (1, 3, 1000):
        assert aligned_empty((n,), np.dtype(np.float32)).ctypes.data % 64 == 0
