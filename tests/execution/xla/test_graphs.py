"""Random graphs on XLA; `python -m fuzzing xla --count 1000` runs more."""

from __future__ import annotations

import pytest

from fuzzing.xla_graphs import check_xla_graph


@pytest.mark.parametrize("seed", range(24))
def test_random_graphs(seed: int) -> None:
    assert check_xla_graph(seed) is None
