"""Machine code is tested in memory that ends at forbidden pages."""

from __future__ import annotations

import pytest

from weft._src.core.flags import flags
from weft._src.execution.preloading import load_compiler

load_compiler()  # which notes how fast this machine is: no test shall meet that half way


@pytest.fixture(autouse=True)
def _guard_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "guard_pages", "end")
