"""Functions run as programs of XLA here, compiled quickly instead of well."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import pytest

from weft._src.core.flags import flags


@pytest.fixture(autouse=True)
def _on_xla(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(flags, "execution", "xla")
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
