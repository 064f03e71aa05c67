"""Machine code is tested in memory that ends at forbidden pages."""

from __future__ import annotations

import pytest

import weft as tf


@pytest.fixture(autouse=True)
def _guard_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.config.flags, "guard_pages", "end")
