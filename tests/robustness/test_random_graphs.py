"""Random programs give the same in every mode: eager, reference, NumPy plan, raw and optimised."""

from __future__ import annotations

import pytest

from fuzzing.modes import check_modes

COUNT, BATCH = 150, 10


@pytest.mark.parametrize("first", range(0, COUNT, BATCH))
def test_random_programs(first: int) -> None:
    for seed in range(first, first + BATCH):
        assert check_modes(seed) is None
